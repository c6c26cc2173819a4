#include "hiddenite/channel/context/tag_lattice.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace hiddenite::channel {

namespace {

double log_step(const NgramTable& table, NodeId& state, WordId w) {
  const double log_prob = table.step(state, w);
  return std::max(log_prob, TagLattice::LEAST_LOG_PROB);
}

double log_add(double a, double b) {
  const double most = std::max(a, b);
  return most == LOG_ZERO ? most : most + std::log1p(std::exp(std::min(a, b) - most));
}

}  // namespace

// The states of one position from those of the one before, which begin at `first`.
void TagLattice::step(const NgramTable& table, std::size_t first, std::span<const std::size_t> slot,
                      std::span<const WordId> ids, std::span<const double> scores) {
  const std::size_t last = states_.size(), first_edge = edges_.size();
  for (std::size_t from = first; from < last; ++from) {
    for (std::size_t c = slot[0]; c < slot[1]; ++c) {
      NodeId node = states_[from].node;
      const double log_weight = log_step(table, node, ids[c]) + scores[c];
      edges_.push_back({node, static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(from), 0, log_weight});
    }
  }
  const auto order = [](const Edge& e) { return std::tuple(e.candidate, e.node, e.from); };
  std::sort(edges_.begin() + static_cast<std::ptrdiff_t>(first_edge), edges_.end(),
            [&](const Edge& a, const Edge& b) { return order(a) < order(b); });
  for (std::size_t e = first_edge; e < edges_.size(); ++e) {
    Edge& edge = edges_[e];
    const bool is_new =
        states_.size() == last || states_.back().candidate != edge.candidate || states_.back().node != edge.node;
    if (is_new) states_.push_back({edge.node, edge.candidate, LOG_ZERO, LOG_ZERO});
    edge.to = static_cast<std::uint32_t>(states_.size() - 1);
    states_.back().forward = log_add(states_.back().forward, states_[edge.from].forward + edge.log_weight);
  }
}

// ln of the sum of all paths; the last states, from `first` on, get what </s> adds.
double TagLattice::end(const NgramTable& table, std::size_t first) {
  double log_total = LOG_ZERO;
  for (std::size_t s = first; s < states_.size(); ++s) {
    NodeId node = states_[s].node;
    states_[s].backward = log_step(table, node, SENTENCE_END);
    log_total = log_add(log_total, states_[s].forward + states_[s].backward);
  }
  return log_total;
}

void TagLattice::backward(std::span<double> marginals, double log_total) {
  for (std::size_t e = edges_.size(); e-- > 0;) {
    const Edge& edge = edges_[e];
    double& before = states_[edge.from].backward;
    before = log_add(before, states_[edge.to].backward + edge.log_weight);
  }
  std::fill(marginals.begin(), marginals.end(), 0.0);
  for (std::size_t s = 1; s < states_.size(); ++s) {
    marginals[states_[s].candidate] += std::exp(states_[s].forward + states_[s].backward - log_total);
  }
}

double TagLattice::sum(const NgramTable& table, std::span<const std::size_t> begin, std::span<const WordId> ids,
                       std::span<const double> scores, std::span<double> marginals) {
  edges_.clear();
  states_.assign(1, {table.start(), 0, 0.0, LOG_ZERO});
  std::size_t first = 0;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    const std::size_t next = states_.size();
    step(table, first, begin.subspan(i, 2), ids, scores);
    first = next;
  }
  const double log_total = end(table, first);
  backward(marginals, log_total);
  return log_total;
}

}  // namespace hiddenite::channel
