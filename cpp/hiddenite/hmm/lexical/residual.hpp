// What the hidden states have to explain beside a lexical route.
//
// A token is predicted by P(w, z' | z) = [lex + gamma a(z, w)] A(z, z') E(z', w) / a(z, w), with
// a(z, w) = sum_z' A(z, z') E(z', w); lex and gamma are the token's own. With f(z) = lex / a(z, w) + gamma that
// is f(z) A(z, z') E(z', w): the usual recursions, with a factor for each state that is left. The counts that
// come out are meant for the hidden route alone: which group follows, and which word is emitted, is counted as
// far as that route has made the token; which state of the group follows, from all tokens.
//
// The text is worked through in parts, so that memory does not grow with it. The counts of a part are summed
// group by group, in the order of the text: the result does not depend on the threads.
#pragma once

#include <span>
#include <vector>

#include "hiddenite/hmm/counts.hpp"

namespace hiddenite::hmm {

class ResidualEm {
 public:
  // The words of a group share its states: sets must be whole groups. Throws ModelError.
  ResidualEm(const TokenText& text, HmmShape shape);

  // Counts under given probabilities; lex and gamma of each token, </s> included. Returns ln p of the text.
  double iterate(const SparseHmm& chain, std::span<const float> lexical, std::span<const float> gamma, int threads);

  const HmmShape& shape() const { return shape_; }
  const HmmPrior& prior() const { return prior_; }
  const HmmCounts& total() const { return total_; }

 private:
  struct Part;
  double expect_sentence(const SparseHmm& chain, Part& part, std::size_t s, std::span<const float> lexical,
                         std::span<const float> gamma) const;
  void count_group(const SparseHmm& chain, const Part& part, std::uint32_t g);
  void count_words(const Part& part);
  void finish_group(std::uint32_t g);

  HmmShape shape_;
  HmmPrior prior_;
  std::vector<WordId> words_;           // sentence by sentence, </s> included
  std::vector<std::uint64_t> begin_{0};  // of each sentence
  HmmCounts total_;
};

}  // namespace hiddenite::hmm
