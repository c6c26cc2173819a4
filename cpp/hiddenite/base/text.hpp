// Text in pieces: UTF-8 checks, words between white space, lines from chunks.
#pragma once

#include <bit>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/base/types.hpp"

namespace hiddenite::base {

// White space that separates words; the line end is handled by LineReader.
inline bool is_space(char c) {
  constexpr std::uint64_t spaces = 1ull << ' ' | 1ull << '\t' | 1ull << '\r' | 1ull << '\v' |
                                   1ull << '\f' | 1ull << '\n';
  const auto byte = static_cast<unsigned char>(c);
  return byte <= ' ' && (spaces >> byte & 1) != 0;
}

// The first white space in [p, last), or last; eight bytes at a time.
inline const char* find_space(const char* p, const char* last) {
  constexpr std::uint64_t each_byte = 0x0101010101010101u;
  while (last - p >= 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, p, 8);
    // Where the first byte is the lowest, the lowest bit set is that of the first byte up to ' '.
    const std::uint64_t low = (bytes - ('!' * each_byte)) & ~bytes & (0x80 * each_byte);
    if (low == 0) {
      p += 8;
      continue;
    }
    if constexpr (std::endian::native == std::endian::little) p += std::countr_zero(low) / 8;
    if (is_space(*p)) return p;
    ++p;
  }
  while (p != last && !is_space(*p)) ++p;
  return p;
}

// The next word of `rest`, which is advanced past it; empty at the end.
inline std::string_view next_word(std::string_view& rest) {
  const char* const last = rest.data() + rest.size();
  const char* begin = rest.data();
  while (begin != last && is_space(*begin)) ++begin;
  const char* const end = find_space(begin, last);
  rest = {end, static_cast<std::size_t>(last - end)};
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view trim(std::string_view text);

// The number of code points of valid UTF-8.
std::size_t count_characters(std::string_view utf8);

// The offset of the first byte that is not valid UTF-8 or is NUL; npos if none.
std::size_t find_invalid_utf8(std::string_view bytes);

// Throws FormatError with the column if the line is not UTF-8 text.
void check_text(std::string_view line, const std::string& file, std::uint64_t line_number);

// The line without a byte order mark, which a text's first line may begin with.
inline std::string_view without_bom(std::string_view line) {
  return line.starts_with("\xEF\xBB\xBF") ? line.substr(3) : line;
}

// The lines of a text; a last line end is optional.
std::vector<std::string_view> split_lines(std::string_view text);

// Gives the next piece of a text, empty at its end. It may throw
// std::runtime_error; LineReader's users add file and line to the message.
using ChunkSource = std::function<std::string_view()>;

// Cuts chunks into lines without their line end. A line is valid until the
// next call. Lines over `max_line` bytes are refused: such a file is no text.
class LineReader {
 public:
  LineReader(ChunkSource source, std::string name, std::size_t max_line = std::size_t{1} << 24)
      : source_(std::move(source)), name_(std::move(name)), max_line_(max_line) {}

  bool next(std::string_view& line);
  std::uint64_t line_number() const { return line_number_; }  // of the line last given
  const std::string& name() const { return name_; }

 private:
  std::string_view pull();
  bool next_across_chunks(std::string_view& line);

  ChunkSource source_;
  std::string name_;
  std::size_t max_line_;
  std::string_view chunk_;
  std::string carry_;
  std::uint64_t line_number_ = 0;
  bool at_end_ = false;
};

}  // namespace hiddenite::base
