// Bounds q >= p on a word graph: `refine` and `paper` where positions do not stand in a row.
//
// The same two relaxations as on rows (refine.hpp, paper.hpp), with nodes in the place of positions: what a state at
// a node knows of the words before it holds for every way to the node that leads to the state. An edge that the model
// does not see hands on what is known. A path is given by its edges; a word penalty, scales and the like are in the
// edges' weights, and lm_weight multiplies the model's terms.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "hiddenite/exact/bound/relaxation.hpp"
#include "hiddenite/exact/bound/state_graph.hpp"
#include "hiddenite/exact/proof.hpp"

namespace hiddenite::exact {

struct GraphOptions {
  double lm_weight = 1.0;   // not negative
  bool begins = true;       // after <s>; else after nothing that is known
  bool ends = true;         // </s> follows
  double log_offset = 0.0;  // to be added to the weight of every path

  // A model of weight 0 says nothing, not even that a word is impossible.
  double weigh(double log_prob) const { return lm_weight == 0.0 ? 0.0 : lm_weight * log_prob; }
};

class GraphRelaxation : public Relaxation {
 public:
  Trial best() override;
  Trial draw(Random& random) override;
  double log_total() override { return states_.log_total(graph_.start); }
  bool is_exact() const override { return table_.order == 1; }
  using Relaxation::tighten;
  Trial score(std::span<const std::uint32_t> path) const override;
  std::uint64_t num_states() const override { return states_.num_states(); }
  std::uint64_t num_edges() const override { return states_.num_arcs(); }
  double log_offset() const override { return options_.log_offset; }
  double upper_of(double log_q) const override;
  double log_weight(const WordPath& path) const override { return score(path).log_p; }
  WordPath spelled(const WordPath& path, Random&) const override { return path; }
  [[noreturn]] void throw_empty() const override;

  // For BestFirst, the paths of q in descending order; until the next tighten().
  StateArcs ranked_edges() { return StateArcs(states_, graph_, graph_.start); }

 protected:
  // The table must outlive this. Every node has one state, by its number, whose arcs the caller fills.
  GraphRelaxation(const NgramTable& table, const WordGraph& graph, const GraphOptions& options);
  // The bound of the state's arcs is the model's own term.
  virtual bool is_closed(StateId id) const = 0;
  NodeId first_context() const { return options_.begins ? table_.start() : ROOT; }
  std::span<const std::uint32_t> into(std::uint32_t node) const {
    return std::span(into_).subspan(first_into_[node], first_into_[node + 1] - first_into_[node]);
  }

  const NgramTable& table_;
  const GraphOptions options_;
  const EndedGraph graph_;
  StateGraph states_;

 private:
  Trial scored(const std::vector<std::uint32_t>& edges) const;

  std::vector<std::uint32_t> first_into_, into_;  // edges by the node that they lead to
};

// The contexts of max_backoff.hpp.
class GraphRefinement final : public GraphRelaxation {
 public:
  GraphRefinement(const NgramTable& table, const WordGraph& graph, const GraphOptions& options,
                  Strategy strategy = Strategy::ALL_BY_ONE);
  using Relaxation::tighten;
  void tighten(std::span<const std::uint32_t> path) override;
  std::vector<StateView> states(std::size_t node) const override;

 private:
  bool is_closed(StateId id) const override { return contexts_[id].closed; }
  Context collapsed(Context context) const { return collapsed_context(table_, context); }
  Context known_after(StateId id, std::uint32_t edge) const;
  StateId finest(std::uint32_t node, Context known) const;
  StateId target(StateId id, std::uint32_t edge) const { return finest(graph_.to[edge], known_after(id, edge)); }
  void fill(StateId id);
  StateId split(StateId id, Context context);
  StateId refine_one(StateId before, std::uint32_t edge, bool fully);
  void refine_culprit(const std::vector<std::uint32_t>& path);

  Strategy strategy_;
  std::vector<Context> contexts_;  // [state]
  FlatMap state_of_;               // (node, context)
};

// Algorithm 2 of the paper, states named by words; <s> at the front of a name says that the text begins there.
class GraphPaper final : public GraphRelaxation {
 public:
  GraphPaper(const NgramTable& table, const WordGraph& graph, const GraphOptions& options);
  using Relaxation::tighten;
  void tighten(std::span<const std::uint32_t> path) override;
  std::vector<StateView> states(std::size_t node) const override;

 private:
  using Name = std::vector<WordId>;
  using Path = std::vector<std::uint32_t>;

  bool is_closed(StateId) const override { return false; }  // it may have bounds of shorter contexts
  bool is_complete(const Name& name) const;
  double log_bound(const Name& name, WordId w) const;
  void update(const Path& path, const Name& history, std::size_t step);
  void make_states(const Path& path, std::size_t step, const Name& name);
  void add_named(std::uint32_t node, const Name& name);
  StateId longest(std::uint32_t node, Name name) const;
  std::uint32_t node_after(const Path& path, std::size_t step) const {
    return step == 0 ? graph_.start : graph_.to[path[step - 1]];
  }
  void set_weight(StateId id, std::uint32_t edge, double log_bound, std::uint32_t order);

  std::vector<Name> names_;                       // [state]
  std::vector<std::vector<std::uint32_t>> order_;  // [state][edge of its node]: n of the arc's w_n
  std::vector<std::map<Name, StateId>> number_;   // [node]
};

// By Method::REFINE or PAPER.
std::unique_ptr<GraphRelaxation> make_graph_relaxation(const NgramTable& table, const WordGraph& graph, Method method,
                                                       const GraphOptions& options, Strategy strategy);

}  // namespace hiddenite::exact
