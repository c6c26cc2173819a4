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
#pragma once

#include "hiddenite/align/fertility.hpp"

namespace hiddenite::align {

// The best alignment known.
struct Incumbent {
  Links links;
  double log_weight = LOG_ZERO;
  // Takes over better links; returns whether they were.
  bool offer(const FertilityHmm& hmm, Links candidate);
};

class FertilityBound {
 public:
  // Descents end early when the deadline is over, but each makes one step.
  FertilityBound(const FertilityHmm& hmm, const Deadline& deadline);

  double upper() const { return upper_; }  // the lowest bound met
  bool is_closed(const Incumbent& incumbent) const;
  std::uint64_t iterations() const { return iterations_; }

  void descend_by_word(std::size_t iterations, Incumbent& incumbent);
  void descend_by_cell(std::size_t iterations, Incumbent& incumbent);

  // At the lowest bound met: the multipliers, and the chain's emissions with them.
  const CellMatrix& multipliers() const { return best_; }
  const CellMatrix& tilted_emission();
  // What the rows add to the chain's maximum there, each, and with a link forced.
  double row_maximum(std::size_t i) const;
  double row_maximum_with(std::size_t i, std::size_t j) const;

 private:
  double chain_maximum(const CellMatrix& multipliers, Links& links);
  double cell_rows(const CellMatrix& multipliers, std::vector<std::uint8_t>& chosen) const;

  bool goes_on(std::size_t step, std::size_t steps, const Incumbent& incumbent) const;

  const FertilityHmm& hmm_;
  const Deadline& deadline_;
  BestJumps chain_;
  CellMatrix tilted_, best_;
  double upper_ = -LOG_ZERO;
  std::uint64_t iterations_ = 0;
  mutable std::vector<std::pair<double, std::uint32_t>> row_;  // scratch
};

// Two sums of the same terms in different orders differ by less.
inline constexpr double FERTILITY_TOLERANCE = 1e-9;

}  // namespace hiddenite::align
