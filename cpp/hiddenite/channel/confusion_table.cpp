#include "hiddenite/channel/confusion_table.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/channel/channel.hpp"

namespace hiddenite::channel {

namespace {

class ConfusionReader {
 public:
  explicit ConfusionReader(LineReader& lines) : lines_(lines) {}

  std::vector<Confusion> read() {
    for (std::string_view line; lines_.next(line);) {
      const std::size_t bad = find_invalid_utf8(line);
      if (bad != line.npos) {
        fail(column(line, bad) + "found a byte that is not UTF-8, expected UTF-8 text; convert the file with iconv");
      }
      if (!trim(line).empty() && line.front() != '#') add(line);
    }
    if (result_.empty()) {
      throw FormatError(lines_.name(), 0,
                        "holds no entry, expected lines of intended TAB seen TAB probability");
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw FormatError(lines_.name(), lines_.line_number(), message);
  }

  void add(std::string_view line) {
    const std::size_t first = line.find('\t');
    const std::size_t second = first == line.npos ? first : line.find('\t', first + 1);
    if (second == line.npos || line.find('\t', second + 1) != line.npos) {
      fail("found " + std::to_string(1 + std::count(line.begin(), line.end(), '\t')) +
           " fields, expected three with tabs between them: intended, seen and probability");
    }
    Confusion entry{side(line.substr(0, first), "intended"),
                    side(line.substr(first + 1, second - first - 1), "seen"),
                    probability(trim(line.substr(second + 1))), lines_.line_number()};
    if (entry.intended.empty() && entry.seen.empty()) {
      fail("found an entry with both sides empty, expected characters on at least one");
    }
    const auto [known, is_new] =
        line_of_.emplace(to_utf8(entry.intended) + '\t' + to_utf8(entry.seen), entry.line);
    if (!is_new) fail("found the entry of line " + std::to_string(known->second) + " again; remove one of them");
    result_.push_back(std::move(entry));
  }

  std::u32string side(std::string_view text, const std::string& name) const {
    std::u32string result;
    for (std::string_view rest = text; !rest.empty();) {
      char32_t c = next_character(rest);
      if (c == '\\') {
        if (rest.empty() || (rest.front() != '\\' && rest.front() != '#')) {
          fail("found a single \\ in the " + name + " characters, expected \\\\ for a backslash or \\# for #");
        }
        c = next_character(rest);
      }
      if (c < 128 && is_space(static_cast<char>(c))) {
        fail("found white space in the " + name + " characters; it separates words and cannot be confused");
      }
      result.push_back(c);
    }
    if (result.size() > MAX_PIECE) {
      fail("found " + std::to_string(result.size()) + " " + name + " characters, expected at most " +
           std::to_string(MAX_PIECE));
    }
    return result;
  }

  double probability(std::string_view text) const {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value > 0.0 && value <= 1.0)) {
      fail("found '" + std::string(text) + "', expected a probability above 0 and at most 1");
    }
    return value;
  }

  LineReader& lines_;
  std::vector<Confusion> result_;
  std::unordered_map<std::string, std::uint64_t> line_of_;
};

}  // namespace

std::vector<Confusion> read_confusions(LineReader& lines) { return ConfusionReader(lines).read(); }

}  // namespace hiddenite::channel
