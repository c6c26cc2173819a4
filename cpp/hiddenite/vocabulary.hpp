// Words and their ids.
//
// Strings exist only at the two ends of the system; in between there are ids.
// <unk>, <s> and </s> are ids 0, 1, 2 in every vocabulary. A finished
// vocabulary (see `by_length`) numbers the other words by their length in
// characters, so that all words with equally many characters form one range
// of ids: what a keypad or a spelling channel asks for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "types.hpp"

namespace hiddenite {

class Vocabulary {
 public:
  Vocabulary();

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
  struct Slot {
    std::uint32_t hash;  // the upper half of the word's hash: most misses end here
    WordId id;
  };
  void grow();

  std::string text_;
  std::vector<std::uint64_t> begin_;
  std::vector<Slot> slots_;
  std::uint64_t mask_;
};

// A 64-bit hash of a byte string; the same on every machine of one endianness.
std::uint64_t hash_bytes(std::string_view bytes);

}  // namespace hiddenite
