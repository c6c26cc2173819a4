// Expected counts of a chain, and probabilities from them.
//
// Which groups follow which is known from the text, so counts of transitions are
// kept for the blocks that occur only. Smoothing backs off in steps:
//   p(z' | z) = p(h | z) p(z' | z, h),  h the group of z', g that of z
//   p(h | z)     = [n(z, h) + cluster p(h | g)] / [n(z) + cluster]
//   p(z' | z, h) = [n(z, z') + state p(z' | g, h)] / [n(z, h) + state]
//   p(z' | g, h) = [n(g, z') + group p(z' | h)] / [n(g, h) + group]
//   p(w | z)     = [n(z, w) + emission p(w | all states of w's set)] / [n(z) + emission]
// p(h | g) are counts of the text, smoothed with p(h). With all of them zero
// these are the maximum-likelihood estimates.
#pragma once

#include <vector>

#include "hiddenite/hmm/model.hpp"
#include "hiddenite/lm/token_text.hpp"

namespace hiddenite::hmm {

struct Smoothing {
  double cluster = 8.0, state = 8.0, group = 8.0, emission = 8.0;
};

inline constexpr std::uint64_t NO_BLOCK = std::numeric_limits<std::uint64_t>::max();

struct HmmCounts {
  HmmCounts() = default;
  // Zeros; present[g * groups + h] says which blocks there are.
  HmmCounts(const HmmShape& shape, const std::vector<bool>& present);

  bool has(std::size_t block) const { return block_begin[block] != NO_BLOCK; }
  // Adds `factor` times another's counts in the rows of group g, whose blocks must be among these.
  void add_group(const HmmShape& shape, const HmmCounts& other, std::uint32_t g, float factor);
  void add(const HmmShape& shape, const HmmCounts& other, int threads);
  void clear();

  std::vector<std::uint64_t> block_begin;  // [g * groups + h]: in `pairs`
  std::vector<float> pairs;                // n(z, z'), block by block, rows together
  std::vector<float> rows;                 // [z * groups + h]: n(z, h)
  std::vector<float> columns;              // [g * states + z']: n(g, z')
  std::vector<float> first;                // [z]: at the beginning of sentences
  std::vector<float> emissions;            // [set_begin[w] + i]
};

// What the text itself says of groups and words, before any states.
struct HmmPrior {
  HmmPrior(const HmmShape& shape, const TokenText& text);

  std::vector<double> follow;   // [g * groups + h]: p(h | g)
  std::vector<double> begin;    // [h]: p(h | start)
  std::vector<double> base;     // [set_begin[w] + i]: p(w | all states of the set), the same for tied states
};

// Sums over a count table less one of its parts, as far as smoothing asks for them.
struct HmmMargins {
  HmmMargins(const HmmShape& shape, const HmmCounts& all, const HmmCounts* without);

  std::vector<double> leaving;     // [z]: n(z)
  std::vector<double> entering;    // [z']: n(z'), first states included
  std::vector<double> of_group;    // [h]: sum of entering
  std::vector<double> emitting;    // [z]: sum of emissions
};

// The block p(z' | z) of two groups, written row by row.
void smooth_block(const HmmShape& shape, const HmmPrior& prior, const HmmCounts& all, const HmmCounts* without,
                  const HmmMargins& margins, const Smoothing& smoothing, std::uint32_t g, std::uint32_t h,
                  float* out);
// p(z_1); [state]
std::vector<double> smooth_initial(const HmmShape& shape, const HmmPrior& prior, const HmmCounts& all,
                                   const HmmCounts* without, const HmmMargins& margins,
                                   const Smoothing& smoothing);
// p(w | z); [set_begin[w] + i]
std::vector<double> smooth_emissions(const HmmShape& shape, const HmmPrior& prior, const HmmCounts& all,
                                     const HmmCounts* without, const HmmMargins& margins,
                                     const Smoothing& smoothing);

}  // namespace hiddenite::hmm
