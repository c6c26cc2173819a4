#include "hiddenite/channel/word_features.hpp"

#include <algorithm>
#include <vector>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/prefixed_text.hpp"

namespace hiddenite::channel {

namespace {

constexpr std::size_t MAX_SUFFIX = 8, MAX_PREFIX = 5, MAX_CLASS_SUFFIX = 3;
constexpr std::size_t MAX_PATTERN = 12, END_PATTERN = 4;

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

// Everything beyond ASCII that has no case counts as a letter: most of it is.
bool is_lower_letter(char32_t c) { return !is_upper(c) && ((c >= U'a' && c <= U'z') || c >= 0xAA); }

char32_t pattern_of(char32_t c) {
  if (is_upper(c)) return U'A';
  if (is_digit(c)) return U'0';
  return is_lower_letter(c) && !(c >= 0x2010 && c <= 0x206F) ? U'a' : c;
}

// A word taken apart once, for all of its features.
struct Forms {
  explicit Forms(std::string_view utf8) : word(to_characters(utf8)) {
    char32_t before = 0;
    for (const char32_t c : word) {
      const char32_t shape = pattern_of(c);
      lower.add(to_lower(c));
      pattern.add(shape);
      if (collapsed.size() < MAX_PATTERN && (collapsed.size() == 0 || shape != before)) collapsed.add(shape);
      before = shape;
      has_upper |= shape == U'A';
      has_digit |= shape == U'0';
    }
  }

  std::u32string word;
  PrefixedText lower, pattern, collapsed;
  bool has_upper = false, has_digit = false;
};

}  // namespace

char32_t to_lower(char32_t c) {
  if (c < 0x80) return c >= U'A' && c <= U'Z' ? c + 32 : c;
  if (c >= 0xC0 && c <= 0xDE) return c == 0xD7 ? c : c + 32;
  if (c >= 0x100 && c <= 0x17F) {
    if (c == 0x130) return U'i';
    if (c == 0x178) return 0xFF;
    const bool odd_is_upper = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
    const bool has_pair = c != 0x131 && c != 0x138 && c != 0x149 && c != 0x17F;
    return has_pair && (c % 2 == 1) == odd_is_upper ? c + 1 : c;
  }
  if (c >= 0x391 && c <= 0x3AB && c != 0x3A2) return c + 32;
  if (c >= 0x400 && c <= 0x40F) return c + 80;
  if (c >= 0x410 && c <= 0x42F) return c + 32;
  if (c >= 0x460 && c <= 0x481) return c % 2 == 0 ? c + 1 : c;
  if (c >= 0x531 && c <= 0x556) return c + 48;
  if (c >= 0x1E00 && c <= 0x1E95) return c % 2 == 0 ? c + 1 : c;
  if (c >= 0x1EA0 && c <= 0x1EFF) return c % 2 == 0 ? c + 1 : c;
  return c;
}

std::string to_lower(std::string_view utf8) {
  std::string result;
  while (!utf8.empty()) append_utf8(result, to_lower(next_character(utf8)));
  return result;
}

char word_class(std::u32string_view word, bool is_first) {
  if (is_upper(word[0])) {
    const auto is_lower = [](char32_t c) { return is_lower_letter(c); };
    if (word.size() > 1 && std::none_of(word.begin(), word.end(), is_lower)) return 'C';
    return is_first ? '1' : 'A';
  }
  if (std::any_of(word.begin(), word.end(), [](char32_t c) { return is_digit(c); })) return '0';
  return word.find(U'-') != word.npos ? '-' : 'a';
}

void for_each_feature(std::string_view utf8, bool is_first, const std::function<void(std::string_view)>& use) {
  Forms forms(utf8);
  const std::size_t size = forms.word.size();
  const auto add = [&](std::string_view kind, PrefixedText& text, std::size_t first, std::size_t last) {
    text.with_prefix(kind, first, last, use);
  };
  add("b", forms.lower, 0, 0);
  for (std::size_t k = 1; k <= std::min(size, MAX_SUFFIX); ++k) add("s", forms.lower, size - k, size);
  for (std::size_t k = 1; k <= std::min(size, MAX_PREFIX); ++k) add("p", forms.lower, 0, k);
  const char of_class[] = {'c', word_class(forms.word, is_first)};
  for (std::size_t k = 0; k <= std::min(size, MAX_CLASS_SUFFIX); ++k) {
    add({of_class, sizeof of_class}, forms.lower, size - k, size);
  }
  add("e", forms.pattern, size - std::min(size, END_PATTERN), size);
  if (forms.has_upper) add("u", forms.lower, 0, 0);
  if (forms.has_digit) add("d", forms.lower, 0, 0);
  const std::size_t hyphen = forms.word.rfind(U'-');
  if (hyphen != forms.word.npos && hyphen > 0) add("y", forms.lower, hyphen + 1, size);
  add("h", forms.collapsed, 0, forms.collapsed.size());
}

}  // namespace hiddenite::channel
