#include "guesser.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "characters.hpp"
#include "error.hpp"
#include "random.hpp"
#include "word_features.hpp"

namespace hiddenite {

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
}

std::vector<std::string> LogLinearGuesser::features() const {
  std::vector<std::string> result;
  for (WordId id = NUM_SPECIAL_WORDS; id < features_.size(); ++id) result.emplace_back(features_.word(id));
  return result;
}

void LogLinearGuesser::guess(std::string_view word, bool is_first, std::span<double> log_probs) const {
  std::fill(log_probs.begin(), log_probs.end(), 0.0);
  for_each_feature(word, is_first, [&](std::string_view feature) {
    const WordId id = features_.find(feature);
    if (id == NO_WORD || id < NUM_SPECIAL_WORDS) return;
    const float* row = weights_.data() + (id - NUM_SPECIAL_WORDS) * num_tags_;
    for (std::size_t t = 0; t < num_tags_; ++t) log_probs[t] += static_cast<double>(row[t]);
  });
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
  return result;
}

}  // namespace hiddenite
