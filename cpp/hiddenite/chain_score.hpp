// The probability of sentences under a chain, and of their words one by one.
//
//   ln p(x_1 .. x_T </s>) = sum_t ln p(x_t | x_1 .. x_{t-1})
// by the forward recursion, scaled at each word: no length underflows.
#pragma once

#include <vector>

#include "chain.hpp"
#include "token_text.hpp"

namespace hiddenite {

// ln p(x_t | before) of each word and, if the chain has one, of </s>, sentence after sentence.
std::vector<double> token_log_probs(const Chain& chain, const TokenText& text, int threads);

}  // namespace hiddenite
