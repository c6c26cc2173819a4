#include "hiddenite/lm/estimation/count_file.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::lm {

namespace {

constexpr std::size_t NOT_FOUND = static_cast<std::size_t>(-1);
constexpr std::size_t WRITTEN_AT_ONCE = std::size_t{1} << 20;

// Google's names of the special words.
std::string_view usual_name(std::string_view word) {
  if (word == "<S>") return "<s>";
  if (word == "</S>") return "</s>";
  return word == "<UNK>" ? "<unk>" : word;
}

// The rows of `width` keys in ascending order.
std::vector<std::uint32_t> sorted_rows(const std::vector<std::uint32_t>& keys, std::size_t width) {
  std::vector<std::uint32_t> order(width == 0 ? 0 : keys.size() / width);
  std::iota(order.begin(), order.end(), 0);
  const auto row = [&](std::uint32_t i) { return keys.data() + std::size_t{i} * width; };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(row(a), row(a) + width, row(b), row(b) + width);
  });
  return order;
}

}  // namespace

void CountReader::add(LineReader& lines, Vocabulary& vocabulary) {
  names_.push_back(lines.name());
  std::size_t num_rows = 0;
  for (std::string_view line; lines.next(line); ++num_rows) {
    if (lines.line_number() == 1) line = without_bom(line);
    check_text(line, lines.name(), lines.line_number());
    if (!trim(line).empty()) add_line(line, lines, vocabulary);
  }
  if (num_rows == 0) throw FormatError(lines.name(), 0, "holds no counts, expected lines of n-gram TAB count");
}

void CountReader::add_line(std::string_view line, const LineReader& lines, Vocabulary& vocabulary) {
  const auto refuse = [&](const std::string& message) {
    throw FormatError(lines.name(), lines.line_number(), message);
  };
  std::vector<std::string_view> words;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) words.push_back(word);
  const std::string_view last = words.back();
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), count);
  if (words.size() < 2 || error != std::errc() || end != last.data() + last.size()) {
    refuse("found '" + std::string(last) + "' at the end, expected an n-gram, a tab and a whole number");
  }
  words.pop_back();
  if (words.size() > levels_.size() || count == 0) return;
  Level& level = levels_[words.size() - 1];
  for (std::size_t i = words.size(); i-- > 0;) {
    const std::string_view word = usual_name(words[i]);
    if ((word == "<s>" && i > 0) || (word == "</s>" && i + 1 < words.size())) {
      refuse("found " + std::string(word) + " within an n-gram; sentences begin with <s> and end with </s>");
    }
    level.keys.push_back(1 + vocabulary.add(word));
  }
  level.counts.push_back(count);
  level.places.emplace_back(names_.size() - 1, lines.line_number());
}

std::vector<std::uint64_t> CountReader::occurrences(std::size_t num_words) const {
  std::vector<std::uint64_t> result(num_words, 0);
  for (std::size_t i = 0; i < levels_[0].size(); ++i) result[levels_[0].keys[i] - 1] += levels_[0].counts[i];
  return result;
}

void CountReader::fail(std::size_t n, std::size_t row, const std::string& message) const {
  const auto [file, line] = levels_[n - 1].places[row];
  throw FormatError(names_[file], line, message);
}

std::string CountReader::text(std::size_t n, std::size_t row, const Vocabulary& vocabulary) const {
  std::string result;
  for (std::size_t k = n; k-- > 0;) {
    if (!result.empty()) result.push_back(' ');
    result += vocabulary.word(levels_[n - 1].keys[row * n + k] - 1);
  }
  return result;
}

void CountReader::sort(std::size_t n, const Vocabulary& vocabulary) {
  Level& level = levels_[n - 1];
  const std::vector<std::uint32_t> order = sorted_rows(level.keys, n);
  Level sorted;
  for (const std::uint32_t i : order) {
    const auto first = level.keys.begin() + static_cast<std::ptrdiff_t>(std::size_t{i} * n);
    sorted.keys.insert(sorted.keys.end(), first, first + static_cast<std::ptrdiff_t>(n));
    sorted.counts.push_back(level.counts[i]);
    sorted.places.push_back(level.places[i]);
  }
  level = std::move(sorted);
  for (std::size_t i = 1; i < level.size(); ++i) {
    const auto row = level.keys.begin() + static_cast<std::ptrdiff_t>(i * n);
    const auto width = static_cast<std::ptrdiff_t>(n);
    if (!std::equal(row - width, row, row)) continue;
    const std::size_t later = level.places[i] > level.places[i - 1] ? i : i - 1;
    fail(n, later, "found '" + text(n, i, vocabulary) + "' again; each n-gram may appear once");
  }
}

std::size_t CountReader::find(std::size_t n, const std::uint32_t* keys) const {
  const Level& level = levels_[n - 1];
  std::size_t low = 0, high = level.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::uint32_t* row = level.keys.data() + middle * n;
    if (std::lexicographical_compare(row, row + n, keys, keys + n)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const std::uint32_t* row = level.keys.data() + low * n;
  return low < level.size() && std::equal(row, row + n, keys) ? low : NOT_FOUND;
}

// The n-gram without its last word: its keys but the first.
void CountReader::check_contexts(std::size_t n, const Vocabulary& vocabulary) const {
  for (std::size_t i = 0; i < levels_[n - 1].size(); ++i) {
    check_interrupt_at(i);
    const std::uint32_t* context = levels_[n - 1].keys.data() + i * n + 1;
    if (n == 2 && *context == 1 + SENTENCE_BEGIN) continue;
    if (find(n - 1, context) == NOT_FOUND) {
      fail(n, i, "found '" + text(n, i, vocabulary) + "' without a count of its first " + std::to_string(n - 1) +
                     " words; give the counts of all orders");
    }
  }
}

std::vector<std::uint64_t> CountReader::count_extensions(std::size_t n, const Vocabulary& vocabulary) const {
  std::vector<std::uint64_t> result(levels_[n - 1].size(), 0);
  if (n == levels_.size()) return result;
  const Level& above = levels_[n];
  for (std::size_t i = 0; i < above.size(); ++i) {
    check_interrupt_at(i);
    const std::size_t suffix = find(n, above.keys.data() + i * (n + 1));
    if (suffix == NOT_FOUND) {
      fail(n + 1, i, "found '" + text(n + 1, i, vocabulary) + "' without a count of its last " + std::to_string(n) +
                         " words; give the counts of all orders");
    }
    result[suffix] += above.counts[i];
  }
  return result;
}

CountReader::Windows CountReader::windows(const Vocabulary& vocabulary, bool cut_off) {
  const std::size_t order = levels_.size();
  for (std::size_t n = 1; n <= order; ++n) sort(n, vocabulary);
  for (std::size_t n = 2; n <= order; ++n) check_contexts(n, vocabulary);
  Windows result;
  for (std::size_t n = 1; n <= order; ++n) {
    const Level& level = levels_[n - 1];
    const std::vector<std::uint64_t> extensions = count_extensions(n, vocabulary);
    for (std::size_t i = 0; i < level.size(); ++i) {
      const std::uint32_t* keys = level.keys.data() + i * n;
      const bool begins = keys[n - 1] == 1 + SENTENCE_BEGIN;
      if (n == 1 && begins) continue;  // no window ends in <s>
      if (extensions[i] > level.counts[i]) {
        fail(n, i, "found " + std::to_string(level.counts[i]) + " of '" + text(n, i, vocabulary) +
                       "', but the n-grams of " + std::to_string(n + 1) + " words that end in it occur " +
                       std::to_string(extensions[i]) + " times");
      }
      const std::uint64_t rest = level.counts[i] - extensions[i];
      if (rest == 0) continue;
      if (!cut_off && !begins && n < order) {
        fail(n, i, "found " + std::to_string(level.counts[i]) + " of '" + text(n, i, vocabulary) +
                       "', but only " + std::to_string(extensions[i]) + " of the n-grams of " + std::to_string(n + 1) +
                       " words that end in it; Kneser-Ney needs complete counts of the order: lower --order, or "
                       "choose another --smoothing");
      }
      result.keys.insert(result.keys.end(), keys, keys + n);
      result.keys.resize(result.keys.size() + order - n, 0);
      result.counts.push_back(rest);
    }
  }
  std::vector<Level>(order).swap(levels_);
  return result;
}

void visit_renumbered(const CountReader::Windows& windows, const std::vector<WordId>& new_id, int order,
                      const WindowVisitor& visit) {
  const auto width = static_cast<std::size_t>(order);
  std::vector<std::uint32_t> keys(windows.keys);
  for (std::uint32_t& key : keys) key = key == 0 ? 0 : 1 + new_id[key - 1];
  for (const std::uint32_t i : sorted_rows(keys, width)) {
    check_interrupt_at(i);
    visit({keys.data() + std::size_t{i} * width, width}, windows.counts[i]);
  }
}

void write_counts(const std::vector<CountedLevel>& levels, const Vocabulary& vocabulary,
                  const std::vector<WordId>& by_appearance, std::uint64_t num_sentences,
                  const std::function<void(std::string_view)>& write) {
  std::string out;
  const auto end_line = [&](std::uint64_t count) {
    out += '\t';
    out += std::to_string(count);
    out += '\n';
    if (out.size() < WRITTEN_AT_ONCE) return;
    write(out);
    out.clear();
  };
  for (const WordId w : by_appearance) {
    const std::uint64_t count = w == SENTENCE_BEGIN ? num_sentences : levels[0].raw[w];
    if (count == 0) continue;
    out += vocabulary.word(w);
    end_line(count);
  }
  for (std::size_t n = 2; n <= levels.size(); ++n) {
    for (std::size_t i = 0; i < levels[n - 1].size(); ++i) {
      check_interrupt_at(i);
      std::size_t j = i;
      for (std::size_t k = n; k >= 1; --k) {
        if (k < n) out += ' ';
        out += vocabulary.word(levels[k - 1].first[j]);
        j = levels[k - 1].suffix[j];
      }
      end_line(levels[n - 1].raw[i]);
    }
  }
  write(out);
}

}  // namespace hiddenite::lm
