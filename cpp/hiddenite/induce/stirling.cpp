#include "hiddenite/induce/stirling.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/clones.hpp"
#include "hiddenite/base/gamma.hpp"

namespace hiddenite::induce {

void StirlingTable::reset(double discount) {
  discount_ = discount;
  if (columns_.size() < 2) columns_.resize(2);
  for (Column& column : columns_) {
    column.ratios.clear();
    column.last = 0.0;
  }
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
  std::uint32_t t = 2;
  if (t <= tables) extend(t++, room);
  for (; t + TOGETHER <= tables + 1; t += TOGETHER) extend_together(t, room);
  for (; t <= tables; ++t) extend(t, room);
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

// The same for columns t, t + 1 ..., t above 2, row by row: what is divided in one does not wait for the others.
HIDDENITE_CLONES
void StirlingTable::extend_together(std::uint32_t tables, std::uint32_t customers) {
  Column* columns = columns_.data() + tables;
  std::uint32_t begin = 0;  // the first row that all of them lack
  for (std::uint32_t j = 0; j < TOGETHER; ++j) {
    begin = std::max(begin, static_cast<std::uint32_t>(tables + j + columns[j].ratios.size()));
  }
  if (begin > customers) begin = customers + 1;
  double value[TOGETHER], discounts[TOGETHER + 1];
  float* ratios[TOGETHER + 1];  // those of the column before, too
  ratios[0] = columns[-1].ratios.data();
  for (std::uint32_t j = 0; j < TOGETHER; ++j) {
    if (begin > tables + j) extend(tables + j, begin - 1);
    columns[j].ratios.resize(std::max<std::size_t>(columns[j].ratios.size(), customers + 1 - tables - j));
    ratios[j + 1] = columns[j].ratios.data();
    value[j] = columns[j].last;
  }
  for (std::uint32_t j = 0; j <= TOGETHER; ++j) discounts[j] = discount_ * (tables + j - 1);
  for (std::uint32_t c = begin; c <= customers; ++c) {
    const double others = c - 1;
    for (std::uint32_t j = 0; j < TOGETHER; ++j) {
      const double inverse = 1.0 / ratios[j][c - tables - j];  // of V(c - 1, t - 1)
      value[j] = (1.0 + (others - discounts[j + 1]) * value[j]) / (inverse + (others - discounts[j]));
    }
    for (std::uint32_t j = 0; j < TOGETHER; ++j) ratios[j + 1][c - tables - j] = static_cast<float>(value[j]);
  }
  for (std::uint32_t j = 0; j < TOGETHER; ++j) columns[j].last = value[j];
}

}  // namespace hiddenite::induce
