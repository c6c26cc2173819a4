// Hidden Markov models whose states emit, as ahead.hpp wants a model.
//
// A belief is p(next state | words so far). Values move backward in two steps,
//   G_t(q, z') = [may end] p(</s> | z') + sum over edges q -> r of M(q, r, z') B_{t+1}(r, z')
//   B_t(q, z)  = sum_z' p(z' | z) G_t(q, z')
// M(q, r, z') being what z' emits of the words that lead from q to r: words are summed once, not at each t. The
// second step multiplies the transition matrix by all live columns at once: Z^2 numbers are read once a t.
//
// Most groups of states emit no word that the automaton looks at: they are plain, and there G_t(q, .) depends on q
// only through the state that any other word leads to. States of an automaton that differ in how much of a phrase
// has just been read share it, up to their scales. So plain groups are multiplied once for each such state, and only
// the others for each q: four phrases of two words cost 16 columns instead of 81.
//
// Two layouts: SparseHmm (model.hpp), where a word belongs to few states, and DenseHmm, where every state emits
// every word, in floats that somebody else owns. A next word costs its set: all words together V k or V Z.
#pragma once

#include <span>

#include "hiddenite/hmm/guide/ahead.hpp"
#include "hiddenite/hmm/model.hpp"

namespace hiddenite::hmm {

// Every state emits every word. Immutable; the arrays of floats must outlive it.
struct DenseHmm {
  std::vector<HiddenState> group_begin;  // 0 and the number of states: one group
  WordId num_word_ids = 0;
  WordId end_word = NO_WORD;  // any word may be the end
  std::vector<double> initial;
  const float* transition = nullptr;  // [z * states + z']
  const float* emission = nullptr;    // [w * states + z]

  HiddenState num_states() const { return group_begin.back(); }
  WordId num_words() const { return num_word_ids; }
  std::uint32_t num_groups() const { return 1; }
  std::uint32_t group_size(std::uint32_t) const { return num_states(); }
  const float* block_of(std::uint32_t, std::uint32_t) const { return transition; }
  StateSet whole(std::uint32_t) const { return {0, num_states(), nullptr}; }
  StateSet set(WordId) const { return whole(0); }
  std::span<const float> emissions(WordId w) const {
    return {emission + std::size_t{w} * num_states(), num_states()};
  }
  void add_forward(const StateSet& from, const double* x, const StateSet& to, double* y) const;
  // Throws ModelError if a number is no probability or rows do not add up to one.
  void check() const;
};

inline WordId end_of(const SparseHmm& chain) { return chain.has_end ? SENTENCE_END : NO_WORD; }
inline WordId end_of(const DenseHmm& chain) { return chain.end_word; }

template <class Chain>
class HmmAhead final : public AheadOperator {
 public:
  HmmAhead(const Chain& chain, const Automaton& automaton, const std::vector<AutomatonEdge>& edges, bool best);
  void apply(const AheadStep& step, const double* next, double* out, int threads) const override;
  void emit(const AheadStep& step, const double* next, double* out) const override;

 private:
  struct Plain;
  Plain plain_columns(const AheadStep& step) const;
  void find_plain_groups(const Automaton& automaton, const std::vector<AutomatonEdge>& edges);
  void emit_group(const AheadStep& step, std::uint32_t group, const double* word, const double* next,
                  double* out) const;
  void transit(const std::vector<std::uint32_t>& from, const double* emitted, std::size_t width, double* out,
               int threads) const;
  void apply_plain(const AheadStep& step, const Plain& plain, const double* next, double* out, int threads) const;

  const Chain& chain_;
  bool best_;
  std::size_t num_edges_;
  std::vector<std::uint32_t> all_groups_, plain_groups_, other_groups_;
  std::vector<bool> is_plain_edge_;  // [edge]: words of plain groups lead along it
  std::vector<double> mass_;  // [z * edges + edge]
  std::vector<double> end_;   // [z]: p(</s> | z)
};

template <class Chain>
class GuidedHmm final : public GuidedChain {
 public:
  explicit GuidedHmm(const Chain& chain) : chain_(chain) {}
  std::size_t num_states() const override { return chain_.num_states(); }
  WordId num_words() const override { return chain_.num_words(); }
  WordId end() const override { return end_of(chain_); }
  std::vector<double> begin() const override { return chain_.initial; }
  double advance(WordId w, std::vector<double>& belief) const override;
  void next_words(const std::vector<double>& belief, const NextColumns& columns, const std::vector<WordId>& words,
                  int threads, double* probability, double* joint, double* unknown) const override;
  std::unique_ptr<AheadOperator> ahead(const Automaton& automaton, const std::vector<AutomatonEdge>& edges,
                                       bool best) const override {
    return std::make_unique<HmmAhead<Chain>>(chain_, automaton, edges, best);
  }

 private:
  const Chain& chain_;
};

extern template class HmmAhead<SparseHmm>;
extern template class HmmAhead<DenseHmm>;
extern template class GuidedHmm<SparseHmm>;
extern template class GuidedHmm<DenseHmm>;

}  // namespace hiddenite::hmm
