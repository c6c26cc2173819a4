// Counts of n-grams as text: n-gram TAB count a line, as SRILM and Google write them.
//
// A file lists the n-grams of all orders with their numbers of occurrences, <s>
// and </s> among the words; the words themselves in order of first appearance,
// so that a model from the counts is that from the text to the bit.
//
// What is counted becomes windows again (windows.hpp): an n-gram that does not
// reach the highest order ends so many windows of its own as it occurs more
// often than its left extensions together. In complete counts only those that
// begin with <s> do; where rare n-grams have been left out, others do too.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/base/text.hpp"
#include "hiddenite/lm/counted_ngrams.hpp"
#include "hiddenite/lm/vocabulary.hpp"

namespace hiddenite::lm {

// The n-grams of files, words by their ids in a vocabulary that grows.
class CountReader {
 public:
  explicit CountReader(int order) : levels_(order) {}

  // Throws FormatError. N-grams beyond the order are skipped.
  void add(LineReader& lines, Vocabulary& vocabulary);
  bool is_empty() const { return names_.empty(); }
  // Occurrences of the words, by id; <s> has those of its own line.
  std::vector<std::uint64_t> occurrences(std::size_t num_words) const;
  // The windows, unsorted: `order` keys each (1 + word, last word first, then zeros), and how often. Throws
  // FormatError for an n-gram without its context or suffix, for counts that disagree, and, unless they may be
  // `cut_off`, for n-grams that are left out. Call once; forgets the counts.
  struct Windows {
    std::vector<std::uint32_t> keys;
    std::vector<std::uint64_t> counts;
  };
  Windows windows(const Vocabulary& vocabulary, bool cut_off);

 private:
  struct Level {
    std::vector<std::uint32_t> keys;  // n each, last word first
    std::vector<std::uint64_t> counts;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // file and line
    std::size_t size() const { return counts.size(); }
  };

  void add_line(std::string_view line, const LineReader& lines, Vocabulary& vocabulary);
  [[noreturn]] void fail(std::size_t n, std::size_t row, const std::string& message) const;
  std::string text(std::size_t n, std::size_t row, const Vocabulary& vocabulary) const;
  void sort(std::size_t n, const Vocabulary& vocabulary);
  void check_contexts(std::size_t n, const Vocabulary& vocabulary) const;
  // [row of level n]: what its left extensions occur, together.
  std::vector<std::uint64_t> count_extensions(std::size_t n, const Vocabulary& vocabulary) const;
  std::size_t find(std::size_t n, const std::uint32_t* keys) const;

  std::vector<Level> levels_;  // [n - 1]
  std::vector<std::string> names_;
};

// Visits windows over other word ids in sorted order: word w becomes new_id[w].
void visit_renumbered(const CountReader::Windows& windows, const std::vector<WordId>& new_id, int order,
                      const WindowVisitor& visit);

// Writes the occurrences of all n-grams of the levels, which keep them in `raw`. `by_appearance` gives the words.
void write_counts(const std::vector<CountedLevel>& levels, const Vocabulary& vocabulary,
                  const std::vector<WordId>& by_appearance, std::uint64_t num_sentences,
                  const std::function<void(std::string_view)>& write);

}  // namespace hiddenite::lm
