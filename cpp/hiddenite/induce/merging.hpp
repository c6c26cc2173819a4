// Tags merged to fewer: a chain that was given too many tags finds finer classes than it
// would with the right number, and those that behave alike are put together afterwards.
//
// A merge loses mutual information of neighbouring tags,
//   I = 1/n sum_{s,t} n(s, t) ln [ n n(s, t) / (n(s) n(t)) ],
// (Brown et al. 1992), and mutual information of tags and the kinds of their words, such as
// numbers, marks and capitalised words: neighbours alone would put a comma and an «and»
// together. Losses grow with the tags' sizes, so that large tags of one part of speech would
// stay apart while small ones of different parts are merged. So the pair of the least
//   (loss of neighbours + KIND_WEIGHT loss of kinds) / max(n(s), n(t))^SIZE_POWER
// is merged, until as many are left as wanted.
//
// A sentence's end is a symbol of its own that is never merged; it is the neighbour of the
// first and of the last tag, so n(t) is both marginals. With h(x) = x ln x the loss of
// neighbours of a pair is
//   sum over symbols u of the loss of adding the cells (s, u), (t, u) and (u, s), (u, t)
//   minus twice that of adding n(s), n(t),
// and after a merge only the columns of the merged two change in the sums of other pairs:
// K^2 a merge, K^3 in all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hiddenite::induce {

inline constexpr double KIND_WEIGHT = 0.5, SIZE_POWER = 0.4;

struct TagMerge {
  std::int32_t kept, gone;  // kept < gone
  double cost;              // by which it was chosen
};

struct MergedTags {
  std::vector<std::int32_t> of_tag;  // [tag]: its number below `target`, in the order of the tags that were kept
  std::vector<TagMerge> merges;      // in the order in which they were made
};

// Each token has a tag below `num_tags` and a kind below `num_kinds`; `offsets` are the bounds of the sentences. Of
// equal costs the first pair is taken.
MergedTags merge_tags(std::span<const std::int32_t> tags, std::span<const std::int32_t> kinds,
                      std::span<const std::int64_t> offsets, unsigned num_tags, unsigned num_kinds, unsigned target);

}  // namespace hiddenite::induce
