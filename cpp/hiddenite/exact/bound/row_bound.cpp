#include "hiddenite/exact/bound/row_bound.hpp"

#include <cmath>

#include "hiddenite/exact/empty_support.hpp"
#include "hiddenite/exact/inference.hpp"

namespace hiddenite::exact {

double RowRelaxation::log_weight(const WordPath& path) const { return path_log_weight(table_, candidates_, path); }

double RowRelaxation::upper_of(double log_q) const { return outward(log_q, num_terms(table_, candidates_)); }

void RowRelaxation::throw_empty() const { throw_empty_support(table_, candidates_); }

WordPath RowRelaxation::spelled(const WordPath& words, Random& random) const {
  WordPath path(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Slot& slot = candidates_.slots[i];
    std::uint32_t c = slot.begin[words[i]];
    const std::uint32_t last = slot.begin[words[i] + 1] - 1;
    if (c < last) {
      double rest = random.uniform();
      while (c < last && (rest -= std::exp(slot.log_weight[c] - slot.log_sum[words[i]])) >= 0.0) ++c;
    }
    path[i] = slot.candidate[c];
  }
  return path;
}

}  // namespace hiddenite::exact
