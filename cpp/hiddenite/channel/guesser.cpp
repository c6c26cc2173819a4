#include "hiddenite/channel/guesser.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/random.hpp"
#include "hiddenite/channel/word_features.hpp"

namespace hiddenite::channel {

namespace {

void check_size(std::size_t found, std::size_t expected, const std::string& what) {
  if (found == expected) return;
  throw ModelError(what + " has " + std::to_string(found) + " numbers, expected " + std::to_string(expected));
}

Vocabulary numbered(const std::vector<std::string>& names) {
  Vocabulary result;
  for (const std::string& name : names) {
    const WordId before = result.size();
    if (result.add(name) < before) throw ModelError("found '" + name + "' twice in a table of the guesser");
  }
  return result;
}

// Turns scores into ln of the distribution that is proportional to their exponentials.
void normalise(std::span<double> scores) {
  const double most = *std::max_element(scores.begin(), scores.end());
  double total = 0.0;
  for (const double s : scores) total += std::exp(s - most);
  const double log_total = most + std::log(total);
  for (double& s : scores) s -= log_total;
}

}  // namespace

// --------------------------------------------------------------- suffixes

SuffixGuesser::SuffixGuesser(std::size_t num_tags, const std::vector<std::string>& suffixes,
                             std::vector<double> log_probs, std::vector<double> prior, std::size_t max_length,
                             Classes classes)
    : Guesser(num_tags), suffixes_(numbered(suffixes)), log_probs_(std::move(log_probs)),
      prior_(std::move(prior)), max_length_(max_length), classes_(classes) {
  check_size(prior_.size(), num_tags, "the tags' distribution");
  check_size(log_probs_.size(), suffixes.size() * num_tags, "the table of suffixes");
}

char SuffixGuesser::class_of(std::string_view word, bool is_first, Classes classes) {
  const std::u32string characters = to_characters(word);
  if (classes == Classes::SHAPES) return word_class(characters, is_first);
  return is_upper(characters[0]) ? 'A' : 'a';
}

void SuffixGuesser::guess(std::string_view word, bool is_first, std::span<double> log_probs) const {
  const char of_class = class_of(word, is_first, classes_);
  std::vector<std::size_t> begin;  // of the word's endings, the longest first
  for (std::string_view rest = word; !rest.empty(); next_character(rest)) begin.push_back(word.size() - rest.size());
  begin.push_back(word.size());
  const std::size_t skipped = begin.size() - 1 - std::min(begin.size() - 1, max_length_);
  std::string key;
  for (std::size_t i = skipped; i < begin.size(); ++i) {
    key.assign(1, of_class).append(word.substr(begin[i]));
    const WordId id = suffixes_.find(key);
    if (id == NO_WORD || id < NUM_SPECIAL_WORDS) continue;
    const auto row = log_probs_.begin() + static_cast<std::ptrdiff_t>((id - NUM_SPECIAL_WORDS) * num_tags_);
    std::copy_n(row, num_tags_, log_probs.begin());
    return;
  }
  std::copy(prior_.begin(), prior_.end(), log_probs.begin());
}

// ------------------------------------------------------------- log-linear

LogLinearGuesser::LogLinearGuesser(std::size_t num_tags, std::vector<std::string> features,
                                   std::vector<float> weights)
    : Guesser(num_tags), features_(numbered(features)), weights_(std::move(weights)) {
  check_size(weights_.size(), features.size() * num_tags, "the table of features");
  index_features();
}

void LogLinearGuesser::index_features() {
  row_of_ = KeyTable(features_.size());
  for (WordId id = NUM_SPECIAL_WORDS; id < features_.size(); ++id) {
    row_of_.insert(hash_bytes(features_.word(id)), id - NUM_SPECIAL_WORDS);
  }
}

std::vector<std::string> LogLinearGuesser::features() const {
  std::vector<std::string> result;
  for (WordId id = NUM_SPECIAL_WORDS; id < features_.size(); ++id) result.emplace_back(features_.word(id));
  return result;
}

void LogLinearGuesser::guess(std::string_view word, bool is_first, std::span<double> log_probs) const {
  std::array<std::uint64_t, MAX_FEATURES> keys;
  std::array<std::uint32_t, MAX_FEATURES> rows;
  std::size_t size = 0;
  // In rounds, as in ContextEmissions::add.
  for_each_feature(word, is_first, [&](std::string_view feature) {
    keys[size] = hash_bytes(feature);
    row_of_.fetch(keys[size++]);
  });
  for (std::size_t i = 0; i < size; ++i) {
    rows[i] = row_of_.find(keys[i]);
    if (rows[i] != KeyTable::NONE) prefetch(weights_.data() + rows[i] * num_tags_);
  }
  std::fill(log_probs.begin(), log_probs.end(), 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    if (rows[i] == KeyTable::NONE) continue;
    const float* row = weights_.data() + rows[i] * num_tags_;
    for (std::size_t t = 0; t < num_tags_; ++t) log_probs[t] += static_cast<double>(row[t]);
  }
  normalise(log_probs);
}

namespace {

// The examples as rows of feature numbers, and how many rows each feature is in.
struct FeatureRows {
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<double> num_rows;
};

FeatureRows number_features(const std::vector<TagCounts>& examples, std::uint64_t min_count, Vocabulary& kept) {
  Vocabulary all;
  std::vector<std::uint64_t> counts;
  for (const TagCounts& example : examples) {
    for_each_feature(example.word, example.is_first, [&](std::string_view feature) {
      const WordId id = all.add(feature);
      if (id >= counts.size()) counts.resize(id + 1, 0);
      ++counts[id];
    });
  }
  FeatureRows result;
  for (WordId id = NUM_SPECIAL_WORDS; id < all.size(); ++id) {
    if (counts[id] < min_count) continue;
    kept.add(all.word(id));
    result.num_rows.push_back(static_cast<double>(counts[id]));
  }
  for (const TagCounts& example : examples) {
    std::vector<std::uint32_t>& row = result.rows.emplace_back();
    for_each_feature(example.word, example.is_first, [&](std::string_view feature) {
      const WordId id = kept.find(feature);
      if (id != NO_WORD && id >= NUM_SPECIAL_WORDS) row.push_back(id - NUM_SPECIAL_WORDS);
    });
  }
  return result;
}

void shuffle(std::vector<std::uint32_t>& order, Random& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
}

}  // namespace

LogLinearGuesser LogLinearGuesser::train(std::size_t num_tags, const std::vector<TagCounts>& examples,
                                         const LogLinearOptions& options) {
  LogLinearGuesser result(num_tags);
  const FeatureRows features = number_features(examples, options.min_count, result.features_);
  std::vector<float>& weights = result.weights_;
  weights.assign(features.num_rows.size() * num_tags, 0.0f);
  std::vector<float> squares(weights.size(), 1.0f);  // of the gradients so far: a first step of `rate`
  std::vector<std::uint32_t> order(examples.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(options.seed);
  std::vector<double> gradient(num_tags);
  const auto rate = static_cast<float>(options.rate);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    shuffle(order, random);
    for (const std::uint32_t i : order) {
      // total * p(t | word) - count(t), the gradient of the loss by each active weight
      std::fill(gradient.begin(), gradient.end(), 0.0);
      for (const std::uint32_t f : features.rows[i]) {
        const float* row = weights.data() + f * num_tags;
        for (std::size_t t = 0; t < num_tags; ++t) gradient[t] += static_cast<double>(row[t]);
      }
      normalise(gradient);
      double total = 0.0;
      for (const auto& [tag, count] : examples[i].counts) total += count;
      for (double& g : gradient) g = total * std::exp(g);
      for (const auto& [tag, count] : examples[i].counts) gradient[tag] -= count;
      for (const std::uint32_t f : features.rows[i]) {
        // The penalty is shared out among the rows of the feature, so that an epoch counts it once.
        const auto pull = static_cast<float>(options.penalty / features.num_rows[f]);
        float* row = weights.data() + f * num_tags;
        float* square = squares.data() + f * num_tags;
        for (std::size_t t = 0; t < num_tags; ++t) {
          const float g = static_cast<float>(gradient[t]) + pull * row[t];
          square[t] += g * g;
          row[t] -= rate * g / std::sqrt(square[t]);
        }
      }
    }
  }
  result.index_features();
  return result;
}

// --------------------------------------------------------------- spelling

namespace {

std::uint64_t pair_key(std::uint32_t before, std::uint32_t after) {
  return static_cast<std::uint64_t>(before) << 32 | after;
}

void check_probs(const std::vector<double>& values, const std::string& what) {
  for (const double x : values) {
    if (!(x >= 0.0) || !std::isfinite(x)) throw ModelError(what + " holds a number that is no probability");
  }
}

}  // namespace

SpellingGuesser::SpellingGuesser(SpellingTables tables) : Guesser(tables.start.size()), tables_(std::move(tables)) {
  check();
  for (const std::string& character : tables_.characters) {
    std::string_view rest = character;
    const char32_t c = rest.empty() ? U'\0' : next_character(rest);
    if (c == U'\0' || !rest.empty()) throw ModelError("the table of characters lists '" + character + "'");
    const auto number = static_cast<std::uint32_t>(number_of_.size());
    if (!number_of_.emplace(c, number).second) throw ModelError("found the character '" + character + "' twice");
  }
  for (std::size_t i = 0; i < tables_.pairs.size(); ++i) {
    const auto [before, after] = tables_.pairs[i];
    if (std::max(before, after) > number_of_.size()) throw ModelError("a pair of characters is out of range");
    if (!row_of_.emplace(pair_key(before, after), i).second) throw ModelError("a pair of characters is given twice");
  }
}

void SpellingGuesser::check() const {
  const std::size_t rows = tables_.characters.size() + 2;
  if (num_tags_ == 0) throw ModelError("the spelling tables are of no tag");
  check_size(tables_.lower.size(), rows * num_tags_, "the table of characters");
  check_size(tables_.back_off.size(), rows * num_tags_, "the table of back-off weights");
  check_size(tables_.excess.size(), tables_.pairs.size() * num_tags_, "the table of pairs of characters");
  check_probs(tables_.start, "the table of unseen words");
  check_probs(tables_.lower, "the table of characters");
  check_probs(tables_.back_off, "the table of back-off weights");
  check_probs(tables_.excess, "the table of pairs of characters");
}

void SpellingGuesser::step(std::uint32_t before, std::uint32_t after, std::span<double> log_probs) const {
  const double* back_off = tables_.back_off.data() + before * num_tags_;
  const double* lower = tables_.lower.data() + after * num_tags_;
  const auto row = row_of_.find(pair_key(before, after));
  const double* excess = row == row_of_.end() ? nullptr : tables_.excess.data() + row->second * num_tags_;
  for (std::size_t t = 0; t < num_tags_; ++t) {
    log_probs[t] += std::log((excess == nullptr ? 0.0 : excess[t]) + back_off[t] * lower[t]);
  }
}

void SpellingGuesser::guess(std::string_view word, bool, std::span<double> log_probs) const {
  for (std::size_t t = 0; t < num_tags_; ++t) log_probs[t] = std::log(tables_.start[t]);
  const auto end = static_cast<std::uint32_t>(tables_.characters.size());  // BEGIN too
  std::uint32_t before = end;
  for (std::string_view rest = word; !rest.empty();) {
    const auto found = number_of_.find(next_character(rest));
    const std::uint32_t after = found == number_of_.end() ? end + 1 : found->second;
    step(before, after, log_probs);
    before = after;
  }
  step(before, end, log_probs);
}

}  // namespace hiddenite::channel
