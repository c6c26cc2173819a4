// A tagged text and everybody's seats: the state that the induction samplers move.
//
// Each token brings customers to the restaurants: the transition events that its tag
// takes part in, then its word. All samplers work on blocks: tokens that leave
// together and come back together, in the order of the text. An event belongs to
// the last token of the block that it touches, so it is added once, when all its tags
// are known. Tokens leave in reverse order.
//
// Seating is drawn customer by customer from its conditional distribution, so the
// target of a block is the product of the predictive probabilities met on the way
// (LogWeight); what was drawn is written to a Trail, a stack: leaving pushes what
// replay pops, sitting down pushes what undo pops. A block can so be tried, taken
// back and brought back to the last seat. A trail of the one kind, turned round, is one
// of the other: an opened table's spelling stands between two equal marks.
//
// Layout: order - 1 boundaries, then each sentence followed by order - 1 boundaries, of
// which the first is its last event. A position is an index into this sequence.
#pragma once

#include <optional>

#include "hiddenite/induce/emissions.hpp"
#include "hiddenite/induce/lexicon.hpp"
#include "hiddenite/induce/spelling.hpp"

namespace hiddenite::induce {

struct InductionText {
  std::vector<std::int32_t> words;      // type of each token
  std::vector<std::int64_t> offsets;    // of the sentences
  std::size_t num_types = 0;
  Spellings spellings;                  // empty without a spelling model
};

// The base probability of the word at hand under each tag; positive wherever the tag is possible.
// For a spelled word it is an estimate, from which what is drawn is weighted.
struct WordBase {
  double prob[TagSet::CAPACITY], log_prob[TagSet::CAPACITY];
};

// What the word of a token that left would have weighed, as soon as its base is known.
struct LeftWord {
  double joined, rest, log_spelled;
  Tag tag;
  bool opened;
};

class TaggingState {
 public:
  TaggingState(InductionText text, unsigned num_tags, unsigned order, SpellingKind spelling, LexiconKind lexicon,
               double geometric);

  std::size_t num_tokens() const { return positions_.size(); }
  std::size_t num_types() const { return type_begin_.size() - 1; }
  std::size_t num_sentences() const { return sentence_begin_.size() - 1; }
  unsigned num_tags() const { return num_tags_; }
  unsigned order() const { return transitions.order(); }
  std::span<const std::uint32_t> tokens_of(std::uint32_t word) const {  // positions, in order
    return {type_tokens_.data() + type_begin_[word], type_tokens_.data() + type_begin_[word + 1]};
  }
  std::span<const std::uint32_t> sentence(std::size_t s) const {
    return {positions_.data() + sentence_begin_[s], positions_.data() + sentence_begin_[s + 1]};
  }
  std::span<const std::uint32_t> positions() const { return positions_; }
  std::uint32_t word(std::uint32_t position) const { return words_[position]; }
  bool is_token_of(std::uint32_t position, std::uint32_t word) const {  // and no boundary
    return words_[position] == word && tags_[position] != transitions.boundary();
  }
  Tag tag(std::uint32_t position) const { return tags_[position]; }
  void set_tag(std::uint32_t position, Tag tag) { tags_[position] = tag; }
  const Tag* at(std::uint32_t position) const { return tags_.data() + position; }
  // The last event that the token touches.
  std::uint32_t last_event(std::uint32_t position) const { return last_event_[position]; }

  // Sets all tags, classes to the tags in use, and draws all seats. Once, at the beginning.
  void begin(std::span<const Tag> tags, Random& random);

  // The word's base with its block gone. `class_left`: the word has no class at the moment.
  void fill_base(std::uint32_t word, bool class_left, WordBase& base) const;
  // ... for these tags alone.
  void fill_base(std::uint32_t word, bool class_left, const TagSet& tags, WordBase& base) const;
  bool spelled() const { return spelling && !heads(); }  // by each table, not by a head
  bool heads() const { return lexicon && lexicon->kind() == LexiconKind::HEADS; }

  // One token of a block, with the events from its own to `last`.
  LeftWord leave(std::uint32_t position, std::uint32_t last, Random& random, Trail& trail, LogWeight& weight);
  void leave(std::uint32_t position, std::uint32_t last, Random& random, Trail& trail);
  void seat(std::uint32_t position, std::uint32_t last, const WordBase& base, Random& random, Trail& trail,
            LogWeight& weight);
  void replay(std::uint32_t position, std::uint32_t last, const WordBase& base, Trail& trail, LogWeight& weight);
  void redo(std::uint32_t position, std::uint32_t last, Trail& trail);  // replay, not weighed
  void undo(std::uint32_t position, std::uint32_t last, Trail& trail);
  void weigh(const LeftWord& word, const WordBase& base, LogWeight& weight) const;

  // p(word | tag) with its seats as they are.
  double emission(std::uint32_t word, Tag tag, const WordBase& base) const {
    return emissions.joined(word, tag) + emissions.rest()[tag] * base.prob[tag];
  }
  // The product of the token's events and its word for each tag, as if they did not touch each other.
  void score_all(std::uint32_t position, std::uint32_t last, const WordBase& base, double* scores) const;
  double score_one(std::uint32_t position, std::uint32_t last, const WordBase& base, Tag tag) {
    return emission(words_[position], tag, base) * score_events(position, last, tag);
  }
  double score_events(std::uint32_t position, std::uint32_t last, Tag tag);

  // ln p(words, tags, tables, classes | parameters).
  double log_joint();
  void check() const;

  TagTransitions transitions;
  TagEmissions emissions;
  std::optional<TagSpelling> spelling;
  std::optional<TagLexicon> lexicon;

 private:
  LeftWord leave_word(std::uint32_t position, Random& random, Trail& trail);

  unsigned num_tags_;
  std::vector<Tag> tags_;
  std::vector<std::uint32_t> words_, last_event_, positions_, sentence_begin_, type_begin_, type_tokens_;
};

}  // namespace hiddenite::induce
