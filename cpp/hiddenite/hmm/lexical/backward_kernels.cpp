#include "hiddenite/hmm/lexical/backward_kernels.hpp"

#include "hiddenite/base/clones.hpp"

namespace hiddenite::hmm {

namespace {

// Four numbers that are computed together; the compiler makes of them what the processor has.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef float FourFloats __attribute__((vector_size(16), aligned(4), may_alias));

// to += x times four numbers
[[gnu::always_inline]] inline void add_four(double x, const double* values, Four& to) {
  const Four factor = {x, x, x, x};
  to = to + factor * *reinterpret_cast<const Four*>(values);
}

// Four columns of one pair. Products that are all zero stand for the same share of each state.
[[gnu::always_inline]] inline void enter_tile(const double* a, const double* b, std::size_t n, const double* ahead,
                                              std::size_t width, Four& value) {
  Four even{}, odd{};
  double sum_even = 0.0, sum_odd = 0.0;
  std::size_t j = 0;
  for (; j + 2 <= n; j += 2) {
    const double x = a[j] * b[j], y = a[j + 1] * b[j + 1];
    sum_even += x;
    sum_odd += y;
    add_four(x, ahead + j * width, even);
    add_four(y, ahead + (j + 1) * width, odd);
  }
  if (j < n) {
    const double x = a[j] * b[j];
    sum_even += x;
    add_four(x, ahead + j * width, even);
  }
  const double sum = sum_even + sum_odd;
  if (sum > 0.0) {
    const double share = 1.0 / sum;
    value = (even + odd) * Four{share, share, share, share};
    return;
  }
  const double share = 1.0 / static_cast<double>(n);
  value = Four{};
  for (j = 0; j < n; ++j) add_four(share, ahead + j * width, value);
}

}  // namespace

HIDDENITE_CLONES
double multiply_row(const float* a, const double* e, std::size_t size, double* out) {
  Four sums{};
  std::size_t j = 0;
  for (; j + 4 <= size; j += 4) {
    const Four product = __builtin_convertvector(*reinterpret_cast<const FourFloats*>(a + j), Four) *
                         *reinterpret_cast<const Four*>(e + j);
    *reinterpret_cast<Four*>(out + j) = product;
    sums = sums + product;
  }
  double rest = 0.0;
  for (; j < size; ++j) rest += out[j] = static_cast<double>(a[j]) * e[j];
  return ((sums[0] + sums[2]) + (sums[1] + sums[3])) + rest;
}

HIDDENITE_CLONES
void add_multiple(double factor, const double* values, std::size_t size, double* to) {
  for (std::size_t i = 0; i < size; ++i) to[i] += factor * values[i];
}

HIDDENITE_CLONES
void enter_pairs(const EnteredPairs& entered, const double* ahead, std::size_t width, double* values, double* base) {
  const std::size_t n = entered.n;
  for (std::size_t i = 0; i < entered.count; ++i) {
    const std::size_t r = entered.pairs[2 * i], s = entered.pairs[2 * i + 1];
    const double hidden = entered.weights[0] * entered.sums[0][r] + entered.weights[1] * entered.sums[1][s];
    for (std::size_t l = 0; l < width; l += 4) {
      Four value;
      enter_tile(entered.rows[0] + r * n, entered.rows[1] + s * n, n, ahead + l, width, value);
      *reinterpret_cast<Four*>(values + i * width + l) = value;
      add_four(hidden, values + i * width + l, *reinterpret_cast<Four*>(base + i * width + l));
    }
  }
}

}  // namespace hiddenite::hmm
