#include "beam.hpp"

#include "hiddenite/exact/empty_support.hpp"

#include <algorithm>
#include <cmath>

namespace hiddenite::bench {

namespace {

constexpr std::size_t PREFETCH = 6;  // so many items ahead

}  // namespace

Decoded Beam::decode(const Candidates& candidates) {
  const Slot end_slot = make_end_slot();
  const std::size_t num_positions = candidates.length() + candidates.ends;
  if (layers_.size() < num_positions + 1) layers_.resize(num_positions + 1);
  layers_[0].assign(1, Active{index_.start(), 0.0, NONE, NONE});
  for (std::size_t i = 0; i < num_positions; ++i) {
    const Slot& slot = i < candidates.length() ? candidates.slots[i] : end_slot;
    layer_ = &layers_[i];
    next_ = &layers_[i + 1];
    next_->clear();
    next_of_.clear();
    threshold_ = LOG_ZERO;
    words_.set(index_, slot, slot.log_max);
    kind_ == BeamKind::SPARSE ? expand_sparse(slot) : expand_dense(slot);
    words_.clear();
    if (next_->size() > width_) keep_best();
    if (next_->empty()) throw_no_path(candidates, i);
  }
  const std::vector<Active>& last = layers_[num_positions];
  const auto best = std::max_element(last.begin(), last.end(),
                                     [](const Active& a, const Active& b) { return a.value < b.value; });
  WordPath path(num_positions);
  auto at = static_cast<std::uint32_t>(best - last.begin());
  for (std::size_t i = num_positions; i > 0; --i) {
    path[i - 1] = layers_[i][at].word;
    at = layers_[i][at].previous;
  }
  path.resize(candidates.length());
  const double log_weight = path_log_weight(index_.table(), candidates, path);
  Bounds bounds;
  bounds.found(log_weight);
  return {std::move(path), log_weight, Certificate(bounds, Method::AUTO, 0, 0)};
}

// Puts a prefix into the beam; when twice as many as can stay are there, the
// worse half goes and the threshold rises.
void Beam::relax(NodeId next, double value, std::uint32_t origin, std::uint32_t word) {
  bool inserted;
  std::uint32_t& place = next_of_.at(next, inserted);
  if (!inserted) {
    Active& active = (*next_)[place];
    if (value > active.value) active = {next, value, origin, word};
    return;
  }
  place = static_cast<std::uint32_t>(next_->size());
  next_->push_back({next, value, origin, word});
  index_.prefetch_state(next);
  if (next_->size() >= 2 * width_) keep_best();
}

void Beam::keep_best() {
  const auto last = next_->begin() + static_cast<std::ptrdiff_t>(width_) - 1;
  std::nth_element(next_->begin(), last, next_->end(),
                   [](const Active& a, const Active& b) { return a.value > b.value; });
  threshold_ = last->value;
  next_->resize(width_);
  next_of_.clear();
  for (std::uint32_t i = 0; i < next_->size(); ++i) next_of_.set((*next_)[i].state, i);
}

// --------------------------------------------------------------- SPARSE

void Beam::expand_sparse(const Slot& slot) {
  enter_states();
  for (std::uint32_t e = 0; e + 1 < entries_.size(); ++e) {  // longest first, without the root
    if (e + PREFETCH < entries_.size()) index_.prefetch_arcs(closure_.state[e + PREFETCH]);
    const double reach = entries_[e].reach;
    words_.for_each_arc(index_, closure_.state[e], [&](NodeId, const StateIndex::Arc& arc, std::uint32_t k) {
      const double weight = words_.log_weight(k);
      if (reach + arc.log_prob + weight > threshold_) use_arc(e, arc.word, arc.log_prob, arc.next, weight, k);
    });
  }
  expand_root(slot, static_cast<std::uint32_t>(entries_.size() - 1));
}

void Beam::enter_states() {
  closure_.build(index_, layer_->size(), [&](std::size_t i) { return (*layer_)[i].state; });
  entries_.assign(closure_.size(), Entry{});
  for (std::uint32_t i = 0; i < layer_->size(); ++i) {
    Entry& entry = entries_[closure_.entry((*layer_)[i].state)];
    entry.active = i;
    entry.value = (*layer_)[i].value;
  }
  for (std::size_t e = 0; e < entries_.size(); ++e) {  // longest first
    Entry& entry = entries_[e];
    if (entry.value > entry.reach) entry.reach = entry.value, entry.origin = entry.active;
    if (closure_.suffix[e] == NONE) continue;
    entry.backed_off = entry.reach + index_.state(closure_.state[e]).log_backoff;
    Entry& suffix = entries_[closure_.suffix[e]];
    if (entry.backed_off > suffix.reach) suffix.reach = entry.backed_off, suffix.origin = entry.origin;
  }
}

// The unigrams of a class lie side by side in the table, as their weights do in the slot.
void Beam::expand_root(const Slot& slot, std::uint32_t e) {
  const double reach = entries_[e].reach;
  const auto size = static_cast<std::uint32_t>(slot.size());
  const double* const weight = slot.log_max.data();
  const auto use = [&](std::uint32_t k, WordId w, double log_prob) {
    use_arc(e, w, log_prob, index_.arc(1 + w).next, weight[k], k);
  };
  if (!slot.is_range()) {
    for (std::uint32_t k = 0; k < size; ++k) {
      const double log_prob = index_.table().log_prob[1 + slot.word[k]];
      if (reach + log_prob + weight[k] > threshold_) use(k, slot.word[k], log_prob);
    }
    return;
  }
  constexpr std::uint32_t BLOCK = 16;  // tested at once; hardly any is used
  const WordId first = slot.word.front();
  const float* const log_prob = index_.table().log_prob.data() + 1 + first;
  for (std::uint32_t begin = 0; begin < size; begin += BLOCK) {
    const std::uint32_t end = std::min(begin + BLOCK, size);
    int num_above = 0;
    for (std::uint32_t k = begin; k < end; ++k) num_above += reach + log_prob[k] + weight[k] > threshold_;
    if (num_above == 0) continue;
    for (std::uint32_t k = begin; k < end; ++k) {
      if (reach + log_prob[k] + weight[k] > threshold_) use(k, first + k, log_prob[k]);
    }
  }
}

void Beam::use_arc(std::uint32_t e, WordId w, double log_prob, NodeId next, double weight, std::uint32_t k) {
  const auto [prefix, origin] = best_prefix(e, w);
  const double value = prefix + log_prob + weight;
  if (value > threshold_) relax(next, value, origin, k);
}

// The best prefix whose state is entry e, or backs off to it because it does not list w.
std::pair<double, std::uint32_t> Beam::best_prefix(std::uint32_t e, WordId w) {
  Entry& entry = entries_[e];
  if (entry.value == entry.reach) return {entry.value, entry.active};
  const auto first = closure_.extensions.begin() + closure_.first_extension[e];
  const auto last = closure_.extensions.begin() + closure_.first_extension[e + 1];
  if (!entry.sorted) {
    std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) {
      return entries_[a].backed_off > entries_[b].backed_off;
    });
    entry.sorted = true;
  }
  for (auto x = first; x != last && entries_[*x].backed_off > entry.value; ++x) {
    if (index_.find_arc(closure_.state[*x], w) == NO_NODE) return {entries_[*x].backed_off, entries_[*x].origin};
  }
  return {entry.value, entry.active};
}

// ---------------------------------------------------------------- DENSE

void Beam::expand_dense(const Slot& slot) {
  scores_.resize(slot.size());
  nexts_.resize(slot.size());
  for (std::uint32_t i = 0; i < layer_->size(); ++i) {
    const Active& active = (*layer_)[i];
    score_all(slot, active.state);
    for (std::uint32_t k = 0; k < slot.size(); ++k) {
      const double value = active.value + scores_[k] + slot.log_max[k];
      if (value > threshold_) relax(nexts_[k], value, i, k);
    }
  }
}

// scores_[k] = ln p(word k | state): the root's first, then what longer contexts list.
void Beam::score_all(const Slot& slot, NodeId state) {
  NodeId chain[64];
  std::size_t length = 0;
  double backoff = 0.0;
  for (NodeId s = state; s != ROOT; s = index_.state(s).suffix) {
    chain[length++] = s;
    backoff += index_.state(s).log_backoff;
  }
  for (std::uint32_t k = 0; k < slot.size(); ++k) {
    const StateIndex::Arc& arc = index_.arc(1 + slot.word[k]);
    scores_[k] = backoff + arc.log_prob;
    nexts_[k] = arc.next;
  }
  while (length-- > 0) {
    backoff -= index_.state(chain[length]).log_backoff;
    words_.for_each_arc(index_, chain[length], [&](NodeId, const StateIndex::Arc& arc, std::uint32_t k) {
      scores_[k] = backoff + arc.log_prob;
      nexts_[k] = arc.next;
    });
  }
}

}  // namespace hiddenite::bench
