// The weights of context_emissions.hpp from tagged text, in two stages.
//
// Local: each word's tag on its own, p(t | sentence) proportional to exp s(t).
// Structured: whole sequences (a conditional random field), with the model of
// tags as a fixed part of the score,
//
//   score(tags) = sum over i of s_i(t_i) - mu ln p(symbol_i)  +  ln of the table's weight of the symbols,
//
// and forward–backward over the tags within `margin` of a word's best (and the
// right one): tag_lattice.hpp. A model of tags that has seen the sentence itself
// would be trusted too much, so each sentence has that of other folds.
//
// For the same reason p(t | w) leaves the token itself out of the counts, and
// with `drop_words` a word's own name is hidden with probability
// 1 / (1 + count): the rarer a word, the more often it is met as an unseen one.
//
// Both stages take a step per sentence, each weight with its own step length
// (AdaGrad); the penalty of a weight is shared out among the tokens that have
// its feature.
//
// The annotation need not be complete: tagged_text.hpp. Either stage maximises
//
//   ln of the sum over all tags of p(tags) times the product of e_i(t_i),
//
// whose gradient is that of two sums, with and without the evidence e; a word of
// which nothing is known tells the local stage nothing.
//
// A training is one thread's work and depends on nothing but its input and seed;
// folds and settings, which are many, run beside each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/channel/context/context_emissions.hpp"
#include "hiddenite/channel/guesser.hpp"
#include "hiddenite/channel/context/tag_lattice.hpp"
#include "hiddenite/channel/context/tagged_text.hpp"

namespace hiddenite::channel {

struct ContextOptions {
  double guess_weight = 0.3;  // m of tag_channel.hpp
  double base_weight = 0.5;   // kappa
  double prior_weight = 0.15; // mu
  double penalty = 0.3;       // of half the squared weights
  double margin = 6.0;
  bool drop_words = false;
  std::uint64_t seed = 1;
};

struct ContextSymbol {
  std::uint32_t tag;
  std::string word;  // as in TagSymbol
  double log_prior;
  std::vector<WordId> ids;  // [fold]: in its table
};

// The models of tags for the structured stage; the tables stay the caller's.
struct FoldTransitions {
  std::vector<const NgramTable*> tables;  // [fold]
  std::vector<std::uint32_t> fold;        // [sentence]
  std::vector<ContextSymbol> symbols;
};

class ContextTrainer {
 public:
  // The attributes, or null, stay the caller's. Throws ModelError for what does not fit together.
  ContextTrainer(TagParts parts, TaggedText text, const Guesser& guesser, const ContextOptions& options,
                 const WordAttributes* attributes = nullptr);

  void set_transitions(FoldTransitions transitions);
  void local_epoch(double rate) { epoch(rate, false); }
  void structured_epoch(double rate) { epoch(rate, true); }

  // ln p(tags) of the whole text, no words hidden and no penalty; `gradient` gets its derivative by each
  // weight unless it is null.
  double log_likelihood(bool structured, std::vector<double>* gradient);

  std::vector<float>& weights() { return weights_; }
  std::vector<float>& squares() { return squares_; }
  // The weights of at least so much.
  ContextWeights finish(double least) const;

 private:
  struct Position {
    std::vector<std::uint32_t> rows;  // of its features
    const float* base;                // kappa ln p(t | w)
    std::vector<double> gradient;     // of -ln p by each tag's score; then by each part's
    std::vector<std::uint32_t> active;
  };

  void number_features();
  void lay_out_rows();
  void compute_bases(const Guesser& guesser);
  void epoch(double rate, bool structured);
  void collect(std::size_t sentence, bool hide, Random& random);
  void score(Position& position) const;
  void by_part(Position& position) const;
  double local_gradient(std::size_t token, Position& position) const;
  double structured_gradient(std::size_t sentence);
  bool has_support(const std::int32_t* symbols, std::size_t token) const;
  void fill_lattice(std::size_t sentence, bool constrained);
  void apply(Position& position, double rate);
  template <class Visit>
  void for_each_weight(std::uint32_t row, const Position& position, Visit visit) const;
  template <class Visit>
  void for_each_word(std::size_t sentence, std::size_t token, Visit visit) const;

  TagParts parts_;
  const std::size_t num_tags_, num_parts_;
  const WordAttributes* attributes_;
  TaggedText text_;
  ContextOptions options_;
  std::vector<std::uint64_t> word_count_;
  std::vector<std::uint64_t> keys_;                            // [row]
  std::vector<std::vector<std::uint32_t>> rows_of_[NUM_ROLES]; // [word; the last is the empty one]
  std::vector<double> row_count_;
  std::vector<std::uint64_t> begin_;                           // [row]: in the four below
  std::vector<std::uint32_t> part_of_;
  std::vector<float> weights_, squares_;
  std::vector<float> bases_;
  std::vector<std::uint32_t> base_of_;                         // [token]
  FoldTransitions transitions_;
  std::vector<StepMemory> steps_;                              // [fold]
  std::vector<std::int32_t> symbol_of_;                        // [own word or 0][tag]
  std::vector<std::uint32_t> own_word_;                        // [word]
  std::vector<Position> positions_;
  std::uint64_t num_epochs_ = 0;

  TagLattice lattice_;
  std::vector<std::size_t> slot_begin_;
  std::vector<WordId> slot_ids_;
  std::vector<std::uint32_t> slot_tags_;
  std::vector<double> slot_scores_, marginals_;
};

}  // namespace hiddenite::channel
