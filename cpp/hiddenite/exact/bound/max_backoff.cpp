#include "hiddenite/exact/bound/max_backoff.hpp"

#include <algorithm>
#include <array>

namespace hiddenite::exact {

namespace {

constexpr std::array<WordId, 1> END_WORD{SENTENCE_END};
constexpr std::array<double, 1> END_WEIGHT{0.0};

std::uint64_t key_of(std::size_t position, Context context) {
  return (std::uint64_t{position} << 33) | (std::uint64_t{context.node} << 1) | context.closed;
}

}  // namespace

std::vector<Layer> make_layers(const Candidates& candidates, Weighting weighting) {
  std::vector<Layer> layers;
  for (const Slot& slot : candidates.slots) {
    layers.push_back({slot.word, weighting == Weighting::BEST ? slot.log_max : slot.log_sum, slot.is_range()});
  }
  if (candidates.ends) layers.push_back({END_WORD, END_WEIGHT, true});
  return layers;
}

// ------------------------------------------------------------- the bound

double context_log_prob(const NgramTable& table, Context context, WordId w) {
  NodeId s = context.node;
  if (context.closed) return table.step(s, w);
  NodeId arc = table.child(s, w);
  if (arc != NO_NODE) return table.log_max_prob[arc];
  double log_prob = table.log_max_backoff[s];
  for (s = table.suffix[s]; (arc = table.child(s, w)) == NO_NODE; s = table.suffix[s]) {
    log_prob += table.log_backoff[s];
  }
  return log_prob + table.log_prob[arc];
}

Context context_successor(const NgramTable& table, Context context, WordId w) {
  NodeId s = context.node;
  NodeId arc = table.child(s, w);
  bool closed = context.closed || arc == NO_NODE;
  while (arc == NO_NODE) {
    s = table.suffix[s];
    arc = table.child(s, w);
  }
  const NodeId node = table.context_after(arc);
  return {node, closed || node >= table.level_begin[table.order - 1]};
}

Context collapsed_context(const NgramTable& table, Context context) {
  NodeId s = context.node;
  if (!context.closed) return context;
  while (s != ROOT && table.first_child[s] == table.first_child[s + 1] && table.log_backoff[s] == 0.0f) {
    s = table.suffix[s];
  }
  return {s, true};
}

std::vector<WordId> context_words(const NgramTable& table, NodeId node) {
  std::vector<WordId> words;
  for (; node != ROOT; node = table.suffix[node]) {
    NodeId first = node;
    while (first >= table.level_begin[2]) first = table.parent(first);
    words.push_back(table.word[first]);
  }
  return words;
}

// --------------------------------------------------------- the automaton

ContextAutomaton::ContextAutomaton(const NgramTable& table, std::vector<Layer> layers)
    : table_(table), layers_(std::move(layers)) {
  for (std::uint32_t i = 0; i < num_positions(); ++i) {
    const Context context = i == 0 ? Context{table_.start(), true} : Context{ROOT, table_.order == 1};
    states_.push_back({context, i, i});
    state_of_.insert(key_of(i, context), i);
    num_edges_ += layers_[i].size();
    num_open_ += !context.closed;
  }
  first_version_.push_back(0);  // nothing is before the start
  for (const Layer& layer : layers_) {
    first_version_.push_back(static_cast<std::uint32_t>(versions_.size()));
    versions_.resize(versions_.size() + layer.size(), 0);
  }
}

StateId ContextAutomaton::finest(std::size_t position, Context known) const {
  if (known.closed) {
    const StateId id = state_of_.find(key_of(position, collapsed(known)));
    if (id != FlatMap::ABSENT) return id;
  }
  for (NodeId s = known.node; s != ROOT; s = table_.suffix[s]) {
    const StateId id = state_of_.find(key_of(position, {s, false}));
    if (id != FlatMap::ABSENT) return id;
  }
  return coarsest(position);
}

StateId ContextAutomaton::target(StateId id, std::uint32_t k) const {
  const std::uint32_t position = states_[id].position;
  if (version(position + 1, k) == 0) return coarsest(position + 1);
  return finest(position + 1, known_after(id, k));
}

Context ContextAutomaton::next_finer(StateId id, Context known) const {
  const State& state = states_[id];
  NodeId s = known.node;
  if (s == state.context.node) return collapsed(known);
  while (table_.suffix[s] != state.context.node) s = table_.suffix[s];
  // <s> and the words since, or order - 1 words, have no past.
  const auto longest = std::min<std::size_t>(state.position + 1, table_.order - 1);
  return s >= table_.level_begin[longest] ? collapsed({s, true}) : Context{s, false};
}

StateId ContextAutomaton::split(StateId id, Context context, std::uint32_t k) {
  const auto added = static_cast<StateId>(states_.size());
  const std::uint32_t position = states_[id].position;
  states_.push_back({context, position, id});
  state_of_.insert(key_of(position, context), added);
  num_edges_ += layers_[position].size();
  num_open_ += !context.closed;
  const std::uint32_t first = first_version_[position];
  if (context.node == ROOT) {  // after whatever word
    for (std::uint32_t v = first; v < first_version_[position + 1]; ++v) ++versions_[v];
  } else {
    ++versions_[first + k];
  }
  return added;
}

// The state after word k of state `before`, made finer if more is known.
StateId ContextAutomaton::refine_one(StateId before, std::uint32_t k, bool fully) {
  const std::uint32_t position = states_[before].position;
  const Context known = known_after(before, k);
  StateId id = finest(position + 1, known);
  while (states_[id].context != collapsed(known)) {
    id = split(id, next_finer(id, known), k);
    if (!fully) break;
  }
  return id;
}

void ContextAutomaton::tighten(std::span<const std::uint32_t> path, Strategy strategy,
                               std::span<const StateId> states) {
  if (strategy == Strategy::CULPRIT) return refine_culprit(path);
  StateId id = 0;
  for (std::size_t i = 0; i + 1 < num_positions(); ++i) {
    if (i + 1 < states.size() && id == states[i] && states_[states[i + 1]].context.closed) {
      id = states[i + 1];
    } else {
      id = refine_one(id, path[i], strategy == Strategy::FULL_CONTEXT);
    }
  }
}

void ContextAutomaton::refine_culprit(std::span<const std::uint32_t> path) {
  std::vector<StateId> states{0};
  std::size_t culprit = 0;
  double largest = 0.0;
  NodeId exact = table_.start();
  for (std::size_t i = 0; i < num_positions(); ++i) {
    const WordId w = word(i, path[i]);
    const double log_q = log_prob(states[i], w);
    const double log_p = table_.step(exact, w);
    if (log_q > log_p && log_q - log_p > largest) {
      largest = log_q - log_p;
      culprit = i;
    }
    if (i + 1 < num_positions()) states.push_back(target(states[i], path[i]));
  }
  if (culprit > 0) refine_at(path, states, culprit);
}

// The open state at `position` one finer; those before it where they must know more first.
void ContextAutomaton::refine_at(std::span<const std::uint32_t> path, std::vector<StateId>& states,
                                 std::size_t position) {
  while (true) {
    const StateId before = states[position];
    states[position] = refine_one(states[position - 1], path[position - 1], false);
    if (states[position] != before) return;
    refine_at(path, states, position - 1);
  }
}

}  // namespace hiddenite::exact
