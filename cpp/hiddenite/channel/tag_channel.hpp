// The tagger's channel: from the words of a line to the tags that each may
// have, weighted by ln p(word | tag).
//
// With counts c, n tokens in all, and the guess g of guesser.hpp, by Bayes' rule
//
//   p(w | t) = p(t | w) p(w) / p(t)
//   p(t | w) = (c(w, t) + m g(t | w)) / (c(w) + m)        w seen
//            = g(t | w)                                   else, with p(w) = 1 / n
//
// where m, `guess_weight`, is how many observations the guess is worth. At m = 0
// this is c(w, t) / c(t), the maximum-likelihood emission, and TnT's rule for
// words that were never seen. Tags less probable than `floor` times the best one
// of the word are no candidates.
//
// The hidden symbols are tags or, for some frequent words, pairs of a tag and
// the word in lower case, so that transitions can depend on them: `symbols`. A
// word has each tag as one symbol only, so paths of symbols and of tags are the
// same thing, and p(t) above is that of the symbol.
//
// An induced tagger knows ln p(word | tag) itself: `WordEmissions` lists it for
// the words that were seen, the guesser gives it for the others, and nothing of
// the above is applied.
//
// With ContextEmissions the weight of a tag is kappa ln p(t | w), p as above, and
// what the words around add, less mu ln p(symbol): context_emissions.hpp. Then
// `floor` compares exp of these weights.
//
// The slots of all seen words are computed once; reading copies them. With
// context it is what each seen word adds in each role, unless the tags are many.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/channel/channel.hpp"
#include "hiddenite/channel/context/context_emissions.hpp"
#include "hiddenite/channel/guesser.hpp"
#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::channel {

struct TagSymbol {
  std::uint32_t tag;
  std::string word;   // in lower case; empty: of all words that have no symbol of their own
  WordId id;          // in the transition model
  double log_prior;   // ln p(symbol)
};

struct WordTagCounts {
  std::vector<std::string> words;
  std::vector<std::uint64_t> begin;  // word i has the tags begin[i] .. begin[i + 1]
  std::vector<std::uint32_t> tags;
  std::vector<std::uint32_t> counts;
  std::vector<TagSymbol> symbols;
};

struct WordEmissions {
  std::vector<std::string> words;
  std::vector<std::uint64_t> begin;  // word i has the tags begin[i] .. begin[i + 1], at least one
  std::vector<std::uint32_t> tags;
  std::vector<double> log_probs;     // ln p(word | tag)
  std::vector<WordId> symbols;       // [tag]: in the transition model
};

// Tags that words may have, and no others: a dictionary's.
struct AllowedTags {
  std::vector<std::string> words;    // looked up as they are, then in lower case
  std::vector<std::uint64_t> begin;  // word i has the tags begin[i] .. begin[i + 1], at least one
  std::vector<std::uint32_t> tags;
};

struct TagChannelOptions {
  double guess_weight = 0.0;  // m
  double floor = 0.0;
  bool seen_tags_only = false;  // a word that was seen has no other tags than it was seen with
};

class TagChannel final : public Channel {
 public:
  // Guesser and context, if any, stay the caller's. Throws ModelError for what does not fit together.
  TagChannel(const NgramTable& table, const WordTagCounts& lexicon, const Guesser& guesser,
             const TagChannelOptions& options, const ContextEmissions* context = nullptr,
             const AllowedTags& allowed = {});
  TagChannel(const NgramTable& table, const WordEmissions& emissions, const Guesser& guesser);

  // The slots of a sentence that is cut into words already: UTF-8, none empty.
  Reading read_words(std::span<const std::string_view> words) const;

  bool knows(std::string_view word) const { return find(word) != NO_WORD; }
  // For each word of a text, one sentence a line: whether it was seen in training.
  std::vector<std::uint8_t> known_words(std::string_view text) const;

 private:
  struct Row {
    std::uint64_t begin = 0, end = 0;
  };
  struct Scratch {
    std::vector<double> log_probs;
    std::vector<float> scores, tag_scores, work;
    std::vector<WordId> ids;
    std::vector<float> new_scores;       // as role_scores_, of the sentence's words that have none there
    std::vector<std::size_t> new_begin;  // [position]: where those of the word begin
    ContextEmissions::Scratch context;
    std::vector<std::pair<WordId, double>> slot;
  };

  Reading read_text(std::string_view line) const override;
  void add_slot(std::string_view word, bool is_first, Scratch& scratch, Reading& reading) const;
  WordId find(std::string_view word) const;
  void check(const NgramTable& table, const WordTagCounts& lexicon) const;
  void check(const NgramTable& table, const WordEmissions& emissions) const;
  void add_symbols(const std::vector<TagSymbol>& symbols);
  WordId add_name(const std::string& word);
  void add_word(const WordTagCounts& lexicon, std::size_t i, Scratch& scratch);
  void estimate(const WordTagCounts& lexicon, std::size_t i, bool is_first, Scratch& scratch) const;
  void add_context_rows(const WordTagCounts& lexicon, std::size_t i, Scratch& scratch);
  void add_new_scores(std::span<const std::string_view> words, std::size_t i, Scratch& scratch) const;
  const float* scores_of(std::size_t position, Role role, const Scratch& scratch) const;
  void add_base(std::string_view word, WordId id, bool is_first, std::span<float> scores, Scratch& scratch) const;
  void forbid(std::string_view word, Scratch& scratch) const;
  void add_context_slots(std::span<const std::string_view> words, Scratch& scratch, Reading& reading) const;
  Row add_row(std::string_view word, double log_word, Scratch& scratch);
  WordId symbol_row(std::string_view word) const;
  void fill_slot(std::string_view word, WordId symbols_row, double log_word, Scratch& scratch) const;
  void guess(std::string_view word, bool is_first, Scratch& scratch) const;

  const Guesser& guesser_;
  const ContextEmissions* context_ = nullptr;
  // With context. A seen word has the counts seen_begin_[id] .. seen_end_[id].
  std::vector<std::uint64_t> seen_begin_, seen_end_;
  std::vector<std::pair<std::uint32_t, double>> seen_;  // tag, count
  std::vector<float> role_scores_[NUM_ROLES];  // [id][part], of seen words; FIRST has all of OWN too; or empty
  std::vector<float> outside_[NUM_ROLES];    // [part]: beyond the sentence's ends
  std::unique_ptr<WordAttributes> allowed_;  // words with the tags that they may have
  TagChannelOptions options_;
  double log_floor_;
  double log_tokens_;
  std::size_t num_tags_;
  Vocabulary words_;
  std::vector<std::uint8_t> is_seen_;        // [id]: the vocabulary's own words may or may not be
  std::vector<WordId> row_of_symbols_;       // [id]: its row of symbol_of_
  std::vector<Row> row_, first_row_;         // [id]: elsewhere; as the first word of a sentence
  std::vector<WordId> slot_words_;           // of the rows
  std::vector<double> slot_weights_;
  Vocabulary lexical_;                       // words with symbols of their own
  std::vector<std::uint8_t> is_lexical_;     // [id]
  std::vector<const TagSymbol*> symbol_of_;  // [lexical id, 0 for other words][tag], or null
  std::vector<TagSymbol> symbols_;
};

}  // namespace hiddenite::channel
