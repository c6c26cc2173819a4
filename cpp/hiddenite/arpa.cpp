#include "arpa.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "error.hpp"
#include "parallel.hpp"

namespace hiddenite {

namespace {

constexpr double ZERO_LOG10 = -99.0;  // this or less stands for probability zero
constexpr int MAX_ORDER = 64;

// ------------------------------------------------------------------ numbers

bool equals_ignoring_case(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] + 32) : a[i];
    if (c != lower[i]) return false;
  }
  return true;
}

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

// Any other number: many digits, scientific notation, an infinity. NaN is none here.
bool parse_number(std::string_view text, double& value) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  if (equals_ignoring_case(text, "-inf") || equals_ignoring_case(text, "-infinity")) {
    value = LOG_ZERO;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    const bool negative = text[0] == '-';
    const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;
    value = tiny ? 0.0 : (negative ? LOG_ZERO : -LOG_ZERO);
    return true;
  }
  return error == std::errc() && end == text.data() + text.size() && !std::isnan(value);
}

float to_natural(double log10_value) {
  if (log10_value <= ZERO_LOG10) return -INFINITY;
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

class ArpaReader {
 public:
  ArpaReader(LineReader& lines, const ArpaOptions& options) : lines_(lines), options_(options) {}

  ReadArpa read() {
    read_header();
    read_unigrams();
    for (int n = 2; n <= static_cast<int>(counts_.size()); ++n) read_level(n);
    expect_end();
    build();
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    fail_at(lines_.line_number(), message);
  }
  [[noreturn]] void fail_at(std::uint64_t line, const std::string& message) const {
    throw FormatError(lines_.name(), line, message);
  }

  // The next line that is not blank, trimmed; false at the end of the file.
  bool next_line() {
    std::string_view raw;
    while (lines_.next(raw)) {
      line_ = trim(raw);
      if (!line_.empty()) return true;
    }
    line_ = {};
    return false;
  }

  // --- header

  void read_header() {
    std::string complaint = "found no line '\\data\\', expected an ARPA file; is this a language model?";
    std::uint64_t complaint_line = 0;
    std::string_view raw;
    bool first = true;
    while (lines_.next(raw)) {
      if (first) check_first_line(raw);
      if (first && raw.starts_with("\xEF\xBB\xBF")) raw.remove_prefix(3);
      first = false;
      if (raw.find('\0') != raw.npos) fail_binary();
      // A preamble may show a sample of the format: the header is the first
      // '\data\' that is followed by counts and '\1-grams:'.
      while (trim(raw) == "\\data\\") {
        complaint = read_counts();
        if (complaint.empty()) return;
        complaint_line = lines_.line_number();
        raw = line_;
      }
    }
    if (complaint_line == 0) complaint_line = std::max<std::uint64_t>(lines_.line_number(), 1);
    fail_at(complaint_line, complaint);
  }

  void check_first_line(std::string_view raw) const {
    if (raw.starts_with("mmap lm http://kheafield.com/code")) {
      fail("found a KenLM binary file, expected ARPA text; use the ARPA file from which it was built");
    }
    if (raw.starts_with("SRILM_BINARY_NGRAM")) {
      fail("found an SRILM binary file, expected ARPA text; convert it with ngram -write-lm");
    }
    if (raw.starts_with("blmt") || raw.find('\0') != raw.npos) fail_binary();
  }

  [[noreturn]] void fail_binary() const {
    fail("found binary data, expected ARPA text; give the text form of the model");
  }

  // Empty if the counts are followed by '\1-grams:', else what is wrong; line_
  // is then the line that is to blame.
  std::string read_counts() {
    counts_.clear();
    while (next_line()) {
      if (line_ == "\\1-grams:") {
        return counts_.empty() ? "found '\\1-grams:' before any 'ngram 1=COUNT' line" : "";
      }
      std::uint64_t n = 0, count = 0;
      if (!parse_count(n, count)) {
        return "found " + quoted(line_) + ", expected 'ngram " +
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

  bool parse_count(std::uint64_t& n, std::uint64_t& count) const {
    std::string_view rest = line_;
    if (next_word(rest) != "ngram") return false;
    const auto equals = rest.find('=');
    if (equals == rest.npos) return false;
    return parse_integer(trim(rest.substr(0, equals)), n) &&
           parse_integer(trim(rest.substr(equals + 1)), count);
  }

  static bool parse_integer(std::string_view text, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
  }

  // --- sections

  struct Fields {
    double log10_prob;
    double log10_backoff = 0.0;
    bool has_backoff = false;
  };

  // Splits line_ into its probability, words (in words_) and back-off weight.
  Fields split_line(int n) {
    std::string_view rest = line_;
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
    fields.log10_prob = number(prob, "log10 probability");
    if (fields.log10_prob > 0) {
      fail("found the positive log10 probability " + quoted(prob) + ", expected at most 0");
    }
    if (num_numbers == 1 || num_numbers == 3) {
      fields.has_backoff = true;
      fields.log10_backoff = number(numbers[0], "log10 back-off weight");
      if (std::isinf(fields.log10_backoff) && fields.log10_backoff > 0) {
        fail("found the back-off weight " + quoted(numbers[0]) + ", expected a finite number");
      }
    }
    for (std::size_t i = num_numbers & 1; i < num_numbers; ++i) number(numbers[i], "max column");
    return fields;
  }

  [[noreturn]] void fail_fields(int n) const {
    fail("found " + quoted(line_) + ", expected a log10 probability, " + std::to_string(n) +
         (n == 1 ? " word" : " words") + " and at most a log10 back-off weight");
  }

  double number(std::string_view text, const char* what) const {
    double value = 0.0;
    if (!parse_plain_decimal(text, value) && !parse_number(text, value)) {
      fail("found " + quoted(text) + ", expected a number (the " + std::string(what) + ")");
    }
    return value;
  }

  // Calls read_row() for each line of the section; line_ is then its end marker.
  template <class ReadRow>
  void read_section(int n, ReadRow read_row) {
    Section& section = sections_[n - 1];
    section.first_line = lines_.line_number() + 1;
    std::uint64_t found = 0;
    std::uint64_t expected_line = section.first_line;
    at_end_ = true;
    while (next_line()) {
      if (line_[0] == '\\' && is_marker()) {
        at_end_ = false;
        break;
      }
      if (lines_.line_number() != expected_line) {
        section.gaps.emplace_back(found, lines_.line_number() - expected_line);
      }
      expected_line = lines_.line_number() + 1;
      if (found == counts_[n - 1]) {
        fail("found more " + std::to_string(n) + "-grams than the " +
             std::to_string(counts_[n - 1]) + " that the header announces");
      }
      read_row();
      ++found;
    }
    if (at_end_) {
      fail("the file ends after " + std::to_string(found) + " of " +
           std::to_string(counts_[n - 1]) + " " + std::to_string(n) +
           "-grams, expected '\\end\\'; is it complete?");
    }
    if (found != counts_[n - 1]) {
      fail("found " + std::to_string(found) + " " + std::to_string(n) +
           "-grams, expected the " + std::to_string(counts_[n - 1]) +
           " that the header announces");
    }
  }

  bool is_marker() const { return line_ == "\\end\\" || line_.ends_with("-grams:"); }

  void read_unigrams() {
    sections_.resize(counts_.size());
    NgramLevel level;
    Vocabulary found;
    std::vector<float> log_prob(NUM_SPECIAL_WORDS, -INFINITY), log_backoff(NUM_SPECIAL_WORDS, 0.0f);
    std::array<bool, NUM_SPECIAL_WORDS> listed{};
    read_section(1, [&] {
      const Fields fields = split_line(1);
      std::string_view word = words_[0];
      if (word == "<UNK>") word = "<unk>";
      check_word(word);
      const WordId before = found.size();
      const WordId id = found.add(word);
      if (id < NUM_SPECIAL_WORDS ? listed[id] : id != before) {
        fail("found the 1-gram " + quoted(word) + " a second time, expected each n-gram once");
      }
      if (id < NUM_SPECIAL_WORDS) {
        listed[id] = true;
      } else {
        log_prob.push_back(0);
        log_backoff.push_back(0);
      }
      if (id == SENTENCE_BEGIN) begin_log_prob_ = to_natural(fields.log10_prob);
      log_prob[id] = to_natural(fields.log10_prob);
      log_backoff[id] = backoff(fields, 1);
    });
    check_special_words(listed, log_prob);
    const std::vector<WordId> order = found.order_by_length();
    builder_.emplace(found.reordered(order));
    vocabulary_ = &builder_->vocabulary();
    for (WordId id = 0; id < order.size(); ++id) {
      level.words.push_back(id);
      level.log_prob.push_back(log_prob[order[id]]);
      level.log_backoff.push_back(log_backoff[order[id]]);
    }
    builder_->add(std::move(level));
    listed_ = listed;
  }

  void check_word(std::string_view word) const {
    const std::size_t bad = find_invalid_utf8(word);
    if (bad != word.npos) {
      fail("found a byte that is not UTF-8 in the word " + quoted(word) +
           ", expected UTF-8 text; convert the file with iconv");
    }
  }

  void check_special_words(const std::array<bool, NUM_SPECIAL_WORDS>& listed,
                           std::vector<float>& log_prob) {
    unknown_is_listed_ = listed[UNKNOWN];
    if (!listed[UNKNOWN]) {
      if (options_.unknown_log10) {
        log_prob[UNKNOWN] = to_natural(*options_.unknown_log10);
        unknown_is_listed_ = true;
      } else {
        warn("lists no <unk>: words outside its vocabulary have probability zero");
      }
    }
    if (!listed[SENTENCE_BEGIN]) warn("lists no <s>: sentences begin without a context");
    if (!listed[SENTENCE_END]) warn("lists no </s>: every whole sentence has probability zero");
  }

  void warn(const std::string& message) {
    result_.warnings.push_back(lines_.name() + ": " + message);
  }

  float backoff(const Fields& fields, int n) {
    if (fields.has_backoff && n == static_cast<int>(counts_.size()) && fields.log10_backoff != 0.0) {
      ++top_backoffs_;
      return 0.0f;
    }
    return to_natural(fields.log10_backoff);
  }

  void read_level(int n) {
    if (line_ != "\\" + std::to_string(n) + "-grams:") {
      if (counts_[n - 1] == 0) {
        builder_->add(NgramLevel{n, {}, {}, {}});
        return;
      }
      fail("found " + quoted(line_) + ", expected '\\" + std::to_string(n) + "-grams:'");
    }
    NgramLevel level{n, {}, {}, {}};
    const bool top = n == static_cast<int>(counts_.size());
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
      fail("found the word " + quoted(word) +
           ", which is no 1-gram of this file; expected each word among the 1-grams");
    }
    previous_[i].assign(word);
    previous_ids_[i] = id;
    return id;
  }

  void expect_end() {
    if (line_ != "\\end\\") {
      fail("found " + quoted(line_) + ", expected '\\end\\' after the " +
           std::to_string(counts_.size()) + "-grams");
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
      result_.implied = builder_->num_implied();
      result_.table.begin_log_prob = begin_log_prob_;
      result_.table.unknown_is_listed = unknown_is_listed_;
    } catch (const DuplicateNgram& duplicate) {
      fail_at(line_of(duplicate), "found a " + std::to_string(duplicate.n) +
                                      "-gram a second time, expected each n-gram once");
    }
  }

  // Sections remember where blank lines stood, so a row's line can be told.
  std::uint64_t line_of(const DuplicateNgram& duplicate) const {
    const Section& section = sections_[duplicate.n - 1];
    std::uint64_t line = section.first_line + duplicate.row;
    for (const auto& [row, blank_lines] : section.gaps) {
      if (row <= duplicate.row) line += blank_lines;
    }
    return line;
  }

  struct Section {
    std::uint64_t first_line = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
  };

  LineReader& lines_;
  const ArpaOptions& options_;
  ReadArpa result_;
  std::string_view line_;
  std::vector<std::uint64_t> counts_;
  std::vector<Section> sections_;
  std::optional<TableBuilder> builder_;
  const Vocabulary* vocabulary_ = nullptr;
  double begin_log_prob_ = 0.0;
  bool unknown_is_listed_ = true;
  std::vector<std::string_view> words_;
  std::vector<std::string> previous_;
  std::vector<WordId> previous_ids_;
  std::array<bool, NUM_SPECIAL_WORDS> listed_{};
  std::size_t top_backoffs_ = 0;
  bool at_end_ = false;
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
  std::string header = "\\data\\\n";
  for (int n = 1; n <= table.order; ++n) {
    const bool unlisted = n == 1 && !table.unknown_is_listed;
    header += "ngram " + std::to_string(n) + "=" + std::to_string(table.num_ngrams(n) - unlisted) + "\n";
  }
  sink(header);
  for (int n = 1; n <= table.order; ++n) {
    sink("\n\\" + std::to_string(n) + "-grams:\n");
    write_level(table, n, with_max_columns, sink);
  }
  sink("\n\\end\\\n");
}

}  // namespace hiddenite
