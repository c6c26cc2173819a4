#include "hiddenite/exact/lattice_paths.hpp"

#include <algorithm>

namespace hiddenite::exact {

LatticePaths::LatticePaths(const Lattice& lattice)
    : lattice_(lattice), value_(lattice.num_positions()), edges_(lattice.num_positions()) {
  find_values();
  if (lattice_.num_positions() > 0) push(0.0, NO_PARTIAL, 0, 0, 0);
}

void LatticePaths::find_values() {
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

double LatticePaths::value_after(std::size_t position, std::uint32_t target) const {
  return position + 1 == lattice_.num_positions() ? 0.0 : value_[position + 1][target];
}

const std::vector<LatticePaths::Edge>& LatticePaths::edges(std::size_t position, std::uint32_t state) {
  std::vector<Edge>& edges = edges_[position][state];
  if (!edges.empty()) return edges;
  const auto log_weights = lattice_.log_weights(position, state);
  const auto targets = lattice_.targets(position, state);
  for (std::uint32_t k = 0; k < log_weights.size(); ++k) {
    const double value = log_weights[k] + value_after(position, targets[k]);
    if (value != LOG_ZERO) edges.push_back({value, log_weights[k], k, targets[k]});
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.value != b.value ? a.value > b.value : a.k < b.k; });
  return edges;
}

bool LatticePaths::is_behind(std::uint32_t a, std::uint32_t b) const {
  return partials_[a].value != partials_[b].value ? partials_[a].value < partials_[b].value : a > b;
}

void LatticePaths::push(double log_weight, std::uint32_t parent, std::uint32_t position, std::uint32_t state,
                        std::uint32_t rank) {
  const std::vector<Edge>& edges = this->edges(position, state);
  if (rank >= edges.size()) return;
  queue_.push_back(static_cast<std::uint32_t>(partials_.size()));
  partials_.push_back({log_weight + edges[rank].value, log_weight, parent, position, state, rank});
  std::push_heap(queue_.begin(), queue_.end(), [&](auto a, auto b) { return is_behind(a, b); });
}

std::vector<std::uint32_t> LatticePaths::next() {
  std::pop_heap(queue_.begin(), queue_.end(), [&](auto a, auto b) { return is_behind(a, b); });
  std::uint32_t partial = queue_.back();
  queue_.pop_back();
  std::vector<std::uint32_t> path(lattice_.num_positions());
  for (std::uint32_t p = partials_[partial].parent; p != NO_PARTIAL; p = partials_[p].parent) {
    path[partials_[p].position] = edges(partials_[p].position, partials_[p].state)[partials_[p].rank].k;
  }
  while (true) {
    const Partial p = partials_[partial];
    const Edge edge = edges(p.position, p.state)[p.rank];
    path[p.position] = edge.k;
    push(p.log_weight, p.parent, p.position, p.state, p.rank + 1);
    if (p.position + 1 == path.size()) return path;
    const auto follower = static_cast<std::uint32_t>(partials_.size());
    partials_.push_back({p.value, p.log_weight + edge.log_weight, partial, p.position + 1, edge.target, 0});
    partial = follower;
  }
}

}  // namespace hiddenite::exact
