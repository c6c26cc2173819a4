#include "hiddenite/lm/arpa.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"

namespace hiddenite::lm {

namespace {

constexpr double ZERO_LOG10 = -99.0;      // this number and -inf stand for zero; any other is meant
constexpr double MOST_BACKOFF_LOG10 = 99.0;
constexpr int MAX_ORDER = 64;

// ------------------------------------------------------------------ numbers

// Up to 15 digits with a point, the common case, exactly; false: not of that form.
bool parse_plain_decimal(std::string_view text, double& value) {
  static constexpr std::array<double, 16> power{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  std::uint64_t digits = 0;
  std::size_t num_digits = 0, decimals = 0;
  bool point = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
      ++num_digits;
      decimals += point;
    } else if (c == '.' && !point) {
      point = true;
    } else {
      return false;
    }
  }
  if (num_digits == 0 || num_digits > 15) return false;
  value = static_cast<double>(digits) / power[decimals];
  if (negative) value = -value;
  return true;
}

// Any other number: many digits, scientific notation, an infinity. NaN is none here, and
// neither is what exceeds a double.
bool parse_number(std::string_view text, double& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !std::isnan(value);
}

float to_natural(double log10_value) {
  if (log10_value == ZERO_LOG10) return -INFINITY;
  return static_cast<float>(log10_value * LN_10);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    result += static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126 ? '?' : c;
  }
  return result + (text.size() > longest ? "...'" : "'");
}

// ------------------------------------------------------------------- reader

// The lines of a file, and complaints about the one last read.
class Cursor {
 public:
  explicit Cursor(LineReader& lines) : lines_(lines) {}

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

std::string count_of(std::uint64_t count, std::size_t n) {
  return std::to_string(count) + " " + std::to_string(n) + "-gram" + (count == 1 ? "" : "s");
}

// Reads what follows '\1-grams:', up to '\end\'.
class ModelReader {
 public:
  ModelReader(Cursor& cursor, std::vector<std::uint64_t> counts, const ArpaOptions& options)
      : cursor_(cursor), counts_(std::move(counts)), options_(options), sections_(counts_.size()) {}

  ReadArpa read() {
    read_unigrams();
    for (int n = 2; n <= order(); ++n) read_level(n);
    expect_end();
    build();
    return std::move(result_);
  }

 private:
  struct Fields {
    double log10_prob;
    double log10_backoff = 0.0;
    bool has_backoff = false;
  };
  // Where the lines of a section stand, so that a row's line can be told later.
  struct Section {
    std::uint64_t first_line = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;  // row, blank lines before it
  };

  int order() const { return static_cast<int>(counts_.size()); }
  std::string_view line() const { return cursor_.line(); }
  [[noreturn]] void fail(const std::string& message) const { cursor_.fail(message); }

  // --- one line

  // Splits the line into its probability, words (in words_) and back-off weight.
  Fields split_line(int n) {
    std::string_view rest = line();
    Fields fields;
    const std::string_view prob = next_word(rest);
    words_.clear();
    for (int i = 0; i < n; ++i) words_.push_back(next_word(rest));
    if (words_.back().empty()) fail_fields(n);
    std::array<std::string_view, 3> numbers;
    std::size_t num_numbers = 0;
    for (std::string_view field = next_word(rest); !field.empty(); field = next_word(rest)) {
      if (num_numbers == numbers.size()) fail_fields(n);
      numbers[num_numbers++] = field;
    }
    // Two numbers are the max columns of the highest order, which has no back-off weight.
    if (num_numbers == 2 && n < order()) fail_fields(n);
    fields.log10_prob = log10_number(prob, "log10 probability");
    if (fields.log10_prob > 0 && num_numbers < 2) {  // with max columns it may be an inserted n-gram
      fail("found the positive log10 probability " + quoted(prob) + ", expected at most 0");
    }
    if (num_numbers == 1 || num_numbers == 3) {
      fields.has_backoff = true;
      fields.log10_backoff = log10_number(numbers[0], "log10 back-off weight");
      if (fields.log10_backoff >= MOST_BACKOFF_LOG10) {
        fail("found the log10 back-off weight " + quoted(numbers[0]) + ", expected less than 99");
      }
    }
    for (std::size_t i = num_numbers & 1; i < num_numbers; ++i) number(numbers[i], "max column");
    return fields;
  }

  [[noreturn]] void fail_fields(int n) const {
    fail("found " + quoted(line()) + ", expected a log10 probability, " + std::to_string(n) +
         (n == 1 ? " word" : " words") + " and at most a log10 back-off weight");
  }

  double number(std::string_view text, const char* what) const {
    double value = 0.0;
    if (!parse_plain_decimal(text, value) && !parse_number(text, value)) {
      fail("found " + quoted(text) + ", expected a number (the " + std::string(what) + ")");
    }
    return value;
  }

  double log10_number(std::string_view text, const char* what) const {
    const double value = number(text, what);
    if (value < LEAST_LOG10 && !std::isinf(value) && std::isinf(to_natural(value))) {
      fail("found the " + std::string(what) + " " + quoted(text) + ", expected at least -1e38, or -inf for zero");
    }
    return value;
  }

  float backoff(const Fields& fields, int n) {
    if (fields.has_backoff && n == order() && fields.log10_backoff != 0.0) {
      ++top_backoffs_;
      return 0.0f;
    }
    return to_natural(fields.log10_backoff);
  }

  // --- sections

  // Calls read_row() for each line of the section; the line is then its end marker.
  template <class ReadRow>
  void read_section(int n, ReadRow read_row) {
    Section& section = sections_[n - 1];
    section.first_line = cursor_.number() + 1;
    const std::uint64_t announced = counts_[n - 1];
    std::uint64_t found = 0;
    std::uint64_t expected_line = section.first_line;
    bool at_end = true;
    while (at_end && cursor_.next_filled()) {
      if (line()[0] == '\\') {
        if (!is_marker()) fail("found " + quoted(line()) + ", expected an n-gram or the section's end");
        at_end = false;
        continue;
      }
      if (cursor_.number() != expected_line) {
        section.gaps.emplace_back(found, cursor_.number() - expected_line);
      }
      expected_line = cursor_.number() + 1;
      if (found == announced) {
        fail("found more than the " + count_of(announced, n) + " that the header announces");
      }
      read_row();
      ++found;
    }
    if (at_end) {
      fail("the file ends after " + std::to_string(found) + " of " + count_of(announced, n) +
           ", expected '\\end\\'; is it complete?");
    }
    if (found != announced) {
      fail("found " + count_of(found, n) + ", expected the " + std::to_string(announced) +
           " that the header announces");
    }
  }

  bool is_marker() const { return line() == "\\end\\" || line().ends_with("-grams:"); }

  void read_unigrams() {
    NgramLevel level;
    Vocabulary found;
    std::vector<float> log_prob(NUM_SPECIAL_WORDS, -INFINITY), log_backoff(NUM_SPECIAL_WORDS, 0.0f);
    read_section(1, [&] {
      cursor_.check_utf8();
      const Fields fields = split_line(1);
      std::string_view word = words_[0];
      if (word == "<UNK>") word = "<unk>";
      const WordId before = found.size();
      const WordId id = found.add(word);
      if (id < NUM_SPECIAL_WORDS ? listed_[id] : id != before) {
        fail("found the 1-gram " + quoted(word) + " a second time, expected each n-gram once");
      }
      if (id < NUM_SPECIAL_WORDS) {
        listed_[id] = true;
      } else {
        log_prob.push_back(0);
        log_backoff.push_back(0);
      }
      log_prob[id] = to_natural(fields.log10_prob);
      if (id == SENTENCE_BEGIN) begin_log_prob_ = log_prob[id];
      if (std::isinf(log_prob[id]) && id != SENTENCE_BEGIN && num_zeros_++ == 0) first_zero_ = word;
      log_backoff[id] = backoff(fields, 1);
    });
    check_special_words(log_prob);
    const std::vector<WordId> by_length = found.order_by_length();
    builder_.emplace(found.reordered(by_length));
    vocabulary_ = &builder_->vocabulary();
    for (WordId id = 0; id < by_length.size(); ++id) {
      level.words.push_back(id);
      level.log_prob.push_back(log_prob[by_length[id]]);
      level.log_backoff.push_back(log_backoff[by_length[id]]);
    }
    builder_->add(std::move(level));
  }

  void check_special_words(std::vector<float>& log_prob) {
    unknown_is_listed_ = listed_[UNKNOWN];
    if (!listed_[UNKNOWN]) {
      if (options_.unknown_log10) {
        log_prob[UNKNOWN] = to_natural(*options_.unknown_log10);
        unknown_is_listed_ = true;
      } else {
        warn("lists no <unk>: words outside its vocabulary have probability zero");
      }
    }
    if (!listed_[SENTENCE_BEGIN]) warn("lists no <s>: sentences begin without a context");
    if (!listed_[SENTENCE_END]) warn("lists no </s>: every whole sentence has probability zero");
    if (num_zeros_ > 0) {
      warn("gives " + std::to_string(num_zeros_) + (num_zeros_ == 1 ? " word" : " words") +
           " the probability zero (log10 of -99 or -inf): " + quoted(first_zero_) +
           (num_zeros_ == 1 ? "" : " and others"));
    }
  }

  void warn(const std::string& message) { result_.warnings.push_back(cursor_.file() + ": " + message); }

  void read_level(int n) {
    if (line() != "\\" + std::to_string(n) + "-grams:") {
      if (counts_[n - 1] == 0) {
        builder_->add(NgramLevel{n, {}, {}, {}});
        return;
      }
      fail("found " + quoted(line()) + ", expected '\\" + std::to_string(n) + "-grams:'");
    }
    NgramLevel level{n, {}, {}, {}};
    const bool top = n == order();
    // A header may lie: trust it for a modest reservation only.
    const auto expected = static_cast<std::size_t>(std::min<std::uint64_t>(counts_[n - 1], 1u << 20));
    level.words.reserve(expected * static_cast<std::size_t>(n));
    level.log_prob.reserve(expected);
    previous_.assign(static_cast<std::size_t>(n), {});
    previous_ids_.assign(static_cast<std::size_t>(n), NO_WORD);
    read_section(n, [&] {
      const Fields fields = split_line(n);
      for (int i = 0; i < n; ++i) level.words.push_back(word_id(i));
      level.log_prob.push_back(to_natural(fields.log10_prob));
      const float log_backoff = backoff(fields, n);
      if (!top) level.log_backoff.push_back(log_backoff);
    });
    builder_->add(std::move(level));
  }

  // Neighbouring lines share words: ask the vocabulary only for those that differ.
  WordId word_id(int i) {
    const std::string_view word = words_[i];
    if (previous_[i] == word && previous_ids_[i] != NO_WORD) return previous_ids_[i];
    WordId id = vocabulary_->find(word);
    if (id == NO_WORD && word == "<UNK>") id = UNKNOWN;
    if (id == NO_WORD || (id < NUM_SPECIAL_WORDS && !listed_[id])) {
      cursor_.check_utf8();
      fail("found the word " + quoted(word) +
           ", which is no 1-gram of this file; expected each word among the 1-grams");
    }
    previous_[i].assign(word);
    previous_ids_[i] = id;
    return id;
  }

  void expect_end() {
    if (line() != "\\end\\") {
      fail("found " + quoted(line()) + ", expected '\\end\\' after the " + std::to_string(order()) +
           "-grams");
    }
  }

  // --- table

  void build() {
    if (top_backoffs_ > 0) {
      warn("back-off weights on the highest order are ignored (" + std::to_string(top_backoffs_) +
           " n-grams)");
    }
    try {
      result_.table = builder_->finish();
      result_.implied = result_.table.implied.size();
      result_.table.begin_log_prob = begin_log_prob_;
      result_.table.unknown_is_listed = unknown_is_listed_;
    } catch (const DuplicateNgram& duplicate) {
      cursor_.fail_at(line_of(duplicate), "found a " + std::to_string(duplicate.n) +
                                              "-gram a second time, expected each n-gram once");
    } catch (const ModelError& error) {
      fail(error.what());
    }
  }

  std::uint64_t line_of(const DuplicateNgram& duplicate) const {
    const Section& section = sections_[duplicate.n - 1];
    std::uint64_t line = section.first_line + duplicate.row;
    for (const auto& [row, blank_lines] : section.gaps) {
      if (row <= duplicate.row) line += blank_lines;
    }
    return line;
  }

  Cursor& cursor_;
  const std::vector<std::uint64_t> counts_;
  const ArpaOptions& options_;
  std::vector<Section> sections_;
  ReadArpa result_;
  std::optional<TableBuilder> builder_;
  const Vocabulary* vocabulary_ = nullptr;
  double begin_log_prob_ = 0.0;
  bool unknown_is_listed_ = true;
  std::vector<std::string_view> words_;
  std::vector<std::string> previous_;
  std::vector<WordId> previous_ids_;
  std::array<bool, NUM_SPECIAL_WORDS> listed_{};
  std::size_t top_backoffs_ = 0, num_zeros_ = 0;
  std::string first_zero_;
};

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
      result_ = ModelReader(cursor_, counts_, options_).read();
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

  Cursor cursor_;
  const ArpaOptions& options_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t header_line_ = 0;
  std::string complaint_ = "found no line '\\data\\', expected an ARPA file; is this a language model?";
  std::uint64_t complaint_line_ = 0;
  std::uint64_t ignored_line_ = 0;
  ReadArpa result_;
  std::optional<FormatError> failure_;
};

// ------------------------------------------------------------------- writer

// The text of a range of n-grams of one level.
class RowWriter {
 public:
  RowWriter(const NgramTable& table, bool with_max_columns)
      : table_(table), with_max_columns_(with_max_columns) {}

  std::string write(int n, NodeId begin, NodeId end) {
    std::string context;
    NodeId context_end = begin;  // nodes before this share the text of the context
    NodeId parent = n == 1 ? ROOT : table_.parent(begin);
    table_.for_each_ngram(n, begin, end, [&](NodeId node, std::span<const WordId> words) {
      if (n == 1 && words[0] == UNKNOWN && !table_.unknown_is_listed) return;
      if (!with_max_columns_ && is_implied(node)) return;
      if (node >= context_end) {
        context.clear();
        for (const WordId w : words.first(n - 1)) {
          context += table_.vocabulary.word(w);
          context += ' ';
        }
        while (table_.first_child[parent + 1] <= node) ++parent;
        context_end = table_.first_child[parent + 1];
      }
      write_row(n, node, context);
    });
    return std::move(text_);
  }

 private:
  bool is_implied(NodeId node) const {
    return std::binary_search(table_.implied.begin(), table_.implied.end(), node);
  }

  void write_row(int n, NodeId node, const std::string& context) {
    const bool is_begin = n == 1 && table_.word[node] == SENTENCE_BEGIN;
    write_number(is_begin ? static_cast<float>(table_.begin_log_prob) : table_.log_prob[node]);
    text_ += '\t';
    text_ += context;
    text_ += table_.vocabulary.word(table_.word[node]);
    if (n < table_.order) {
      text_ += '\t';
      write_number(table_.log_backoff[node]);
    }
    if (with_max_columns_) {
      text_ += '\t';
      write_number(table_.log_max_prob[node]);
      text_ += '\t';
      write_number(n < table_.order ? table_.log_max_backoff[node] : 0.0f);
    }
    text_ += '\n';
  }

  // log10 with eight decimals where that gives the float back, else nine digits.
  void write_number(float natural) {
    if (std::isinf(natural)) {
      text_ += "-99";
      return;
    }
    if (natural == 0.0f) {
      text_ += '0';
      return;
    }
    const double log10_value = natural / LN_10;
    if (!write_decimals(log10_value, natural)) {
      char buffer[40];
      const auto end = std::to_chars(buffer, buffer + sizeof buffer, log10_value,
                                     std::chars_format::general, 9).ptr;
      text_.append(buffer, end);
    }
  }

  bool write_decimals(double log10_value, float natural) {
    constexpr double scale = 1e8;
    const double magnitude = std::fabs(log10_value) * scale;
    if (magnitude > 1e15) return false;
    auto digits = static_cast<std::uint64_t>(magnitude + 0.5);
    const double again = static_cast<double>(digits) / scale;
    if (static_cast<float>((log10_value < 0 ? -again : again) * LN_10) != natural) return false;
    if (log10_value < 0) text_ += '-';
    char buffer[24];
    char* const end = buffer + sizeof buffer;
    char* p = end;
    int decimals = 8;
    while (decimals > 0 && digits % 10 == 0) digits /= 10, --decimals;
    for (int i = 0; i < decimals; ++i, digits /= 10) *--p = static_cast<char>('0' + digits % 10);
    if (decimals > 0) *--p = '.';
    do {
      *--p = static_cast<char>('0' + digits % 10);
      digits /= 10;
    } while (digits > 0);
    text_.append(p, end);
    return true;
  }

  const NgramTable& table_;
  bool with_max_columns_;
  std::string text_;
};

// Blocks of rows are written on all cores and given to the sink in order.
void write_level(const NgramTable& table, int n, bool with_max_columns, const TextSink& sink) {
  constexpr NodeId block = 1 << 15;
  const NodeId begin = table.level_begin[n], end = table.level_begin[n + 1];
  const auto num_threads = static_cast<NodeId>(resolve_threads(0));
  std::vector<std::string> texts(num_threads);
  for (NodeId first = begin; first < end;) {
    const NodeId blocks = std::min(num_threads, (end - first + block - 1) / block);
    parallel_for(blocks, 0, [&](std::size_t i, int) {
      const NodeId from = first + static_cast<NodeId>(i) * block;
      texts[i] = RowWriter(table, with_max_columns).write(n, from, std::min(end, from + block));
    });
    for (NodeId i = 0; i < blocks; ++i) sink(texts[i]);
    first = end - first <= blocks * block ? end : first + blocks * block;
  }
}

}  // namespace

ReadArpa read_arpa(LineReader& lines, const ArpaOptions& options) {
  return ArpaReader(lines, options).read();
}

void write_arpa(const NgramTable& table, bool with_max_columns, const TextSink& sink) {
  const auto num_implied = [&](int n) {
    const auto first = [&](int m) {
      return std::lower_bound(table.implied.begin(), table.implied.end(), table.level_begin[m]);
    };
    return static_cast<std::size_t>(first(n + 1) - first(n));
  };
  std::string header = "\\data\\\n";
  for (int n = 1; n <= table.order; ++n) {
    std::size_t rows = table.num_ngrams(n);
    if (n == 1 && !table.unknown_is_listed) --rows;
    if (!with_max_columns) rows -= num_implied(n);
    header += "ngram " + std::to_string(n) + "=" + std::to_string(rows) + "\n";
  }
  sink(header);
  for (int n = 1; n <= table.order; ++n) {
    sink("\n\\" + std::to_string(n) + "-grams:\n");
    write_level(table, n, with_max_columns, sink);
  }
  sink("\n\\end\\\n");
}

}  // namespace hiddenite::lm
