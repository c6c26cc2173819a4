// `refine` on a word graph.
#include <algorithm>

#include "hiddenite/exact/bound/graph_bound.hpp"

namespace hiddenite::exact {

namespace {

std::uint64_t key_of(std::uint32_t node, Context context) {
  return (std::uint64_t{node} << 33) | (std::uint64_t{context.node} << 1) | context.closed;
}

}  // namespace

GraphRefinement::GraphRefinement(const NgramTable& table, const WordGraph& graph, const GraphOptions& options,
                                 Strategy strategy)
    : GraphRelaxation(table, graph, options), strategy_(strategy) {
  for (std::uint32_t node = 0; node < graph_.num_nodes; ++node) {
    const Context unknown{ROOT, table_.order == 1};
    contexts_.push_back(node == graph_.start ? Context{first_context(), true} : unknown);
    state_of_.insert(key_of(node, contexts_.back()), node);
  }
  for (StateId id = 0; id < graph_.num_nodes; ++id) fill(id);
}

Context GraphRefinement::known_after(StateId id, std::uint32_t edge) const {
  const WordId w = graph_.word[edge];
  return w == NO_WORD ? contexts_[id] : context_successor(table_, contexts_[id], w);
}

// As ContextAutomaton::finest.
StateId GraphRefinement::finest(std::uint32_t node, Context known) const {
  if (known.closed) {
    const StateId id = state_of_.find(key_of(node, collapsed(known)));
    if (id != FlatMap::ABSENT) return id;
  }
  for (NodeId s = known.node; s != ROOT; s = table_.suffix[s]) {
    const StateId id = state_of_.find(key_of(node, {s, false}));
    if (id != FlatMap::ABSENT) return id;
  }
  return node;
}

void GraphRefinement::fill(StateId id) {
  const std::uint32_t node = states_.node(id);
  for (std::uint32_t e = graph_.first[node]; e < graph_.first[node + 1]; ++e) {
    const WordId w = graph_.word[e];
    const double log_bound = w == NO_WORD ? 0.0 : options_.weigh(context_log_prob(table_, contexts_[id], w));
    states_.edit(id, e) = {log_bound, target(id, e)};
  }
}

// A state that knows more than state `id` of the same node; the arcs that now lead to it are those by the context's
// last word, and those that hand on what is known.
StateId GraphRefinement::split(StateId id, Context context) {
  const std::uint32_t node = states_.node(id);
  const StateId added = states_.add_state(node, id);
  contexts_.push_back(context);
  state_of_.insert(key_of(node, context), added);
  fill(added);
  for (const std::uint32_t e : into(node)) {
    const WordId w = graph_.word[e];
    if (w != NO_WORD && context.node != ROOT && w != table_.word[context.node]) continue;
    for (const StateId before : states_.at(graph_.from[e])) states_.edit(before, e).target = target(before, e);
  }
  return added;
}

StateId GraphRefinement::refine_one(StateId before, std::uint32_t edge, bool fully) {
  const Context known = known_after(before, edge), wanted = collapsed(known);
  StateId id = finest(graph_.to[edge], known);
  while (contexts_[id] != wanted) {
    NodeId s = known.node;
    while (s != contexts_[id].node && table_.suffix[s] != contexts_[id].node) s = table_.suffix[s];
    id = split(id, s == known.node ? wanted : Context{s, false});
    if (!fully) break;
  }
  return id;
}

void GraphRefinement::tighten(std::span<const std::uint32_t> path) {
  const std::vector<std::uint32_t> all = graph_.with_end(path);
  if (strategy_ == Strategy::CULPRIT) return refine_culprit(all);
  StateId id = graph_.start;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) id = refine_one(id, all[i], strategy_ == Strategy::FULL_CONTEXT);
}

// The state where q / p is largest becomes one finer; those before it where they must know more first.
void GraphRefinement::refine_culprit(const std::vector<std::uint32_t>& path) {
  std::vector<StateId> states{graph_.start};
  std::size_t culprit = 0;
  double largest = 0.0;
  NodeId exact = first_context();
  for (std::size_t i = 0; i < path.size(); ++i) {
    const StateGraph::Arc& arc = states_.arc(states[i], path[i]);
    const WordId w = graph_.word[path[i]];
    const double log_p = w == NO_WORD ? 0.0 : options_.weigh(table_.step(exact, w));
    if (!contexts_[states[i]].closed && arc.log_bound > log_p && arc.log_bound - log_p > largest) {
      largest = arc.log_bound - log_p;
      culprit = i;
    }
    states.push_back(arc.target);
  }
  for (std::size_t i = culprit; i > 0; --i) {  // the first that can become finer by what is known before it
    if (refine_one(states[i - 1], path[i - 1], false) != states[i]) return;
  }
}

std::vector<StateView> GraphRefinement::states(std::size_t node) const {
  std::vector<StateView> views;
  for (const StateId id : states_.at(static_cast<std::uint32_t>(node))) {
    views.push_back({context_words(table_, contexts_[id].node), contexts_[id].closed});
  }
  return views;
}

}  // namespace hiddenite::exact
