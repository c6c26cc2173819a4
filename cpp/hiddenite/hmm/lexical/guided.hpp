// A lexicalised model as guides and products see it: beliefs that move forward, values that move backward.
//
// A belief is the context of the words so far and the probabilities of its states. Values are those of the states
// after the word, B_t(q, s) of ahead.hpp: a state knows its last word, so what the automaton makes of a word only
// says which column the states of its contexts take, and one backward step (backward.hpp, or maxima.hpp for the
// best words and states) does the rest. A word
// that the model does not know is passed over: context and probabilities stay.
#pragma once

#include <memory>
#include <vector>

#include "hiddenite/hmm/guide/ahead.hpp"
#include "hiddenite/hmm/lexical/backward.hpp"
#include "hiddenite/hmm/lexical/maxima.hpp"

namespace hiddenite::hmm {

class LexicalAhead final : public AheadOperator {
 public:
  LexicalAhead(const LexicalHmm& model, const Automaton& automaton, const std::vector<AutomatonEdge>& edges,
               bool best);
  void apply(const AheadStep& step, const double* next, double* out, int threads) const override;
  // States do not emit here, so there is nothing before the word: throws ModelError.
  void emit(const AheadStep& step, const double* next, double* out) const override;

 private:
  const LexicalHmm& model_;
  std::unique_ptr<LexicalBackward> backward_;  // one of the two: sums, or
  std::unique_ptr<LexicalMaxima> maxima_;      // maxima
  std::vector<std::uint32_t> class_of_;                    // [word]
  std::vector<std::vector<std::uint32_t>> edge_classes_;   // [edge]
  std::uint32_t num_classes_;
};

class GuidedLexical final : public GuidedChain {
 public:
  explicit GuidedLexical(const LexicalHmm& model) : model_(model) {}
  std::size_t num_states() const override { return model_.num_states(); }
  WordId num_words() const override { return model_.num_words(); }
  WordId end() const override { return SENTENCE_END; }
  bool states_emit() const override { return false; }
  std::vector<double> begin() const override { return {static_cast<double>(SENTENCE_BEGIN), 1.0}; }
  double advance(WordId w, std::vector<double>& belief) const override;
  void next_words(const std::vector<double>& belief, const NextColumns& columns, const std::vector<WordId>& words,
                  int threads, double* probability, double* joint, double* unknown) const override;
  std::unique_ptr<AheadOperator> ahead(const Automaton& automaton, const std::vector<AutomatonEdge>& edges,
                                       bool best) const override;

 private:
  const LexicalHmm& model_;
};

}  // namespace hiddenite::hmm
