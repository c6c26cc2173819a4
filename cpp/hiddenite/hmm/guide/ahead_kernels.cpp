#include "hiddenite/hmm/guide/ahead_kernels.hpp"

#include <algorithm>

#include "hiddenite/base/clones.hpp"

namespace hiddenite::hmm {

namespace {

// Four numbers that are computed together; the compiler makes of them what the processor has.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef float FourFloats __attribute__((vector_size(16), aligned(4), may_alias));
constexpr std::size_t HEIGHT = 4, LONGEST_PANEL = 128;
constexpr std::size_t ROW_PIECE = 16384;  // sums, in the second cache; shorter pieces of rows come slower from memory

// `height` rows against a tile of `vectors` x 4 columns; the sums stay in registers. Rows begin LONGEST_PANEL apart.
template <std::size_t height, std::size_t vectors, bool best>
[[gnu::always_inline]] inline void combine_tile(const double* rows, std::size_t panel, const double* w,
                                                std::size_t width, double* y) {
  Four sums[height][vectors];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < height; ++r) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) {
      sums[r][v] = *reinterpret_cast<const Four*>(y + r * width + 4 * v);
    }
  }
  for (std::size_t j = 0; j < panel; ++j) {
    const double* const row = w + j * width;
#pragma GCC unroll 8
    for (std::size_t r = 0; r < height; ++r) {
      const double x = rows[r * LONGEST_PANEL + j];
      const Four factor = {x, x, x, x};
#pragma GCC unroll 8
      for (std::size_t v = 0; v < vectors; ++v) {
        const Four product = factor * *reinterpret_cast<const Four*>(row + 4 * v);
        if constexpr (best) {
          sums[r][v] = sums[r][v] < product ? product : sums[r][v];
        } else {
          sums[r][v] = sums[r][v] + product;
        }
      }
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < height; ++r) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) *reinterpret_cast<Four*>(y + r * width + 4 * v) = sums[r][v];
  }
}

// Twelve columns at a time, then eight, then four; sixteen are better as two eights.
template <std::size_t height, bool best>
[[gnu::always_inline]] inline void combine_rows(const double* rows, std::size_t panel, const double* w,
                                                std::size_t width, double* y) {
  std::size_t l = 0;
  for (; width - l >= 12 && width - l != 16; l += 12) combine_tile<height, 3, best>(rows, panel, w + l, width, y + l);
  for (; width - l >= 8; l += 8) combine_tile<height, 2, best>(rows, panel, w + l, width, y + l);
  for (; width - l >= 4; l += 4) combine_tile<height, 1, best>(rows, panel, w + l, width, y + l);
}

// Panels of w stay in the nearest cache while all rows of the block pass; a row becomes doubles once for all columns.
template <bool best, class Real>
[[gnu::always_inline]] inline void combine_block(const Real* block, std::size_t rows, std::size_t columns,
                                                 const double* w, std::size_t width, double* y) {
  double wide[HEIGHT * LONGEST_PANEL];
  for (std::size_t begin = 0; begin < columns; begin += LONGEST_PANEL) {
    const std::size_t panel = std::min(LONGEST_PANEL, columns - begin);
    const auto widen = [&](std::size_t i, std::size_t height) {
      for (std::size_t r = 0; r < height; ++r) {
        const Real* const row = block + (i + r) * columns + begin;
        for (std::size_t j = 0; j < panel; ++j) wide[r * LONGEST_PANEL + j] = static_cast<double>(row[j]);
      }
    };
    std::size_t i = 0;
    for (; i + HEIGHT <= rows; i += HEIGHT) {
      widen(i, HEIGHT);
      combine_rows<HEIGHT, best>(wide, panel, w + begin * width, width, y + i * width);
    }
    for (; i < rows; ++i) {
      widen(i, 1);
      combine_rows<1, best>(wide, panel, w + begin * width, width, y + i * width);
    }
  }
}

[[gnu::always_inline]] inline void widen_four(const double* e, Four& to) { to = *reinterpret_cast<const Four*>(e); }
[[gnu::always_inline]] inline void widen_four(const float* e, Four& to) {
  to = __builtin_convertvector(*reinterpret_cast<const FourFloats*>(e), Four);
}

// Four lanes, and the rest in the first: the same sums for any number of rows.
template <std::size_t height, class Real>
[[gnu::always_inline]] inline void lane_dots(const Real* const* rows, const double* a, const double* b,
                                             std::size_t size, TwoSums* sums) {
  Four first[height] = {}, second[height] = {};
  const std::size_t whole = size - size % 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    const Four x = *reinterpret_cast<const Four*>(a + i), y = *reinterpret_cast<const Four*>(b + i);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < height; ++r) {
      Four e;
      widen_four(rows[r] + i, e);
      first[r] = first[r] + e * x;
      second[r] = second[r] + e * y;
    }
  }
  for (std::size_t r = 0; r < height; ++r) {
    const auto fold = [&](const Four& s, const double* with) {
      double rest = 0.0;
      for (std::size_t i = whole; i < size; ++i) rest += static_cast<double>(rows[r][i]) * with[i];
      return ((s[0] + s[2]) + (s[1] + s[3])) + rest;
    };
    sums[r] = {fold(first[r], a), fold(second[r], b)};
  }
}

}  // namespace

HIDDENITE_CLONES
void add_block_times_columns(const float* block, std::size_t rows, std::size_t columns, const double* w,
                             std::size_t width, double* y) {
  combine_block<false>(block, rows, columns, w, width, y);
}

HIDDENITE_CLONES
void add_rows_times_columns(const double* block, std::size_t rows, std::size_t columns, const double* w,
                            std::size_t width, double* y) {
  combine_block<false>(block, rows, columns, w, width, y);
}

HIDDENITE_CLONES
void max_block_times_columns(const float* block, std::size_t rows, std::size_t columns, const double* w,
                             std::size_t width, double* y) {
  combine_block<true>(block, rows, columns, w, width, y);
}

HIDDENITE_CLONES
void column_maxima(const double* values, std::size_t rows, std::size_t width, double* most) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t l = 0; l < width; ++l) most[l] = most[l] < values[i * width + l] ? values[i * width + l] : most[l];
  }
}

HIDDENITE_CLONES
void scale_columns(double* values, std::size_t rows, std::size_t width, const double* factors) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t l = 0; l < width; ++l) values[i * width + l] *= factors[l];
  }
}

HIDDENITE_CLONES
void add_row_times_large_block(const double* x, std::size_t rows, const float* block, std::size_t columns, double* y) {
  for (std::size_t begin = 0; begin < columns; begin += ROW_PIECE) {
    const std::size_t end = std::min(columns, begin + ROW_PIECE);
    std::size_t i = 0;
    for (; i + 4 <= rows; i += 4) {
      const float* const a = block + i * columns;
      const float* const b = a + columns;
      const float* const c = b + columns;
      const float* const d = c + columns;
      for (std::size_t j = begin; j < end; ++j) {
        y[j] = (((y[j] + x[i] * static_cast<double>(a[j])) + x[i + 1] * static_cast<double>(b[j])) +
                x[i + 2] * static_cast<double>(c[j])) + x[i + 3] * static_cast<double>(d[j]);
      }
    }
    for (; i < rows; ++i) {
      const float* const row = block + i * columns;
      for (std::size_t j = begin; j < end; ++j) y[j] += x[i] * static_cast<double>(row[j]);
    }
  }
}

HIDDENITE_CLONES
TwoSums two_dots(const double* e, const double* a, const double* b, std::size_t size) {
  TwoSums sums;
  lane_dots<1>(&e, a, b, size, &sums);
  return sums;
}

HIDDENITE_CLONES
TwoSums two_dots(const float* e, const double* a, const double* b, std::size_t size) {
  TwoSums sums;
  lane_dots<1>(&e, a, b, size, &sums);
  return sums;
}

HIDDENITE_CLONES
void two_dots_of_rows(const float* const* rows, const double* a, const double* b, std::size_t size, TwoSums* sums) {
  lane_dots<DOT_ROWS>(rows, a, b, size, sums);
}

}  // namespace hiddenite::hmm
