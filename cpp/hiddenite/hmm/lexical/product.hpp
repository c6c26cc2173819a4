// Sentences of a lexicalised model that a finite automaton accepts, exactly.
//
// As product.hpp, over the model's own states: B_t(q, s) is the probability that what follows t words, with the
// automaton in q and the model in s, is accepted,
//   B_t(q, s) = [may end] p(</s> | s) + [t < longest] sum_w sum_s' P(w, s' | s) B_{t+1}(delta(q, w), s')
// and that of the constraint is B_0(start, <s>). If more than one position is open, B is computed for all states
// (guided.hpp, ahead.hpp), as it is for the best walk, with maxima instead of sums; else only the contexts that can be
// reached are worked through, word by word, which is little then. Numbers are scaled at each t and q.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/hmm/lexical/guided.hpp"
#include "hiddenite/hmm/product.hpp"

namespace hiddenite::hmm {

class LexicalProduct {
 public:
  // As HmmProduct.
  LexicalProduct(const LexicalHmm& model, Automaton automaton, std::vector<WordId> fixed, std::uint32_t shortest,
                 std::uint32_t longest, bool best, int threads);

  // ln of the probability that a sentence satisfies the constraint; of the best walk, with maxima.
  double log_prob() const { return log_prob_; }
  Walk draw(Random& random) const;
  // The most probable words and states; needs `best`.
  Walk best_walk() const;
  std::vector<std::vector<double>> word_probabilities(const std::vector<std::uint32_t>& positions) const;

 private:
  using Key = std::uint64_t;  // automaton state and context
  // Numbers of the states of reached contexts at one t.
  struct Layer {
    std::unordered_map<Key, std::uint64_t> place;  // in `values`
    std::vector<double> values;
    std::vector<double> log_scale;                 // [q]; LOG_ZERO: all are zero
  };
  static Key key(std::uint32_t q, ContextId x) { return (Key{q} << 32) | x; }
  void reach();
  void backward_reached(std::uint32_t t);
  double first_value(double& log_scale) const;
  // B_t(q, .) of a context's states without its scale; t from 1.
  void read_values(std::uint32_t t, std::uint32_t q, ContextId x, std::vector<double>& values) const;
  double log_scale(std::uint32_t t, std::uint32_t q) const {
    return ahead_ != nullptr ? ahead_->log_scale(t, q) : layers_[t].log_scale[q];
  }
  std::uint32_t target(std::uint32_t q, WordId w) const { return automaton_.next(q, w); }
  bool allowed(std::uint32_t t, WordId w) const {
    return w != SENTENCE_END && model_.emits(w) && (fixed_[t] == NO_WORD || fixed_[t] == w);
  }
  bool may_end(std::uint32_t t, std::uint32_t q) const { return t >= shortest_ && automaton_.accepts[q]; }
  // ln of a scale that no summand of B_t(q, .) exceeds.
  double common_scale(std::uint32_t t, std::uint32_t q) const;
  template <class Visit>
  void each_step(std::uint32_t t, std::uint32_t q, ContextId x, std::uint32_t place, double common,
                 Visit visit) const;
  template <class Choose>
  Walk walk(Choose choose) const;
  template <class Visit>
  void each_word(std::uint32_t t, std::uint32_t q, Visit visit) const;

  const LexicalHmm& model_;
  GuidedLexical guided_;
  Automaton automaton_;
  std::vector<WordId> fixed_;
  std::uint32_t shortest_, longest_;
  bool best_;
  int threads_;
  std::vector<WordId> emitted_;  // all words but </s>
  std::vector<Layer> layers_;    // [t]; empty if all states have values
  std::unique_ptr<Ahead> ahead_;
  double log_prob_ = LOG_ZERO;
};

}  // namespace hiddenite::hmm
