// Sums over all tag sequences of one sentence: forward–backward over the n-gram
// states that the candidates reach.
//
//   weight(path) = exp( sum over i of ln p(y_i | symbols before) + score_i(y_i)  +  ln p(</s> | ...) )
//
// The table need not be normalised (training raises the model of tags to a
// power). Where it gives a symbol no probability the step counts as
// LEAST_LOG_PROB, so that no sequence is ruled out. O(edges), and most words
// have one or two candidates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::channel {

class TagLattice {
 public:
  static constexpr double LEAST_LOG_PROB = -30.0;

  // Position i has the candidates begin[i] .. begin[i + 1], at least one. Returns ln of the sum over all
  // paths; `marginals` gets the posterior probability of each candidate.
  double sum(const NgramTable& table, std::span<const std::size_t> begin, std::span<const WordId> ids,
             std::span<const double> scores, std::span<double> marginals);

 private:
  struct State {
    NodeId node;
    std::uint32_t candidate;
    double forward, backward;
  };
  struct Edge {
    NodeId node;  // where it leads
    std::uint32_t candidate, from, to;
    double log_weight;  // of the symbol's step and score
  };

  void step(const NgramTable& table, std::size_t first, std::span<const std::size_t> slot,
            std::span<const WordId> ids, std::span<const double> scores);
  double end(const NgramTable& table, std::size_t first);
  void backward(std::span<double> marginals, double log_total);

  std::vector<State> states_;
  std::vector<Edge> edges_;
};

}  // namespace hiddenite::channel
