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
// chain, which all states of a position share. Since no target is worth more
// than the coarsest, the search for a value ends at the first edge that does
// not beat the best even with that.
//
// A path costs what it touches: neither the number of candidates nor the size
// of the model, but the number of states and edges that compete for the best.
#pragma once

#include <cstdint>
#include <vector>

#include "max_backoff.hpp"

namespace hiddenite {

class BestPaths {
 public:
  struct Edge {
    double log_weight;      // bound on ln p and the channel's weight
    std::uint32_t k;        // the word
    std::uint32_t version;  // of the automaton when `target` was looked up
    StateId target;
    Context known;          // after the word; its node is NO_NODE as long as nobody asked
  };

  // The automaton must outlive this.
  explicit BestPaths(const ContextAutomaton& automaton);

  // To be called when the automaton has new states.
  void refresh();

  // The value of a state; of the start: max ln q.
  double value(StateId id);
  // One k per position; empty if every path has weight zero.
  std::vector<std::uint32_t> best_path();

  // The j-th edge of a state, heaviest first, its target up to date; nullptr if
  // there are fewer of positive weight.
  const Edge* edge(StateId id, std::uint32_t j);
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
    std::uint32_t list;
    std::uint32_t next;   // its first entry not yet merged
    double log_backoff;   // to be added
    NodeId finer;         // the next longer context, which hides the words it lists; NO_NODE: nothing hidden
  };
  struct Node {
    double value;                     // bound, exact if `when` is recent
    std::uint32_t when = 0;
    std::uint32_t best = NO_EDGE;     // the edge that gave the value
    std::uint32_t first_source = 0, num_sources = 0;
    std::uint32_t first_edge = 0, num_edges = 0, room = 0;  // merged so far: edges_[first_edge ..]
  };
  struct Frame {  // a value under way
    StateId id;
    bool began;          // the best edge of last time has been looked at
    std::uint32_t next;  // edge
    std::uint32_t best;
    double value;
  };

  bool is_last(StateId id) const { return automaton_.state(id).position + 1 == automaton_.num_positions(); }
  bool is_recent(StateId id) const { return nodes_[id].when >= changed_[automaton_.state(id).position]; }
  void evaluate(StateId id);
  bool advance(Frame& frame, StateId& wanted);
  const Entry* entry_at(List& list, std::uint32_t j);
  bool merge_next(StateId id);
  void add_edge(Node& node, const Edge& edge);
  void open(StateId id);
  std::uint32_t list_of(std::size_t position, NodeId node, bool bounds);

  const ContextAutomaton& automaton_;
  std::vector<Node> nodes_;
  std::vector<Source> sources_;
  std::vector<Edge> edges_;
  std::vector<Entry> entries_;
  std::vector<List> lists_;
  FlatMap list_index_;  // (position, node, bounds)
  std::vector<std::uint32_t> changed_;  // [i]: when a state was last added after position i
  std::uint32_t now_ = 1;
  std::vector<Frame> stack_;
};

// The paths of q in descending order of weight. The automaton must not change
// meanwhile.
class RankedPaths {
 public:
  explicit RankedPaths(BestPaths& best_paths, std::size_t num_positions)
      : best_paths_(best_paths), num_positions_(num_positions) {
    if (num_positions_ > 0) push(0.0, NO_PARTIAL, 0, 0);
  }

  // ln q of the next path, as far as the order of adding leaves it open.
  double next_log_weight() const { return queue_.empty() ? LOG_ZERO : partials_[queue_.front()].value; }
  bool is_empty() const { return queue_.empty(); }
  // The next path, one k per position.
  std::vector<std::uint32_t> next();

 private:
  static constexpr std::uint32_t NO_PARTIAL = std::numeric_limits<std::uint32_t>::max();

  struct Choice {
    double value;  // edge and the best that can follow
    double log_weight;
    std::uint32_t k;
    StateId target;
    bool operator<(const Choice& o) const { return value != o.value ? value < o.value : k > o.k; }
  };
  // A state's edges by what they and the best after them are worth.
  struct Ranking {
    std::vector<Choice> sorted, ready;  // ready: a heap of those looked at and not yet in order
    std::uint32_t next = 0;             // edge
  };
  // A path up to and including one edge; stands for its best completion.
  struct Partial {
    double value;
    double log_weight;     // of the edges before the last
    std::uint32_t parent;  // the edges before
    StateId state;         // the last edge's, and
    std::uint32_t rank;    // its place in the ranking
  };

  const Choice* choice(StateId id, std::uint32_t rank);
  void push(double log_weight, std::uint32_t parent, StateId state, std::uint32_t rank);

  BestPaths& best_paths_;
  std::size_t num_positions_;
  FlatMap ranking_of_;
  std::vector<Ranking> rankings_;
  std::vector<Partial> partials_;
  std::vector<std::uint32_t> queue_;  // a heap of partials
};

}  // namespace hiddenite
