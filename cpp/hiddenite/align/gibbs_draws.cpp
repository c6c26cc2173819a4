// One sentence's part of a sweep: look its pairs up, draw its links.
#include <algorithm>
#include <cmath>

#include "hiddenite/align/gibbs.hpp"

namespace hiddenite::align {

// Slots of the cells' pairs of one table. Those that the filter lets through are fetched all before the first is
// looked at.
void GibbsChain::look_up(const PairCounts& table, std::span<const WordId> source, std::span<const WordId> target,
                         std::uint32_t* slots) {
  const std::size_t n = source.size(), m = target.size();
  std::fill(slots, slots + n * m, table.none());
  hashes_.resize(n);
  candidates_.resize(n * m + 1);
  for (std::size_t k = 0; k < n; ++k) hashes_[k] = PairCounts::hash_first(source[k]);
  const std::uint64_t* const hashes = hashes_.data();
  Candidate* const candidates = candidates_.data();
  std::size_t count = 0;
  for (std::size_t t = 0; t < m; ++t) {
    const std::uint64_t hash = PairCounts::hash_second(target[t]);
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t both = hashes[k] ^ hash;
      candidates[count] = {both, static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(k)};
      count += table.may_have(both);
    }
  }
  for (std::size_t c = 0; c < count; ++c) table.fetch(table.home(candidates[c].hash));
  for (std::size_t c = 0; c < count; ++c) {
    const auto [hash, t, k] = candidates[c];
    slots[t * n + k] = table.find(PairCounts::key(source[k], target[t]), table.home(hash));
  }
}

void GibbsChain::look_up_pairs(std::size_t s) {
  const auto source = bitext_.source.sentence(s), target = bitext_.target.sentence(s);
  const std::size_t n = source.size(), m = target.size();
  pairs_.reserve(n + m);
  stem_pairs_.reserve(n + m);
  pair_slots_.resize(n * m);
  stem_slots_.resize(n * m);
  priors_.resize(n * m);
  from_stems_.resize(n);
  to_stems_.resize(m);
  for (std::size_t k = 0; k < n; ++k) from_stems_[k] = bitext_.source.stem_of_word[source[k]];
  for (std::size_t t = 0; t < m; ++t) to_stems_[t] = bitext_.target.stem_of_word[target[t]];
  look_up(pairs_, source, target, pair_slots_.data());
  look_up(stem_pairs_, from_stems_, to_stems_, stem_slots_.data());
  const auto prior = static_cast<float>(options_.lexicon_prior);
  const std::uint32_t* const slots = pair_slots_.data();
  float* const priors = priors_.data();
  for (std::size_t cell = 0; cell < n * m; ++cell) priors[cell] = prior + pairs_[slots[cell]].likeness();
}

// Cells of the forward direction become those of the reverse one.
void GibbsChain::transpose_cells() {
  const std::size_t n = from_words_.size(), m = to_words_.size();  // of the reverse direction
  const auto turn = [&](auto& cells, auto& copy) {
    copy.resize(cells.size());
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t t = 0; t < m; ++t) copy[t * n + k] = cells[k * m + t];
    }
    cells.swap(copy);
  };
  turn(pair_slots_, slot_copy_);
  turn(stem_slots_, slot_copy_);
  turn(priors_, prior_copy_);
}

// `partners` are the other direction's links, which stay as they are while this one's are drawn.
void GibbsChain::open_direction(int d, std::size_t s, const std::uint32_t* partners) {
  from_words_ = from(d).sentence(s);
  to_words_ = to(d).sentence(s);
  if (d == 1) transpose_cells();
  const std::size_t n = from_words_.size(), m = to_words_.size();
  from_stems_.resize(n);
  to_stems_.resize(m);
  for (std::size_t k = 0; k < n; ++k) from_stems_[k] = from(d).stem_of_word[from_words_[k]];
  for (std::size_t t = 0; t < m; ++t) to_stems_[t] = to(d).stem_of_word[to_words_[t]];
  same_stem_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t next = k + 1;
    while (next < n && from_stems_[next] != from_stems_[k]) ++next;
    if (next == n) next = static_cast<std::size_t>(std::find(from_stems_.begin(), from_stems_.end(), from_stems_[k]) -
                                                   from_stems_.begin());
    same_stem_[k] = static_cast<std::uint32_t>(next);
  }
  lexicon_scale_.resize(n);
  stem_scale_.resize(n);
  ratios_.resize(n);
  weights_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    if (same_stem_[k] <= k) refresh_lexicon(d, k);
  }
  coupled_.assign(m + 1, NO_WORD);
  next_coupled_.resize(n);
  for (std::uint32_t k = 0; k < n; ++k) {
    next_coupled_[k] = coupled_[partners[k]];
    coupled_[partners[k]] = k;
  }
}

// Of all positions that have k's stem.
void GibbsChain::refresh_lexicon(int d, std::size_t k) {
  const GibbsDirection& dir = directions_[d];
  const WordId stem = from_stems_[k];
  const float stem_scale =
      static_cast<float>(options_.stem_weight) / (static_cast<float>(dir.stem_count[stem]) + stem_base_[d][stem]);
  std::size_t other = k;
  do {
    const WordId w = from_words_[other];
    stem_scale_[other] = stem_scale;
    lexicon_scale_[other] = 1.0f / (static_cast<float>(dir.word_count[w]) + word_base_[d][w]);
    other = same_stem_[other];
  } while (other != k);
}

// ------------------------------------------------------------- links come and go

// The pair of cell (t, k) gets a slot; so do the sentence's other cells of the same words.
void GibbsChain::enter_pair(int d, std::size_t t, std::size_t k) {
  const WordId e = from_words_[k], f = to_words_[t];
  const std::uint32_t slot = pairs_.insert(d == 0 ? PairCounts::key(e, f) : PairCounts::key(f, e));
  const std::size_t n = from_words_.size();
  for (std::size_t u = 0; u < to_words_.size(); ++u) {
    if (to_words_[u] != f) continue;
    for (std::size_t l = 0; l < n; ++l) {
      if (from_words_[l] == e) pair_slots_[u * n + l] = slot;
    }
  }
}

void GibbsChain::enter_stem_pair(int d, std::size_t t, std::size_t k) {
  const WordId e = from_stems_[k], f = to_stems_[t];
  const std::uint32_t slot = stem_pairs_.insert(d == 0 ? PairCounts::key(e, f) : PairCounts::key(f, e));
  const std::size_t n = from_words_.size();
  for (std::size_t u = 0; u < to_stems_.size(); ++u) {
    if (to_stems_[u] != f) continue;
    for (std::size_t l = 0; l < n; ++l) {
      if (from_stems_[l] == e) stem_slots_[u * n + l] = slot;
    }
  }
}

void GibbsChain::remove_link(int d, std::size_t t, std::size_t k) {
  const std::size_t cell = t * from_words_.size() + k;
  pairs_[pair_slots_[cell]].count[d] -= 1.0f;
  stem_pairs_[stem_slots_[cell]].count[d] -= 1.0f;
  directions_[d].word_count[from_words_[k]] -= 1.0;
  directions_[d].stem_count[from_stems_[k]] -= 1.0;
  refresh_lexicon(d, k);
}

void GibbsChain::add_link(int d, std::size_t t, std::size_t k) {
  const std::size_t cell = t * from_words_.size() + k;
  if (pair_slots_[cell] == pairs_.none()) enter_pair(d, t, k);
  if (stem_slots_[cell] == stem_pairs_.none()) enter_stem_pair(d, t, k);
  pairs_[pair_slots_[cell]].count[d] += 1.0f;
  stem_pairs_[stem_slots_[cell]].count[d] += 1.0f;
  directions_[d].word_count[from_words_[k]] += 1.0;
  directions_[d].stem_count[from_stems_[k]] += 1.0;
  refresh_lexicon(d, k);
}

// ------------------------------------------------------------------ draws

// Weights of token t's links into weights_; returns what the jump over a NULL weighs.
template <GibbsChain::Stage stage>
double GibbsChain::weigh_links(int d, std::size_t t, std::size_t last, std::size_t next) {
  const std::size_t n = from_words_.size();
  const std::uint32_t* const slots = pair_slots_.data() + t * n;
  const std::uint32_t* const stem_slots = stem_slots_.data() + t * n;
  const float* const priors = priors_.data() + t * n;
  const float share = share_of_stem_[d][to_words_[t]], stem_prior = static_cast<float>(options_.stem_prior);
  const float *const scales = lexicon_scale_.data(), *const stem_scales = stem_scale_.data();
  const PairCounts::Slot *const pairs = &pairs_[0], *const stem_pairs = &stem_pairs_[0];
  float* const weights = weights_.data();
  for (std::size_t k = 0; k < n; ++k) {
    const float by_stem = stem_scales[k] * share * (stem_pairs[stem_slots[k]].count[d] + stem_prior);
    weights[k] = (pairs[slots[k]].count[d] + priors[k] + by_stem) * scales[k];
  }
  double around = 1.0;
  if constexpr (stage != Stage::MODEL1) {
    const auto& [start, inner, end] = rows_[d];
    const auto before = static_cast<std::ptrdiff_t>(last), after = static_cast<std::ptrdiff_t>(next > 0 ? next : n + 1);
    const float* const from_last = (last > 0 ? inner : start).ahead.data() + reach_ + 1 - before;
    const float* const to_next = (next > 0 ? inner : end).back.data() + reach_ + 1 - after;
    const float* const ratios = ratios_.data();
    for (std::size_t k = 0; k < n; ++k) {
      weights[k] *= stage == Stage::FERTILITY ? from_last[k] * to_next[k] * ratios[k] : from_last[k] * to_next[k];
    }
    if (next > 0) {
      around = (last > 0 ? inner : start).ahead[static_cast<std::size_t>(reach_ + after - before)];
    } else if (last > 0) {
      around = end.ahead[static_cast<std::size_t>(reach_ + after - before)];
    }
  }
  const auto coupling = static_cast<float>(options_.coupling);
  for (std::uint32_t k = coupled_[t + 1]; k != NO_WORD; k = next_coupled_[k]) weights[k] *= coupling;
  return around;
}

void GibbsChain::collect_token(int d, std::size_t s, std::size_t t, double sum) {
  const std::size_t n = from_words_.size(), step = d == 0 ? 1 : to_words_.size();
  const std::uint64_t begin = meetings_.cell_begin[s] + (d == 0 ? t * n : t);
  std::uint8_t* const sums = directions_[d].cell_sums.data();
  const auto scale = static_cast<float>(format_.unit / sum);
  for (std::size_t k = 0; k < n; ++k) {
    const auto more = static_cast<std::uint32_t>(scale * weights_[k] + dither_);
    if (more == 0) continue;
    const std::uint64_t cell = begin + k * step;
    if (format_.width == 1) {
      sums[cell] = static_cast<std::uint8_t>(sums[cell] + std::min(more, format_.unit));
    } else {
      const std::uint32_t now = format_.read(directions_[d].cell_sums, cell) + std::min(more, format_.unit);
      sums[2 * cell] = static_cast<std::uint8_t>(now);
      sums[2 * cell + 1] = static_cast<std::uint8_t>(now >> 8);
    }
  }
}

// The sum of weights_, four at a time.
double GibbsChain::sum_weights() const {
  const float* const weights = weights_.data();
  const std::size_t n = weights_.size();
  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += weights[k + lane];
  }
  for (; k < n; ++k) sums[0] += weights[k];
  return static_cast<double>(sums[0] + sums[1]) + static_cast<double>(sums[2] + sums[3]);
}

// 0 is NULL, else a position + 1.
std::uint32_t GibbsChain::draw_link(double null, double sum, Random& random) const {
  double x = random.uniform() * (null + sum) - null;
  if (x < 0.0) return 0;
  const std::size_t n = weights_.size();
  for (std::size_t k = 0; k < n; ++k) {
    x -= static_cast<double>(weights_[k]);
    if (x < 0.0) return static_cast<std::uint32_t>(k + 1);
  }
  // Rounding left a rest.
  return static_cast<std::uint32_t>(std::max_element(weights_.begin(), weights_.end()) - weights_.begin() + 1);
}

template <GibbsChain::Stage stage>
double GibbsChain::draw_sentence(int d, std::size_t s, Random& random, bool collect) {
  const std::uint32_t* const partners = directions_[1 - d].links.data() + from(d).begin[s];
  open_direction(d, s, partners);
  GibbsDirection& dir = directions_[d];
  const std::size_t n = from_words_.size(), m = to_words_.size(), width = options_.max_fertility + 1;
  std::uint32_t* const links = dir.links.data() + to(d).begin[s];
  fertilities_.assign(n, 0);
  for (std::size_t t = 0; t < m; ++t) {
    if (links[t] > 0) ++fertilities_[links[t] - 1];
  }
  const auto set_ratio = [&](std::size_t k) {
    if constexpr (stage == Stage::FERTILITY) {
      ratios_[k] = dir.fertility[from_words_[k] * width + std::min<std::size_t>(fertilities_[k], width - 1)];
    }
  };
  for (std::size_t k = 0; k < n; ++k) set_ratio(k);
  const double null_scale = options_.null_probability / (1.0 - options_.null_probability);
  const double null_base = options_.null_prior * static_cast<double>(to(d).words.size());
  double log_total = 0.0, product = 1.0;
  std::size_t last = 0, next = 0, next_at = 0;  // the real links around t; positions + 1, 0 if none
  for (std::size_t t = 0; t < m; ++t) {
    const WordId word = to_words_[t];
    if (links[t] == 0) {
      dir.null_count[word] -= 1.0f;
      dir.null_total -= 1.0;
    } else {
      --fertilities_[links[t] - 1];
      set_ratio(links[t] - 1);
      remove_link(d, t, links[t] - 1);
    }
    if (next_at <= t) {
      for (next_at = t + 1; next_at < m && links[next_at] == 0;) ++next_at;
      next = next_at < m ? links[next_at] : 0;
    }
    const double around = weigh_links<stage>(d, t, last, next);
    const double null =
        null_scale * around * (dir.null_count[word] + options_.null_prior) / (dir.null_total + null_base);
    const double linked = sum_weights(), sum = null + linked;
    product *= sum;
    if (product < 1e-200 || product > 1e200) {
      log_total += std::log(product);
      product = 1.0;
    }
    if (collect) collect_token(d, s, t, sum);
    const std::uint32_t link = draw_link(null, linked, random);
    links[t] = link;
    if (link == 0) {
      dir.null_count[word] += 1.0f;
      dir.null_total += 1.0;
      continue;
    }
    add_link(d, t, link - 1);
    ++fertilities_[link - 1];
    set_ratio(link - 1);
    last = link;
  }
  return log_total + std::log(product);
}

double GibbsChain::sweep_sentence(Stage stage, int d, std::size_t s, Random& random, bool collect) {
  switch (stage) {
    case Stage::MODEL1: return draw_sentence<Stage::MODEL1>(d, s, random, collect);
    case Stage::HMM: return draw_sentence<Stage::HMM>(d, s, random, collect);
    case Stage::FERTILITY: break;
  }
  return draw_sentence<Stage::FERTILITY>(d, s, random, collect);
}

}  // namespace hiddenite::align
