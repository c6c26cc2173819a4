#include "hiddenite/hmm/lexical/backward.hpp"

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t CONTEXTS_AT_ONCE = 256;

}  // namespace

bool LexicalBackward::fits(const LexicalHmm& model) {
  if (model.num_chains() != 1) return false;
  for (ContextId x = 0; x < model.contexts.size(); ++x) {
    if (x == SENTENCE_BEGIN || x == SENTENCE_END || !model.emits(model.contexts.last(x))) continue;
    if (model.states_of(x) != model.chains[0].set(model.contexts.last(x)).size) return false;
  }
  return true;
}

LexicalBackward::LexicalBackward(const LexicalHmm& model) : model_(model), by_length_(MOST_CONTEXT_WORDS + 1) {
  if (!fits(model)) throw ModelError("expected a model of one chain with all its states");
  const ContextTree& tree = model.contexts;
  child_begin_.assign(std::size_t{tree.size()} + 1, 0);
  for (ContextId y = tree.num_words(); y < tree.size(); ++y) ++child_begin_[tree.prefix(y) + 1];
  for (std::size_t x = 0; x < tree.size(); ++x) child_begin_[x + 1] += child_begin_[x];
  child_.resize(child_begin_.back());
  child_shorter_.resize(child_.size());
  child_listed_.resize(child_.size());
  std::vector<std::uint64_t> next(child_begin_.begin(), child_begin_.end() - 1);
  for (ContextId y = tree.num_words(); y < tree.size(); ++y) {
    const ContextId x = tree.prefix(y), shorter = tree.suffix(x);
    const WordId w = tree.last(y);
    const std::uint64_t i = next[x]++;
    child_[i] = y;
    child_shorter_[i] = shorter == NO_CONTEXT ? w : tree.next(shorter, w);
    child_listed_[i] = shorter == NO_CONTEXT ? 0.0 : model.table.share(tree, shorter, w).listed;
    work_ += model.states_of(x) * 4;
  }
  entry_next_.resize(model.table.word.size());
  for (ContextId x = 0; x < tree.size(); ++x) {
    if (model.states_of(x) == 0 || x == SENTENCE_END) continue;
    by_length_[tree.length(x)].push_back(x);
    for (std::uint64_t i = model.table.begin[x]; i < model.table.begin[x + 1]; ++i) {
      entry_next_[i] = tree.next(x, model.table.word[i]);
      work_ += model.states_of(x) * 2;
    }
  }
  const SparseHmm& chain = model.chains[0];
  work_ = work_ * (chain.num_states() / chain.num_groups() + 1) + std::size_t{chain.num_states()} * chain.num_states();
}

void LexicalBackward::add_word(ContextId x, WordId w, ContextId to, const std::vector<double>& ahead,
                               double hidden_factor, double lexical_factor, double* hidden, double* lexical) const {
  if (!model_.emits(w)) return;
  const SparseHmm& chain = model_.chains[0];
  const std::uint32_t h = chain.word_group[w], columns = chain.group_size(h);
  const std::span<const double> emission = chain.emissions(w);
  const double* const rest = ahead.data() + model_.state_begin[to];
  for (std::uint32_t z = 0; z < model_.states_of(x); ++z) {
    const float* const row = model_.row(0, x, z, h);
    double all = 0.0, sum = 0.0, mean = 0.0;
    for (std::uint32_t j = 0; j < columns; ++j) {
      const double p = static_cast<double>(row[j]) * emission[j];
      all += p;
      sum += p * rest[j];
    }
    hidden[z] += hidden_factor * sum;
    if (lexical_factor == 0.0) continue;
    if (all > 0.0) {
      lexical[z] += lexical_factor * sum / all;
      continue;
    }
    for (std::uint32_t j = 0; j < columns; ++j) mean += rest[j] / columns;
    lexical[z] += lexical_factor * mean;
  }
}

void LexicalBackward::add_context(ContextId x, const std::vector<double>& ahead, const std::vector<double>& shared,
                                  std::vector<double>& hidden, std::vector<double>& lexical) const {
  const ContextTree& tree = model_.contexts;
  const LexicalTable& table = model_.table;
  const std::uint32_t size = model_.states_of(x);
  const ContextId shorter = tree.suffix(x);
  double* const h = hidden.data() + model_.state_begin[x];
  double* const l = lexical.data() + model_.state_begin[x];
  if (shorter != NO_CONTEXT) {  // it has the same last word, so the same states
    for (std::uint32_t z = 0; z < size; ++z) {
      h[z] = hidden[model_.state_begin[shorter] + z];
      l[z] = lexical[model_.state_begin[shorter] + z];
    }
  } else {
    const SparseHmm& chain = model_.chains[0];
    for (std::uint32_t z = 0; z < size; ++z) {
      h[z] = l[z] = 0.0;
      for (std::uint32_t g = 0; g < chain.num_groups() && x == SENTENCE_BEGIN; ++g) {
        const float* const row = model_.row(0, x, z, g);
        for (std::uint32_t j = 0; j < chain.group_size(g); ++j) {
          h[z] += static_cast<double>(row[j]) * shared[chain.num_states() + chain.group_begin[g] + j];
        }
      }
      if (x != SENTENCE_BEGIN) h[z] = shared[chain.group_begin[chain.word_group[tree.last(x)]] + z];
    }
  }
  for (std::uint64_t i = child_begin_[x]; i < child_begin_[x + 1]; ++i) {
    const WordId w = tree.last(child_[i]);
    add_word(x, w, child_[i], ahead, 1.0, child_listed_[i], h, l);
    add_word(x, w, child_shorter_[i], ahead, -1.0, -child_listed_[i], h, l);
  }
  for (std::uint32_t z = 0; z < size; ++z) l[z] *= static_cast<double>(table.back_off[x]);
  for (std::uint64_t i = table.begin[x]; i < table.begin[x + 1]; ++i) {
    add_word(x, table.word[i], entry_next_[i], ahead, 0.0, static_cast<double>(table.probability[i]), h, l);
  }
}

void LexicalBackward::step(const std::vector<double>& ahead, std::vector<double>& result, int threads) const {
  const SparseHmm& chain = model_.chains[0];
  const std::uint32_t states = chain.num_states();
  // A times sum_w E(z', w) N((w), z'); the column itself behind it, for <s>.
  std::vector<double> shared(std::size_t{2} * states, 0.0);
  double* const column = shared.data() + states;
  for (WordId w = 0; w < model_.num_words(); ++w) {
    if (!model_.emits(w)) continue;
    const std::span<const double> emission = chain.emissions(w);
    for (std::uint32_t j = 0; j < emission.size(); ++j) {
      column[chain.state(w, j)] += emission[j] * ahead[model_.state_begin[w] + j];
    }
  }
  parallel_for(chain.num_groups(), threads, [&](std::size_t g, int) {
    const auto from = static_cast<std::uint32_t>(g);
    for (std::uint32_t h = 0; h < chain.num_groups(); ++h) {
      chain.add_backward(chain.whole(from), shared.data() + chain.group_begin[from], chain.whole(h),
                         column + chain.group_begin[h]);
    }
  });
  std::vector<double> hidden(model_.num_states(), 0.0), lexical(model_.num_states(), 0.0);
  result.assign(model_.num_states(), 0.0);
  for (const std::vector<ContextId>& contexts : by_length_) {
    parallel_for((contexts.size() + CONTEXTS_AT_ONCE - 1) / CONTEXTS_AT_ONCE, threads, [&](std::size_t piece, int) {
      for (std::size_t i = piece * CONTEXTS_AT_ONCE; i < std::min(contexts.size(), (piece + 1) * CONTEXTS_AT_ONCE);
           ++i) {
        const ContextId x = contexts[i];
        add_context(x, ahead, shared, hidden, lexical);
        for (std::uint64_t s = model_.state_begin[x]; s < model_.state_begin[x + 1]; ++s) {
          const double sum = static_cast<double>(model_.lexical_weight[x]) * lexical[s] + model_.gamma[x] * hidden[s];
          result[s] = std::max(0.0, sum);  // corrections may leave a rounding error below zero
        }
      }
    });
  }
}

}  // namespace hiddenite::hmm
