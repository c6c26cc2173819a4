#include "hiddenite/lm/counted_ngrams.hpp"

#include <algorithm>
#include <limits>

#include "hiddenite/base/error.hpp"

namespace hiddenite::lm {

namespace {

void increase(std::uint32_t& count, std::uint64_t by) {
  const std::uint64_t sum = count + by;
  if (sum > std::numeric_limits<std::uint32_t>::max()) {
    throw ModelError("an n-gram occurs more than 4 billion times");
  }
  count = static_cast<std::uint32_t>(sum);
}

}  // namespace

void WindowScanner::add(WindowKeys keys, std::uint64_t count) {
  const std::size_t order = keys.size();
  std::size_t same = 0, depth = 0;
  while (depth < order && keys[depth] != 0) ++depth;
  while (same < depth && keys[same] == previous_[same]) ++same;
  for (std::size_t n = same + 1; n <= depth; ++n) {
    CountedLevel& level = levels_[n - 1];
    if (n > 1) increase(levels_[n - 2].count[current_[n - 1]], 1);
    current_[n] = static_cast<std::uint32_t>(level.size());
    level.first.push_back(keys[n - 1] - 1);
    level.suffix.push_back(current_[n - 1]);
    level.count.push_back(0);
    if (keep_raw_) level.raw.push_back(0);
  }
  increase(levels_[depth - 1].count[current_[depth]], count);
  if (keep_raw_) {
    for (std::size_t n = 1; n <= depth; ++n) increase(levels_[n - 1].raw[current_[n]], count);
  }
  std::copy(keys.begin(), keys.end(), previous_.begin());
}

std::vector<CountedLevel> WindowScanner::finish(WordId num_words) {
  index_unigrams_by_word(num_words);
  while (levels_.size() > 1 && levels_.back().size() == 0) levels_.pop_back();
  return std::move(levels_);
}

void WindowScanner::index_unigrams_by_word(WordId num_words) {
  CountedLevel& found = levels_[0];
  CountedLevel unigrams;
  unigrams.first.resize(num_words);
  unigrams.suffix.assign(num_words, 0);
  unigrams.count.assign(num_words, 0);
  if (keep_raw_) unigrams.raw.assign(num_words, 0);
  for (WordId w = 0; w < num_words; ++w) unigrams.first[w] = w;
  for (std::size_t i = 0; i < found.size(); ++i) {
    unigrams.count[found.first[i]] = found.count[i];
    if (keep_raw_) unigrams.raw[found.first[i]] = found.raw[i];
  }
  if (levels_.size() > 1) {
    for (std::uint32_t& suffix : levels_[1].suffix) suffix = found.first[suffix];
  }
  found = std::move(unigrams);
}

namespace {

// How often n-gram i of order n occurs: what its left extensions occur, added up.
std::uint64_t occurrences(const std::vector<CountedLevel>& levels, std::size_t n, std::uint32_t i) {
  if (n == levels.size() || levels[n - 1].first[i] == SENTENCE_BEGIN) return levels[n - 1].count[i];
  const auto& suffix = levels[n].suffix;
  const auto [begin, end] = std::equal_range(suffix.begin(), suffix.end(), i);
  std::uint64_t total = 0;
  for (auto j = begin; j != end; ++j) {
    total += occurrences(levels, n + 1, static_cast<std::uint32_t>(j - suffix.begin()));
  }
  return total;
}

}  // namespace

LastNgrams find_last_ngrams(const std::vector<CountedLevel>& levels, const std::vector<WordId>& appearance) {
  const auto later = [&](WordId a, WordId b) { return appearance[a] < appearance[b]; };
  LastNgrams last;
  const CountedLevel& words = levels[0];
  WordId last_word = SENTENCE_END;
  for (const WordId w : words.first) {
    if (words.count[w] > 0 && later(last_word, w)) last_word = w;
  }
  last.ngram.push_back(last_word);
  for (std::size_t n = 1; n < levels.size(); ++n) {
    last.occurrences.push_back(occurrences(levels, n, last.ngram.back()));
    if (levels[n - 1].first[last.ngram.back()] == SENTENCE_BEGIN) break;
    const CountedLevel& above = levels[n];
    const auto [begin, end] = std::equal_range(above.suffix.begin(), above.suffix.end(), last.ngram.back());
    const auto first = above.first.begin();
    const auto extension = std::max_element(first + (begin - above.suffix.begin()),
                                            first + (end - above.suffix.begin()), later);
    last.ngram.push_back(static_cast<std::uint32_t>(extension - first));
  }
  last.ngram.resize(last.occurrences.size());
  return last;
}

}  // namespace hiddenite::lm
