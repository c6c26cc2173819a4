// One position of a walk: from the states before it to those after it.
//
// A threshold is what some real prefix with some word of the slot is sure to be
// worth, measured above the root or above the state after that word alone. An
// arc that cannot reach it, whatever follows, is left out; the tests come in the
// order of what they read: the arc, the state after its word alone, the state
// after the arc, the prefixes that may use it.
#include <cmath>

#include "hiddenite/exact/walk/dominance.hpp"

namespace hiddenite::exact {

namespace {

constexpr double FLOAT_SLACK = 8 * std::numeric_limits<float>::epsilon();
constexpr std::size_t PREFETCH = 8;  // so many items ahead
constexpr std::size_t FOUND_AT_ONCE = 12;  // enough to fetch ahead, few enough to learn from
constexpr std::size_t BLOCK = 16;  // words of a range that are bounded together
constexpr std::size_t NUM_SEEDS = 1;  // prefixes tried for a first threshold
constexpr double NEAR = 4.0;  // nats: so close to the best is worth looking at first

}  // namespace

void WalkDecoder::sort_extensions(std::uint32_t e) {
  const auto first = closure_.extensions.begin() + closure_.first_extension[e];
  const auto last = closure_.extensions.begin() + closure_.first_extension[e + 1];
  const auto leads_on = [&](std::uint32_t x) { return entries_[x].backed_off > LOG_ZERO; };
  const auto kept = std::partition(first, last, leads_on);
  std::sort(first, kept, [&](std::uint32_t a, std::uint32_t b) {
    return entries_[a].backed_off > entries_[b].backed_off;
  });
  entries_[e].num_extensions = static_cast<std::uint32_t>(kept - first);
  entries_[e].sorted = true;
}

// A first threshold from a few of the best prefixes, each with its best word.
void WalkDecoder::seed_threshold() {
  seeds_.clear();
  for (std::uint32_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].active != NONE) seeds_.push_back(e);
  }
  const auto num_seeds = std::min<std::size_t>(seeds_.size(), NUM_SEEDS);
  std::partial_sort(seeds_.begin(), seeds_.begin() + static_cast<std::ptrdiff_t>(num_seeds), seeds_.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return entries_[a].value > entries_[b].value; });
  for (std::size_t i = 0; i < num_seeds; ++i) seed_from(seeds_[i]);
}

void WalkDecoder::seed_from(std::uint32_t e) {
  double value = entries_[e].value, best = LOG_ZERO;
  NodeId best_next = ROOT, longer = NO_NODE;
  for (NodeId s = closure_.state[e];; s = index_.state(s).suffix) {
    if (s == ROOT && best > LOG_ZERO) break;  // too many arcs for a guess
    words_.for_each_arc(index_, s, [&](NodeId, const StateIndex::Arc& arc, std::uint32_t k) {
      const double reached = value + words_.log_weight(k) + arc.log_prob;
      if (!(reached > best)) return;
      // A word that the longer state lists does not come by here.
      if (longer != NO_NODE && index_.find_arc(longer, arc.word) != NO_NODE) return;
      best = reached;
      best_next = arc.next;
    });
    if (s == ROOT) break;
    value += index_.state(s).log_backoff;
    longer = s;
  }
  if (best > LOG_ZERO) threshold_ = std::max(threshold_, best + bound_after(best_next).down_to_root);
}

void WalkDecoder::expand(bool prune, double margin, Passed* passed) {
  if (prune) {
    bound_words();
    begin_thresholds(passed);
  }
  found_.clear();
  const auto expand_entry = [&](std::uint32_t e) {
    const Entry& entry = entries_[e];
    if (prune && entry.reach + words_.best_arc(index_, closure_.state[e]) + words_.best_log_weight() <
                     threshold_ - margin - slack(threshold_)) return;
    find_arcs(e, prune, margin);
    if (found_.size() >= FOUND_AT_ONCE) use_found(prune, margin, passed);
  };
  // Prefixes close to the best come first: they raise the threshold for the others.
  const double near = prune && !seeds_.empty() ? entries_[seeds_.front()].value - NEAR : LOG_ZERO;
  far_.clear();
  for (std::uint32_t e = 0; e < entries_.size(); ++e) {
    if (e + PREFETCH < entries_.size()) words_.prefetch_arcs(index_, closure_.state[e + PREFETCH], prune);
    const double reach = entries_[e].reach;
    if (reach == LOG_ZERO) continue;
    if (reach >= near) {
      expand_entry(e);
    } else {
      far_.push_back(e);
    }
  }
  for (const std::uint32_t e : far_) expand_entry(e);
  use_found(prune, margin, passed);
  if (prune && is_alone_) drop_late(margin, passed);
  if (!passed) return;
  std::swap(passed->closure, closure_);
  std::swap(passed->entries, entries_);
  if (!prune) return;
  passed->threshold = threshold_;
  std::swap(passed->word_threshold, word_threshold_);
}

// What an earlier run knew, or a guess.
void WalkDecoder::begin_thresholds(Passed* passed) {
  if (passed && is_again_) {
    threshold_ = std::max(threshold_, passed->threshold);
    std::swap(word_threshold_, passed->word_threshold);
    seeds_.clear();  // no need of any
  } else {
    word_threshold_.assign(words_.slot().size(), LOG_ZERO);
    seed_threshold();
  }
}

// The thresholds have risen since the first states were reached.
void WalkDecoder::drop_late(double margin, Passed* passed) {
  std::uint32_t size = 0;
  kept_as_.resize(next_->size());
  for (std::size_t i = 0; i < next_->size(); ++i) {
    const Active active = (*next_)[i];
    const ChainBounds::Bound after = bound_after(active.state);
    const double of_word = word_threshold_[active.word];
    const bool drop = active.value + after.up_to_root < threshold_ - margin - slack(threshold_) ||
                      active.value + after.up_to_word < of_word - margin - slack(of_word);
    kept_as_[i] = drop ? NONE : size;
    if (!drop) (*next_)[size++] = active;
  }
  next_->resize(size);
  if (!passed) return;
  for (FoundArc& arc : passed->arcs) arc.to = kept_as_[arc.to];
  std::erase_if(passed->arcs, [](const FoundArc& arc) { return arc.to == NONE; });
}

// The entry's arcs that may be worth their while.
void WalkDecoder::find_arcs(std::uint32_t e, bool prune, double margin) {
  const Entry& entry = entries_[e];
  const NodeId s = closure_.state[e];
  const bool own = entry.value == entry.reach;  // then no longer state uses these arcs to more effect
  const double least = threshold_ - margin - slack(threshold_) - entry.reach;
  if (!prune) {
    words_.for_each_arc(index_, s, [&](NodeId a, const StateIndex::Arc& arc, std::uint32_t k) {
      if (arc.log_prob > NO_PROB) found_.push_back({e, a, k, NONE, arc.next});
    });
    return;
  }
  const auto find = [&, most = most_with_word_.data(), least](NodeId a, StateIndex::ArcHead head, std::uint32_t k) {
    if (head.up_to_root + most[k] < least) return;
    const double weight = words_.log_weight(k);
    if (most_above_word(entry.reach + weight, head.up_to_root, head.word) < word_threshold_[k] - margin) return;
    const StateIndex::Arc& arc = index_.arc(a);
    if (arc.log_prob == NO_PROB) return;
    index_.prefetch_state(arc.next);
    found_.push_back({e, a, k, NONE, arc.next});
    if (own) threshold_ = std::max(threshold_, entry.value + weight + arc.down_to_root);
  };
  if (s == ROOT && words_.is_range()) {
    find_unigrams(least, find);
  } else {
    words_.for_each_head(index_, s, find);
  }
}

// What the next slot is known to offer bounds what any arc to a word can bring: all such arcs lead to states
// that end in the word, and share the bound of the state after the word alone.
void WalkDecoder::bound_words() {
  const std::uint32_t next_class = has_next_ ? next_words_.one_class() : 0;
  if (next_class == 0) return bound_words([](WordId) { return 0.0f; });
  bound_words([row = index_.fall_after_word(next_class)](WordId w) { return row[w]; });
}

// The unigrams of a range lie side by side, as the weights do: a bound for a block of them is had on the way.
template <class Fall>
void WalkDecoder::bound_words(Fall fall) {
  const Slot& slot = words_.slot();
  const std::size_t size = slot.size();
  const double* const weight = words_.log_weights();
  most_with_word_.resize(size);
  if (!words_.is_range()) {
    for (std::size_t k = 0; k < size; ++k) most_with_word_[k] = weight[k] + fall(slot.word[k]);
    return;
  }
  best_unigram_.assign((size + BLOCK - 1) / BLOCK, LOG_ZERO);
  const WordId first = slot.word.front();
  const float* const up = index_.unigram_up_to_root() + first;
  double* const most = most_with_word_.data();
  const auto bound = [&](std::size_t k, double& best) {
    most[k] = weight[k] + fall(first + static_cast<WordId>(k));
    best = most[k] + up[k] > best ? most[k] + up[k] : best;
  };
  std::size_t k = 0;
  for (; k + BLOCK <= size; k += BLOCK) {
    double best[4] = {LOG_ZERO, LOG_ZERO, LOG_ZERO, LOG_ZERO};  // four at a time
    for (std::size_t j = 0; j < BLOCK; ++j) bound(k + j, best[j % 4]);
    best_unigram_[k / BLOCK] = std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
  }
  for (; k < size; ++k) bound(k, best_unigram_.back());
}

// Hardly any unigram of a range is worth its while.
template <class Find>
void WalkDecoder::find_unigrams(double least, Find find) {
  const WordId first = words_.slot().word.front();
  const float* const up = index_.unigram_up_to_root() + first;
  for (std::size_t b = 0; b < best_unigram_.size(); ++b) {
    if (best_unigram_[b] < least) continue;
    const std::size_t end = std::min((b + 1) * BLOCK, most_with_word_.size());
    for (auto k = static_cast<std::uint32_t>(b * BLOCK); k < end; ++k) {
      if (up[k] + most_with_word_[k] >= least) find(1 + first + k, {first + k, up[k]}, k);
    }
  }
}

void WalkDecoder::use_found(bool prune, double margin, Passed* passed) {
  if (prune && has_next_) {
    for (const FoundArc& found : found_) next_words_.prefetch(index_, found.next);
    for (const FoundArc& found : found_) next_words_.prefetch(index_, index_.state(found.next).suffix);
    for (const FoundArc& found : found_) {
      next_words_.prefetch(index_, index_.state(index_.state(found.next).suffix).suffix);
    }
  }
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const auto [e, a, k, unused, next] = found_[i];
    const StateIndex::Arc& arc = index_.arc(a);
    const double weight = words_.log_weight(k);
    const double least = threshold_ - margin - slack(threshold_);
    double value = entries_[e].reach;
    if (prune && value + index_.head(a).up_to_root + most_with_word_[k] < least) continue;
    ChainBounds::Bound after;
    if (prune) {
      after = bound_after(arc.next);
      if (value + arc.log_prob + weight + after.up_to_root < least) continue;
    }
    std::uint32_t origin = NONE;
    std::tie(value, origin) = best_prefix(e, arc.word);
    if (value == LOG_ZERO) continue;  // all prefixes list the word further up
    value = value + arc.log_prob + weight;
    if (prune) {
      if (value + after.up_to_root < least) continue;
      // Prefixes that take the same word share at least the state after it alone.
      if (value + after.up_to_word < word_threshold_[k] - margin - slack(word_threshold_[k])) continue;
      word_threshold_[k] = std::max(word_threshold_[k], value + after.down_to_word);
      threshold_ = std::max(threshold_, value + after.down_to_root);
    }
    const std::uint32_t to = relax(arc.next, value, origin, k);
    if (passed) passed->arcs.push_back({e, a, k, to, next});
  }
  found_.clear();
}

// The most that a prefix of this value can be worth above the state after the
// word alone; `up_to_root` is that of the state it reaches, the arc's term included.
double WalkDecoder::most_above_word(double value, double up_to_root, WordId w) const {
  const double up = index_.up_of_word(w);
  // A difference of floats that were rounded outwards is off by a few units in their last place.
  return value + (up_to_root - up) + slack(value) + FLOAT_SLACK * (std::fabs(up) + std::fabs(up_to_root));
}

// Of a state after the position, the next word being one of the next slot; after the last, all is said.
ChainBounds::Bound WalkDecoder::bound_after(NodeId next) {
  return has_next_ ? next_bounds_.get(index_, next_words_, next) : ChainBounds::Bound{};
}

// B(e, w) and the active state it comes from.
std::pair<double, std::uint32_t> WalkDecoder::best_prefix(std::uint32_t e, WordId w) {
  const Entry& entry = entries_[e];
  if (entry.value == entry.reach) return {entry.value, entry.active};
  if (!entry.sorted) sort_extensions(e);
  for (std::uint32_t i = 0; i < entry.num_extensions; ++i) {
    const std::uint32_t x = closure_.extensions[closure_.first_extension[e] + i];
    if (entries_[x].backed_off <= entry.value) break;
    if (!index_.lists(closure_.state[x], w)) return {entries_[x].backed_off, entries_[x].origin};
  }
  return {entry.value, entry.active};
}

std::uint32_t WalkDecoder::relax(NodeId next, double value, std::uint32_t origin, std::uint32_t word) {
  bool inserted;
  std::uint32_t& place = next_of_.at(next, inserted);
  if (inserted) {
    place = static_cast<std::uint32_t>(next_->size());
    next_->push_back({next, position_, value, origin, word});
  } else if (value > (*next_)[place].value) {
    (*next_)[place] = {next, position_, value, origin, word};
  }
  return place;
}

}  // namespace hiddenite::exact
