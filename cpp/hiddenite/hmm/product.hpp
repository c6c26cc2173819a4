// Sentences of a chain that a finite automaton accepts, exactly.
//
// With q the automaton's state, t the number of words so far and z the chain's
// state, the probability that the rest of the sentence is accepted is
//   B_t(q, z)  = sum_z' p(z' | z) G_t(q, z')
//   G_t(q, z') = [may end at t] accepts(q) p(</s> | z')
//              + [t < longest] sum_w p(w | z') B_{t+1}(delta(q, w), z')
// and that of the constraint is sum_z p(z_1 = z) G_0(start, z). A draw walks
// forward: the next state by p(z' | z) G_t(q, z'), its word by the summands of
// G; with maxima instead of sums the walk takes the best words and states. (The
// best words with states summed out are intractable: draw and score again.)
// Positions may have a fixed word. Numbers are scaled at each t and q.
//
// A step multiplies the whole transition matrix by one column per live state
// of the automaton: |Q| Z^2, the matrix being read once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/hmm/model.hpp"

namespace hiddenite::hmm {

inline constexpr std::uint32_t DEAD = 0xFFFFFFFFu;

// Deterministic, over words; the end of the sentence is no word.
struct Automaton {
  std::uint32_t start = 0;
  std::vector<bool> accepts;         // [q]
  std::vector<std::uint32_t> target;  // [q * words + w]: next state, or DEAD

  std::uint32_t num_states() const { return static_cast<std::uint32_t>(accepts.size()); }
  // Throws ModelError.
  void check(WordId num_words) const;
};

struct Walk {
  std::vector<WordId> words;    // without </s>
  std::vector<HiddenState> states;  // that of </s> last, if the chain has it
};

class HmmProduct {
 public:
  // fixed[t] is the word at t or NO_WORD; what is beyond its end is free. A chain
  // without end needs shortest = longest.
  HmmProduct(const SparseHmm& chain, Automaton automaton, std::vector<WordId> fixed, std::uint32_t shortest,
               std::uint32_t longest, bool best, int threads);

  // ln of the probability that a sentence satisfies the constraint; of the best walk, with maxima.
  double log_prob() const { return log_prob_; }
  // A draw from p(words, states | constraint). Throws ModelError if that has probability zero.
  Walk draw(Random& random) const;
  // The most probable words and states; needs `best`.
  Walk best_walk() const;
  // p(word at t | constraint), [word], for sentences of exactly `longest` words. Costs a forward pass over all states.
  std::vector<std::vector<double>> word_probabilities(const std::vector<std::uint32_t>& positions) const;

 private:
  template <class Choose>
  Walk walk(Choose choose) const;
  void backward();
  void transit(std::uint32_t t);    // B_t from G_t
  bool may_end(std::uint32_t t, std::uint32_t q) const { return t >= shortest_ && automaton_.accepts[q]; }
  bool allowed(std::uint32_t t, WordId w) const;
  double& scale(std::uint32_t t, std::uint32_t q) { return log_scale_[std::size_t{t} * automaton_.num_states() + q]; }
  double scale(std::uint32_t t, std::uint32_t q) const {
    return log_scale_[std::size_t{t} * automaton_.num_states() + q];
  }
  void emit(std::uint32_t t, std::uint32_t q);  // G_t from B_{t+1}
  std::vector<double> word_weights(std::uint32_t t, std::uint32_t q, HiddenState z, std::uint32_t place) const;
  double* row(std::vector<double>& table, std::uint32_t q) const {
    return table.data() + std::size_t{q} * chain_.num_states();
  }
  const double* row(const std::vector<double>& table, std::uint32_t q) const {
    return table.data() + std::size_t{q} * chain_.num_states();
  }

  const SparseHmm& chain_;
  Automaton automaton_;
  std::vector<WordId> fixed_;
  std::uint32_t shortest_, longest_;
  bool best_;
  int threads_;
  std::vector<std::vector<double>> emitted_;   // [t][q * states + z']: G_t, scaled
  std::vector<std::vector<double>> ahead_;     // [t][q * states + z]: B_t, scaled as G_t
  std::vector<double> log_scale_;              // [t * automaton states + q]; LOG_ZERO: all are zero
  std::vector<std::vector<WordId>> words_of_;  // [state]: what it can emit
  double log_prob_ = 0.0;
};

}  // namespace hiddenite::hmm
