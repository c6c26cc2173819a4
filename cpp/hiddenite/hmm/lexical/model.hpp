// A lexicalised hidden Markov model: a state is a word context and hidden states.
//
// State s = (x, z_1 .. z_M): x is the longest context that ends the words so far, z_m a hidden state of the group
// of x's last word in chain m. The next word and the next state are drawn together:
//   P(w, s' | s) = [lambda_x l_x(w) + gamma_x sum_m weight_m a_m(z_m, w)] R(s' | s, w),   x' = next(x, w)
//   a_m(z, w) = sum_z' A_m(z, z') E_m(z', w),   gamma_x = 1 - lambda_x (1 - g_x)
//   R(s' | s, w) = prod_m A_m(z_m, z'_m) E_m(z'_m, w), divided by its sum over the states of x'
// with l and g of contexts.hpp, A and E of the chains. That is one hidden Markov model whose state knows its word:
// all recursions are exact, and two chains on different classes are together no more than a larger one.
//
// Only some states of a context are kept. What is left out shares its probability among the kept ones, by R; the
// next word's probability given a state never changes. <s> and </s> have one state each. Chains whose numbers are
// zero for all kept states of x' enter each of them with the same probability.
//
// A step from n states to n' costs n n' M, and K multiplications for each hidden state in the n; or, where most of the
// K^M states of both contexts are kept, 2 M K^(M+1) on an array with an axis for each chain.
#pragma once

#include <vector>

#include "hiddenite/hmm/lexical/contexts.hpp"
#include "hiddenite/hmm/model.hpp"
#include "hiddenite/hmm/states.hpp"

namespace hiddenite::hmm {

struct LexicalHmm {
  ContextTree contexts;
  LexicalTable table;
  std::vector<float> lexical_weight;       // [x]: lambda
  std::vector<SparseHmm> chains;
  std::vector<double> chain_weight;        // [m]
  std::vector<std::uint64_t> state_begin;  // [x], and the number of states
  std::vector<std::uint16_t> places;       // [s * M + m]: place of z_m in its group
  std::vector<double> gamma;               // [x]; made by prepare()
  std::vector<std::vector<float>> first;   // [m]: the chains' initial probabilities

  WordId num_words() const { return contexts.num_words(); }
  std::uint64_t num_states() const { return state_begin.back(); }
  std::size_t num_chains() const { return chains.size(); }
  std::uint32_t states_of(ContextId x) const { return static_cast<std::uint32_t>(state_begin[x + 1] - state_begin[x]); }
  const std::uint16_t* place(ContextId x, std::uint32_t i) const {
    return places.data() + (state_begin[x] + i) * num_chains();
  }
  ContextId context_of(std::uint64_t state) const;
  bool emits(WordId w) const { return chains[0].word_group[w] != NO_GROUP; }
  // A_m(z, .) into group h, of the state at `place` in context x.
  const float* row(std::size_t m, ContextId x, std::uint32_t place, std::uint32_t h) const;
  // Checks all numbers and fills what is derived from them. Throws ModelError.
  void prepare();
};

// All that a word does to the states of a context.
class LexicalMove {
 public:
  explicit LexicalMove(const LexicalHmm& model) : model_(model) {}

  // Prepares the step by word w from context x; w must be one that the model emits.
  void open(ContextId x, WordId w);
  ContextId to() const { return to_; }
  std::uint32_t from_size() const { return static_cast<std::uint32_t>(probability_.size()); }
  std::uint32_t to_size() const { return model_.states_of(to_); }
  // P(w | i-th state of x).
  double probability(std::uint32_t i) const { return probability_[i]; }
  // R(. | i-th state of x, w) over the states of to().
  const std::vector<double>& entering(std::uint32_t i);

  void add_forward(const double* from, double* to);    // to += from P
  void add_backward(double* from, const double* to);   // from += P to

 private:
  struct Grid;
  // entering_ = R(. | i-th state of x, w) up to a factor, which is returned.
  double enter(std::uint32_t i);
  bool grid_is_cheaper() const;
  // R without the division by its sum over the kept states, as one matrix for each chain; and that sum.
  Grid open_grid() const;
  void forward_by_grid(const double* from, double* to) const;
  void backward_by_grid(double* from, const double* to) const;

  const LexicalHmm& model_;
  ContextId from_ = 0, to_ = 0;
  std::vector<double> probability_, entering_;
  struct Rows {
    std::uint32_t size = 0;                // of the group that is entered
    std::vector<double> product;           // [place * size + j]: A E
    std::vector<double> sum;               // [place]: a, or a negative number where not computed
  };
  std::vector<Rows> rows_;
};

// ln p of each word and of </s>; a word that is impossible is passed over.
std::vector<double> token_log_probs(const LexicalHmm& model, const TokenText& text, int threads);

// As in states.hpp, over the kept states of each position's context.
StateNumbers filter_states(const LexicalHmm& model, std::span<const WordId> words, bool complete);
StateNumbers posterior_states(const LexicalHmm& model, std::span<const WordId> words, bool complete);
BestStates best_states(const LexicalHmm& model, std::span<const WordId> words, bool complete);
std::vector<double> next_words(const LexicalHmm& model, std::span<const WordId> words);
std::vector<double> state_visits(const LexicalHmm& model, const TokenText& text, int threads);

}  // namespace hiddenite::hmm
