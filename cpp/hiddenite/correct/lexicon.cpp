#include "hiddenite/correct/lexicon.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"

namespace hiddenite::correct {

std::vector<std::uint32_t> count_left_neighbours(const NgramTable& table) {
  std::vector<std::uint32_t> counts(table.vocabulary.size(), 0);
  if (table.order < 2) {
    std::fill(counts.begin(), counts.end(), 0xFFFFFFFF);
    return counts;
  }
  for (NodeId node = table.level_begin[2]; node < table.level_begin[3]; ++node) ++counts[table.word[node]];
  return counts;
}

bool is_wordlike(std::string_view word) {
  bool has_letter = false;
  while (!word.empty()) {
    const char32_t c = next_character(word);
    const bool is_mark = c == U'\'' || c == U'-' || c == U'.' || c == U'’';
    const bool is_sign = c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c <= 0x2BFF);
    const bool is_letter = (c >= U'a' && c <= U'z') || (c >= 0xC0 && !is_sign);
    if (!is_mark && !is_letter) return false;
    has_letter = has_letter || is_letter;
  }
  return has_letter;
}

WordLexicon::WordLexicon(const NgramTable& table, const NgramTable& letters, const ListedWords& listed)
    : table_(table), letters_(letters) {
  if (listed.words.size() != listed.weights.size()) {
    throw ModelError("the word list has other numbers of words and of weights");
  }
  log_list_.assign(NUM_SPECIAL_WORDS, LOG_ZERO);
  double outside = 0.0;  // the weight of the words outside V
  for (std::size_t i = 0; i < listed.words.size(); ++i) {
    if (!(listed.weights[i] > 0.0)) {
      throw ModelError("«" + listed.words[i] + "» has no positive weight in the word list");
    }
    const WordId id = list_.add(listed.words[i]);
    if (id == log_list_.size()) {
      log_list_.push_back(LOG_ZERO);
    } else if (log_list_[id] != LOG_ZERO) {
      continue;  // listed twice
    }
    log_list_[id] = std::log(listed.weights[i]);
    if (table.vocabulary.find(listed.words[i]) == NO_WORD) outside += listed.weights[i];
  }
  for (double& log_share : log_list_) log_share -= std::log(std::max(outside, 1e-300));
  const std::vector<std::uint32_t> neighbours = count_left_neighbours(table);
  lists_language_ = has_half(neighbours, listed.rare_below);
  const bool is_trusted = listed.trusts_list && lists_language_;
  is_distrusted_.assign(table.vocabulary.size(), false);
  words_.reserve(table.vocabulary.size() + listed.words.size());
  log_prior_.reserve(words_.capacity());
  for (WordId w = NUM_SPECIAL_WORDS; w < table.vocabulary.size(); ++w) {
    const std::string_view text = table.vocabulary.word(w);
    const bool is_rare = is_trusted && neighbours[w] < listed.rare_below;
    is_distrusted_[w] = is_rare && log_list(text) == LOG_ZERO;
    if (!is_distrusted_[w] && is_wordlike(text)) add(text, w);
  }
  for (const std::string& word : listed.words) {
    if (table.vocabulary.find(word) == NO_WORD && is_wordlike(word) && find(word) == ABSENT) {
      add(word, UNKNOWN);
    }
  }
}

bool WordLexicon::has_half(const std::vector<std::uint32_t>& neighbours, std::uint32_t rare_below) const {
  std::size_t num_frequent = 0, num_listed = 0;
  for (WordId w = NUM_SPECIAL_WORDS; w < table_.vocabulary.size(); ++w) {
    const std::string_view text = table_.vocabulary.word(w);
    if (neighbours[w] < rare_below || !is_wordlike(text)) continue;
    ++num_frequent;
    num_listed += log_list(text) != LOG_ZERO;
  }
  return num_listed > 0 && 2 * num_listed >= num_frequent;
}

void WordLexicon::add(std::string_view text, WordId id) {
  const double spell = id == UNKNOWN ? log_spell(text) : 0.0;
  const double prior = double{table_.log_prob[1 + id]} + spell;
  words_.push_back({std::string(text), id, spell, prior});
  log_prior_.push_back(prior);
  places_.add(text);
}

std::vector<std::u32string> WordLexicon::characters() const {
  std::vector<std::u32string> result;
  result.reserve(words_.size());
  for (const LexiconWord& word : words_) result.push_back(to_characters(word.text));
  return result;
}

std::u32string WordLexicon::frequent_characters() const {
  std::array<std::size_t, 128> ascii{};
  std::map<char32_t, std::size_t> counts;
  for (const LexiconWord& word : words_) {
    for (std::string_view rest = word.text; !rest.empty();) {
      const char32_t c = next_character(rest);
      ++(c < ascii.size() ? ascii[c] : counts[c]);
    }
  }
  for (char32_t c = 0; c < ascii.size(); ++c) {
    if (ascii[c] > 0) counts[c] = ascii[c];
  }
  std::u32string all;
  for (const auto& [c, _] : counts) all += c;
  std::stable_sort(all.begin(), all.end(), [&](char32_t a, char32_t b) { return counts.at(a) > counts.at(b); });
  return all;
}

std::uint32_t WordLexicon::find(std::string_view word) const {
  const WordId found = places_.find(word);
  return found == NO_WORD || found < NUM_SPECIAL_WORDS ? ABSENT : found - NUM_SPECIAL_WORDS;
}

double WordLexicon::log_list(std::string_view word) const {
  const WordId found = list_.find(word);
  return found == NO_WORD ? LOG_ZERO : log_list_[found];
}

double WordLexicon::log_letters(std::string_view word) const {
  NodeId state = letters_.start();
  double result = 0.0;
  for (std::string_view rest = word; !rest.empty();) {
    const std::string_view all = rest;
    next_character(rest);
    result += letters_.step(state, letters_.vocabulary.id_or_unknown(all.substr(0, all.size() - rest.size())));
  }
  result += letters_.step(state, SENTENCE_END);
  // A character that the model has never seen still has some probability.
  return std::max(result, -12.0 * static_cast<double>(word.size() + 1));
}

double WordLexicon::log_spell(std::string_view word) const {
  const double by_letters = log_letters(word), by_list = log_list(word);
  const double high = std::max(by_letters, by_list), low = std::min(by_letters, by_list);
  return std::log(0.5) + high + std::log1p(std::exp(low - high));
}

WordId WordLexicon::model_word(std::string_view token) const {
  const WordId id = table_.vocabulary.find(token);
  return id == NO_WORD || id < NUM_SPECIAL_WORDS || is_distrusted_[id] ? UNKNOWN : id;
}

}  // namespace hiddenite::correct
