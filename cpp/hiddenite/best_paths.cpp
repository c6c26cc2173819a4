#include "best_paths.hpp"

#include <algorithm>

namespace hiddenite {

BestPaths::BestPaths(const ContextAutomaton& automaton)
    : automaton_(automaton), changed_(automaton.num_positions(), 1) {
  refresh();
}

void BestPaths::refresh() {
  ++now_;
  std::uint32_t last = 0;
  for (auto id = static_cast<StateId>(nodes_.size()); id < automaton_.num_states(); ++id) {
    const ContextAutomaton::State& state = automaton_.state(id);
    last = std::max(last, state.position);
    nodes_.push_back({state.coarser == id ? -LOG_ZERO : nodes_[state.coarser].value});
  }
  std::fill(changed_.begin(), changed_.begin() + last, now_);
}

// ---------------------------------------------------------------- edges

const BestPaths::Entry* BestPaths::entry_at(List& list, std::uint32_t j) {
  if (j >= list.size) return nullptr;
  Entry* const first = entries_.data() + list.first;
  Entry* const last = first + list.size;
  for (; list.num_sorted <= j; ++list.num_sorted) std::pop_heap(first, last - list.num_sorted);
  return last - 1 - j;
}

// `bounds`: maxima over all longer contexts, not the context's own probabilities.
std::uint32_t BestPaths::list_of(std::size_t position, NodeId node, bool bounds) {
  const std::uint64_t key = (std::uint64_t{position} << 33) | (std::uint64_t{node} << 1) | bounds;
  std::uint32_t index = list_index_.find(key);
  if (index != FlatMap::ABSENT) return index;
  index = static_cast<std::uint32_t>(lists_.size());
  list_index_.insert(key, index);
  const NgramTable& table = automaton_.table();
  const Layer& layer = automaton_.layers()[position];
  const float* const log_probs = (bounds ? table.log_max_prob : table.log_prob).data();
  const auto first = static_cast<std::uint32_t>(entries_.size());
  for_each_listed(table, node, layer, [&](std::uint32_t k, NodeId arc) {
    const double log_weight = log_probs[arc] + layer.log_weight[k];
    if (log_weight != LOG_ZERO) entries_.push_back({log_weight, k});
  });
  std::make_heap(entries_.begin() + first, entries_.end());
  lists_.push_back({first, static_cast<std::uint32_t>(entries_.size()) - first, 0});
  return index;
}

// The lists of the suffix chain, as in context_log_prob.
void BestPaths::open(StateId id) {
  const NgramTable& table = automaton_.table();
  const auto [context, position, coarser] = automaton_.state(id);
  nodes_[id].first_source = static_cast<std::uint32_t>(sources_.size());
  double log_backoff = 0.0;
  NodeId finer = NO_NODE;
  for (NodeId s = context.node; log_backoff != LOG_ZERO; s = table.suffix[s]) {
    const bool bounds = s == context.node && !context.closed;
    const std::uint32_t list = list_of(position, s, bounds);
    if (lists_[list].size > 0) sources_.push_back({list, 0, log_backoff, finer});
    if (s == ROOT) break;
    log_backoff += (bounds ? table.log_max_backoff : table.log_backoff)[s];
    finer = table.first_child[s] == table.first_child[s + 1] ? NO_NODE : s;
  }
  nodes_[id].num_sources = static_cast<std::uint32_t>(sources_.size()) - nodes_[id].first_source;
}

bool BestPaths::merge_next(StateId id) {
  if (nodes_[id].num_sources == 0) open(id);
  const NgramTable& table = automaton_.table();
  const auto [context, position, coarser] = automaton_.state(id);
  const auto first = sources_.begin() + nodes_[id].first_source;
  const auto last = first + nodes_[id].num_sources;
  while (true) {
    Source* best = nullptr;
    double log_weight = LOG_ZERO;
    std::uint32_t k = 0;
    for (auto source = first; source != last; ++source) {
      const Entry* const entry = entry_at(lists_[source->list], source->next);
      if (!entry || !(entry->log_weight + source->log_backoff > log_weight)) continue;
      best = &*source;
      log_weight = entry->log_weight + source->log_backoff;
      k = entry->k;
    }
    if (!best) return false;
    ++best->next;
    if (best->finer != NO_NODE && table.child(best->finer, automaton_.layers()[position].word[k]) != NO_NODE) continue;
    const StateId target = is_last(id) ? 0 : automaton_.coarsest(position + 1);
    add_edge(nodes_[id], {log_weight, k, 0, target, {NO_NODE, false}});
    return true;
  }
}

// A node that runs out of room moves to the end of the pool; what it leaves behind stays unused.
void BestPaths::add_edge(Node& node, const Edge& edge) {
  constexpr std::uint32_t least_room = 4;
  if (node.num_edges == node.room) {
    const auto first = static_cast<std::uint32_t>(edges_.size());
    node.room = std::max(least_room, 2 * node.room);
    edges_.resize(first + node.room);
    std::copy_n(edges_.begin() + node.first_edge, node.num_edges, edges_.begin() + first);
    node.first_edge = first;
  }
  edges_[node.first_edge + node.num_edges++] = edge;
}

const BestPaths::Edge* BestPaths::edge(StateId id, std::uint32_t j) {
  while (nodes_[id].num_edges <= j) {
    if (!merge_next(id)) return nullptr;
  }
  Edge& edge = edges_[nodes_[id].first_edge + j];
  if (is_last(id)) return &edge;
  const std::uint32_t position = automaton_.state(id).position + 1;
  const std::uint32_t version = automaton_.version(position, edge.k);
  if (edge.version != version) {
    edge.version = version;
    if (edge.known.node == NO_NODE) edge.known = automaton_.known_after(id, edge.k);
    edge.target = automaton_.finest(position, edge.known);
  }
  return &edge;
}

// --------------------------------------------------------------- values

double BestPaths::value_bound_after(StateId id) const {
  return is_last(id) ? 0.0 : nodes_[automaton_.coarsest(automaton_.state(id).position + 1)].value;
}

double BestPaths::value(StateId id) {
  if (!is_recent(id)) evaluate(id);
  return nodes_[id].value;
}

void BestPaths::evaluate(StateId id) {
  stack_.push_back({id, false, 0, NO_EDGE, LOG_ZERO});
  while (!stack_.empty()) {
    StateId wanted = 0;
    if (advance(stack_.back(), wanted)) {
      const Frame& frame = stack_.back();
      Node& node = nodes_[frame.id];
      node.value = frame.value;
      node.best = frame.best;
      node.when = now_;
      stack_.pop_back();
    } else {
      stack_.push_back({wanted, false, 0, NO_EDGE, LOG_ZERO});
    }
  }
}

// Goes on with a value until it is found, or until the value of a target is `wanted` first.
bool BestPaths::advance(Frame& frame, StateId& wanted) {
  const StateId id = frame.id;
  const double bound_after = value_bound_after(id);
  const bool last = is_last(id);
  while (true) {
    // The best edge of last time first: if it is worth as much as then, nothing else is worth more.
    const bool again = !frame.began && nodes_[id].best != NO_EDGE;
    const std::uint32_t j = again ? nodes_[id].best : frame.next;
    const Edge* const e = edge(id, j);
    if (!e || (!again && !(e->log_weight + bound_after > frame.value))) return true;
    const double bound = e->log_weight + (last ? 0.0 : nodes_[e->target].value);
    if (bound > frame.value) {
      if (!last && !is_recent(e->target)) {
        wanted = e->target;
        return false;
      }
      frame.value = bound;
      frame.best = j;
      if (bound >= nodes_[id].value) return true;
    }
    if (again) {
      frame.began = true;
    } else {
      ++frame.next;
    }
  }
}

std::vector<std::uint32_t> BestPaths::best_path() {
  std::vector<std::uint32_t> path;
  if (value(0) == LOG_ZERO) return path;
  StateId id = 0;
  for (std::size_t i = 0; i < automaton_.num_positions(); ++i) {
    value(id);
    const Edge& e = edges_[nodes_[id].first_edge + nodes_[id].best];
    path.push_back(e.k);
    id = e.target;
  }
  return path;
}

// ---------------------------------------------------------------- ranks

const RankedPaths::Choice* RankedPaths::choice(StateId id, std::uint32_t rank) {
  std::uint32_t index = ranking_of_.find(id);
  if (index == FlatMap::ABSENT) {
    index = static_cast<std::uint32_t>(rankings_.size());
    ranking_of_.insert(id, index);
    rankings_.emplace_back();
  }
  Ranking& ranking = rankings_[index];
  std::vector<Choice>& ready = ranking.ready;
  while (ranking.sorted.size() <= rank) {
    const double bound_after = best_paths_.value_bound_after(id);
    while (const BestPaths::Edge* const e = best_paths_.edge(id, ranking.next)) {
      if (!ready.empty() && ready.front().value >= e->log_weight + bound_after) break;
      const auto [log_weight, k, version, target, known] = *e;
      const double value = log_weight + best_paths_.value_after(id, *e);
      ++ranking.next;
      if (value == LOG_ZERO) continue;
      ready.push_back({value, log_weight, k, target});
      std::push_heap(ready.begin(), ready.end());
    }
    if (ready.empty()) return nullptr;
    std::pop_heap(ready.begin(), ready.end());
    ranking.sorted.push_back(ready.back());
    ready.pop_back();
  }
  return &ranking.sorted[rank];
}

void RankedPaths::push(double log_weight, std::uint32_t parent, StateId state, std::uint32_t rank) {
  const Choice* const c = choice(state, rank);
  if (!c) return;
  partials_.push_back({log_weight + c->value, log_weight, parent, state, rank});
  queue_.push_back(static_cast<std::uint32_t>(partials_.size() - 1));
  std::push_heap(queue_.begin(), queue_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return partials_[a].value != partials_[b].value ? partials_[a].value < partials_[b].value : a > b;
  });
}

std::vector<std::uint32_t> RankedPaths::next() {
  std::pop_heap(queue_.begin(), queue_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return partials_[a].value != partials_[b].value ? partials_[a].value < partials_[b].value : a > b;
  });
  std::uint32_t partial = queue_.back();
  queue_.pop_back();
  std::vector<std::uint32_t> path;
  for (std::uint32_t p = partial; p != NO_PARTIAL; p = partials_[p].parent) {
    path.push_back(choice(partials_[p].state, partials_[p].rank)->k);
  }
  std::reverse(path.begin(), path.end());
  // The next best edge instead of the last one, and instead of each that completes the path.
  while (true) {
    const Partial p = partials_[partial];
    push(p.log_weight, p.parent, p.state, p.rank + 1);
    if (path.size() == num_positions_) return path;
    const Choice c = *choice(p.state, p.rank);
    const Choice follower = *choice(c.target, 0);
    partials_.push_back({p.value, p.log_weight + c.log_weight, partial, c.target, 0});
    partial = static_cast<std::uint32_t>(partials_.size() - 1);
    path.push_back(follower.k);
  }
}

}  // namespace hiddenite
