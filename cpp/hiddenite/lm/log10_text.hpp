// The numbers of ARPA files: log10 as text, natural logarithms in floats inside.
//
// -99 and -inf stand for the logarithm of zero; any other number is meant,
// however small. What is written gives the same float when it is read.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "hiddenite/base/types.hpp"

namespace hiddenite::lm {

inline constexpr double ZERO_LOG10 = -99.0;
inline constexpr double LEAST_LOG10 = -1e38;  // a float holds no less; refused, not taken for zero

// False if the text is no number; NaN and what exceeds a double are none.
bool parse_log10(std::string_view text, double& value);

inline float to_natural(double log10_value) {
  return log10_value == ZERO_LOG10 ? -INFINITY : static_cast<float>(log10_value * LN_10);
}

// log10 with eight decimals where that gives the float back, else nine digits.
void append_log10(std::string& text, float natural);

}  // namespace hiddenite::lm
