#include "hiddenite/exact/bound/weight_rows.hpp"

#include <algorithm>

namespace hiddenite::exact {

std::size_t widest(std::span<const Layer> layers) {
  std::size_t width = 0;
  for (const Layer& layer : layers) width = std::max(width, layer.size());
  return width;
}

WeightRows::WeightRows(const ContextAutomaton& automaton)
    : automaton_(automaton), exact_(widest(automaton.layers())), made_(widest(automaton.layers())) {}

double* WeightRows::make(std::size_t position, Context context) {
  double* const row = made_.add();
  fill(position, context, row);
  return row;
}

const double* WeightRows::exact_row(std::size_t position, NodeId node) {
  const std::uint64_t key = (std::uint64_t{position} << 32) | node;
  const std::uint32_t found = index_.find(key);
  if (found != FlatMap::ABSENT) return exact_.at(found);
  index_.insert(key, exact_.size());
  double* const row = exact_.add();
  fill(position, {node, true}, row);
  return row;
}

void WeightRows::fill(std::size_t position, Context context, double* row) {
  const NgramTable& table = automaton_.table();
  const Layer& layer = automaton_.layers()[position];
  if (context.node != ROOT) {
    const double log_backoff = (context.closed ? table.log_backoff : table.log_max_backoff)[context.node];
    const double* const after_backoff = exact_row(position, table.suffix[context.node]);
    for (std::size_t k = 0; k < layer.size(); ++k) row[k] = after_backoff[k] + log_backoff;
  }
  const float* const log_probs = (context.closed ? table.log_prob : table.log_max_prob).data();
  for_each_listed(table, context.node, layer, [&](std::uint32_t k, NodeId arc) {
    row[k] = log_probs[arc] + layer.log_weight[k];
  });
}

std::uint32_t find_largest(std::span<const double> row) {
  double a = LOG_ZERO, b = LOG_ZERO, c = LOG_ZERO, d = LOG_ZERO;  // four maxima, so that none waits for another
  std::size_t k = 0;
  for (; k + 4 <= row.size(); k += 4) {
    a = std::max(a, row[k]);
    b = std::max(b, row[k + 1]);
    c = std::max(c, row[k + 2]);
    d = std::max(d, row[k + 3]);
  }
  for (; k < row.size(); ++k) a = std::max(a, row[k]);
  const double largest = std::max(std::max(a, b), std::max(c, d));
  return static_cast<std::uint32_t>(std::find(row.begin(), row.end(), largest) - row.begin());
}

}  // namespace hiddenite::exact
