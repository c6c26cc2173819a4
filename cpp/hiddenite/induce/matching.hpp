// The best one-to-one matching of rows with columns: the assignment problem.
//
// Rows are added one by one; each time the cheapest alternating path to a free column is
// found by Dijkstra under the reduced costs  -weight - u[row] - v[column] >= 0
// (Kuhn 1955, Jonker & Volgenant 1987): rows^2 columns in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace hiddenite::induce {

// The pairs (row, column), by rows, of the largest total weight; each row and each column is in one at most, and as
// many as can be are in one. `weights` is [row, column], finite.
std::vector<std::pair<std::uint32_t, std::uint32_t>> best_matching(std::span<const double> weights,
                                                                   std::size_t num_rows, std::size_t num_columns);

}  // namespace hiddenite::induce
