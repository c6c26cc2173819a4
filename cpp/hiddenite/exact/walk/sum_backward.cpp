// The backward pass: what may follow each state, bounded from above.
#include <bit>
#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/exact/walk/sum_numbers.hpp"
#include "hiddenite/exact/walk/sums.hpp"

namespace hiddenite::exact {

void check_budget(const Deadline& deadline, std::uint64_t states, std::size_t position, std::size_t length) {
  if (states <= deadline.budget().states && !deadline.is_over()) return;
  throw ModelError("the budget ended at position " + std::to_string(std::min(position + 1, length)) + " of " +
                   std::to_string(length) + " with " + std::to_string(states) +
                   " states: no probability is known; raise --budget or --max-states, or --keep fewer candidates");
}

// ------------------------------------------------------------------- closure

void LevelClosure::add(NodeId s, std::uint32_t place) {
  bool is_new = true;
  if (s <= num_words_) {
    is_new = std::exchange(entry_of_word_[s], 0) == NONE;
  } else {
    entry_of_.at(s, is_new);
  }
  if (!is_new) return;
  std::size_t level = 1;
  while (s >= index_.table().level_begin[level + 1]) ++level;
  levels_[level].emplace_back(s, place);
}

void LevelClosure::build(const std::vector<NodeId>& states) {
  for (std::vector<Member>& level : levels_) level.clear();
  entry_of_.clear();
  std::uint32_t place_of_root = NONE;
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    if (states[place] == ROOT) place_of_root = place;
    else add(states[place], place);
  }
  for (std::size_t n = levels_.size(); n-- > 2;) {
    for (std::size_t j = 0; j < levels_[n].size(); ++j) {
      const NodeId suffix = index_.state(levels_[n][j].first).suffix;
      if (suffix != ROOT) add(suffix, NONE);
    }
  }
  states_.clear();
  for (std::size_t n = levels_.size(); n-- > 1;) {
    for (const Member& member : levels_[n]) {
      const auto e = static_cast<std::uint32_t>(states_.size());
      if (member.first <= num_words_) entry_of_word_[member.first] = e;
      else entry_of_.set(member.first, e);
      states_.push_back(member);
    }
  }
  const auto root = static_cast<std::uint32_t>(states_.size());
  suffix_.resize(root);
  for (std::uint32_t e = 0; e < root; ++e) {
    const NodeId s = index_.state(states_[e].first).suffix;
    suffix_[e] = s == ROOT ? root : s <= num_words_ ? entry_of_word_[s] : entry_of_.get(s);
  }
  for (const Member& word : levels_[1]) entry_of_word_[word.first] = NONE;
  states_.emplace_back(ROOT, place_of_root);
  suffix_.push_back(NONE);
}

// --------------------------------------------------------------------- beta

template <class Number>
void BackwardSum<Number>::run(Graph& graph, const Deadline& deadline) {
  try {
    walk(graph, deadline);
  } catch (...) {
    following_.clear();  // the slots will be gone
    throw;
  }
  following_.clear();
}

template <class Number>
void BackwardSum<Number>::walk(Graph& graph, const Deadline& deadline) {
  const Candidates& candidates = *graph.candidates;
  typename Graph::Joint& last = graph.joints[candidates.num_joints() - 1];
  last.beta.assign(last.states.size(), Number::one());
  for (std::size_t i = candidates.num_positions(); i-- > 0;) {
    check_budget(deadline, graph.num_states, i, candidates.length());
    const Span span = candidates.span(i);
    typename Graph::Joint& after = graph.joints[span.to];
    if (candidates.is_last_into(i)) rescale(after.beta, after.beta_exponent);  // all that leads on has been seen
    if (graph.positions[i].entries.empty() || after.beta.empty()) continue;
    weigh_references(graph, i);
    weigh_listed(graph, i);
    add_beta(graph, i);
    if (uncertain_.is_zero()) continue;
    const double log_unit = static_cast<double>(after.exponent_before + after.beta_exponent) * std::log(2.0);
    graph.uncertain += std::exp(uncertain_.log() + log_unit - graph.log_kept);
  }
  const typename Graph::Joint& first = graph.joints[0];
  const Number all = first.beta.empty() ? Number{} : first.beta[0];
  graph.log_upper = all.log() + static_cast<double>(first.beta_exponent) * std::log(2.0);
}

// What may follow each word of the slot, if it is all that is known.
template <class Number>
void BackwardSum<Number>::weigh_references(const Graph& graph, std::size_t i) {
  if (!graph.leaves_out) return;
  std::swap(reference_, later_reference_);
  const Slot& slot = graph.slot(i);
  const typename Graph::Joint& after = graph.joints[graph.candidates->span(i).to];
  const Number root = after.beta[after.root];
  reference_.assign(slot.size(), root);
  const std::vector<std::uint32_t>& places = graph.positions[i].reference;
  if (places.empty()) return;  // nothing follows
  const bool is_one_class = std::has_single_bit(after.classes);
  const float* const fall = is_one_class ? graph.index.fall_after_word(after.classes) : nullptr;
  for (std::uint32_t k = 0; k < slot.size(); ++k) {
    const WordId w = slot.word[k];
    double up = double{graph.index.up_of_word(w)} + (fall ? double{fall[w]} : 0.0);
    if (is_planted(SumFault::TRUSTS_ROOT)) up = std::min(up, 0.0);
    reference_[k] = bounded(root * exp_above(up));
    if (places[k] != NONE && after.beta[places[k]] < reference_[k]) reference_[k] = after.beta[places[k]];
  }
}

// T of all that is listed: of arcs as they are, of what was left out its bound.
template <class Number>
void BackwardSum<Number>::weigh_listed(const Graph& graph, std::size_t i) {
  const Position& position = graph.positions[i];
  const typename Graph::Joint& after = graph.joints[graph.candidates->span(i).to];
  value_.assign(position.listed.size(), {});
  if (graph.leaves_out) bound_left_out(graph, i);
  for (const typename Graph::Entry& entry : position.entries) {
    std::uint32_t l = entry.first_listed;
    for (std::uint32_t a = entry.first_arc; a < entry.first_arc + entry.num_arcs; ++a) {
      const typename Graph::Arc& arc = position.arcs[a];
      while (position.listed[l].word != arc.word) ++l;
      value_[l] = arc.factor * after.beta[arc.to];
    }
  }
}

// beta of the position's entries, shortest first, and what that adds to the joint before it.
template <class Number>
void BackwardSum<Number>::add_beta(Graph& graph, std::size_t i) {
  const Position& position = graph.positions[i];
  const typename Graph::Joint& after = graph.joints[graph.candidates->span(i).to];
  typename Graph::Joint& before = graph.joints[graph.candidates->span(i).from];
  if (before.beta.empty()) {
    before.beta.assign(before.states.size(), {});
    before.beta_exponent = after.beta_exponent;
  }
  const Number unit = in_unit<Number>(after.beta_exponent, before.beta_exponent);
  entry_beta_.assign(position.entries.size(), {});
  taken_.assign(position.entries.size(), {});
  of_word_.assign(graph.slot(i).size(), {});
  uncertain_ = {};
  for (auto e = static_cast<std::uint32_t>(position.entries.size()); e-- > 0;) {
    const typename Graph::Entry& entry = position.entries[e];
    Number sum{};
    for (std::uint32_t l = 0; l < entry.num_listed; ++l) sum += value_[entry.first_listed + l];
    if (entry.num_arcs > 0) uncertain_ += entry.extended * sum * (2 * ROUNDING * (entry.num_extensions + 2));
    if (entry.suffix != NONE) sum += beta_by_backing_off(graph, i, e);
    entry_beta_[e] = bounded(sum);
    if (entry.place != NONE) before.beta[entry.place] += entry_beta_[e] * unit;
    if (entry.listing != NONE) take_from_extensions(position, e);
  }
}

// What each extension of an entry lists is not had by backing off to it.
template <class Number>
void BackwardSum<Number>::take_from_extensions(const Position& position, std::uint32_t e) {
  const typename Graph::Entry& entry = position.entries[e];
  for (std::uint32_t l = entry.first_listed; l < entry.first_listed + entry.num_listed; ++l) {
    of_word_[position.listed[l].word] = value_[l];
  }
  for (std::uint32_t x = entry.listing; x != NONE; x = position.entries[x].next_listing) {
    const typename Graph::Entry& extension = position.entries[x];
    Number taken{};
    for (std::uint32_t l = extension.first_listed; l < extension.first_listed + extension.num_listed; ++l) {
      taken += of_word_[position.listed[l].word];
    }
    taken_[x] = taken;
  }
}

template <class Number>
Number BackwardSum<Number>::beta_by_backing_off(const Graph& graph, std::size_t i, std::uint32_t e) const {
  const Position& position = graph.positions[i];
  const typename Graph::Entry& entry = position.entries[e];
  if (entry.backoff.is_zero()) return {};
  const Number all = entry_beta_[entry.suffix];
  const Number rest = all.minus(taken_[e]);
  if (!graph.leaves_out && rest < all * CANCELS) return entry.backoff * direct_beta(graph, i, e);
  // Sums in two orders: by so much the difference may be too small. What is only a bound need not be known better.
  const double rounding = 2 * ROUNDING * (position.entries[entry.suffix].num_listed + entry.num_listed + 4.0);
  return entry.backoff * (rest + all * rounding);
}

// The sum over the slot's words that entry e does not list of what they are worth from its suffix on.
template <class Number>
Number BackwardSum<Number>::direct_beta(const Graph& graph, std::size_t i, std::uint32_t e) const {
  const Position& position = graph.positions[i];
  Number sum{};
  for (std::uint32_t k = 0; k < graph.slot(i).size(); ++k) {
    if (position.lists(e, k)) continue;
    Number weight = Number::one();
    for (std::uint32_t s = position.entries[e].suffix; s != NONE; s = position.entries[s].suffix) {
      const std::uint32_t l = position.find_listed(s, k);
      if (l != NONE) {
        sum += weight * value_[l];
        break;
      }
      weight = weight * position.entries[s].backoff;
    }
  }
  return sum;
}

template <class Number>
std::vector<std::vector<double>> BackwardSum<Number>::marginals(const Graph& graph,
                                                                const std::vector<std::size_t>& slot_sizes) {
  const Candidates& candidates = *graph.candidates;
  std::vector<std::vector<double>> result(candidates.length());
  std::vector<Number> flow;
  for (std::size_t i = 0; i < candidates.length(); ++i) {
    result[i].assign(slot_sizes[i], 0.0);
    const typename Graph::Joint& after = graph.joints[candidates.span(i).to];
    const Slot& slot = graph.slot(i);
    if (after.beta.empty()) continue;
    flow.assign(slot.size(), {});
    Number total{};
    for (const typename Graph::Arc& arc : graph.positions[i].arcs) {
      const Number mass = arc.inflow * arc.factor * after.beta[arc.to];
      flow[arc.word] += mass;
      total += mass;
    }
    if (total.is_zero()) continue;
    const double log_unit = static_cast<double>(after.exponent_before + after.beta_exponent) * std::log(2.0);
    const double share =
        candidates.is_chain() ? 1.0 : std::min(std::exp(total.log() + log_unit - graph.log_upper), 1.0);
    for (std::size_t k = 0; k < slot.size(); ++k) {
      const double prob = share * flow[k].ratio(total);
      for (std::uint32_t c = slot.begin[k]; c < slot.begin[k + 1]; ++c) {
        result[i][slot.candidate[c]] = prob * std::exp(slot.log_weight[c] - slot.log_sum[k]);
      }
    }
  }
  return result;
}

template class BackwardSum<Linear>;
template class BackwardSum<Logarithmic>;

}  // namespace hiddenite::exact
