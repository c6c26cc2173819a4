// Sums over all tag sequences of one sentence: forward–backward over the n-gram
// states that the candidates reach.
//
//   weight(path) = exp( sum over i of ln p(y_i | symbols before) + score_i(y_i)  +  ln p(</s> | ...) )
//
// The table need not be normalised (training raises the model of tags to a
// power). Where it gives a symbol no probability the step counts as
// LEAST_LOG_PROB, so that no sequence is ruled out. O(edges), and most words
// have one or two candidates.
//
// Sums are of numbers, not of logarithms: at each position the largest score is
// taken out of all, and the sums over its states are divided by their total.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/lm/step_memory.hpp"

namespace hiddenite::channel {

class TagLattice {
 public:
  static constexpr double LEAST_LOG_PROB = -30.0;

  // Position i has the candidates begin[i] .. begin[i + 1], at least one. Returns ln of the sum over all
  // paths; `marginals` gets the posterior probability of each candidate.
  double sum(StepMemory& steps, std::span<const std::size_t> begin, std::span<const WordId> ids,
             std::span<const double> scores, std::span<double> marginals);

 private:
  struct State {
    NodeId node;
    std::uint32_t candidate;
    double forward, backward;  // the forward sums of a position add up to one
  };
  struct Edge {
    std::uint32_t from, to;
    double weight;  // of the symbol's step and score, divided by the position's total
  };

  double advance(StepMemory& steps, std::size_t first, std::span<const std::size_t> slot,
                 std::span<const WordId> ids, std::span<const double> scores);
  std::uint32_t state_at(NodeId node, std::size_t candidate, std::size_t first);
  double end(StepMemory& steps, std::size_t first);
  void backward(std::span<double> marginals);

  std::vector<State> states_;
  std::vector<Edge> edges_;
};

}  // namespace hiddenite::channel
