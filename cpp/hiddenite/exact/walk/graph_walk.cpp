#include "hiddenite/exact/walk/graph_walk.hpp"

#include <algorithm>
#include <cmath>

namespace hiddenite::exact {

namespace {

constexpr std::size_t MOST_WORDS = 64;      // of a slot
constexpr std::size_t MEAN_WORDS = 16;      // of all slots
constexpr double LARGEST_WEIGHT = 1e4;      // beyond, differences against the best of a slot are worth their making
constexpr NodeId FEW_ARCS = 24;             // are looked through; else the next words are looked up,
constexpr std::size_t FEW_NEXT_WORDS = 24;  // if they are not more

}  // namespace

GraphWalk::GraphWalk(const StateIndex& index) : index_(index), marked_(index.table().vocabulary.size(), 0) {}

// What Candidates would make other slots of, or refuse, is left to them.
bool GraphWalk::is_small(const Reading& reading) {
  if (reading.spans.empty() || reading.words.size() > MEAN_WORDS * reading.length()) return false;
  for (std::size_t i = 0; i < reading.length(); ++i) {
    const std::size_t first = reading.begin[i], last = reading.begin[i + 1];
    if (first == last || last - first > MOST_WORDS) return false;
    for (std::size_t c = first; c < last; ++c) {
      if (!(std::fabs(reading.log_weights[c]) <= LARGEST_WEIGHT)) return false;
      const WordId w = reading.words[c];
      if ((w != UNKNOWN && w < NUM_SPECIAL_WORDS) || (c > first && w <= reading.words[c - 1])) return false;
    }
  }
  return true;
}

void GraphWalk::begin(const Reading& reading) {
  joints_.assign(reading.spans.back().to + 2, Joint{});
  for (const Span& span : reading.spans) ++joints_[span.from + 1].first_out;
  for (std::size_t j = 1; j < joints_.size(); ++j) joints_[j].first_out += joints_[j - 1].first_out;
  leaving_.resize(reading.spans.size());
  std::vector<std::uint32_t> fill(joints_.size());
  for (std::size_t j = 0; j < joints_.size(); ++j) fill[j] = joints_[j].first_out;
  best_weight_.resize(reading.length());
  for (std::uint32_t i = 0; i < reading.length(); ++i) {
    leaving_[fill[reading.spans[i].from]++] = i;
    const auto weights = reading.log_weights.begin();
    best_weight_[i] = *std::max_element(weights + static_cast<std::ptrdiff_t>(reading.begin[i]),
                                        weights + static_cast<std::ptrdiff_t>(reading.begin[i + 1]));
  }
  actives_.assign(1, Active{index_.start(), NONE, NONE, NONE, 0.0});
  joints_[0].end = 1;
  bound_joint(joints_[0]);
  magnitude_ = 1.0;
  num_states_ = 1;
}

std::optional<GraphWalk::Best> GraphWalk::decode(const Reading& reading, const Deadline& deadline) {
  if (!is_small(reading)) return std::nullopt;
  begin(reading);
  for (std::size_t first = 0, last = 0; first < reading.length(); first = last) {
    const std::uint32_t joint = reading.spans[first].to;
    while (last < reading.length() && reading.spans[last].to == joint) ++last;
    if (num_states_ > deadline.budget().states || deadline.is_over()) return std::nullopt;
    enter(reading, joint, first, last);
    num_states_ += joints_[joint].end - joints_[joint].begin;
  }
  return finish(reading);
}

// One rounding for each term of a prefix's value, and some for the test itself.
void GraphWalk::enter(const Reading& reading, std::uint32_t joint, std::size_t first, std::size_t last) {
  constexpr double share = 4.0 * std::numeric_limits<double>::epsilon();
  unit_ = share * static_cast<double>(index_.table().order + 4) * static_cast<double>(joint + 2);
  threshold_ = LOG_ZERO;
  place_of_.clear();
  joints_[joint].begin = static_cast<std::uint32_t>(actives_.size());
  const auto promise = [&](std::size_t i) { return joints_[reading.spans[i].from].best_with_word + best_weight_[i]; };
  // The edge that promises most comes first: it raises the threshold for the others.
  std::size_t best = first;
  for (std::size_t i = first + 1; i < last; ++i) {
    if (promise(i) > promise(best)) best = i;
  }
  take(reading, static_cast<std::uint32_t>(best));
  for (std::size_t i = last; i-- > first;) {
    if (i == best || promise(i) < threshold_ - slack(threshold_)) continue;
    take(reading, static_cast<std::uint32_t>(i));
  }
  thin(reading, joint);
}

// Each state at the slot's beginning with each of its words.
void GraphWalk::take(const Reading& reading, std::uint32_t slot) {
  const Joint from = joints_[reading.spans[slot].from];
  for (std::uint32_t k = from.begin; k < from.end; ++k) {
    for (auto c = static_cast<std::uint32_t>(reading.begin[slot]); c < reading.begin[slot + 1]; ++c) {
      const WordId w = reading.words[c];
      NodeId s = actives_[k].state, arc = index_.find_arc(s, w);
      double value = actives_[k].value + reading.log_weights[c];
      for (; arc == NO_NODE; arc = index_.find_arc(s, w)) {
        value += index_.state(s).log_backoff;
        s = index_.state(s).suffix;
      }
      const StateIndex::Arc& taken = index_.arc(arc);
      if (taken.log_prob == NO_PROB || value == LOG_ZERO) continue;
      if (value + index_.head(arc).up_to_root < threshold_ - slack(threshold_)) continue;
      threshold_ = std::max(threshold_, value + taken.down_to_root);
      relax({taken.next, slot, c, k, value + taken.log_prob});
    }
  }
}

void GraphWalk::relax(const Active& reached) {
  bool inserted;
  std::uint32_t& place = place_of_.at(reached.state, inserted);
  if (inserted) {
    place = static_cast<std::uint32_t>(actives_.size());
    actives_.push_back(reached);
  } else if (reached.value > actives_[place].value) {
    actives_[place] = reached;
  }
  magnitude_ = std::max(magnitude_, std::fabs(reached.value));
}

void GraphWalk::thin(const Reading& reading, std::uint32_t joint) {
  Joint& own = joints_[joint];
  if (joint + 2 < joints_.size()) {
    drop_below_threshold(own.begin);
    if (actives_.size() - own.begin > 1) drop_dominated(reading, joint);
  }
  own.end = static_cast<std::uint32_t>(actives_.size());
  bound_joint(own);
}

// The threshold has risen since the first states were reached.
void GraphWalk::drop_below_threshold(std::uint32_t begin) {
  const double least = threshold_ - slack(threshold_);
  const auto first = actives_.begin() + begin;
  actives_.erase(std::remove_if(first, actives_.end(), [&](const Active& active) {
    return active.value + index_.state(active.state).up_to_root < least;
  }), actives_.end());
}

// need(c): the surest value that any prefix of the joint brings to the suffix c.
void GraphWalk::drop_dominated(const Reading& reading, std::uint32_t joint) {
  const auto first = actives_.begin() + joints_[joint].begin;
  find_next_words(reading, joint);
  chain_place_.clear();
  chains_.clear();
  need_of_.clear();
  need_.clear();
  const auto need = [&](NodeId s) -> double& {
    bool inserted;
    std::uint32_t& place = need_of_.at(s, inserted);
    if (inserted) {
      place = static_cast<std::uint32_t>(need_.size());
      need_.push_back(LOG_ZERO);
    }
    return need_[place];
  };
  for (auto active = first; active != actives_.end(); ++active) {
    double value = active->value;
    for (NodeId s = active->state;; s = index_.state(s).suffix) {
      double& most = need(s);
      most = std::max(most, value);
      if (s == ROOT) break;
      value += chain_of(s).down;
    }
  }
  actives_.erase(std::remove_if(first, actives_.end(), [&](const Active& active) {
    double value = active.value;
    for (NodeId s = active.state;; s = index_.state(s).suffix) {
      const double least = need(s);
      if (value < least - slack(least)) return true;
      if (s == ROOT) return false;
      value += chain_of(s).up;
    }
  }), actives_.end());
}

void GraphWalk::find_next_words(const Reading& reading, std::uint32_t joint) {
  next_words_.clear();
  next_classes_ = 0;
  if (++mark_ == 0) {
    std::fill(marked_.begin(), marked_.end(), 0);
    mark_ = 1;
  }
  for (std::uint32_t i = joints_[joint].first_out; i < joints_[joint + 1].first_out; ++i) {
    const std::uint32_t slot = leaving_[i];
    for (std::uint64_t c = reading.begin[slot]; c < reading.begin[slot + 1]; ++c) {
      const WordId w = reading.words[c];
      if (marked_[w] == mark_) continue;
      marked_[w] = mark_;
      next_words_.push_back(w);
      next_classes_ |= index_.class_bit(w);
    }
  }
}

GraphWalk::Chain GraphWalk::chain_of(NodeId s) {
  bool inserted;
  std::uint32_t& place = chain_place_.at(s, inserted);
  if (inserted) {
    place = static_cast<std::uint32_t>(chains_.size());
    chains_.push_back(bound_by_next_words(s));
  }
  return chains_[place];
}

GraphWalk::Chain GraphWalk::bound_by_next_words(NodeId s) const {
  const StateIndex::State& state = index_.state(s);
  Chain chain{state.log_backoff, state.log_backoff};
  if ((state.classes & next_classes_) == 0) return chain;
  const auto meet = [&](const StateIndex::Arc& arc) {
    chain.up = std::max(chain.up, double{arc.up});
    chain.down = std::min(chain.down, double{arc.down});
  };
  const NodeId end = index_.end_arc(s);
  if (end - state.first_arc <= FEW_ARCS) {
    for (NodeId a = state.first_arc; a < end; ++a) {
      if (marked_[index_.arc(a).word] == mark_) meet(index_.arc(a));
    }
    return chain;
  }
  if (next_words_.size() > FEW_NEXT_WORDS) return {state.up, state.down};
  for (const WordId w : next_words_) {
    const NodeId a = index_.find_arc(s, w);
    if (a != NO_NODE) meet(index_.arc(a));
  }
  return chain;
}

// Any word by any arc that a state of the joint can use.
void GraphWalk::bound_joint(Joint& joint) const {
  double best = LOG_ZERO;
  for (std::uint32_t k = joint.begin; k < joint.end; ++k) {
    double value = actives_[k].value;
    for (NodeId s = actives_[k].state;; s = index_.state(s).suffix) {
      best = std::max(best, value + index_.best_arc(s));
      if (s == ROOT) break;
      value += index_.state(s).log_backoff;
    }
  }
  joint.best_with_word = best;
}

std::optional<GraphWalk::Best> GraphWalk::finish(const Reading& reading) const {
  const Joint& last = joints_[joints_.size() - 2];
  double best = LOG_ZERO;
  std::uint32_t chosen = NONE;
  for (std::uint32_t k = last.begin; k < last.end; ++k) {
    NodeId s = actives_[k].state;
    double value = actives_[k].value;
    if (index_.ends()) {
      NodeId arc = index_.find_arc(s, SENTENCE_END);
      for (; arc == NO_NODE; arc = index_.find_arc(s, SENTENCE_END)) {
        value += index_.state(s).log_backoff;
        s = index_.state(s).suffix;
      }
      value += index_.arc(arc).log_prob;
    }
    if (value > best) best = value, chosen = k;
  }
  if (chosen == NONE) return std::nullopt;
  Best result{{}, {}, num_states_};
  for (std::uint32_t k = chosen; actives_[k].slot != NONE; k = actives_[k].previous) {
    const std::uint32_t slot = actives_[k].slot;
    result.path.push_back(actives_[k].candidate - static_cast<std::uint32_t>(reading.begin[slot]));
    result.route.push_back(slot);
  }
  std::reverse(result.path.begin(), result.path.end());
  std::reverse(result.route.begin(), result.route.end());
  return result;
}

}  // namespace hiddenite::exact
