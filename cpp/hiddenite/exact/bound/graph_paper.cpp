// `paper` on a word graph; line numbers are those of Algorithm 2.
#include <algorithm>

#include "hiddenite/exact/bound/graph_bound.hpp"

namespace hiddenite::exact {

namespace {

bool ends_in(const std::vector<WordId>& words, const std::vector<WordId>& suffix) {
  return suffix.size() <= words.size() && std::equal(suffix.rbegin(), suffix.rend(), words.rbegin());
}

}  // namespace

GraphPaper::GraphPaper(const NgramTable& table, const WordGraph& graph, const GraphOptions& options)
    : GraphRelaxation(table, graph, options), number_(graph_.num_nodes) {
  for (std::uint32_t node = 0; node < graph_.num_nodes; ++node) {
    names_.push_back(node == graph_.start && table_.order > 1 ? Name{SENTENCE_BEGIN} : Name{});
    order_.emplace_back(graph_.first[node + 1] - graph_.first[node], 0);
    number_[node].emplace(names_.back(), node);
  }
  for (std::uint32_t e = 0; e < graph_.num_edges(); ++e) {
    const StateId id = graph_.from[e];
    const WordId w = graph_.word[e];
    const auto order = static_cast<std::uint32_t>(names_[id].size() + 1);
    set_weight(id, e, w == NO_WORD ? 0.0 : log_bound(names_[id], w), order);
    states_.edit(id, e).target = graph_.to[e];
  }
}

// No longer context says more.
bool GraphPaper::is_complete(const Name& name) const {
  return name.size() + 1 >= static_cast<std::size_t>(table_.order) || (!name.empty() && name[0] == SENTENCE_BEGIN);
}

// Equation 8, exact for a complete context.
double GraphPaper::log_bound(const Name& name, WordId w) const {
  const bool marks_begin = !name.empty() && name[0] == SENTENCE_BEGIN && !options_.begins;
  const std::span<const WordId> context = std::span(name).subspan(marks_begin);
  const double log_prob =
      is_complete(name) ? table_.conditional(w, context) : table_.max_conditional(w, context);
  return options_.weigh(log_prob);
}

void GraphPaper::set_weight(StateId id, std::uint32_t edge, double log_bound, std::uint32_t order) {
  order_[id][edge - graph_.first[states_.node(id)]] = order;
  states_.edit(id, edge).log_bound = log_bound;
}

void GraphPaper::tighten(std::span<const std::uint32_t> path) {
  const Path all = graph_.with_end(path);
  Name history{SENTENCE_BEGIN};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (graph_.word[all[i]] == NO_WORD) continue;
    update(all, history, i);
    history.push_back(graph_.word[all[i]]);
  }
}

// UpdateHMM for edge `step` of the path.
void GraphPaper::update(const Path& path, const Name& history, std::size_t step) {
  StateId id = graph_.start;
  for (std::size_t i = 0; i < step; ++i) id = states_.arc(id, path[i]).target;
  const std::uint32_t node = states_.node(id);
  const std::uint32_t n = order_[id][path[step] - graph_.first[node]] + 1;  // line 1
  const std::size_t known = n - 2;
  if (known + 1 >= static_cast<std::size_t>(table_.order) || known >= history.size()) return;
  const Name context(history.end() - static_cast<std::ptrdiff_t>(n - 1), history.end());
  make_states(path, step, context);  // lines 2-10
  const WordId w = graph_.word[path[step]];
  const double bound = log_bound(context, w);
  for (const StateId s : states_.at(node)) {  // lines 12-13
    if (!ends_in(names_[s], context)) continue;
    for (std::uint32_t e = graph_.first[node]; e < graph_.first[node + 1]; ++e) {
      if (graph_.word[e] == w && order_[s][e - graph_.first[node]] < n) set_weight(s, e, bound, n);
    }
  }
}

// The state of this name at the node after the first `step` edges, and those before that lead to it: of the same name
// as far back as no word was seen, of the name's words but the last before that. On a row these are there whenever
// the state itself is; here another way may have led to it.
void GraphPaper::make_states(const Path& path, std::size_t step, const Name& name) {
  if (name.empty()) return;
  std::size_t first = step;
  while (first > 0 && graph_.word[path[first - 1]] == NO_WORD) --first;
  if (first > 0) make_states(path, first - 1, Name(name.begin(), name.end() - 1));
  for (std::size_t i = std::max<std::size_t>(first, 1); i <= step; ++i) add_named(node_after(path, i), name);
}

void GraphPaper::add_named(std::uint32_t node, const Name& name) {
  if (number_[node].contains(name)) return;
  const Name prefix(name.begin(), name.end() - 1), suffix(name.begin() + 1, name.end());
  add_named(node, suffix);
  const StateId parent = number_[node].at(suffix);
  const StateId id = states_.add_state(node, parent);  // line 3
  names_.push_back(name);
  order_.emplace_back(order_[parent].size(), 0);
  number_[node].emplace(name, id);
  for (std::uint32_t e = graph_.first[node]; e < graph_.first[node + 1]; ++e) {  // lines 9-10
    set_weight(id, e, states_.arc(parent, e).log_bound, order_[parent][e - graph_.first[node]]);
    Name known = name;
    if (graph_.word[e] != NO_WORD) known.push_back(graph_.word[e]);
    states_.edit(id, e).target = longest(graph_.to[e], std::move(known));
  }
  for (const std::uint32_t e : into(node)) {  // lines 5-7
    const WordId w = graph_.word[e];
    if (w != NO_WORD && w != name.back()) continue;
    for (const StateId s : states_.at(graph_.from[e])) {
      if (!ends_in(names_[s], w == NO_WORD ? name : prefix)) continue;
      StateId& target = states_.edit(s, e).target;
      if (names_[target].size() < name.size()) target = id;
    }
  }
}

// The state of the longest name that the words end in.
StateId GraphPaper::longest(std::uint32_t node, Name words) const {
  while (true) {
    const auto found = number_[node].find(words);
    if (found != number_[node].end()) return found->second;
    if (words.empty()) return node;
    words.erase(words.begin());
  }
}

std::vector<StateView> GraphPaper::states(std::size_t node) const {
  std::vector<StateView> views;
  for (const StateId id : states_.at(static_cast<std::uint32_t>(node))) {
    Name words = names_[id];
    if (!options_.begins && !words.empty() && words[0] == SENTENCE_BEGIN) words.erase(words.begin());
    views.push_back({std::move(words), is_complete(names_[id])});
  }
  return views;
}

}  // namespace hiddenite::exact
