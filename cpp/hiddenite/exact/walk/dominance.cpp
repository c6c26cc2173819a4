#include "hiddenite/exact/walk/dominance.hpp"

#include <cmath>

#include "hiddenite/exact/empty_support.hpp"

namespace hiddenite::exact {

// Of each joint of a graph, the one position that leads on from there, if it is one; those whose slots offer no
// words do not count.
void WalkDecoder::find_only_positions(const Candidates& candidates) {
  only_from_.assign(candidates.is_chain() ? 0 : candidates.num_joints(), NOWHERE);
  for (std::size_t i = candidates.spans.size(); i-- > 0;) {
    if (slot_at(candidates, i).size() == 0) continue;
    std::size_t& only = only_from_[candidates.span(i).from];
    only = only == NOWHERE ? i : SEVERAL;
  }
}

// The one position that follows; NOWHERE if none does, or not one alone.
std::size_t WalkDecoder::next_position(const Candidates& candidates, std::size_t position) const {
  if (candidates.is_chain()) return position + 1 < candidates.num_positions() ? position + 1 : NOWHERE;
  const std::size_t only = only_from_[candidates.span(position).to];
  return only == SEVERAL ? NOWHERE : only;
}

const Slot& WalkDecoder::slot_at(const Candidates& candidates, std::size_t position) const {
  return position < candidates.length() ? candidates.slots[position] : end_slot_;
}

// The words of the position, and of what follows: one slot, or any of several.
void WalkDecoder::set_slots(const Candidates& candidates, std::size_t position) {
  const Slot& slot = slot_at(candidates, position);
  if (prepared_ == position) {
    std::swap(words_, next_words_);
    std::swap(bounds_, next_bounds_);
  } else {
    words_.set(index_, slot, slot.log_max);
    bounds_.clear();
  }
  prepared_ = next_position(candidates, position);
  has_next_ = candidates.span(position).to + 1 < candidates.num_joints();
  if (!has_next_) return;
  next_bounds_.clear();
  if (prepared_ == NOWHERE) return next_words_.set_any();
  const Slot& next = slot_at(candidates, prepared_);
  next_words_.set(index_, next, next.log_max);
}

// False if the budget ended first. That no path is left is believed only where nothing was left out.
bool WalkDecoder::run(const Candidates& candidates, bool prune, double margin, bool keep, const Deadline& deadline) {
  if (!walk(candidates, prune, margin, keep, deadline)) return false;
  if (!layers_.back().empty()) return true;
  if (prune) return run(candidates, false, margin, keep, deadline);
  std::size_t position = 0;  // the first that leads nowhere
  while (candidates.is_chain() && position + 1 < candidates.num_positions() && !layers_[position + 1].empty()) {
    ++position;
  }
  throw_no_path(candidates, position);
}

// From the first joint to the last, or to where a chain has come to an end.
bool WalkDecoder::walk(const Candidates& candidates, bool prune, double margin, bool keep, const Deadline& deadline) {
  const std::size_t num_positions = candidates.num_positions();
  layers_.resize(candidates.num_joints());
  for (std::vector<Active>& layer : layers_) layer.clear();
  if (keep && passed_.size() < num_positions) passed_.resize(num_positions);  // what is there serves again
  layers_[0].push_back(Active{index_.start(), NONE, 0.0, NONE, NONE});
  find_only_positions(candidates);
  num_states_ = 1;
  magnitude_ = 1.0;
  prepared_ = NOWHERE;
  last_joint_ = 0;
  bool complete = true;
  for (std::size_t position = 0; position < num_positions; ++position) {
    if (candidates.is_first_into(position) && (num_states_ > deadline.budget().states || deadline.is_over())) {
      complete = false;
      break;
    }
    walk_position(candidates, position, prune, margin, keep ? &passed_[position] : nullptr);
    if (!candidates.is_last_into(position)) continue;
    if (next_->empty() && candidates.is_chain()) break;
    num_states_ += next_->size();
    last_joint_ = candidates.span(position).to;
  }
  words_.clear();
  next_words_.clear();
  return complete;
}

// One rounding for each term of a prefix's value, and some for the test itself.
void WalkDecoder::begin_magnitude(std::size_t position) {
  constexpr double share = 4.0 * std::numeric_limits<double>::epsilon();
  unit_ = share * static_cast<double>(index_.table().order + 4) * static_cast<double>(position + 2);
}

void WalkDecoder::walk_position(const Candidates& candidates, std::size_t position, bool prune, double margin,
                                Passed* passed) {
  const Span span = candidates.span(position);
  next_ = &layers_[span.to];
  position_ = static_cast<std::uint32_t>(position);
  is_alone_ = candidates.is_first_into(position) && candidates.is_last_into(position);
  if (passed) passed->arcs.clear();
  if (candidates.is_first_into(position)) {
    next_of_.clear();
    threshold_ = LOG_ZERO;
  }
  if (layers_[span.from].empty() || slot_at(candidates, position).size() == 0) return;  // of a graph
  begin_magnitude(position);
  set_slots(candidates, position);
  enter_states(layers_[span.from]);
  if (prune) drop_dominated(margin);
  find_reach();
  expand(prune, margin, passed);
}

void WalkDecoder::enter_states(const std::vector<Active>& layer) {
  closure_.build(index_, layer.size(), [&](std::size_t i) { return layer[i].state; });
  entries_.assign(closure_.size(), Entry{});
  for (std::uint32_t i = 0; i < layer.size(); ++i) {
    Entry& entry = entries_[closure_.entry(layer[i].state)];
    entry.active = i;
    entry.value = layer[i].value;
    magnitude_ = std::max(magnitude_, std::fabs(entry.value));
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
    if (entry.active != NONE && entry.value < entry.need - margin - slack(entry.need)) {
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
    if (entry.backed_off == LOG_ZERO) continue;
    magnitude_ = std::max(magnitude_, std::fabs(entry.backed_off));
    Entry& suffix = entries_[closure_.suffix[e]];
    if (entry.backed_off > suffix.reach) {
      suffix.reach = entry.backed_off;
      suffix.origin = entry.origin;
    }
  }
}

std::uint32_t WalkDecoder::best_of(const std::vector<Active>& layer) {
  const auto best = std::max_element(layer.begin(), layer.end(),
                                     [](const Active& a, const Active& b) { return a.value < b.value; });
  return static_cast<std::uint32_t>(best - layer.begin());
}

WalkDecoder::Prefix WalkDecoder::backtrack(const Candidates& candidates, std::size_t joint,
                                           std::uint32_t active) const {
  Prefix prefix;
  while (joint > 0) {
    const Active& reached = layers_[joint][active];
    if (reached.position < candidates.length()) {
      prefix.path.push_back(reached.word);
      if (!candidates.is_chain()) prefix.route.push_back(reached.position);  // a chain needs none
    }
    active = reached.previous;
    joint = candidates.span(reached.position).from;
  }
  std::reverse(prefix.path.begin(), prefix.path.end());
  std::reverse(prefix.route.begin(), prefix.route.end());
  return prefix;
}

Decoded WalkDecoder::decode(const Candidates& candidates, bool prune, const Deadline& deadline) {
  if (!run(candidates, prune, 0.0, false, deadline)) return stopped_early(candidates, prune);
  Prefix best = backtrack(candidates, layers_.size() - 1, best_of(layers_.back()));
  const double log_weight = path_log_weight(index_.table(), candidates, best.path, best.route);
  return {std::move(best.path), log_weight, proved(log_weight, method_of(prune), num_states_), std::move(best.route)};
}

// ------------------------------------------------------------------ budgets

// The most that a word of the slot can add: each at its best after any context.
double WalkDecoder::most_of_slot(const Slot& slot) const {
  double most = LOG_ZERO;
  for (std::size_t k = 0; k < slot.size(); ++k) {
    most = std::max(most, index_.table().log_max_prob[1 + slot.word[k]] + slot.log_max[k]);
  }
  return most;
}

// [joint]: the most that the rest of a path can add.
std::vector<double> WalkDecoder::most_from_joints(const Candidates& candidates) const {
  std::vector<double> most(candidates.num_joints(), LOG_ZERO);
  most.back() = 0.0;
  for (std::size_t i = candidates.num_positions(); i-- > 0;) {
    const Span span = candidates.span(i);
    most[span.from] = std::max(most[span.from], most_of_slot(slot_at(candidates, i)) + most[span.to]);
  }
  return most;
}

// Of the slots that lead on from what was walked, the one that promises most: its best prefix completed word by
// word, and what it promises as the bound.
Decoded WalkDecoder::stopped_early(const Candidates& candidates, bool prune) const {
  const std::vector<double> most = most_from_joints(candidates);
  double upper = LOG_ZERO;
  std::size_t from = 0;
  for (std::size_t i = 0; i < candidates.num_positions(); ++i) {
    const Span span = candidates.span(i);
    if (span.from > last_joint_ || span.to <= last_joint_ || layers_[span.from].empty()) continue;
    const std::vector<Active>& layer = layers_[span.from];
    const double promise = layer[best_of(layer)].value + most_of_slot(slot_at(candidates, i)) + most[span.to];
    if (promise > upper) upper = promise, from = span.from;
  }
  if (upper == LOG_ZERO) throw_promise_nothing(candidates);
  const std::uint32_t best = best_of(layers_[from]);
  Prefix prefix = backtrack(candidates, from, best);
  complete(candidates, most, from, layers_[from][best].state, prefix);
  const double log_weight = path_log_weight(index_.table(), candidates, prefix.path, prefix.route);
  Bounds bounds;
  bounds.found(log_weight);
  bounds.none_above(outward(upper, num_terms(index_.table(), candidates), magnitude_ + std::fabs(upper)));
  return {std::move(prefix.path), log_weight, Certificate(bounds, method_of(prune), 0, num_states_),
          std::move(prefix.route)};
}

// No word of some position has a positive probability after any context.
void WalkDecoder::throw_promise_nothing(const Candidates& candidates) const {
  std::size_t position = last_joint_;
  while (position < candidates.length() && most_of_slot(candidates.slots[position]) > LOG_ZERO) ++position;
  throw_no_path(candidates, position);
}

// Adds words to a path until the end: the slot that promises most, and its best word in the state.
void WalkDecoder::complete(const Candidates& candidates, const std::vector<double>& most, std::size_t joint,
                           NodeId state, Prefix& prefix) const {
  for (std::size_t i = 0; i < candidates.length(); ++i) {  // slots lead upwards: none is passed by
    const Span span = candidates.span(i);
    const Slot& slot = candidates.slots[i];
    if (span.from != joint || slot.size() == 0 || most_of_slot(slot) + most[span.to] < most[joint]) continue;
    double best = LOG_ZERO;
    std::uint32_t chosen = 0;
    NodeId chosen_state = state;
    for (std::uint32_t k = 0; k < slot.size(); ++k) {
      NodeId next = state;
      const double value = index_.table().step(next, slot.word[k]) + slot.log_max[k];
      if (k == 0 || value > best) best = value, chosen = k, chosen_state = next;
    }
    prefix.path.push_back(chosen);
    if (!candidates.is_chain()) prefix.route.push_back(static_cast<std::uint32_t>(i));
    state = chosen_state;
    joint = span.to;
  }
}

}  // namespace hiddenite::exact
