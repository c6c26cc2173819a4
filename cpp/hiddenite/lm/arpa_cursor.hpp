// The lines of an ARPA file, and complaints about the one last read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::lm {

// A piece of the file as part of a message of one line.
inline std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    result += static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126 ? '?' : c;
  }
  return result + (text.size() > longest ? "...'" : "'");
}

class ArpaCursor {
 public:
  explicit ArpaCursor(LineReader& lines) : lines_(lines) {}

  // The next line, trimmed; false at the end of the file.
  bool next() {
    raw_ = {};
    const bool found = lines_.next(raw_);
    line_ = trim(raw_);
    return found;
  }
  bool next_filled() {
    while (next()) {
      if (!line_.empty()) return true;
    }
    return false;
  }
  std::string_view raw() const { return raw_; }
  std::string_view line() const { return line_; }
  std::uint64_t number() const { return lines_.line_number(); }
  const std::string& file() const { return lines_.name(); }

  [[noreturn]] void fail(const std::string& message) const { fail_at(number(), message); }
  [[noreturn]] void fail_at(std::uint64_t line, const std::string& message) const {
    throw FormatError(file(), line, message);
  }
  void check_utf8() const { check_text(raw_, file(), number()); }

 private:
  LineReader& lines_;
  std::string_view raw_, line_;
};

}  // namespace hiddenite::lm
