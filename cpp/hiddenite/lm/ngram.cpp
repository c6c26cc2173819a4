#include "hiddenite/lm/ngram.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/memory.hpp"

namespace hiddenite::lm {

// ---------------------------------------------------------------- queries

std::size_t NgramTable::bytes() const {
  return word.bytes() + log_prob.bytes() + log_max_prob.bytes() + suffix.bytes() + log_backoff.bytes() +
         log_max_backoff.bytes() + first_child.bytes() + implied.bytes() + vocabulary.bytes();
}

NgramTable::Place NgramTable::locate(std::span<const WordId> context) const {
  const auto longest = static_cast<std::size_t>(order - 1);
  if (context.size() > longest) context = context.last(longest);
  NodeId state = ROOT;
  for (const WordId w : context) {
    NodeId arc = child(state, w);
    while (arc == NO_NODE) {
      state = suffix[state];
      arc = child(state, w);
    }
    state = arc;
  }
  return {state, state >= level_begin[context.size()]};
}

double NgramTable::conditional(WordId w, std::span<const WordId> context) const {
  NodeId state = locate(context).node;
  return step(state, w);
}

double NgramTable::max_conditional(WordId w, std::span<const WordId> context) const {
  const Place place = locate(context);
  NodeId state = place.node;
  if (!place.complete) return step(state, w);
  NodeId arc = child(state, w);
  if (arc != NO_NODE) return log_max_prob[arc];
  // The terms of step() in the order of step(): rounding cannot push the bound below a value.
  double log_weight = log_max_backoff[state];
  for (state = suffix[state]; (arc = child(state, w)) == NO_NODE; state = suffix[state]) {
    log_weight += log_backoff[state];
  }
  return log_weight + log_prob[arc];
}

// --------------------------------------------------------------- building

namespace {

using Row = std::span<const WordId>;

Row row(const NgramLevel& level, std::size_t i) {
  const auto n = static_cast<std::size_t>(level.n);
  return {level.words.data() + i * n, n};
}

bool less(Row a, Row b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

bool equal(Row a, Row b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

bool is_sorted(const NgramLevel& level) {
  for (std::size_t i = 1; i < level.size(); ++i) {
    check_interrupt_at(i);
    if (!less(row(level, i - 1), row(level, i))) return false;
  }
  return true;
}

// The rows' lexicographic order: a stable counting sort per column, last first.
std::vector<std::uint32_t> lexicographic_order(const NgramLevel& level, WordId num_words) {
  const auto n = static_cast<std::size_t>(level.n);
  std::vector<std::uint32_t> order(level.size()), next(level.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::uint32_t> begin(num_words);
  for (std::size_t column = n; column-- > 0;) {
    std::fill(begin.begin(), begin.end(), 0);
    for (std::size_t i = 0; i < level.size(); ++i) {
      check_interrupt_at(i);
      ++begin[level.words[i * n + column]];
    }
    std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), 0u);
    for (std::size_t k = 0; k < order.size(); ++k) {
      check_interrupt_at(k);
      next[begin[level.words[order[k] * n + column]]++] = order[k];
    }
    order.swap(next);
  }
  return order;
}

void sort_rows(NgramLevel& level, WordId num_words) {
  if (is_sorted(level)) return;
  const std::vector<std::uint32_t> order = lexicographic_order(level, num_words);
  for (std::size_t i = 1; i < order.size(); ++i) {
    check_interrupt_at(i);
    if (equal(row(level, order[i - 1]), row(level, order[i]))) {
      throw DuplicateNgram{level.n, order[i]};
    }
  }
  const auto n = static_cast<std::size_t>(level.n);
  std::vector<WordId> words(level.words.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    check_interrupt_at(i);
    std::memcpy(words.data() + i * n, level.words.data() + order[i] * n, n * sizeof(WordId));
  }
  level.words = std::move(words);
  const auto permute = [&](std::vector<float>& column) {
    if (column.empty()) return;
    std::vector<float> sorted(column.size());
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
    column = std::move(sorted);
  };
  permute(level.log_prob);
  permute(level.log_backoff);
}

// Adds rows with probability NaN, to be filled in when the level is linked.
void insert_implied(NgramLevel& level, std::vector<WordId> rows, WordId num_words) {
  const auto n = static_cast<std::size_t>(level.n);
  NgramLevel added{level.n, std::move(rows), {}, {}};
  added.log_prob.assign(added.words.size() / n, 0.0f);
  const std::vector<std::uint32_t> order = lexicographic_order(added, num_words);
  level.log_backoff.resize(level.size(), 0.0f);
  for (std::size_t i = 0; i < order.size(); ++i) {
    check_interrupt_at(i);
    const Row words = row(added, order[i]);
    if (i > 0 && equal(row(added, order[i - 1]), words)) continue;
    level.words.insert(level.words.end(), words.begin(), words.end());
    level.log_prob.push_back(std::numeric_limits<float>::quiet_NaN());
    level.log_backoff.push_back(0.0f);
  }
  sort_rows(level, num_words);
}

class Linker {
 public:
  Linker(NgramTable& table, std::vector<NgramLevel>& levels) : table_(table), levels_(levels) {}

  void run() {
    while (!link_all()) {
    }
  }

 private:
  std::size_t count() const {
    std::size_t total = 0;
    for (const NgramLevel& level : levels_) total += level.size();
    return total;
  }

  // False if implied n-grams had to be inserted first.
  bool link_all() {
    allocate();
    link_unigrams();
    for (int n = 2; n <= table_.order; ++n) {
      if (!link_level(n)) return false;
    }
    return true;
  }

  void allocate() {
    const std::size_t nodes = 1 + count();
    if (nodes >= NO_NODE) throw ModelError("the model has more than 4 billion n-grams");
    table_.level_begin.assign(1, 0);
    NodeId next = 1;
    for (const NgramLevel& level : levels_) {
      table_.level_begin.push_back(next);
      next += static_cast<NodeId>(level.size());
    }
    table_.level_begin.push_back(next);
    assign_large(table_.word, nodes, NO_WORD);
    assign_large(table_.log_prob, nodes, 0.0f);
    assign_large(table_.suffix, nodes, ROOT);
    assign_large(table_.log_backoff, table_.num_contexts(), 0.0f);
    assign_large(table_.first_child, table_.num_contexts() + std::size_t{1}, next);
    table_.first_child[ROOT] = 1;
    table_.implied = {};
  }

  void link_unigrams() {
    const NgramLevel& level = levels_[0];
    for (WordId w = 0; w < level.size(); ++w) {
      table_.word[1 + w] = w;
      set_weights(level, w, 1 + w);
    }
  }

  void set_weights(const NgramLevel& level, std::size_t i, NodeId node) {
    table_.log_prob[node] = level.log_prob[i];
    if (node < table_.num_contexts() && !level.log_backoff.empty()) {
      table_.log_backoff[node] = level.log_backoff[i];
    }
  }

  bool link_level(int n) {
    const NgramLevel& level = levels_[n - 1];
    const NgramLevel& contexts = levels_[n - 2];
    std::vector<WordId> missing;
    std::size_t parent = 0;
    NodeId opened = table_.level_begin[n - 1];  // first context whose children are not begun
    for (std::size_t i = 0; i < level.size(); ++i) {
      check_interrupt_at(i);
      const Row words = row(level, i);
      const Row context = words.first(n - 1);
      while (parent < contexts.size() && less(row(contexts, parent), context)) ++parent;
      if (parent == contexts.size() || !equal(row(contexts, parent), context)) {
        missing.insert(missing.end(), context.begin(), context.end());
        continue;
      }
      const NodeId node = table_.level_begin[n] + static_cast<NodeId>(i);
      const NodeId parent_node = table_.level_begin[n - 1] + static_cast<NodeId>(parent);
      while (opened <= parent_node) table_.first_child[opened++] = node;
      if (!link_node(node, parent_node, level, i)) {
        missing.insert(missing.end(), words.begin() + 1, words.end());
      }
    }
    if (!missing.empty()) {
      insert_implied(levels_[n - 2], std::move(missing), table_.vocabulary.size());
      return false;
    }
    while (opened < table_.level_begin[n]) table_.first_child[opened++] = table_.level_begin[n + 1];
    return true;
  }

  // False if the n-gram's suffix is not listed.
  bool link_node(NodeId node, NodeId parent, const NgramLevel& level, std::size_t i) {
    const WordId w = row(level, i).back();
    const NodeId suffix = table_.child(table_.suffix[parent], w);
    if (suffix == NO_NODE) return false;
    table_.word[node] = w;
    table_.suffix[node] = suffix;
    set_weights(level, i, node);
    if (std::isnan(table_.log_prob[node])) {
      table_.log_prob[node] = inserted_log_prob(table_.log_backoff[parent], table_.log_prob[suffix]);
      table_.implied.push_back(node);
    }
    return true;
  }

  static float inserted_log_prob(float log_backoff, float log_prob) {
    const float sum = log_backoff + log_prob;
    if (std::isinf(sum) && !std::isinf(log_backoff) && !std::isinf(log_prob)) {
      throw ModelError("the back-off weights and probabilities are too small to be added");
    }
    return sum;
  }

  NgramTable& table_;
  std::vector<NgramLevel>& levels_;
};

// --------------------------------------------------------- the max columns

class MaxBackoff {
 public:
  explicit MaxBackoff(NgramTable& table) : table_(table) { find_sentence_starts(); }

  void run() {
    table_.log_max_backoff = table_.log_backoff;
    gain_.assign(table_.num_contexts(), 0.0f);
    for (int k = table_.order - 1; k >= 1; --k) max_backoffs_of_level(k);
    table_.log_max_backoff[ROOT] = gain_[ROOT];
    std::size_t compared = 0;
    std::sort(extensions_.begin(), extensions_.end(), [&](const Extension& a, const Extension& b) {
      check_interrupt_at(compared++);
      return a < b;
    });
    table_.log_max_prob = table_.log_prob;
    for (int n = table_.order; n >= 1; --n) max_probs_of_level(n);
  }

 private:
  // A left extension whose weight exceeds 1, the heaviest of a context first.
  struct Extension {
    NodeId context;
    float log_max_backoff;
    NodeId extended;
    bool operator<(const Extension& o) const {
      if (context != o.context) return context < o.context;
      if (log_max_backoff != o.log_max_backoff) return log_max_backoff > o.log_max_backoff;
      return extended < o.extended;
    }
  };

  // Contexts that start with <s> are a range on each level.
  void find_sentence_starts() {
    NodeId first = 1 + SENTENCE_BEGIN, last = first + 1;
    starts_.assign(table_.order + 1, {0, 0});
    for (int n = 1; n <= table_.order; ++n) {
      starts_[n] = {first, last};
      if (n < table_.order) first = table_.first_child[first], last = table_.first_child[last];
    }
  }
  bool starts_sentence(NodeId node, int n) const {
    return node >= starts_[n].first && node < starts_[n].second;
  }

  void max_backoffs_of_level(int k) {
    for (NodeId c = table_.level_begin[k]; c < table_.level_begin[k + 1]; ++c) {
      check_interrupt_at(c);
      const float mb = round_up(double{table_.log_backoff[c]} + gain_[c]);
      table_.log_max_backoff[c] = mb;
      const NodeId s = table_.suffix[c];
      if (mb <= 0.0f || starts_sentence(s, k - 1)) continue;
      gain_[s] = std::max(gain_[s], mb);
      extensions_.push_back({s, mb, c});
    }
  }

  void max_probs_of_level(int n) {
    for (NodeId s = table_.level_begin[n - 1]; s < table_.level_begin[n]; ++s) {
      check_interrupt_at(s);
      for (NodeId a = table_.first_child[s]; a < table_.first_child[s + 1]; ++a) {
        check_interrupt_at(a);
        float& mf = table_.log_max_prob[a];
        if (gain_[s] > 0.0f) {
          mf = std::max(mf, round_up(double{table_.log_prob[a]} + gain(s, table_.word[a])));
        }
        const NodeId shorter = table_.suffix[a];
        if (n > 1 && !starts_sentence(shorter, n - 1)) {
          table_.log_max_prob[shorter] = std::max(table_.log_max_prob[shorter], mf);
        }
      }
    }
  }

  // max(0, max over left extensions of s that do not list w of ln mb).
  float gain(NodeId s, WordId w) const {
    auto e = std::lower_bound(extensions_.begin(), extensions_.end(), Extension{
        s, std::numeric_limits<float>::infinity(), 0});
    for (; e != extensions_.end() && e->context == s; ++e) {
      if (table_.child(e->extended, w) == NO_NODE) return e->log_max_backoff;
    }
    return 0.0f;
  }

  NgramTable& table_;
  std::vector<std::pair<NodeId, NodeId>> starts_;
  std::vector<float> gain_;  // ln max(1, max over left extensions of mb)
  std::vector<Extension> extensions_;
};

// An empty order at the top gives the back-off weights below it their effect: one is enough, and where all of
// them are 1, none is needed.
void drop_empty_orders(std::vector<NgramLevel>& levels) {
  const auto has_weights = [](const NgramLevel& level) {
    return std::any_of(level.log_backoff.begin(), level.log_backoff.end(), [](float b) { return b != 0.0f; });
  };
  while (levels.size() > 1 && levels.back().size() == 0 && !has_weights(levels[levels.size() - 2])) levels.pop_back();
}

}  // namespace

void fill_max_columns(NgramTable& table) { MaxBackoff(table).run(); }

void TableBuilder::add(NgramLevel level) {
  const WordId num_words = table_.vocabulary.size();
  levels_.push_back(std::async(
      std::launch::async,
      [num_words, call = Call::current()](NgramLevel rows) {
        const Call::Help help(call);
        const auto n = static_cast<std::size_t>(rows.n);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          if (rows.words[i * n + n - 1] == SENTENCE_BEGIN) rows.log_prob[i] = -INFINITY;
        }
        if (rows.n > 1) sort_rows(rows, num_words);
        return rows;
      },
      std::move(level)));
}

NgramTable TableBuilder::finish() {
  std::vector<NgramLevel> levels;
  for (std::future<NgramLevel>& level : levels_) {
    while (level.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) check_interrupt();
    levels.push_back(level.get());
  }
  drop_empty_orders(levels);
  table_.order = static_cast<int>(levels.size());
  Linker(table_, levels).run();
  levels.clear();
  fill_max_columns(table_);
  return std::move(table_);
}

}  // namespace hiddenite::lm
