#include <cmath>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/lm/tools/compact.hpp"
#include "hiddenite/lm/tools/rebuild.hpp"

namespace hiddenite::lm {

namespace {

constexpr int LLOYD_ROUNDS = 20;

// Lloyd's algorithm on sorted numbers: a cell is a range, and its representative the mean.
std::vector<float> lloyd(const std::vector<float>& sorted, std::size_t cells) {
  std::vector<double> sums{0.0};
  for (const float x : sorted) sums.push_back(sums.back() + x);
  std::vector<std::size_t> begin(cells + 1);
  for (std::size_t k = 0; k <= cells; ++k) begin[k] = k * sorted.size() / cells;
  std::vector<double> mean(cells);
  for (int round = 0; round < LLOYD_ROUNDS; ++round) {
    check_interrupt();
    for (std::size_t k = 0; k < cells; ++k) {
      if (begin[k] == begin[k + 1]) continue;  // an empty cell stays where it was
      mean[k] = (sums[begin[k + 1]] - sums[begin[k]]) / static_cast<double>(begin[k + 1] - begin[k]);
    }
    for (std::size_t k = 1; k < cells; ++k) {
      const auto border = static_cast<float>(0.5 * (mean[k - 1] + mean[k]));
      begin[k] = static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), border) - sorted.begin());
    }
  }
  return {mean.begin(), mean.end()};
}

float nearest(const std::vector<float>& book, float x) {
  if (std::isinf(x)) return x;
  auto above = std::lower_bound(book.begin(), book.end(), x);
  if (above == book.end()) return book.back();
  if (above == book.begin() || std::isinf(above[-1])) return *above;
  return *above - x < x - above[-1] ? *above : above[-1];
}

std::vector<float> level_values(const Column<float>& column, NodeId begin, NodeId end) {
  return {column.begin() + begin, column.begin() + end};
}

}  // namespace

std::vector<float> representatives(std::vector<float> values, std::size_t most) {
  std::sort(values.begin(), values.end());
  std::vector<float> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() <= most) return distinct;
  std::vector<float> book;
  const auto finite = std::upper_bound(values.begin(), values.end(), -std::numeric_limits<float>::infinity());
  if (finite != values.begin()) book.push_back(values.front());
  values.erase(values.begin(), finite);
  const std::vector<float> cells = lloyd(values, most - book.size());
  book.insert(book.end(), cells.begin(), cells.end());
  std::sort(book.begin(), book.end());
  book.erase(std::unique(book.begin(), book.end()), book.end());
  return book;
}

NgramTable quantize(const NgramTable& table, int bits) {
  if (bits < 4 || bits > 16) throw ModelError("numbers are rounded to 4 to 16 bits");
  const std::size_t most = std::size_t{1} << bits;
  const auto keeps_all = [](NodeId) { return true; };
  std::vector<float> log_prob(table.num_nodes());
  for (int n = 1; n <= table.order; ++n) {
    const NodeId begin = table.level_begin[n], end = table.level_begin[n + 1];
    const std::vector<float> book = representatives(level_values(table.log_prob, begin, end), most);
    for (NodeId a = begin; a < end; ++a) log_prob[a] = nearest(book, table.log_prob[a]);
  }
  const auto prob_of = [&](NodeId a) { return log_prob[a]; };
  NgramTable rounded = rebuild(table, keeps_all, prob_of, [&](NodeId s) { return table.log_backoff[s]; });
  if (rounded.num_contexts() != table.num_contexts()) return rounded;  // weights of 1 alone
  for (NodeId s = 1; s < rounded.num_contexts(); ++s) {
    const FreeMass mass = free_mass(rounded, s, keeps_all);
    // Where rounding has moved more than is left over, the context's own weight is the better one.
    if (mass.own > 0.01 && mass.suffix > 0.01 && std::isfinite(table.log_backoff[s])) {
      rounded.log_backoff[s] = static_cast<float>(log_backoff_of(mass));
    }
  }
  for (int n = 1; n < rounded.order; ++n) {
    const NodeId begin = rounded.level_begin[n], end = rounded.level_begin[n + 1];
    const std::vector<float> book = representatives(level_values(rounded.log_backoff, begin, end), most);
    for (NodeId s = begin; s < end; ++s) rounded.log_backoff[s] = nearest(book, rounded.log_backoff[s]);
  }
  fill_max_columns(rounded);
  return rounded;
}

}  // namespace hiddenite::lm
