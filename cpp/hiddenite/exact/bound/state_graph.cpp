#include "hiddenite/exact/bound/state_graph.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::exact {

EndedGraph::EndedGraph(const WordGraph& graph, bool ends)
    : num_nodes(graph.num_nodes + 1), start(graph.start), place(graph.num_edges()) {
  const auto add = [&](std::uint32_t a, std::uint32_t b, WordId w, double weight, std::uint32_t number) {
    from.push_back(a);
    to.push_back(b);
    word.push_back(w);
    log_weight.push_back(weight);
    given.push_back(number);
  };
  std::uint32_t e = 0;
  for (std::uint32_t node = 0; node < graph.num_nodes; ++node) {
    first.push_back(static_cast<std::uint32_t>(num_edges()));
    for (; e < graph.num_edges() && graph.from[e] == node; ++e) {
      place[e] = static_cast<std::uint32_t>(num_edges());
      add(node, graph.to[e], graph.word[e], graph.log_weight[e], e);
    }
    if (graph.log_final[node] > LOG_ZERO) {
      add(node, last(), ends ? SENTENCE_END : NO_WORD, graph.log_final[node], NO_EDGE);
    }
  }
  first.insert(first.end(), 2, static_cast<std::uint32_t>(num_edges()));
  std::vector<double> most(num_nodes, 0.0);
  std::vector<std::size_t> length(num_nodes, 0);
  for (std::size_t i = num_edges(); i-- > 0;) {
    if (log_weight[i] == LOG_ZERO) continue;
    most[from[i]] = std::max(most[from[i]], std::fabs(log_weight[i]) + most[to[i]]);
    length[from[i]] = std::max(length[from[i]], 1 + length[to[i]]);
  }
  magnitude = most[start];
  longest = length[start];
  if (!(magnitude <= LARGEST_SUM)) throw ModelError("the weights of a path add up to more than 1e300; scale them down");
}

std::vector<std::uint32_t> EndedGraph::with_end(std::span<const std::uint32_t> path) const {
  std::vector<std::uint32_t> result;
  std::uint32_t node = start;
  for (const std::uint32_t e : path) {
    if (e == NO_EDGE) break;
    result.push_back(place[e]);
    node = to[place[e]];
  }
  if (first[node] < first[node + 1] && given[first[node + 1] - 1] == NO_EDGE) result.push_back(first[node + 1] - 1);
  return result;
}

// ---------------------------------------------------------------- states

StateId StateGraph::add_state(std::uint32_t node, StateId coarser) {
  const auto id = static_cast<StateId>(node_.size());
  at_[node].push_back(id);
  node_.push_back(node);
  first_.push_back(arcs_.size());
  arcs_.resize(arcs_.size() + graph_.first[node + 1] - graph_.first[node], {LOG_ZERO, id});
  value_.push_back(coarser == NO_STATE ? -LOG_ZERO : value_[coarser]);
  when_.push_back(0);
  choice_.push_back(NO_EDGE);
  is_edited_ = true;
  return id;
}

StateGraph::Arc& StateGraph::edit(StateId id, std::uint32_t edge) {
  is_edited_ = true;
  return arcs_[first_[id] + edge - graph_.first[node_[id]]];
}

// ---------------------------------------------------------------- values

std::uint32_t StateGraph::best_edge(StateId id, double& value) const {
  std::uint32_t best = NO_EDGE;
  value = LOG_ZERO;
  const std::uint32_t begin = graph_.first[node_[id]], end = graph_.first[node_[id] + 1];
  const Arc* arc = arcs_.data() + first_[id];
  for (std::uint32_t e = begin; e < end; ++e, ++arc) {
    const double one = weight(*arc, e);
    if (one == LOG_ZERO || !(one + value_[arc->target] > value)) continue;
    value = one + value_[arc->target];
    best = e;
  }
  return best;
}

// Once, from the end on; after that only where the best path may go.
void StateGraph::evaluate_all() {
  WorkMeter meter;
  for (std::uint32_t node = graph_.num_nodes; node-- > 0;) {
    for (const StateId id : at_[node]) {
      choice_[id] = best_edge(id, value_[id]);
      if (node == graph_.last()) value_[id] = 0.0;
      when_[id] = now_;
      meter.add(1 + graph_.first[node + 1] - graph_.first[node]);
    }
  }
  began_ = true;
}

void StateGraph::begin_turn() {
  if (!is_edited_) return;
  ++now_;
  is_edited_ = has_sums_ = false;
  if (!began_) evaluate_all();
}

double StateGraph::value(StateId wanted) {
  begin_turn();
  WorkMeter meter;
  if (when_[wanted] != now_) stack_.push_back(wanted);
  while (!stack_.empty()) {
    const StateId id = stack_.back();
    double value = 0.0;
    const std::uint32_t best = node_[id] == graph_.last() ? NO_EDGE : best_edge(id, value);
    meter.add(8 + graph_.first[node_[id] + 1] - graph_.first[node_[id]]);
    if (best != NO_EDGE && when_[arc(id, best).target] != now_) {
      stack_.push_back(arc(id, best).target);
      continue;
    }
    value_[id] = value;
    choice_[id] = best;
    when_[id] = now_;
    stack_.pop_back();
  }
  return value_[wanted];
}

std::vector<std::uint32_t> StateGraph::best_path(StateId start) {
  std::vector<std::uint32_t> path;
  if (value(start) == LOG_ZERO) return path;
  for (StateId id = start; node_[id] != graph_.last();) {
    value(id);
    path.push_back(choice_[id]);
    id = arc(id, choice_[id]).target;
  }
  return path;
}

// ------------------------------------------------------------------ sums

void StateGraph::add_up() {
  begin_turn();
  if (has_sums_) return;
  sum_.assign(num_states(), LOG_ZERO);
  WorkMeter meter;
  for (std::uint32_t node = graph_.num_nodes; node-- > 0;) {
    for (const StateId id : at_[node]) {
      if (node == graph_.last()) sum_[id] = 0.0;
      double best = LOG_ZERO, sum = 0.0;
      const std::uint32_t begin = graph_.first[node], end = graph_.first[node + 1];
      for (std::uint32_t e = begin; e < end; ++e) {
        best = std::max(best, weight(arc(id, e), e) + sum_[arc(id, e).target]);
      }
      if (best > LOG_ZERO) {
        for (std::uint32_t e = begin; e < end; ++e) {
          sum += std::exp(weight(arc(id, e), e) + sum_[arc(id, e).target] - best);
        }
        sum_[id] = best + std::log(sum);
      }
      meter.add(2 * (1 + end - begin));
    }
  }
  has_sums_ = true;
}

double StateGraph::log_total(StateId start) {
  add_up();
  return sum_[start];
}

std::vector<std::uint32_t> StateGraph::draw(StateId start, Random& random) {
  add_up();
  std::vector<std::uint32_t> path;
  std::vector<double> cumulative;
  for (StateId id = start; node_[id] != graph_.last();) {
    const std::uint32_t begin = graph_.first[node_[id]], end = graph_.first[node_[id] + 1];
    double total = 0.0;
    cumulative.clear();
    for (std::uint32_t e = begin; e < end; ++e) {
      total += std::exp(weight(arc(id, e), e) + sum_[arc(id, e).target] - sum_[id]);
      cumulative.push_back(total);
    }
    const auto chosen = static_cast<std::uint32_t>(random.draw(cumulative));
    path.push_back(begin + chosen);
    id = arc(id, begin + chosen).target;
  }
  return path;
}

// ----------------------------------------------------------------- ranks

const StateArcs::Choice* StateArcs::choice(StateId id, std::uint32_t rank) {
  std::vector<Choice>& choices = choices_[id];
  if (choices.empty()) {
    const std::uint32_t node = states_.node(id);
    for (std::uint32_t e = graph_.first[node]; e < graph_.first[node + 1]; ++e) {
      const StateGraph::Arc arc = states_.arc(id, e);
      const double log_weight = arc.log_bound + graph_.log_weight[e];
      if (log_weight == LOG_ZERO) continue;
      const double value = log_weight + states_.value(arc.target);
      if (value > LOG_ZERO) choices.push_back({value, log_weight, graph_.given[e], arc.target});
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.value > b.value; });
  }
  return rank < choices.size() ? &choices[rank] : nullptr;
}

}  // namespace hiddenite::exact
