// The language model as the walking methods see it: states, arcs, and how much
// the rest of a sentence can tell two states apart.
//
// A state is a context that predicts something of its own: it lists successors
// or its back-off weight is not 1. Every other context behaves as its suffix
// and is replaced by it.
//
// An n-gram model forgets after order - 1 words. So the log ratio of all that
// can follow a context s and its suffix is bounded by two numbers per state:
//   up(s)   = max over continuations y that end in </s> of
//             sum over j of [ln p(y_j | s y_1 ..) - ln p(y_j | suf(s) y_1 ..)],
//   down(s) = the minimum.
// For an arc a = (s, w) with suffix arc suf(a) = (suf(s), w):
//   arc_up(a) = ln p(a) - ln p(suf(a)) + up(a), the last term if a is a state,
//   up(s)     = max(ln bow(s), max over arcs a of s of arc_up(a)),
// and down with min. Continuations that may end anywhere (`ends` false) use
// max(up(a), 0) and min(down(a), 0) within the recursion.
//
// Floats, rounded outwards: a bound is never better than it may be. Where both
// probabilities of an arc are zero it says nothing; where one is, the bound is
// infinite and never prunes.
#pragma once

#include <bit>
#include <cmath>
#include <vector>

#include "ngram.hpp"

namespace hiddenite {

class StateIndex {
 public:
  struct State {
    NodeId suffix;       // the next shorter state
    NodeId first_arc;    // its arcs end where those of the next state begin
    std::uint32_t classes;  // bit set of the word classes among its arcs
    float log_backoff;
    float up, down;      // bounds against `suffix`
    float up_to_root;    // sum of `up` down the suffix chain
    union {
      float best_arc;           // max over arcs of arc.up_to_root; with a class table:
      std::uint32_t table;      // its first class in class_tables_, before which lies that of all arcs
    };
  };
  struct Arc {
    WordId word;
    NodeId next;         // the state after it
    float log_prob;
    float up_to_root;    // log_prob + the sum of `up` of the next state's chain
    float down_to_root;  // log_prob + the sum of `down`
    float up, down;      // arc_up, arc_down
  };

  // What a state with many arcs knows of one word class: its first arc of the
  // class and, over the arcs of the class, `up`, `down` and the best arc's up_to_root.
  struct ClassOfArcs {
    NodeId first_arc;
    float up, down, best_arc;
  };

  StateIndex(const NgramTable& table, bool ends);

  // The arrays of an index, as a compiled model keeps them.
  struct Parts {
    std::span<const State> states;
    std::span<const Arc> arcs;
    std::span<const std::uint8_t> word_class;
    std::span<const float> up_of_word, unigram_up_to_root;
    std::span<const ClassOfArcs> class_tables;
    NodeId start;
  };
  Parts parts() const;
  // Looks at parts that somebody else keeps and vouches for.
  StateIndex(const NgramTable& table, bool ends, const Parts& parts);

  const NgramTable& table() const { return table_; }
  bool ends() const { return ends_; }
  const State& state(NodeId s) const { return states_[s]; }
  NodeId end_arc(NodeId s) const { return states_[s + 1].first_arc; }
  const Arc& arc(NodeId a) const { return arcs_[a]; }
  NodeId start() const { return start_; }
  std::size_t bytes() const { return states_.size() * sizeof(State) + arcs_.size() * sizeof(Arc); }

  // The sum of `up` from the state after the word alone to the root.
  float up_of_word(WordId w) const { return up_of_word_[w]; }

  static constexpr std::uint32_t HAS_CLASS_TABLE = std::uint32_t{1} << 31;  // of State::classes
  // Of a state with such a table and the one bit of a class that it has.
  const ClassOfArcs& class_of_arcs(NodeId s, std::uint32_t class_bit) const {
    return class_tables_[states_[s].table + num_classes_before(s, class_bit)];
  }
  float best_arc(NodeId s) const {
    const State& state = states_[s];
    return state.classes & HAS_CLASS_TABLE ? class_tables_[state.table - 1].best_arc : state.best_arc;
  }
  // up_to_root of the unigrams, side by side.
  const float* unigram_up_to_root() const { return unigram_up_to_root_.data(); }

  // The class of a word: words of one length in characters share one, so that
  // most questions for a word of a slot are answered by a state's bit set.
  std::uint32_t class_bit(WordId w) const { return std::uint32_t{1} << word_class_[w]; }

  // The first arc of s whose word is not below w; end_arc(s) if there is none.
  NodeId lower_arc(NodeId s, WordId w) const {
    NodeId first = states_[s].first_arc;
    const NodeId end = end_arc(s);
    NodeId size = end - first;
    while (size > FEW_ARCS) {
      const NodeId half = size / 2;
      const bool below = arcs_[first + half].word < w;
      first += below ? half + 1 : 0;
      size = below ? size - half - 1 : half;
    }
    while (first < end && arcs_[first].word < w) ++first;
    return first;
  }
  // The arc of s that predicts w, or NO_NODE.
  NodeId find_arc(NodeId s, WordId w) const {
    if (s == ROOT) return 1 + w;
    if ((states_[s].classes & class_bit(w)) == 0) return NO_NODE;
    const NodeId a = lower_arc(s, w);
    return a < end_arc(s) && arcs_[a].word == w ? a : NO_NODE;
  }

  // Memory is what a walk waits for: ask for it early.
  void prefetch_state(NodeId s) const { __builtin_prefetch(&states_[s]); }
  void prefetch_arc(NodeId a) const { __builtin_prefetch(&arcs_[a]); }
  void prefetch_bounds(NodeId s, std::uint32_t class_bit) const {
    if (states_[s].classes & HAS_CLASS_TABLE) {
      __builtin_prefetch(&class_of_arcs(s, class_bit));
    } else {
      prefetch_arcs(s);
    }
  }
  void prefetch_arcs(NodeId s) const { __builtin_prefetch(&arcs_[states_[s].first_arc]); }

 private:
  std::uint32_t num_classes_before(NodeId s, std::uint32_t class_bit) const {
    return static_cast<std::uint32_t>(std::popcount(states_[s].classes & (class_bit - 1)));
  }

  static constexpr NodeId FEW_ARCS = 4;  // looked through one by one

  void classify_words();
  void link_states();
  void bound_states();
  void bound_arcs();
  void tabulate_classes();

  const NgramTable& table_;
  bool ends_;
  NodeId start_ = ROOT;
  Column<State> states_;  // one more than contexts
  Column<Arc> arcs_;
  Column<std::uint8_t> word_class_;
  Column<float> up_of_word_;
  Column<float> unigram_up_to_root_;
  Column<ClassOfArcs> class_tables_;  // by state and class
};

}  // namespace hiddenite
