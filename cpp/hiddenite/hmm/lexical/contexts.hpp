// The word contexts of a lexicalised model, and what each says of the next word.
//
// A context is the last few words. All single words are contexts, <s> among
// them, and each has its word's id as its number; longer ones are chosen. The
// set is closed under prefixes: with (a b c) there is (a b). So the longest
// context that ends a history is a function of the one before and the new word:
//   next(x, w) = the first y w that is a context, for y = x, x without its first word, ..., else (w)
//
// A listed context has counts. What follows is interpolated from short to long,
//   l_x(w) = max(c_x(w) - D, 0) / n_x + b_x l_y(w),   g_x = b_x g_y,   b_x = D T_x / n_x
// y the longest listed context that is a proper suffix of x, T_x the number of
// words seen after x; at the bottom l = 0 and g = 1. So l sums to 1 - g, and g is
// what is left to the hidden states. A word counts for y once for each listed
// context x above it, and as often as it comes where no listed context is above:
// Kneser & Ney's counts, for the contexts that were chosen.
//
// Leaving one out, a token's own count is taken away before it is predicted; if
// it was the last of its kind in x, the count in y goes too, and so on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/lm/token_text.hpp"

namespace hiddenite::hmm {

using ContextId = std::uint32_t;
inline constexpr ContextId NO_CONTEXT = 0xFFFFFFFFu;
inline constexpr std::size_t MOST_CONTEXT_WORDS = 4;

class ContextTree {
 public:
  ContextTree() = default;
  explicit ContextTree(WordId num_words);
  // parent[i] and word[i] make context num_words + i; a parent has a smaller number. Throws ModelError.
  ContextTree(WordId num_words, const std::vector<ContextId>& parent, const std::vector<WordId>& word);

  // The context (x w), made if it is not there.
  ContextId extend(ContextId x, WordId w);
  void finish();  // after the last extend(): finds suffixes

  WordId num_words() const { return num_words_; }
  ContextId size() const { return static_cast<ContextId>(last_.size()); }
  WordId last(ContextId x) const { return last_[x]; }
  std::uint32_t length(ContextId x) const { return length_[x]; }
  ContextId prefix(ContextId x) const { return prefix_[x]; }  // NO_CONTEXT for one word
  ContextId suffix(ContextId x) const { return suffix_[x]; }  // the longest proper one; NO_CONTEXT for one word
  ContextId find(ContextId x, WordId w) const;                // (x w), or NO_CONTEXT
  ContextId next(ContextId x, WordId w) const;
  std::vector<WordId> words(ContextId x) const;

 private:
  static std::uint64_t key(ContextId x, WordId w) { return (std::uint64_t{x} << 32) | w; }
  void grow_slots();
  std::size_t slot(std::uint64_t key) const;

  WordId num_words_ = 0;
  std::vector<WordId> last_;
  std::vector<std::uint8_t> length_;
  std::vector<ContextId> prefix_, suffix_;
  std::vector<ContextId> slots_;  // open addressing, by (prefix, last)
};

// The context before each token, </s> of each sentence included.
std::vector<ContextId> token_contexts(const ContextTree& tree, const TokenText& text);

// What the lexical route says of a token: l and g of the formulas above.
struct LexicalShare {
  double listed = 0.0, left = 1.0;
};

struct LexicalTable {
  // Per context; a context without entries is not listed.
  std::vector<std::uint64_t> begin{0};
  std::vector<WordId> word;          // rising in each context
  std::vector<float> probability;    // max(c - D, 0) / n
  std::vector<float> back_off;       // [x]: b_x; 1 where not listed

  bool is_listed(ContextId x) const { return begin[x] < begin[x + 1]; }
  LexicalShare share(const ContextTree& tree, ContextId x, WordId w) const;
  double left(const ContextTree& tree, ContextId x) const;  // g_x
  // Throws ModelError.
  void check(const ContextTree& tree) const;
};

using ContextDiscounts = std::array<double, MOST_CONTEXT_WORDS>;

class LexicalCounts {
 public:
  LexicalCounts(const ContextTree& tree, std::vector<bool> listed, const TokenText& text,
                const ContextDiscounts& discounts);

  LexicalTable table() const;
  // Of each token of the same text, its own count left out.
  std::vector<LexicalShare> leave_one_out(const TokenText& text) const;
  std::vector<std::uint64_t> totals() const;  // [x]: n_x

 private:
  struct Entry {
    WordId word;
    std::uint32_t count;
  };
  ContextId listed_from(ContextId x) const;  // x or its longest listed suffix
  const Entry* find(ContextId x, WordId w) const;
  double discount(ContextId x) const { return discounts_[tree_.length(x) - 1]; }

  const ContextTree& tree_;
  std::vector<bool> listed_;
  ContextDiscounts discounts_;
  std::vector<std::uint64_t> begin_, total_;
  std::vector<Entry> entries_;
};

struct SelectionOptions {
  std::array<std::uint32_t, MOST_CONTEXT_WORDS> most{0xFFFFFFFFu, 16000, 12000, 0};  // of each length
  std::array<double, MOST_CONTEXT_WORDS> least_gain{1.0, 0.0, 0.0, 0.0};             // in nats
  ContextDiscounts discounts{0.7, 0.8, 0.85, 0.9};
  double lexical_weight = 0.5;  // of the lexical route, while choosing
  double optimism = 1.3;        // the given probabilities are divided by it: the text was trained on
};

struct SelectedContexts {
  ContextTree tree;
  std::vector<bool> listed;  // [context]
};

// Contexts by what they gain on the text, each token left out in turn. log_prob has
// ln p of each token under the hidden states alone.
SelectedContexts select_contexts(const TokenText& text, WordId num_words, std::span<const double> log_prob,
                                 const SelectionOptions& options);

}  // namespace hiddenite::hmm
