#include "hiddenite/hmm/clusters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t BATCH = 64;
constexpr std::size_t TABLE_SIZE = 1 << 15;
constexpr double LEAST_GAIN = 1e-7;  // below it a move may be rounding, and passes might not end

// n ln n, from a table where it is asked for most.
struct Entropy {
  std::array<double, TABLE_SIZE> value{};
  Entropy() {
    for (std::size_t n = 2; n < TABLE_SIZE; ++n) value[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
  }
};
const Entropy ENTROPY;

inline double h(std::uint64_t n) {
  return n < TABLE_SIZE ? ENTROPY.value[n] : static_cast<double>(n) * std::log(static_cast<double>(n));
}

void fill_lists(std::vector<std::uint64_t>& keys, WordId num_words, std::vector<std::uint64_t>& begin,
                std::vector<BigramLists::Entry>& entries) {
  std::size_t compared = 0;
  std::sort(keys.begin(), keys.end(), [&](std::uint64_t a, std::uint64_t b) {
    check_interrupt_at(compared++);
    return a < b;
  });
  begin.assign(std::size_t{num_words} + 1, 0);
  entries.clear();
  for (std::size_t i = 0; i < keys.size();) {
    std::size_t j = i;
    while (j < keys.size() && keys[j] == keys[i]) ++j;
    entries.push_back({static_cast<WordId>(keys[i]), static_cast<std::uint32_t>(j - i)});
    ++begin[(keys[i] >> 32) + 1];
    i = j;
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
}

}  // namespace

BigramLists::BigramLists(const TokenText& text, WordId num_words) {
  std::vector<std::uint64_t> keys;
  keys.reserve(text.tokens.size() + text.num_sentences());
  for (std::size_t s = 0; s < text.num_sentences(); ++s) {
    WordId last = SENTENCE_END;
    for (const WordId w : text.sentence(s)) {
      keys.push_back(std::uint64_t{last} << 32 | w);
      last = w;
    }
    keys.push_back(std::uint64_t{last} << 32 | SENTENCE_END);
  }
  fill_lists(keys, num_words, next_begin, next);
  for (std::uint64_t& key : keys) key = key << 32 | key >> 32;
  fill_lists(keys, num_words, previous_begin, previous);
}

// A word's neighbours by class; those that have no class yet are left out.
struct ExchangeClustering::Neighbours {
  explicit Neighbours(std::size_t width) : after(width, 0), before(width, 0), delta(width) {}
  WordId word = 0;
  ClassId old_class = NO_CLASS;
  std::uint32_t self = 0;                     // the word after itself
  std::vector<std::uint32_t> after, before;   // [class]
  std::vector<ClassId> classes_after, classes_before;
  std::vector<double> delta;                  // [class]
};

ExchangeClustering::ExchangeClustering(const TokenText& text, WordId num_words, ClassId num_classes,
                                       std::vector<ClassId> start)
    : num_classes_(num_classes), bigrams_(text, num_words), count_(text.counts(num_words)) {
  if (text.tokens.size() + text.num_sentences() >= std::numeric_limits<std::uint32_t>::max()) {
    throw ModelError("the text has more than 2^32 words; cluster a part of it");
  }
  for (WordId w = 0; w < num_words; ++w) {
    if (count_[w] > 0 && w != SENTENCE_END) order_.push_back(w);
  }
  std::stable_sort(order_.begin(), order_.end(), [&](WordId a, WordId b) { return count_[a] > count_[b]; });
  start.resize(num_words, NO_CLASS);
  std::vector<bool> taken(num_classes, false);
  for (WordId w = 0; w < num_words; ++w) {
    if (start[w] == NO_CLASS) continue;
    if (start[w] >= num_classes) {
      throw ModelError("a word starts in class " + std::to_string(start[w]) + " of " + std::to_string(num_classes));
    }
    taken[start[w]] = true;
  }
  // More classes than words would only be empty ones.
  if (std::none_of(taken.begin(), taken.end(), [](bool t) { return t; })) {
    num_classes_ = static_cast<ClassId>(std::min<std::size_t>(num_classes, std::max<std::size_t>(order_.size(), 1)));
  }
  if (num_classes_ > MOST_CLASSES) {
    throw ModelError("found " + std::to_string(num_classes_) + " classes, expected at most " +
                     std::to_string(MOST_CLASSES));
  }
  width_ = std::size_t{num_classes_} + 1;
  matrix_.assign(width_ * width_, 0);
  transposed_.assign(width_ * width_, 0);
  class_count_.assign(width_, 0);
  class_of_.assign(num_words, NO_CLASS);
  Neighbours near(width_);
  insert(SENTENCE_END, num_classes_, near);
  ClassId free = 0;
  for (const WordId w : order_) {
    check_interrupt_at(std::size_t{w} * 64);
    if (start[w] != NO_CLASS) insert(w, start[w], near);
  }
  for (const WordId w : order_) {
    while (free < num_classes_ && taken[free]) ++free;
    if (free == num_classes_) break;
    if (start[w] == NO_CLASS) insert(w, free++, near);
  }
}

void ExchangeClustering::insert(WordId w, ClassId c, Neighbours& near) {
  gather(w, near);
  change(near, c, true);
  class_of_[w] = c;
}

void ExchangeClustering::gather(WordId w, Neighbours& near) const {
  for (const ClassId d : near.classes_after) near.after[d] = 0;
  for (const ClassId d : near.classes_before) near.before[d] = 0;
  near.classes_after.clear();
  near.classes_before.clear();
  near.word = w;
  near.old_class = class_of_[w];
  near.self = 0;
  const auto collect = [&](std::span<const BigramLists::Entry> entries, std::vector<std::uint32_t>& counts,
                           std::vector<ClassId>& classes) {
    for (const auto& [other, count] : entries) {
      if (other == w) {
        near.self = count;
        continue;
      }
      const ClassId d = class_of_[other];
      if (d == NO_CLASS) continue;
      if (counts[d] == 0) classes.push_back(d);
      counts[d] += count;
    }
    std::sort(classes.begin(), classes.end());
  };
  collect(bigrams_.after(w), near.after, near.classes_after);
  collect(bigrams_.before(w), near.before, near.classes_before);
}

// What the objective gains if the word, taken out of its class, goes to c.
double ExchangeClustering::gain(const Neighbours& near, ClassId c) const {
  const ClassId a = near.old_class;
  // Cells as they are without the word.
  const auto row = [&](ClassId d) {  // N(c, d), d != c
    return cell(c, d) - (c == a ? near.after[d] : 0) - (d == a ? near.before[c] : 0);
  };
  const auto column = [&](ClassId d) {  // N(d, c)
    return cell(d, c) - (c == a ? near.before[d] : 0) - (d == a ? near.after[c] : 0);
  };
  double sum = 0.0;
  for (const ClassId d : near.classes_after) {
    if (d != c) sum += h(row(d) + near.after[d]) - h(row(d));
  }
  for (const ClassId d : near.classes_before) {
    if (d != c) sum += h(column(d) + near.before[d]) - h(column(d));
  }
  const std::uint32_t both = near.after[c] + near.before[c] + near.self;
  const std::uint32_t diagonal = cell(c, c) - (c == a ? both : 0);
  sum += h(diagonal + both) - h(diagonal);
  const std::uint64_t own = count_[near.word];
  const std::uint64_t total = class_count_[c] - (c == a ? own : 0);
  return sum - 2.0 * (h(total + own) - h(total));
}

// The same for all classes at once, in rows that lie together in memory.
ClassId ExchangeClustering::best_class(Neighbours& near) const {
  const ClassId a = near.old_class;
  double* const delta = near.delta.data();
  std::fill_n(delta, num_classes_, 0.0);
  const auto add_row = [&](const std::uint32_t* cells, std::uint32_t count) {
    for (ClassId c = 0; c < num_classes_; ++c) delta[c] += h(cells[c] + count) - h(cells[c]);
  };
  for (const ClassId d : near.classes_after) add_row(transposed_.data() + d * width_, near.after[d]);
  for (const ClassId d : near.classes_before) add_row(matrix_.data() + d * width_, near.before[d]);
  const std::uint64_t own = count_[near.word];
  for (ClassId c = 0; c < num_classes_; ++c) {
    delta[c] -= 2.0 * (h(class_count_[c] + own) - h(class_count_[c]));
    // On the diagonal and where the old class is a neighbour the rows above are not the whole truth.
    if (c == a || near.after[c] + near.before[c] + near.self > 0) delta[c] = gain(near, c);
  }
  return static_cast<ClassId>(std::max_element(delta, delta + num_classes_) - delta);
}

void ExchangeClustering::add(ClassId c, ClassId d, std::uint32_t count, bool insert) {
  std::uint32_t& one = matrix_[c * width_ + d];
  one = insert ? one + count : one - count;
  transposed_[d * width_ + c] = one;
}

void ExchangeClustering::change(const Neighbours& near, ClassId c, bool insert) {
  for (const ClassId d : near.classes_after) add(c, d, near.after[d], insert);
  for (const ClassId d : near.classes_before) add(d, c, near.before[d], insert);
  add(c, c, near.self, insert);
  class_count_[c] = insert ? class_count_[c] + count_[near.word] : class_count_[c] - count_[near.word];
}

std::uint64_t ExchangeClustering::pass(int threads) {
  const auto num_threads = static_cast<std::size_t>(resolve_threads(threads));
  std::vector<Neighbours> near(std::min(num_threads, BATCH) + 1, Neighbours(width_));
  std::array<ClassId, BATCH> wanted{};
  std::uint64_t moved = 0;
  const auto settle = [&](WordId w, ClassId c) {
    Neighbours& here = near.back();
    gather(w, here);
    const ClassId a = here.old_class;
    if (c == a || (a != NO_CLASS && gain(here, c) <= gain(here, a) + LEAST_GAIN)) return;
    if (a != NO_CLASS) change(here, a, false);
    change(here, c, true);
    class_of_[w] = c;
    ++moved;
  };
  for (std::size_t begin = 0; begin < order_.size(); begin += BATCH) {
    const std::size_t size = std::min(BATCH, order_.size() - begin);
    parallel_for(size, threads, [&](std::size_t i, int thread) {
      Neighbours& here = near[static_cast<std::size_t>(thread)];
      gather(order_[begin + i], here);
      wanted[i] = best_class(here);
    });
    for (std::size_t i = 0; i < size; ++i) settle(order_[begin + i], wanted[i]);
  }
  return moved;
}

double ExchangeClustering::average_mutual_information() const {
  double total = 0.0, sum = 0.0;
  for (const std::uint64_t n : class_count_) {
    total += static_cast<double>(n);
    sum -= 2.0 * h(n);
  }
  for (const std::uint32_t n : matrix_) sum += h(n);
  return total == 0.0 ? 0.0 : sum / total + std::log(total);
}

}  // namespace hiddenite::hmm
