// One backward step over all states of a lexicalised model with one chain and no state left out.
//
//   B(x, z) = sum_w P(w | x, z) sum_z' R(z' | z, w) N(next(x, w), z')
// for every context x and state z. Contexts differ in few words, so what they share is computed once:
//   hidden(x, z) = sum_w sum_z' A(z, z') E(z', w) N(next(x, w), z')
// is A times a column for single-word successors; a context adds, to the sum of its suffix, what its own
// successors change. The lexical sum L(x, z) = sum_w l_x(w) V(x, z, w), V = sum_z' R(z' | z, w) N(next(x, w), z'),
// takes the context's list and b_x times the suffix's sum, with the same corrections. In all
// Z^2 + (entries + contexts) K^2 multiplications.
#pragma once

#include <vector>

#include "hiddenite/hmm/lexical/model.hpp"

namespace hiddenite::hmm {

class LexicalBackward {
 public:
  // Whether the model has that form.
  static bool fits(const LexicalHmm& model);
  explicit LexicalBackward(const LexicalHmm& model);

  // ahead: N, [state]; result: B, [state], zero for the state of </s>.
  void step(const std::vector<double>& ahead, std::vector<double>& result, int threads) const;
  std::size_t work() const { return work_; }

 private:
  void add_context(ContextId x, const std::vector<double>& ahead, const std::vector<double>& shared,
                   std::vector<double>& hidden, std::vector<double>& lexical) const;
  // Adds factor A E N and factor' V of word w into context `to`, for each state of x.
  void add_word(ContextId x, WordId w, ContextId to, const std::vector<double>& ahead, double hidden_factor,
                double lexical_factor, double* hidden, double* lexical) const;

  const LexicalHmm& model_;
  std::vector<std::vector<ContextId>> by_length_;
  std::vector<std::uint64_t> child_begin_;
  std::vector<ContextId> child_;            // contexts (x w), by x
  std::vector<ContextId> child_shorter_;    // next(suffix of x, w)
  std::vector<double> child_listed_;        // l of the suffix
  std::vector<ContextId> entry_next_;       // next(x, w) of the table's entries
  std::size_t work_ = 0;
};

}  // namespace hiddenite::hmm
