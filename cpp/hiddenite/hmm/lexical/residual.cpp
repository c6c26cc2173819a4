#include "hiddenite/hmm/lexical/residual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/kernels.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t TOKENS_PER_PART = 1 << 18, SENTENCES_AT_ONCE = 32;
constexpr float LEAST = 1e-30f;

}  // namespace

// Some sentences and what the recursions say of them; numbers of a token begin at its offset.
struct ResidualEm::Part {
  std::size_t first_sentence, last_sentence;
  std::uint64_t first_token;
  std::vector<std::uint64_t> offset{0};
  std::vector<float> alpha;   // p(z | words so far)
  std::vector<float> leaving;  // alpha(z) f(z) of the next token
  std::vector<float> weight;  // p(w, what comes | z) / p(w, what comes | before)
  std::vector<float> hidden;  // posterior of the state, times that of the hidden route
  std::vector<float> route;   // the same of the state that is left, by the route of the next token
};

ResidualEm::ResidualEm(const TokenText& text, HmmShape shape)
    : shape_((shape.check(), std::move(shape))), prior_(shape_, text) {
  if (!shape_.members.empty() || !shape_.has_end) throw ModelError("expected states that belong to word classes");
  std::vector<bool> present(std::size_t{shape_.num_groups()} * shape_.num_groups(), false);
  for (std::size_t s = 0; s < text.num_sentences(); ++s) {
    for (const WordId w : text.sentence(s)) words_.push_back(w);
    words_.push_back(SENTENCE_END);
    for (std::uint64_t p = begin_.back(); p < words_.size(); ++p) {
      const std::uint32_t h = shape_.word_group[words_[p]];
      if (h == NO_GROUP) throw ModelError("a word of the text has no states");
      if (p > begin_.back()) present[std::size_t{shape_.word_group[words_[p - 1]]} * shape_.num_groups() + h] = true;
    }
    begin_.push_back(words_.size());
  }
  total_ = HmmCounts(shape_, present);
}

double ResidualEm::expect_sentence(const SparseHmm& chain, Part& part, std::size_t s, std::span<const float> lexical,
                                   std::span<const float> gamma) const {
  const std::uint64_t begin = begin_[s], end = begin_[s + 1];
  double log_prob = 0.0;
  const auto at = [&](std::vector<float>& values, std::uint64_t p) {
    return values.data() + part.offset[p - part.first_token];
  };
  std::vector<float> emission, ahead, entered;
  double first_route = 1.0;
  const auto open = [&](WordId w) {
    const std::span<const double> given = chain.emissions(w);
    emission.assign(given.begin(), given.end());
  };
  for (std::uint64_t p = begin; p < end; ++p) {
    const WordId w = words_[p];
    const std::uint32_t h = shape_.word_group[w], size = shape_.group_size(h);
    float* const alpha = at(part.alpha, p);
    float* const weight = at(part.weight, p);
    open(w);
    if (p == begin) {
      for (std::uint32_t j = 0; j < size; ++j) alpha[j] = static_cast<float>(chain.initial[shape_.group_begin[h] + j]);
    } else {
      const std::uint32_t g = shape_.word_group[words_[p - 1]], rows = shape_.group_size(g);
      const float* const matrix = chain.block_of(g, h);
      float* const before = at(part.alpha, p - 1);
      float* const leaving = at(part.leaving, p - 1);
      float* const route = at(part.route, p - 1);
      ahead.assign(rows, 0.0f);
      add_block_times_column(matrix, rows, size, emission.data(), ahead.data());
      for (std::uint32_t i = 0; i < rows; ++i) {
        const float factor = lexical[p] / std::max(ahead[i], LEAST) + gamma[p];
        leaving[i] = before[i] * factor;
        route[i] = gamma[p] / factor;
      }
      std::fill_n(alpha, size, 0.0f);
      add_row_times_block(leaving, rows, matrix, size, alpha);
    }
    double scale = 0.0;
    for (std::uint32_t j = 0; j < size; ++j) scale += static_cast<double>(alpha[j] *= emission[j]);
    if (!(scale > 0.0)) throw ModelError("a sentence of the training text has probability zero; use smoothing");
    double probability = scale;
    if (p == begin) {
      probability = static_cast<double>(lexical[p]) + static_cast<double>(gamma[p]) * scale;
      first_route = static_cast<double>(gamma[p]) * scale / probability;
    }
    log_prob += std::log(probability);
    const auto factor = static_cast<float>(1.0 / scale);
    for (std::uint32_t j = 0; j < size; ++j) {
      alpha[j] *= factor;
      weight[j] = emission[j] * factor;
    }
  }
  std::vector<float> beta;
  for (std::uint64_t p = end; p-- > begin;) {
    const std::uint32_t g = shape_.word_group[words_[p]], size = shape_.group_size(g);
    float* const alpha = at(part.alpha, p);
    float* const weight = at(part.weight, p);
    float* const hidden = at(part.hidden, p);
    beta.assign(size, p + 1 == end ? 1.0f : 0.0f);
    if (p + 1 < end) {
      const std::uint32_t h = shape_.word_group[words_[p + 1]];
      const float* const matrix = chain.block_of(g, h);
      const float* const leaving = at(part.leaving, p);
      add_block_times_column(matrix, size, shape_.group_size(h), at(part.weight, p + 1), beta.data());
      float* const route = at(part.route, p);
      for (std::uint32_t i = 0; i < size; ++i) {
        route[i] *= leaving[i] * beta[i];
        beta[i] = alpha[i] > 0.0f ? beta[i] * leaving[i] / alpha[i] : 0.0f;
      }
    }
    for (std::uint32_t i = 0; i < size; ++i) weight[i] *= beta[i];
    if (p == begin) {
      for (std::uint32_t i = 0; i < size; ++i) hidden[i] = static_cast<float>(first_route) * alpha[i] * beta[i];
      continue;
    }
    const std::uint32_t from = shape_.word_group[words_[p - 1]];
    entered.assign(size, 0.0f);
    add_row_times_block(at(part.alpha, p - 1), shape_.group_size(from), chain.block_of(from, g), size, entered.data());
    for (std::uint32_t i = 0; i < size; ++i) hidden[i] = gamma[p] * entered[i] * weight[i];
  }
  return log_prob;
}

// Adds the transitions that leave group g: `rows` by the hidden route, `pairs` by both.
void ResidualEm::count_group(const SparseHmm& chain, const Part& part, std::uint32_t g) {
  const std::uint32_t rows = shape_.group_size(g), groups = shape_.num_groups();
  std::vector<std::vector<std::uint64_t>> arrivals(groups);
  for (std::size_t s = part.first_sentence; s < part.last_sentence; ++s) {
    for (std::uint64_t p = begin_[s] + 1; p < begin_[s + 1]; ++p) {
      if (shape_.word_group[words_[p - 1]] == g) arrivals[shape_.word_group[words_[p]]].push_back(p);
    }
  }
  std::vector<float> sums;
  WorkMeter meter;
  for (std::uint32_t h = 0; h < groups; ++h) {
    if (arrivals[h].empty()) continue;
    const std::uint32_t columns = shape_.group_size(h);
    sums.assign(std::size_t{rows} * columns, 0.0f);
    for (const std::uint64_t p : arrivals[h]) {
      meter.add(std::size_t{rows} * columns);
      const std::uint64_t before = part.offset[p - 1 - part.first_token], now = part.offset[p - part.first_token];
      add_outer(part.leaving.data() + before, rows, part.weight.data() + now, columns, sums.data());
      for (std::uint32_t i = 0; i < rows; ++i) {
        total_.rows[std::size_t{shape_.group_begin[g] + i} * groups + h] += part.route[before + i];
      }
    }
    const float* const matrix = chain.block_of(g, h);
    float* const pairs = total_.pairs.data() + total_.block_begin[std::size_t{g} * groups + h];
    for (std::size_t cell = 0; cell < sums.size(); ++cell) pairs[cell] += sums[cell] * matrix[cell];
  }
}

void ResidualEm::count_words(const Part& part) {
  for (std::size_t s = part.first_sentence; s < part.last_sentence; ++s) {
    for (std::uint64_t p = begin_[s]; p < begin_[s + 1]; ++p) {
      const WordId w = words_[p];
      const float* const hidden = part.hidden.data() + part.offset[p - part.first_token];
      const std::uint32_t g = shape_.word_group[w];
      for (std::uint32_t i = 0; i < shape_.group_size(g); ++i) {
        total_.emissions[shape_.set_begin[w] + i] += hidden[i];
        if (p == begin_[s]) total_.first[shape_.group_begin[g] + i] += hidden[i];
      }
    }
  }
}

// Pairs are shares of the rows; columns are sums of pairs.
void ResidualEm::finish_group(std::uint32_t g) {
  const std::uint32_t groups = shape_.num_groups();
  for (std::uint32_t h = 0; h < groups; ++h) {
    const std::size_t block = std::size_t{g} * groups + h, columns = shape_.group_size(h);
    if (!total_.has(block)) continue;
    float* const column = total_.columns.data() + std::size_t{g} * shape_.num_states() + shape_.group_begin[h];
    for (std::uint32_t i = 0; i < shape_.group_size(g); ++i) {
      float* const row = total_.pairs.data() + total_.block_begin[block] + i * columns;
      const float sum = std::accumulate(row, row + columns, 0.0f);
      const float wanted = total_.rows[std::size_t{shape_.group_begin[g] + i} * groups + h];
      for (std::size_t j = 0; j < columns; ++j) {
        row[j] = sum > 0.0f ? row[j] * wanted / sum : 0.0f;
        column[j] += row[j];
      }
    }
  }
}

double ResidualEm::iterate(const SparseHmm& chain, std::span<const float> lexical, std::span<const float> gamma,
                           int threads) {
  if (chain.num_states() != shape_.num_states() || chain.num_groups() != shape_.num_groups() ||
      chain.num_words() != shape_.num_words()) {
    throw ModelError("the chain has another shape than the training");
  }
  if (lexical.size() != words_.size() || gamma.size() != words_.size()) {
    throw ModelError("found another number of lexical probabilities than of tokens");
  }
  total_.clear();
  double log_prob = 0.0;
  Part part;
  for (std::size_t s = 0; s + 1 < begin_.size();) {
    part.first_sentence = s;
    part.first_token = begin_[s];
    part.offset.assign(1, 0);
    while (s + 1 < begin_.size() && (s == part.first_sentence || begin_[s + 1] - part.first_token < TOKENS_PER_PART)) {
      for (std::uint64_t p = begin_[s]; p < begin_[s + 1]; ++p) {
        part.offset.push_back(part.offset.back() + shape_.group_size(shape_.word_group[words_[p]]));
      }
      ++s;
    }
    part.last_sentence = s;
    for (auto* values : {&part.alpha, &part.leaving, &part.weight, &part.hidden, &part.route}) {
      values->assign(part.offset.back(), 0.0f);
    }
    const std::size_t sentences = part.last_sentence - part.first_sentence;
    std::vector<double> of_piece((sentences + SENTENCES_AT_ONCE - 1) / SENTENCES_AT_ONCE, 0.0);
    parallel_for(of_piece.size(), threads, [&](std::size_t piece, int) {
      const std::size_t first = part.first_sentence + piece * SENTENCES_AT_ONCE;
      for (std::size_t i = first; i < std::min(part.last_sentence, first + SENTENCES_AT_ONCE); ++i) {
        of_piece[piece] += expect_sentence(chain, part, i, lexical, gamma);
      }
    });
    log_prob += std::accumulate(of_piece.begin(), of_piece.end(), 0.0);
    parallel_for(shape_.num_groups(), threads,
                 [&](std::size_t g, int) { count_group(chain, part, static_cast<std::uint32_t>(g)); });
    count_words(part);
  }
  parallel_for(shape_.num_groups(), threads,
               [&](std::size_t g, int) { finish_group(static_cast<std::uint32_t>(g)); });
  return log_prob;
}

}  // namespace hiddenite::hmm
