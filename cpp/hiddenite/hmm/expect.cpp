// The E-step of HmmEm: forward, backward, and the counts they give.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/em.hpp"
#include "hiddenite/hmm/kernels.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t SENTENCES_PER_PIECE = 32;
constexpr std::size_t WORDS_PER_PIECE = 256;

std::size_t pieces_of(std::size_t size, std::size_t piece) { return (size + piece - 1) / piece; }

}  // namespace

void HmmEm::forward_step(const StateSet& from, const float* x, const StateSet& to, const float* matrix,
                           float* y) const {
  const std::size_t columns = shape_.group_size(to.group);
  if (from.members == nullptr) {
    add_row_times_block(x, from.size, matrix, columns, y);
    return;
  }
  for (std::uint32_t i = 0; i < from.size; ++i) {
    const float* const row = matrix + from.place(i) * columns;
    for (std::uint32_t j = 0; j < to.size; ++j) y[j] += x[i] * row[to.place(j)];
  }
}

void HmmEm::backward_step(const StateSet& from, float* y, const StateSet& to, const float* matrix,
                            const float* w) const {
  const std::size_t columns = shape_.group_size(to.group);
  if (from.members == nullptr) {
    add_block_times_column(matrix, from.size, columns, w, y);
    return;
  }
  for (std::uint32_t i = 0; i < from.size; ++i) {
    const float* const row = matrix + from.place(i) * columns;
    for (std::uint32_t j = 0; j < to.size; ++j) y[i] += row[to.place(j)] * w[j];
  }
}

// alpha is scaled to sum to one, weight is p(w | z) beta(z) / scale.
double HmmEm::expect_sentence(const Fold& fold, std::size_t s) {
  const std::uint64_t begin = fold.begin[s], end = fold.begin[s + 1];
  double log_prob = 0.0;
  WorkMeter meter;
  for (std::uint64_t p = begin; p < end; ++p) {
    const StateSet set = shape_.set(fold.words[p]);
    meter.add(std::size_t{set.size} * set.size);
    float* const alpha = alpha_.data() + fold.offset[p];
    float* const weight = weight_.data() + fold.offset[p];
    if (p == begin) {
      for (std::uint32_t i = 0; i < set.size; ++i) alpha[i] = initial_[shape_.state(fold.words[p], i)];
    } else {
      const StateSet before = shape_.set(fold.words[p - 1]);
      std::fill_n(alpha, set.size, 0.0f);
      forward_step(before, alpha_.data() + fold.offset[p - 1], set, matrix(fold, before.group, set.group), alpha);
    }
    const float* const emission = emission_.data() + shape_.set_begin[fold.words[p]];
    double scale = 0.0;
    for (std::uint32_t i = 0; i < set.size; ++i) scale += static_cast<double>(alpha[i] *= emission[i]);
    if (!(scale > 0.0)) throw ModelError("a sentence of the training text has probability zero; use smoothing");
    log_prob += std::log(scale);
    const auto factor = static_cast<float>(1.0 / scale);
    for (std::uint32_t i = 0; i < set.size; ++i) {
      alpha[i] *= factor;
      weight[i] = emission[i] * factor;
    }
  }
  for (std::uint64_t p = end; p-- > begin;) {
    const StateSet set = shape_.set(fold.words[p]);
    meter.add(std::size_t{set.size} * set.size);
    float* const posterior = posterior_.data() + fold.offset[p];  // beta first
    if (p + 1 == end) {
      std::fill_n(posterior, set.size, 1.0f);
    } else {
      const StateSet after = shape_.set(fold.words[p + 1]);
      std::fill_n(posterior, set.size, 0.0f);
      backward_step(set, posterior, after, matrix(fold, set.group, after.group), weight_.data() + fold.offset[p + 1]);
    }
    float* const weight = weight_.data() + fold.offset[p];
    const float* const alpha = alpha_.data() + fold.offset[p];
    for (std::uint32_t i = 0; i < set.size; ++i) {
      weight[i] *= posterior[i];
      posterior[i] *= alpha[i];
    }
  }
  return log_prob;
}

double HmmEm::expect(const Fold& fold, int threads) {
  const std::size_t sentences = fold.begin.size() - 1;
  std::vector<double> log_prob(pieces_of(sentences, SENTENCES_PER_PIECE), 0.0);
  parallel_for(log_prob.size(), threads, [&](std::size_t piece, int) {
    const std::size_t end = std::min(sentences, (piece + 1) * SENTENCES_PER_PIECE);
    for (std::size_t s = piece * SENTENCES_PER_PIECE; s < end; ++s) log_prob[piece] += expect_sentence(fold, s);
  });
  return std::accumulate(log_prob.begin(), log_prob.end(), 0.0);
}

// The counts of all transitions that leave group g.
void HmmEm::count_group(Fold& fold, std::uint32_t g) {
  const std::uint32_t rows = shape_.group_size(g);
  std::vector<float> sums;
  WorkMeter meter;
  std::uint64_t a = fold.arrivals_of[g];
  for (std::uint32_t h = 0; h < shape_.num_groups(); ++h) {
    if (!fold.counts.has(std::size_t{g} * shape_.num_groups() + h)) continue;
    const std::uint32_t columns = shape_.group_size(h);
    sums.assign(std::size_t{rows} * columns, 0.0f);
    for (; a < fold.arrivals_of[g + 1] && shape_.word_group[fold.words[fold.arrivals[a]]] == h; ++a) {
      const std::uint32_t p = fold.arrivals[a];
      const StateSet from = shape_.set(fold.words[p - 1]), to = shape_.set(fold.words[p]);
      meter.add(std::size_t{from.size} * to.size);
      const float* const alpha = alpha_.data() + fold.offset[p - 1];
      const float* const weight = weight_.data() + fold.offset[p];
      if (from.members == nullptr) {
        add_outer(alpha, rows, weight, columns, sums.data());
        continue;
      }
      for (std::uint32_t i = 0; i < from.size; ++i) {
        float* const row = sums.data() + std::size_t{from.place(i)} * columns;
        for (std::uint32_t j = 0; j < to.size; ++j) row[to.place(j)] += alpha[i] * weight[j];
      }
    }
    add_soft_pairs(fold, g, h, sums);
    replace_block(fold, g, h, sums);
  }
}

// Writes the counts T o sums of a block, and puts them into the totals instead of the old ones.
void HmmEm::replace_block(Fold& fold, std::uint32_t g, std::uint32_t h, const std::vector<float>& sums) {
  const std::uint32_t groups = shape_.num_groups(), rows = shape_.group_size(g), columns = shape_.group_size(h);
  const std::size_t block = std::size_t{g} * groups + h;
  const std::size_t first_column = std::size_t{g} * shape_.num_states() + shape_.group_begin[h];
  const float* const probability = matrix(fold, g, h);
  float* const pairs = fold.counts.pairs.data() + fold.counts.block_begin[block];
  float* const all = total_.pairs.data() + total_.block_begin[block];
  std::vector<float> column(columns, 0.0f);
  const auto exchange = [](float& old, float& of_all, float now) {
    of_all += now - old;
    old = now;
  };
  for (std::uint32_t i = 0; i < rows; ++i) {
    float row = 0.0f;
    for (std::uint32_t j = 0; j < columns; ++j) {
      const std::size_t cell = std::size_t{i} * columns + j;
      const float now = std::max(0.0f, sums[cell] * probability[cell]);
      all[cell] += now - pairs[cell];
      pairs[cell] = now;
      column[j] += now;
    }
    for (std::uint32_t j = 0; j < columns; ++j) row += pairs[std::size_t{i} * columns + j];
    const std::size_t place = std::size_t{shape_.group_begin[g] + i} * groups + h;
    exchange(fold.counts.rows[place], total_.rows[place], row);
  }
  for (std::uint32_t j = 0; j < columns; ++j) {
    exchange(fold.counts.columns[first_column + j], total_.columns[first_column + j], column[j]);
  }
}

void HmmEm::count_words(Fold& fold, int threads) {
  parallel_for(pieces_of(shape_.num_words(), WORDS_PER_PIECE), threads, [&](std::size_t piece, int) {
    const auto end = static_cast<WordId>(std::min<std::size_t>(shape_.num_words(), (piece + 1) * WORDS_PER_PIECE));
    for (auto w = static_cast<WordId>(piece * WORDS_PER_PIECE); w < end; ++w) {
      const std::uint32_t size = shape_.set(w).size;
      std::vector<double> sums(size, 0.0);
      for (std::uint64_t k = fold.by_word_begin[w]; k < fold.by_word_begin[w + 1]; ++k) {
        const float* const posterior = posterior_.data() + fold.offset[fold.by_word[k]];
        for (std::uint32_t i = 0; i < size; ++i) sums[i] += static_cast<double>(posterior[i]);
      }
      add_soft_words(fold, w, false, sums);
      float* const out = fold.counts.emissions.data() + shape_.set_begin[w];
      for (std::uint32_t i = 0; i < size; ++i) out[i] = static_cast<float>(std::max(0.0, sums[i]));
    }
  });
  std::vector<double> first(shape_.num_states(), 0.0);
  for (std::size_t s = 0; s + 1 < fold.begin.size(); ++s) {
    const std::uint64_t p = fold.begin[s];
    if (p == fold.begin[s + 1]) continue;
    const StateSet set = shape_.set(fold.words[p]);
    for (std::uint32_t i = 0; i < set.size; ++i) {
      first[shape_.state(fold.words[p], i)] += static_cast<double>(posterior_[fold.offset[p] + i]);
    }
  }
  std::vector<double> sums;
  for (WordId w = 0; w < shape_.num_words() && !fold.soft.empty(); ++w) {
    sums.assign(shape_.set(w).size, 0.0);
    add_soft_words(fold, w, true, sums);
    for (std::uint32_t i = 0; i < sums.size(); ++i) first[shape_.state(w, i)] += sums[i];
  }
  for (double& x : first) x = std::max(0.0, x);
  fold.counts.first.assign(first.begin(), first.end());
}

}  // namespace hiddenite::hmm
