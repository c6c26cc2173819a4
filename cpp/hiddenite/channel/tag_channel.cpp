#include "hiddenite/channel/tag_channel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/channel/word_features.hpp"

namespace hiddenite::channel {

namespace {

constexpr double LEAST_LOG_PROB = -700.0;  // of a tag that the dictionary lists and nothing else knows of

bool begins_upper(std::string_view word) { return is_upper(next_character(word)); }

[[noreturn]] void misfit(const std::string& what) {
  throw ModelError("the tagger's tables do not fit together: " + what);
}

}  // namespace

TagChannel::TagChannel(const NgramTable& table, const WordTagCounts& lexicon, const Guesser& guesser,
                       const TagChannelOptions& options, const ContextEmissions* context, const AllowedTags& allowed)
    : guesser_(guesser), context_(context), options_(options), log_floor_(std::log(options.floor)),
      num_tags_(guesser.num_tags()) {
  check(table, lexicon);
  if (context_ != nullptr) {
    if (context_->parts().num_tags() != num_tags_) misfit("the number of tags of the context weights");
    ContextEmissions::Scratch context_scratch;
    for (const Role role : NEIGHBOURS) {
      std::vector<float>& scores = outside_[static_cast<std::size_t>(role)];
      scores.assign(context_->parts().num_parts(), 0.0f);
      context_->add("", {&role, 1}, scores, context_scratch);
    }
  }
  if (!allowed.words.empty()) {
    for (const std::uint32_t t : allowed.tags) {
      if (t >= num_tags_) misfit("a tag of the dictionary is out of range");
    }
    allowed_ = std::make_unique<WordAttributes>(allowed.words, allowed.begin, allowed.tags);
  }
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

// Rules out what the dictionary does not list for the word.
void TagChannel::forbid(std::string_view word, Scratch& scratch) const {
  const std::span<const std::uint32_t> tags = allowed_->of(word);
  if (tags.empty()) return;
  std::vector<double> kept(num_tags_, LOG_ZERO);
  for (const std::uint32_t t : tags) kept[t] = std::max(scratch.log_probs[t], LEAST_LOG_PROB);
  scratch.log_probs.swap(kept);
}

// The row of symbol_of_ that a word has.
WordId TagChannel::symbol_row(std::string_view word) const {
  if (lexical_.size() == NUM_SPECIAL_WORDS) return UNKNOWN;
  const WordId own = lexical_.find(to_lower(word));
  return own != NO_WORD && is_lexical_[own] ? own : UNKNOWN;
}

// The slot of a word from ln p(t | w) in `scratch.log_probs`.
void TagChannel::fill_slot(std::string_view word, WordId symbols_row, double log_word, Scratch& scratch) const {
  if (allowed_ != nullptr) forbid(word, scratch);
  const TagSymbol* const* symbols = symbol_of_.data() + symbols_row * num_tags_;
  const double prior_weight = context_ == nullptr ? 1.0 : context_->prior_weight();
  double best = LOG_ZERO;
  for (std::size_t t = 0; t < num_tags_; ++t) {
    if (symbols[t] != nullptr) best = std::max(best, scratch.log_probs[t]);
  }
  scratch.slot.clear();
  for (std::size_t t = 0; t < num_tags_; ++t) {
    const double log_prob = scratch.log_probs[t];
    if (symbols[t] == nullptr || log_prob == LOG_ZERO || log_prob < best + log_floor_) continue;
    scratch.slot.emplace_back(symbols[t]->id, log_prob - prior_weight * symbols[t]->log_prior + log_word);
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
  fill_slot(word, symbol_row(word), log_word, scratch);
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
  row_of_symbols_.resize(words_.size(), UNKNOWN);
  row_.resize(words_.size());
  first_row_.resize(words_.size());
  if (is_seen_[id]) misfit("'" + word + "' is listed twice");
  is_seen_[id] = 1;
  row_of_symbols_[id] = symbol_row(word);
  return id;
}

// ln p(t | w) of a word that was seen.
void TagChannel::estimate(const WordTagCounts& lexicon, std::size_t i, bool is_first, Scratch& scratch) const {
  const double m = options_.guess_weight;
  std::vector<double> seen(num_tags_, 0.0);
  double total = 0.0;
  for (std::uint64_t k = lexicon.begin[i]; k < lexicon.begin[i + 1]; ++k) {
    seen[lexicon.tags[k]] += lexicon.counts[k];
    total += lexicon.counts[k];
  }
  if (total == 0.0) misfit("'" + lexicon.words[i] + "' has no tag");
  if (m > 0.0) guess(lexicon.words[i], is_first, scratch);
  for (std::size_t t = 0; t < num_tags_; ++t) {
    double& p = scratch.log_probs[t];
    const bool open = m > 0.0 && !(options_.seen_tags_only && seen[t] == 0.0);
    p = std::log((seen[t] + (open ? m * std::exp(p) : 0.0)) / (total + m));
  }
}

void TagChannel::add_word(const WordTagCounts& lexicon, std::size_t i, Scratch& scratch) {
  const std::string& word = lexicon.words[i];
  const WordId id = add_name(word);
  if (context_ != nullptr) {
    add_context_rows(lexicon, i, scratch);
    return;
  }
  double total = 0.0;
  for (std::uint64_t k = lexicon.begin[i]; k < lexicon.begin[i + 1]; ++k) total += lexicon.counts[k];
  const auto make_row = [&](bool is_first) {
    estimate(lexicon, i, is_first, scratch);
    return add_row(word, std::log(total) - log_tokens_, scratch);
  };
  row_[id] = make_row(false);
  first_row_[id] = options_.guess_weight > 0.0 && begins_upper(word) ? make_row(true) : row_[id];
}

// ---------------------------------------------------------------- context

namespace {

constexpr std::size_t MAX_ROLE_PARTS = 128;  // with more, what a word adds is computed anew each time
constexpr double LEAST_LOG_BASE = -30.0;
// The rows of `new_scores`, and the row of each role.
constexpr std::array<Role, 5> NEW_ROLES = {Role::OWN, Role::BEFORE, Role::AFTER, Role::BEFORE_2, Role::AFTER_2};
constexpr std::array<std::size_t, NUM_ROLES> NEW_ROW = {0, 0, 1, 2, 3, 4};

}  // namespace

void TagChannel::add_context_rows(const WordTagCounts& lexicon, std::size_t i, Scratch& scratch) {
  const std::string& word = lexicon.words[i];
  const WordId id = find(word);
  seen_begin_.resize(words_.size(), 0);
  seen_end_.resize(words_.size(), 0);
  seen_begin_[id] = seen_.size();
  for (std::uint64_t k = lexicon.begin[i]; k < lexicon.begin[i + 1]; ++k) {
    seen_.emplace_back(lexicon.tags[k], lexicon.counts[k]);
  }
  seen_end_[id] = seen_.size();
  if (seen_begin_[id] == seen_end_[id]) misfit("'" + word + "' has no tag");
  const std::size_t num_parts = context_->parts().num_parts();
  if (num_parts > MAX_ROLE_PARTS) return;
  for (std::size_t r = 0; r < NUM_ROLES; ++r) {
    const Role role = static_cast<Role>(r);
    role_scores_[r].resize(words_.size() * num_parts, 0.0f);
    const std::span<float> scores(role_scores_[r].data() + id * num_parts, num_parts);
    const bool is_own = role == Role::OWN || role == Role::FIRST;
    if (is_own && context_->parts().is_trivial()) add_base(word, id, role == Role::FIRST, scores, scratch);
    const Role own = Role::OWN;
    if (role == Role::FIRST) context_->add(word, {&own, 1}, scores, scratch.context);
    context_->add(word, {&role, 1}, scores, scratch.context);
  }
}

// kappa ln p(t | w), added to the scores of tags.
void TagChannel::add_base(std::string_view word, WordId id, bool is_first, std::span<float> scores,
                          Scratch& scratch) const {
  const double kappa = context_->base_weight(), m = id == NO_WORD ? 1.0 : options_.guess_weight;
  double total = id == NO_WORD ? 0.0 : m;
  const auto seen = id == NO_WORD ? std::span<const std::pair<std::uint32_t, double>>()
                                  : std::span(seen_).subspan(seen_begin_[id], seen_end_[id] - seen_begin_[id]);
  for (const auto& [tag, count] : seen) total += count;
  guess(word, is_first, scratch);
  const double scale = id == NO_WORD ? 0.0 : std::log(m / total);
  const bool is_closed = id != NO_WORD && options_.seen_tags_only;
  std::vector<float>& base = scratch.work;
  base.resize(num_tags_);
  for (std::size_t t = 0; t < num_tags_; ++t) {
    const double log_prob = std::max(scratch.log_probs[t] + scale, LEAST_LOG_BASE);
    base[t] = static_cast<float>(is_closed ? LOG_ZERO : kappa * log_prob);
  }
  for (const auto& [tag, count] : seen) {
    const double prob = (count + m * std::exp(scratch.log_probs[tag])) / total;
    base[tag] = static_cast<float>(kappa * std::max(std::log(prob), LEAST_LOG_BASE));
  }
  for (std::size_t t = 0; t < num_tags_; ++t) scores[t] += base[t];
}

// What a word of the sentence that is in no table adds to itself and, in its other roles, to the words around it:
// rows OWN, BEFORE, AFTER, BEFORE_2, AFTER_2 of `new_scores`, those that are needed.
void TagChannel::add_new_scores(std::span<const std::string_view> words, std::size_t i, Scratch& scratch) const {
  const std::size_t size = context_->parts().num_parts(), begin = scratch.new_scores.size();
  scratch.new_begin[i] = begin;
  scratch.new_scores.resize(begin + NEW_ROLES.size() * size, 0.0f);
  const std::span<float> scores = std::span(scratch.new_scores).subspan(begin);
  const bool is_first = i == 0;
  const bool is_alone = words.size() == 1;
  if (context_->parts().is_trivial()) {
    add_base(words[i], scratch.ids[i], is_first, scores.first(size), scratch);
  }
  context_->add(words[i], is_alone ? std::span(NEW_ROLES).first(1) : std::span(NEW_ROLES), scores, scratch.context);
  if (!is_first) return;
  const Role first = Role::FIRST;
  context_->add(words[i], {&first, 1}, scores, scratch.context);
}

const float* TagChannel::scores_of(std::size_t position, Role role, const Scratch& scratch) const {
  const std::size_t size = context_->parts().num_parts();
  const WordId id = scratch.ids[position];
  const std::vector<float>& known = role_scores_[static_cast<std::size_t>(role)];
  if (id != NO_WORD && !known.empty()) return known.data() + id * size;
  const std::size_t row = NEW_ROW[static_cast<std::size_t>(role)];
  return scratch.new_scores.data() + scratch.new_begin[position] + row * size;
}

void TagChannel::add_context_slots(std::span<const std::string_view> words, Scratch& scratch,
                                   Reading& reading) const {
  const TagParts& parts = context_->parts();
  const std::size_t num_parts = parts.num_parts();
  scratch.ids.clear();
  for (const std::string_view word : words) scratch.ids.push_back(find(word));
  scratch.new_scores.clear();
  scratch.new_begin.assign(words.size(), 0);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (scratch.ids[i] == NO_WORD || role_scores_[0].empty()) add_new_scores(words, i, scratch);
  }
  const auto size = static_cast<std::ptrdiff_t>(words.size());
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    const auto here = static_cast<std::size_t>(i);
    const float* own = scores_of(here, i == 0 ? Role::FIRST : Role::OWN, scratch);
    scratch.scores.assign(own, own + num_parts);
    for (std::size_t k = 0; k < NEIGHBOURS.size(); ++k) {
      const std::ptrdiff_t other = i + NEIGHBOUR_DISTANCE[k];
      const float* const added = other >= 0 && other < size
                                     ? scores_of(static_cast<std::size_t>(other), NEIGHBOURS[k], scratch)
                                     : outside_[static_cast<std::size_t>(NEIGHBOURS[k])].data();
      for (std::size_t t = 0; t < num_parts; ++t) scratch.scores[t] += added[t];
    }
    const WordId id = scratch.ids[here];
    if (!parts.is_trivial()) {
      scratch.tag_scores.assign(num_tags_, 0.0f);
      add_base(words[here], id, i == 0, scratch.tag_scores, scratch);
      parts.add_to_tags(scratch.scores, scratch.tag_scores, scratch.work);
      scratch.scores.swap(scratch.tag_scores);
    }
    scratch.log_probs.assign(scratch.scores.begin(), scratch.scores.end());
    fill_slot(words[here], id == NO_WORD ? symbol_row(words[here]) : row_of_symbols_[id], 0.0, scratch);
    for (const auto& [tag, log_weight] : scratch.slot) reading.add(tag, log_weight);
    reading.close_slot();
  }
}

// ------------------------------------------------------------------- read

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
    fill_slot(word, symbol_row(word), -log_tokens_, scratch);
    for (const auto& [tag, log_weight] : scratch.slot) reading.add(tag, log_weight);
  }
  reading.close_slot();
}

Reading TagChannel::read_text(std::string_view line) const {
  std::vector<std::string_view> words;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) words.push_back(word);
  return read_words(words);
}

Reading TagChannel::read_words(std::span<const std::string_view> words) const {
  Reading reading;
  Scratch scratch;
  reading.begin.reserve(words.size() + 1);
  reading.words.reserve(2 * words.size());
  reading.log_weights.reserve(2 * words.size());
  if (context_ != nullptr) {
    add_context_slots(words, scratch, reading);
    return reading;
  }
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
