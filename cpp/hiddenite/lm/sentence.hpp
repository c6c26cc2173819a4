// Scoring one sentence a call, or one word a call: KenLM's shape.
//
// Who walks from word to word waits for memory at each word. A sentence is known at once, so its n-grams are looked up
// order by order, all words side by side: the (k + 1)-gram that ends at word i is a child of the k-gram that ends at
// word i - 1. The table is closed, so a word is done at the first order that does not list its n-gram. A state has one
// word at a time; it asks for the memory of the next step while its caller finds the next word. The numbers are those
// of NgramTable::step, added in the same order.
//
// Which door to take:
//   many sentences          score_text (score.hpp)
//   one sentence            Scorer::score, Scorer::word_scores
//   words as they come      Scorer::begin_state, Scorer::next
#pragma once

#include <string_view>
#include <vector>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

struct WordScore {
  double log_prob;             // ln p(word | words before)
  std::uint32_t ngram_length;  // of the longest listed n-gram that ends in the word
  bool oov;
};

// What a model remembers of the words so far. The empty state fits every model.
struct State {
  const NgramTable* table = nullptr;
  NodeId node = ROOT;
  bool operator==(const State& other) const { return node == other.node; }
};

// Safe to share between threads. The table must outlive it.
class Scorer {
 public:
  explicit Scorer(const NgramTable& table) : table_(table) {}
  const NgramTable& table() const { return table_; }

  // ln p(words </s> | <s>), without the context <s> if not `bos`, without the term of </s> if not `eos`.
  double score(std::string_view sentence, bool bos, bool eos) const;
  // Its summands.
  std::vector<WordScore> word_scores(std::string_view sentence, bool bos, bool eos) const;

  State begin_state() const { return {&table_, table_.start()}; }
  // ln p(word | state), state moved on.
  double next(State& state, WordId word) const;

 private:
  const NgramTable& table_;
};

}  // namespace hiddenite::lm
