// Independent draws from p(alignment | sentence pair), exactly.
//
// A chain whose emissions are tilted by b(i) per link to source word i, times
// exp max_c [fertility(i, c) - b(i) c], is above the model everywhere: rejection
// sampling from it is exact, and b is chosen to make its mass small (a convex
// function of b). What is left loose is refined from the left: prefixes with
// exact counts are told apart as long as their share of the mass exceeds epsilon.
// A draw picks a leaf of this graph by mass, a way to it, and the rest from the
// tilted chain; it is accepted with the ratio of the fertilities to their bound.
// The graph is fixed before the first draw.
#pragma once

#include "hiddenite/align/fertility.hpp"
#include "hiddenite/base/random.hpp"

namespace hiddenite::align {

// The chain's sums under tilted emissions: one scaled row a column.
class JumpSums {
 public:
  explicit JumpSums(const FertilityHmm& hmm);
  // ln of the total; LOG_ZERO if nothing is possible.
  double run_backward(const std::vector<double>& tilt);
  double log_after(std::size_t j, std::size_t last) const;
  // Needs run_backward: the probability of each cell.
  void posterior(CellMatrix& result) const;
  // Draws the links of the target words from j on, after `last`.
  void draw_rest(std::size_t j, std::size_t last, Random& random, Links& links) const;

 private:
  const FertilityHmm& hmm_;
  std::vector<double> jump_;          // exp
  CellMatrix emission_;               // exp, tilted, divided by the column's largest
  CellMatrix after_;                  // [j][last]
  std::vector<double> log_scale_;     // of after_[j]
  mutable std::vector<double> weights_;
};

class FertilitySampler {
 public:
  // The deadline only ends the fitting of the bound, which is looser then.
  explicit FertilitySampler(const FertilityHmm& hmm, const Deadline& deadline = Deadline(), double epsilon = 1e-4,
                            std::size_t max_labels = 200'000);

  bool is_empty() const { return log_mass_ == LOG_ZERO; }
  double log_mass() const { return log_mass_; }  // of the bound: ln Z is below it
  // Draws once; false if the draw was rejected. `ratio` is its probability of acceptance.
  bool draw(Random& random, Links& links, double& ratio) const;
  std::size_t num_labels() const { return labels_.size(); }

 private:
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

  void fit_tilt(const Deadline& deadline);
  void build(double epsilon, std::size_t max_labels, const Deadline& deadline);
  double log_reach(std::size_t i, std::size_t count, std::size_t left) const;
  double log_bound(const Label& label, const std::uint16_t* counts) const;
  void finish(std::vector<std::uint32_t> leaves, const std::vector<double>& log_masses);

  const FertilityHmm& hmm_;
  JumpSums chain_;
  std::vector<double> tilt_;          // b
  std::vector<Label> labels_;
  std::vector<std::uint16_t> counts_; // [label * (I + 1) + i]
  std::vector<Way> ways_;
  std::vector<std::uint32_t> leaves_;
  std::vector<double> cumulative_;    // of the leaves' masses
  double log_mass_ = LOG_ZERO;
};

}  // namespace hiddenite::align
