#include "hiddenite/channel/context/tag_lattice.hpp"

#include <algorithm>
#include <cmath>

namespace hiddenite::channel {

namespace {

double log_step(StepMemory& steps, NodeId& state, WordId w) {
  return std::max(steps.step(state, w), TagLattice::LEAST_LOG_PROB);
}

}  // namespace

// The state of a candidate with this node, new if need be; those of the candidate begin at `first`.
std::uint32_t TagLattice::state_at(NodeId node, std::size_t candidate, std::size_t first) {
  const auto same = std::find_if(states_.begin() + static_cast<std::ptrdiff_t>(first), states_.end(),
                                 [&](const State& s) { return s.node == node; });
  const auto place = static_cast<std::uint32_t>(same - states_.begin());
  if (same == states_.end()) states_.push_back({node, static_cast<std::uint32_t>(candidate), 0.0, 0.0});
  return place;
}

// The states of one position from those of the one before, which begin at `first`; returns ln of what was taken out.
double TagLattice::advance(StepMemory& steps, std::size_t first, std::span<const std::size_t> slot,
                           std::span<const WordId> ids, std::span<const double> scores) {
  const std::size_t last = states_.size(), first_edge = edges_.size();
  const double most = *std::max_element(scores.begin() + static_cast<std::ptrdiff_t>(slot[0]),
                                        scores.begin() + static_cast<std::ptrdiff_t>(slot[1]));
  double total = 0.0;
  for (std::size_t c = slot[0]; c < slot[1]; ++c) {
    const std::size_t first_state = states_.size();
    for (std::size_t from = first; from < last; ++from) {
      NodeId node = states_[from].node;
      const double weight = std::exp(log_step(steps, node, ids[c]) + (scores[c] - most));
      const std::uint32_t to = state_at(node, c, first_state);
      const double sum = states_[from].forward * weight;
      edges_.push_back({static_cast<std::uint32_t>(from), to, weight});
      states_[to].forward += sum;
      total += sum;
    }
  }
  const double scale = 1.0 / total;
  for (std::size_t s = last; s < states_.size(); ++s) states_[s].forward *= scale;
  for (std::size_t e = first_edge; e < edges_.size(); ++e) edges_[e].weight *= scale;
  return most + std::log(total);
}

// ln of what </s> adds to the sum; the last states, from `first` on, get their backward sums.
double TagLattice::end(StepMemory& steps, std::size_t first) {
  double total = 0.0;
  for (std::size_t s = first; s < states_.size(); ++s) {
    NodeId node = states_[s].node;
    states_[s].backward = std::exp(log_step(steps, node, SENTENCE_END));
    total += states_[s].forward * states_[s].backward;
  }
  for (std::size_t s = first; s < states_.size(); ++s) states_[s].backward /= total;
  return std::log(total);
}

void TagLattice::backward(std::span<double> marginals) {
  for (std::size_t e = edges_.size(); e-- > 0;) {
    states_[edges_[e].from].backward += states_[edges_[e].to].backward * edges_[e].weight;
  }
  std::fill(marginals.begin(), marginals.end(), 0.0);
  for (std::size_t s = 1; s < states_.size(); ++s) {
    marginals[states_[s].candidate] += states_[s].forward * states_[s].backward;
  }
}

double TagLattice::sum(StepMemory& steps, std::span<const std::size_t> begin, std::span<const WordId> ids,
                       std::span<const double> scores, std::span<double> marginals) {
  edges_.clear();
  states_.assign(1, {steps.table().start(), 0, 1.0, 0.0});
  std::size_t first = 0;
  double log_total = 0.0;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    const std::size_t next = states_.size();
    log_total += advance(steps, first, begin.subspan(i, 2), ids, scores);
    first = next;
  }
  log_total += end(steps, first);
  backward(marginals);
  return log_total;
}

}  // namespace hiddenite::channel
