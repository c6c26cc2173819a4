// Best alignments under the fertility HMM.
//
// Which door to take:
//   the best alignment with its proof     align_exact
//   the k best                            align_kbest
//   Quirk's algorithm as published        align_paper (figures 1 and 2)
//   fertilities left out of the search    align_viterbi
//
// The deadline is the record's. Its states are labels: partial alignments that
// the exact last step tells apart, which also bounds its memory.
#pragma once

#include "hiddenite/align/fertility.hpp"
#include "hiddenite/base/error.hpp"

namespace hiddenite::align {

inline constexpr std::uint64_t DEFAULT_LABELS = 4'000'000;

// Every alignment has probability zero.
class NoAlignment : public ModelError {
 public:
  NoAlignment() : ModelError("no alignment has a probability above zero") {}
};

struct Aligned {
  std::vector<Links> links;         // best first
  std::vector<double> log_weights;  // log_weight(links)
  Certificate certificate;          // refinements: steps of the descent; states: labels
};

// All throw NoAlignment if that is proved.
Aligned align_exact(const FertilityHmm& hmm, const Deadline& deadline);

// Exact: these are the k best, or all there are. The bounds are those of the first.
Aligned align_kbest(const FertilityHmm& hmm, std::size_t k, const Deadline& deadline);

struct PaperOptions {
  enum class Step { CONSTANT, HARMONIC, ROOT };  // d, d / k, d / sqrt(k)
  std::size_t iterations = 40;                   // K
  Step step = Step::ROOT;
  double scale = 0.5;                            // d
  bool exactly_all = true;                       // sets z of exactly J links
};
// The chain's last alignment, as figure 1 returns it.
Aligned align_paper(const FertilityHmm& hmm, const PaperOptions& options, const Deadline& deadline);

// Proves nothing.
Aligned align_viterbi(const FertilityHmm& hmm, const Deadline& deadline);

}  // namespace hiddenite::align
