// Generalised Stirling numbers, what is left of a Pitman–Yor restaurant when the
// tables are forgotten and only their number is kept.
//
// S(c, t) is the weight of all ways to seat c customers at t tables with discount a:
//   S(c, t) = S(c - 1, t - 1) + (c - 1 - a t) S(c - 1, t),   S(1, 1) = 1.
// Stored are ratios of neighbours, which neither overflow nor cancel:
//   V(c, t) = S(c, t) / S(c, t - 1) = [1 + (c - 1 - a t) V(c - 1, t)] / [1 / V(c - 1, t - 1) + c - 1 - a (t - 1)].
// A column per t, each as long as it has been asked for: no column is longer than
// the one before it, so the table is a staircase under the counts that occur.
#pragma once

#include <cstdint>
#include <vector>

namespace hiddenite::induce {

class StirlingTable {
 public:
  explicit StirlingTable(double discount) { reset(discount); }

  // Forgets all ratios, but keeps their memory: parameters are drawn by trying discounts, and fresh pages are dear.
  // The columns grow again as they are asked for.
  void reset(double discount);
  double discount() const { return discount_; }

  // The probability that the last of c customers at t tables opened a table: S(c - 1, t - 1) / S(c, t).
  double opened(std::uint32_t customers, std::uint32_t tables) {
    if (customers == tables) return 1.0;
    if (tables == 1) return 0.0;
    const double ways = (customers - 1 - discount_ * tables) * ratio(customers - 1, tables);
    return 1.0 / (1.0 + ways);
  }

  // ln S(c, t), 1 <= t <= c, in time t.
  double log_number(std::uint32_t customers, std::uint32_t tables);

 private:
  struct Column {
    std::vector<float> ratios;  // V(t, t), V(t + 1, t), ...
    double last = 0.0;          // the last of them, unrounded: a column grows as if it never had stopped
  };

  double ratio(std::uint32_t customers, std::uint32_t tables) {  // 2 <= tables <= customers
    if (tables >= columns_.size() || customers - tables >= columns_[tables].ratios.size()) grow(customers, tables);
    return columns_[tables].ratios[customers - tables];
  }
  void grow(std::uint32_t customers, std::uint32_t tables);
  void extend(std::uint32_t tables, std::uint32_t customers);
  void extend_together(std::uint32_t tables, std::uint32_t customers);

  static constexpr std::uint32_t TOGETHER = 8;  // columns that are filled side by side

  double discount_ = 0.0;
  std::vector<Column> columns_;  // by t; the first two are empty
};

}  // namespace hiddenite::induce
