// The max-backoff relaxation of an n-gram model: what a path need not say
// about its past (Carter, Dymetman & Bouchard 2012, sections 2.1 and 2.2).
//
// An automaton over positions. A state stands for what is known of a history:
//   (s, open)    it ends in s, a context that the table lists; anything may
//                come before. The word w costs max over all contexts that end
//                in s of p(w | .), which the table's max columns hold.
//   (s, closed)  s is the model's exact state; w costs p(w | s).
// Closed comes about by itself: at the start (<s>), after order - 1 words, and
// wherever a word makes an n-gram that the table does not list, since then no
// longer one is listed either (the table is closed under suffixes).
//
// What is known grows finer along one chain per history:
//   (root, open) > ... > (suf s, open) > (s, open) > (s, closed),
// and costs never rise along it. From a state and a word follows the finest
// context known (`successor`); the edge leads to the finest state of the next
// position that is not finer than that. So the automaton is deterministic, q
// bounds p on every path, and adding a state only lowers q.
//
// The relaxation begins with one state per position, the coarsest; tighten()
// adds states along one path. A path whose states are all closed has q = p, to
// the last bit: both add the same terms in the same order.
//
// docs/theory-exact.md has the proofs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/base/flat_map.hpp"
#include "hiddenite/channel/candidates.hpp"
#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::exact {

// ------------------------------------------------------------ positions

// A position as a relaxation sees it; </s> is one more.
struct Layer {
  std::span<const WordId> word;  // distinct, ascending
  std::span<const double> log_weight;
  bool is_range;                 // the ids are consecutive
  std::size_t size() const { return word.size(); }
};

enum class Weighting { BEST, TOTAL };  // of the candidates that share a word: to maximise, to sum

std::vector<Layer> make_layers(const Candidates& candidates, Weighting weighting);

// Calls visit(k, arc) for the words k of the layer that the context lists.
template <class Visit>
void for_each_listed(const NgramTable& table, NodeId context, const Layer& layer, Visit visit);

// ------------------------------------------------------------- the bound

struct Context {
  NodeId node;
  bool closed;
  bool operator==(const Context&) const = default;
};

// ln of the bound on p(w | history) for all histories of the context. Adds in
// the order of NgramTable::step, so that it is never below p by rounding.
double context_log_prob(const NgramTable& table, Context context, WordId w);

// What is known after w.
Context context_successor(const NgramTable& table, Context context, WordId w);

// A closed context that predicts nothing of its own is its suffix; others are what they are.
Context collapsed_context(const NgramTable& table, Context context);

// The words of a context.
std::vector<WordId> context_words(const NgramTable& table, NodeId node);

// --------------------------------------------------------- the automaton

using StateId = std::uint32_t;

// Which contexts of a rejected path become finer.
enum class Strategy {
  ALL_BY_ONE,    // each position's by one word
  FULL_CONTEXT,  // each position's to the exact state
  CULPRIT,       // that of the position where q / p is largest, by one word
};

class ContextAutomaton {
 public:
  struct State {
    Context context;
    std::uint32_t position;
    StateId coarser;  // the state it was split from; itself for the first of a position
  };

  // The table and what the layers view must outlive this. At least one layer.
  ContextAutomaton(const NgramTable& table, std::vector<Layer> layers);

  const NgramTable& table() const { return table_; }
  const std::vector<Layer>& layers() const { return layers_; }
  std::size_t num_positions() const { return layers_.size(); }
  std::size_t num_states() const { return states_.size(); }
  std::size_t num_edges() const { return num_edges_; }
  bool is_exact() const { return num_open_ == 0; }  // q = p on every path
  const State& state(StateId id) const { return states_[id]; }
  // State `position` is the coarsest of its position; state 0 is the start.
  StateId coarsest(std::size_t position) const { return static_cast<StateId>(position); }

  double log_prob(StateId id, WordId w) const { return context_log_prob(table_, states_[id].context, w); }
  // Where word k leads; not from the last position.
  StateId target(StateId id, std::uint32_t k) const;
  // The same in two steps, to keep the first: what is known after word k of a state, and the finest state of a
  // position for it.
  Context known_after(StateId id, std::uint32_t k) const {
    return context_successor(table_, states_[id].context, word(states_[id].position, k));
  }
  StateId finest(std::size_t position, Context known) const;
  // Changes whenever a target of word k before `position` may have changed; after the last one, never.
  std::uint32_t version(std::size_t position, std::uint32_t k) const { return versions_[first_version_[position] + k]; }

  // Adds states until q is lower on the path, or at least its states finer.
  // Does nothing if the path's states are all closed. `path` has one k per position; `states` are its first
  // states if they are known, which saves looking up those that are closed.
  void tighten(std::span<const std::uint32_t> path, Strategy strategy, std::span<const StateId> states = {});

 private:
  // A finer context than state `id` that may be known: the next, or all of it.
  Context next_finer(StateId id, Context known) const;
  Context collapsed(Context context) const { return collapsed_context(table_, context); }
  StateId split(StateId id, Context context, std::uint32_t k);
  StateId refine_one(StateId before, std::uint32_t k, bool fully);
  void refine_culprit(std::span<const std::uint32_t> path);
  void refine_at(std::span<const std::uint32_t> path, std::vector<StateId>& states, std::size_t position);
  WordId word(std::size_t position, std::uint32_t k) const { return layers_[position].word[k]; }

  const NgramTable& table_;
  std::vector<Layer> layers_;
  std::vector<State> states_;
  FlatMap state_of_;  // (position, node, closed)
  std::vector<std::uint32_t> versions_;       // number of states after each word of each layer
  std::vector<std::uint32_t> first_version_;  // [position]: where those of the layer before begin
  std::size_t num_edges_ = 0;
  std::size_t num_open_ = 0;
};

// ---------------------------------------------------------------------------

template <class Visit>
void for_each_listed(const NgramTable& table, NodeId context, const Layer& layer, Visit visit) {
  const auto size = static_cast<std::uint32_t>(layer.size());
  if (context == ROOT) {
    for (std::uint32_t k = 0; k < size; ++k) visit(k, NodeId{1 + layer.word[k]});
    return;
  }
  const WordId* const words = table.word.data();
  const WordId* arc = words + table.first_child[context];
  const WordId* const end = words + table.first_child[context + 1];
  if (arc == end) return;
  if (layer.is_range) {
    const WordId first = layer.word.front(), last = layer.word.back();
    for (arc = std::lower_bound(arc, end, first); arc < end && *arc <= last; ++arc) {
      visit(static_cast<std::uint32_t>(*arc - first), static_cast<NodeId>(arc - words));
    }
  } else if (end - arc > 4 * std::ptrdiff_t{size}) {
    for (std::uint32_t k = 0; k < size && arc < end; ++k) {
      arc = std::lower_bound(arc, end, layer.word[k]);
      if (arc < end && *arc == layer.word[k]) visit(k, static_cast<NodeId>(arc - words));
    }
  } else {
    for (std::uint32_t k = 0; arc < end && k < size;) {
      if (*arc == layer.word[k]) visit(k, static_cast<NodeId>(arc - words));
      const bool arc_is_behind = *arc <= layer.word[k];
      k += layer.word[k] <= *arc;
      arc += arc_is_behind;
    }
  }
}

}  // namespace hiddenite::exact
