// The states behind a sentence, exactly.
//
//   filter      p(z_t | x_1 .. x_t)
//   posterior   p(z_t | x_1 .. x_T), </s> included
//   best        argmax over z of p(x, z)            (Viterbi)
//   next word   p(x_{t+1} | x_1 .. x_t)
// Numbers are kept for the k states of each word's set, in the set's order.
#pragma once

#include <span>
#include <vector>

#include "hiddenite/hmm/model.hpp"
#include "hiddenite/lm/token_text.hpp"

namespace hiddenite::hmm {

// Numbers of each position's states, one position after the other.
struct StateNumbers {
  std::vector<std::uint64_t> begin{0};  // of each position
  std::vector<HiddenState> states;
  std::vector<double> values;
  double log_prob = 0.0;                // ln p of the words given
};

// The words as given; `complete` adds </s>, if the chain has it. Words of
// probability zero have log_prob LOG_ZERO, and values that mean nothing.
StateNumbers filter_states(const SparseHmm& chain, std::span<const WordId> words, bool complete);
StateNumbers posterior_states(const SparseHmm& chain, std::span<const WordId> words, bool complete);

struct BestStates {
  std::vector<HiddenState> states;
  double log_prob = 0.0;  // ln p(x, z)
};
BestStates best_states(const SparseHmm& chain, std::span<const WordId> words, bool complete);

// [word]: p(word | words); zeros if the words have probability zero.
std::vector<double> next_words(const SparseHmm& chain, std::span<const WordId> words);

// [state]: expected number of visits, sum over all positions of the posterior. A
// sentence of probability zero throws ModelError.
std::vector<double> state_visits(const SparseHmm& chain, const TokenText& text, int threads);

}  // namespace hiddenite::hmm
