// Masses: non-negative numbers that are added, multiplied and compared.
//
// Two representations with the same operations: Linear is a double, fast, and
// the caller keeps it in range; Logarithmic is the logarithm, slower, and has
// no range to leave.
#pragma once

#include <algorithm>
#include <cmath>

#include "hiddenite/base/types.hpp"

namespace hiddenite::base {

struct Linear {
  double value = 0.0;
  static Linear from_log(double log_value) { return {std::exp(log_value)}; }
  static Linear one() { return {1.0}; }
  double log() const { return std::log(value); }
  bool is_zero() const { return value == 0.0; }
  Linear operator+(Linear o) const { return {value + o.value}; }
  Linear operator*(Linear o) const { return {value * o.value}; }
  Linear operator*(double x) const { return {value * x}; }
  Linear& operator+=(Linear o) { return value += o.value, *this; }
  // The difference, or zero if rounding makes it negative.
  Linear minus(Linear o) const { return {std::max(value - o.value, 0.0)}; }
  double ratio(Linear o) const { return value / o.value; }
  bool operator<(Linear o) const { return value < o.value; }
};

struct Logarithmic {
  double log_value = LOG_ZERO;
  static Logarithmic from_log(double log_value) { return {log_value}; }
  static Logarithmic one() { return {0.0}; }
  double log() const { return log_value; }
  bool is_zero() const { return log_value == LOG_ZERO; }
  Logarithmic operator+(Logarithmic o) const {
    const double high = std::max(log_value, o.log_value), low = std::min(log_value, o.log_value);
    return {low == LOG_ZERO ? high : high + std::log1p(std::exp(low - high))};
  }
  Logarithmic operator*(Logarithmic o) const { return {log_value + o.log_value}; }
  Logarithmic operator*(double x) const { return {log_value + std::log(x)}; }
  Logarithmic& operator+=(Logarithmic o) { return *this = *this + o; }
  Logarithmic minus(Logarithmic o) const {
    if (o.log_value == LOG_ZERO) return *this;
    if (!(o.log_value < log_value)) return {};
    return {log_value + std::log1p(-std::exp(o.log_value - log_value))};
  }
  double ratio(Logarithmic o) const { return std::exp(log_value - o.log_value); }
  bool operator<(Logarithmic o) const { return log_value < o.log_value; }
};

}  // namespace hiddenite::base
