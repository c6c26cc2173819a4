// How likely is it that a sentence, having come so far, will satisfy its constraint?
//
// With t words written, the automaton at q and the model's hidden state z,
//   B_t(q, z) = [may end] p(</s> | z) + [t < longest] sum_w p(w, z' | z) B_{t+1}(delta(q, w), z')
// Ahead computes all B_t(q, .) of live pairs once; a guide (guide.hpp) and a product (product.hpp) read them.
// Columns are scaled to a largest value of one, with a logarithm beside.
//
// The model is a GuidedChain: beliefs about the hidden state that move forward with each word, and an
// AheadOperator that moves values backward through one word. hmm_ahead.hpp has both for hidden Markov models
// whose states emit, lexical/guided.hpp for lexicalised ones, whose transitions emit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hiddenite/hmm/guide/automaton.hpp"

namespace hiddenite::hmm {

// From the values after t + 1 words to those after t: columns of the automaton's states, side by side.
struct AheadStep {
  struct Term {
    std::uint32_t column, edge, next_column;
    double factor;
  };
  std::vector<Term> terms;
  std::vector<double> ends;  // [column]: weight of sentences that end here
  WordId word = NO_WORD;     // the only word that may come; edges do not matter then
  std::size_t width = 0, next_width = 0;  // of a row, in numbers
};

class AheadOperator {
 public:
  virtual ~AheadOperator() = default;
  // out[z * width + column], all zero before.
  virtual void apply(const AheadStep& step, const double* next, double* out, int threads) const = 0;
  // Without the transition before the word: out[z' * width + column], all zero before.
  virtual void emit(const AheadStep& step, const double* next, double* out) const = 0;
};

// What may follow a prefix: by class of the automaton, a column of the values after the next word.
struct NextColumns {
  const std::vector<std::uint32_t>* class_of;  // [word]
  std::vector<std::uint32_t> column;           // [class]; DEAD: not allowed
  std::vector<double> factor;                  // [column]
  const double* values = nullptr;              // [z * width + column]
  std::size_t width = 0;
  WordId word = NO_WORD;  // the only word that may come
  double end = 0.0;       // weight of a sentence that ends here
};

class GuidedChain {
 public:
  virtual ~GuidedChain() = default;
  virtual std::size_t num_states() const = 0;
  virtual WordId num_words() const = 0;
  virtual WordId end() const = 0;  // NO_WORD: sentences have a given length
  // Whether a state emits the word after which its value counts; else transitions do, and emit() is never asked.
  virtual bool states_emit() const { return true; }
  // What is known before the first word. Only the chain knows what the numbers mean.
  virtual std::vector<double> begin() const = 0;
  // p(w | before); the belief moves on. An impossible word gives 0 and moves it as if the word were not known, as
  // does NO_WORD.
  virtual double advance(WordId w, std::vector<double>& belief) const = 0;
  // probability[w] = p(w | before), joint[w] = p(w and what the columns say | before), and for each class what the
  // columns say if a word of it comes that tells nothing about the state. If `words` is not empty, only of these
  // words, in their order. Each number has the same bits whatever else is asked.
  virtual void next_words(const std::vector<double>& belief, const NextColumns& columns,
                          const std::vector<WordId>& words, int threads, double* probability, double* joint,
                          double* unknown) const = 0;
  // With `best`, maxima over words and states instead of sums.
  virtual std::unique_ptr<AheadOperator> ahead(const Automaton& automaton, const std::vector<AutomatonEdge>& edges,
                                               bool best) const = 0;
};

class Ahead {
 public:
  // Throws ModelError if sizes do not fit or the tables would be too large.
  Ahead(const GuidedChain& chain, Automaton automaton, LengthWindow window, bool best, int threads);

  const Automaton& automaton() const { return automaton_; }
  const LengthWindow& window() const { return window_; }
  bool may_end(std::uint32_t t, std::uint32_t q) const { return live_.may_end(t, q); }
  bool is_live(std::uint32_t t, std::uint32_t q) const { return live_.column(t, q) != DEAD; }
  // B_t(q, z) without its scale; t from 1.
  double value(std::uint32_t t, std::uint32_t q, std::size_t z) const {
    const std::uint32_t column = live_.column(t, q);
    return column == DEAD ? 0.0 : tables_[t][z * widths_[t] + column];
  }
  double log_scale(std::uint32_t t, std::uint32_t q) const;
  // The next words after t words at q; joint numbers are to be multiplied by exp(log_scale).
  NextColumns columns(std::uint32_t t, std::uint32_t q, double& log_scale) const;
  // One column of values after t words, before the last transition: see AheadStep.
  AheadStep step(std::uint32_t t, const std::vector<std::uint32_t>& states, std::vector<double>& log_scales) const;
  // G_t(q, .), values before the word at t, by state, without their scale; the scale is LOG_ZERO if all are zero.
  std::vector<double> emitted(std::uint32_t t, std::uint32_t q, double& log_scale) const;

 private:
  void backward(int threads);

  const GuidedChain& chain_;
  Automaton automaton_;
  LengthWindow window_;
  std::vector<AutomatonEdge> edges_;
  std::vector<std::uint32_t> first_edge_;  // [q], and the end
  LivePairs live_;
  std::unique_ptr<AheadOperator> operator_;
  std::vector<std::vector<double>> tables_;  // [t][z * width + column]
  std::vector<std::size_t> widths_;          // [t]
  std::vector<std::vector<double>> log_scale_;  // [t][column]; LOG_ZERO: all are zero
};

}  // namespace hiddenite::hmm
