#include "hiddenite/exact/bound/lattice_edges.hpp"

#include <algorithm>

namespace hiddenite::exact {

LatticeEdges::LatticeEdges(const Lattice& lattice)
    : lattice_(lattice), value_(lattice.num_positions()), edges_(lattice.num_positions()) {
  for (std::size_t i = lattice_.num_positions(); i-- > 0;) {
    value_[i].assign(lattice_.num_states(i), LOG_ZERO);
    edges_[i].resize(lattice_.num_states(i));
    for (std::uint32_t s = 0; s < value_[i].size(); ++s) {
      const auto log_weights = lattice_.log_weights(i, s);
      const auto targets = lattice_.targets(i, s);
      for (std::size_t k = 0; k < log_weights.size(); ++k) {
        value_[i][s] = std::max(value_[i][s], log_weights[k] + value_after(i, targets[k]));
      }
    }
  }
}

const LatticeEdges::Choice* LatticeEdges::choice(Node node, std::uint32_t rank) {
  std::vector<Choice>& edges = edges_[node.position][node.state];
  if (edges.empty()) {
    const auto log_weights = lattice_.log_weights(node.position, node.state);
    const auto targets = lattice_.targets(node.position, node.state);
    for (std::uint32_t k = 0; k < log_weights.size(); ++k) {
      const double value = log_weights[k] + value_after(node.position, targets[k]);
      if (value != LOG_ZERO) edges.push_back({value, log_weights[k], k, {node.position + 1, targets[k]}});
    }
    std::sort(edges.begin(), edges.end(),
              [](const Choice& a, const Choice& b) { return a.value != b.value ? a.value > b.value : a.k < b.k; });
  }
  return rank < edges.size() ? &edges[rank] : nullptr;
}

}  // namespace hiddenite::exact
