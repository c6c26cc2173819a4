#include "hiddenite/channel/encoder.hpp"

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/channel/channel.hpp"

namespace hiddenite::channel {

std::string encode_line(const Encoder& encoder, std::string_view line, std::optional<std::uint64_t> seed,
                        std::uint64_t line_number) {
  Random random(seed.value_or(0), line_number);
  std::string out;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    if (!out.empty()) out.push_back(' ');
    encoder.encode_word(word, seed ? &random : nullptr, out);
  }
  return out;
}

std::string encode_text(const Encoder& encoder, std::string_view text, std::optional<std::uint64_t> seed,
                        const std::string& name, std::uint64_t first_line) {
  std::string out;
  for (std::uint64_t number = first_line; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const std::size_t bad = find_invalid_utf8(line);
    if (bad != line.npos) {
      throw FormatError(name, number,
                        column(line, bad) + "found a byte that is not UTF-8 text, expected UTF-8; convert "
                                            "the file with iconv");
    }
    out += encode_line(encoder, line, seed, number);
    out.push_back('\n');
  }
  return out;
}

}  // namespace hiddenite::channel
