// The paths of a Lattice in descending order of weight.
//
// Backward, the best that can follow each state; then best first. A path up to
// and including one edge stands for its best completion. Taken from the queue,
// it is completed edge by edge, and each of these edges, the last one of the
// partial path included, makes way for the next best of its state:
//   value(prefix, edge) = weight(prefix) + weight(edge) + best after the edge.
// A state's edges are put in order when first asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "hiddenite/exact/lattice.hpp"

namespace hiddenite::exact {

class LatticePaths {
 public:
  // The lattice must outlive this and not change meanwhile.
  explicit LatticePaths(const Lattice& lattice);

  // The weight of the next path, as far as the order of adding leaves it open.
  double next_log_weight() const { return queue_.empty() ? LOG_ZERO : partials_[queue_.front()].value; }
  bool is_empty() const { return queue_.empty(); }
  // The next path, one k per position.
  std::vector<std::uint32_t> next();

 private:
  static constexpr std::uint32_t NO_PARTIAL = std::numeric_limits<std::uint32_t>::max();

  struct Edge {
    double value;       // its weight and the best that can follow
    double log_weight;
    std::uint32_t k, target;
  };
  struct Partial {
    double value;
    double log_weight;     // of the edges before the last
    std::uint32_t parent;  // the edges before
    std::uint32_t position, state, rank;  // of the last edge
  };

  void find_values();
  double value_after(std::size_t position, std::uint32_t target) const;
  // The state's edges of positive value, best first.
  const std::vector<Edge>& edges(std::size_t position, std::uint32_t state);
  void push(double log_weight, std::uint32_t parent, std::uint32_t position, std::uint32_t state, std::uint32_t rank);
  bool is_behind(std::uint32_t a, std::uint32_t b) const;

  const Lattice& lattice_;
  std::vector<std::vector<double>> value_;             // [position][state]
  std::vector<std::vector<std::vector<Edge>>> edges_;  // [position][state]: empty until asked for
  std::vector<Partial> partials_;
  std::vector<std::uint32_t> queue_;  // a heap of partials
};

}  // namespace hiddenite::exact
