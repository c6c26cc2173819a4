// The words of a list that a seen word most likely comes from: trie times edit
// automaton, best first, with a bound on all that was not looked at.
//
// A word scores ln p_edit(seen | word) + its own log prior. The walk keeps for
// each prefix w_1 .. w_i two rows of the sum over alignments (edit_model.hpp),
// A_i and A_(i-1), and opens the prefix of the highest bound first:
//   bound(prefix) = sum over j of A_i[j] H[j]                 the next piece begins behind w_i
//                 + sum over j of A_(i-1)[j] G(w_i)[j]        ... or consists of w_i and what follows
//                 times the best prior below the prefix,
// H[j] being at least p_edit(seen[j ..] | anything): H[m] = 1 and
//   H[j] = one(seen_j) H[j+1] + two(seen_j, seen_(j+1)) H[j+2],
// one and two the most, over all pieces, of p(piece) / (1 - p(nothing is seen)).
// Below a prefix only some letters occur; where seen_j is none of them, `one`
// and `two` are those of pieces without it: a slip at least. So H depends on the
// prefix, and falls fast where few words are left.
// A bound is never too low: a prefix whose bound is below the `keep`-th best word
// so far is given up, and the words that remain are the best of all. Prefixes are
// opened in the order of a guess, the same sum with the usual worth of a letter
// in place of the most; so good words are met early. After `max_prefixes` the search
// ends. Before it begins, the words that share most pairs of neighbouring letters
// with the seen one are weighed: they raise the bar for the walk, and find words
// with several slips near their beginning, where a tree is of little help.
// In any case `left_out` bounds what was not looked at: no word that is not
// in the answer scores more.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hiddenite/channel/edit_model.hpp"

namespace hiddenite::channel {

// Words as a tree of letters, with the best prior below each node. The children of a node lie side by side.
class WordTree {
 public:
  struct TreeNode {
    std::uint64_t below = 0;          // the bits of the letters of nodes below
    double best = 0.0;                // no word here or below has a higher prior
    std::uint32_t first_child = 0;
    std::uint32_t word = NO_ENTRY;    // its index in the list
    Letter num_children = 0, label = 0;
  };
  static constexpr std::uint32_t NO_ENTRY = 0xFFFFFFFF;
  // Letters from the 63rd on share a bit.
  static std::uint64_t bit(Letter letter) { return std::uint64_t{1} << (letter < 63 ? letter : 63); }

  // Words with characters outside the alphabet are left out; of words that are alike, the first stays.
  WordTree(const Alphabet& alphabet, const std::vector<std::u32string>& words, const std::vector<double>& log_prior);
  const std::vector<TreeNode>& nodes() const { return nodes_; }  // the first is the empty word
  const std::vector<Letters>& letters() const { return letters_; }  // [word]; empty: left out

  // Words by the pairs of letters in them, BEGIN and END among the letters.
  std::span<const std::uint32_t> words_with(Letter a, Letter b) const {
    const std::size_t pair = a * num_letters_ + b;
    return {pair_words_.data() + pair_begin_[pair], pair_begin_[pair + 1] - pair_begin_[pair]};
  }

 private:
  void index_pairs();

  std::vector<TreeNode> nodes_;
  std::size_t num_letters_;
  std::vector<Letters> letters_;
  std::vector<std::uint32_t> pair_begin_, pair_words_;
};

// Calls visit(a, b) for the pairs of neighbouring letters of a word, its ends included.
template <class Visit>
void for_each_letter_pair(const Letters& word, Visit visit) {
  Letter last = Alphabet::BEGIN;
  for (const Letter letter : word) {
    visit(last, letter);
    last = letter;
  }
  visit(last, Alphabet::END);
}

struct EditLimits {
  std::size_t keep = 16;
  double least_log_edit = -16.0;  // words of a smaller p_edit are not looked for
  double beam = 1e9;              // nor those that score so much less than the best
  std::uint64_t max_prefixes = std::numeric_limits<std::uint64_t>::max();
  std::size_t num_alike = 0;      // words that are weighed first because they share pairs of letters
};

struct FoundWord {
  std::uint32_t word;
  double log_edit, score;
};

struct FoundWords {
  std::vector<FoundWord> words;  // best first
  double left_out;               // no other word scores more; LOG_ZERO: there is none
  bool is_complete = true;       // they are the best of all
  std::uint64_t num_prefixes = 0;
};

#ifdef HIDDENITE_FAULTS
inline double planted_edit_fault = 1.0;  // H is multiplied by this: below one, the bound is none
#else
inline constexpr double planted_edit_fault = 1.0;
#endif

// One thread's workspace.
class EditSearch {
 public:
  FoundWords find(const EditModel& model, const WordTree& tree, const std::vector<double>& log_prior,
                  const Letters& seen, const EditLimits& limits);

 private:
  struct Opened {
    double priority;        // the guess times prior
    double bound;           // of p_edit times prior
    std::uint32_t node;
    std::uint32_t row;      // its place in rows_
    std::uint32_t before;
    Letter left_of_last, last;
    bool operator<(const Opened& other) const { return priority < other.priority; }
  };
  struct FoundSoFar {
    double score, prob;  // score: p_edit times prior
    std::uint32_t word;
    bool operator<(const FoundSoFar& other) const { return score > other.score; }  // the worst on top of the heap
  };

  void prepare_bounds(const EditModel& model, const Letters& seen);
  const double* pair_after(const EditModel& model, const Letters& seen, Letter last);
  struct Promise {
    double bound, guess;  // of p_edit below a prefix
  };
  Promise promise(const double* row, const double* before, const double* after, std::uint64_t below);
  void open_children(const EditModel& model, const WordTree& tree, const std::vector<double>& log_prior,
                     const Letters& seen, const Opened& from, const EditLimits& limits);
  void weigh_alike(const WordTree& tree, const std::vector<double>& log_prior, const Letters& seen,
                   const EditLimits& limits);
  double weigh(const Letters& word);
  void add_word(std::uint32_t word, double prob, double prior, const EditLimits& limits);

  EditRows table_;
  std::vector<double> rest_;                 // [j]: H, two zeros behind
  std::vector<double> step_;                 // [j, has seen_j, has seen_(j+1), 2]: `one` and `two`
  std::vector<double> guess_;                // [j, has seen_j]
  std::vector<std::uint64_t> bit_;           // [j]: of the letter seen there
  std::vector<double> after_;   // [c, k, j]: the most of c and any other character seen as k characters at j
  std::vector<bool> has_after_;
  std::vector<double> rows_;
  std::vector<Opened> heap_;
  std::vector<FoundSoFar> found_;  // a heap of the best so far
  std::vector<std::uint8_t> shared_;      // [word]: pairs of letters that it shares, 0 between searches
  std::vector<std::uint32_t> touched_;    // words that share any
  std::vector<std::pair<double, std::uint32_t>> alike_;
  std::vector<bool> is_weighed_;          // [word]
  std::vector<double> word_rows_[3];
  double threshold_ = 0.0, left_out_ = 0.0, best_ = 0.0;
};

}  // namespace hiddenite::channel
