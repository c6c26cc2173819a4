// Characters of a word as UTF-8, any part of which can be read with a few bytes in
// front of it, which say what kind of part it is. Nothing is copied: the bytes are
// put in the place of what comes before the part, and taken away again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/base/characters.hpp"

namespace hiddenite::base {

class PrefixedText {
 public:
  static constexpr std::size_t MAX_PREFIX = 2;  // bytes

  PrefixedText() { clear(); }
  void clear() {
    bytes_.assign(MAX_PREFIX, ' ');
    begin_.assign(1, MAX_PREFIX);
  }
  void add(char32_t c) {
    append_utf8(bytes_, c);
    begin_.push_back(bytes_.size());
  }
  std::size_t size() const { return begin_.size() - 1; }  // in characters
  std::string_view text() const { return std::string_view(bytes_).substr(MAX_PREFIX); }

  // Returns use(prefix + characters first .. last); the text is valid during the call.
  template <class Use>
  auto with_prefix(std::string_view prefix, std::size_t first, std::size_t last, Use&& use) {
    const std::size_t at = begin_[first] - prefix.size();
    char kept[MAX_PREFIX];
    for (std::size_t k = 0; k < prefix.size(); ++k) {
      kept[k] = bytes_[at + k];
      bytes_[at + k] = prefix[k];
    }
    struct Restore {
      char* to;
      const char* from;
      std::size_t size;
      ~Restore() {
        for (std::size_t k = 0; k < size; ++k) to[k] = from[k];
      }
    } const restore{bytes_.data() + at, kept, prefix.size()};
    return use(std::string_view(bytes_.data() + at, begin_[last] - at));
  }

 private:
  std::string bytes_;               // room for a prefix, then the text
  std::vector<std::size_t> begin_;  // [character], and the end
};

}  // namespace hiddenite::base
