#include "hiddenite/exact/bound/graph_bound.hpp"

#include <cmath>

namespace hiddenite::exact {

GraphRelaxation::GraphRelaxation(const NgramTable& table, const WordGraph& graph, const GraphOptions& options)
    : table_(table), options_(options), graph_(graph, options.ends), states_(graph_),
      first_into_(graph_.num_nodes + 1, 0), into_(graph_.num_edges()) {
  for (std::uint32_t node = 0; node < graph_.num_nodes; ++node) states_.add_state(node);
  for (const std::uint32_t node : graph_.to) ++first_into_[node + 1];
  for (std::uint32_t node = 0; node < graph_.num_nodes; ++node) first_into_[node + 1] += first_into_[node];
  std::vector<std::uint32_t> next = first_into_;
  for (std::uint32_t e = 0; e < graph_.num_edges(); ++e) into_[next[graph_.to[e]]++] = e;
}

// The partial sums of a path's terms: those of its weights, and the model's, which are of one sign.
double GraphRelaxation::upper_of(double log_q) const {
  if (std::isinf(log_q)) return log_q;
  const std::size_t num_terms = graph_.longest * (static_cast<std::size_t>(table_.order) + 3);
  return outward(log_q, 4 * num_terms + 4, std::fabs(log_q) + 2.0 * graph_.magnitude + 1.0);
}

void GraphRelaxation::throw_empty() const {
  throw EmptySupport(graph_.num_edges(), "no path from the first node to the last has a positive probability");
}

Trial GraphRelaxation::score(std::span<const std::uint32_t> path) const { return scored(graph_.with_end(path)); }

Trial GraphRelaxation::scored(const std::vector<std::uint32_t>& edges) const {
  Trial trial{{}, 0.0, 0.0, 0.0};
  StateId id = graph_.start;
  NodeId exact = first_context();
  for (const std::uint32_t e : edges) {
    const StateGraph::Arc& arc = states_.arc(id, e);
    double log_p = 0.0;
    if (graph_.word[e] != NO_WORD) log_p = options_.weigh(table_.step(exact, graph_.word[e]));
    add_terms(trial, is_closed(id) ? log_p : arc.log_bound, log_p, graph_.log_weight[e]);
    if (graph_.given[e] != EndedGraph::NO_EDGE) trial.path.push_back(graph_.given[e]);
    id = arc.target;
  }
  return trial;
}

Trial GraphRelaxation::best() {
  const std::vector<std::uint32_t> edges = states_.best_path(graph_.start);
  return edges.empty() ? Trial{} : scored(edges);
}

Trial GraphRelaxation::draw(Random& random) { return scored(states_.draw(graph_.start, random)); }

std::unique_ptr<GraphRelaxation> make_graph_relaxation(const NgramTable& table, const WordGraph& graph, Method method,
                                                       const GraphOptions& options, Strategy strategy) {
  if (method == Method::PAPER) return std::make_unique<GraphPaper>(table, graph, options);
  return std::make_unique<GraphRefinement>(table, graph, options, strategy);
}

}  // namespace hiddenite::exact
