// The words that can have been meant, and how words outside the language model
// are spelled.
//
// Words of the model's vocabulary V are scored by the model. Words outside are
// scored as <unk>, times the probability of their spelling,
//   p_spell(w) = 1/2 p_char(w) + 1/2 p_list(w),
// p_char being an n-gram model over the characters of rare words (one character
// a token) and p_list the share of w in a list of words outside V. Thus an
// unknown good word is likely enough to stay, and an unknown bad one is not.
//
// Texts that a model is trained on contain misspellings too. With
// `trusts_list`, a word of V that few different words precede (`rare_below`)
// and that the list lacks is treated as unknown. That needs a list of the language:
// one that has at least half of the model's other words. A few names are not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/channel/edit_search.hpp"
#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::correct {

struct ListedWords {
  std::vector<std::string> words;
  std::vector<double> weights;  // any positive numbers, frequencies^0.75 say
  bool trusts_list = false;
  std::uint32_t rare_below = 12;
};

struct LexiconWord {
  std::string text;
  WordId id;          // UNKNOWN: scored as <unk>
  double log_spell;   // ln p_spell, 0 for words of the model
  double log_prior;   // ln p_1(word), spelling included: what candidates are chosen by
};

class WordLexicon {
 public:
  static constexpr std::uint32_t ABSENT = 0xFFFFFFFF;

  // The tables stay the caller's. `letters` is a model over characters.
  WordLexicon(const NgramTable& table, const NgramTable& letters, const ListedWords& listed);

  const NgramTable& table() const { return table_; }
  const std::vector<LexiconWord>& words() const { return words_; }
  const std::vector<double>& log_prior() const { return log_prior_; }
  std::vector<std::u32string> characters() const;
  // All characters of its words, the most frequent first.
  std::u32string frequent_characters() const;
  // The list has at least half of the model's frequent words.
  bool lists_language() const { return lists_language_; }
  // The place of a word among those that can be meant, or ABSENT.
  std::uint32_t find(std::string_view word) const;
  // ln p_spell of any word.
  double log_spell(std::string_view word) const;
  // The model's word for a token of the text, UNKNOWN if it has none or does not trust it.
  WordId model_word(std::string_view token) const;

 private:
  bool has_half(const std::vector<std::uint32_t>& neighbours, std::uint32_t rare_below) const;
  double log_list(std::string_view word) const;
  double log_letters(std::string_view word) const;
  void add(std::string_view text, WordId id);

  const NgramTable& table_;
  const NgramTable& letters_;
  Vocabulary list_;               // the listed words,
  std::vector<double> log_list_;  // [word of the list]: ln of its share, LOG_ZERO if it is not listed
  Vocabulary places_;             // words_ in their order, behind the special words
  bool lists_language_ = false;
  std::vector<bool> is_distrusted_;  // [word of V]
  std::vector<LexiconWord> words_;
  std::vector<double> log_prior_;
};

// How many different words precede each word in the model's pairs: a word's frequency as far as the model knows it.
std::vector<std::uint32_t> count_left_neighbours(const NgramTable& table);
// Letters, apostrophes, hyphens and full stops, at least one letter: what a slip may turn into.
bool is_wordlike(std::string_view word);

}  // namespace hiddenite::correct
