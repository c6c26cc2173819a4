// The logarithm of the gamma function. std::lgamma leaves the sign in a global
// variable, which threads must not share.
#pragma once

#include <math.h>

namespace hiddenite::base {

inline double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

}  // namespace hiddenite::base
