#include "hiddenite/hmm/em.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/base/random.hpp"

namespace hiddenite::hmm {

namespace {

std::vector<float> to_floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

}  // namespace

// ------------------------------------------------------------------- the text

HmmEm::HmmEm(const TokenText& text, HmmShape shape, const EmOptions& options, std::uint64_t seed,
             const SoftTargets* targets)
    : shape_((shape.check(), std::move(shape))), options_(options), seed_(seed), prior_(shape_, text) {
  if (options.folds == 0) throw ModelError("found 0 folds, expected at least one");
  if (options.folds == 1 && options.cross_validated) {
    throw ModelError("found one fold, expected two or more to cross-validate");
  }
  if (targets != nullptr) {
    targets->check(text.tokens.size() + (shape_.has_end ? text.num_sentences() : 0), shape_.num_words());
  }
  std::size_t token = 0;
  folds_.resize(std::min<std::size_t>(options.folds, std::max<std::size_t>(1, text.num_sentences())));
  if (folds_.size() == 1) options_.cross_validated = false;
  for (std::size_t s = 0; s < text.num_sentences(); ++s) {
    Fold& fold = folds_[s % folds_.size()];
    for (const WordId w : text.sentence(s)) fold.words.push_back(w);
    if (shape_.has_end) fold.words.push_back(SENTENCE_END);
    for (std::size_t p = fold.begin.back(); p < fold.words.size() && targets != nullptr; ++p) {
      add_targets(fold, p, p == fold.begin.back(), *targets, token++);
    }
    fold.begin.push_back(fold.words.size());
  }
  std::vector<bool> present(std::size_t{shape_.num_groups()} * shape_.num_groups(), false);
  std::size_t most_pairs = 0, most_numbers = 0;
  for (Fold& fold : folds_) {
    build(fold);
    num_tokens_ += fold.words.size();
    for (std::size_t b = 0; b < present.size(); ++b) present[b] = present[b] || fold.counts.has(b);
    most_pairs = std::max(most_pairs, fold.counts.pairs.size());
    most_numbers = std::max<std::size_t>(most_numbers, fold.offset.back());
  }
  total_ = HmmCounts(shape_, present);
  transition_.resize(most_pairs);
  for (auto* values : {&alpha_, &weight_, &posterior_}) values->resize(most_numbers);
}

void HmmEm::build(Fold& fold) const {
  const std::uint32_t groups = shape_.num_groups();
  for (const WordId w : fold.words) {
    if (shape_.word_group[w] == NO_GROUP) throw ModelError("a word of the text has no states");
    fold.offset.push_back(fold.offset.back() + shape_.set(w).size);
  }
  for (std::size_t s = 0; s + 1 < fold.begin.size(); ++s) {
    for (std::uint64_t p = fold.begin[s] + 1; p < fold.begin[s + 1]; ++p) {
      fold.arrivals.push_back(static_cast<std::uint32_t>(p));
    }
  }
  const auto block = [&](std::uint32_t p) {
    return std::size_t{shape_.word_group[fold.words[p - 1]]} * groups + shape_.word_group[fold.words[p]];
  };
  std::stable_sort(fold.arrivals.begin(), fold.arrivals.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return block(a) < block(b); });
  std::vector<bool> present(std::size_t{groups} * groups, false);
  fold.arrivals_of.assign(groups + 1, 0);
  for (const std::uint32_t p : fold.arrivals) {
    present[block(p)] = true;
    ++fold.arrivals_of[shape_.word_group[fold.words[p - 1]] + 1];
  }
  std::partial_sum(fold.arrivals_of.begin(), fold.arrivals_of.end(), fold.arrivals_of.begin());
  order_targets(fold, present);
  fold.by_word.resize(fold.words.size());
  std::iota(fold.by_word.begin(), fold.by_word.end(), 0u);
  std::stable_sort(fold.by_word.begin(), fold.by_word.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return fold.words[a] < fold.words[b]; });
  fold.by_word_begin.assign(std::size_t{shape_.num_words()} + 1, 0);
  for (const WordId w : fold.words) ++fold.by_word_begin[w + 1];
  std::partial_sum(fold.by_word_begin.begin(), fold.by_word_begin.end(), fold.by_word_begin.begin());
  fold.counts = HmmCounts(shape_, present);
}

// -------------------------------------------------------------- probabilities

// Rows and emissions drawn around what the text says: shares of (-ln u)^noise.
void HmmEm::set_random(const Fold& fold, int threads) {
  const std::uint32_t groups = shape_.num_groups();
  const auto drawn = [&](Random& random) {
    const double x = -std::log(random.positive_uniform()) + 1e-3;
    return options_.noise == 1.0 ? x : std::pow(x, options_.noise);
  };
  parallel_for(std::size_t{groups} * groups, threads, [&](std::size_t block, int) {
    if (!fold.counts.has(block)) return;
    const auto g = static_cast<std::uint32_t>(block / groups), h = static_cast<std::uint32_t>(block % groups);
    Random random(seed_, block);
    float* row = transition_.data() + fold.counts.block_begin[block];
    for (std::uint32_t i = 0; i < shape_.group_size(g); ++i, row += shape_.group_size(h)) {
      double sum = 0.0;
      for (std::uint32_t j = 0; j < shape_.group_size(h); ++j) sum += row[j] = static_cast<float>(drawn(random));
      for (std::uint32_t j = 0; j < shape_.group_size(h); ++j) row[j] *= static_cast<float>(prior_.follow[block] / sum);
    }
  });
  Random random(seed_, std::size_t{groups} * groups);
  std::vector<double> emission(prior_.base), sum(shape_.num_states(), 0.0);
  for (double& x : emission) x *= drawn(random);
  for (WordId w = 0; w < shape_.num_words(); ++w) {
    for (std::uint32_t i = 0; i < shape_.set(w).size; ++i) sum[shape_.state(w, i)] += emission[shape_.set_begin[w] + i];
  }
  for (WordId w = 0; w < shape_.num_words(); ++w) {
    for (std::uint32_t i = 0; i < shape_.set(w).size; ++i) emission[shape_.set_begin[w] + i] /= sum[shape_.state(w, i)];
  }
  emission_ = to_floats(emission);
  initial_.resize(shape_.num_states());
  for (std::uint32_t h = 0; h < groups; ++h) {
    double total = 0.0;
    for (HiddenState z = shape_.group_begin[h]; z < shape_.group_begin[h + 1]; ++z) {
      total += initial_[z] = static_cast<float>(drawn(random));
    }
    for (HiddenState z = shape_.group_begin[h]; z < shape_.group_begin[h + 1]; ++z) {
      initial_[z] *= static_cast<float>(prior_.begin[h] / total);
    }
  }
}

void HmmEm::set_smoothed(const Fold& fold, int threads) {
  const HmmCounts* const without = options_.cross_validated ? &fold.counts : nullptr;
  const HmmMargins margins(shape_, total_, without);
  const std::uint32_t groups = shape_.num_groups();
  parallel_for(std::size_t{groups} * groups, threads, [&](std::size_t block, int) {
    if (!fold.counts.has(block)) return;
    const auto g = static_cast<std::uint32_t>(block / groups), h = static_cast<std::uint32_t>(block % groups);
    smooth_block(shape_, prior_, total_, without, margins, options_.smoothing, g, h,
                 transition_.data() + fold.counts.block_begin[block]);
  });
  initial_ = to_floats(smooth_initial(shape_, prior_, total_, without, margins, options_.smoothing));
  emission_ = to_floats(smooth_emissions(shape_, prior_, total_, without, margins, options_.smoothing));
}

void HmmEm::set_from(const SparseHmm& chain, const Fold& fold, int threads) {
  const std::uint32_t groups = shape_.num_groups();
  parallel_for(std::size_t{groups} * groups, threads, [&](std::size_t block, int) {
    if (!fold.counts.has(block)) return;
    const auto g = static_cast<std::uint32_t>(block / groups), h = static_cast<std::uint32_t>(block % groups);
    std::copy_n(chain.block_of(g, h), std::size_t{shape_.group_size(g)} * shape_.group_size(h),
                transition_.data() + fold.counts.block_begin[block]);
  });
  initial_ = to_floats(chain.initial);
  emission_ = to_floats(chain.emission);
}

SparseHmm HmmEm::chain(const Smoothing& smoothing, int threads) const {
  require_whole();
  const HmmMargins margins(shape_, total_, nullptr);
  SparseHmm result;
  static_cast<HmmShape&>(result) = shape_;
  result.initial = smooth_initial(shape_, prior_, total_, nullptr, margins, smoothing);
  result.emission = smooth_emissions(shape_, prior_, total_, nullptr, margins, smoothing);
  result.transition.resize(shape_.num_transitions());
  const std::uint32_t groups = shape_.num_groups();
  parallel_for(std::size_t{groups} * groups, threads, [&](std::size_t block, int) {
    const auto g = static_cast<std::uint32_t>(block / groups), h = static_cast<std::uint32_t>(block % groups);
    smooth_block(shape_, prior_, total_, nullptr, margins, smoothing, g, h,
                 result.transition.data() + shape_.block(g, h));
  });
  return result;
}

// --------------------------------------------------------------------- M-step

void HmmEm::replace(Fold& fold, int threads) {
  weigh_targets(fold, threads);
  parallel_for(shape_.num_groups(), threads,
               [&](std::size_t g, int) { count_group(fold, static_cast<std::uint32_t>(g)); });
  const auto exchange = [&](std::vector<float>& all, const std::vector<float>& part, float factor) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += factor * part[i];
  };
  exchange(total_.first, fold.counts.first, -1.0f);
  exchange(total_.emissions, fold.counts.emissions, -1.0f);
  count_words(fold, threads);
  exchange(total_.first, fold.counts.first, 1.0f);
  exchange(total_.emissions, fold.counts.emissions, 1.0f);
}

// In one order, so that a training that was stopped goes on with the same bits.
void HmmEm::sum_folds(int threads) {
  total_.clear();
  for (const Fold& fold : folds_) total_.add(shape_, fold.counts, threads);
}

void HmmEm::require_whole() const {
  if (broken_) throw ModelError("the training was interrupted in an epoch; begin anew, or go on from its checkpoint");
}

double HmmEm::iterate(int threads) {
  require_whole();
  broken_ = true;
  double log_prob = 0.0;
  for (Fold& fold : folds_) {
    if (done_ == 0) {
      set_random(fold, threads);
    } else {
      set_smoothed(fold, threads);
    }
    log_prob += expect(fold, threads);
    replace(fold, threads);
  }
  sum_folds(threads);
  ++done_;
  broken_ = false;
  return log_prob;
}

double HmmEm::iterate_under(const SparseHmm& chain, int threads) {
  require_whole();
  broken_ = true;
  double log_prob = 0.0;
  for (Fold& fold : folds_) {
    set_from(chain, fold, threads);
    log_prob += expect(fold, threads);
    replace(fold, threads);
  }
  sum_folds(threads);
  ++done_;
  broken_ = false;
  return log_prob;
}

void HmmEm::restore(std::uint32_t done, std::vector<std::vector<float>> pairs, std::vector<std::vector<float>> first,
                      std::vector<std::vector<float>> emissions) {
  const bool fits = pairs.size() == folds_.size() && first.size() == folds_.size() && emissions.size() == folds_.size();
  if (!fits) throw ModelError("the checkpoint has another number of folds");
  const std::uint32_t groups = shape_.num_groups();
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    HmmCounts& counts = folds_[f].counts;
    if (pairs[f].size() != counts.pairs.size() || first[f].size() != counts.first.size() ||
        emissions[f].size() != counts.emissions.size()) {
      throw ModelError("the checkpoint's counts do not fit the text");
    }
    counts.pairs = std::move(pairs[f]);
    counts.first = std::move(first[f]);
    counts.emissions = std::move(emissions[f]);
    for (std::size_t block = 0; block < counts.block_begin.size(); ++block) {
      if (!counts.has(block)) continue;
      const auto g = static_cast<std::uint32_t>(block / groups), h = static_cast<std::uint32_t>(block % groups);
      const std::uint32_t columns = shape_.group_size(h);
      float* const column = counts.columns.data() + std::size_t{g} * shape_.num_states() + shape_.group_begin[h];
      std::fill_n(column, columns, 0.0f);
      for (std::uint32_t i = 0; i < shape_.group_size(g); ++i) {
        const float* const row = counts.pairs.data() + counts.block_begin[block] + std::size_t{i} * columns;
        float sum = 0.0f;
        for (std::uint32_t j = 0; j < columns; ++j) {
          sum += row[j];
          column[j] += row[j];
        }
        counts.rows[std::size_t{shape_.group_begin[g] + i} * groups + h] = sum;
      }
    }
  }
  sum_folds(1);
  done_ = done;
  broken_ = false;
}

}  // namespace hiddenite::hmm
