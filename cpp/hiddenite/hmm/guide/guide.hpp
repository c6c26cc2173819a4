// The next word of somebody else's model, with an eye on the end of the sentence.
//
// For a prefix x_1 .. x_t and each next word x a Guide gives, exactly under its own model,
//   probability[x] = p(x | prefix)    joint[x] = p(x, the sentence will satisfy the constraint | prefix)
// so that joint / probability is p(constraint | prefix, x), and the sum of joint over x is p(constraint | prefix).
// A large language model's p(x | prefix) times the first, normalised, writes sentences that satisfy the
// constraint (Zhang et al. 2023, 2024).
//
// A prefix is a value: beams copy it. What stands before the constraint begins (a prompt) moves the belief and
// not the automaton.
#pragma once

#include <memory>
#include <vector>

#include "hiddenite/hmm/guide/ahead.hpp"

namespace hiddenite::hmm {

struct GuidePrefix {
  std::vector<double> belief;
  std::uint32_t length = 0;  // words that the constraint counts
  std::uint32_t state = 0;   // of the automaton, or DEAD
  bool ended = false;        // </s> has come
};

struct NextWords {
  std::vector<double> probability;  // [word]
  std::vector<double> joint;        // [word], to be multiplied by exp(log_scale)
  std::vector<double> unknown;      // [class]: p(constraint | prefix, a word that no state knows), likewise
  double log_scale = 0.0;
};

// p(constraint | prefix, x) of any word x of a class lies between the least and the most of the values of the states
// that may come, since it is their mean under p(state | prefix, x): known before a look at the word's emissions.
struct NextBounds {
  std::vector<double> least, most;  // [class], to be multiplied by exp(log_scale)
  std::vector<double> mean;         // [class]: the same number as NextWords::unknown
  double log_scale = 0.0;
};

class Guide {
 public:
  Guide(std::unique_ptr<GuidedChain> chain, Automaton automaton, LengthWindow window, int threads)
      : chain_(std::move(chain)), ahead_(*chain_, std::move(automaton), std::move(window), false, threads),
        threads_(threads) {}

  GuidePrefix begin() const;
  // Words that stand before the constraint begins move the belief alone; returns p(word | before).
  double follow(GuidePrefix& prefix, WordId w) const;
  // Moves on; returns p(word | prefix). Both throw ModelError for a word that is none.
  double advance(GuidePrefix& prefix, WordId w) const;
  // Moves on by a word of which only the class is known.
  void advance_unknown(GuidePrefix& prefix, std::uint32_t class_id) const;
  // Of some words, or of all if none is given. Costs what they cost: with a dense chain, fewer words are less to read.
  NextWords next_words(const GuidePrefix& prefix, const std::vector<WordId>& words = {}) const;
  // Costs a pass over the states. Throws ModelError if transitions emit.
  NextBounds next_bounds(const GuidePrefix& prefix) const;
  // ln p(constraint | prefix), without a look at each word if states emit.
  double log_prob(const GuidePrefix& prefix) const;
  // Classes whose words leave a way to an accepting end, whatever the model says of them.
  std::vector<bool> allowed_classes(const GuidePrefix& prefix) const;
  // Whether the sentence satisfies the constraint if it is over now.
  bool is_satisfied(const GuidePrefix& prefix) const;

 private:
  void check(WordId w) const;
  std::unique_ptr<GuidedChain> chain_;
  Ahead ahead_;
  int threads_;
};

}  // namespace hiddenite::hmm
