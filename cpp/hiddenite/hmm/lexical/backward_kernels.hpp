// The inner loops of backward.hpp. Sums run in a fixed order, whatever vector instructions the processor has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hiddenite::hmm {

// out[j] = a[j] e[j]; returns their sum.
double multiply_row(const float* a, const double* e, std::size_t size, double* out);

// to[i] += factor values[i]
void add_multiple(double factor, const double* values, std::size_t size, double* to);

// Two chains that enter the n states of a context: numbers of row r of chain m at rows[m][r * n + j].
struct EnteredPairs {
  const double* rows[2];
  const double* sums[2];        // [row]: a
  double weights[2];            // of the chains
  const std::uint32_t* pairs;   // [2 i], [2 i + 1]: the rows of pair i
  std::size_t count, n;
};
// values[i] = V of pair i, and base[i] += (weighted a) values[i]; columns are `width` numbers, a multiple of four.
void enter_pairs(const EnteredPairs& entered, const double* ahead, std::size_t width, double* values, double* base);

}  // namespace hiddenite::hmm
