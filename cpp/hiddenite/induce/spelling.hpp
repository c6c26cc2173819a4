// How a tag spells its words: a model of character bigrams per tag.
//
//   p_t(word) = prod_i p_t(c_i | c_{i-1}),  from BEGIN to END,
//   hierarchical: p_t(. | c) ~ PYP(a1, b1, p_t(.)),  p_t(.) ~ PYP(a0, b0, uniform);
//   Dirichlet:    p_t(. | c) ~ PYP(0, b1, uniform), which is a Dirichlet prior of weight b1.
// Only the bigrams that occur in a word are kept, each with a row over the tags, so
// that `spell` gives a word's probability under all tags at once. It leaves out that
// a word's own bigrams change the counts while it is spelled; `seat` does not, and
// returns the probability of what it drew.
//
// A trail is a stack of bytes that says which tables were opened (see
// state.hpp); the last byte pushed is the first to be undone or replayed.
#pragma once

#include <span>

#include "hiddenite/base/log_weight.hpp"
#include "hiddenite/induce/transitions.hpp"

namespace hiddenite::induce {

enum class SpellingKind { NONE, HIERARCHICAL, DIRICHLET };

// Character ids below num_characters of each type, by type.
struct Spellings {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> characters;
  std::int32_t num_characters = 0;
};

class TagSpelling {
 public:
  TagSpelling(unsigned num_tags, const Spellings& spellings, SpellingKind kind);

  // log_prob[t] ~ ln p_t(word) for all tags.
  void spell(std::uint32_t word, double* log_prob) const;
  double spell(std::uint32_t word, Tag tag) const;  // the same number, of one tag

  double seat(std::uint32_t word, Tag tag, Random& random, Trail& trail);  // ln of the probability
  double replay(std::uint32_t word, Tag tag, Trail& trail);
  double unseat(std::uint32_t word, Tag tag, Random& random, Trail& trail);  // ... that seating it again would have
  void redo(std::uint32_t word, Tag tag, Trail& trail);  // replay, not weighed
  void undo(std::uint32_t word, Tag tag, Trail& trail);

  SpellingKind kind() const { return kind_; }
  unsigned num_levels() const { return kind_ == SpellingKind::HIERARCHICAL ? 2 : 1; }
  PitmanYor& process(unsigned level) { return level == 1 ? bigram_ : unigram_; }
  void set_process(unsigned level, double discount, double strength);
  SeatingSummary summary(unsigned level) const;
  double log_base() const;  // ln of the uniform base of all tables of the lowest level

  // [row * num_tags + tag]; rows are bigrams (level 1) or characters (level 0).
  const std::vector<Seats>& counts(unsigned level) const { return level == 1 ? bigrams_ : unigrams_; }
  void restore(std::span<const Seats> bigrams, std::span<const Seats> unigrams);
  std::span<const std::int32_t> previous() const { return previous_; }  // of each bigram
  std::span<const std::int32_t> next() const { return next_; }
  void check() const;

 private:
  std::span<const std::uint32_t> bigrams_of(std::uint32_t word) const {
    return {word_bigrams_.data() + word_begin_[word], word_bigrams_.data() + word_begin_[word + 1]};
  }
  struct Values {
    double p, joined, p0, joined0;
  };
  Values values(std::uint32_t bigram, Tag tag) const;
  void change(std::uint32_t bigram, Tag tag, int customers, int tables);
  void change_unigram(std::int32_t character, Tag tag, int customers, int tables);
  void apply(std::uint32_t bigram, Tag tag, std::uint8_t opened, int sign);
  void write_all();

  unsigned num_tags_;
  SpellingKind kind_;
  double uniform_;
  PitmanYor bigram_{0.5, 1.0}, unigram_{0.5, 1.0};
  std::vector<std::int64_t> word_begin_;
  std::vector<std::uint32_t> word_bigrams_;
  std::vector<std::int32_t> previous_, next_;
  std::vector<Seats> bigrams_, contexts_, unigrams_, totals_;  // rows over tags
  std::vector<float> seen1_, share1_, rest1_, seen0_, share0_, rest0_;
};

}  // namespace hiddenite::induce
