#include "hiddenite/channel/context/context_features.hpp"

#include <algorithm>
#include <string>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/channel/word_features.hpp"
#include "hiddenite/lm/vocabulary.hpp"

namespace hiddenite::channel {

namespace {

constexpr std::size_t MAX_AFFIX = 5, MAX_NEIGHBOUR_SUFFIX = 3;

bool is_ascii_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

// Of a character with this lower-case form.
char32_t shape_of(char32_t c, char32_t lower) {
  if (lower != c) return U'A';
  if (is_ascii_digit(c)) return U'0';
  const bool is_letter = (c >= U'a' && c <= U'z') || (c >= 0xAA && !(c >= 0x2010 && c <= 0x206F));
  return is_letter ? U'a' : c;
}

}  // namespace

void ContextWord::read(std::string_view word, const WordAttributes* attributes) {
  for (PrefixedText* text : {&word_, &lower_, &normal_, &shape_, &collapsed_}) text->clear();
  attributes_ = attributes == nullptr ? std::span<const std::uint32_t>() : attributes->of(word);
  first_shape_ = U'a';
  has_hyphen_ = has_digit_ = has_upper_ = has_lower_ = false;
  char32_t before = 0;
  while (!word.empty()) {
    const char32_t c = next_character(word), lower = to_lower(c), shape = shape_of(c, lower);
    word_.add(c);
    lower_.add(lower);
    normal_.add(is_ascii_digit(c) ? U'0' : lower);
    shape_.add(shape);
    if (shape_.size() == 1) first_shape_ = shape;
    if (shape_.size() == 1 || shape != before) collapsed_.add(shape);
    before = shape;
    has_hyphen_ |= c == U'-';
    has_digit_ |= shape == U'0';
    has_upper_ |= shape == U'A';
    has_lower_ |= shape == U'a';
  }
}

std::uint64_t ContextWord::key(Role role, char kind, PrefixedText& text, std::size_t first, std::size_t last) {
  const char prefix[] = {static_cast<char>('0' + static_cast<int>(role)), kind};
  return text.with_prefix({prefix, sizeof prefix}, first, last, hash_bytes);
}

void ContextWord::add_own(std::vector<std::uint64_t>& keys) {
  const auto add = [&](char kind, PrefixedText& text, std::size_t first, std::size_t last) {
    keys.push_back(key(Role::OWN, kind, text, first, last));
  };
  const std::size_t size = lower_.size(), longest = std::min(size, MAX_AFFIX);
  add('b', lower_, 0, 0);
  for (std::size_t k = 1; k <= longest; ++k) add('p', lower_, 0, k);
  for (std::size_t k = 1; k <= longest; ++k) add('s', lower_, size - k, size);
  add('h', shape_, 0, size);
  add('H', collapsed_, 0, collapsed_.size());
  if (has_hyphen_) add('-', lower_, 0, 0);
  if (has_digit_) add('d', lower_, 0, 0);
  if (has_upper_ && !has_lower_) add('C', lower_, 0, 0);
}

void ContextWord::add_features(Role role, std::vector<std::uint64_t>& keys) {
  if (role == Role::FIRST) {
    other_.clear();
    other_.add(first_shape_);
    keys.push_back(key(role, 'c', other_));
    return;
  }
  keys.push_back(key(role, 'w', word_));
  keys.push_back(key(role, 'l', normal_));
  if (role == Role::OWN) {
    add_own(keys);
  } else if (role == Role::BEFORE || role == Role::AFTER) {
    const std::size_t size = lower_.size();
    for (std::size_t k = 1; k <= std::min(size, MAX_NEIGHBOUR_SUFFIX); ++k) {
      keys.push_back(key(role, 's', lower_, size - k, size));
    }
    keys.push_back(key(role, 'H', collapsed_));
  }
  for (const std::uint32_t number : attributes_) {
    other_.clear();
    for (const char digit : std::to_string(number)) other_.add(static_cast<char32_t>(digit));
    keys.push_back(key(role, 'k', other_));
  }
}

}  // namespace hiddenite::channel
