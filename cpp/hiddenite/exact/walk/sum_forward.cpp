// The forward pass: from the states before a position to those after it.
//
// Arcs are looked at in three steps, in the order of what they make the memory
// fetch: the heads of all arcs of an entry, which bound what an arc can be worth;
// the arcs that may be worth it, with the states they lead to; the bounds of
// such a state against the words that follow.
#include <cmath>

#include "hiddenite/exact/empty_support.hpp"
#include "hiddenite/exact/walk/sum_numbers.hpp"
#include "hiddenite/exact/walk/sums.hpp"

namespace hiddenite::exact {

namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
// So many items ahead: class tables and heads of entries; arcs, the states after them and their suffixes.
constexpr std::uint32_t TABLE_AHEAD = 32, HEADS_AHEAD = 16;
constexpr std::size_t ARC_AHEAD = 48, STATE_AHEAD = 32, SUFFIX_AHEAD = 16;

}  // namespace

template <class Number>
ForwardSum<Number>::ForwardSum(const StateIndex& index)
    : index_(index), num_words_(static_cast<NodeId>(index.table().vocabulary.size())), closure_(index),
      place_of_word_(num_words_ + 1, NONE) {}

template <class Number>
bool ForwardSum<Number>::run(Graph& graph, const Candidates& candidates, double share, const Deadline& deadline) {
  graph_ = &graph;
  candidates_ = &candidates;
  share_ = share;
  graph.candidates = &candidates;
  graph.leaves_out = share > 0.0;
  graph.share = share;
  const auto forget = [&] {  // the slots will be gone
    words_.clear();
    next_words_.clear();
  };
  try {
    const bool leads_somewhere = walk(deadline);
    forget();
    return leads_somewhere;
  } catch (...) {
    forget();
    std::fill(place_of_word_.begin(), place_of_word_.end(), NONE);
    throw;
  }
}

template <class Number>
bool ForwardSum<Number>::walk(const Deadline& deadline) {
  begin();
  for (std::size_t i = 0; i < candidates_->num_positions(); ++i) {
    walk_position(i);
    if (!candidates_->is_last_into(i)) continue;
    if (!finish_joint(i)) return false;
    check_budget(deadline, graph_->num_states, i, candidates_->length());
  }
  const Joint& last = graph_->joints[candidates_->num_joints() - 1];
  Number total{};
  for (const Number value : last.values) total += value;
  if (total.is_zero() && graph_->leaves_out) return false;
  if (total.is_zero()) throw_no_path(*candidates_, candidates_->num_positions());
  graph_->log_kept = total.log() + static_cast<double>(last.exponent) * std::log(2.0);
  return true;
}

template <class Number>
void ForwardSum<Number>::begin() {
  Graph& graph = *graph_;
  if (graph.positions.size() < candidates_->num_positions()) graph.positions.resize(candidates_->num_positions());
  if (graph.joints.size() < candidates_->num_joints()) graph.joints.resize(candidates_->num_joints());
  for (std::size_t j = 0; j < candidates_->num_joints(); ++j) graph.joints[j].clear();
  graph.joints[0].states.push_back(index_.start());
  graph.joints[0].values.push_back(Number::one());
  graph.num_states = 1;
  graph.num_terms = graph.magnitude = graph.uncertain = 0.0;
  find_what_follows();
}

// The words that may follow each joint, and whether one slot holds them all.
template <class Number>
void ForwardSum<Number>::find_what_follows() {
  std::vector<Joint>& joints = graph_->joints;
  only_from_.assign(candidates_->num_joints(), NOWHERE);
  for (std::size_t j = 0; j < candidates_->num_joints(); ++j) joints[j].classes = 0;
  for (std::size_t i = 0; i < candidates_->num_positions(); ++i) {
    const Slot& slot = graph_->slot(i);
    if (slot.size() == 0) continue;
    const std::uint32_t from = candidates_->span(i).from;
    joints[from].classes |= classes_of(index_, slot);
    only_from_[from] = only_from_[from] == NOWHERE ? i : SEVERAL;
  }
}

// From the joint before the position to the one after it.
template <class Number>
void ForwardSum<Number>::walk_position(std::size_t i) {
  const Span span = candidates_->span(i);
  const Joint& from = graph_->joints[span.from];
  Joint& to = graph_->joints[span.to];
  Position& position = graph_->positions[i];
  position.clear();
  if (candidates_->is_first_into(i)) {
    place_of_.clear();
    first_into_ = i;
  }
  if (from.states.empty() || graph_->slot(i).size() == 0) return;  // of a graph
  if (to.states.empty()) to.exponent_before = from.exponent;
  close(position, from, in_unit<Number>(from.exponent, to.exponent_before));
  set_words(i);
  if (graph_->leaves_out) {
    log_least_ = std::log(share_) + estimate_log_sum(position);
    position.least = least_ = Number::from_log(log_least_);
  }
  const auto num_entries = static_cast<std::uint32_t>(position.entries.size());
  for (std::uint32_t e = 0; e < num_entries; ++e) {
    if (e + TABLE_AHEAD < num_entries) words_.prefetch_table(index_, position.entries[e + TABLE_AHEAD].state);
    if (e + HEADS_AHEAD < num_entries) words_.prefetch_arcs(index_, position.entries[e + HEADS_AHEAD].state, true);
    scan(position, e);
  }
  use_found(position, to);
  if (graph_->leaves_out) add_references(i, to);
  graph_->num_terms += static_cast<double>(position.arcs.size() + position.listed.size() + 2 * num_entries);
}

template <class Number>
void ForwardSum<Number>::set_words(std::size_t i) {
  const Slot& slot = graph_->slot(i);
  words_.set(index_, slot, slot.log_sum);
  const std::uint32_t joint = candidates_->span(i).to;
  is_last_ = joint + 1 == candidates_->num_joints();
  const std::size_t next = only_from_[joint];
  if (next == NOWHERE || next == SEVERAL) {
    next_words_.set_any();
  } else {
    next_words_.set(index_, graph_->slot(next), graph_->slot(next).log_sum);
  }
  found_.clear();
  if (!graph_->leaves_out) return;
  most_left_out_.assign(slot.size(), static_cast<float>(LOG_ZERO));
  log_above_word_.resize(slot.size());
  for (std::uint32_t k = 0; k < slot.size(); ++k) {
    const double up = is_last_ ? 0.0 : index_.up_of_word(slot.word[k]);
    log_above_word_[k] = std::isfinite(up) ? words_.log_weight(k) - up : INF;  // infinite: nothing is known
  }
}

// The joint's states and their suffixes, longest first.
template <class Number>
void ForwardSum<Number>::close(Position& position, const Joint& joint, Number unit) {
  closure_.build(joint.states);
  position.entries.assign(closure_.size(), {});
  for (std::uint32_t e = 0; e < position.entries.size(); ++e) {
    Entry& entry = position.entries[e];
    entry.state = closure_.state(e);
    entry.place = closure_.place(e);
    entry.suffix = closure_.suffix(e);
    if (entry.suffix != NONE) ++position.entries[entry.suffix].num_extensions;
    if (entry.place == NONE || joint.values[entry.place].is_zero()) continue;
    entry.value = joint.values[entry.place] * unit;
    if (!graph_->leaves_out) check_range(entry.value);
  }
}

// A guess at the sum after the position: the heaviest prefix with all words of the slot.
template <class Number>
double ForwardSum<Number>::estimate_log_sum(const Position& position) const {
  std::uint32_t heaviest = 0;
  for (std::uint32_t e = 0; e < position.entries.size(); ++e) {
    if (position.entries[heaviest].value < position.entries[e].value) heaviest = e;
  }
  double log_mass = position.entries[heaviest].value.log(), best = LOG_ZERO, sum = 0.0;
  for (std::uint32_t e = heaviest; e != NONE; e = position.entries[e].suffix) {
    const NodeId s = position.entries[e].state;
    if (s == ROOT && sum > 0.0) break;  // too many arcs for a guess
    words_.for_each_arc(index_, s, [&](NodeId, const StateIndex::Arc& arc, std::uint32_t k) {
      const double log_reached = log_mass + arc.log_prob + words_.log_weight(k);
      if (!(log_reached > LOG_ZERO)) return;
      if (log_reached > best) {
        sum *= std::exp(best - log_reached);
        best = log_reached;
      }
      sum += std::exp(log_reached - best);
    });
    log_mass += index_.state(s).log_backoff;
  }
  return best + std::log(std::max(sum, 1.0));
}

// What an entry lists, and which of its arcs may be worth their while.
template <class Number>
void ForwardSum<Number>::scan(Position& position, std::uint32_t e) {
  Entry& entry = position.entries[e];
  entry.reach = entry.value + entry.extended;
  entry.first_listed = static_cast<std::uint32_t>(position.listed.size());
  entry.first_arc = static_cast<std::uint32_t>(found_.size());  // for now
  Entry* const suffix = entry.suffix == NONE ? nullptr : &position.entries[entry.suffix];
  if (suffix) {
    entry.backoff = Number::from_log(index_.state(entry.state).log_backoff);
    entry.backed_off = entry.reach * entry.backoff;
    suffix->extended += entry.backed_off;
  }
  if (entry.reach.is_zero() && !graph_->leaves_out) return;
  const double log_reach = rough_log(entry.reach);
  const double least = entry.reach.is_zero() ? INF : log_least_ - log_reach;
  words_.for_each_head(index_, entry.state, [&](NodeId a, const StateIndex::ArcHead& head, std::uint32_t k) {
    const auto place = static_cast<std::uint32_t>(position.listed.size());
    if (!graph_->leaves_out) {
      position.listed.push_back({k, static_cast<float>(LOG_ZERO)});
      found_.push_back({a, place});
      return;
    }
    const double most = head.up_to_root + log_above_word_[k];
    position.listed.push_back({k, std::isnan(most) ? static_cast<float>(INF) : float_above(most)});
    if (most < least) {
      most_left_out_[k] = std::max(most_left_out_[k], static_cast<float>(most + log_reach));
    } else if (least < INF) {
      found_.push_back({a, place});
    }
  });
  entry.num_listed = static_cast<std::uint32_t>(position.listed.size()) - entry.first_listed;
  if (!suffix) return;
  if (entry.num_listed > 0) {
    entry.next_listing = std::exchange(suffix->listing, e);
  } else {
    suffix->silent += entry.backed_off;
  }
}

template <class Number>
void ForwardSum<Number>::use_found(Position& position, Joint& to) {
  listed_.assign(words_.slot().size(), {});
  times_listed_.assign(words_.slot().size(), 0);
  const auto num_entries = static_cast<std::uint32_t>(position.entries.size());
  for (std::uint32_t e = 0; e < num_entries; ++e) {
    Entry& entry = position.entries[e];
    const std::size_t end = e + 1 < num_entries ? position.entries[e + 1].first_arc : found_.size();
    const std::size_t begin = std::exchange(entry.first_arc, static_cast<std::uint32_t>(position.arcs.size()));
    if (begin == end) continue;
    if (entry.listing != NONE) count_listed(position, e, true);
    for (std::size_t j = begin; j < end; ++j) {
      if (j + ARC_AHEAD < found_.size()) index_.prefetch_arc(found_[j + ARC_AHEAD].arc);
      if (j + STATE_AHEAD < found_.size()) index_.prefetch_state(index_.arc(found_[j + STATE_AHEAD].arc).next);
      if (j + SUFFIX_AHEAD < found_.size()) {
        index_.prefetch_state(index_.state(index_.arc(found_[j + SUFFIX_AHEAD].arc).next).suffix);
      }
      use_arc(position, e, found_[j], to);
    }
    if (entry.listing != NONE) count_listed(position, e, false);
    entry.num_arcs = static_cast<std::uint32_t>(position.arcs.size()) - entry.first_arc;
  }
}

template <class Number>
void ForwardSum<Number>::use_arc(Position& position, std::uint32_t e, const Found& found, Joint& to) {
  typename Graph::Listed& listed = position.listed[found.listed];
  const Number inflow = unlisted_mass(position, e, listed.word);
  if (inflow.is_zero()) return;  // all prefixes list the word further up
  const Target target = find_target(index_.arc(found.arc), listed.word, to);
  if (target.log_factor == LOG_ZERO) {
    listed.log_bound = static_cast<float>(LOG_ZERO);
    return;
  }
  const Number factor = Number::from_log(target.log_factor);
  const Number mass = inflow * factor;
  if (!graph_->leaves_out) {
    check_range(mass);
  } else if (mass < least_ && leave_out(listed, target, mass)) {
    return;
  }
  graph_->magnitude = std::max(graph_->magnitude, std::fabs(target.log_factor));
  const std::uint32_t place = place_of(target.next, to);
  to.values[place] += mass;
  position.arcs.push_back({e, listed.word, place, factor, inflow});
}

// Adds up, or forgets, what the extensions that list a word would bring.
template <class Number>
void ForwardSum<Number>::count_listed(const Position& position, std::uint32_t e, bool add) {
  for (std::uint32_t x = position.entries[e].listing; x != NONE; x = position.entries[x].next_listing) {
    const Entry& extension = position.entries[x];
    const auto* listed = position.listed.data() + extension.first_listed;
    const auto* const end = listed + extension.num_listed;
    for (; listed < end; ++listed) {
      listed_[listed->word] = add ? listed_[listed->word] + extension.backed_off : Number{};
      times_listed_[listed->word] = add ? times_listed_[listed->word] + 1 : 0;
    }
  }
}

// F: the entry's own mass and that of the extensions that do not list the word.
template <class Number>
Number ForwardSum<Number>::unlisted_mass(const Position& position, std::uint32_t e, std::uint32_t k) const {
  const Entry& entry = position.entries[e];
  if (times_listed_[k] == entry.num_extensions) return entry.value;
  const Number all = entry.value + entry.extended.minus(listed_[k]);
  if (!(all < entry.extended * CANCELS)) return all;
  Number direct = entry.value + entry.silent;
  for (std::uint32_t x = entry.listing; x != NONE; x = position.entries[x].next_listing) {
    if (!position.lists(x, k)) direct += position.entries[x].backed_off;
  }
  return direct;
}

// After the last position all prefixes are one.
template <class Number>
typename ForwardSum<Number>::Target ForwardSum<Number>::find_target(const StateIndex::Arc& arc, std::uint32_t k,
                                                                    const Joint& to) const {
  const double log_factor = arc.log_prob + words_.log_weight(k);
  Target target{is_last_ ? ROOT : arc.next, log_factor, log_factor};
  while (target.next != ROOT) {
    const StateIndex::State& state = index_.state(target.next);
    if (state.classes & to.classes) break;
    target.log_factor += state.log_backoff;
    if (target.next > num_words_) target.log_to_word = target.log_factor;
    target.next = state.suffix;
  }
  return target;
}

// Whether an arc of small mass stays small whatever follows; if so, that is noted.
template <class Number>
bool ForwardSum<Number>::leave_out(typename Graph::Listed& listed, const Target& target, Number mass) {
  double log_to_word = target.log_to_word;
  if (target.next > num_words_) {
    double up = 0.0;
    for (NodeId s = target.next; s > num_words_; s = index_.state(s).suffix) up += next_words_.bounds(index_, s).first;
    if (!(mass * Number::from_log(up) < least_)) return false;
    log_to_word = target.log_factor + up;
  }
  const double most = mass.log() - target.log_factor + log_to_word;
  listed.log_bound = std::min(listed.log_bound, float_above(log_to_word));
  most_left_out_[listed.word] = std::max(most_left_out_[listed.word], static_cast<float>(most));
  return true;
}

template <class Number>
std::uint32_t ForwardSum<Number>::place_of(NodeId next, Joint& to) {
  std::uint32_t place = NONE;
  if (next <= num_words_) {
    place = place_of_word_[next];
    if (place == NONE) place = place_of_word_[next] = static_cast<std::uint32_t>(to.states.size());
  } else {
    bool inserted;
    std::uint32_t& known = place_of_.at(next, inserted);
    if (inserted) known = static_cast<std::uint32_t>(to.states.size());
    place = known;
  }
  if (place == to.states.size()) {
    to.states.push_back(next);
    to.values.push_back({});
  }
  return place;
}

template class ForwardSum<Linear>;
template class ForwardSum<Logarithmic>;

}  // namespace hiddenite::exact
