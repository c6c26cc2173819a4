// Constraints on sentences: a finite automaton over words, words at positions, and a window of lengths.
//
// Most words are alike to an automaton, so words come in classes and arcs are listed by class: a set of four
// keywords over 50,000 words has five classes. All that is precomputed is by class or by AutomatonEdge (two states and
// the classes that lead from one to the other), never by word.
//
// LivePairs are the pairs of a number of words and a state that lie on a way from the start to an accepting end
// within the window. Only they get values.
#pragma once

#include <cstdint>
#include <vector>

#include "hiddenite/base/types.hpp"

namespace hiddenite::hmm {

inline constexpr std::uint32_t DEAD = 0xFFFFFFFFu;

// Deterministic, over words; the end of the sentence is no word.
struct Automaton {
  std::uint32_t start = 0;
  std::vector<bool> accepts;            // [q]
  std::vector<std::uint32_t> class_of;  // [word]
  std::vector<std::uint32_t> target;    // [q * classes + class]: next state, or DEAD

  std::uint32_t num_states() const { return static_cast<std::uint32_t>(accepts.size()); }
  std::uint32_t num_classes() const { return static_cast<std::uint32_t>(target.size() / accepts.size()); }
  std::uint32_t next(std::uint32_t q, WordId w) const { return target[std::size_t{q} * num_classes() + class_of[w]]; }
  // Throws ModelError.
  void check(WordId num_words) const;
};

struct AutomatonEdge {
  std::uint32_t from, to;
  std::vector<std::uint32_t> classes;
};
// All pairs of states that some class joins, by `from`.
std::vector<AutomatonEdge> automaton_edges(const Automaton& automaton);

struct LengthWindow {
  std::vector<WordId> fixed;  // [t]: the word at t or NO_WORD; what is beyond its end is free
  std::uint32_t shortest = 0, longest = 0;

  WordId word(std::uint32_t t) const { return t < fixed.size() ? fixed[t] : NO_WORD; }
};

class LivePairs {
 public:
  // Without end, a sentence is over after `longest` words.
  LivePairs(const Automaton& automaton, const std::vector<AutomatonEdge>& edges, const LengthWindow& window,
            bool has_end);

  const std::vector<std::uint32_t>& states(std::uint32_t t) const { return states_[t]; }
  // The place of a state among those that live at t, or DEAD.
  std::uint32_t column(std::uint32_t t, std::uint32_t q) const {
    return t < states_.size() && q != DEAD ? column_[std::size_t{t} * num_states_ + q] : DEAD;
  }
  // Whether a sentence may be over after t words at q.
  bool may_end(std::uint32_t t, std::uint32_t q) const { return t >= shortest_ && t < states_.size() && accepts_[q]; }

 private:
  std::uint32_t num_states_, shortest_;
  std::vector<bool> accepts_;
  std::vector<std::vector<std::uint32_t>> states_;  // [t]
  std::vector<std::uint32_t> column_;               // [t * automaton states + q]
};

}  // namespace hiddenite::hmm
