// What a tag may depend on besides the tags before it: features of the observed
// words around a position.
//
// Each feature belongs to one word in one role: the word itself, the one before,
// the one after, and those two away. So the features of a position are those of
// five words, and what a word adds to the scores in a role can be computed once.
//
//   OWN                 w word, l lower case with digits as 0, b bias,
//                       p and s the first and last 1 .. 5 characters in lower case,
//                       h and H the shape (letters A and a, digits 0), whole and with
//                       runs once, - hyphen, d digit, C capitals only
//   FIRST               c begins with a capital or not; of a sentence's first word
//   BEFORE, AFTER       w, l, s 1 .. 3, H
//   BEFORE_2, AFTER_2   w, l
//   all but FIRST       k what is known of the word beforehand: word_attributes.hpp
//
// Outside the sentence the word is empty. A feature is known by its 64-bit hash.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hiddenite/base/prefixed_text.hpp"
#include "hiddenite/channel/context/word_attributes.hpp"

namespace hiddenite::channel {

enum class Role : std::uint8_t { OWN, FIRST, BEFORE, AFTER, BEFORE_2, AFTER_2 };
inline constexpr std::size_t NUM_ROLES = 6;
inline constexpr std::array<Role, 4> NEIGHBOURS = {Role::BEFORE, Role::AFTER, Role::BEFORE_2, Role::AFTER_2};
inline constexpr std::array<int, 4> NEIGHBOUR_DISTANCE = {-1, 1, -2, 2};
// Of OWN, so many come first that name the word itself.
inline constexpr std::size_t NUM_IDENTITY = 2;

// A word taken apart once, for its features in all roles; the memory is used again for the next word.
class ContextWord {
 public:
  // `word` is UTF-8, or empty: outside the sentence. `attributes` may be null.
  void read(std::string_view word, const WordAttributes* attributes);
  // Adds the hashes of the features that the word has in a role.
  void add_features(Role role, std::vector<std::uint64_t>& keys);
  // The word in lower case.
  std::string_view lower() const { return lower_.text(); }

 private:
  void add_own(std::vector<std::uint64_t>& keys);
  std::uint64_t key(Role role, char kind, PrefixedText& text, std::size_t first, std::size_t last);
  std::uint64_t key(Role role, char kind, PrefixedText& text) { return key(role, kind, text, 0, text.size()); }

  PrefixedText word_, lower_, normal_, shape_, collapsed_, other_;
  char32_t first_shape_ = U'a';
  bool has_hyphen_ = false, has_digit_ = false, has_upper_ = false, has_lower_ = false;
  std::span<const std::uint32_t> attributes_;
};

}  // namespace hiddenite::channel
