// Which tag a word that was never seen may have: ln p(tag | what it looks like).
//
// Three models; of those that are trained on tagged text the second is the better one:
//
//   SuffixGuesser     TnT's (Brants 2000, section 2.3): the distribution of the
//                     longest listed ending, interpolated down to no ending at
//                     all; a table per class of words. The table is computed
//                     outside, where its formulas fit on a page.
//   LogLinearGuesser  p(t | w) = exp(sum of weight[f][t] over features f of w) / Z:
//                     word_features.hpp. Trained on the rare words of a text by
//                     stochastic gradients with steps per weight (AdaGrad), an
//                     epoch costing features x tags per word.
//   SpellingGuesser   ln p(word | tag), not p(tag | word): each tag spells words
//                     by character bigrams of its own, of an induced tagger. A
//                     channel that takes it adds neither p(word) nor 1 / p(tag).
//
// All are immutable once made and shared by threads.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hiddenite/channel/context/key_table.hpp"
#include "hiddenite/lm/vocabulary.hpp"

namespace hiddenite::channel {

class Guesser {
 public:
  virtual ~Guesser() = default;
  std::size_t num_tags() const { return num_tags_; }
  // Writes ln p(t | word) for every tag t; -inf is allowed. `word` is UTF-8.
  virtual void guess(std::string_view word, bool is_first, std::span<double> log_probs) const = 0;

 protected:
  explicit Guesser(std::size_t num_tags) : num_tags_(num_tags) {}
  std::size_t num_tags_;
};

class SuffixGuesser final : public Guesser {
 public:
  // Row i of log_probs (num_tags columns) belongs to suffixes[i], which begins
  // with the character of its class (CLASSES, or CAPITALS). The empty ending of
  // a class may be missing: then `prior` is taken. Throws ModelError for sizes
  // that do not fit.
  enum class Classes { CAPITALS, SHAPES };  // A or a by the first letter; all of word_class
  SuffixGuesser(std::size_t num_tags, const std::vector<std::string>& suffixes, std::vector<double> log_probs,
                std::vector<double> prior, std::size_t max_length, Classes classes);
  void guess(std::string_view word, bool is_first, std::span<double> log_probs) const override;

  static char class_of(std::string_view word, bool is_first, Classes classes);

 private:
  Vocabulary suffixes_;  // id - NUM_SPECIAL_WORDS is the row
  std::vector<double> log_probs_;
  std::vector<double> prior_;
  std::size_t max_length_;
  Classes classes_;
};

struct LogLinearOptions {
  int epochs = 30;
  double rate = 0.3;       // the first step of a weight
  double penalty = 1.0;    // of half the sum of squared weights
  std::uint64_t min_count = 2;  // words a feature must occur in
  std::uint64_t seed = 1;  // of the order of the examples
};

// A word and how often it had each of some tags.
struct TagCounts {
  std::string word;
  bool is_first;
  std::vector<std::pair<std::uint32_t, double>> counts;  // tag, count
};

class LogLinearGuesser final : public Guesser {
 public:
  LogLinearGuesser(std::size_t num_tags, std::vector<std::string> features, std::vector<float> weights);
  static LogLinearGuesser train(std::size_t num_tags, const std::vector<TagCounts>& examples,
                                const LogLinearOptions& options);
  void guess(std::string_view word, bool is_first, std::span<double> log_probs) const override;

  std::vector<std::string> features() const;
  const std::vector<float>& weights() const { return weights_; }

 private:
  explicit LogLinearGuesser(std::size_t num_tags) : Guesser(num_tags) {}
  void index_features();
  Vocabulary features_;         // id - NUM_SPECIAL_WORDS is the row
  KeyTable row_of_;             // of a feature's hash
  std::vector<float> weights_;  // [row][tag]
};

// How tags spell. With A characters; all tables have a column per tag t:
//
//   p(word | t) = start[t]  prod over i of p_t(c_i | c_(i-1))  p_t(END | c_n),   c_0 = BEGIN
//   p_t(c' | c) = excess[c, c'][t] + back_off[c][t] * lower[c'][t]
//
// The back-off form of a Pitman-Yor bigram model: `excess` is listed for the
// pairs that were seen. Rows of `lower`: the characters, END, any other one. Rows
// of `back_off`: the characters, BEGIN, any other one.
struct SpellingTables {
  std::vector<std::string> characters;                        // UTF-8, one each
  std::vector<double> start;                                  // [tag]
  std::vector<double> lower, back_off;                        // [A + 2][tag]
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // before (A: BEGIN), after (A: END)
  std::vector<double> excess;                                 // [pair][tag]
};

class SpellingGuesser final : public Guesser {
 public:
  // Throws ModelError for sizes, numbers or characters that do not fit.
  explicit SpellingGuesser(SpellingTables tables);
  void guess(std::string_view word, bool is_first, std::span<double> log_probs) const override;

 private:
  void check() const;
  void step(std::uint32_t before, std::uint32_t after, std::span<double> log_probs) const;

  SpellingTables tables_;
  std::unordered_map<char32_t, std::uint32_t> number_of_;
  std::unordered_map<std::uint64_t, std::size_t> row_of_;  // before << 32 | after
};

}  // namespace hiddenite::channel
