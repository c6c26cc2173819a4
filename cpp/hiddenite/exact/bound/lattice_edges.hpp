// The edges of a Lattice by what they and the best after them are worth: its paths for BestFirst.
#pragma once

#include <cstdint>
#include <vector>

#include "hiddenite/exact/bound/lattice.hpp"

namespace hiddenite::exact {

// The lattice must outlive this and not change meanwhile.
class LatticeEdges {
 public:
  struct Node {
    std::uint32_t position, state;
  };
  struct Choice {
    double value;       // its weight and the best that can follow
    double log_weight;
    std::uint32_t k;
    Node to;
  };

  explicit LatticeEdges(const Lattice& lattice);
  Node start() const { return {0, 0}; }
  bool is_last(const Choice& choice) const { return choice.to.position == lattice_.num_positions(); }
  Node target(const Choice& choice) const { return choice.to; }
  const Choice* choice(Node node, std::uint32_t rank);

 private:
  double value_after(std::size_t position, std::uint32_t target) const {
    return position + 1 == lattice_.num_positions() ? 0.0 : value_[position + 1][target];
  }

  const Lattice& lattice_;
  std::vector<std::vector<double>> value_;               // [position][state]
  std::vector<std::vector<std::vector<Choice>>> edges_;  // [position][state]: those of positive value, best first;
                                                         // empty until asked for
};

}  // namespace hiddenite::exact
