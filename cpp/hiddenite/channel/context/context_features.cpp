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

char32_t shape_of(char32_t c) {
  if (is_upper(c)) return U'A';
  if (is_ascii_digit(c)) return U'0';
  const bool is_letter = (c >= U'a' && c <= U'z') || (c >= 0xAA && !(c >= 0x2010 && c <= 0x206F));
  return is_letter ? U'a' : c;
}

class KeyWriter {
 public:
  KeyWriter(Role role, std::vector<std::uint64_t>& keys) : role_(role), keys_(keys) {}

  void operator()(char kind, std::u32string_view text = {}) {
    text_.assign({static_cast<char>('0' + static_cast<int>(role_)), kind});
    for (const char32_t c : text) append_utf8(text_, c);
    keys_.push_back(hash_bytes(text_));
  }

 private:
  Role role_;
  std::vector<std::uint64_t>& keys_;
  std::string text_;
};

struct Forms {
  explicit Forms(std::string_view utf8) : word(to_characters(utf8)), lower(word), shape(word) {
    for (char32_t& c : lower) c = to_lower(c);
    for (char32_t& c : shape) c = shape_of(c);
    collapsed = shape;
    collapsed.erase(std::unique(collapsed.begin(), collapsed.end()), collapsed.end());
    normal = lower;
    for (char32_t& c : normal) c = is_ascii_digit(c) ? U'0' : c;
  }
  std::u32string_view suffix(std::size_t k) const { return std::u32string_view(lower).substr(lower.size() - k); }
  std::u32string_view prefix(std::size_t k) const { return std::u32string_view(lower).substr(0, k); }

  std::u32string word, lower, shape, collapsed, normal;
};

void add_own(const Forms& forms, KeyWriter& add) {
  add('b');
  const std::size_t longest = std::min(forms.word.size(), MAX_AFFIX);
  for (std::size_t k = 1; k <= longest; ++k) add('p', forms.prefix(k));
  for (std::size_t k = 1; k <= longest; ++k) add('s', forms.suffix(k));
  add('h', forms.shape);
  add('H', forms.collapsed);
  if (forms.word.find(U'-') != forms.word.npos) add('-');
  if (forms.shape.find(U'0') != forms.shape.npos) add('d');
  const bool has_upper = forms.shape.find(U'A') != forms.shape.npos;
  if (has_upper && forms.shape.find(U'a') == forms.shape.npos) add('C');
}

}  // namespace

void add_context_features(std::string_view word, Role role, const WordAttributes* attributes,
                          std::vector<std::uint64_t>& keys) {
  const Forms forms(word);
  KeyWriter add(role, keys);
  if (role == Role::FIRST) {
    const char32_t first = forms.shape.empty() ? U'a' : forms.shape.front();
    add('c', std::u32string_view(&first, 1));
    return;
  }
  add('w', forms.word);
  add('l', forms.normal);
  if (role == Role::OWN) {
    add_own(forms, add);
  } else if (role == Role::BEFORE || role == Role::AFTER) {
    for (std::size_t k = 1; k <= std::min(forms.word.size(), MAX_NEIGHBOUR_SUFFIX); ++k) add('s', forms.suffix(k));
    add('H', forms.collapsed);
  }
  if (attributes == nullptr) return;
  for (const std::uint32_t number : attributes->of(word)) {
    const std::string digits = std::to_string(number);
    add('k', std::u32string(digits.begin(), digits.end()));
  }
}

}  // namespace hiddenite::channel
