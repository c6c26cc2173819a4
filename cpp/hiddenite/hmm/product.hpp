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
// Positions may have a fixed word. guide/ahead.hpp computes B, over the pairs of
// t and q that lie on a way to an accepting end; G is made from it where it is
// needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/hmm/guide/hmm_ahead.hpp"
#include "hiddenite/hmm/model.hpp"

namespace hiddenite::hmm {

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
  bool allowed(std::uint32_t t, WordId w) const;
  std::vector<double> word_weights(std::uint32_t t, std::uint32_t q, HiddenState z, std::uint32_t place) const;

  const SparseHmm& chain_;
  GuidedHmm<SparseHmm> guided_;
  bool best_;
  int threads_;
  Ahead ahead_;
  std::vector<std::vector<WordId>> words_of_;  // [state]: what it can emit
  double log_prob_ = 0.0;
};

}  // namespace hiddenite::hmm
