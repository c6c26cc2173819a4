// The n-grams of a text, of all orders, with their adjusted counts: what sorted
// windows become when they are scanned once.
//
// An n-gram's adjusted count is the number of times it occurs, for the highest
// order and for n-grams that begin with <s>, and the number of different words
// to its left for the others.
#pragma once

#include <vector>

#include "hiddenite/lm/windows.hpp"

namespace hiddenite::lm {

// The n-grams of one order in the order of the sorted windows: all that share
// a suffix stand together, ordered by their first word. Level 1 is indexed by
// word id.
struct CountedLevel {
  std::vector<WordId> first;          // the first word
  std::vector<std::uint32_t> suffix;  // the n-gram without it, on the level below
  std::vector<std::uint32_t> count;   // adjusted
  std::vector<std::uint32_t> raw;     // occurrences; only if n-grams are pruned
  std::size_t size() const { return first.size(); }
};

// Collects the n-grams of all orders from windows in sorted order.
class WindowScanner {
 public:
  WindowScanner(int order, bool keep_raw)
      : levels_(order), current_(order + 1), previous_(order, 0), keep_raw_(keep_raw) {}

  void add(WindowKeys keys, std::uint64_t count);
  // The levels that hold something. Call once.
  std::vector<CountedLevel> finish(WordId num_words);

 private:
  void index_unigrams_by_word(WordId num_words);

  std::vector<CountedLevel> levels_;
  std::vector<std::uint32_t> current_;  // [n]: the n-gram of the last window
  std::vector<std::uint32_t> previous_;
  bool keep_raw_;
};

// lmplz sorts words by first appearance, and into the statistics of each lower
// order it enters the n-gram that comes last with its occurrences instead of
// its adjusted count. Doing the same keeps the two models equal: in a text of a
// million words, that one n-gram moves probabilities by 1e-3.
struct LastNgrams {
  std::vector<std::uint32_t> ngram;         // [n - 1]
  std::vector<std::uint64_t> occurrences;   // [n - 1]
};

// `appearance` is the rank of each word.
LastNgrams find_last_ngrams(const std::vector<CountedLevel>& levels, const std::vector<WordId>& appearance);

}  // namespace hiddenite::lm
