#include "hiddenite/channel/word_features.hpp"

#include <algorithm>
#include <vector>

#include "hiddenite/base/characters.hpp"

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

std::u32string collapsed(std::u32string pattern) {
  pattern.erase(std::unique(pattern.begin(), pattern.end()), pattern.end());
  if (pattern.size() > MAX_PATTERN) pattern.resize(MAX_PATTERN);
  return pattern;
}

// A word taken apart once, for all of its features.
class FeatureWriter {
 public:
  explicit FeatureWriter(const std::function<void(std::string_view)>& use) : use_(use) {}

  void operator()(char kind, std::u32string_view text = {}) {
    feature_.clear();
    feature_.push_back(kind);
    for (const char32_t c : text) append_utf8(feature_, c);
    use_(feature_);
  }

 private:
  const std::function<void(std::string_view)>& use_;
  std::string feature_;
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
  const std::u32string word = to_characters(utf8);
  std::u32string lower = word, pattern = word;
  for (char32_t& c : lower) c = to_lower(c);
  for (char32_t& c : pattern) c = pattern_of(c);
  const std::u32string_view low = lower;
  const std::size_t size = word.size();
  const auto suffix = [&](std::size_t k) { return low.substr(size - k); };

  FeatureWriter add(use);
  add('b');
  for (std::size_t k = 1; k <= std::min(size, MAX_SUFFIX); ++k) add('s', suffix(k));
  for (std::size_t k = 1; k <= std::min(size, MAX_PREFIX); ++k) add('p', low.substr(0, k));
  std::u32string of_class(1, static_cast<char32_t>(word_class(word, is_first)));
  add('c', of_class);
  for (std::size_t k = 1; k <= std::min(size, MAX_CLASS_SUFFIX); ++k) {
    of_class.resize(1);
    of_class.append(suffix(k));
    add('c', of_class);
  }
  add('e', std::u32string_view(pattern).substr(size - std::min(size, END_PATTERN)));
  if (pattern.find(U'A') != pattern.npos) add('u');
  if (pattern.find(U'0') != pattern.npos) add('d');
  const std::size_t hyphen = lower.rfind(U'-');
  if (hyphen != lower.npos && hyphen > 0) add('y', low.substr(hyphen + 1));
  add('h', collapsed(std::move(pattern)));
}

}  // namespace hiddenite::channel
