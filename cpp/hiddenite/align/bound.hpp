// An upper bound on the weight of every alignment, by Lagrangian relaxation.
//
// Let the chain and the fertilities each choose links of their own, and pay for
// disagreement: for any numbers u(j, i),
//   max_a ln w(a) <= max_a [ chain(a) + sum_j u(j, a_j) ]
//                    + sum_i max over sets z of columns [ fertility(i, |z|) - sum of u(j, i) over z ].
// The first part is Viterbi; in the second only the smallest u of a row matter
// (Quirk 2013, figure 2). Two descents lower the bound:
//   one number per source word, u(j, i) = b(i): a line above each fertility curve;
//   then one per cell, as in the paper, starting there.
// Steps are Polyak's, (bound - best weight known) / |direction|^2, along a
// direction that remembers the last one. The chain's alignments on the way,
// improved by local search, are the weights known.
//
// All sums are rounded up: the bound holds for the real numbers.
#pragma once

#include "hiddenite/align/fertility.hpp"

namespace hiddenite::align {

// The best alignment known.
struct Incumbent {
  Links links;
  double log_weight = LOG_ZERO;
  double tie = 0.0;  // what a bound can be above this weight by rounding alone
  // Takes over better links, after improving them; returns whether they were better.
  bool offer(const FertilityHmm& hmm, Links candidate, Pace& pace);
  // Whether an alignment of at most this weight is no better.
  bool reaches(double upper) const { return upper <= log_weight + tie; }
};

class FertilityBound {
 public:
  FertilityBound(const FertilityHmm& hmm, Pace& pace);

  // The lowest bound met: positive infinity if time ended before the first.
  double upper() const { return upper_; }
  bool is_closed(const Incumbent& incumbent) const { return incumbent.reaches(upper_); }
  std::uint64_t iterations() const { return iterations_; }

  // The bound of these multipliers, and the links that the chain and the rows choose. Positive infinity if time ends.
  double bound_at(const CellMatrix& multipliers, Links& links, std::vector<std::uint8_t>& chosen);

  // They end early when there is no more time.
  void descend_by_word(std::size_t iterations, Incumbent& incumbent);
  void descend_by_cell(std::size_t iterations, Incumbent& incumbent);

  // At the lowest bound met: the multipliers, and the chain's emissions with them.
  const CellMatrix& multipliers() const { return best_; }
  const CellMatrix& tilted_emission();
  // What row i adds to the chain's maximum there; with_link[j]: the same with column j in its set.
  double row_maximum(std::size_t i, std::vector<double>& with_link) const;

 private:
  double chain_maximum(const CellMatrix& multipliers, Links& links);
  double word_row(std::size_t i, double slope, std::size_t& count) const;
  double cell_rows(const CellMatrix& multipliers, std::vector<std::uint8_t>& chosen) const;
  void tilt(const CellMatrix& multipliers);

  const FertilityHmm& hmm_;
  Pace& pace_;
  BestJumps chain_;
  CellMatrix tilted_, best_;
  double upper_ = -LOG_ZERO;
  std::uint64_t iterations_ = 0;
  mutable std::vector<std::pair<double, std::uint32_t>> row_;  // scratch
};

// fertility(i, count) - paid, rounded up; `size` is the sum of the prices' absolute values.
inline double row_value(double fertility, double paid, double size, std::size_t count) {
  if (fertility == LOG_ZERO) return LOG_ZERO;
  return fertility - paid + (std::fabs(fertility) + size) * static_cast<double>(count + 4) * 0x1p-52;
}

}  // namespace hiddenite::align
