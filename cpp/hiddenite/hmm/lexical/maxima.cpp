#include "hiddenite/hmm/lexical/maxima.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/lexical/backward_kernels.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t MOST_SLICES = 4;
constexpr std::size_t CONTEXTS_AT_ONCE = 1024;

}  // namespace

// ------------------------------------------------------------------ preparation

LexicalMaxima::LexicalMaxima(const LexicalHmm& model)
    : model_(model), tuple_of_(model.num_states(), 0), entry_begin_(std::size_t{model.num_words()} + 1, 0),
      longer_begin_(std::size_t{model.contexts.size()} + 1, 0) {
  list_tuples();
  list_entries();
  const ContextTree& tree = model.contexts;
  for (ContextId x = 0; x < tree.size(); ++x) {
    if (tree.suffix(x) != NO_CONTEXT) ++longer_begin_[tree.suffix(x) + 1];
  }
  std::partial_sum(longer_begin_.begin(), longer_begin_.end(), longer_begin_.begin());
  longer_.resize(longer_begin_.back());
  std::vector<std::uint64_t> next(longer_begin_.begin(), longer_begin_.end() - 1);
  for (ContextId x = 0; x < tree.size(); ++x) {
    if (tree.suffix(x) != NO_CONTEXT) longer_[next[tree.suffix(x)]++] = x;
  }
}

void LexicalMaxima::list_tuples() {
  const std::size_t chains = model_.num_chains();
  std::vector<std::uint32_t> rows(model_.num_states() * chains, 0);
  for (ContextId x = 0; x < model_.contexts.size(); ++x) {
    for (std::uint32_t i = 0; i < model_.states_of(x); ++i) {
      for (std::size_t m = 0; m < chains; ++m) {
        const SparseHmm& chain = model_.chains[m];
        rows[(model_.state_begin[x] + i) * chains + m] =
            x == SENTENCE_BEGIN ? chain.num_states()
                                : chain.group_begin[chain.word_group[model_.contexts.last(x)]] + model_.place(x, i)[m];
      }
    }
  }
  std::vector<std::uint64_t> order(model_.num_states());
  std::iota(order.begin(), order.end(), 0u);
  const auto row = [&](std::uint64_t s) { return rows.begin() + static_cast<std::ptrdiff_t>(s * chains); };
  const auto size = static_cast<std::ptrdiff_t>(chains);
  std::sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
    return std::lexicographical_compare(row(a), row(a) + size, row(b), row(b) + size);
  });
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || !std::equal(row(order[k]), row(order[k]) + size, row(order[k - 1]))) {
      tuples_.insert(tuples_.end(), row(order[k]), row(order[k]) + size);
      ++num_tuples_;
    }
    tuple_of_[order[k]] = static_cast<std::uint32_t>(num_tuples_ - 1);
  }
}

void LexicalMaxima::list_entries() {
  const ContextTree& tree = model_.contexts;
  const LexicalTable& table = model_.table;
  std::vector<std::pair<WordId, Entry>> all;
  for (ContextId x = 0; x < tree.size(); ++x) {
    for (std::uint64_t i = table.begin[x]; i < table.begin[x + 1]; ++i) {
      all.push_back({table.word[i], {x, tree.find(x, table.word[i]), static_cast<double>(table.probability[i])}});
    }
  }
  for (ContextId y = tree.num_words(); y < tree.size(); ++y) {
    const ContextId x = tree.prefix(y);
    const auto first = table.word.begin() + static_cast<std::ptrdiff_t>(table.begin[x]);
    const auto last = table.word.begin() + static_cast<std::ptrdiff_t>(table.begin[x + 1]);
    if (!std::binary_search(first, last, tree.last(y))) all.push_back({tree.last(y), {x, y, 0.0}});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [w, entry] : all) {
    entries_.push_back(entry);
    ++entry_begin_[w + 1];
  }
  std::partial_sum(entry_begin_.begin(), entry_begin_.end(), entry_begin_.begin());
}

// ------------------------------------------------------------------------- step

// Some of the words, and what they are worth to all states.
class LexicalMaxima::Slice {
 public:
  Slice(const LexicalMaxima& maxima, const Tile& tile)
      : maxima_(maxima), model_(maxima.model_), tile_(tile), chains_(model_.num_chains()), product_(chains_),
        sum_(chains_), most_(chains_), size_(chains_), entry_of_(model_.contexts.size(), nullptr),
        top_(maxima.num_tuples_ * COLUMNS), best_(model_.num_states(), Values{}),
        least_(model_.contexts.size(), Values{}) {}

  void add(WordId w) {
    open(w);
    for (std::uint32_t d = 0; d < maxima_.num_tuples_; ++d) offer(w, d);
    const auto *const first = maxima_.entries_.data() + maxima_.entry_begin_[w],
               *const last = maxima_.entries_.data() + maxima_.entry_begin_[w + 1];
    for (const Entry* entry = first; entry != last; ++entry) entry_of_[entry->context] = entry;
    for (const Entry* entry = first; entry != last; ++entry) {
      if (!is_below(entry->context)) try_contexts(entry->context, 0.0, w);
    }
    for (const Entry* entry = first; entry != last; ++entry) entry_of_[entry->context] = nullptr;
  }

  void merge(const Slice& other) {
    for (std::size_t i = 0; i < top_.size(); ++i) {
      for (const Candidate& candidate : other.top_[i]) insert(top_[i], candidate);
    }
    for (std::size_t s = 0; s < best_.size(); ++s) {
      for (std::size_t c = 0; c < COLUMNS; ++c) best_[s][c] = std::max(best_[s][c], other.best_[s][c]);
    }
  }

  const TopWords& top(std::uint32_t tuple, std::size_t column) const { return top_[tuple * COLUMNS + column]; }
  const Values& best(std::uint64_t state) const { return best_[state]; }

 private:
  // A E of all rows, and their sums.
  void open(WordId w) {
    for (std::size_t m = 0; m < chains_; ++m) {
      const SparseHmm& chain = model_.chains[m];
      const std::uint32_t h = chain.word_group[w], size = size_[m] = chain.group_size(h), states = chain.num_states();
      const double* const emission = chain.emissions(w).data();
      product_[m].resize((std::size_t{states} + 1) * size);
      sum_[m].resize(std::size_t{states} + 1);
      std::size_t r = 0;
      const auto multiply = [&](const float* row) {
        sum_[m][r] = multiply_row(row, emission, size, product_[m].data() + r * size);
        ++r;
      };
      most_[m].assign(chain.num_groups(), 0.0);
      for (std::uint32_t g = 0; g < chain.num_groups(); ++g) {
        for (std::size_t i = 0; i < chain.group_size(g); ++i) {
          multiply(chain.block_of(g, h) + i * size);
          most_[m][g] = std::max(most_[m][g], sum_[m][r - 1]);
        }
      }
      multiply(model_.first[m].data() + chain.group_begin[h]);
      meter_.add(product_[m].size());
    }
  }

  const std::uint32_t* rows(std::uint32_t tuple) const { return maxima_.tuples_.data() + tuple * chains_; }

  double hidden(std::uint32_t tuple) const {
    double result = 0.0;
    for (std::size_t m = 0; m < chains_; ++m) result += model_.chain_weight[m] * sum_[m][rows(tuple)[m]];
    return result;
  }

  // What hidden() of a context's states does not exceed.
  double most_hidden(ContextId x) const {
    double result = 0.0;
    for (std::size_t m = 0; m < chains_; ++m) {
      const SparseHmm& chain = model_.chains[m];
      const double most = x == SENTENCE_BEGIN ? sum_[m][chain.num_states()]
                                              : most_[m][chain.word_group[model_.contexts.last(x)]];
      result += model_.chain_weight[m] * most;
    }
    return result;
  }

  bool could_gain(double p, ContextId to, const Values& least) const {
    const Values& most = tile_.most[to];
    bool result = false;
    for (std::size_t c = 0; c < COLUMNS; ++c) result |= p * most[c] > least[c];
    return result;
  }

  // M(tuple, w, to).
  Values enter(std::uint32_t tuple, ContextId to) {
    const std::size_t n = model_.states_of(to);
    if (n == 1) return tile_.most[to];
    const std::uint16_t* const places = model_.place(to, 0);
    entering_.assign(n, 1.0);
    meter_.add(n * (chains_ + COLUMNS));
    for (std::size_t m = 0; m < chains_; ++m) {
      const std::uint32_t r = rows(tuple)[m];
      const double factor = sum_[m][r] > 0.0 ? 1.0 / sum_[m][r] : 0.0;
      const double* const product = product_[m].data() + std::size_t{r} * size_[m];
      for (std::size_t j = 0; j < n; ++j) entering_[j] *= factor * product[places[chains_ * j + m]];
    }
    double sum = 0.0;
    for (const double x : entering_) sum += x;
    const double share = sum > 0.0 ? 1.0 / sum : 1.0 / static_cast<double>(n);
    if (!(sum > 0.0)) std::fill(entering_.begin(), entering_.end(), 1.0);
    Values result{};
    const double* const ahead = tile_.ahead + model_.state_begin[to] * tile_.width + tile_.first;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t c = 0; c < COLUMNS; ++c) {
        result[c] = std::max(result[c], entering_[j] * ahead[j * tile_.width + c]);
      }
    }
    for (double& x : result) x *= share;
    return result;
  }

  // The word for all contexts to which it is like any other.
  void offer(WordId w, std::uint32_t tuple) {
    const double a = hidden(tuple);
    TopWords* const top = top_.data() + std::size_t{tuple} * COLUMNS;
    Values least;
    for (std::size_t c = 0; c < COLUMNS; ++c) least[c] = top[c].back().value;
    if (!could_gain(a, w, least)) return;
    const Values values = enter(tuple, w);
    for (std::size_t c = 0; c < COLUMNS; ++c) insert(top[c], {a * values[c], w});
  }

  static void insert(TopWords& top, Candidate candidate) {
    if (!(candidate.value > top.back().value)) return;
    for (Candidate& other : top) {
      if (candidate.value > other.value) std::swap(candidate, other);
    }
  }

  bool is_below(ContextId x) const {
    for (x = model_.contexts.suffix(x); x != NO_CONTEXT; x = model_.contexts.suffix(x)) {
      if (entry_of_[x] != nullptr) return true;
    }
    return false;
  }

  // The word after x and after all contexts that end in x; `listed` and `to` are those of x's suffix.
  void try_contexts(ContextId x, double listed, ContextId to) {
    const Entry* const entry = entry_of_[x];
    listed *= model_.table.is_listed(x) ? static_cast<double>(model_.table.back_off[x]) : 1.0;
    if (entry != nullptr) listed += entry->listed;
    if (entry != nullptr && entry->child != NO_CONTEXT) to = entry->child;
    const double lexical = static_cast<double>(model_.lexical_weight[x]) * listed, gamma = model_.gamma[x];
    meter_.add(1);
    if (could_gain(lexical + gamma * most_hidden(x), to, least_[x])) try_states(x, lexical, gamma, to);
    for (std::uint64_t i = maxima_.longer_begin_[x]; i < maxima_.longer_begin_[x + 1]; ++i) {
      try_contexts(maxima_.longer_[i], listed, to);
    }
  }

  void try_states(ContextId x, double lexical, double gamma, ContextId to) {
    meter_.add(model_.states_of(x));
    Values least;
    least.fill(std::numeric_limits<double>::infinity());
    for (std::uint64_t s = model_.state_begin[x]; s < model_.state_begin[x + 1]; ++s) {
      const std::uint32_t tuple = maxima_.tuple_of_[s];
      const double p = lexical + gamma * hidden(tuple);
      if (could_gain(p, to, best_[s])) {
        const Values values = enter(tuple, to);
        for (std::size_t c = 0; c < COLUMNS; ++c) best_[s][c] = std::max(best_[s][c], p * values[c]);
      }
      for (std::size_t c = 0; c < COLUMNS; ++c) least[c] = std::min(least[c], best_[s][c]);
    }
    least_[x] = least;
  }

  const LexicalMaxima& maxima_;
  const LexicalHmm& model_;
  const Tile& tile_;
  std::size_t chains_;
  std::vector<std::vector<double>> product_, sum_;  // [m][row * size + j]: A E of the open word; [m][row]: a
  std::vector<std::vector<double>> most_;           // [m][group]: the largest a of its rows
  std::vector<std::uint32_t> size_;                 // [m]: of the group that is entered
  std::vector<double> entering_;
  std::vector<const Entry*> entry_of_;              // [context]: of the open word
  std::vector<TopWords> top_;                       // [tuple * COLUMNS + column]
  std::vector<Values> best_;                        // [state]: of the words of its lists and contexts
  std::vector<Values> least_;                       // [context]: of its states, a lower bound
  WorkMeter meter_;
};

// Frequent words whose states are worth most come first: later ones are seldom looked at.
std::vector<WordId> LexicalMaxima::words_in_order(const Tile& tile) const {
  std::vector<double> worth(model_.num_words(), 0.0);
  for (ContextId y = 0; y < model_.contexts.size(); ++y) {
    const WordId w = model_.contexts.last(y);
    if (!model_.emits(w) || y == SENTENCE_BEGIN) continue;
    for (const double x : tile.most[y]) worth[w] = std::max(worth[w], x);
  }
  std::vector<WordId> words;
  for (WordId w = 0; w < model_.num_words(); ++w) {
    if (worth[w] > 0.0) words.push_back(w);
    worth[w] *= static_cast<double>(entry_begin_[w + 1] - entry_begin_[w] + 1);
  }
  std::stable_sort(words.begin(), words.end(), [&](WordId a, WordId b) { return worth[a] > worth[b]; });
  return words;
}

void LexicalMaxima::try_every_word(const Tile& tile, const std::vector<WordId>& words, ContextId x, std::uint32_t i,
                                   Values& best) const {
  LexicalMove move(model_);
  for (const WordId w : words) {
    check_interrupt();
    move.open(x, w);
    const std::vector<double>& share = move.entering(i);
    const double* const ahead = tile.ahead + model_.state_begin[move.to()] * tile.width + tile.first;
    for (std::size_t j = 0; j < share.size(); ++j) {
      for (std::size_t c = 0; c < COLUMNS; ++c) {
        best[c] = std::max(best[c], move.probability(i) * share[j] * ahead[j * tile.width + c]);
      }
    }
  }
}

void LexicalMaxima::finish(const Tile& tile, const std::vector<WordId>& words, const Slice& slice, double* result,
                           int threads) const {
  const ContextTree& tree = model_.contexts;
  const auto finish_state = [&](ContextId x, std::uint32_t i) {
    const std::uint64_t s = model_.state_begin[x] + i;
    Values best = slice.best(s);
    bool is_open = false;
    for (std::size_t c = 0; c < COLUMNS; ++c) {
      const TopWords& top = slice.top(tuple_of_[s], c);
      std::size_t k = 0;
      while (k < TOP && model_.gamma[x] * top[k].value > best[c] && tree.next(x, top[k].word) != top[k].word) ++k;
      if (k < TOP) best[c] = std::max(best[c], model_.gamma[x] * top[k].value);
      is_open |= k == TOP;
    }
    if (is_open) try_every_word(tile, words, x, i, best);
    std::copy(best.begin(), best.end(), result + s * tile.width + tile.first);
  };
  parallel_for((tree.size() + CONTEXTS_AT_ONCE - 1) / CONTEXTS_AT_ONCE, threads, [&](std::size_t piece, int) {
    const auto last = std::min<std::size_t>(tree.size(), (piece + 1) * CONTEXTS_AT_ONCE);
    for (auto x = static_cast<ContextId>(piece * CONTEXTS_AT_ONCE); x < last; ++x) {
      for (std::uint32_t i = 0; i < model_.states_of(x) && x != SENTENCE_END; ++i) finish_state(x, i);
    }
  });
}

void LexicalMaxima::step_tile(const Tile& tile, double* result, int threads) const {
  const std::vector<WordId> words = words_in_order(tile);
  const std::size_t slices = std::min<std::size_t>(MOST_SLICES, static_cast<std::size_t>(resolve_threads(threads)));
  std::vector<Slice> parts(slices, Slice(*this, tile));
  parallel_for(slices, threads, [&](std::size_t part, int) {
    for (std::size_t k = part; k < words.size(); k += slices) parts[part].add(words[k]);
  });
  for (std::size_t part = 1; part < slices; ++part) parts[0].merge(parts[part]);
  finish(tile, words, parts[0], result, threads);
}

void LexicalMaxima::step(const double* ahead, std::size_t width, double* result, int threads) const {
  std::fill_n(result, model_.num_states() * width, 0.0);
  for (std::size_t first = 0; first < width; first += COLUMNS) {
    Tile tile{ahead, width, first, std::vector<Values>(model_.contexts.size(), Values{})};
    bool is_live = false;
    for (ContextId y = 0; y < model_.contexts.size(); ++y) {
      for (std::uint64_t s = model_.state_begin[y]; s < model_.state_begin[y + 1]; ++s) {
        for (std::size_t c = 0; c < COLUMNS; ++c) {
          tile.most[y][c] = std::max(tile.most[y][c], ahead[s * width + first + c]);
          is_live |= tile.most[y][c] > 0.0;
        }
      }
    }
    if (is_live) step_tile(tile, result, threads);
  }
}

}  // namespace hiddenite::hmm
