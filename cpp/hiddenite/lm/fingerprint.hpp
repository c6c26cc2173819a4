// A name for what a model says, whatever file it lies in.
//
// The sum, modulo 2^256, of the SHA-256 of every n-gram's line:
//   its words with blanks between them, a tab, ln p and ln bow as two little-endian singles.
// The n-grams are those of the closed table (ngram.hpp); <unk>, <s> and </s> are always among them, and an
// n-gram that ends in <s> has ln p = -inf. So ARPA text, MAX-ARPA text and a compiled
// file of one model have one fingerprint, in whatever order they list the
// n-grams, and a program that knows nothing but ARPA can compute it. It tells models
// apart; as a sum, it is not meant to stand up to a forger.
#pragma once

#include <string>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

// 64 hexadecimal digits. `threads`: 0 means all cores.
std::string fingerprint(const NgramTable& table, int threads = 0);

}  // namespace hiddenite::lm
