#include "hiddenite/hmm/lexical/model.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"

namespace hiddenite::hmm {

namespace {

void require_fit(bool fits, const char* what) {
  if (!fits) throw ModelError(std::string("the arrays of a lexicalised model do not fit: ") + what);
}

}  // namespace

ContextId LexicalHmm::context_of(std::uint64_t state) const {
  return static_cast<ContextId>(std::upper_bound(state_begin.begin(), state_begin.end(), state) -
                                state_begin.begin() - 1);
}

const float* LexicalHmm::row(std::size_t m, ContextId x, std::uint32_t place, std::uint32_t h) const {
  const SparseHmm& chain = chains[m];
  if (x == SENTENCE_BEGIN) return first[m].data() + chain.group_begin[h];
  const std::uint32_t g = chain.word_group[contexts.last(x)];
  return chain.block_of(g, h) + std::size_t{place} * chain.group_size(h);
}

void LexicalHmm::prepare() {
  require_fit(!chains.empty() && chain_weight.size() == chains.size(), "one weight a chain is expected");
  double sum = 0.0;
  for (const double w : chain_weight) {
    require_fit(w >= 0.0, "the weights of the chains");
    sum += w;
  }
  require_fit(std::abs(sum - 1.0) < 1e-6, "the weights of the chains do not add up to 1");
  table.check(contexts);
  for (const SparseHmm& chain : chains) {
    chain.check();
    require_fit(chain.num_words() == num_words() && chain.members.empty() && chain.has_end, "a chain's words");
    for (WordId w = 0; w < num_words(); ++w) {
      require_fit((chain.word_group[w] == NO_GROUP) == (chains[0].word_group[w] == NO_GROUP), "words without states");
    }
  }
  require_fit(lexical_weight.size() == contexts.size(), "weights of the lexical route");
  require_fit(state_begin.size() == std::size_t{contexts.size()} + 1 && state_begin[0] == 0, "states of contexts");
  require_fit(places.size() == num_states() * num_chains(), "places of states");
  gamma.resize(contexts.size());
  for (ContextId x = 0; x < contexts.size(); ++x) {
    const double lambda = static_cast<double>(lexical_weight[x]);
    require_fit(lambda >= 0.0 && lambda <= 1.0, "a weight of the lexical route");
    gamma[x] = 1.0 - lambda * (1.0 - table.left(contexts, x));
    require_fit(state_begin[x] <= state_begin[x + 1], "states of contexts overlap");
    const WordId w = contexts.last(x);
    const bool single = x == SENTENCE_BEGIN || x == SENTENCE_END;
    require_fit(single ? states_of(x) == 1 : (states_of(x) > 0) == emits(w), "a context without states");
    for (std::uint32_t i = 0; i < states_of(x); ++i) {
      for (std::size_t m = 0; m < num_chains(); ++m) {
        const std::uint32_t most = x == SENTENCE_BEGIN ? 1 : chains[m].group_size(chains[m].word_group[w]);
        require_fit(place(x, i)[m] < most, "a place outside its group");
      }
    }
  }
  first.clear();
  for (const SparseHmm& chain : chains) first.emplace_back(chain.initial.begin(), chain.initial.end());
}

void LexicalMove::open(ContextId x, WordId w) {
  from_ = x;
  to_ = model_.contexts.next(x, w);
  rows_.resize(model_.num_chains());
  const LexicalShare share = model_.table.share(model_.contexts, x, w);
  const double lexical = static_cast<double>(model_.lexical_weight[x]) * share.listed, gamma = model_.gamma[x];
  const std::uint32_t size = model_.states_of(x);
  probability_.assign(size, lexical);
  for (std::size_t m = 0; m < model_.num_chains(); ++m) {
    const SparseHmm& chain = model_.chains[m];
    const std::uint32_t h = chain.word_group[w];
    const std::span<const double> emission = chain.emissions(w);
    Rows& rows = rows_[m];
    rows.size = chain.group_size(h);
    const std::uint32_t g = x == SENTENCE_BEGIN ? h : chain.word_group[model_.contexts.last(x)];
    rows.sum.assign(chain.group_size(g), -1.0);
    rows.product.resize(std::size_t{chain.group_size(g)} * rows.size);
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t place = model_.place(x, i)[m];
      if (rows.sum[place] < 0.0) {
        const float* const row = model_.row(m, x, place, h);
        double* const product = rows.product.data() + std::size_t{place} * rows.size;
        double sum = 0.0;
        for (std::uint32_t j = 0; j < rows.size; ++j) {
          sum += product[j] = static_cast<double>(row[j]) * emission[j];
        }
        rows.sum[place] = sum;
      }
      probability_[i] += gamma * model_.chain_weight[m] * rows.sum[place];
    }
  }
}

double LexicalMove::enter(std::uint32_t i) {
  const std::uint32_t size = to_size();
  const std::size_t chains = model_.num_chains();
  entering_.resize(size);
  const std::uint16_t* const from = model_.place(from_, i);
  const std::uint16_t* const to = model_.place(to_, 0);
  // Divided by its sum, a row keeps small numbers from vanishing.
  const auto row = [&](std::size_t m) { return rows_[m].product.data() + std::size_t{from[m]} * rows_[m].size; };
  const auto inverse = [&](std::size_t m) { return rows_[m].sum[from[m]] > 0.0 ? 1.0 / rows_[m].sum[from[m]] : 0.0; };
  double sum = 0.0;
  if (size == 1) {
    sum = entering_[0] = 1.0;
  } else if (chains == 2) {
    const double *const a = row(0), *const b = row(1), factor = inverse(0) * inverse(1);
    for (std::uint32_t j = 0; j < size; ++j) sum += entering_[j] = factor * a[to[2 * j]] * b[to[2 * j + 1]];
  } else if (chains == 3) {
    const double *const a = row(0), *const b = row(1), *const c = row(2);
    const double factor = inverse(0) * inverse(1), third = inverse(2);
    for (std::uint32_t j = 0; j < size; ++j) {
      const std::uint16_t* const place = to + 3 * j;
      sum += entering_[j] = (factor * a[place[0]] * b[place[1]]) * (third * c[place[2]]);
    }
  } else {
    std::fill(entering_.begin(), entering_.end(), 1.0);
    for (std::size_t m = 0; m < chains; ++m) {
      const double *const a = row(m), factor = inverse(m);
      for (std::uint32_t j = 0; j < size; ++j) entering_[j] *= factor * a[to[chains * j + m]];
    }
    for (const double x : entering_) sum += x;
  }
  if (sum > 0.0) return 1.0 / sum;
  std::fill(entering_.begin(), entering_.end(), 1.0);
  return 1.0 / size;
}

const std::vector<double>& LexicalMove::entering(std::uint32_t i) {
  const double factor = enter(i);
  for (double& x : entering_) x *= factor;
  return entering_;
}

void LexicalMove::add_forward(const double* from, double* to) {
  if (grid_is_cheaper()) return forward_by_grid(from, to);
  for (std::uint32_t i = 0; i < from_size(); ++i) {
    const double x = from[i] * probability_[i];
    if (x == 0.0) continue;
    const double factor = x * enter(i);
    for (std::uint32_t j = 0; j < entering_.size(); ++j) to[j] += factor * entering_[j];
  }
}

void LexicalMove::add_backward(double* from, const double* to) {
  if (grid_is_cheaper()) return backward_by_grid(from, to);
  for (std::uint32_t i = 0; i < from_size(); ++i) {
    if (probability_[i] == 0.0) continue;
    const double factor = probability_[i] * enter(i);
    double sum = 0.0;
    for (std::uint32_t j = 0; j < entering_.size(); ++j) sum += entering_[j] * to[j];
    from[i] += factor * sum;
  }
}

}  // namespace hiddenite::hmm
