// A sum of doubles with twice their digits: what rounding takes from the sum is kept beside it.
#pragma once

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

class ExactSum {
 public:
  ExactSum operator+(double x) const { return add(x, 0.0); }
  // The difference, rounded once.
  double minus(const ExactSum& other) const { return add(-other.high_, -other.low_).value(); }
  double value() const { return high_ + low_; }
  bool operator<(const ExactSum& other) const { return minus(other) < 0.0; }

 private:
  // Knuth's sum of two: high and what it lost.
  ExactSum add(double x, double x_low) const {
    const double sum = high_ + x;
    const double part = sum - high_;
    const double lost = (high_ - (sum - part)) + (x - part);
    ExactSum result;
    const double low = low_ + x_low + lost;
    result.high_ = sum + low;
    result.low_ = low - (result.high_ - sum);
    return result;
  }

  double high_ = 0.0, low_ = 0.0;
};

}  // namespace hiddenite::base
