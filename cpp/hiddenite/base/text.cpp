#include "hiddenite/base/text.hpp"

#include <algorithm>
#include <cstring>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::base {

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t count_characters(std::string_view utf8) {
  std::size_t n = 0;
  for (const char c : utf8) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

namespace {

// The length of the valid UTF-8 character at `p`, 0 if there is none.
std::size_t utf8_length(const unsigned char* p, std::size_t left) {
  const auto follows = [&](std::size_t n) {
    if (left < n) return false;
    for (std::size_t i = 1; i < n; ++i) {
      if ((p[i] & 0xC0) != 0x80) return false;
    }
    return true;
  };
  if (p[0] < 0x80) return p[0] == 0 ? 0 : 1;
  if (p[0] < 0xC2) return 0;
  if (p[0] < 0xE0) return follows(2) ? 2 : 0;
  if (p[0] < 0xF0) {
    if (!follows(3)) return 0;
    const bool overlong = p[0] == 0xE0 && p[1] < 0xA0;
    const bool surrogate = p[0] == 0xED && p[1] >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (p[0] > 0xF4 || !follows(4)) return 0;
  const bool overlong = p[0] == 0xF0 && p[1] < 0x90;
  const bool beyond = p[0] == 0xF4 && p[1] >= 0x90;
  return overlong || beyond ? 0 : 4;
}

// True if the eight bytes are all ASCII and none is NUL.
bool plain_ascii(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  constexpr std::uint64_t high = 0x8080808080808080u, low = 0x0101010101010101u;
  return ((v | (v - low)) & high) == 0;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    if (i + 8 <= bytes.size() && plain_ascii(bytes.data() + i)) {
      i += 8;
      continue;
    }
    const auto* p = reinterpret_cast<const unsigned char*>(bytes.data()) + i;
    const std::size_t n = utf8_length(p, bytes.size() - i);
    if (n == 0) return i;
    i += n;
  }
  return std::string_view::npos;
}

void check_text(std::string_view line, const std::string& file, std::uint64_t line_number) {
  const std::size_t bad = find_invalid_utf8(line);
  if (bad == line.npos) return;
  throw FormatError(file, line_number,
                    "column " + std::to_string(bad + 1) + ": found " +
                        (line[bad] == '\0'
                             ? "a NUL byte, expected text; is this a binary file?"
                             : "a byte that is not UTF-8, expected UTF-8 text; convert the file with iconv"));
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const void* found = std::memchr(text.data(), '\n', text.size());
    const auto size = found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data())
                            : text.size();
    lines.push_back(text.substr(0, size));
    text.remove_prefix(found ? size + 1 : size);
  }
  return lines;
}

std::string_view LineReader::pull() {
  check_interrupt();
  try {
    return source_();
  } catch (const FormatError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw FormatError(name_, line_number_ + 1, e.what());
  }
}

bool LineReader::next(std::string_view& line) {
  const char* newline =
      chunk_.empty() ? nullptr
                     : static_cast<const char*>(std::memchr(chunk_.data(), '\n', chunk_.size()));
  if (!newline) return next_across_chunks(line);
  line = {chunk_.data(), static_cast<std::size_t>(newline - chunk_.data())};
  chunk_.remove_prefix(line.size() + 1);
  ++line_number_;
  return true;
}

bool LineReader::next_across_chunks(std::string_view& line) {
  carry_.assign(chunk_);
  chunk_ = {};
  while (!at_end_) {
    std::string_view chunk = pull();
    if (chunk.empty()) {
      at_end_ = true;
      break;
    }
    const auto newline = chunk.find('\n');
    if (carry_.size() + std::min(newline, chunk.size()) > max_line_) {
      throw FormatError(name_, line_number_ + 1,
                        "the line is longer than " + std::to_string(max_line_ >> 20) +
                            " MiB, expected text with one record a line; is this a text file?");
    }
    carry_.append(chunk.substr(0, newline));
    if (newline != std::string_view::npos) {
      chunk_ = chunk.substr(newline + 1);
      line = carry_;
      ++line_number_;
      return true;
    }
  }
  if (carry_.empty()) return false;
  line = carry_;
  ++line_number_;
  return true;
}

}  // namespace hiddenite::base
