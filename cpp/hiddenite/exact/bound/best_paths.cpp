#include "hiddenite/exact/bound/best_paths.hpp"

#include <algorithm>

namespace hiddenite::exact {

BestPaths::BestPaths(const ContextAutomaton& automaton, std::size_t widest_row)
    : automaton_(automaton),
      has_rows_(widest(automaton.layers()) <= widest_row),
      rows_(automaton),
      changed_(automaton.num_positions(), 1) {
  constexpr std::size_t common_num_edges = 1024;
  edges_.reserve(common_num_edges);
  refresh();
}

void BestPaths::refresh() {
  ++now_;
  std::uint32_t last = 0;
  for (auto id = static_cast<StateId>(nodes_.size()); id < automaton_.num_states(); ++id) {
    const ContextAutomaton::State& state = automaton_.state(id);
    last = std::max(last, state.position);
    nodes_.push_back({state.coarser == id ? -LOG_ZERO : nodes_[state.coarser].value, state.position});
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

void BestPaths::take_head(Source& source) {
  const Entry* const entry = entry_at(lists_[source.list], source.next++);
  source.head = entry ? Entry{entry->log_weight + source.log_backoff, entry->k} : Entry{LOG_ZERO, 0};
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
    if (lists_[list].size > 0) {
      sources_.push_back({{}, log_backoff, list, 0, finer});
      take_head(sources_.back());
    }
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
    for (auto source = first; source != last; ++source) {
      if (!(source->head.log_weight > log_weight)) continue;
      best = &*source;
      log_weight = source->head.log_weight;
    }
    if (!best) return false;
    const std::uint32_t k = best->head.k;
    take_head(*best);
    if (best->finer != NO_NODE && table.child(best->finer, automaton_.layers()[position].word[k]) != NO_NODE) continue;
    add_edge(id, log_weight, k);
    return true;
  }
}

bool BestPaths::take_from_row(StateId id) {
  Node& node = nodes_[id];
  if (!node.left) node.left = rows_.make(node.position, automaton_.state(id).context);
  const std::size_t size = automaton_.layers()[node.position].size();
  const std::uint32_t k = find_largest({node.left, size});
  if (k == size || node.left[k] == LOG_ZERO) return false;
  add_edge(id, node.left[k], k);
  node.left[k] = LOG_ZERO;
  return true;
}

// A node that runs out of room moves to the end of the pool; what it leaves behind stays unused.
void BestPaths::add_edge(StateId id, double log_weight, std::uint32_t k) {
  constexpr std::uint32_t least_room = 4;
  Node& node = nodes_[id];
  if (node.num_edges == node.room) {
    const auto first = static_cast<std::uint32_t>(edges_.size());
    node.room = std::max(least_room, 2 * node.room);
    edges_.resize(first + node.room);
    std::copy_n(edges_.begin() + node.first_edge, node.num_edges, edges_.begin() + first);
    node.first_edge = first;
  }
  const StateId target = is_last(id) ? 0 : automaton_.coarsest(nodes_[id].position + 1);
  edges_[node.first_edge + node.num_edges++] = {log_weight, k, 0, target, {NO_NODE, false}};
}

bool BestPaths::make_edges(StateId id, std::uint32_t count) {
  while (nodes_[id].num_edges < count) {
    if (!(has_rows_ ? take_from_row(id) : merge_next(id))) return false;
  }
  return true;
}

void BestPaths::redirect(StateId id, Edge& edge, std::uint32_t version) {
  edge.version = version;
  if (edge.known.node == NO_NODE) edge.known = automaton_.known_after(id, edge.k);
  edge.target = automaton_.finest(nodes_[id].position + 1, edge.known);
}

// --------------------------------------------------------------- values

double BestPaths::value_bound_after(StateId id) const {
  return is_last(id) ? 0.0 : nodes_[automaton_.coarsest(nodes_[id].position + 1)].value;
}

double BestPaths::value(StateId id) {
  if (!is_recent(id)) evaluate(id);
  return nodes_[id].value;
}

void BestPaths::evaluate(StateId id) {
  stack_.push_back({id});
  while (!stack_.empty()) {
    StateId wanted = 0;
    if (advance(stack_.back(), wanted)) {
      const Frame& frame = stack_.back();
      Node& node = nodes_[frame.id];
      node.value = frame.value;
      node.rival = frame.rival;
      node.best = frame.best;
      node.when = now_;
      stack_.pop_back();
    } else {
      stack_.push_back({wanted});
    }
  }
}

// Goes on with a value until it is found, or until the value of a target is `wanted` first.
bool BestPaths::advance(Frame& frame, StateId& wanted) {
  const StateId id = frame.id;
  if (!frame.began && nodes_[id].best != NO_EDGE) {
    const std::uint32_t best = nodes_[id].best;
    if (!look_at(frame, best, *edge(id, best), wanted)) return false;
    if (frame.value >= nodes_[id].rival) {
      frame.rival = nodes_[id].rival;
      return true;
    }
  }
  frame.began = true;
  const double bound_after = value_bound_after(id);
  while (const Edge* const e = edge(id, frame.next)) {
    if (!(e->log_weight + bound_after > frame.value)) {
      frame.rival = std::max(frame.rival, e->log_weight + bound_after);
      break;
    }
    if (frame.next != nodes_[id].best && !look_at(frame, frame.next, *e, wanted)) return false;
    ++frame.next;
  }
  return true;
}

// Takes edge j into account; not if its value may be the best and is not known.
bool BestPaths::look_at(Frame& frame, std::uint32_t j, const Edge& edge, StateId& wanted) {
  const bool last = is_last(frame.id);
  const double bound = edge.log_weight + (last ? 0.0 : nodes_[edge.target].value);
  if (!(bound > frame.value)) {
    frame.rival = std::max(frame.rival, bound);
    return true;
  }
  if (!last && !is_recent(edge.target)) {
    wanted = edge.target;
    return false;
  }
  frame.rival = frame.value;
  frame.value = bound;
  frame.best = j;
  return true;
}

std::span<const BestPaths::Step> BestPaths::best_path() {
  path_.clear();
  if (value(0) == LOG_ZERO) return path_;
  StateId id = 0;
  for (std::size_t i = 0; i < automaton_.num_positions(); ++i) {
    value(id);
    const Edge& e = edges_[nodes_[id].first_edge + nodes_[id].best];
    path_.push_back({id, e.k});
    id = e.target;
  }
  return path_;
}

// ---------------------------------------------------------------- ranks

const RankedEdges::Choice* RankedEdges::choice(StateId id, std::uint32_t rank) {
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
      ready.push_back({value, log_weight, k, best_paths_.is_last(id) ? NO_STATE : target});
      std::push_heap(ready.begin(), ready.end());
    }
    if (ready.empty()) return nullptr;
    std::pop_heap(ready.begin(), ready.end());
    ranking.sorted.push_back(ready.back());
    ready.pop_back();
  }
  return &ranking.sorted[rank];
}

}  // namespace hiddenite::exact
