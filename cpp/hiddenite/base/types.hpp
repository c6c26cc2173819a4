// The vocabulary of the core: identifiers shared by every module.
//
// A word is an id into a Vocabulary; an n-gram is a node of the NgramTable's
// trie. The three words that every model of sentences needs have fixed ids.
#pragma once

#include <cstdint>
#include <limits>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

using WordId = std::uint32_t;
using NodeId = std::uint32_t;

inline constexpr WordId UNKNOWN = 0;         // <unk>
inline constexpr WordId SENTENCE_BEGIN = 1;  // <s>, a context only, never predicted
inline constexpr WordId SENTENCE_END = 2;    // </s>
inline constexpr WordId NUM_SPECIAL_WORDS = 3;
inline constexpr WordId NO_WORD = std::numeric_limits<WordId>::max();

inline constexpr double LOG_ZERO = -std::numeric_limits<double>::infinity();
inline constexpr double LN_10 = 2.302585092994045684;

}  // namespace hiddenite::base
