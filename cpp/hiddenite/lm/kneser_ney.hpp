// Interpolated modified Kneser-Ney estimation (Chen & Goodman 1998), the model
// that KenLM's lmplz estimates.
//
// Every token of the text, </s> included, ends one window of at most `order`
// words that does not reach beyond the <s> of its sentence. The windows are
// sorted from their last word backwards. One scan over the sorted windows then
// meets the n-grams of all orders and their adjusted counts: the number of
// times for the highest order and for n-grams that begin with <s>, the number
// of different words to their left for the others.
//
//   p(w | s) = (c(s, w) - D(c)) / c(s, .) + gamma(s) p(w | suf s)
//   gamma(s) = (sum over w of D(c(s, w)), or of c(s, w) if pruned) / c(s, .)
//   p(w)     = (c(w) - D(c)) / c(.) + gamma() / (number of words but <s>)
//
// D is D1, D2 or D3+ of the order, from the numbers n1 .. n4 of n-grams with
// adjusted count 1 .. 4: Y = n1 / (n1 + 2 n2), Dk = k - (k + 1) Y n(k+1) / nk.
// Where that does not exist or leaves [0, k], the order takes 0.5, 1, 1.5.
//
// Other ways to smooth (estimation/smoothing.hpp) take the numbers of occurrences instead of adjusted counts.
//
// Text beyond `memory_bytes` goes to sorted runs on disk; the distinct n-grams
// and the table stay in memory. Time is linear in tokens times order.
//
// A text may be counted in shards, elsewhere. One trainer a shard finds its words;
// add_words() of all of them, in the order of the text, gives the vocabulary;
// with it count_windows() makes each shard's sorted run; finish() merges them.
// The model is the same as that of the whole text, to the bit.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hiddenite/base/text.hpp"
#include "hiddenite/lm/estimation/count_file.hpp"
#include "hiddenite/lm/estimation/smoothing.hpp"
#include "hiddenite/lm/interpolate.hpp"
#include "hiddenite/lm/ngram.hpp"
#include "hiddenite/lm/windows.hpp"

namespace hiddenite::lm {

struct TrainOptions {
  int order = 5;
  // n-grams of order n that occur at most prune[n - 1] times are left out; the
  // last entry holds for all higher orders.
  std::vector<std::uint64_t> prune;
  std::uint64_t unknown_below = 0;  // words that occur less often become <unk>
  std::optional<std::vector<std::string>> vocabulary;  // all other words become <unk>
  std::size_t memory_bytes = std::size_t{1} << 31;
  std::string temporary_directory = "/tmp";
  NgramSmoothing smoothing = NgramSmoothing::KNESER_NEY;
  double added = 1.0;  // ADD_K: k
};

struct Estimate {
  NgramTable table;
  std::vector<Discounts> discounts;  // [n - 1]; none where the smoothing has none
  std::uint64_t num_sentences = 0;
  std::uint64_t num_tokens = 0;      // </s> included
};

// The words of a text in order of appearance, <unk> included, and how often they occur.
struct WordCounts {
  std::vector<std::string> words;
  std::vector<std::uint64_t> occurrences;
  std::uint64_t num_sentences = 0, num_tokens = 0;
};

// The sorted run of a shard whose words have been looked at before: the windows over the final vocabulary, given
// without <unk>, <s> and </s>.
std::string count_windows(LineReader& lines, const std::vector<std::string>& vocabulary, int order);

class KneserNeyTrainer {
 public:
  explicit KneserNeyTrainer(TrainOptions options);
  ~KneserNeyTrainer();

  // One sentence a line. Throws FormatError.
  void add(LineReader& lines);
  // Counted n-grams instead of text, in any number of files; all orders. Throws FormatError.
  void add_counts(LineReader& lines);
  // Call once.
  Estimate finish();
  // Instead of finish(): the counts of the text, see count_file.hpp.
  void finish_counts(const std::function<void(std::string_view)>& write);

  // For shards.
  WordCounts word_counts() const;
  void add_words(const WordCounts& counts);
  // Call once, after all words; what count_windows() wants.
  std::vector<std::string> fix_vocabulary();
  // Call once, after fix_vocabulary(); `runs` are files.
  Estimate finish(const std::vector<std::string>& runs);

 private:
  struct File {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  using TemporaryFile = std::unique_ptr<std::FILE, File>;

  void add_sentence(std::string_view line, const LineReader& lines);
  TemporaryFile temporary_file() const;
  void spool();
  void renumber_words();
  void visit_windows(const WindowVisitor& visit);
  std::vector<CountedLevel> scan(const std::function<void(const WindowVisitor&)>& visit_all, bool keep_raw);
  Estimate estimate(const std::function<void(const WindowVisitor&)>& visit_all);

  TrainOptions options_;
  Vocabulary vocabulary_;
  std::vector<std::uint64_t> occurrences_;  // [provisional id]
  std::vector<WordId> tokens_;              // <s> words </s> <s> words </s> ...
  std::size_t tokens_in_memory_;
  TemporaryFile spool_;
  std::vector<std::size_t> spooled_;  // tokens per piece
  std::vector<WordId> final_id_;      // [provisional id], once the vocabulary is fixed
  CountReader counts_;                // of files of counts
  WordId first_outside_ = 0;          // of the words of these, if there is a vocabulary
  std::uint64_t num_sentences_ = 0;
  std::uint64_t num_tokens_ = 0;
};

}  // namespace hiddenite::lm
