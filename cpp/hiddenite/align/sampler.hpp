// Independent draws from p(alignment | sentence pair), exactly.
//
// A chain whose emissions are tilted by b(i) per link to source word i, times
// exp max_c [fertility(i, c) - b(i) c], is above the model everywhere: rejection
// sampling from it is exact, and b is chosen to make its mass small (a convex
// function of b). What is left loose is refined from the left: prefixes with
// exact counts are told apart as long as their share of the mass exceeds epsilon.
// A draw picks a leaf of this graph by mass, a way to it, and the rest from the
// tilted chain; it is accepted with the ratio of the fertilities to their bound.
// The graph is fixed before the first draw: a Proposal of rejection.hpp that is
// never tightened.
//
// Sums are of numbers, not of logarithms: weights that differ by more than about
// e^600 in one column, or jumps beyond e^600, have no sampler (is_ready()).
#pragma once

#include "hiddenite/align/fertility.hpp"
#include "hiddenite/base/random.hpp"

namespace hiddenite::align {

// The chain's sums under tilted emissions: one scaled row a column.
class JumpSums {
 public:
  explicit JumpSums(const FertilityHmm& hmm);
  // ln of the total; LOG_ZERO if nothing is possible, positive infinity if time ended or the numbers do not fit.
  double run_backward(const std::vector<double>& tilt, Pace& pace);
  double log_after(std::size_t j, std::size_t last) const;
  // Needs run_backward: the probability of each cell. Returns whether there was time and the numbers fit.
  bool posterior(CellMatrix& result, Pace& pace) const;
  // Draws the links of the target words from j on, after `last`.
  void draw_rest(std::size_t j, std::size_t last, Random& random, Links& links) const;

 private:
  bool scale_emission(std::size_t j, const std::vector<double>& tilt, double& high);
  bool has_way(std::size_t j, std::size_t last) const;

  const FertilityHmm& hmm_;
  bool fits_ = true;
  double log_end_scale_ = 0.0;
  std::vector<double> jump_;          // exp
  CellMatrix emission_;               // exp, tilted, divided by the column's largest
  CellMatrix after_;                  // [j][last]
  std::vector<double> log_scale_;     // of after_[j]
  mutable std::vector<double> weights_;
};

class FertilitySampler {
 public:
  struct Draw {
    double log_ratio;  // ln of the probability that it is accepted
    Links links;
  };

  // The bound takes two thirds of the time at most, and is looser where that ends its fitting; the budget's states
  // bound its graph.
  explicit FertilitySampler(const FertilityHmm& hmm, const Deadline& deadline, double epsilon = 1e-4);

  // Whether there can be draws: there was time for the first bound, its numbers fit, and something is possible.
  bool is_ready() const { return !cumulative_.empty(); }
  bool is_empty() const { return is_empty_; }  // nothing is possible
  double log_total() const { return log_total_; }  // of the bound, rounded up: ln Z is not above it
  Draw draw(Random& random) const;
  void tighten(const Draw&) {}
  bool is_exact() const { return is_exact_; }      // no prefix was cut short
  std::uint64_t num_states() const { return labels_.size(); }

 private:
  // Counts of labels take two bytes a source word: they are what bounds memory in long sentences.
  static constexpr std::size_t MAX_LABELS = 200'000, MAX_WAYS = 2'000'000, MAX_COUNTS = 16'000'000;

  struct Label {
    double log_mass;             // of the prefixes, fertilities aside
    std::uint32_t column, last;
    std::uint32_t first_way = 0, num_ways = 0;
  };
  struct Way {
    std::uint32_t parent, link;
    double log_mass;
    std::uint32_t label = 0;
  };
  struct Leaves {
    std::vector<std::uint32_t> labels;
    std::vector<double> log_masses;
  };
  class Column;  // the labels of a column, by their keys

  void fit_tilt(Pace& pace);
  void build(double epsilon, std::size_t max_labels, Pace& pace);
  void expand(std::uint32_t parent, std::size_t j, Column& next);
  double log_reach(std::size_t i, std::size_t count, std::size_t left) const;
  void fill_reach(std::size_t column);
  double log_bound(std::uint32_t label) const;  // of the column of fill_reach
  void finish(Leaves leaves);

  const FertilityHmm& hmm_;
  JumpSums chain_;
  std::vector<double> tilt_;          // b
  std::vector<double> reach_;         // [i * (max_fertility + 1) + count]
  std::vector<Label> labels_;
  std::vector<std::uint16_t> counts_; // [label * (I + 1) + i]
  std::vector<Way> ways_;
  std::vector<std::uint32_t> leaves_;
  std::vector<double> cumulative_;    // of the leaves' masses
  double log_total_ = -LOG_ZERO;
  bool is_empty_ = false, is_exact_ = true;
};

}  // namespace hiddenite::align
