#include <charconv>
#include <optional>

#include "hiddenite/lm/arpa.hpp"
#include "hiddenite/lm/arpa_cursor.hpp"
#include "hiddenite/lm/arpa_model.hpp"

namespace hiddenite::lm {

namespace {

constexpr int MAX_ORDER = 64;

// Finds the model in a file. A preamble may show a sample of the format, even
// one that reads like a model, so the last model of the file is the one.
class ArpaReader {
 public:
  ArpaReader(LineReader& lines, const ArpaOptions& options) : cursor_(lines), options_(options) {}

  ReadArpa read() {
    if (!find_header()) {
      cursor_.fail_at(std::max<std::uint64_t>(complaint_line_ ? complaint_line_ : cursor_.number(), 1),
                      complaint_);
    }
    std::uint64_t first_line = header_line_;
    read_model();
    while (find_next_header()) {
      const std::string skipped = cursor_.file() + ": what looks like a model at line " +
                                  std::to_string(first_line) +
                                  " is taken for a sample, because another one follows at line " +
                                  std::to_string(header_line_);
      first_line = header_line_;
      read_model();
      result_.warnings.insert(result_.warnings.begin(), skipped);
    }
    if (failure_) throw *failure_;
    if (ignored_line_ != 0) {
      result_.warnings.push_back(cursor_.file() + ": the text after '\\end\\' is ignored (line " +
                                 std::to_string(ignored_line_) + ")");
    }
    return std::move(result_);
  }

 private:
  void read_model() {
    failure_.reset();
    result_ = {};
    try {
      result_ = read_arpa_model(cursor_, counts_, options_);
    } catch (const FormatError& error) {
      failure_ = error;
    }
  }

  // The whole file is read, which also proves that an archive is complete.
  bool find_next_header() {
    ignored_line_ = 0;
    try {
      return find_header();
    } catch (const FormatError&) {
      if (failure_) throw *failure_;
      throw;
    }
  }

  // Moves behind the next '\data\' that is followed by counts and '\1-grams:', beginning with the
  // line last read; false at the end of the file.
  bool find_header() {
    do {
      while (cursor_.line() == "\\data\\" || is_first_line_with_bom()) {
        header_line_ = cursor_.number();
        complaint_ = read_counts();
        if (complaint_.empty()) return true;
        complaint_line_ = cursor_.number();
      }
      if (ignored_line_ == 0 && !cursor_.line().empty() && cursor_.line() != "\\end\\") {
        ignored_line_ = cursor_.number();
      }
    } while (next_outside());
    return false;
  }

  bool is_first_line_with_bom() const {
    return cursor_.number() == 1 && trim(without_bom(cursor_.raw())) == "\\data\\";
  }

  bool next_outside() {
    const bool found = cursor_.next();
    if (cursor_.number() == 1) check_first_line(cursor_.raw());
    if (cursor_.raw().find('\0') != std::string_view::npos) fail_binary();
    return found;
  }

  void check_first_line(std::string_view raw) const {
    if (raw.starts_with("mmap lm http://kheafield.com/code")) {
      cursor_.fail(
          "found a KenLM binary file, expected ARPA text; use the ARPA file from which it was built");
    }
    if (raw.starts_with("SRILM_BINARY_NGRAM")) {
      cursor_.fail("found an SRILM binary file, expected ARPA text; convert it with ngram -write-lm");
    }
    if (raw.starts_with("blmt")) fail_binary();
  }

  [[noreturn]] void fail_binary() const {
    cursor_.fail("found binary data, expected ARPA text; give the text form of the model");
  }

  // Empty if the counts are followed by '\1-grams:', else what is wrong with the line last read.
  std::string read_counts() {
    counts_.clear();
    while (cursor_.next_filled()) {
      if (cursor_.line() == "\\1-grams:") {
        return counts_.empty() ? "found '\\1-grams:' before any 'ngram 1=COUNT' line" : "";
      }
      std::uint64_t n = 0, count = 0;
      if (!parse_count(cursor_.line(), n, count)) {
        return "found " + quoted(cursor_.line()) + ", expected 'ngram " +
               std::to_string(counts_.size() + 1) + "=COUNT' or '\\1-grams:'";
      }
      if (n != counts_.size() + 1) {
        return "found the count of order " + std::to_string(n) + ", expected order " +
               std::to_string(counts_.size() + 1) + "; the orders must be listed from 1 on";
      }
      if (n > MAX_ORDER) return "the order is above " + std::to_string(MAX_ORDER);
      counts_.push_back(count);
    }
    return "the file ends in the header, expected '\\1-grams:'; is it complete?";
  }

  static bool parse_count(std::string_view line, std::uint64_t& n, std::uint64_t& count) {
    if (next_word(line) != "ngram") return false;
    const auto equals = line.find('=');
    if (equals == line.npos) return false;
    return parse_integer(trim(line.substr(0, equals)), n) &&
           parse_integer(trim(line.substr(equals + 1)), count);
  }

  static bool parse_integer(std::string_view text, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
  }

  ArpaCursor cursor_;
  const ArpaOptions& options_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t header_line_ = 0;
  std::string complaint_ = "found no line '\\data\\', expected an ARPA file; is this a language model?";
  std::uint64_t complaint_line_ = 0;
  std::uint64_t ignored_line_ = 0;
  ReadArpa result_;
  std::optional<FormatError> failure_;
};

}  // namespace

ReadArpa read_arpa(LineReader& lines, const ArpaOptions& options) {
  return ArpaReader(lines, options).read();
}

}  // namespace hiddenite::lm
