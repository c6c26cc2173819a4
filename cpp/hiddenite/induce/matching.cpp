#include "hiddenite/induce/matching.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::induce {

namespace {

constexpr std::size_t NONE = static_cast<std::size_t>(-1);

// At most as many rows as columns.
class Matching {
 public:
  Matching(std::vector<double> costs, std::size_t num_rows, std::size_t num_columns)
      : columns_(num_columns), costs_(std::move(costs)), u_(num_rows), v_(num_columns), distance_(num_columns),
        before_(num_columns), done_(num_columns), row_of_(num_columns, NONE), column_of_(num_rows, NONE) {
    for (std::size_t row = 0; row < num_rows; ++row) {
      base::check_interrupt();
      add(row);
    }
  }

  const std::vector<std::size_t>& columns() const { return column_of_; }

 private:
  // Matches one more row along the cheapest alternating path, and keeps the reduced costs at zero or above.
  void add(std::size_t start) {
    std::fill(distance_.begin(), distance_.end(), std::numeric_limits<double>::infinity());
    std::fill(done_.begin(), done_.end(), 0);
    std::size_t row = start, last = NONE;
    double so_far = 0.0;
    while (true) {
      for (std::size_t c = 0; c < columns_; ++c) {
        if (done_[c]) continue;
        const double through = so_far + costs_[row * columns_ + c] - u_[row] - v_[c];
        if (through < distance_[c]) {
          distance_[c] = through;
          before_[c] = row;
        }
      }
      last = nearest();
      so_far = distance_[last];
      if (row_of_[last] == NONE) break;
      done_[last] = 1;
      row = row_of_[last];
    }
    u_[start] += so_far;
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!done_[c]) continue;
      u_[row_of_[c]] += so_far - distance_[c];
      v_[c] -= so_far - distance_[c];
    }
    while (last != NONE) {
      const std::size_t from = before_[last];
      row_of_[last] = from;
      last = std::exchange(column_of_[from], last);
    }
  }

  std::size_t nearest() const {
    std::size_t best = NONE;
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!done_[c] && (best == NONE || distance_[c] < distance_[best])) best = c;
    }
    return best;
  }

  std::size_t columns_;
  std::vector<double> costs_, u_, v_, distance_;
  std::vector<std::size_t> before_;  // [column]: the row that it is reached from
  std::vector<char> done_;
  std::vector<std::size_t> row_of_, column_of_;
};

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> best_matching(std::span<const double> weights,
                                                                   std::size_t num_rows, std::size_t num_columns) {
  const bool is_turned = num_rows > num_columns;
  std::vector<double> costs(weights.size());
  for (std::size_t r = 0; r < num_rows; ++r) {
    for (std::size_t c = 0; c < num_columns; ++c) {
      costs[is_turned ? c * num_rows + r : r * num_columns + c] = -weights[r * num_columns + c];
    }
  }
  const auto [fewer, more] = std::minmax(num_rows, num_columns);
  const Matching matching(std::move(costs), fewer, more);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::size_t i = 0; i < fewer; ++i) {
    const auto here = static_cast<std::uint32_t>(i), there = static_cast<std::uint32_t>(matching.columns()[i]);
    pairs.emplace_back(is_turned ? there : here, is_turned ? here : there);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace hiddenite::induce
