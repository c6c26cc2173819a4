#include "hiddenite/induce/stirling.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/gamma.hpp"

namespace hiddenite::induce {

void StirlingTable::reset(double discount) {
  discount_ = discount;
  columns_.assign(2, {});
}

double StirlingTable::log_number(std::uint32_t customers, std::uint32_t tables) {
  double log_sum = base::log_gamma(customers - discount_) - base::log_gamma(1.0 - discount_);  // S(c, 1)
  double product = 1.0;
  for (std::uint32_t t = tables; t >= 2; --t) {  // the longest way first: the columns grow at once
    product *= ratio(customers, t);
    if (product < 1e-200 || product > 1e200) {
      log_sum += std::log(product);
      product = 1.0;
    }
  }
  return log_sum + std::log(product);
}

void StirlingTable::grow(std::uint32_t customers, std::uint32_t tables) {
  if (columns_.size() <= tables) columns_.resize(tables + 1);
  const std::uint32_t room = customers + customers / 4 + 16;
  for (std::uint32_t t = 2; t <= tables; ++t) extend(t, room);
}

// Column t up to `customers`; column t - 1 is at least as long.
void StirlingTable::extend(std::uint32_t tables, std::uint32_t customers) {
  Column& column = columns_[tables];
  const std::vector<float>& before = columns_[tables - 1].ratios;
  double value = column.last;
  column.ratios.reserve(std::max<std::size_t>(column.ratios.capacity(), customers - tables + 1));
  for (auto c = static_cast<std::uint32_t>(tables + column.ratios.size()); c <= customers; ++c) {
    const double inverse = tables == 2 ? 0.0 : 1.0 / before[c - tables];  // of V(c - 1, t - 1)
    value = (1.0 + (c - 1 - discount_ * tables) * value) / (inverse + (c - 1 - discount_ * (tables - 1)));
    column.ratios.push_back(static_cast<float>(value));
  }
  column.last = value;
}

}  // namespace hiddenite::induce
