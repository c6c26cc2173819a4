// From adjusted counts to probabilities: discounts, and the interpolation of each
// order with the one below it. kneser_ney.hpp has the formulas.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "hiddenite/lm/counted_ngrams.hpp"
#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

struct Discounts {
  std::array<double, 3> d{0.5, 1.0, 1.5};
  bool closed_form = false;
  double of(std::uint64_t count) const { return count == 0 ? 0.0 : d[std::min<std::uint64_t>(count, 3) - 1]; }
};

// The discounts of order n.
Discounts estimate_discounts(const std::vector<CountedLevel>& levels, std::size_t n, const LastNgrams& last);

// Adds the levels to the builder, from below; an n-gram of order n that occurs at most prune[n - 1] times is left out.
// Counts are given up once they have been used.
void interpolate(std::vector<CountedLevel>& counted, const std::vector<Discounts>& discounts,
                 const std::vector<std::uint64_t>& prune, TableBuilder& builder);

}  // namespace hiddenite::lm
