// Word classes by exchange: a local optimum of Brown's objective.
//
// The average mutual information of neighbouring classes,
//   AMI = sum_{c,d} p(c, d) ln [ p(c, d) / (p(c) p(d)) ],
// is, but for constants and the factor 1/N, sum h(N(c, d)) - 2 sum h(N(c)) with
// h(n) = n ln n. A pass takes each word out of its class and puts it where the
// sum is largest. Every class starts with one of the most frequent words; the
// other words have no class until their first turn, most frequent first, so the
// first pass is a greedy construction. Sentence boundaries are one more class,
// with </s> as its only word: each word then has one left and one right
// neighbour wherever it occurs, and N(c) is both marginals.
//
// Words are looked at in batches of fixed size. All threads find the best class
// of their words for the same state; the moves are then made one by one, each
// only if it still gains. So the result does not depend on the threads.
//
// Cost of a pass: sum over words of (neighbouring classes x C). Memory: two
// matrices of C x C counts and the distinct bigrams.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/lm/token_text.hpp"

namespace hiddenite::hmm {

using ClassId = std::uint32_t;
inline constexpr ClassId NO_CLASS = 0xFFFFFFFFu;
inline constexpr ClassId MOST_CLASSES = 16384;

// Distinct neighbours of each word with their counts.
struct BigramLists {
  struct Entry {
    WordId word;
    std::uint32_t count;
  };
  BigramLists(const TokenText& text, WordId num_words);

  std::span<const Entry> after(WordId w) const {
    return {next.data() + next_begin[w], next_begin[w + 1] - next_begin[w]};
  }
  std::span<const Entry> before(WordId w) const {
    return {previous.data() + previous_begin[w], previous_begin[w + 1] - previous_begin[w]};
  }
  std::vector<std::uint64_t> next_begin, previous_begin;
  std::vector<Entry> next, previous;
};

class ExchangeClustering {
 public:
  // start[w] is the class a word begins with, or NO_CLASS; classes without a
  // word begin with the most frequent words that have none.
  ExchangeClustering(const TokenText& text, WordId num_words, ClassId num_classes, std::vector<ClassId> start);

  // One pass over all words; the number of words that changed their class.
  std::uint64_t pass(int threads);
  double average_mutual_information() const;

  ClassId num_classes() const { return num_classes_; }
  const std::vector<ClassId>& classes() const { return class_of_; }  // [word]; NO_CLASS for words never seen
  const std::vector<std::uint64_t>& counts() const { return count_; }
  // N(c, d) with </s> as class num_classes(), row by row.
  const std::vector<std::uint32_t>& bigrams() const { return matrix_; }

 private:
  struct Neighbours;  // of one word, by class
  void gather(WordId w, Neighbours& near) const;
  double gain(const Neighbours& near, ClassId c) const;
  ClassId best_class(Neighbours& near) const;
  void change(const Neighbours& near, ClassId c, bool insert);
  void insert(WordId w, ClassId c, Neighbours& near);

  std::uint32_t cell(ClassId c, ClassId d) const { return matrix_[std::size_t{c} * width_ + d]; }
  void add(ClassId c, ClassId d, std::uint32_t count, bool insert);

  ClassId num_classes_;
  std::size_t width_;                       // classes and the boundary
  BigramLists bigrams_;
  std::vector<std::uint64_t> count_;        // [word]
  std::vector<WordId> order_;               // most frequent first
  std::vector<ClassId> class_of_;           // [word]
  std::vector<std::uint32_t> matrix_, transposed_;
  std::vector<std::uint64_t> class_count_;  // [class]
};

}  // namespace hiddenite::hmm
