// What a word looks like: the features by which the tag of a word that was
// never seen is guessed.
//
//   b                bias
//   s + end          the last 1 .. 8 characters, in lower case
//   p + begin        the first 1 .. 5, in lower case
//   c + class        see word_class; also with the last 1 .. 3 characters
//   h + pattern      letters as A and a, digits as 0, runs once: Aa-0
//   e + pattern      of the last four characters, runs kept
//   y + part         what follows the last hyphen, in lower case
//   u, d             an upper-case letter somewhere; a digit somewhere
//
// Characters are code points; case is that of the Latin, Greek, Cyrillic and
// Armenian alphabets, the others have none.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hiddenite::channel {

char32_t to_lower(char32_t c);
std::string to_lower(std::string_view utf8);
inline bool is_upper(char32_t c) { return to_lower(c) != c; }

// 'a' plain, 'A' capitalised, '1' capitalised and first in its sentence,
// 'C' capitals only, '0' with a digit, '-' with a hyphen; the first that fits of
// C, 1, A, 0, -, a. `word` is not empty.
char word_class(std::u32string_view word, bool is_first);

inline constexpr std::size_t MAX_FEATURES = 24;

// Calls use(feature) for each feature once, MAX_FEATURES at most; the text is valid during the call.
// `word` is UTF-8 and not empty.
void for_each_feature(std::string_view word, bool is_first, const std::function<void(std::string_view)>& use);

}  // namespace hiddenite::channel
