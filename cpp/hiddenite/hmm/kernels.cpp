#include "hiddenite/hmm/kernels.hpp"

#include <algorithm>

#include "hiddenite/base/clones.hpp"

namespace hiddenite::hmm {

namespace {

constexpr float NEGLIGIBLE = 1e-10f;  // of a state's probability, in training

// Eight lanes as a balanced sum.
template <class Real>
inline Real folded(const Real* s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// `height` rows at a time, so that their sums do not wait for one another.
template <class Real, std::size_t lanes, std::size_t height>
[[gnu::always_inline]] inline void add_dots(const float* block, std::size_t rows, std::size_t columns, const Real* w,
                                            Real* y) {
  const std::size_t whole = columns - columns % lanes, tall = rows - rows % height;
  const auto rest = [&](const float* row) {
    Real sum = 0;
    for (std::size_t j = whole; j < columns; ++j) sum += static_cast<Real>(row[j]) * w[j];
    return sum;
  };
  for (std::size_t i = 0; i < tall; i += height) {
    const float* const first = block + i * columns;
    Real sums[height][lanes] = {};
    for (std::size_t j = 0; j < whole; j += lanes) {
      for (std::size_t r = 0; r < height; ++r) {
        for (std::size_t l = 0; l < lanes; ++l) sums[r][l] += static_cast<Real>(first[r * columns + j + l]) * w[j + l];
      }
    }
    for (std::size_t r = 0; r < height; ++r) y[i + r] += folded(sums[r]) + rest(first + r * columns);
  }
  for (std::size_t i = tall; i < rows; ++i) {
    const float* const row = block + i * columns;
    Real sums[lanes] = {};
    for (std::size_t j = 0; j < whole; j += lanes) {
      for (std::size_t l = 0; l < lanes; ++l) sums[l] += static_cast<Real>(row[j + l]) * w[j + l];
    }
    y[i] += folded(sums) + rest(row);
  }
}

// Columns in tiles whose sums stay in registers.
template <class Real, std::size_t tile>
[[gnu::always_inline]] inline void add_combination(const Real* x, std::size_t rows, const float* block,
                                                   std::size_t columns, Real* y, Real negligible) {
  std::size_t j = 0;
  for (; j + tile <= columns; j += tile) {
    Real sums[tile];
    for (std::size_t l = 0; l < tile; ++l) sums[l] = y[j + l];
    for (std::size_t i = 0; i < rows; ++i) {
      if (!(x[i] > negligible)) continue;
      const float* const row = block + i * columns + j;
      for (std::size_t l = 0; l < tile; ++l) sums[l] += x[i] * static_cast<Real>(row[l]);
    }
    for (std::size_t l = 0; l < tile; ++l) y[j + l] = sums[l];
  }
  for (std::size_t i = 0; i < rows && j < columns; ++i) {
    for (std::size_t l = j; l < columns; ++l) y[l] += x[i] * static_cast<Real>(block[i * columns + l]);
  }
}

}  // namespace

HIDDENITE_CLONES
void add_row_times_block(const float* x, std::size_t rows, const float* block, std::size_t columns, float* y) {
  add_combination<float, 32>(x, rows, block, columns, y, NEGLIGIBLE);
}

HIDDENITE_CLONES
void add_row_times_block(const double* x, std::size_t rows, const float* block, std::size_t columns, double* y) {
  add_combination<double, 16>(x, rows, block, columns, y, 0.0);
}

HIDDENITE_CLONES
void add_block_times_column(const float* block, std::size_t rows, std::size_t columns, const float* w, float* y) {
  add_dots<float, 8, 4>(block, rows, columns, w, y);
}

HIDDENITE_CLONES
void add_block_times_column(const float* block, std::size_t rows, std::size_t columns, const double* w, double* y) {
  add_dots<double, 8, 2>(block, rows, columns, w, y);
}

HIDDENITE_CLONES
void max_block_times_column(const float* block, std::size_t rows, std::size_t columns, const double* w, double* y) {
  constexpr std::size_t lanes = 8;
  const std::size_t whole = columns - columns % lanes;
  for (std::size_t i = 0; i < rows; ++i) {
    const float* const row = block + i * columns;
    double best[lanes] = {};
    for (std::size_t j = 0; j < whole; j += lanes) {
      for (std::size_t l = 0; l < lanes; ++l) best[l] = std::max(best[l], static_cast<double>(row[j + l]) * w[j + l]);
    }
    for (std::size_t l = 1; l < lanes; ++l) best[0] = std::max(best[0], best[l]);
    for (std::size_t j = whole; j < columns; ++j) best[0] = std::max(best[0], static_cast<double>(row[j]) * w[j]);
    y[i] = std::max(y[i], best[0]);
  }
}

HIDDENITE_CLONES
void add_outer(const float* x, std::size_t rows, const float* w, std::size_t columns, float* sums) {
  for (std::size_t i = 0; i < rows; ++i) {
    const float factor = x[i];
    if (factor < NEGLIGIBLE) continue;
    float* const row = sums + i * columns;
    for (std::size_t j = 0; j < columns; ++j) row[j] += factor * w[j];
  }
}

}  // namespace hiddenite::hmm
