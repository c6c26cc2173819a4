#include "hiddenite/hmm/lexical/axes.hpp"

#include "hiddenite/base/clones.hpp"

namespace hiddenite::hmm {

namespace {

// Four numbers that are computed together; the compiler makes of them what the processor has.
template <class Real>
struct Lanes {
  typedef Real Four __attribute__((vector_size(4 * sizeof(Real)), aligned(sizeof(Real)), may_alias));
};

// `vectors` x 4 columns of one row of y; the sums stay in registers.
template <std::size_t vectors, class Real>
[[gnu::always_inline]] inline void turn_tile(const Real* x, std::size_t rows, std::size_t rest, const Real* matrix,
                                             std::size_t columns, Real* y, Real least) {
  using Four = typename Lanes<Real>::Four;
  Four sums[vectors] = {};
  for (std::size_t i = 0; i < rows; ++i) {
    const Real factor = x[i * rest];
    if (!(factor > least)) continue;
    const Four factors = {factor, factor, factor, factor};
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
      sums[v] = sums[v] + factors * *reinterpret_cast<const Four*>(matrix + i * columns + 4 * v);
    }
  }
#pragma GCC unroll 4
  for (std::size_t v = 0; v < vectors; ++v) *reinterpret_cast<Four*>(y + 4 * v) = sums[v];
}

template <class Real>
[[gnu::always_inline]] inline void turn(const Real* x, std::size_t rows, std::size_t rest, const Real* matrix,
                                        std::size_t columns, Real* y, Real least) {
  for (std::size_t r = 0; r < rest; ++r) {
    Real* const to = y + r * columns;
    std::size_t j = 0;
    for (; columns - j >= 12; j += 12) turn_tile<3>(x + r, rows, rest, matrix + j, columns, to + j, least);
    for (; columns - j >= 4; j += 4) turn_tile<1>(x + r, rows, rest, matrix + j, columns, to + j, least);
    for (; j < columns; ++j) {
      Real sum{0};
      for (std::size_t i = 0; i < rows; ++i) {
        if (x[i * rest + r] > least) sum += x[i * rest + r] * matrix[i * columns + j];
      }
      to[j] = sum;
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
