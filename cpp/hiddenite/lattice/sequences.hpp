// Word sequences of a lattice in order of weight, each once.
//
// Many paths of a lattice have the same words: they differ by epsilon edges, by pronunciations, by times. The
// weight of a word sequence is that of the best of its paths, or the sum over all of them. Both are found by one
// best-first search over prefixes. A prefix holds the states that its words can lead to, with the best or the
// total weight of the ways there; its priority is the best or the total weight of all paths that begin with it:
//
//   priority(prefix) = (+) over states s of [ weight(s) + after(s) ],      (+) = max or ln-sum
//
// which no sequence that begins so exceeds. So the sequences come out of the queue best first, and when the k-th
// has come no other weighs more. With maxima only prefixes of the k best are opened. With sums a prefix can be
// probable whose continuations are many and improbable: finding the best is hard in the worst case (it is for
// every such model: Casacuberta & de la Higuera 2000), so there is a limit; where it ends the search, `upper`
// says what the best sequence that is missing can weigh.
//
// What tells sequences apart is the label of an edge, which need not be its word: with a label for each edge the
// sequences are the paths.
#pragma once

#include <optional>

#include "hiddenite/lattice/composition.hpp"

namespace hiddenite::lattice {

inline constexpr std::uint32_t SILENT = std::numeric_limits<std::uint32_t>::max();  // the label of no word

struct LabelSequence {
  std::vector<std::uint32_t> labels;
  std::vector<std::uint32_t> edges;  // of its best path, silent ones included
  double log_weight;                 // of the best of its paths, or ln of their sum
};

struct RankedSequences {
  std::vector<LabelSequence> found;  // best first
  bool complete = false;             // these are the k best, or all
  double upper = LOG_ZERO;           // no sequence that is missing weighs more
};

struct RankOptions {
  std::size_t count = 1;
  bool sums = false;
  std::uint64_t max_prefixes = std::numeric_limits<std::uint64_t>::max();  // opened
};

// `label` has an entry for each edge of the lattice; the composition must have a path.
RankedSequences rank_sequences(const Composition& composition, const std::vector<std::uint32_t>& label,
                               const RankOptions& options);

// The best path with these labels; none if there is no such path.
std::optional<GraphPath> best_path_of(const Composition& composition, const std::vector<std::uint32_t>& label,
                                      const std::vector<std::uint32_t>& sequence);

// ln of the total weight of the paths with these labels.
double total_of(const Composition& composition, const std::vector<std::uint32_t>& label,
                const std::vector<std::uint32_t>& sequence);

}  // namespace hiddenite::lattice
