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

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

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
      float best_arc;           // max over arcs of up_to_root; with a class table:
      std::uint32_t table;      // its first class in class_tables_, before which lies that of all arcs
    };
  };
  struct Arc {
    WordId word;
    NodeId next;         // the state after it
    float log_prob;
    float down_to_root;  // log_prob + the sum of `down` of the next state's chain
    float up, down;      // arc_up, arc_down
  };
  // What a walk that prunes asks of every arc; most are never asked for more.
  struct ArcHead {
    WordId word;
    float up_to_root;    // log_prob + the sum of `up` of the next state's chain
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
    std::span<const ArcHead> heads;
    std::span<const std::uint8_t> word_class;
    std::span<const float> up_of_word, unigram_up_to_root, fall_after_word, down_after_word;
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
  const ArcHead& head(NodeId a) const { return heads_[a]; }
  NodeId start() const { return start_; }

  // The sum of `up` from the state after the word alone to the root.
  float up_of_word(WordId w) const { return up_of_word_[w]; }

  static constexpr NodeId FEW_ARCS = 8;  // looked through one by one
  static constexpr std::uint32_t HAS_CLASS_TABLE = std::uint32_t{1} << 31;  // of State::classes
  // Of a state with such a table and the one bit of a class that it has.
  const ClassOfArcs& class_of_arcs(NodeId s, std::uint32_t class_bit) const {
    return class_tables_[states_[s].table + num_classes_before(s, class_bit)];
  }
  // Behind the last of its arcs.
  NodeId end_of_class(NodeId s, std::uint32_t class_bit) const {
    const std::uint32_t later = states_[s].classes & ~HAS_CLASS_TABLE & ~(class_bit | (class_bit - 1));
    return later == 0 ? end_arc(s) : (&class_of_arcs(s, class_bit))[1].first_arc;
  }
  float best_arc(NodeId s) const {
    const State& state = states_[s];
    return state.classes & HAS_CLASS_TABLE ? class_tables_[state.table - 1].best_arc : state.best_arc;
  }
  // After each word alone, the next word being of the class. By how much less than up_of_word(w) the rest can
  // bring, never above 0; and `down`.
  const float* fall_after_word(std::uint32_t class_bit) const { return &fall_after_word_[class_row(class_bit)]; }
  const float* down_after_word(std::uint32_t class_bit) const { return &down_after_word_[class_row(class_bit)]; }
  // up_to_root of the unigrams, side by side.
  const float* unigram_up_to_root() const { return unigram_up_to_root_.data(); }

  // The class of a word: words of one length in characters share one, so that
  // most questions for a word of a slot are answered by a state's bit set.
  std::uint32_t class_bit(WordId w) const { return std::uint32_t{1} << word_class_[w]; }

  // The first arc of s whose word is not below w; end_arc(s) if there is none.
  NodeId lower_arc(NodeId s, WordId w) const { return lower(arcs_, s, w); }
  // The arc of s that predicts w, or NO_NODE.
  NodeId find_arc(NodeId s, WordId w) const {
    if (s == ROOT) return 1 + w;
    if ((states_[s].classes & class_bit(w)) == 0) return NO_NODE;
    const NodeId a = lower_arc(s, w);
    return a < end_arc(s) && arcs_[a].word == w ? a : NO_NODE;
  }
  // Some arc of s predicts w; looks at heads alone.
  bool lists(NodeId s, WordId w) const {
    if (s == ROOT) return true;
    if ((states_[s].classes & class_bit(w)) == 0) return false;
    const NodeId a = lower(heads_, s, w);
    return a < end_arc(s) && heads_[a].word == w;
  }

  // Memory is what a walk waits for: ask for it early.
  void prefetch_state(NodeId s) const { __builtin_prefetch(&states_[s]); }
  void prefetch_arc(NodeId a) const { __builtin_prefetch(&arcs_[a]); }
  void prefetch_head(NodeId a) const { __builtin_prefetch(&heads_[a]); }
  void prefetch_bounds(NodeId s, std::uint32_t class_bit) const {
    if (states_[s].classes & HAS_CLASS_TABLE) {
      __builtin_prefetch(&class_of_arcs(s, class_bit));
    } else {
      prefetch_arcs(s);
    }
  }
  void prefetch_arcs(NodeId s) const { __builtin_prefetch(&arcs_[states_[s].first_arc]); }

 private:
  template <class Item>
  NodeId lower(const Column<Item>& items, NodeId s, WordId w) const {
    NodeId first = states_[s].first_arc;
    const NodeId end = end_arc(s);
    NodeId size = end - first;
    while (size > 4) {
      const NodeId half = size / 2;
      const bool below = items[first + half].word < w;
      first += below ? half + 1 : 0;
      size = below ? size - half - 1 : half;
    }
    while (first < end && items[first].word < w) ++first;
    return first;
  }
  std::size_t class_row(std::uint32_t class_bit) const {
    return static_cast<std::size_t>(std::countr_zero(class_bit)) * word_class_.size();
  }
  std::uint32_t num_classes_before(NodeId s, std::uint32_t class_bit) const {
    return count_bits(states_[s].classes & (class_bit - 1));
  }
  // Without the instruction that not every processor has, std::popcount is a call.
  static std::uint32_t count_bits(std::uint32_t x) {
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
  }

  void classify_words();
  void link_states();
  void bound_states();
  void bound_arcs();
  void tabulate_classes();
  void tabulate_words();

  const NgramTable& table_;
  bool ends_;
  NodeId start_ = ROOT;
  Column<State> states_;  // one more than contexts
  Column<Arc> arcs_;
  Column<ArcHead> heads_;  // of the arcs
  Column<std::uint8_t> word_class_;
  Column<float> up_of_word_;
  Column<float> unigram_up_to_root_;
  Column<float> fall_after_word_, down_after_word_;  // [class][word]
  Column<ClassOfArcs> class_tables_;  // by state and class
};

}  // namespace hiddenite::lm
