// Arrays with an axis for each chain, taken through one matrix a chain.
#pragma once

#include <cstddef>

namespace hiddenite::hmm {

// The first axis of x goes through the matrix and becomes the last: y[r, j] = sum_i x[i, r] matrix[i, j], for r over
// all other axes together. After a turn for each chain the axes are in their first order again. Numbers below `least`
// count as zero.
void turn_axis(const float* x, std::size_t rows, std::size_t rest, const float* matrix, std::size_t columns, float* y,
               float least);
void turn_axis(const double* x, std::size_t rows, std::size_t rest, const double* matrix, std::size_t columns,
               double* y);

}  // namespace hiddenite::hmm
