// One backward step over all states of a lexicalised model:
//   B(x, z) = sum_w P(w | x, z) V(z, w, next(x, w)),   V(z, w, y) = sum_z' R(z' | z, w) N(y, z')
// for every context x and its states, z standing for the hidden states of all chains. N may have several columns,
// side by side, which share the work on R.
//
// Contexts differ in few words, so what they share is computed once. With y = suffix(x),
//   hidden(x, z)  = sum_w a(z, w) V(z, w, next(x, w))     = hidden(y, z) + what the successors (x w) change
//   lexical(x, z) = sum_w l_x(w) V(z, w, next(x, w))      = b_x lexical(y, z) + the same + the context's own list
//   B = lambda_x lexical + gamma_x hidden
// At the bottom all successors are single words (w). Where (w) has one state, or all those of the only chain,
// a R = A E is linear, and the sum over such words is A times a column. Where some states of several chains are
// kept, R is a ratio of products, and V is computed for each z that occurs and each such word:
//   (different z) (states of those words) + (entries of lists and contexts) (states) multiplications a column.
#pragma once

#include <vector>

#include "hiddenite/hmm/lexical/model.hpp"

namespace hiddenite::hmm {

class LexicalBackward {
 public:
  explicit LexicalBackward(const LexicalHmm& model);

  // ahead: N, [state * width + column]; result: B, in the same order, zero for the state of </s>. The width is a
  // multiple of COLUMN_TILE.
  void step(const double* ahead, std::size_t width, double* result, int threads) const;

 private:
  // A context's sums get V of a successor: hidden += hidden_factor a V, lexical += lexical_factor V.
  struct Use {
    std::uint32_t context;  // place in the part
    ContextId to;
    double hidden, lexical;
  };
  struct Row {
    std::uint32_t group, place;  // of a hidden state; NO_GROUP: <s>
  };
  // Contexts whose last words share groups of the first chain; a context and its suffixes are in the same part.
  struct Part {
    std::vector<std::vector<Row>> rows;   // [m]: hidden states that occur
    std::vector<std::uint32_t> tuples;    // [tuple * M + m]: a place in rows[m]
    std::vector<ContextId> contexts;      // short ones first
    std::vector<std::uint64_t> begin;     // [context], and the end: its tuples and those of its extensions
    std::vector<std::uint32_t> tuple;     // [begin ..]
    std::vector<std::uint64_t> above;     // [begin ..]: where the suffix has the same tuple
    std::vector<std::uint64_t> use_begin;  // [word], and the end
    std::vector<Use> uses;
    std::vector<bool> needs_rows;          // [word]: some use is more than a copy
    std::size_t num_tuples(std::size_t chains) const { return tuples.size() / chains; }
  };
  class Mover;
  using Shared = std::vector<std::vector<double>>;

  std::vector<std::uint32_t> deal_contexts();
  void list_tuples(Part& part);
  void list_uses(Part& part, const std::vector<std::uint32_t>& place);
  Shared linear_words(const double* ahead, std::size_t width, const std::vector<bool>& is_live, int threads) const;
  void step_part(const Part& part, const Shared& shared, const std::vector<bool>& is_live, const double* ahead,
                 std::size_t width, double* result) const;
  void finish_part(const Part& part, const std::vector<double>& base, std::vector<double>& hidden,
                   std::vector<double>& lexical, std::size_t width, double* result) const;

  const LexicalHmm& model_;
  std::vector<bool> is_linear_;             // [word]
  std::vector<std::uint64_t> state_tuple_;  // [state]: where its part has its tuple
  std::vector<std::uint64_t> child_begin_;  // [context], and the end
  std::vector<ContextId> child_;            // contexts (x w), by x
  std::vector<Part> parts_;
};

}  // namespace hiddenite::hmm
