// The inner loops of values that come in columns side by side, as ahead.hpp has them.
//
// Sums run in a fixed order, whatever vector instructions the processor has.
#pragma once

#include <cstddef>

namespace hiddenite::hmm {

inline constexpr std::size_t COLUMN_TILE = 4;  // widths are multiples of it

// y[i, l] += sum_j block[i, j] w[j, l]; rows of w and y have `width` numbers.
void add_block_times_columns(const float* block, std::size_t rows, std::size_t columns, const double* w,
                             std::size_t width, double* y);
void add_rows_times_columns(const double* block, std::size_t rows, std::size_t columns, const double* w,
                            std::size_t width, double* y);
// y[i, l] = max(y[i, l], max_j block[i, j] w[j, l])
void max_block_times_columns(const float* block, std::size_t rows, std::size_t columns, const double* w,
                             std::size_t width, double* y);
// most[l] = max_i values[i, l], and values[i, l] *= factors[l]
void column_maxima(const double* values, std::size_t rows, std::size_t width, double* most);
void scale_columns(double* values, std::size_t rows, std::size_t width, const double* factors);

// y[j] += sum_i x[i] block[i, j], the numbers of add_row_times_block (kernels.hpp), for blocks larger than the caches:
// rows pass in long pieces, one after the other, as memory gives them fastest.
void add_row_times_large_block(const double* x, std::size_t rows, const float* block, std::size_t columns, double* y);

struct TwoSums {
  double first, second;
};
// sum_i e[i] a[i] and sum_i e[i] b[i]
TwoSums two_dots(const double* e, const double* a, const double* b, std::size_t size);
TwoSums two_dots(const float* e, const double* a, const double* b, std::size_t size);
// The same for DOT_ROWS rows of `size` floats: a and b are read once for all of them, and what takes time is the rows'
// way from memory. Each row has the bits that two_dots gives.
inline constexpr std::size_t DOT_ROWS = 4;
void two_dots_of_rows(const float* const* rows, const double* a, const double* b, std::size_t size, TwoSums* sums);

}  // namespace hiddenite::hmm
