// From counts to probabilities: each order over the one below it, by the rules of estimation/smoothing.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "hiddenite/lm/counted_ngrams.hpp"
#include "hiddenite/lm/estimation/smoothing.hpp"
#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

// Adds the levels to the builder, from below; an n-gram of order n that occurs at most prune[n - 1] times is left out.
// Counts are given up once they have been used.
void interpolate(std::vector<CountedLevel>& counted, const std::vector<OrderRule>& rules,
                 const std::vector<std::uint64_t>& prune, TableBuilder& builder);

}  // namespace hiddenite::lm
