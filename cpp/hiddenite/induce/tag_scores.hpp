// A row of products, one for each tag, of many factors: they neither overflow nor vanish.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace hiddenite::induce {

class TagScores {
 public:
  static constexpr std::size_t MAX_WIDTH = 512;

  explicit TagScores(std::size_t width) : width_(width) { clear(); }

  std::size_t width() const { return width_; }
  void clear() {
    for (std::size_t t = 0; t < width_; ++t) products_[t] = 1.0;
    for (std::size_t t = 0; t < width_; ++t) exponents_[t] = 0;
    num_factors_ = 0;
  }

  // A factor for each tag, positive, at least 1e-30 and at most 1e30.
  void multiply(std::span<const double> factors) {
    for (std::size_t t = 0; t < factors.size(); ++t) products_[t] *= factors[t];
    count_factor();
  }
  // The same by hand: `products` are multiplied, then the factor is counted.
  double* products() { return products_; }
  void count_factor() {
    if (++num_factors_ == MOST_FACTORS) normalise();
  }

  double log(std::size_t t) const {
    return static_cast<double>(exponents_[t]) * std::numbers::ln2 + std::log(products_[t]);
  }

 private:
  static constexpr unsigned MOST_FACTORS = 8;
  static constexpr std::uint64_t MANTISSA = (std::uint64_t{1} << 52) - 1, ONE = std::uint64_t{1023} << 52;

  // Moves the products' exponents out: all are positive and normal.
  void normalise() {
    num_factors_ = 0;
    for (std::size_t t = 0; t < width_; ++t) {
      const auto bits = std::bit_cast<std::uint64_t>(products_[t]);
      exponents_[t] += static_cast<std::int64_t>(bits >> 52) - 1023;
      products_[t] = std::bit_cast<double>((bits & MANTISSA) | ONE);
    }
  }

  std::size_t width_;
  unsigned num_factors_ = 0;
  double products_[MAX_WIDTH];
  std::int64_t exponents_[MAX_WIDTH];
};

}  // namespace hiddenite::induce
