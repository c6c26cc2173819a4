// Words and their ids.
//
// Strings exist only at the two ends of the system; in between there are ids.
// <unk>, <s> and </s> are ids 0, 1, 2 in every vocabulary. A finished
// vocabulary (see `by_length`) numbers the other words by their length in
// characters, so that all words with equally many characters form one range
// of ids: what a keypad or a spelling channel asks for.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hiddenite/base/column.hpp"
#include "hiddenite/base/types.hpp"

namespace hiddenite::lm {

class Vocabulary {
 public:
  struct Slot {
    std::uint32_t hash;  // the upper half of the word's hash: most misses end here
    WordId id;
  };
  // What a vocabulary is made of: the words' bytes one after the other, where
  // each begins, and a hash table with linear probing, a power of two in size.
  struct Parts {
    std::span<const char> text;
    std::span<const std::uint64_t> begin;  // one more entry than words
    std::span<const Slot> slots;
  };

  Vocabulary();
  // Looks at parts that somebody else keeps; first_fault says whether they may be used.
  explicit Vocabulary(const Parts& parts);
  Parts parts() const { return {text_.span(), begin_.span(), slots_.span()}; }
  // What is wrong with parts that come from outside; empty if every look-up is
  // safe: it stays within the parts and ends.
  static std::string_view first_fault(const Parts& parts);

  // The id of `word`, added if it is new.
  WordId add(std::string_view word);
  // The id of `word`, or NO_WORD.
  WordId find(std::string_view word) const;
  // The id of `word`, or UNKNOWN.
  WordId id_or_unknown(std::string_view word) const {
    const WordId id = find(word);
    return id == NO_WORD ? UNKNOWN : id;
  }

  std::string_view word(WordId id) const {
    return {text_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }
  WordId size() const { return static_cast<WordId>(begin_.size() - 1); }
  std::size_t bytes() const;

  // The ids in order of length in characters, ties in order of id, special
  // words first: position k holds the old id of the new word k.
  std::vector<WordId> order_by_length() const;
  // The same words, word k of the result being word order[k] of this one.
  Vocabulary reordered(const std::vector<WordId>& order) const;

 private:
  void grow();

  Column<char> text_;
  Column<std::uint64_t> begin_;
  Column<Slot> slots_;
  std::uint64_t mask_;
};

// A 64-bit hash of a byte string; the same on every machine of one endianness.
std::uint64_t hash_bytes(std::string_view bytes);

}  // namespace hiddenite::lm
