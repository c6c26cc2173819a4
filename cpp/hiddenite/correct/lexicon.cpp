#include "hiddenite/correct/lexicon.hpp"

#include <algorithm>
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

bool is_wordlike(std::u32string_view word) {
  bool has_letter = false;
  for (const char32_t c : word) {
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
  log_list_.reserve(listed.words.size());
  double outside = 0.0;  // the weight of the words outside V
  for (std::size_t i = 0; i < listed.words.size(); ++i) {
    if (!(listed.weights[i] > 0.0)) {
      throw ModelError("«" + listed.words[i] + "» has no positive weight in the word list");
    }
    if (!log_list_.emplace(listed.words[i], std::log(listed.weights[i])).second) continue;
    if (table.vocabulary.find(listed.words[i]) == NO_WORD) outside += listed.weights[i];
  }
  for (auto& [word, log_share] : log_list_) log_share -= std::log(std::max(outside, 1e-300));
  const std::vector<std::uint32_t> neighbours = count_left_neighbours(table);
  lists_language_ = has_half(neighbours, listed.rare_below);
  const bool is_trusted = listed.trusts_list && lists_language_;
  is_distrusted_.assign(table.vocabulary.size(), false);
  words_.reserve(table.vocabulary.size() + listed.words.size());
  place_of_.reserve(words_.capacity());
  for (WordId w = NUM_SPECIAL_WORDS; w < table.vocabulary.size(); ++w) {
    const std::string_view text = table.vocabulary.word(w);
    const bool is_rare = is_trusted && neighbours[w] < listed.rare_below;
    is_distrusted_[w] = is_rare && !log_list_.contains(text);
    if (!is_distrusted_[w] && is_wordlike(to_characters(text))) add(text, w);
  }
  for (const std::string& word : listed.words) {
    if (table.vocabulary.find(word) == NO_WORD && is_wordlike(to_characters(word)) && find(word) == ABSENT) {
      add(word, UNKNOWN);
    }
  }
}

bool WordLexicon::has_half(const std::vector<std::uint32_t>& neighbours, std::uint32_t rare_below) const {
  std::size_t num_frequent = 0, num_listed = 0;
  for (WordId w = NUM_SPECIAL_WORDS; w < table_.vocabulary.size(); ++w) {
    const std::string_view text = table_.vocabulary.word(w);
    if (neighbours[w] < rare_below || !is_wordlike(to_characters(text))) continue;
    ++num_frequent;
    num_listed += log_list_.contains(text);
  }
  return num_listed > 0 && 2 * num_listed >= num_frequent;
}

void WordLexicon::add(std::string_view text, WordId id) {
  const double spell = id == UNKNOWN ? log_spell(text) : 0.0;
  const double prior = double{table_.log_prob[1 + id]} + spell;
  words_.push_back({std::string(text), id, spell, prior});
  log_prior_.push_back(prior);
  place_of_.emplace(words_.back().text, static_cast<std::uint32_t>(words_.size() - 1));
}

std::vector<std::u32string> WordLexicon::characters() const {
  std::vector<std::u32string> result;
  for (const LexiconWord& word : words_) result.push_back(to_characters(word.text));
  return result;
}

std::u32string WordLexicon::frequent_characters() const {
  std::map<char32_t, std::size_t> counts;
  for (const LexiconWord& word : words_) {
    for (const char32_t c : to_characters(word.text)) ++counts[c];
  }
  std::u32string all;
  for (const auto& [c, _] : counts) all += c;
  std::stable_sort(all.begin(), all.end(), [&](char32_t a, char32_t b) { return counts.at(a) > counts.at(b); });
  return all;
}

std::uint32_t WordLexicon::find(std::string_view word) const {
  const auto found = place_of_.find(word);
  return found == place_of_.end() ? ABSENT : found->second;
}

double WordLexicon::log_list(std::string_view word) const {
  if (log_list_.empty()) return LOG_ZERO;
  const auto found = log_list_.find(word);
  return found == log_list_.end() ? LOG_ZERO : found->second;
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
