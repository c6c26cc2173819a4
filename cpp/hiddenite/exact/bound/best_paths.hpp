// The best paths of a ContextAutomaton: Viterbi values that are computed where
// they are asked for, and kept.
//
// The value of a state is the best that can follow it,
//   value(s) = max over words k of  log_weight(s, k) + value(target(s, k)).
// Adding states only lowers values. So a value from before is a bound, and a
// new state begins with the value of the state it was split from: most states
// are never looked at again, many never at all.
//
// A state's edges are made in descending order of log_weight, one at a time. A
// word is listed by the state's context or by a suffix of it, the longest that
// lists it deciding; the order comes from merging the lists of the suffix
// chain, which all states of a position share. Where no position has more than
// a few dozen words, the next one is instead the largest of a row of all that are
// left (weight_rows.hpp): no lists to make first. Since no target is worth more
// than the coarsest, the search for a value ends at the first edge that does
// not beat the best even with that. What the search leaves behind is a bound on
// all edges but the best, the `rival`: as long as the best edge, when its value
// has fallen, is still worth as much, no other needs to be looked at again.
//
// A path costs what it touches: neither the number of candidates nor the size
// of the model, but the number of states and edges that compete for the best.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/exact/bound/max_backoff.hpp"
#include "hiddenite/exact/bound/weight_rows.hpp"

namespace hiddenite::exact {

class BestPaths {
 public:
  struct Edge {
    double log_weight;      // bound on ln p and the channel's weight
    std::uint32_t k;        // the word
    std::uint32_t version;  // of the automaton when `target` was looked up
    StateId target;
    Context known;          // after the word; its node is NO_NODE as long as nobody asked
  };

  static constexpr std::size_t WIDEST_ROW = 64;
  // The automaton must outlive this. Up to `widest_row` words a position: rows; else lists.
  explicit BestPaths(const ContextAutomaton& automaton, std::size_t widest_row = WIDEST_ROW);

  // To be called when the automaton has new states.
  void refresh();

  // The value of a state; of the start: max ln q.
  double value(StateId id);
  // One step per position; empty if every path has weight zero.
  struct Step {
    StateId state;
    std::uint32_t k;
    bool operator==(const Step&) const = default;
  };
  std::span<const Step> best_path();

  // The j-th edge of a state, heaviest first, its target up to date; nullptr if
  // there are fewer of positive weight.
  const Edge* edge(StateId id, std::uint32_t j) {
    if (j >= nodes_[id].num_edges && !make_edges(id, j + 1)) return nullptr;
    Edge& edge = edges_[nodes_[id].first_edge + j];
    const std::uint32_t version = automaton_.version(nodes_[id].position + 1, edge.k);
    if (edge.version != version) redirect(id, edge, version);
    return &edge;
  }
  bool is_last(StateId id) const { return nodes_[id].position + 1 == changed_.size(); }
  // No target of an edge of state `id` is worth more.
  double value_bound_after(StateId id) const;
  // What may follow an edge of state `id`.
  double value_after(StateId id, const Edge& edge) { return is_last(id) ? 0.0 : value(edge.target); }

 private:
  static constexpr std::uint32_t NO_EDGE = std::numeric_limits<std::uint32_t>::max();

  struct Entry {
    double log_weight;
    std::uint32_t k;
    bool operator<(const Entry& o) const {
      return log_weight != o.log_weight ? log_weight < o.log_weight : k > o.k;
    }
  };
  // The words that a context lists, put in order as far as was asked: entries_[first .. first + size], a heap
  // and then the best in ascending order.
  struct List {
    std::uint32_t first, size, num_sorted;
  };
  // A list as one state uses it.
  struct Source {
    Entry head;           // its first entry not yet merged, `log_backoff` added; of weight zero: there is none
    double log_backoff;
    std::uint32_t list;
    std::uint32_t next;   // the entry after the head
    NodeId finer;         // the next longer context, which hides the words it lists; NO_NODE: nothing hidden
  };
  struct Node {
    double value;                     // bound, exact if `when` is recent
    std::uint32_t position;
    double rival = -LOG_ZERO;         // bound on what the edges other than the best are worth
    std::uint32_t when = 0;
    std::uint32_t best = NO_EDGE;     // the edge that gave the value
    std::uint32_t first_source = 0, num_sources = 0;  // if there are lists
    double* left = nullptr;                           // if there are rows: its own, zero where an edge was made
    std::uint32_t first_edge = 0, num_edges = 0, room = 0;  // merged so far: edges_[first_edge ..]
  };
  struct Frame {  // a value under way
    StateId id;
    bool began = false;      // the best edge of last time has been looked at
    std::uint32_t next = 0;  // edge
    std::uint32_t best = NO_EDGE;
    double value = LOG_ZERO, rival = LOG_ZERO;  // of the edges so far
  };

  bool is_recent(StateId id) const { return nodes_[id].when >= changed_[nodes_[id].position]; }
  void evaluate(StateId id);
  bool advance(Frame& frame, StateId& wanted);
  bool look_at(Frame& frame, std::uint32_t j, const Edge& edge, StateId& wanted);
  const Entry* entry_at(List& list, std::uint32_t j);
  void take_head(Source& source);
  bool make_edges(StateId id, std::uint32_t count);
  void redirect(StateId id, Edge& edge, std::uint32_t version);
  bool merge_next(StateId id);
  bool take_from_row(StateId id);
  void add_edge(StateId id, double log_weight, std::uint32_t k);
  void open(StateId id);
  std::uint32_t list_of(std::size_t position, NodeId node, bool bounds);

  const ContextAutomaton& automaton_;
  std::vector<Node> nodes_;
  std::vector<Source> sources_;
  std::vector<Edge> edges_;
  std::vector<Entry> entries_;
  std::vector<List> lists_;
  FlatMap list_index_;  // (position, node, bounds)
  bool has_rows_;       // and no lists
  WeightRows rows_;
  std::vector<std::uint32_t> changed_;  // [i]: when a state was last added after position i
  std::uint32_t now_ = 1;
  std::vector<Frame> stack_;
  std::vector<Step> path_;
};

// A state's edges by what they and the best after them are worth: the paths of q for BestFirst. The automaton must
// not change meanwhile.
class RankedEdges {
 public:
  using Node = StateId;
  struct Choice {
    double value;  // edge and the best that can follow
    double log_weight;
    std::uint32_t k;
    StateId target;  // NO_STATE: the path ends
    bool operator<(const Choice& o) const { return value != o.value ? value < o.value : k > o.k; }
  };

  explicit RankedEdges(BestPaths& best_paths) : best_paths_(best_paths) {}
  StateId start() const { return 0; }
  bool is_last(const Choice& choice) const { return choice.target == NO_STATE; }
  StateId target(const Choice& choice) const { return choice.target; }
  const Choice* choice(StateId id, std::uint32_t rank);

 private:
  static constexpr StateId NO_STATE = std::numeric_limits<StateId>::max();

  struct Ranking {
    std::vector<Choice> sorted, ready;  // ready: a heap of those looked at and not yet in order
    std::uint32_t next = 0;             // edge
  };

  BestPaths& best_paths_;
  FlatMap ranking_of_;
  std::vector<Ranking> rankings_;
};

}  // namespace hiddenite::exact
