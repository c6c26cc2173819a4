#include "hiddenite/channel/tag_channel.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/channel/word_features.hpp"

namespace hiddenite::channel {

namespace {

bool begins_upper(std::string_view word) { return is_upper(next_character(word)); }

[[noreturn]] void misfit(const std::string& what) {
  throw ModelError("the tagger's tables do not fit together: " + what);
}

}  // namespace

TagChannel::TagChannel(const NgramTable& table, const WordTagCounts& lexicon, const Guesser& guesser,
                       const TagChannelOptions& options)
    : guesser_(guesser), options_(options), log_floor_(std::log(options.floor)), num_tags_(guesser.num_tags()) {
  check(table, lexicon);
  double num_tokens = 0.0;
  for (const std::uint32_t c : lexicon.counts) num_tokens += c;
  log_tokens_ = std::log(std::max(num_tokens, 1.0));
  add_symbols(lexicon.symbols);
  Scratch scratch;
  scratch.log_probs.resize(num_tags_);
  for (std::size_t i = 0; i < lexicon.words.size(); ++i) add_word(lexicon, i, scratch);
}

TagChannel::TagChannel(const NgramTable& table, const WordEmissions& emissions, const Guesser& guesser)
    : guesser_(guesser), log_floor_(LOG_ZERO), log_tokens_(0.0), num_tags_(guesser.num_tags()) {
  check(table, emissions);
  std::vector<TagSymbol> symbols;
  for (std::uint32_t t = 0; t < num_tags_; ++t) symbols.push_back({t, "", emissions.symbols[t], 0.0});
  add_symbols(symbols);
  Scratch scratch;
  for (std::size_t i = 0; i < emissions.words.size(); ++i) {
    scratch.log_probs.assign(num_tags_, LOG_ZERO);
    for (std::uint64_t k = emissions.begin[i]; k < emissions.begin[i + 1]; ++k) {
      scratch.log_probs[emissions.tags[k]] = emissions.log_probs[k];
    }
    const WordId id = add_name(emissions.words[i]);
    row_[id] = first_row_[id] = add_row(emissions.words[i], 0.0, scratch);
  }
}

void TagChannel::check(const NgramTable& table, const WordEmissions& emissions) const {
  if (emissions.begin.size() != emissions.words.size() + 1 || emissions.begin.front() != 0 ||
      emissions.begin.back() != emissions.tags.size() || emissions.log_probs.size() != emissions.tags.size() ||
      !std::is_sorted(emissions.begin.begin(), emissions.begin.end())) {
    misfit("sizes of the emissions");
  }
  if (emissions.symbols.size() != num_tags_) misfit("the number of tags");
  for (const WordId id : emissions.symbols) {
    if (id < NUM_SPECIAL_WORDS || id >= table.vocabulary.size()) misfit("a tag has no transitions");
  }
  for (std::size_t k = 0; k < emissions.tags.size(); ++k) {
    if (emissions.tags[k] >= num_tags_) misfit("a word's tag is out of range");
    if (!std::isfinite(emissions.log_probs[k])) misfit("a word's probability is no number");
  }
  for (std::size_t i = 0; i < emissions.words.size(); ++i) {
    const std::string& word = emissions.words[i];
    if (word.empty() || find_invalid_utf8(word) != std::string::npos) misfit("a word is not UTF-8 text");
    if (emissions.begin[i] == emissions.begin[i + 1]) misfit("'" + word + "' has no tag");
  }
}

void TagChannel::check(const NgramTable& table, const WordTagCounts& lexicon) const {
  if (!(options_.guess_weight >= 0.0) || !std::isfinite(options_.guess_weight)) {
    throw ModelError("the weight of a guess is " + std::to_string(options_.guess_weight) + ", expected 0 or more");
  }
  if (!(options_.floor >= 0.0) || options_.floor >= 1.0) {
    throw ModelError("the floor is " + std::to_string(options_.floor) + ", expected 0 to below 1");
  }
  if (lexicon.begin.size() != lexicon.words.size() + 1 || lexicon.begin.front() != 0 ||
      lexicon.begin.back() != lexicon.tags.size() || lexicon.counts.size() != lexicon.tags.size() ||
      !std::is_sorted(lexicon.begin.begin(), lexicon.begin.end())) {
    misfit("sizes of the lexicon");
  }
  for (const std::uint32_t t : lexicon.tags) {
    if (t >= num_tags_) misfit("a word's tag is out of range");
  }
  if (std::find(lexicon.counts.begin(), lexicon.counts.end(), 0u) != lexicon.counts.end()) misfit("a count of 0");
  for (const std::string& word : lexicon.words) {
    if (word.empty() || find_invalid_utf8(word) != std::string::npos) misfit("a word is not UTF-8 text");
  }
  for (const TagSymbol& s : lexicon.symbols) {
    if (s.tag >= num_tags_ || s.id < NUM_SPECIAL_WORDS || s.id >= table.vocabulary.size()) misfit("a symbol's ids");
    if (!std::isfinite(s.log_prior)) misfit("a symbol's probability");
  }
}

void TagChannel::add_symbols(const std::vector<TagSymbol>& symbols) {
  symbols_ = symbols;
  is_lexical_.assign(NUM_SPECIAL_WORDS, 0);
  symbol_of_.assign(NUM_SPECIAL_WORDS * num_tags_, nullptr);
  for (const TagSymbol& s : symbols_) {
    const WordId id = s.word.empty() ? UNKNOWN : lexical_.add(s.word);
    is_lexical_.resize(lexical_.size(), 0);
    symbol_of_.resize(lexical_.size() * num_tags_, nullptr);
    if (!s.word.empty()) is_lexical_[id] = 1;
    // The symbols of all other words have the row of <unk>: as a word, that one has none.
    if (id == UNKNOWN && !s.word.empty()) misfit("<unk> has a symbol of its own");
    const TagSymbol*& place = symbol_of_[id * num_tags_ + s.tag];
    if (place != nullptr) misfit("a symbol is given twice");
    place = &s;
  }
}

WordId TagChannel::find(std::string_view word) const {
  const WordId id = words_.find(word);
  return id == NO_WORD || id >= is_seen_.size() || !is_seen_[id] ? NO_WORD : id;
}

void TagChannel::guess(std::string_view word, bool is_first, Scratch& scratch) const {
  scratch.log_probs.resize(num_tags_);
  guesser_.guess(word, is_first, scratch.log_probs);
}

// The slot of a word from ln p(t | w) in `scratch.log_probs`.
void TagChannel::fill_slot(std::string_view word, double log_word, Scratch& scratch) const {
  const WordId own = lexical_.find(to_lower(word));
  const WordId row = own != NO_WORD && is_lexical_[own] ? own : UNKNOWN;
  const TagSymbol* const* symbols = symbol_of_.data() + row * num_tags_;
  double best = LOG_ZERO;
  for (std::size_t t = 0; t < num_tags_; ++t) {
    if (symbols[t] != nullptr) best = std::max(best, scratch.log_probs[t]);
  }
  scratch.slot.clear();
  for (std::size_t t = 0; t < num_tags_; ++t) {
    const double log_prob = scratch.log_probs[t];
    if (symbols[t] == nullptr || log_prob == LOG_ZERO || log_prob < best + log_floor_) continue;
    scratch.slot.emplace_back(symbols[t]->id, log_prob - symbols[t]->log_prior + log_word);
  }
  if (scratch.slot.empty()) {
    // The guess rules out all that the word can be: then it says nothing.
    for (std::size_t t = 0; t < num_tags_; ++t) {
      if (symbols[t] != nullptr) scratch.slot.emplace_back(symbols[t]->id, log_word);
    }
  }
  std::sort(scratch.slot.begin(), scratch.slot.end());
}

TagChannel::Row TagChannel::add_row(std::string_view word, double log_word, Scratch& scratch) {
  fill_slot(word, log_word, scratch);
  Row row{slot_words_.size(), 0};
  for (const auto& [id, log_weight] : scratch.slot) {
    slot_words_.push_back(id);
    slot_weights_.push_back(log_weight);
  }
  row.end = slot_words_.size();
  return row;
}

WordId TagChannel::add_name(const std::string& word) {
  const WordId id = words_.add(word);
  is_seen_.resize(words_.size(), 0);
  row_.resize(words_.size());
  first_row_.resize(words_.size());
  if (is_seen_[id]) misfit("'" + word + "' is listed twice");
  is_seen_[id] = 1;
  return id;
}

void TagChannel::add_word(const WordTagCounts& lexicon, std::size_t i, Scratch& scratch) {
  const std::string& word = lexicon.words[i];
  const WordId id = add_name(word);
  double total = 0.0;
  for (std::uint64_t k = lexicon.begin[i]; k < lexicon.begin[i + 1]; ++k) total += lexicon.counts[k];
  if (total == 0.0) misfit("'" + word + "' has no tag");
  const double m = options_.guess_weight;
  std::vector<double> seen(num_tags_, 0.0);
  for (std::uint64_t k = lexicon.begin[i]; k < lexicon.begin[i + 1]; ++k) seen[lexicon.tags[k]] += lexicon.counts[k];
  const auto make_row = [&](bool is_first) {
    if (m > 0.0) guess(word, is_first, scratch);
    for (std::size_t t = 0; t < num_tags_; ++t) {
      double& p = scratch.log_probs[t];
      const bool open = m > 0.0 && !(options_.seen_tags_only && seen[t] == 0.0);
      p = std::log((seen[t] + (open ? m * std::exp(p) : 0.0)) / (total + m));
    }
    return add_row(word, std::log(total) - log_tokens_, scratch);
  };
  row_[id] = make_row(false);
  first_row_[id] = m > 0.0 && begins_upper(word) ? make_row(true) : row_[id];
}

void TagChannel::add_slot(std::string_view word, bool is_first, Scratch& scratch, Reading& reading) const {
  const WordId id = find(word);
  if (id != NO_WORD) {
    const Row row = is_first ? first_row_[id] : row_[id];
    const auto append = [&](auto& to, const auto& from) {
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(row.begin),
                from.begin() + static_cast<std::ptrdiff_t>(row.end));
    };
    append(reading.words, slot_words_);
    append(reading.log_weights, slot_weights_);
  } else {
    guess(word, is_first, scratch);
    fill_slot(word, -log_tokens_, scratch);
    for (const auto& [tag, log_weight] : scratch.slot) reading.add(tag, log_weight);
  }
  reading.close_slot();
}

Reading TagChannel::read_text(std::string_view line) const {
  Reading reading;
  Scratch scratch;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    add_slot(word, reading.length() == 0, scratch, reading);
  }
  return reading;
}

Reading TagChannel::read_words(std::span<const std::string_view> words) const {
  Reading reading;
  Scratch scratch;
  reading.begin.reserve(words.size() + 1);
  reading.words.reserve(2 * words.size());
  reading.log_weights.reserve(2 * words.size());
  for (const std::string_view word : words) add_slot(word, reading.length() == 0, scratch, reading);
  return reading;
}

std::vector<std::uint8_t> TagChannel::known_words(std::string_view text) const {
  std::vector<std::uint8_t> result;
  for (std::string_view line : split_lines(text)) {
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      result.push_back(find(word) != NO_WORD);
    }
  }
  return result;
}

}  // namespace hiddenite::channel
