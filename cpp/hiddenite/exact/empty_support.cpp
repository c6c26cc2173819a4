#include "hiddenite/exact/empty_support.hpp"

#include <string>

#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/exact/bound/graph_bound.hpp"

namespace hiddenite::exact {

void throw_no_path(const Candidates& candidates, std::size_t position) {
  if (!candidates.is_chain()) {
    throw EmptySupport(candidates.length(), "no path from node 0 to the last has a positive probability");
  }
  throw EmptySupport(position, position >= candidates.length()
                                   ? "no path can end: </s> has probability zero after all of them"
                                   : "position " + std::to_string(position + 1) +
                                         ": every path has probability zero up to here");
}

namespace {

// Some path through the first positions has a positive probability.
bool is_possible(const NgramTable& table, const Candidates& candidates, std::size_t num_positions) {
  WordGraph graph = graph_of(candidates).graph;
  graph.log_final.assign(graph.num_nodes, LOG_ZERO);
  graph.log_final[num_positions] = 0.0;
  GraphRefinement q(table, graph, {.ends = false});
  while (true) {
    check_interrupt();
    const Trial trial = q.best();
    if (trial.log_q == LOG_ZERO) return false;
    if (trial.log_p > LOG_ZERO) return true;
    q.tighten(trial);
  }
}

}  // namespace

void throw_empty_support(const NgramTable& table, const Candidates& candidates) {
  if (!candidates.is_chain()) throw_no_path(candidates, 0);
  std::size_t possible = 0, impossible = candidates.length() + 1;  // numbers of positions
  while (impossible - possible > 1) {
    const std::size_t middle = (possible + impossible) / 2;
    (is_possible(table, candidates, middle) ? possible : impossible) = middle;
  }
  throw_no_path(candidates, possible);
}

}  // namespace hiddenite::exact
