// Best alignments under the fertility HMM.
//
// Which door to take:
//   the best alignment with its proof     align_exact
//   the k best                            align_kbest
//   Quirk's algorithm as published        align_paper (figures 1 and 2)
//   fertilities left out of the search    align_viterbi
#pragma once

#include "hiddenite/align/fertility.hpp"

namespace hiddenite::align {

// lower <= the best weight <= upper; exact: they meet, to FERTILITY_TOLERANCE.
struct Aligned {
  Links links;
  double log_weight = LOG_ZERO;  // log_weight(links)
  bool exact = false;
  double upper = -LOG_ZERO;
  std::uint64_t iterations = 0;  // of the descent
  std::uint64_t labels = 0;      // of the exact last step
};

struct AlignBudget {
  double seconds = -LOG_ZERO;
  std::uint64_t labels = 4'000'000;
};

// An alignment of weight zero has no links and is exact: nothing is possible.
Aligned align_exact(const FertilityHmm& hmm, const AlignBudget& budget = {});

struct RankedAlignments {
  std::vector<Links> links;
  std::vector<double> log_weights;
  bool exact = false;
};
RankedAlignments align_kbest(const FertilityHmm& hmm, std::size_t k, const AlignBudget& budget = {});

struct PaperOptions {
  enum class Step { CONSTANT, HARMONIC, ROOT };  // d, d / k, d / sqrt(k)
  std::size_t iterations = 40;                   // K
  Step step = Step::ROOT;
  double scale = 0.5;                            // d
  bool exactly_all = true;                       // sets z of exactly J links
};
Aligned align_paper(const FertilityHmm& hmm, const PaperOptions& options);

Aligned align_viterbi(const FertilityHmm& hmm);

}  // namespace hiddenite::align
