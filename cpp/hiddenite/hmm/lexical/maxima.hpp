// One backward step over all states of a lexicalised model, with maxima instead of sums:
//   B(x, z) = max_w P(w | x, z) M(z, w, next(x, w)),   M(z, w, y) = max_z' R(z' | z, w) N(y, z')
// for every context x and its states, z standing for the hidden states of all chains: the probability of the best
// words and states that follow.
//
// A maximum of sums is not shared between contexts as backward.hpp shares sums, but most words are alike to most
// contexts. A word that no list of x or its suffixes has, and that makes no longer context, has the value
//   gamma_x G(z, w),   G(z, w) = a(z, w) M(z, w, (w))
// So the few words of largest G are found once for each z; of them, x takes the first that makes no longer context.
// (One that is listed is worth more still, and is looked at with x's own words.) The words of the lists and contexts
// above are tried one by one. If all of the few make longer contexts and could still be better than what x has found,
// every word is tried: that is rare.
//
// Bounds save most of the work: a word is looked at only where P(w | x, z) max_z' N is above what was found so far.
#pragma once

#include <array>
#include <vector>

#include "hiddenite/hmm/lexical/model.hpp"

namespace hiddenite::hmm {

class LexicalMaxima {
 public:
  explicit LexicalMaxima(const LexicalHmm& model);

  // As LexicalBackward::step.
  void step(const double* ahead, std::size_t width, double* result, int threads) const;

 private:
  static constexpr std::size_t COLUMNS = 4;  // that are worked on together
  static constexpr std::size_t TOP = 3;      // words of largest G that are kept for each z
  // A word of the list of a context, or a context that it makes there.
  struct Entry {
    ContextId context, child;  // child: NO_CONTEXT if it makes none
    double listed;
  };
  struct Candidate {
    double value = 0.0;
    WordId word = NO_WORD;
  };
  using TopWords = std::array<Candidate, TOP>;  // largest first
  using Values = std::array<double, COLUMNS>;
  // What one column tile is computed from.
  struct Tile {
    const double* ahead;
    std::size_t width, first;
    std::vector<Values> most;  // [context]: max_z' N
  };
  class Slice;

  void list_tuples();
  void list_entries();
  void step_tile(const Tile& tile, double* result, int threads) const;
  std::vector<WordId> words_in_order(const Tile& tile) const;
  void finish(const Tile& tile, const std::vector<WordId>& words, const Slice& slice, double* result,
              int threads) const;
  void try_every_word(const Tile& tile, const std::vector<WordId>& words, ContextId x, std::uint32_t i,
                      Values& best) const;

  const LexicalHmm& model_;
  std::size_t num_tuples_ = 0;
  std::vector<std::uint32_t> tuples_;          // [tuple * M + m]: a state of chain m; their number stands for <s>
  std::vector<std::uint32_t> tuple_of_;        // [state]
  std::vector<std::uint64_t> entry_begin_;     // [word], and the end
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> longer_begin_;    // [context], and the end
  std::vector<ContextId> longer_;              // contexts of which it is the suffix
};

}  // namespace hiddenite::hmm
