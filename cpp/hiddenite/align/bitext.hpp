// Parallel text as word ids, and what can be known of its word pairs before any
// alignment.
//
// Source words generate target words in the forward direction; in reverse the
// roles change. A pair is a source and a target word that meet in some sentence
// pair; the cells of a sentence pair hold the ids of its pairs, so that training
// never looks a word up. Words with the same first letters share a stem, and
// pairs share stem pairs.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/base/types.hpp"
#include "hiddenite/lm/vocabulary.hpp"

namespace hiddenite::align {

// The first four letters without their marks: forms of a word have them in common, wherever the accent falls. An
// ideograph, which has a meaning of its own, stands for four letters.
inline constexpr std::size_t STEM_LETTERS = 4;
std::string stem_of(std::string_view word);

// The last two letters of a word of four letters or more: what grammar puts there, a case, a person or an article,
// other languages say with words of their own. Empty for shorter words.
inline constexpr std::size_t ENDING_LETTERS = 2;
std::string ending_of(std::string_view word);

// How alike two spellings are, from 0 to 1: names, numbers and cognates.
//   1 if equal; half the common prefix over the longer length, if it has three
//   letters and half of that length; else half the longest common subsequence
//   over the longer length, if that is 0.6 or more, first letters agree, both
//   have three letters or more, and their lengths differ by 40 % at most.
double spelling_likeness(std::string_view a, std::string_view b);

// Two ids as one, for tables of pairs.
inline std::uint64_t pair_key(WordId a, WordId b) { return std::uint64_t{a} << 32 | b; }

// The histogram's bin of a jump; longer ones count as the longest.
inline std::size_t jump_bin(std::ptrdiff_t distance, std::uint32_t max_jump) {
  const auto most = static_cast<std::ptrdiff_t>(max_jump);
  return static_cast<std::size_t>(std::clamp(distance, -most, most) + most);
}

// One side: sentences of word ids.
struct TextSide {
  Vocabulary words;
  Vocabulary stems, endings;
  std::vector<WordId> stem_of_word;       // [word]
  std::vector<WordId> ending_of_word;     // [word]; NO_WORD if it is too short
  std::vector<std::uint32_t> count, stem_count;  // occurrences of words and of stems
  std::vector<WordId> tokens;
  std::vector<std::uint64_t> begin{0};    // of each sentence, and the end

  std::size_t num_sentences() const { return begin.size() - 1; }
  std::span<const WordId> sentence(std::size_t s) const {
    return {tokens.data() + begin[s], begin[s + 1] - begin[s]};
  }
  // Throws FormatError. Sentences are the lines of the text.
  void read(std::string_view text, const std::string& name);
};

struct Bitext {
  // Throws FormatError; both texts must have equally many lines.
  Bitext(std::string_view source_text, std::string_view target_text, const std::string& source_name,
         const std::string& target_name);

  std::size_t num_sentences() const { return source.num_sentences(); }
  TextSide source, target;
};

struct PairTable {
  PairTable(const Bitext& bitext, bool string_prior);

  std::size_t num_pairs() const { return source.size(); }
  std::size_t bytes() const;

  std::vector<std::uint64_t> cell_begin;  // [sentence]
  std::vector<std::uint32_t> cell;        // [cell_begin + target position * source length + source position]: pair
  // Per pair.
  std::vector<WordId> source, target;
  std::vector<std::uint32_t> stem_pair;
  std::vector<std::uint32_t> meetings;    // cells that hold it
  std::vector<float> likeness;            // empty without the string prior
  // Per word, as the one that generates: partners and their likeness.
  std::vector<std::uint32_t> source_partners, target_partners;
  std::vector<float> source_likeness, target_likeness;
  // Per stem.
  std::vector<std::uint32_t> source_stem_partners, target_stem_partners;
  std::size_t num_stem_pairs = 0;
};

}  // namespace hiddenite::align
