// Text as characters: Unicode code points, for the channels that work letter by
// letter. All text here has passed find_invalid_utf8 (text.hpp).
#pragma once

#include <string>
#include <string_view>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

// The first character of `rest`, which is not empty and is advanced past it.
inline char32_t next_character(std::string_view& rest) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(rest[i])); };
  const auto tail = [&](std::size_t i) { return byte(i) & 0x3F; };
  char32_t c = byte(0);
  std::size_t size = 1;
  if (c >= 0xF0) {
    c = (c & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    size = 4;
  } else if (c >= 0xE0) {
    c = (c & 0x0F) << 12 | tail(1) << 6 | tail(2);
    size = 3;
  } else if (c >= 0xC0) {
    c = (c & 0x1F) << 6 | tail(1);
    size = 2;
  }
  rest.remove_prefix(size);
  return c;
}

inline std::u32string to_characters(std::string_view utf8) {
  std::u32string result;
  while (!utf8.empty()) result.push_back(next_character(utf8));
  return result;
}

inline void append_utf8(std::string& out, char32_t c) {
  const auto add = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto tail = [&](int shift) { add(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    add(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

inline std::string to_utf8(std::u32string_view characters) {
  std::string result;
  for (const char32_t c : characters) append_utf8(result, c);
  return result;
}

}  // namespace hiddenite::base
