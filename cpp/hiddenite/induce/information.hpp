// Mutual information, and the sums of x ln x of which it is made.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace hiddenite::induce {

inline double information(double count) { return count > 0.0 ? count * std::log(count) : 0.0; }

// Of the rows and columns of a table of counts or weights, in nats; 0 of an empty one.
inline double mutual_information(std::span<const double> table, std::size_t num_columns) {
  std::vector<double> rows(table.size() / num_columns), columns(num_columns);
  double total = 0.0, sum = 0.0;
  for (std::size_t t = 0; t < table.size(); ++t) {
    rows[t / num_columns] += table[t];
    columns[t % num_columns] += table[t];
    total += table[t];
    sum += information(table[t]);
  }
  for (const double count : rows) sum -= information(count);
  for (const double count : columns) sum -= information(count);
  return total > 0.0 ? sum / total + std::log(total) : 0.0;
}

}  // namespace hiddenite::induce
