#include "hiddenite/hmm/lexical/backward.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/guide/ahead_kernels.hpp"
#include "hiddenite/hmm/lexical/backward_kernels.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t PARTS = 4;  // more would serve more threads, but each works out the rows of all other chains
constexpr std::size_t TUPLES_AT_ONCE = 64;

}  // namespace

// ------------------------------------------------------------------ preparation

LexicalBackward::LexicalBackward(const LexicalHmm& model)
    : model_(model), is_linear_(model.num_words(), true), state_tuple_(model.num_states(), 0),
      child_begin_(std::size_t{model.contexts.size()} + 1, 0), parts_(PARTS) {
  const ContextTree& tree = model.contexts;
  for (WordId w = 0; w < model.num_words(); ++w) {
    if (!model.emits(w) || model.states_of(w) == 1) continue;
    is_linear_[w] = model.num_chains() == 1 && model.states_of(w) == model.chains[0].set(w).size;
  }
  for (ContextId y = tree.num_words(); y < tree.size(); ++y) ++child_begin_[tree.prefix(y) + 1];
  std::partial_sum(child_begin_.begin(), child_begin_.end(), child_begin_.begin());
  child_.resize(child_begin_.back());
  std::vector<std::uint64_t> next(child_begin_.begin(), child_begin_.end() - 1);
  for (ContextId y = tree.num_words(); y < tree.size(); ++y) child_[next[tree.prefix(y)]++] = y;
  const std::vector<std::uint32_t> place = deal_contexts();
  for (Part& part : parts_) {
    check_interrupt();
    list_tuples(part);
    list_uses(part, place);
  }
}

// Groups of the first chain go to the part that has fewest states so far, <s> to the first. Returns each context's
// place in its part.
std::vector<std::uint32_t> LexicalBackward::deal_contexts() {
  const ContextTree& tree = model_.contexts;
  const SparseHmm& chain = model_.chains[0];
  const auto group_of = [&](ContextId x) { return x == SENTENCE_BEGIN ? 0 : chain.word_group[tree.last(x)]; };
  const auto is_asked = [&](ContextId x) { return x != SENTENCE_END && model_.states_of(x) > 0; };
  std::vector<std::uint64_t> size(chain.num_groups(), 0), load(PARTS, 0);
  for (ContextId x = 0; x < tree.size(); ++x) {
    if (is_asked(x)) size[group_of(x)] += model_.states_of(x);
  }
  std::vector<std::uint32_t> order(size.size()), part_of(size.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size[a] > size[b]; });
  for (const std::uint32_t g : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += size[g];
    part_of[g] = static_cast<std::uint32_t>(least - load.begin());
  }
  std::vector<std::uint32_t> place(tree.size(), 0);
  for (std::uint32_t length = 1; length <= MOST_CONTEXT_WORDS; ++length) {
    for (ContextId x = 0; x < tree.size(); ++x) {
      if (!is_asked(x) || tree.length(x) != length) continue;
      Part& part = parts_[part_of[group_of(x)]];
      place[x] = static_cast<std::uint32_t>(part.contexts.size());
      part.contexts.push_back(x);
    }
  }
  return place;
}

// The tuples of a context are those of its states and of all contexts of which it is a suffix.
void LexicalBackward::list_tuples(Part& part) {
  const ContextTree& tree = model_.contexts;
  const std::size_t chains = model_.num_chains();
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>> known_rows(chains);
  part.rows.resize(chains);
  const auto tuple_of = [&](ContextId x, std::uint32_t i) {
    std::vector<std::uint32_t> key(chains);
    for (std::size_t m = 0; m < chains; ++m) {
      const std::uint32_t group = x == SENTENCE_BEGIN ? NO_GROUP : model_.chains[m].word_group[tree.last(x)];
      const Row row{group, model_.place(x, i)[m]};
      const auto [found, is_new] =
          known_rows[m].emplace(std::pair(row.group, row.place), static_cast<std::uint32_t>(part.rows[m].size()));
      if (is_new) part.rows[m].push_back(row);
      key[m] = found->second;
    }
    const auto [found, is_new] = known.emplace(key, static_cast<std::uint32_t>(known.size()));
    if (is_new) part.tuples.insert(part.tuples.end(), key.begin(), key.end());
    return found->second;
  };
  std::map<ContextId, std::vector<std::uint32_t>> needed;
  for (std::size_t k = part.contexts.size(); k-- > 0;) {  // long ones first
    const ContextId x = part.contexts[k];
    std::vector<std::uint32_t>& list = needed[x];
    for (std::uint32_t i = 0; i < model_.states_of(x); ++i) list.push_back(tuple_of(x, i));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    const ContextId shorter = tree.suffix(x);
    if (shorter == NO_CONTEXT) continue;
    std::vector<std::uint32_t>& above = needed[shorter];
    above.insert(above.end(), list.begin(), list.end());
  }
  std::map<ContextId, std::uint64_t> begin_of;
  part.begin.assign(1, 0);
  for (const ContextId x : part.contexts) {
    const std::vector<std::uint32_t>& list = needed[x];
    const ContextId shorter = tree.suffix(x);
    begin_of[x] = part.begin.back();
    const auto find = [&](ContextId context, std::uint32_t tuple) {
      const std::vector<std::uint32_t>& in = needed[context];
      return begin_of[context] +
             static_cast<std::uint64_t>(std::lower_bound(in.begin(), in.end(), tuple) - in.begin());
    };
    for (const std::uint32_t tuple : list) {
      part.tuple.push_back(tuple);
      part.above.push_back(shorter == NO_CONTEXT ? 0 : find(shorter, tuple));
    }
    for (std::uint32_t i = 0; i < model_.states_of(x); ++i) {
      state_tuple_[model_.state_begin[x] + i] = find(x, tuple_of(x, i));
    }
    part.begin.push_back(part.tuple.size());
  }
}

void LexicalBackward::list_uses(Part& part, const std::vector<std::uint32_t>& place) {
  const ContextTree& tree = model_.contexts;
  const LexicalTable& table = model_.table;
  std::vector<std::pair<WordId, Use>> all;
  const auto add = [&](ContextId x, WordId w, ContextId to, double hidden, double lexical) {
    if (model_.emits(w)) all.push_back({w, {place[x], to, hidden, lexical}});
  };
  for (const ContextId x : part.contexts) {
    const ContextId suffix = tree.suffix(x);
    for (std::uint64_t i = child_begin_[x]; i < child_begin_[x + 1]; ++i) {
      const WordId w = tree.last(child_[i]);
      const double listed = suffix == NO_CONTEXT ? 0.0 : table.share(tree, suffix, w).listed;
      const double lexical = static_cast<double>(table.back_off[x]) * listed;
      add(x, w, child_[i], 1.0, lexical);
      add(x, w, suffix == NO_CONTEXT ? w : tree.next(suffix, w), -1.0, -lexical);
    }
    for (std::uint64_t i = table.begin[x]; i < table.begin[x + 1]; ++i) {
      const WordId w = table.word[i];
      add(x, w, tree.next(x, w), 0.0, static_cast<double>(table.probability[i]));
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first, a.second.context, a.second.to) < std::tuple(b.first, b.second.context, b.second.to);
  });
  part.use_begin.assign(std::size_t{model_.num_words()} + 1, 0);
  part.needs_rows.assign(model_.num_words(), false);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [w, use] = all[i];
    if (!is_linear_[w] || use.hidden != 0.0 || model_.states_of(use.to) > 1) part.needs_rows[w] = true;
    if (i > 0 && all[i - 1].first == w && part.uses.back().context == use.context && part.uses.back().to == use.to) {
      part.uses.back().hidden += use.hidden;
      part.uses.back().lexical += use.lexical;
      continue;
    }
    part.uses.push_back(use);
    ++part.use_begin[w + 1];
  }
  for (WordId w = 0; w < model_.num_words(); ++w) {
    if (!is_linear_[w]) part.needs_rows[w] = true;
  }
  std::partial_sum(part.use_begin.begin(), part.use_begin.end(), part.use_begin.begin());
}

// ------------------------------------------------------------------------- step

// What a word does to the tuples of a part.
class LexicalBackward::Mover {
 public:
  Mover(const LexicalHmm& model, const Part& part, const double* ahead, std::size_t width)
      : model_(model), part_(part), ahead_(ahead), width_(width), chains_(model.num_chains()), product_(chains_),
        sum_(chains_), size_(chains_) {}

  void open(WordId w) {
    for (std::size_t m = 0; m < chains_; ++m) {
      const SparseHmm& chain = model_.chains[m];
      const std::uint32_t h = chain.word_group[w], size = size_[m] = chain.group_size(h);
      const std::span<const double> emission = chain.emissions(w);
      product_[m].resize(part_.rows[m].size() * size);
      sum_[m].resize(part_.rows[m].size());
      for (std::size_t r = 0; r < part_.rows[m].size(); ++r) {
        const Row row = part_.rows[m][r];
        const float* const from = row.group == NO_GROUP
                                      ? model_.first[m].data() + chain.group_begin[h]
                                      : chain.block_of(row.group, h) + std::size_t{row.place} * size;
        sum_[m][r] = multiply_row(from, emission.data(), size, product_[m].data() + r * size);
      }
      meter_.add(product_[m].size());
    }
  }

  // sum_m weight_m a_m(z_m, w)
  double hidden(std::uint32_t tuple) const {
    double result = 0.0;
    for (std::size_t m = 0; m < chains_; ++m) {
      result += model_.chain_weight[m] * sum_[m][part_.tuples[tuple * chains_ + m]];
    }
    return result;
  }

  // values[i * width + column] = V(tuples[i], w, to)
  void enter(const std::uint32_t* tuples, std::size_t count, ContextId to, double* values) {
    const std::size_t n = model_.states_of(to);
    const double* const ahead = ahead_ + model_.state_begin[to] * width_;
    if (n == 1) {
      for (std::size_t i = 0; i < count; ++i) std::copy_n(ahead, width_, values + i * width_);
      return;
    }
    std::fill_n(values, count * width_, 0.0);
    entering_.resize(TUPLES_AT_ONCE * n);
    for (std::size_t begin = 0; begin < count; begin += TUPLES_AT_ONCE) {
      const std::size_t rows = std::min(TUPLES_AT_ONCE, count - begin);
      for (std::size_t i = 0; i < rows; ++i) entering(tuples[begin + i], to, entering_.data() + i * n);
      add_rows_times_columns(entering_.data(), rows, n, ahead, width_, values + begin * width_);
      meter_.add(rows * n * (width_ + chains_));
    }
  }

  // The same for every tuple and context (w), the open word; base += (weighted a) values.
  void enter_all(WordId w, double* values, double* base) {
    const std::size_t tuples = part_.num_tuples(chains_);
    if (chains_ == 2) {
      gather(w);
      const EnteredPairs entered{{gathered_[0].data(), gathered_[1].data()},
                                 {sum_[0].data(), sum_[1].data()},
                                 {model_.chain_weight[0], model_.chain_weight[1]},
                                 part_.tuples.data(),
                                 tuples,
                                 model_.states_of(w)};
      enter_pairs(entered, ahead_ + model_.state_begin[w] * width_, width_, values, base);
      meter_.add(tuples * entered.n * (width_ + chains_));
      return;
    }
    every_.resize(tuples);
    std::iota(every_.begin(), every_.end(), 0u);
    enter(every_.data(), tuples, w, values);
    for (std::uint32_t d = 0; d < tuples; ++d) add_multiple(hidden(d), values + d * width_, width_, base + d * width_);
  }

 private:
  // Brings the numbers of the kept states of (w) together, once for each row.
  void gather(WordId w) {
    const std::size_t n = model_.states_of(w);
    const std::uint16_t* const places = model_.place(w, 0);
    for (std::size_t m = 0; m < chains_; ++m) {
      gathered_[m].resize(part_.rows[m].size() * n);
      for (std::size_t r = 0; r < part_.rows[m].size(); ++r) {
        const double factor = sum_[m][r] > 0.0 ? 1.0 / sum_[m][r] : 0.0;  // keeps small numbers from vanishing
        const double* const product = product_[m].data() + r * size_[m];
        for (std::size_t j = 0; j < n; ++j) gathered_[m][r * n + j] = factor * product[places[chains_ * j + m]];
      }
    }
  }

  // R(. | tuple, w) over the states of `to`.
  void entering(std::uint32_t tuple, ContextId to, double* out) const {
    const std::size_t n = model_.states_of(to);
    const std::uint32_t* const rows = part_.tuples.data() + tuple * chains_;
    const std::uint16_t* const places = model_.place(to, 0);
    double sum = 0.0;
    std::fill_n(out, n, 1.0);
    for (std::size_t m = 0; m < chains_; ++m) {
      const double scale = sum_[m][rows[m]], factor = scale > 0.0 ? 1.0 / scale : 0.0;
      const double* const product = product_[m].data() + std::size_t{rows[m]} * size_[m];
      for (std::size_t j = 0; j < n; ++j) out[j] *= factor * product[places[chains_ * j + m]];
    }
    for (std::size_t j = 0; j < n; ++j) sum += out[j];
    if (!(sum > 0.0)) {
      std::fill_n(out, n, 1.0 / static_cast<double>(n));
      return;
    }
    const double share = 1.0 / sum;
    for (std::size_t j = 0; j < n; ++j) out[j] *= share;
  }

  const LexicalHmm& model_;
  const Part& part_;
  const double* ahead_;
  std::size_t width_, chains_;
  std::vector<std::vector<double>> product_;  // [m][row * size + j]: A E of the open word
  std::vector<std::vector<double>> sum_;      // [m][row]: a
  std::vector<std::uint32_t> size_;           // [m]: of the group that is entered
  std::vector<double> gathered_[2], entering_;
  std::vector<std::uint32_t> every_;
  WorkMeter meter_;
};

// The sums over linear words, [m][state * width + column]; behind the last state, that of <s>.
LexicalBackward::Shared LexicalBackward::linear_words(const double* ahead, std::size_t width,
                                                      const std::vector<bool>& is_live, int threads) const {
  Shared result(model_.num_chains());
  for (std::size_t m = 0; m < result.size(); ++m) {
    const SparseHmm& chain = model_.chains[m];
    const std::size_t states = chain.num_states();
    std::vector<double> emitted(states * width, 0.0);
    for (WordId w = 0; w < model_.num_words(); ++w) {
      if (!model_.emits(w) || !is_linear_[w] || !is_live[w]) continue;
      const std::span<const double> emission = chain.emissions(w);
      const double* const from = ahead + model_.state_begin[w] * width;
      double* const to = emitted.data() + chain.group_begin[chain.word_group[w]] * width;
      if (model_.states_of(w) == 1) {
        for (std::size_t j = 0; j < emission.size(); ++j) add_multiple(emission[j], from, width, to + j * width);
      } else {
        for (std::uint32_t i = 0; i < model_.states_of(w); ++i) {
          const std::uint32_t j = model_.place(w, i)[0];
          add_multiple(emission[j], from + i * width, width, to + j * width);
        }
      }
    }
    std::vector<double>& moved = result[m];
    moved.assign((states + 1) * width, 0.0);
    parallel_for(chain.num_groups(), threads, [&](std::size_t g, int) {
      const auto group = static_cast<std::uint32_t>(g);
      for (std::uint32_t h = 0; h < chain.num_groups(); ++h) {
        add_block_times_columns(chain.block_of(group, h), chain.group_size(group), chain.group_size(h),
                                emitted.data() + chain.group_begin[h] * width, width,
                                moved.data() + chain.group_begin[group] * width);
      }
    });
    add_block_times_columns(model_.first[m].data(), 1, states, emitted.data(), width, moved.data() + states * width);
  }
  return result;
}

void LexicalBackward::step_part(const Part& part, const Shared& shared, const std::vector<bool>& is_live,
                                const double* ahead, std::size_t width, double* result) const {
  const std::size_t chains = model_.num_chains(), tuples = part.num_tuples(chains);
  std::vector<double> base(tuples * width, 0.0), hidden(part.tuple.size() * width, 0.0), lexical = hidden;
  for (std::size_t d = 0; d < tuples; ++d) {
    for (std::size_t m = 0; m < chains; ++m) {
      const Row row = part.rows[m][part.tuples[d * chains + m]];
      const SparseHmm& chain = model_.chains[m];
      const std::size_t z = row.group == NO_GROUP ? chain.num_states() : chain.group_begin[row.group] + row.place;
      add_multiple(model_.chain_weight[m], shared[m].data() + z * width, width, base.data() + d * width);
    }
  }
  Mover mover(model_, part, ahead, width);
  std::vector<double> of_all(tuples * width), values;
  for (WordId w = 0; w < model_.num_words(); ++w) {
    if (!is_live[w] || !model_.emits(w)) continue;
    if (part.needs_rows[w]) mover.open(w);
    if (!is_linear_[w]) mover.enter_all(w, of_all.data(), base.data());
    for (std::uint64_t u = part.use_begin[w]; u < part.use_begin[w + 1]; ++u) {
      const Use& use = part.uses[u];
      const std::uint64_t begin = part.begin[use.context], count = part.begin[use.context + 1] - begin;
      const bool is_known = use.to == w && !is_linear_[w];
      if (!is_known) {
        values.resize(count * width);
        mover.enter(part.tuple.data() + begin, count, use.to, values.data());
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint32_t d = part.tuple[begin + i];
        const double* const value = is_known ? of_all.data() + d * width : values.data() + i * width;
        add_multiple(use.lexical, value, width, lexical.data() + (begin + i) * width);
        if (use.hidden == 0.0) continue;
        add_multiple(use.hidden * mover.hidden(d), value, width, hidden.data() + (begin + i) * width);
      }
    }
  }
  finish_part(part, base, hidden, lexical, width, result);
}

// From short contexts to long ones: what the suffix has, then the states of the context.
void LexicalBackward::finish_part(const Part& part, const std::vector<double>& base, std::vector<double>& hidden,
                                  std::vector<double>& lexical, std::size_t width, double* result) const {
  for (std::size_t k = 0; k < part.contexts.size(); ++k) {
    const ContextId x = part.contexts[k];
    const bool is_bottom = model_.contexts.suffix(x) == NO_CONTEXT;
    for (std::uint64_t i = part.begin[k]; i < part.begin[k + 1]; ++i) {
      const double* const above = is_bottom ? base.data() + part.tuple[i] * width
                                            : hidden.data() + part.above[i] * width;
      add_multiple(1.0, above, width, hidden.data() + i * width);
      if (is_bottom) continue;
      add_multiple(static_cast<double>(model_.table.back_off[x]), lexical.data() + part.above[i] * width, width,
                   lexical.data() + i * width);
    }
    const auto lambda = static_cast<double>(model_.lexical_weight[x]);
    for (std::uint64_t s = model_.state_begin[x]; s < model_.state_begin[x + 1]; ++s) {
      const std::uint64_t from = state_tuple_[s] * width;
      for (std::size_t c = 0; c < width; ++c) {
        const double sum = lambda * lexical[from + c] + model_.gamma[x] * hidden[from + c];
        result[s * width + c] = std::max(0.0, sum);  // corrections may leave a rounding error below zero
      }
    }
  }
}

void LexicalBackward::step(const double* ahead, std::size_t width, double* result, int threads) const {
  std::fill_n(result, model_.num_states() * width, 0.0);
  std::vector<bool> is_live(model_.num_words(), false);
  for (ContextId y = 0; y < model_.contexts.size(); ++y) {
    const WordId w = model_.contexts.last(y);
    if (is_live[w]) continue;
    const double* const begin = ahead + model_.state_begin[y] * width;
    is_live[w] = std::any_of(begin, begin + model_.states_of(y) * width, [](double x) { return x > 0.0; });
  }
  const Shared shared = linear_words(ahead, width, is_live, threads);
  parallel_for(parts_.size(), threads, [&](std::size_t i, int) {
    step_part(parts_[i], shared, is_live, ahead, width, result);
  });
}

}  // namespace hiddenite::hmm
