// Numbers of the sums that need not be exact, only on the right side.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "hiddenite/exact/walk/sums.hpp"

namespace hiddenite::exact {

// About ln x.
inline double rough_log(double x) {
  const auto bits = static_cast<double>(std::bit_cast<std::int64_t>(x));
  return (bits * (1.0 / 4503599627370496.0) - 1022.96) * 0.6931471805599453;
}
inline double rough_log(Linear x) { return x.value > 0.0 ? rough_log(x.value) : LOG_ZERO; }
inline double rough_log(Logarithmic x) { return x.log_value; }

// A float that is not below x.
inline float float_above(double x) {
  const auto near = static_cast<float>(x);
  return std::isfinite(near) ? near + std::fabs(near) * 2.4e-7f : near;
}

// e^x or a little more, quickly: 2^f <= 1 + f between 0 and 1, and 1 + f is what the digits of a double say.
inline double exp_above(double x) {
  constexpr double one = 4503599627370496.0;  // the exponent's last place
  const double y = x * 1.4426950408889634 + 1023.0;
  if (!(y > 1.0)) return std::isnan(y) ? y : std::numeric_limits<double>::min();
  if (y > 2045.0) return std::numeric_limits<double>::infinity();
  return std::bit_cast<double>(static_cast<std::int64_t>(y * one) + 4096);  // y is rounded
}

// A mass whose bound is not a number is not bounded.
inline Linear bounded(Linear x) { return std::isnan(x.value) ? Linear{std::numeric_limits<double>::infinity()} : x; }
inline Logarithmic bounded(Logarithmic x) { return x; }

// The class bits of a slot's words; words are numbered by length, so those between two of one class are of it.
inline std::uint32_t classes_of(const StateIndex& index, const Slot& slot) {
  if (slot.size() == 0) return 0;
  std::uint32_t classes = index.class_bit(slot.word.front()) | index.class_bit(slot.word.back());
  if (std::has_single_bit(classes)) return classes;
  for (const WordId w : slot.word) classes |= index.class_bit(w);
  return classes;
}

// Mass must not vanish where nothing is to be left out.
inline void check_range(Linear mass) {
  constexpr double tiny = 1e-280;  // close to leaving the range of doubles
  if (!(mass.value >= tiny && mass.value <= 1 / tiny)) throw OutOfRange();
}
inline void check_range(Logarithmic) {}

}  // namespace hiddenite::exact
