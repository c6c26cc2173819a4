#include "hiddenite/channel/slots_json.hpp"

#include <algorithm>
#include <charconv>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::channel {

namespace {

constexpr int MAX_NESTING = 64;        // of values that are skipped
constexpr std::size_t MAX_DIGITS = 64;  // of an integer id

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// ------------------------------------------------------------------------ JSON

// A cursor over one line of JSON. Each function reads one thing and the white
// space after it.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view line) : line_(line) { skip_space(); }

  bool at_end() const { return at_ == line_.size(); }
  char peek() const { return at_end() ? '\0' : line_[at_]; }
  std::size_t offset() const { return at_; }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    skip_space();
    return true;
  }
  void expect(char c, const char* what) {
    if (!take(c)) fail(what);
  }

  // Calls item() for each item of a list between `open` and `close`.
  template <class Item>
  void list(char open, char close, const char* what, Item item) {
    expect(open, what);
    if (take(close)) return;
    do item();
    while (take(','));
    expect(close, close == ']' ? "',' or ']'" : "',' or '}'");
  }

  std::string string(const char* what) {
    if (peek() != '"') fail(what);
    ++at_;
    std::string result;
    while (peek() != '"') {
      if (at_end()) fail("the '\"' that ends the string");
      if (static_cast<unsigned char>(peek()) < 0x20) fail("an escape such as \\n for a control character");
      if (peek() == '\\') {
        escape(result);
      } else {
        result.push_back(line_[at_++]);
      }
    }
    ++at_;
    skip_space();
    return result;
  }

  // The text of a number; throws unless it is one by JSON's grammar.
  std::string_view number(const char* what) {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else {
      digits(begin, what);
    }
    if (peek() == '.') {
      ++at_;
      digits(begin, what);
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits(begin, what);
    }
    if (is_digit(peek())) back_to(begin, what);  // 007
    const std::string_view text = line_.substr(begin, at_ - begin);
    skip_space();
    return text;
  }

  bool take_word(std::string_view word) {
    if (line_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    skip_space();
    return true;
  }

  void skip_value(int depth = 0) {
    if (depth > MAX_NESTING) fail("at most 64 lists inside each other");
    if (peek() == '{') {
      list('{', '}', "'{'", [&] {
        string("a key in quotes");
        expect(':', "':'");
        skip_value(depth + 1);
      });
    } else if (peek() == '[') {
      list('[', ']', "'['", [&] { skip_value(depth + 1); });
    } else if (peek() == '"') {
      string("a string");
    } else if (!take_word("true") && !take_word("false") && !take_word("null")) {
      number("a JSON value");
    }
  }

  // "column N: found X, expected <what>".
  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }
  [[noreturn]] void fail_at(std::size_t offset, const std::string& what) const {
    throw ModelError(column(line_, offset) + "found " + found(offset) + ", expected " + what);
  }
  [[noreturn]] void refuse(std::size_t offset, const std::string& message) const {
    throw ModelError(column(line_, offset) + message);
  }

 private:
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') ++at_;
  }

  void digits(std::size_t begin, const char* what) {
    if (!is_digit(peek())) back_to(begin, what);
    while (is_digit(peek())) ++at_;
  }

  // Blames a number's first character, with the whole of what stands there.
  [[noreturn]] void back_to(std::size_t begin, const char* what) const { fail_at(begin, what); }

  // What stands at the offset, up to the next mark: `NaN`, `-Infinity`, `007`.
  std::string found(std::size_t offset) const {
    if (offset >= line_.size()) return "the end of the line";
    std::string_view rest = line_.substr(offset);
    const std::size_t mark = rest.find_first_of(" \t\r\v\f\n,:[]{}\"");
    const std::size_t end = offset + std::clamp<std::size_t>(mark, 1, 24);
    std::string shown = "'";
    while (!rest.empty() && line_.size() - rest.size() < end) append_utf8(shown, next_character(rest));
    shown.push_back('\'');
    return shown;
  }

  void escape(std::string& out) {
    static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    ++at_;
    if (peek() == 'u') {
      append_utf8(out, unicode_escape());
      return;
    }
    const std::size_t which = at_end() ? names.npos : names.find(peek());
    if (which == names.npos) {
      --at_;
      fail("one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    }
    out.push_back(values[which]);
    ++at_;
  }

  // A code point outside the first 65536 is written as two halves.
  char32_t unicode_escape() {
    const std::size_t begin = at_ - 1;
    const char32_t first = hex4(begin);
    if (first == 0) refuse(begin, "found \\u0000, expected text");
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first <= 0xDBFF && line_.substr(at_, 2) == "\\u") {
      ++at_;
      const char32_t second = hex4(begin);
      if (second >= 0xDC00 && second <= 0xDFFF) return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    }
    refuse(begin, "found half of a surrogate pair, expected a character such as \\u00e9 or \\ud83d\\ude00");
  }

  char32_t hex4(std::size_t begin) {
    ++at_;  // the u
    unsigned value = 0;
    const std::string_view text = line_.substr(std::min(at_, line_.size()), 4);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (text.size() != 4 || error != std::errc() || end != text.data() + 4) {
      refuse(begin, "found an incomplete \\u escape, expected four hexadecimal digits");
    }
    at_ += 4;
    return value;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

// ---------------------------------------------------------------------- records

class RecordReader {
 public:
  RecordReader(std::string_view line, const NgramTable& table, std::size_t keep)
      : json_(line), table_(table), keep_(keep) {}

  Reading read() {
    if (json_.at_end()) return {};
    bool has_id = false, has_slots = false, has_lattice = false;
    json_.list('{', '}', "'{' and a record such as {\"slots\": [[[\"the\", -0.1]]]}", [&] {
      const std::size_t begin = json_.offset();
      const std::string key = json_.string("a key in quotes");
      json_.expect(':', "':'");
      if (key == "id") {
        first_time(has_id, begin, key);
        read_id();
      } else if (key == "slots") {
        first_time(has_slots, begin, key);
        json_.list('[', ']', "'[' and the list of slots", [&] { read_slot(); });
      } else if (key == "lattice") {
        first_time(has_lattice, begin, key);
        json_.list('[', ']', "'[' and the list of edges", [&] { read_edge(); });
      } else {
        json_.skip_value();
      }
    });
    if (!json_.at_end()) json_.fail("the end of the line; one record a line");
    if (has_slots && has_lattice) throw ModelError("the record has \"slots\" and a \"lattice\", expected one of them");
    if (has_lattice) return lattice_reading();
    if (!has_slots) {
      throw ModelError("the record has no \"slots\", expected {\"slots\": [[[\"the\", -0.1]]]} or "
                       "{\"lattice\": [[0, 1, \"the\", -0.1]]}");
    }
    return std::move(reading_);
  }

 private:
  void first_time(bool& seen, std::size_t offset, const std::string& key) const {
    if (seen) json_.refuse(offset, "found the key \"" + key + "\" again, expected it once");
    seen = true;
  }

  void read_id() {
    constexpr const char* what = "a string or an integer as id";
    if (json_.take_word("null")) return;
    if (json_.peek() == '"') {
      reading_.id = json_.string(what);
      return;
    }
    const std::size_t begin = json_.offset();
    const std::string_view text = json_.number(what);
    if (text.find_first_of(".eE") != text.npos || text.size() > MAX_DIGITS) json_.fail_at(begin, what);
    reading_.id = text;
    reading_.id_is_integer = true;
  }

  void read_slot() {
    offsets_.clear();
    json_.list('[', ']', "'[' and a list of [\"word\", weight] pairs", [&] { read_candidate(); });
    if (const auto repeated = find_repeated_word(reading_, table_.vocabulary)) {
      const std::string word(reading_.word(table_.vocabulary, reading_.length(), *repeated));
      json_.refuse(offsets_[*repeated], "found \"" + word + "\" twice in slot " +
                                           std::to_string(reading_.length() + 1) + ", expected each word once");
    }
    keep_best(reading_, keep_, table_);
    reading_.close_slot();
  }

  void read_candidate() {
    json_.expect('[', "'[' and a pair [\"word\", weight]");
    const std::size_t begin = json_.offset();
    const std::string word = json_.string("a word in quotes");
    json_.expect(',', "',' and the word's log weight");
    const double log_weight = read_weight();
    json_.expect(']', "']' after the weight");
    const std::string fault = check_candidate(word, log_weight);
    if (!fault.empty()) json_.refuse(begin, fault);
    reading_.add(table_.vocabulary, word, log_weight);
    offsets_.push_back(begin);
  }

  // [from, to, "word", weight]
  void read_edge() {
    json_.expect('[', "'[' and an edge [from, to, \"word\", weight]");
    LatticeEdge& edge = edges_.emplace_back();
    edge.from = read_node();
    json_.expect(',', "',' and the node that the edge leads to");
    edge.to = read_node();
    json_.expect(',', "',' and the edge's word");
    edge.word = json_.string("a word in quotes");
    json_.expect(',', "',' and the word's log weight");
    edge.log_weight = read_weight();
    json_.expect(']', "']' after the weight");
  }

  std::uint32_t read_node() {
    constexpr const char* what = "the number of a node: 0, 1, 2 and so on";
    const std::size_t begin = json_.offset();
    const std::string_view text = json_.number(what);
    std::uint32_t node = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node);
    if (error != std::errc() || end != text.data() + text.size()) json_.fail_at(begin, what);
    return node;
  }

  Reading lattice_reading() {
    Reading reading = reading_from_lattice(table_, edges_, keep_);
    reading.id = std::move(reading_.id);
    reading.id_is_integer = reading_.id_is_integer;
    return reading;
  }

  double read_weight() {
    constexpr const char* what = "a finite number as log weight; null stands for weight zero";
    if (json_.take_word("null")) return LOG_ZERO;
    const std::size_t begin = json_.offset();
    const std::string_view text = json_.number(what);
    double value = 0.0;
    const auto [_, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) json_.fail_at(begin, "a number within a double's range");
    return value;
  }

  JsonCursor json_;
  const NgramTable& table_;
  std::size_t keep_;
  Reading reading_;
  std::vector<std::size_t> offsets_;  // of the open slot's words in the line
  std::vector<LatticeEdge> edges_;
};

}  // namespace

Reading SlotsChannel::read_text(std::string_view line) const {
  return RecordReader(line, table_, keep_).read();
}

}  // namespace hiddenite::channel
