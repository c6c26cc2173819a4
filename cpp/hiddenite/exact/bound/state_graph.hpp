// States of a bound on a word graph, with all their arcs: best path, ln of the sum, draws.
//
// A state belongs to a node of the graph and has one arc for each edge that leaves it. Bounds only fall: arcs are
// given lower weights, or led to states that know more. So the value of a state from before,
//   value(s) = max over arcs of  log_bound + weight of the edge + value(target),
// bounds the one of now, and values are computed anew only where the best path may go: a target is looked at when
// its old value is the best of all. Sums have no such bound and are taken over everything.
#pragma once

#include <span>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/exact/bound/word_graph.hpp"
#include "hiddenite/exact/bound/max_backoff.hpp"

namespace hiddenite::exact {

// A word graph whose paths all end at the last node, by an edge that carries </s> or no word.
struct EndedGraph {
  static constexpr std::uint32_t NO_EDGE = std::numeric_limits<std::uint32_t>::max();

  EndedGraph(const WordGraph& given, bool ends);

  std::uint32_t num_nodes = 0, start = 0;
  std::vector<std::uint32_t> first;  // [node]: its edges are first[node] .. first[node + 1]
  std::vector<std::uint32_t> from, to;
  std::vector<WordId> word;
  std::vector<double> log_weight;
  std::vector<std::uint32_t> given;  // [edge]: its number in the graph as given; NO_EDGE: an end
  std::vector<std::uint32_t> place;  // [edge as given]: its number here
  double magnitude = 0.0;            // no path's weights add up to more than this in absolute value
  std::size_t longest = 0;           // edges of a path

  std::size_t num_edges() const { return from.size(); }
  std::uint32_t last() const { return num_nodes - 1; }
  // The edges of a path as given, the end included; the path itself may have its end already.
  std::vector<std::uint32_t> with_end(std::span<const std::uint32_t> path) const;
};

class StateGraph {
 public:
  struct Arc {
    double log_bound;  // on the model's term
    StateId target;
  };

  // The graph must outlive this.
  explicit StateGraph(const EndedGraph& graph) : graph_(graph), at_(graph.num_nodes) {}

  // A state whose arcs have weight zero; nothing that follows it is worth more than what can follow `coarser`.
  static constexpr StateId NO_STATE = std::numeric_limits<StateId>::max();
  StateId add_state(std::uint32_t node, StateId coarser = NO_STATE);
  std::size_t num_states() const { return node_.size(); }
  std::uint64_t num_arcs() const { return arcs_.size(); }
  std::uint32_t node(StateId id) const { return node_[id]; }
  const std::vector<StateId>& at(std::uint32_t node) const { return at_[node]; }

  // The arc of an edge that leaves the state's node.
  const Arc& arc(StateId id, std::uint32_t edge) const { return arcs_[first_[id] + edge - graph_.first[node_[id]]]; }
  // For writing: weights must not rise, and targets not know less. The state at the start must be state `start`.
  Arc& edit(StateId id, std::uint32_t edge);

  double value(StateId id);
  // The edges of the heaviest path from a state; empty if all have weight zero.
  std::vector<std::uint32_t> best_path(StateId start);
  double log_total(StateId start);
  std::vector<std::uint32_t> draw(StateId start, Random& random);

 private:
  static constexpr std::uint32_t NO_EDGE = EndedGraph::NO_EDGE;

  double weight(const Arc& arc, std::uint32_t edge) const { return arc.log_bound + graph_.log_weight[edge]; }
  std::uint32_t best_edge(StateId id, double& value) const;
  void begin_turn();
  void evaluate_all();
  void add_up();

  const EndedGraph& graph_;
  std::vector<std::vector<StateId>> at_;  // [node]
  std::vector<std::uint32_t> node_;       // [state]
  std::vector<std::uint64_t> first_;      // [state]: of arcs_
  std::vector<Arc> arcs_;
  std::vector<double> value_, sum_;
  std::vector<std::uint32_t> when_, choice_;
  std::uint32_t now_ = 1;
  bool is_edited_ = true, began_ = false, has_sums_ = false;
  std::vector<StateId> stack_;
};

// A state's arcs by what they and the best after them are worth: the paths of q for BestFirst. The states must not
// change meanwhile.
class StateArcs {
 public:
  using Node = StateId;
  struct Choice {
    double value, log_weight;
    std::uint32_t k;  // the edge as given; NO_EDGE: the end
    StateId target;
  };

  StateArcs(StateGraph& states, const EndedGraph& graph, StateId start)
      : states_(states), graph_(graph), start_(start), choices_(states.num_states()) {}
  StateId start() const { return start_; }
  bool is_last(const Choice& choice) const { return states_.node(choice.target) == graph_.last(); }
  StateId target(const Choice& choice) const { return choice.target; }
  const Choice* choice(StateId id, std::uint32_t rank);

 private:
  StateGraph& states_;
  const EndedGraph& graph_;
  StateId start_;
  std::vector<std::vector<Choice>> choices_;  // [state], heaviest first
};

}  // namespace hiddenite::exact
