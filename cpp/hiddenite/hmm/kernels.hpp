// The inner loops of large chains: a vector times a block of probabilities.
//
// Blocks hold floats, row by row; vectors are doubles where answers are exact
// and floats in training. Sums run over fixed lanes, so that the results are the
// same bits whatever vector instructions the processor has; those are chosen
// when the program is loaded.
#pragma once

#include <cstddef>

namespace hiddenite::hmm {

// y[j] += sum_i x[i] block[i, j]
void add_row_times_block(const float* x, std::size_t rows, const float* block, std::size_t columns, float* y);
void add_row_times_block(const double* x, std::size_t rows, const float* block, std::size_t columns, double* y);
// y[i] += sum_j block[i, j] w[j]
void add_block_times_column(const float* block, std::size_t rows, std::size_t columns, const float* w, float* y);
void add_block_times_column(const float* block, std::size_t rows, std::size_t columns, const double* w, double* y);
// y[i] = max(y[i], max_j block[i, j] w[j])
void max_block_times_column(const float* block, std::size_t rows, std::size_t columns, const double* w, double* y);
// sums[i, j] += x[i] w[j]
void add_outer(const float* x, std::size_t rows, const float* w, std::size_t columns, float* sums);

}  // namespace hiddenite::hmm
