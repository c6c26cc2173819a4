// Word errors: how many substitutions, insertions and deletions lie between word sequences, and between a word
// sequence and the nearest path of a lattice.
#pragma once

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

}  // namespace hiddenite::lattice
