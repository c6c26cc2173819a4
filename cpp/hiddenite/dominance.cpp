#include "dominance.hpp"

#include <chrono>
#include <cmath>

namespace hiddenite {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

const Slot& WalkDecoder::slot_at(const Candidates& candidates, std::size_t position) const {
  return position < candidates.length() ? candidates.slots[position] : end_slot_;
}

void WalkDecoder::set_slots(const Candidates& candidates, std::size_t position) {
  const std::size_t num_positions = candidates.length() + candidates.ends;
  const Slot& slot = slot_at(candidates, position);
  if (has_next_) {
    std::swap(words_, next_words_);
    std::swap(bounds_, next_bounds_);
  } else {
    words_.set(index_, slot, slot.log_max);
    bounds_.clear();
  }
  has_next_ = position + 1 < num_positions;
  if (has_next_) {
    const Slot& next = slot_at(candidates, position + 1);
    next_words_.set(index_, next, next.log_max);
    next_bounds_.clear();
  }
}

// False if the budget ended first.
bool WalkDecoder::run(const Candidates& candidates, bool prune, double margin, bool keep,
                      const Budget& budget) {
  const auto begin = Clock::now();
  const std::size_t num_positions = candidates.length() + candidates.ends;
  layers_.resize(num_positions + 1);
  if (keep && passed_.size() < num_positions) passed_.resize(num_positions);  // what is there serves again
  layers_[0].assign(1, Active{index_.start(), 0.0, NONE, NONE});
  num_states_ = 1;
  has_next_ = false;
  bool complete = true;
  std::size_t position = 0;
  for (; position < num_positions; ++position) {
    set_slots(candidates, position);
    next_ = &layers_[position + 1];
    enter_states(layers_[position]);
    if (prune) drop_dominated(margin);
    find_reach();
    expand(prune, margin, keep ? &passed_[position] : nullptr);
    if (next_->empty()) break;
    num_states_ += next_->size();
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    if (position + 1 < num_positions && (elapsed.count() > budget.seconds || num_states_ > budget.states)) {
      complete = false;
      layers_.resize(position + 2);
      break;
    }
  }
  words_.clear();
  next_words_.clear();
  if (complete && position < num_positions) throw_no_path(candidates, position);
  return complete;
}

void WalkDecoder::enter_states(const std::vector<Active>& layer) {
  closure_.build(index_, layer.size(), [&](std::size_t i) { return layer[i].state; });
  entries_.assign(closure_.size(), Entry{});
  for (std::uint32_t i = 0; i < layer.size(); ++i) {
    Entry& entry = entries_[closure_.entry(layer[i].state)];
    entry.active = i;
    entry.value = layer[i].value;
  }
}

// need(c): what a prefix in state c must be worth, lest another one beat it on
// every continuation. Bottom up, the surest value that any prefix brings to c;
// top down, the same seen from the longer states.
void WalkDecoder::drop_dominated(double margin) {
  for (std::size_t e = 0; e < entries_.size(); ++e) {  // longest first
    Entry& entry = entries_[e];
    entry.need = std::max(entry.need, entry.value);
    if (closure_.suffix[e] == NONE) continue;
    const ChainBounds::Bound bound = bounds_.get(index_, words_, closure_.state[e]);
    entry.up = bound.up;
    Entry& suffix = entries_[closure_.suffix[e]];
    suffix.need = std::max(suffix.need, entry.need + bound.down);
  }
  for (std::size_t e = entries_.size(); e-- > 0;) {
    Entry& entry = entries_[e];
    if (closure_.suffix[e] != NONE) {
      const double need = entries_[closure_.suffix[e]].need;
      if (need > LOG_ZERO) entry.need = std::max(entry.need, need - entry.up);
    }
    if (entry.active != NONE && entry.value < entry.need - margin - SLACK) {
      entry.active = NONE;
      entry.value = LOG_ZERO;
    }
  }
}

void WalkDecoder::find_reach() {
  for (std::size_t e = 0; e < entries_.size(); ++e) {  // longest first
    Entry& entry = entries_[e];
    if (entry.value > entry.reach) {
      entry.reach = entry.value;
      entry.origin = entry.active;
    }
    if (closure_.suffix[e] == NONE || entry.reach == LOG_ZERO) continue;
    entry.backed_off = entry.reach + index_.state(closure_.state[e]).log_backoff;
    Entry& suffix = entries_[closure_.suffix[e]];
    if (entry.backed_off > suffix.reach) {
      suffix.reach = entry.backed_off;
      suffix.origin = entry.origin;
    }
  }
}

std::vector<WalkDecoder::Active>::const_iterator WalkDecoder::best_final() const {
  return std::max_element(layers_.back().begin(), layers_.back().end(),
                          [](const Active& a, const Active& b) { return a.value < b.value; });
}

WordPath WalkDecoder::backtrack(std::uint32_t active) const {
  WordPath path;
  for (std::size_t i = layers_.size() - 1; i > 0; --i) {
    path.push_back(layers_[i][active].word);
    active = layers_[i][active].previous;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Decoded WalkDecoder::decode(const Candidates& candidates, bool prune, const Budget& budget) {
  if (!run(candidates, prune, 0.0, false, budget)) return stopped_early(candidates);
  const auto best = best_final();
  Decoded result;
  result.path = backtrack(static_cast<std::uint32_t>(best - layers_.back().begin()));
  result.path.resize(candidates.length());
  result.log_weight = path_log_weight(index_.table(), candidates, result.path);
  result.certificate = {true, result.log_weight, result.log_weight,
                        prune ? Method::DOMINANCE : Method::FULL, 0, num_states_};
  return result;
}

// The best prefix completed word by word, and the most that any completion of
// any prefix can reach: each later word at its best after any context.
Decoded WalkDecoder::stopped_early(const Candidates& candidates) const {
  const NgramTable& table = index_.table();
  const auto best = best_final();
  Decoded result;
  result.path = backtrack(static_cast<std::uint32_t>(best - layers_.back().begin()));
  double upper = best->value;
  NodeId state = best->state;
  for (std::size_t i = result.path.size(); i < candidates.length(); ++i) {
    const Slot& slot = candidates.slots[i];
    double most = LOG_ZERO, step_best = LOG_ZERO;
    std::uint32_t chosen = 0;
    NodeId chosen_state = state;
    for (std::uint32_t k = 0; k < slot.size(); ++k) {
      most = std::max(most, table.log_max_prob[1 + slot.word[k]] + slot.log_max[k]);
      NodeId next = state;
      const double value = table.step(next, slot.word[k]) + slot.log_max[k];
      if (value > step_best) step_best = value, chosen = k, chosen_state = next;
    }
    result.path.push_back(chosen);
    state = chosen_state;
    upper += most;
  }
  if (candidates.ends) upper += table.log_max_prob[1 + SENTENCE_END];
  result.log_weight = path_log_weight(table, candidates, result.path);
  const bool exact = upper <= result.log_weight;
  result.certificate = {exact, std::max(upper, result.log_weight), result.log_weight,
                        Method::AUTO, 0, num_states_};
  return result;
}

}  // namespace hiddenite
