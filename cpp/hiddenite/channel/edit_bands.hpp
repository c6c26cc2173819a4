// Which prefixes of a trie are near an observed word: the edit distance with
// transpositions (optimal string alignment), as bits.
//
// Row i, level e, bit b: the prefix of i characters can have been typed as
// seen[0 .. j) with at most e events, j = i + b - distance. Other j are out of
// reach, so a row fits into one machine word whatever the word's length, and a
// node of the trie takes a handful of operations a level (Wu & Manber 1992, made
// relative to the diagonal). Rows lie at their depth: a walk in preorder finds
// the parent's row where it left it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hiddenite::channel {

inline constexpr int MAX_DISTANCE = 8;  // 2 * 8 + 1 bits, and one to shift into, fit into 32

class EditBands {
 public:
  EditBands(std::u32string_view seen, int distance)
      : size_(static_cast<int>(seen.size())), distance_(distance),
        blocks_((seen.size() + static_cast<std::size_t>(distance)) / 64 + 2),
        rows_(static_cast<std::size_t>((size_ + distance + 1) * (distance + 1))),
        prefix_(static_cast<std::size_t>(size_ + distance + 1), U'\0') {
    places_.resize(blocks_);  // of all characters that do not occur
    for (int p = 0; p < size_; ++p) set_place(seen[p], p + distance + 1);
    for (int e = 0; e <= distance; ++e) row(0)[e] = band(0) & ((Bits{2} << (distance + e)) - 1);
  }

  // Fills the row of the prefix that ends in `label`; false if no word that begins
  // so is near.
  bool enter(int depth, char32_t label) {
    if (depth > size_ + distance_) return false;
    prefix_[depth] = label;
    const Bits valid = band(depth), same = window(label, depth);
    const Bits crossed = depth > 1 ? window(prefix_[depth - 1], depth) & window(label, depth - 1) : 0;
    const Bits* const before = row(depth - 1);
    const Bits* const before_that = depth > 1 ? row(depth - 2) : before;
    Bits* const to = row(depth);
    to[0] = before[0] & same & valid;
    for (int e = 1; e <= distance_; ++e) {
      const Bits substituted = before[e - 1], deleted = before[e - 1] >> 1, inserted = to[e - 1] << 1;
      to[e] = ((before[e] & same) | substituted | deleted | inserted | (before_that[e - 1] & crossed)) & valid;
    }
    return to[distance_] != 0;
  }

  // The prefix itself is near.
  bool accepts(int depth) const {
    const int b = size_ - depth + distance_;
    const Bits within = rows_[static_cast<std::size_t>(depth * (distance_ + 1) + distance_)];
    return b >= 0 && b <= 2 * distance_ && (within >> b & 1) != 0;
  }
  std::u32string_view prefix(int depth) const {
    return std::u32string_view(prefix_).substr(1, static_cast<std::size_t>(depth));
  }

 private:
  using Bits = std::uint32_t;

  Bits* row(int depth) { return rows_.data() + depth * (distance_ + 1); }

  // The bits of row i whose j is a place of the observed word.
  Bits band(int i) const {
    const int low = std::max(0, distance_ - i), high = std::min(2 * distance_, size_ - i + distance_);
    return high < low ? 0 : ((Bits{2} << high) - 1) & ~((Bits{1} << low) - 1);
  }

  // Bit j - 1 + distance + 1 of a character's bits: seen[j - 1] is the character.
  void set_place(char32_t c, int bit) {
    std::uint32_t& first = block_of(c);
    if (first == 0) {
      first = static_cast<std::uint32_t>(places_.size());
      places_.resize(places_.size() + blocks_);
    }
    places_[first + static_cast<std::size_t>(bit) / 64] |= std::uint64_t{1} << (bit % 64);
  }
  std::uint32_t& block_of(char32_t c) {
    if (c < 128) return ascii_[c];
    for (auto& [known, first] : others_) {
      if (known == c) return first;
    }
    return others_.emplace_back(c, 0).second;
  }
  std::uint32_t find_block(char32_t c) const {
    if (c < 128) return ascii_[c];
    for (const auto& [known, first] : others_) {
      if (known == c) return first;
    }
    return 0;
  }

  // The band of row i: bit b is set where seen[j - 1] = c, j = i + b - distance.
  Bits window(char32_t c, int i) const {
    const std::uint64_t* const block = places_.data() + find_block(c) + i / 64;
    const int shift = i % 64;
    return static_cast<Bits>(block[0] >> shift | block[1] << 1 << (63 - shift));
  }

  int size_, distance_;
  std::size_t blocks_;
  std::array<std::uint32_t, 128> ascii_{};  // where a character's blocks begin in places_
  std::vector<std::pair<char32_t, std::uint32_t>> others_;
  std::vector<std::uint64_t> places_;
  std::vector<Bits> rows_;
  std::u32string prefix_;  // [depth]; [0] is not used
};

}  // namespace hiddenite::channel
