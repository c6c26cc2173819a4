// Bounds of what was left out, and a closer look at those that matter.
//
// The bound of an arc that was left out allows for anything that may ever follow the state it leads to. Most of that
// does not follow here: a few arcs are bounded by a thousand times what they are worth, and that adds up.
// Where the bound of an arc may add to what is proved at the end, the words that do follow are looked at:
//   beta(s) <= sum over w listed by s of p(w | s) weight(w) e^up(next -> c) beta(c) + bow(s) beta(suf s),
// c being the state after w alone. Only rows of slots are looked at closer: there one slot follows.
#include <array>
#include <cmath>

#include "hiddenite/exact/walk/sum_numbers.hpp"
#include "hiddenite/exact/walk/sums.hpp"

namespace hiddenite::exact {

namespace {

constexpr double WORTH_A_LOOK = 3.0;  // times the share below which arcs are left out; a look costs a few arcs
constexpr std::size_t MAX_SUFFIXES = 16;  // a state with more is not looked at

}  // namespace

template <class Number>
void BackwardSum<Number>::bound_left_out(const Graph& graph, std::size_t i) {
  const Position& position = graph.positions[i];
  const bool looks_closer = prepare_to_look_closer(graph, i);
  for (const typename Graph::Entry& entry : position.entries) {
    const Number measured = looks_closer ? measured_by(graph, i, entry) : Number{};
    const typename Graph::Arc* arc = position.arcs.data() + entry.first_arc;
    const typename Graph::Arc* const last_arc = arc + entry.num_arcs;
    for (std::uint32_t l = entry.first_listed; l < entry.first_listed + entry.num_listed; ++l) {
      const auto [k, log_bound] = position.listed[l];
      if (arc < last_arc && arc->word == k) {  // it was kept
        ++arc;
        continue;
      }
      Number value = reference_[k] * exp_above(log_bound);
      if (looks_closer) {
        const Number by_reach = entry.reach * value, by_arc = position.least * reference_[k];
        if (!(measured * value + (by_reach < by_arc ? by_reach : by_arc) < least_)) {
          const Number closer = look_closer(graph, i, entry.state, k);
          if (closer < value) value = closer;
        }
      }
      if (is_planted(SumFault::FORGETS) && l % 2 == 0) value = {};
      value_[l] = value;
    }
  }
}

// False if nothing follows the position, or not one slot.
template <class Number>
bool BackwardSum<Number>::prepare_to_look_closer(const Graph& graph, std::size_t i) {
  const Candidates& candidates = *graph.candidates;
  if (!candidates.is_chain() || i + 1 >= candidates.num_positions()) return false;
  const Slot& slot = graph.slot(i + 1);
  following_.set(graph.index, slot, slot.log_sum);
  is_end_ = i + 2 == candidates.num_positions();
  const typename Graph::Joint& after = graph.joints[i + 1];
  later_unit_ = in_unit<Number>(graph.joints[i + 2].beta_exponent, after.beta_exponent);
  const double log_unit = static_cast<double>(after.exponent_before + after.beta_exponent) * std::log(2.0);
  least_ = Number::from_log(graph.log_kept - log_unit + std::log(WORTH_A_LOOK * graph.share));
  return true;
}

// What was left out and is measured by the entry.
template <class Number>
Number BackwardSum<Number>::measured_by(const Graph& graph, std::size_t i, const typename Graph::Entry& entry) const {
  const std::vector<Number>& left_out = graph.joints[i].left_out;
  return entry.place < left_out.size() ? left_out[entry.place] : Number{};
}

// T of the arc of state s to the slot's word k, bounded by what follows.
template <class Number>
Number BackwardSum<Number>::look_closer(const Graph& graph, std::size_t i, NodeId s, std::uint32_t k) const {
  const StateIndex& index = graph.index;
  const auto num_words = static_cast<NodeId>(index.table().vocabulary.size());
  const Slot& slot = graph.slot(i);
  const StateIndex::Arc& arc = index.arc(index.find_arc(s, slot.word[k]));
  std::array<NodeId, MAX_SUFFIXES> longer;
  std::size_t num_longer = 0;
  for (NodeId next = arc.next; next > num_words; next = index.state(next).suffix) {
    if (num_longer == MAX_SUFFIXES) return Number{std::numeric_limits<double>::infinity()};
    longer[num_longer++] = next;
  }
  Number beta = reference_[k];
  while (num_longer > 0) {
    const NodeId next = longer[--num_longer];
    const Number by_words = bound_by_words(graph, next) + beta * exp_above(index.state(next).log_backoff);
    const Number by_state = beta * exp_above(following_.bounds(index, next).first);
    beta = by_words < by_state ? by_words : by_state;
  }
  return bounded(beta * exp_above(arc.log_prob + slot.log_sum[k]));
}

// The sum of the bounds of the arcs of a state to words of the slot that follows.
template <class Number>
Number BackwardSum<Number>::bound_by_words(const Graph& graph, NodeId s) const {
  const StateIndex& index = graph.index;
  Number sum{};
  if (is_planted(SumFault::LOOKS_PAST)) return sum;
  following_.for_each_head(index, s, [&](NodeId, const StateIndex::ArcHead& head, std::uint32_t k) {
    const double up = is_end_ ? 0.0 : index.up_of_word(head.word);
    sum += bounded(later_reference_[k] * exp_above(head.up_to_root - up + following_.log_weight(k)));
  });
  return sum * later_unit_;
}

template void BackwardSum<Linear>::bound_left_out(const Graph&, std::size_t);
template void BackwardSum<Logarithmic>::bound_left_out(const Graph&, std::size_t);

}  // namespace hiddenite::exact
