// The changes that a sentence needs, with their probabilities.
//
// The sentence's lattice (noisy_lattice.hpp) is decoded and summed over by the
// exact engine: the best reading, with the proof that none is better, and of
// each change in it the exact marginal: the share of all readings, by weight,
// that take the same edge. One lattice is built for both. Batches run on
// threads; answers do not depend on how many.
#pragma once

#include <string>
#include <vector>

#include "hiddenite/correct/noisy_lattice.hpp"
#include "hiddenite/exact/engine.hpp"

namespace hiddenite::correct {

struct ReadingChoice {
  std::vector<std::string> words;
  double prob;
};

struct SentenceChange {
  std::uint32_t first, end;  // tokens
  ReadingChoice choice;
  std::vector<ReadingChoice> alternatives;  // of the same tokens, the most probable first
  bool was_known;                           // all words as seen are in the lexicon
};

struct SentenceCorrection {
  std::vector<SentenceChange> changes;
  double upper = 0.0, lower = 0.0;  // of the best reading's log weight
  bool exact = true;
  std::uint64_t states = 0;
  double error_bound = 0.0;         // no marginal is further off
  double left_out = LOG_ZERO;       // no candidate that was not looked at scores more
};

// A whole reading of a sentence: the words that each run of tokens is read as.
struct SentenceDraw {
  std::vector<SentenceChange> parts;  // the changed ones; without alternatives
  std::uint64_t count;
};

// What the posterior says of a token: it was meant as this word.
struct MeantPair {
  std::string seen, meant;
  double prob;
};

class Corrections {
 public:
  // All stay the caller's.
  Corrections(const Engine& engine, const SeenWords& words, const LatticeOptions& options)
      : engine_(engine), builder_(words, options), words_(words) {}

  using Sentence = std::vector<NoisyToken>;
  std::vector<SentenceCorrection> correct(const std::vector<Sentence>& sentences, int threads) const;
  std::vector<SentenceDraw> sample(const Sentence& sentence, std::uint64_t count, std::uint64_t seed,
                                   std::uint64_t stream) const;
  // Of all tokens that may change: the readings of at least `least` probability.
  std::vector<MeantPair> expect(const std::vector<Sentence>& sentences, double least, int threads) const;
  NoisyLattice lattice(const Sentence& sentence) const;

 private:
  SentenceCorrection correct_one(const Sentence& sentence, EditSearch& search, Workspace& workspace) const;

  const Engine& engine_;
  NoisyLatticeBuilder builder_;
  const SeenWords& words_;
};

}  // namespace hiddenite::correct
