// Which tokens of a noisy line belong to which of its clean version, where both
// may have been split, merged, lost and invented.
//
// The characters are aligned with the fewest insertions, deletions and
// substitutions (Levenshtein); the lines are cut wherever the alignment passes a
// point at which tokens begin on both sides. What lies between two cuts belongs
// together. Time and memory: the product of the lengths, a byte a cell; lines of
// more than MAX_CELLS are one piece.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hiddenite/rooms.hpp"

namespace hiddenite::correct {

// (token of the noisy line, token of the clean line) of every cut, the ends included. `begins` are the characters
// at which tokens begin, ascending.
std::vector<std::pair<std::uint32_t, std::uint32_t>> align_lines(std::u32string_view noisy,
                                                                 std::span<const std::uint32_t> noisy_begins,
                                                                 std::u32string_view clean,
                                                                 std::span<const std::uint32_t> clean_begins);

// The fewest insertions, deletions and substitutions that make one of the other.
std::uint32_t edit_distance(std::u32string_view a, std::u32string_view b);

}  // namespace hiddenite::correct
