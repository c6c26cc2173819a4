// The fertility HMM of one sentence pair in one direction (Quirk 2013, eq. 1),
// and the dynamic programs of its chain.
//
// Each of J target words is linked to one of I source words or to NULL (0):
//   ln w(a) = sum_j [ jump(last real position -> a_j) + emission(j, a_j) ]
//             + end(last real position) + sum_i fertility(i, number of j with a_j = i)
// NULL makes no jump and leaves the last real position as it was (Och & Ney), so
// the chain's state is that position alone, 0 before the first. Without the
// fertilities this is an ordinary HMM: Viterbi takes O(I^2 J).
//
// Which door to take:
//   the weight of an alignment      log_weight
//   best alignment of the chain     BestJumps::best_log_weight, then BestJumps::best_links
//   what each link could reach      BestJumps::max_marginals
//   a better neighbour              improve
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "hiddenite/base/types.hpp"
#include "hiddenite/exact/proof.hpp"

namespace hiddenite::align {

using Links = std::vector<std::uint32_t>;  // of each target word: 0 (NULL) or 1 .. I

// A number for each cell (target word j, source word i), NULL being i = 0.
struct CellMatrix {
  CellMatrix() = default;
  CellMatrix(std::size_t targets, std::size_t sources, double value)
      : width(sources + 1), values(targets * (sources + 1), value) {}
  double* operator[](std::size_t j) { return values.data() + j * width; }
  const double* operator[](std::size_t j) const { return values.data() + j * width; }
  std::size_t width = 0;
  std::vector<double> values;
};

struct FertilityHmm {
  FertilityHmm() = default;
  FertilityHmm(std::size_t sources, std::size_t targets, std::size_t max_fertility);

  std::size_t num_sources = 0, num_targets = 0, max_fertility = 0;
  CellMatrix emission;             // [j][i]: ln p(target word j | source word i)
  std::vector<double> jump;        // [from * (I + 1) + to], to > 0
  std::vector<double> end;         // [last]
  std::vector<double> fertility;   // [i * (max_fertility + 1) + count], i > 0; larger counts are impossible

  const double* jumps_from(std::size_t from) const { return jump.data() + from * (num_sources + 1); }
  const double* fertilities(std::size_t i) const { return fertility.data() + i * (max_fertility + 1); }
  double fertility_of(std::size_t i, std::size_t count) const {
    return count <= max_fertility ? fertilities(i)[count] : LOG_ZERO;
  }
};

// One routine for every answer's weight.
double log_weight(const FertilityHmm& hmm, const Links& links);
double log_weight_without_fertility(const FertilityHmm& hmm, const Links& links);
std::vector<std::uint32_t> count_links(const FertilityHmm& hmm, const Links& links);  // of each source word

// Moves single links while that raises the weight; returns the weight.
double improve(const FertilityHmm& hmm, Links& links);

// The chain's maxima under emissions that differ from the model's.
class BestJumps {
 public:
  explicit BestJumps(const FertilityHmm& hmm);
  double best_log_weight(const CellMatrix& emission);  // fills the forward maxima
  Links best_links(const CellMatrix& emission) const;  // of the last best_log_weight
  void fill_backward(const CellMatrix& emission);
  // The best weight of an alignment through each cell; needs both passes.
  void max_marginals(const CellMatrix& emission, CellMatrix& result) const;
  // The best weight of the target words from j on, after `last`.
  const double* after(std::size_t j) const { return backward_[j]; }

 private:
  void best_arrivals(const double* before, double* arrival) const;

  const FertilityHmm& hmm_;
  CellMatrix forward_, backward_;  // [j][last]: of the target words before j, and from j on
  std::vector<double> jump_to_;    // [to * (I + 1) + from]
  mutable std::vector<double> arrival_;
};

}  // namespace hiddenite::align
