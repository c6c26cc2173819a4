// A large hidden Markov model of sentences with sparse emissions.
//
// States come in groups. A word is emitted only by the states of its set, which
// lies in one group: the whole group, if words share states by their class (a
// Brown-tied partition), or some of its members (random subsets of one group of
// all states). A sentence of T words then costs T k^2, whatever the number of
// states. Transitions are stored in blocks: the block of groups g and h is a
// matrix of |g| rows and |h| columns, p(z' | z), rows together in memory.
//
// A sentence is words and then </s>; z_1 is drawn from `initial`, nothing is
// carried over. A chain whose vocabulary lacks the end gives probabilities of
// word sequences of a fixed length instead.
//
// Which door to take:
//   probability of sentences, or of their words one by one    score.hpp
//   filter, posterior states, best states, next word          states.hpp
//   sentences under a constraint: probability, draws, best    product.hpp
//   estimation by expectation-maximisation                    em.hpp
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hiddenite/base/types.hpp"

namespace hiddenite::hmm {

using HiddenState = std::uint32_t;
inline constexpr std::uint32_t NO_GROUP = std::numeric_limits<std::uint32_t>::max();

// Some states of one group.
struct StateSet {
  std::uint32_t group;
  std::uint32_t size;
  const std::uint32_t* members;  // places in the group; null: all of it

  std::uint32_t place(std::uint32_t i) const { return members == nullptr ? i : members[i]; }
};

// Groups and words' sets: what is known before training.
struct HmmShape {
  std::vector<HiddenState> group_begin;        // [group], and the number of states
  std::vector<std::uint32_t> word_group;   // [word]; NO_GROUP: no state emits it
  std::vector<std::uint64_t> set_begin;    // [word], and the end: its entries in `members` and in emissions
  std::vector<std::uint32_t> members;      // places in the word's group; empty if all sets are whole groups
  bool has_end = true;

  std::uint32_t num_groups() const { return static_cast<std::uint32_t>(group_begin.size() - 1); }
  HiddenState num_states() const { return group_begin.back(); }
  WordId num_words() const { return static_cast<WordId>(word_group.size()); }
  std::uint32_t group_size(std::uint32_t g) const { return group_begin[g + 1] - group_begin[g]; }
  StateSet set(WordId w) const {
    return {word_group[w], static_cast<std::uint32_t>(set_begin[w + 1] - set_begin[w]),
            members.empty() ? nullptr : members.data() + set_begin[w]};
  }
  HiddenState state(WordId w, std::uint32_t i) const { return group_begin[word_group[w]] + set(w).place(i); }
  // Where the block of two groups begins.
  std::size_t block(std::uint32_t g, std::uint32_t h) const {
    return std::size_t{group_begin[g]} * num_states() + std::size_t{group_size(g)} * group_begin[h];
  }
  std::size_t num_transitions() const { return std::size_t{num_states()} * num_states(); }
  // Throws ModelError.
  void check() const;
};

struct SparseHmm : HmmShape {
  std::vector<double> initial;    // [state]
  std::vector<float> transition;  // in blocks
  std::vector<double> emission;   // [set_begin[w] + i]: p(w | i-th state of its set)

  const float* block_of(std::uint32_t g, std::uint32_t h) const { return transition.data() + block(g, h); }
  float probability(std::uint32_t g, std::uint32_t i, std::uint32_t h, std::uint32_t j) const {
    return block_of(g, h)[std::size_t{i} * group_size(h) + j];
  }
  std::span<const double> emissions(WordId w) const {
    return {emission.data() + set_begin[w], set_begin[w + 1] - set_begin[w]};
  }
  // Throws ModelError if sizes do not fit or a number is no probability.
  void check() const;

  // y += x T and y += T w, from the states of one set to those of another.
  void add_forward(const StateSet& from, const double* x, const StateSet& to, double* y) const;
  void add_backward(const StateSet& from, double* y, const StateSet& to, const double* w) const;
  StateSet whole(std::uint32_t g) const { return {g, group_size(g), nullptr}; }
};

}  // namespace hiddenite::hmm
