// A text as sentences of word ids.
//
// Words are numbered as they come, or, against a vocabulary that is given, words
// it lacks become <unk>. Sentence ends are not stored: each sentence has one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/base/types.hpp"
#include "hiddenite/lm/vocabulary.hpp"

namespace hiddenite::lm {

struct TokenText {
  std::vector<WordId> tokens;
  std::vector<std::uint64_t> begin{0};  // of each sentence, and the end
  std::vector<std::uint32_t> unknown;   // [sentence]: words that became <unk>

  std::size_t num_sentences() const { return begin.size() - 1; }
  std::span<const WordId> sentence(std::size_t s) const {
    return {tokens.data() + begin[s], begin[s + 1] - begin[s]};
  }
  // Occurrences of each of the words, one </s> per sentence among them.
  std::vector<std::uint64_t> counts(WordId num_words) const;

  // Reads lines and adds the words they bring. Throws FormatError.
  static TokenText read(std::string_view text, const std::string& name, std::uint64_t first_line, Vocabulary& words);
  // Reads lines; words that are not in the vocabulary are <unk>.
  static TokenText read_known(std::string_view text, const std::string& name, std::uint64_t first_line,
                              const Vocabulary& words);
};

}  // namespace hiddenite::lm
