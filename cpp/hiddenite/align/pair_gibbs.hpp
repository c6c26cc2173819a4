// Link probabilities of one sentence pair by Gibbs sampling, where exact draws fail.
//
// Two chains, one from a good alignment and one from NULL everywhere, redraw each link in
// turn given all others; after BURN_IN sweeps the conditional probabilities are averaged.
// Their law tends to the model's, but how near it is cannot be proved: the standard error
// is that of the means of batches of sweeps, of both chains together, so that chains which
// disagree show. O(I J) a sweep.
#pragma once

#include "hiddenite/align/fertility.hpp"
#include "hiddenite/base/random.hpp"

namespace hiddenite::align {

struct PairGibbs {
  std::uint32_t sweeps = 0;          // that were averaged, of both chains; 0: there was no time
  std::vector<float> probabilities;  // [j * I + i - 1]
  double standard_error = 0.0;       // the largest of any link's

  static constexpr std::uint32_t CHAINS = 2, BURN_IN = 50, BATCHES = 10, SWEEPS_PER_BATCH = 15;
};

// At least one sweep a chain is averaged, though the deadline be over, if that takes next to no time: none where the
// budget is zero, or the pair has more than a million cells.
PairGibbs sample_pair(const FertilityHmm& hmm, const Deadline& deadline, Random random);

}  // namespace hiddenite::align
