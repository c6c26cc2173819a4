// Word errors: how many substitutions, insertions and deletions lie between word sequences, and between a word
// sequence and the nearest path of a lattice.
#pragma once

#include <compare>
#include <span>

#include "hiddenite/lattice/sequences.hpp"

namespace hiddenite::lattice {

using Labels = std::vector<std::uint32_t>;

// Levenshtein's distance; O(|a| |b|).
std::uint32_t word_errors(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

// [i * n + j] for n sequences.
std::vector<std::uint32_t> error_matrix(const std::vector<Labels>& sequences);

// A lattice beside a word sequence, the errors of the nearest path being as few as can be.
struct NearestPath {
  std::uint32_t errors;
  // [node]: the words of the sequence that stand before the node where the nearest path through the node goes
  // through it; the least of such numbers. 0 for a node on no path.
  std::vector<std::uint32_t> words_before;
};

// O(edges times words). `label` as in sequences.hpp. Throws ModelError if there is no path.
NearestPath nearest_path(const WordGraph& graph, const std::vector<std::uint32_t>& label, const Labels& sequence);

// The differences down a column of Levenshtein's table, for a sequence of at most 64 words: bit i of `plus` (`minus`)
// if the entry of i + 1 words of the sequence is one more (less) than that of i words (Myers 1999, Hyyrö 2003).
struct ErrorColumn {
  std::uint64_t plus, minus;
  auto operator<=>(const ErrorColumn&) const = default;
};

// One word further on the path; `equal` has the bits of the sequence's words that are the same, `all` those of all.
ErrorColumn after_word(ErrorColumn column, std::uint64_t equal, std::uint64_t all);

// The expected errors of a sequence, over all paths of a composition: sum over paths of share times distance.
//
// Distances are a dynamic program over pairs of a state and the row of Levenshtein's table there: paths that come to
// a state with the same differences between neighbours of the row need not be told apart, whatever their lengths.
// A row is two bit vectors, so the sequence has at most 64 words.
struct ExpectedErrors {
  double errors;    // of all paths but those left out, whose errors may have been counted in part
  double left_out;  // the share of paths that were not followed to their end
};
struct ErrorLimits {
  std::uint64_t max_rows = std::numeric_limits<std::uint64_t>::max();  // pairs of a state and a row
  double least_share = 0.0;                                            // pairs that weigh less are not followed
};

// None: the sequence has more than 64 words, or there are more than `max_rows` pairs. The composition must have a path.
std::optional<ExpectedErrors> expected_errors(const Composition& composition, const std::vector<std::uint32_t>& label,
                                              const Labels& sequence, const ErrorLimits& limits);

}  // namespace hiddenite::lattice
