#include "hiddenite/hmm/counts.hpp"

#include <algorithm>

#include "hiddenite/base/parallel.hpp"

namespace hiddenite::hmm {

namespace {

constexpr double GROUP_PRIOR = 4.0;  // of p(h) in p(h | g)

// a / b with nothing out of nothing.
double share(double a, double b) { return b > 0.0 ? a / b : 0.0; }

double less(const std::vector<float>& all, const std::vector<float>* without, std::size_t i) {
  const double x = static_cast<double>(all[i]);
  return without == nullptr ? x : std::max(0.0, x - static_cast<double>((*without)[i]));
}

void add_range(std::vector<float>& to, const std::vector<float>& from, std::size_t to_begin, std::size_t from_begin,
               std::size_t size, float factor) {
  for (std::size_t i = 0; i < size; ++i) to[to_begin + i] += factor * from[from_begin + i];
}

}  // namespace

HmmCounts::HmmCounts(const HmmShape& shape, const std::vector<bool>& present)
    : block_begin(present.size(), NO_BLOCK), rows(std::size_t{shape.num_states()} * shape.num_groups(), 0.0f),
      columns(rows.size(), 0.0f), first(shape.num_states(), 0.0f), emissions(shape.set_begin.back(), 0.0f) {
  const std::uint32_t groups = shape.num_groups();
  std::uint64_t size = 0;
  for (std::uint32_t g = 0; g < groups; ++g) {
    for (std::uint32_t h = 0; h < groups; ++h) {
      if (!present[std::size_t{g} * groups + h]) continue;
      block_begin[std::size_t{g} * groups + h] = size;
      size += std::uint64_t{shape.group_size(g)} * shape.group_size(h);
    }
  }
  pairs.assign(size, 0.0f);
}

void HmmCounts::add_group(const HmmShape& shape, const HmmCounts& other, std::uint32_t g, float factor) {
  const std::uint32_t groups = shape.num_groups();
  for (std::uint32_t h = 0; h < groups; ++h) {
    const std::size_t block = std::size_t{g} * groups + h;
    if (!other.has(block)) continue;
    const std::size_t size = std::size_t{shape.group_size(g)} * shape.group_size(h);
    add_range(pairs, other.pairs, block_begin[block], other.block_begin[block], size, factor);
  }
  const std::size_t row = std::size_t{shape.group_begin[g]} * groups, column = std::size_t{g} * shape.num_states();
  add_range(rows, other.rows, row, row, std::size_t{shape.group_size(g)} * groups, factor);
  add_range(columns, other.columns, column, column, shape.num_states(), factor);
}

void HmmCounts::add(const HmmShape& shape, const HmmCounts& other, int threads) {
  parallel_for(shape.num_groups(), threads, [&](std::size_t g, int) {
    add_group(shape, other, static_cast<std::uint32_t>(g), 1.0f);
  });
  add_range(first, other.first, 0, 0, first.size(), 1.0f);
  add_range(emissions, other.emissions, 0, 0, emissions.size(), 1.0f);
}

void HmmCounts::clear() {
  for (auto* values : {&pairs, &rows, &columns, &first, &emissions}) std::fill(values->begin(), values->end(), 0.0f);
}

HmmPrior::HmmPrior(const HmmShape& shape, const TokenText& text) {
  const std::uint32_t groups = shape.num_groups();
  std::vector<double> pairs(std::size_t{groups} * groups, 0.0), single(groups, 0.0);
  begin.assign(groups, 0.0);
  for (std::size_t s = 0; s < text.num_sentences(); ++s) {
    std::uint32_t last = NO_GROUP;
    const auto visit = [&](WordId w) {
      const std::uint32_t g = shape.word_group[w];
      ++single[g];
      ++(last == NO_GROUP ? begin[g] : pairs[std::size_t{last} * groups + g]);
      last = g;
    };
    for (const WordId w : text.sentence(s)) visit(w);
    if (shape.has_end) visit(SENTENCE_END);
  }
  double total = 0.0;
  for (double& n : single) total += n += 0.5;  // a group the text lacks can still come
  const auto normalise = [&](double* row) {
    double sum = 0.0;
    for (std::uint32_t h = 0; h < groups; ++h) sum += row[h];
    for (std::uint32_t h = 0; h < groups; ++h) {
      row[h] = (row[h] + GROUP_PRIOR * single[h] / total) / (sum + GROUP_PRIOR);
    }
  };
  for (std::uint32_t g = 0; g < groups; ++g) normalise(pairs.data() + std::size_t{g} * groups);
  normalise(begin.data());
  follow = std::move(pairs);

  std::vector<std::uint64_t> counts = text.counts(shape.num_words());
  if (counts[UNKNOWN] == 0) {
    // As many unknown words are to be expected as there are words that were new once (Good 1953).
    for (WordId w = NUM_SPECIAL_WORDS; w < shape.num_words(); ++w) {
      counts[UNKNOWN] += counts[w] == 1 && shape.word_group[w] == shape.word_group[UNKNOWN];
    }
  }
  std::vector<double> sum(shape.num_states(), 0.0);
  base.assign(shape.set_begin.back(), 0.0);
  for (WordId w = 0; w < shape.num_words(); ++w) {
    const StateSet set = shape.set(w);
    for (std::uint32_t i = 0; i < set.size; ++i) {
      // A word of the vocabulary that the text lacks counts once.
      base[shape.set_begin[w] + i] = std::max(1.0, static_cast<double>(counts[w])) / set.size;
      sum[shape.state(w, i)] += base[shape.set_begin[w] + i];
    }
  }
  for (WordId w = 0; w < shape.num_words(); ++w) {
    for (std::uint32_t i = 0; i < shape.set(w).size; ++i) base[shape.set_begin[w] + i] /= sum[shape.state(w, i)];
  }
}

HmmMargins::HmmMargins(const HmmShape& shape, const HmmCounts& all, const HmmCounts* without) {
  const std::uint32_t groups = shape.num_groups(), states = shape.num_states();
  leaving.assign(states, 0.0);
  entering.assign(states, 0.0);
  emitting.assign(states, 0.0);
  of_group.assign(groups, 0.0);
  const auto* rows = without == nullptr ? nullptr : &without->rows;
  const auto* columns = without == nullptr ? nullptr : &without->columns;
  const auto* first = without == nullptr ? nullptr : &without->first;
  const auto* emissions = without == nullptr ? nullptr : &without->emissions;
  for (HiddenState z = 0; z < states; ++z) {
    for (std::uint32_t h = 0; h < groups; ++h) leaving[z] += less(all.rows, rows, std::size_t{z} * groups + h);
    entering[z] = less(all.first, first, z);
  }
  for (std::uint32_t g = 0; g < groups; ++g) {
    for (HiddenState z = 0; z < states; ++z) entering[z] += less(all.columns, columns, std::size_t{g} * states + z);
  }
  for (std::uint32_t h = 0; h < groups; ++h) {
    for (HiddenState z = shape.group_begin[h]; z < shape.group_begin[h + 1]; ++z) of_group[h] += entering[z];
  }
  for (WordId w = 0; w < shape.num_words(); ++w) {
    for (std::uint32_t i = 0; i < shape.set(w).size; ++i) {
      emitting[shape.state(w, i)] += less(all.emissions, emissions, shape.set_begin[w] + i);
    }
  }
}

void smooth_block(const HmmShape& shape, const HmmPrior& prior, const HmmCounts& all, const HmmCounts* without,
                  const HmmMargins& margins, const Smoothing& smoothing, std::uint32_t g, std::uint32_t h,
                  float* out) {
  const std::uint32_t groups = shape.num_groups(), rows = shape.group_size(g), columns = shape.group_size(h);
  const std::size_t block = std::size_t{g} * groups + h, states = shape.num_states();
  const float* const pairs = all.has(block) ? all.pairs.data() + all.block_begin[block] : nullptr;
  const float* const less_pairs =
      without != nullptr && without->has(block) ? without->pairs.data() + without->block_begin[block] : nullptr;
  // p(z' | g, h), from all states of g together.
  std::vector<double> shared(columns);
  double sum = 0.0;
  for (std::uint32_t j = 0; j < columns; ++j) {
    shared[j] = less(all.columns, without == nullptr ? nullptr : &without->columns,
                     g * states + shape.group_begin[h] + j);
    sum += shared[j];
  }
  for (std::uint32_t j = 0; j < columns; ++j) {
    const double alone = margins.of_group[h] > 0.0 ? margins.entering[shape.group_begin[h] + j] / margins.of_group[h]
                                                   : 1.0 / columns;
    shared[j] = share(shared[j] + smoothing.group * alone, sum + smoothing.group);
  }
  std::vector<float> addend(columns);
  for (std::uint32_t j = 0; j < columns; ++j) addend[j] = static_cast<float>(smoothing.state * shared[j]);
  for (std::uint32_t i = 0; i < rows; ++i) {
    const std::size_t z = shape.group_begin[g] + i;
    const double leaving = less(all.rows, without == nullptr ? nullptr : &without->rows, z * groups + h);
    const double to_group =
        share(leaving + smoothing.cluster * prior.follow[block], margins.leaving[z] + smoothing.cluster);
    const auto factor = static_cast<float>(to_group * share(1.0, leaving + smoothing.state));
    float* const row = out + std::size_t{i} * columns;
    for (std::uint32_t j = 0; j < columns; ++j) {
      const std::size_t cell = std::size_t{i} * columns + j;
      float n = pairs == nullptr ? 0.0f : pairs[cell];
      if (less_pairs != nullptr) n = std::max(0.0f, n - less_pairs[cell]);
      row[j] = factor * (n + addend[j]);
    }
  }
}

std::vector<double> smooth_initial(const HmmShape& shape, const HmmPrior& prior, const HmmCounts& all,
                                   const HmmCounts* without, const HmmMargins& margins,
                                   const Smoothing& smoothing) {
  std::vector<double> result(shape.num_states(), 0.0);
  const auto* first = without == nullptr ? nullptr : &without->first;
  double all_first = 0.0;
  for (HiddenState z = 0; z < shape.num_states(); ++z) all_first += less(all.first, first, z);
  for (std::uint32_t h = 0; h < shape.num_groups(); ++h) {
    double sum = 0.0;
    for (HiddenState z = shape.group_begin[h]; z < shape.group_begin[h + 1]; ++z) sum += less(all.first, first, z);
    const double to_group = share(sum + smoothing.cluster * prior.begin[h], all_first + smoothing.cluster);
    for (HiddenState z = shape.group_begin[h]; z < shape.group_begin[h + 1]; ++z) {
      const double alone =
          margins.of_group[h] > 0.0 ? margins.entering[z] / margins.of_group[h] : 1.0 / shape.group_size(h);
      result[z] = to_group * share(less(all.first, first, z) + smoothing.state * alone, sum + smoothing.state);
    }
  }
  return result;
}

std::vector<double> smooth_emissions(const HmmShape& shape, const HmmPrior& prior, const HmmCounts& all,
                                     const HmmCounts* without, const HmmMargins& margins,
                                     const Smoothing& smoothing) {
  std::vector<double> result(shape.set_begin.back(), 0.0);
  const auto* emissions = without == nullptr ? nullptr : &without->emissions;
  for (WordId w = 0; w < shape.num_words(); ++w) {
    for (std::uint32_t i = 0; i < shape.set(w).size; ++i) {
      const std::size_t k = shape.set_begin[w] + i;
      result[k] = share(less(all.emissions, emissions, k) + smoothing.emission * prior.base[k],
                        margins.emitting[shape.state(w, i)] + smoothing.emission);
    }
  }
  return result;
}

}  // namespace hiddenite::hmm
