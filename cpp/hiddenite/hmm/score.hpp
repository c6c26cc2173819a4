// The probability of sentences under a chain, and of their words one by one.
//
//   ln p(x_1 .. x_T </s>) = sum_t ln p(x_t | x_1 .. x_{t-1})
// by the forward recursion, scaled at each word: no length underflows. A word
// that is impossible after those before it has ln 0 and is then passed over, so
// that the words after it have a distribution too.
#pragma once

#include <vector>

#include "hiddenite/hmm/model.hpp"
#include "hiddenite/lm/token_text.hpp"

namespace hiddenite::hmm {

// ln p(x_t | before) of each word and, if the chain has one, of </s>, sentence after sentence.
std::vector<double> token_log_probs(const SparseHmm& chain, const TokenText& text, int threads);

}  // namespace hiddenite::hmm
