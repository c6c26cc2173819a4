// The states behind a sentence, exactly.
//
//   filter      p(z_t | x_1 .. x_t)
//   posterior   p(z_t | x_1 .. x_T), </s> included
//   best        argmax over z of p(x, z)            (Viterbi)
//   next word   p(x_{t+1} | x_1 .. x_t)
//   gradient    of ln p(x) by the logarithm of each number of the chain
// Numbers are kept for the k states of each word's set, in the set's order.
#pragma once

#include <span>
#include <vector>

#include "hiddenite/base/parallel.hpp"
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

// Answers for all sentences of a text, in order; query(words) gives one.
template <class Query>
std::vector<StateNumbers> for_sentences(const TokenText& text, int threads, Query query) {
  std::vector<StateNumbers> result(text.num_sentences());
  parallel_for(result.size(), threads, [&](std::size_t s, int) { result[s] = query(text.sentence(s)); });
  return result;
}

// The gradient of sum_s weights[s] ln p(sentence s) by the logarithms of the chain's numbers, which are taken to be
// free: how often each is expected to be used. In the layout of the chain's arrays.
struct LogProbGradient {
  std::vector<double> initial, transition, emission;
};
// A sentence of probability zero throws ModelError, unless its weight is zero.
LogProbGradient log_prob_gradient(const SparseHmm& chain, const TokenText& text, std::span<const double> weights,
                                  int threads);

}  // namespace hiddenite::hmm
