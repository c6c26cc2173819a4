// A product of many probabilities that neither underflows nor costs a logarithm a factor.
#pragma once

#include <cmath>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

class LogWeight {
 public:
  void multiply(double factor) {
    product_ *= factor;
    if (product_ < 1e-200 || product_ > 1e200) flush();
  }
  void add_log(double log_factor) { log_sum_ += log_factor; }
  double log() const { return log_sum_ + std::log(product_); }

 private:
  void flush() {
    log_sum_ += std::log(product_);
    product_ = 1.0;
  }
  double log_sum_ = 0.0, product_ = 1.0;
};

}  // namespace hiddenite::base
