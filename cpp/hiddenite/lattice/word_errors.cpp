#include "hiddenite/lattice/word_errors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::lattice {

std::uint32_t word_errors(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  std::vector<std::uint32_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint32_t diagonal = row[0];
    ++row[0];
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::uint32_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::vector<std::uint32_t> error_matrix(const std::vector<Labels>& sequences) {
  const std::size_t n = sequences.size();
  std::vector<std::uint32_t> errors(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      errors[i * n + j] = errors[j * n + i] = word_errors(sequences[i], sequences[j]);
    }
    check_interrupt();
  }
  return errors;
}

namespace {

constexpr std::uint32_t FAR = 1u << 30;  // no path; sums of two stay in range

using ErrorRow = std::vector<std::uint32_t>;  // [words of the sequence that are used]

// Words of the sequence that the path leaves out.
void leave_out_forward(ErrorRow& row) {
  for (std::size_t i = 1; i < row.size(); ++i) row[i] = std::min(row[i], row[i - 1] + 1);
}
void leave_out_backward(ErrorRow& row) {
  for (std::size_t i = row.size() - 1; i-- > 0;) row[i] = std::min(row[i], row[i + 1] + 1);
}

}  // namespace

NearestPath nearest_path(const WordGraph& graph, const std::vector<std::uint32_t>& label, const Labels& sequence) {
  const std::size_t n = sequence.size();
  std::vector<ErrorRow> before(graph.num_nodes, ErrorRow(n + 1, FAR)), after(before);
  WorkMeter meter;
  before[graph.start][0] = 0;
  std::size_t edge = 0;
  for (std::uint32_t node = 0; node < graph.num_nodes; ++node) {
    leave_out_forward(before[node]);
    for (; edge < graph.num_edges() && graph.from[edge] == node; ++edge) {
      if (graph.log_weight[edge] == LOG_ZERO) continue;
      const ErrorRow& own = before[node];
      ErrorRow& row = before[graph.to[edge]];
      const bool is_silent = label[edge] == SILENT;
      for (std::size_t i = 0; i <= n; ++i) {
        row[i] = std::min(row[i], own[i] + !is_silent);
        if (!is_silent && i > 0) row[i] = std::min(row[i], own[i - 1] + (label[edge] != sequence[i - 1]));
      }
      meter.add(n + 1);
    }
  }
  for (std::uint32_t node = 0; node < graph.num_nodes; ++node) {
    if (graph.log_final[node] > LOG_ZERO) after[node][n] = 0;
  }
  for (std::uint32_t node = graph.num_nodes; node-- > 0;) {
    for (; edge > 0 && graph.from[edge - 1] == node; --edge) {
      const std::size_t e = edge - 1;
      if (graph.log_weight[e] == LOG_ZERO) continue;
      const ErrorRow& further = after[graph.to[e]];
      ErrorRow& row = after[node];
      const bool is_silent = label[e] == SILENT;
      for (std::size_t i = 0; i <= n; ++i) {
        row[i] = std::min(row[i], further[i] + !is_silent);
        if (!is_silent && i < n) row[i] = std::min(row[i], further[i + 1] + (label[e] != sequence[i]));
      }
      meter.add(n + 1);
    }
    leave_out_backward(after[node]);
  }
  NearestPath result{after[graph.start][0], std::vector<std::uint32_t>(graph.num_nodes, 0)};
  if (result.errors >= FAR) throw ModelError("the lattice has no path from its start to an end");
  for (std::uint32_t node = 0; node < graph.num_nodes; ++node) {
    std::uint32_t least = FAR;
    for (std::size_t i = 0; i <= n; ++i) {
      const std::uint32_t errors = before[node][i] + after[node][i];
      if (errors >= least) continue;
      least = errors;
      result.words_before[node] = static_cast<std::uint32_t>(i);
    }
  }
  return result;
}

ErrorColumn after_word(ErrorColumn column, std::uint64_t equal, std::uint64_t all) {
  const std::uint64_t vertical = equal | column.minus;
  const std::uint64_t horizontal = (((equal & column.plus) + column.plus) ^ column.plus) | equal;
  const std::uint64_t more = (column.minus | ~(horizontal | column.plus)) << 1 | 1;  // no word matched: one error more
  const std::uint64_t fewer = (column.plus & horizontal) << 1;
  return {(fewer | ~(vertical | more)) & all, more & vertical & all};
}

std::optional<ExpectedErrors> expected_errors(const Composition& composition, const std::vector<std::uint32_t>& label,
                                              const Labels& sequence, const ErrorLimits& limits) {
  if (sequence.size() > 64) return std::nullopt;
  const std::uint64_t all = sequence.empty() ? 0 : ~std::uint64_t{0} >> (64 - sequence.size());
  std::unordered_map<std::uint32_t, std::uint64_t> equal;  // [label]
  for (std::size_t i = 0; i < sequence.size(); ++i) equal[sequence[i]] |= std::uint64_t{1} << i;
  const std::vector<double>& after = composition.sum_after();
  std::vector<std::map<ErrorColumn, double>> columns(composition.num_states());  // shares
  columns[0][{all, 0}] = 1.0;
  ExpectedErrors result{0.0, 0.0};
  std::uint64_t num_rows = 0;
  for (std::uint32_t state = 0; state < composition.num_states(); ++state) {
    for (const auto& [column, share] : columns[state]) {
      if (share < limits.least_share) {
        result.left_out += share;
        continue;
      }
      if (++num_rows > limits.max_rows) return std::nullopt;
      check_interrupt_at(num_rows * 16);
      const double ending = share * std::exp(composition.log_final(state) - after[state]);
      result.errors += ending * (std::popcount(column.plus) - std::popcount(column.minus));
      for (const GraphArc& arc : composition.arcs(state)) {
        if (after[arc.to] == LOG_ZERO) continue;
        const double part = share * std::exp(arc.log_weight + after[arc.to] - after[state]);
        const std::uint32_t word = label[arc.edge];
        if (word == SILENT) {
          columns[arc.to][column] += part;
          continue;
        }
        const auto found = equal.find(word);
        columns[arc.to][after_word(column, found == equal.end() ? 0 : found->second, all)] += part;
        result.errors += part;  // the table's first row grows by one with each word
      }
    }
    columns[state] = {};
  }
  return result;
}

}  // namespace hiddenite::lattice
