#include "hiddenite/lm/arpa_model.hpp"

#include <array>
#include <cmath>
#include <optional>

#include "hiddenite/lm/log10_text.hpp"

namespace hiddenite::lm {

namespace {

constexpr double MOST_BACKOFF_LOG10 = 99.0;

std::string count_of(std::uint64_t count, std::size_t n) {
  return std::to_string(count) + " " + std::to_string(n) + "-gram" + (count == 1 ? "" : "s");
}

std::string section_marker(int n) {
  std::string marker = "\\";
  return marker.append(std::to_string(n)).append("-grams:");
}

class ArpaModelReader {
 public:
  ArpaModelReader(ArpaCursor& cursor, std::vector<std::uint64_t> counts, const ArpaOptions& options)
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
    if (!parse_log10(text, value)) {
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
    if (line() != section_marker(n)) {
      if (counts_[n - 1] == 0) {
        builder_->add(NgramLevel{n, {}, {}, {}});
        return;
      }
      fail("found " + quoted(line()) + ", expected '" + section_marker(n) + "'");
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

  ArpaCursor& cursor_;
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

}  // namespace

ReadArpa read_arpa_model(ArpaCursor& cursor, std::vector<std::uint64_t> counts, const ArpaOptions& options) {
  return ArpaModelReader(cursor, std::move(counts), options).read();
}

}  // namespace hiddenite::lm
