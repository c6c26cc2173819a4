// Tags merged to fewer: a chain that was given too many tags finds finer classes than it
// would with the right number, and those that behave alike are put together afterwards.
//
// Of all pairs the one is merged whose merging loses least mutual information of
// neighbouring tags,
//   I = 1/n sum_{s,t} n(s, t) ln [ n n(s, t) / (n(s) n(t)) ],
// until as many are left as wanted (the greedy step of Brown et al. 1992). A sentence's
// end is a symbol of its own that is never merged; it is the neighbour of the first and of
// the last tag, so n(t) is both marginals. With h(x) = x ln x the loss of a pair is
//   sum over symbols u of the loss of adding the cells (s, u), (t, u) and (u, s), (u, t)
//   minus twice that of adding n(s), n(t),
// and after a merge only the columns of the merged two change in the sums of other pairs:
// K^2 a merge, K^3 in all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hiddenite::induce {

struct TagMerge {
  std::int32_t kept, gone;  // kept < gone
  double loss;              // n times the mutual information that it cost
};

struct MergedTags {
  std::vector<std::int32_t> of_tag;  // [tag]: its number below `target`, in the order of the tags that were kept
  std::vector<TagMerge> merges;      // in the order in which they were made
};

// The mutual information I of neighbours, in nats. Tags are below `num_tags`, which is not checked.
double neighbour_information(std::span<const std::int32_t> tags, std::span<const std::int64_t> offsets,
                             unsigned num_tags);

// `offsets` are the bounds of the sentences; tags are below `num_tags`. Of equal losses the first pair is taken.
// With `kinds` [tag] those of one kind are merged as long as there are two, whatever it loses; then any.
MergedTags merge_tags(std::span<const std::int32_t> tags, std::span<const std::int64_t> offsets, unsigned num_tags,
                      unsigned target, std::span<const std::int32_t> kinds = {});

}  // namespace hiddenite::induce
