#include "hiddenite/channel/edit_search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "hiddenite/base/types.hpp"

namespace hiddenite::channel {

namespace {

struct SortedWord {
  std::uint64_t prefix;  // its first eight letters: most comparisons end here
  std::uint32_t index;
};

std::uint64_t prefix_of(const Letters& letters) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < 8; ++i) prefix = prefix << 8 | (i < letters.size() ? letters[i] : 0);
  return prefix;
}

// The words of one letter and more in lexicographic order, of words that are alike the first one first.
std::vector<SortedWord> sorted_words(const std::vector<Letters>& letters) {
  std::vector<SortedWord> result;
  for (std::uint32_t i = 0; i < letters.size(); ++i) {
    if (!letters[i].empty()) result.push_back({prefix_of(letters[i]), i});
  }
  std::sort(result.begin(), result.end(), [&](const SortedWord& a, const SortedWord& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const Letters &left = letters[a.index], &right = letters[b.index];
    const bool is_short = left.size() <= 8 && right.size() <= 8;
    return is_short || left == right ? a.index < b.index : left < right;
  });
  return result;
}

}  // namespace

WordTree::WordTree(const Alphabet& alphabet, const std::vector<std::u32string>& words,
                   const std::vector<double>& log_prior)
    : num_letters_(alphabet.size()), letters_(words.size()) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    Letters letters = alphabet.letters(words[i]);
    const bool fits = std::find(letters.begin(), letters.end(), Alphabet::OTHER) == letters.end();
    if (fits) letters_[i] = std::move(letters);
  }
  const std::vector<SortedWord> sorted = sorted_words(letters_);
  const auto letters_of = [&](std::size_t i) -> Letters& { return letters_[sorted[i].index]; };
  struct Range {  // of words that share the node's prefix
    std::size_t begin, end;
  };
  nodes_.push_back({});
  std::vector<Range> ranges{{0, sorted.size()}}, next_ranges;
  std::size_t first = 0;  // node of this level
  for (std::size_t depth = 0; !ranges.empty(); ++depth) {
    next_ranges.clear();
    const std::size_t next_first = nodes_.size();
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      auto [i, end] = ranges[r];
      for (; i < end && letters_of(i).size() == depth; ++i) {
        TreeNode& node = nodes_[first + r];
        if (node.word == NO_ENTRY) {
          node.word = sorted[i].index;
        } else {
          letters_of(i).clear();
        }
      }
      nodes_[first + r].first_child = static_cast<std::uint32_t>(nodes_.size());
      while (i < end) {
        std::size_t k = i + 1;
        const Letter label = letters_of(i)[depth];
        while (k < end && letters_of(k)[depth] == label) ++k;
        nodes_.push_back({});
        nodes_.back().label = label;
        ++nodes_[first + r].num_children;
        next_ranges.push_back({i, k});
        i = k;
      }
    }
    ranges.swap(next_ranges);
    first = next_first;
  }
  for (std::size_t n = nodes_.size(); n-- > 0;) {  // children come behind their parents
    TreeNode& node = nodes_[n];
    if (node.word != NO_ENTRY) node.best = std::exp(log_prior[node.word]);
    for (std::uint32_t c = node.first_child; c < node.first_child + node.num_children; ++c) {
      node.best = std::max(node.best, nodes_[c].best);
      node.below |= nodes_[c].below | bit(nodes_[c].label);
    }
  }
  index_pairs();
}

void WordTree::index_pairs() {
  pair_begin_.assign(num_letters_ * num_letters_ + 1, 0);
  for (const Letters& word : letters_) {
    if (!word.empty()) for_each_letter_pair(word, [&](Letter a, Letter b) { ++pair_begin_[a * num_letters_ + b + 1]; });
  }
  for (std::size_t p = 1; p < pair_begin_.size(); ++p) pair_begin_[p] += pair_begin_[p - 1];
  pair_words_.resize(pair_begin_.back());
  std::vector<std::uint32_t> next(pair_begin_.begin(), pair_begin_.end() - 1);
  for (std::uint32_t w = 0; w < letters_.size(); ++w) {
    if (letters_[w].empty()) continue;
    for_each_letter_pair(letters_[w], [&](Letter a, Letter b) { pair_words_[next[a * num_letters_ + b]++] = w; });
  }
}

double EditSearch::weigh(const Letters& word) {
  for (std::vector<double>& row : word_rows_) row.assign(table_.stride(), 0.0);
  word_rows_[1][2] = 1.0;
  double *before = word_rows_[0].data(), *row = word_rows_[1].data(), *next = word_rows_[2].data();
  Letter left = Alphabet::NOTHING, last = Alphabet::BEGIN;
  for (const Letter c : word) {
    table_.advance(row, before, left, last, c, next);
    std::swap(before, row);
    std::swap(row, next);
    left = last;
    last = c;
  }
  return table_.finish(row, before, left, last);
}

// A slip costs about so much, and two pairs of letters.
void EditSearch::weigh_alike(const WordTree& tree, const std::vector<double>& log_prior, const Letters& seen,
                             const EditLimits& limits) {
  constexpr double COST_OF_SLIP = 4.5;
  if (shared_.size() != tree.letters().size()) shared_.assign(tree.letters().size(), 0);
  is_weighed_.resize(tree.letters().size(), false);
  touched_.clear();
  for_each_letter_pair(seen, [&](Letter a, Letter b) {
    for (const std::uint32_t w : tree.words_with(a, b)) {
      if (shared_[w] == 0) touched_.push_back(w);
      if (shared_[w] < 255) ++shared_[w];
    }
  });
  alike_.clear();
  for (const std::uint32_t w : touched_) {
    const auto most = static_cast<double>(std::max(tree.letters()[w].size(), seen.size()) + 1);
    if (shared_[w] > 1 || most < 5.0) {
      alike_.emplace_back(-COST_OF_SLIP * (most - shared_[w]) / 2.0 + log_prior[w], w);
    }
    shared_[w] = 0;
  }
  if (alike_.size() > limits.num_alike) {
    std::nth_element(alike_.begin(), alike_.begin() + static_cast<std::ptrdiff_t>(limits.num_alike), alike_.end(),
                     std::greater<>());
    alike_.resize(limits.num_alike);
  }
  for (const auto& [_, w] : alike_) {
    is_weighed_[w] = true;
    add_word(w, weigh(tree.letters()[w]), std::exp(log_prior[w]), limits);
  }
}

void EditSearch::add_word(std::uint32_t word, double prob, double prior, const EditLimits& limits) {
  const double score = prob * prior;
  if (prob < std::exp(limits.least_log_edit) || score < threshold_) {
    left_out_ = std::max(left_out_, score);
    return;
  }
  found_.push_back({score, prob, word});
  std::push_heap(found_.begin(), found_.end());
  if (found_.size() > limits.keep) {
    std::pop_heap(found_.begin(), found_.end());
    left_out_ = std::max(left_out_, found_.back().score);
    found_.pop_back();
    threshold_ = std::max(threshold_, found_.front().score);
  }
  best_ = std::max(best_, score);
  threshold_ = std::max(threshold_, best_ * std::exp(-limits.beam));
}

void EditSearch::prepare_bounds(const EditModel& model, const Letters& seen) {
  const std::size_t n = model.alphabet().size(), length = seen.size();
  rest_.assign(length + 3, 0.0);
  rest_[length] = planted_edit_fault;
  step_.assign(8 * length, 0.0);
  guess_.assign(2 * length, 0.0);
  bit_.assign(length + 1, 0);
  const EditModel::RestBounds& bounds = model.rest();
  for (std::size_t j = 0; j < length; ++j) {
    const std::size_t pair = seen[j] * n + (j + 1 < length ? seen[j + 1] : Alphabet::NOTHING);
    for (std::size_t has = 0; has < 4; ++has) {
      step_[8 * j + 2 * has] = has & 2 ? bounds.one[seen[j]] : bounds.one_without[seen[j]];
      step_[8 * j + 2 * has + 1] = has == 3 ? bounds.two[pair] : bounds.two_without[pair];
    }
    guess_[2 * j] = bounds.typical_without[seen[j]];
    guess_[2 * j + 1] = bounds.typical[seen[j]];
    bit_[j] = WordTree::bit(seen[j]);
  }
  after_.assign(n * 3 * (length + 1), 0.0);
  has_after_.assign(n, false);
}

// What G(c) is made of: the most of a piece of c and any other character.
const double* EditSearch::pair_after(const EditModel& model, const Letters& seen, Letter last) {
  const std::size_t n = model.alphabet().size(), length = seen.size();
  double* const result = &after_[last * 3 * (length + 1)];
  if (has_after_[last]) return result;
  has_after_[last] = true;
  const EditModel::RestBounds& bounds = model.rest();
  for (std::size_t j = 0; j <= length; ++j) {
    result[3 * j] = bounds.pair0[last];
    if (j + 1 <= length) result[3 * j + 1] = bounds.pair1[last * n + seen[j]];
    if (j + 2 <= length) result[3 * j + 2] = bounds.pair2[(last * n + seen[j]) * n + seen[j + 1]];
  }
  return result;
}

EditSearch::Promise EditSearch::promise(const double* row, const double* before, const double* after,
                                        std::uint64_t below) {
  const std::size_t length = bit_.size() - 1;
  double sum = 0.0, guessed = 0.0, guess = 1.0;
  for (std::size_t j = length + 1; j-- > 0;) {
    if (j < length) {
      const std::size_t has = ((below & bit_[j]) != 0 ? 2 : 0) + ((below & bit_[j + 1]) != 0 ? 1 : 0);
      guess *= guess_[2 * j + has / 2];
      rest_[j] = step_[8 * j + 2 * has] * rest_[j + 1] + step_[8 * j + 2 * has + 1] * rest_[j + 2];
    }
    const double pair = after[3 * j] * rest_[j] + after[3 * j + 1] * rest_[j + 1] + after[3 * j + 2] * rest_[j + 2];
    sum += row[j + 2] * rest_[j] + before[j + 2] * pair;
    guessed += row[j + 2] * guess;
  }
  return {sum, guessed};
}

void EditSearch::open_children(const EditModel& model, const WordTree& tree, const std::vector<double>& log_prior,
                               const Letters& seen, const Opened& from, const EditLimits& limits) {
  const std::size_t stride = table_.stride();
  const std::vector<WordTree::TreeNode>& nodes = tree.nodes();
  const std::uint32_t begin = nodes[from.node].first_child, end = begin + nodes[from.node].num_children;
  const double least = std::exp(limits.least_log_edit);
  for (std::uint32_t child = begin; child < end; ++child) {
    const WordTree::TreeNode& node = nodes[child];
    const std::size_t place = rows_.size();
    rows_.resize(place + stride);
    double* const row = &rows_[place];
    const double* const before = &rows_[from.row];
    table_.advance(before, &rows_[from.before], from.left_of_last, from.last, node.label, row);
    // Rounding of so many positive terms is far below this.
    const Promise promised = promise(row, before, pair_after(model, seen, node.label), node.below);
    const double most = 1.000000001 * promised.bound;
    const double total = most * node.best;
    if (most < least || total < threshold_) {
      left_out_ = std::max(left_out_, total);
      rows_.resize(place);
      continue;
    }
    if (node.word != WordTree::NO_ENTRY && !is_weighed_[node.word]) {
      const double prob = table_.finish(row, before, from.last, node.label);
      add_word(node.word, prob, std::exp(log_prior[node.word]), limits);
    }
    if (node.num_children == 0) {
      rows_.resize(place);
    } else {
      heap_.push_back({promised.guess * node.best, total, child, static_cast<std::uint32_t>(place), from.row,
                       from.last, node.label});
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
}

FoundWords EditSearch::find(const EditModel& model, const WordTree& tree, const std::vector<double>& log_prior,
                            const Letters& seen, const EditLimits& limits) {
  FoundWords result;
  table_.set(model, seen);
  prepare_bounds(model, seen);
  heap_.clear();
  found_.clear();
  const std::size_t stride = table_.stride();
  rows_.assign(2 * stride, 0.0);
  rows_[2] = 1.0;
  threshold_ = left_out_ = best_ = 0.0;
  alike_.clear();
  is_weighed_.resize(tree.letters().size(), false);
  if (limits.num_alike > 0) weigh_alike(tree, log_prior, seen, limits);
  open_children(model, tree, log_prior, seen,
                {0.0, 0.0, 0, 0, static_cast<std::uint32_t>(stride), Alphabet::NOTHING, Alphabet::BEGIN}, limits);
  for (; !heap_.empty() && result.num_prefixes < limits.max_prefixes; ++result.num_prefixes) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Opened top = heap_.back();
    heap_.pop_back();
    if (top.bound < threshold_) {
      left_out_ = std::max(left_out_, top.bound);
    } else {
      open_children(model, tree, log_prior, seen, top, limits);
    }
  }
  for (const Opened& opened : heap_) {
    result.is_complete = result.is_complete && opened.bound < threshold_;
    left_out_ = std::max(left_out_, opened.bound);
  }
  std::sort(found_.begin(), found_.end());
  for (const FoundSoFar& word : found_) {
    if (word.score < threshold_) {  // it came before better ones
      left_out_ = std::max(left_out_, word.score);
      continue;
    }
    const double log_prob = std::log(word.prob);
    result.words.push_back({word.word, log_prob, log_prob + log_prior[word.word]});
  }
  for (const auto& [_, w] : alike_) is_weighed_[w] = false;
  result.left_out = std::log(left_out_);
  return result;
}

}  // namespace hiddenite::channel
