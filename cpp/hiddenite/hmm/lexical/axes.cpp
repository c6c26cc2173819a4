#include "hiddenite/hmm/lexical/axes.hpp"

#include <algorithm>

#include "hiddenite/base/clones.hpp"

namespace hiddenite::hmm {

namespace {

template <class Real>
[[gnu::always_inline]] inline void turn(const Real* x, std::size_t rows, std::size_t rest, const Real* matrix,
                                        std::size_t columns, Real* y, Real least) {
  std::fill_n(y, rest * columns, Real{0});
  for (std::size_t i = 0; i < rows; ++i) {
    const Real* const row = matrix + i * columns;
    for (std::size_t r = 0; r < rest; ++r) {
      const Real factor = x[i * rest + r];
      if (!(factor > least)) continue;
      Real* const to = y + r * columns;
      for (std::size_t j = 0; j < columns; ++j) to[j] += factor * row[j];
    }
  }
}

}  // namespace

HIDDENITE_CLONES
void turn_axis(const float* x, std::size_t rows, std::size_t rest, const float* matrix, std::size_t columns, float* y,
               float least) {
  turn(x, rows, rest, matrix, columns, y, least);
}

HIDDENITE_CLONES
void turn_axis(const double* x, std::size_t rows, std::size_t rest, const double* matrix, std::size_t columns,
               double* y) {
  turn(x, rows, rest, matrix, columns, y, 0.0);
}

}  // namespace hiddenite::hmm
