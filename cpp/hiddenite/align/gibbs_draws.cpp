// One sentence's part of a sweep: read its counts, draw its links.
#include <algorithm>
#include <cmath>

#include "hiddenite/align/gibbs.hpp"

namespace hiddenite::align {

namespace {

// For each position the next one with the same id, round: its own where there is no other.
void link_equal(const std::vector<WordId>& ids, std::vector<std::uint32_t>& next) {
  next.resize(ids.size());
  std::uint64_t seen = 0;  // a bit for some ids each: most are new at a glance
  for (std::uint32_t k = 0; k < ids.size(); ++k) {
    const std::uint64_t bit = std::uint64_t{1} << (ids[k] & 63);
    next[k] = k;
    if (seen & bit) {
      std::uint32_t last = k;
      while (last-- > 0 && ids[last] != ids[k]) {
      }
      if (last < k) {
        next[k] = next[last];
        next[last] = k;
      }
    }
    seen |= bit;
  }
}

}  // namespace

// --------------------------------------------------------------- a sentence's counts

void GibbsChain::read_sentence(std::size_t s) {
  for (int side = 0; side < 2; ++side) {
    const TextSide& text = from(side);
    words_[side] = text.sentence(s);
    stems_[side].resize(words_[side].size());
    for (std::size_t k = 0; k < words_[side].size(); ++k) stems_[side][k] = text.stem_of_word[words_[side][k]];
    link_equal(stems_[side], same_stem_[side]);
    read_endings(side);
  }
  const std::size_t more = words_[0].size() + words_[1].size();
  for (PairCounts* const table : {&pairs_, &stem_pairs_, &ending_pairs_[0], &ending_pairs_[1]}) table->reserve(more);
  find_candidates(stem_pairs_, stems_[0], stems_[1], stem_candidates_);
  find_words();
  for (int d = 0; d < 2; ++d) {
    find_candidates(ending_pairs_[d], inflections_[d], words_[1 - d], ending_candidates_[d]);
  }
  for (auto* const cells : {&counts_, &stem_counts_, &ending_counts_}) {
    for (int d = 0; d < 2; ++d) (*cells)[d].assign(padded(words_[d].size()) * words_[1 - d].size(), 0.0f);
  }
  read_counts();
  read_stem_counts();
  for (int d = 0; d < 2; ++d) read_ending_counts(d);
}

void GibbsChain::read_endings(int side) {
  const TextSide& text = from(side);
  const std::size_t n = words_[side].size();
  endings_[side].resize(n);
  inflected_[side].clear();
  inflections_[side].clear();
  ids_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const WordId word = words_[side][k], ending = text.ending_of_word[word];
    endings_[side][k] = ending;
    ids_[k] = ending == NO_WORD ? static_cast<WordId>(text.endings.size()) + word : ending;
    if (ending == NO_WORD) continue;
    inflected_[side].push_back(static_cast<std::uint32_t>(k));
    inflections_[side].push_back(ending);
  }
  link_equal(ids_, same_ending_[side]);
}

// The cells whose pairs a table may have. Their slots are fetched: all, before the first is looked at.
void GibbsChain::find_candidates(const PairCounts& table, std::span<const WordId> source,
                                 std::span<const WordId> target, std::vector<Candidate>& found) {
  const std::size_t n = source.size(), m = target.size();
  hashes_.resize(n);
  found.resize(n * m + 1);
  for (std::size_t k = 0; k < n; ++k) hashes_[k] = PairCounts::hash_first(source[k]);
  const std::uint64_t* const hashes = hashes_.data();
  Candidate* const candidates = found.data();
  std::size_t count = 0;
  for (std::size_t t = 0; t < m; ++t) {
    const std::uint64_t hash = PairCounts::hash_second(target[t]);
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t both = hashes[k] ^ hash;
      candidates[count] = {both, static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(k)};
      count += table.may_have(both);
    }
  }
  found.resize(count);
  fetch_candidates(table, found);
}

// A pair of words that is linked or alike has a pair of stems, so that only the stems' candidates are asked for.
void GibbsChain::find_words() {
  const std::size_t n = words_[0].size(), m = words_[1].size();
  hashes_.resize(n + m);
  for (std::size_t k = 0; k < n; ++k) hashes_[k] = PairCounts::hash_first(words_[0][k]);
  for (std::size_t t = 0; t < m; ++t) hashes_[n + t] = PairCounts::hash_second(words_[1][t]);
  const std::uint64_t* const hashes = hashes_.data();
  candidates_.resize(stem_candidates_.size() + 1);
  std::size_t count = 0;
  for (const auto& [where, t, k] : stem_candidates_) {
    const std::uint64_t both = hashes[k] ^ hashes[n + t];
    candidates_[count] = {both, t, k};
    count += pairs_.may_have(both);
  }
  candidates_.resize(count);
  fetch_candidates(pairs_, candidates_);
}

void GibbsChain::fetch_candidates(const PairCounts& table, std::vector<Candidate>& found) {
  for (Candidate& candidate : found) {
    const std::uint32_t place = table.guess(candidate.where);
    candidate.where = place;
    table.fetch(place);
  }
}

// Of words' pairs; those of a word without an ending are its ending's too.
void GibbsChain::read_counts() {
  const std::size_t forward = padded(words_[0].size()), reverse = padded(words_[1].size());
  for (const auto& [where, t, k] : candidates_) {
    const PairCounts::Slot& slot =
        pairs_.at(PairCounts::key(words_[0][k], words_[1][t]), static_cast<std::uint32_t>(where));
    const std::size_t cell = t * forward + k, turned = k * reverse + t;
    const float likeness = slot.likeness();
    counts_[0][cell] = slot.count[0] + likeness;
    counts_[1][turned] = slot.count[1] + likeness;
    if (endings_[0][k] == NO_WORD) ending_counts_[0][cell] = slot.count[0];
    if (endings_[1][t] == NO_WORD) ending_counts_[1][turned] = slot.count[1];
  }
}

void GibbsChain::read_stem_counts() {
  const std::size_t forward = padded(words_[0].size()), reverse = padded(words_[1].size());
  for (const auto& [where, t, k] : stem_candidates_) {
    const PairCounts::Slot& slot =
        stem_pairs_.at(PairCounts::key(stems_[0][k], stems_[1][t]), static_cast<std::uint32_t>(where));
    stem_counts_[0][t * forward + k] = slot.count[0];
    stem_counts_[1][k * reverse + t] = slot.count[1];
  }
}

void GibbsChain::read_ending_counts(int d) {
  const std::size_t stride = padded(words_[d].size());
  for (const auto& [where, t, k] : ending_candidates_[d]) {
    const auto key = PairCounts::key(inflections_[d][k], words_[1 - d][t]);
    const PairCounts::Slot& slot = ending_pairs_[d].at(key, static_cast<std::uint32_t>(where));
    ending_counts_[d][t * stride + inflected_[d][k]] = slot.count[0];
  }
}

void GibbsChain::open_direction(int d, std::size_t s) {
  const GibbsDirection& dir = directions_[d];
  const std::size_t n = words_[d].size();
  stride_ = padded(n);
  for (auto* const row : {&totals_, &stem_totals_, &ending_totals_, &scales_, &stem_scales_, &ending_scales_, &ratios_,
                          &weights_}) {
    row->assign(stride_, 0.0f);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const WordId word = words_[d][k], stem = stems_[d][k], ending = endings_[d][k];
    totals_[k] = static_cast<float>(dir.word_count[word]) + word_base_[d][word];
    stem_totals_[k] = static_cast<float>(dir.stem_count[stem]) + stem_base_[d][stem];
    ending_totals_[k] = static_cast<float>((ending == NO_WORD ? dir.word_count[word] : dir.ending_count[ending]) +
                                           options_.ending_prior);
    set_scales(k);
    set_ending_scale(k);
  }
  // The other direction's links, which stay as they are while this one's are drawn.
  const std::uint32_t* const partners = directions_[1 - d].links.data() + from(d).begin[s];
  coupled_.assign(words_[1 - d].size() + 1, NO_WORD);
  next_coupled_.resize(n);
  for (std::uint32_t k = 0; k < n; ++k) {
    next_coupled_[k] = coupled_[partners[k]];
    coupled_[partners[k]] = k;
  }
  const std::uint32_t* const links = dir.links.data() + to(d).begin[s];
  fertilities_.assign(n, 0);
  for (std::size_t t = 0; t < words_[1 - d].size(); ++t) {
    if (links[t] > 0) ++fertilities_[links[t] - 1];
  }
}

// ------------------------------------------------------------- links come and go

void GibbsChain::set_scales(std::size_t k) {
  scales_[k] = 1.0f / totals_[k];
  stem_scales_[k] = static_cast<float>(options_.stem_weight) / stem_totals_[k];
}

void GibbsChain::set_ending_scale(std::size_t k) {
  ending_scales_[k] = static_cast<float>(options_.ending_weight) / ending_totals_[k];
}

// The sentence's own view of a link between t and k that comes (by = 1) or goes (-1): its pair, its stems and its
// ending can be in other cells too.
void GibbsChain::shift_counts(int d, std::size_t t, std::size_t k, float by) {
  const std::span<const WordId> from_words = words_[d], to_words = words_[1 - d];
  const std::uint32_t *const next_from = same_stem_[d].data(), *const next_to = same_stem_[1 - d].data();
  std::size_t l = k;
  do {
    const bool is_word = from_words[l] == from_words[k];
    std::size_t u = t;
    do {
      stem_counts_[d][u * stride_ + l] += by;
      if (is_word && to_words[u] == to_words[t]) counts_[d][u * stride_ + l] += by;
      u = next_to[u];
    } while (u != t);
    stem_totals_[l] += by;
    if (is_word) totals_[l] += by;
    set_scales(l);
    l = next_from[l];
  } while (l != k);
  const std::uint32_t* const next_ending = same_ending_[d].data();
  do {
    std::size_t u = t;
    do {
      if (to_words[u] == to_words[t]) ending_counts_[d][u * stride_ + l] += by;
      u = next_to[u];
    } while (u != t);
    ending_totals_[l] += by;
    set_ending_scale(l);
    l = next_ending[l];
  } while (l != k);
}

// The tables' view: token t's link has changed; 0 is NULL, else a position + 1.
void GibbsChain::move_link(int d, std::size_t t, std::uint32_t before, std::uint32_t now) {
  GibbsDirection& dir = directions_[d];
  const WordId f = words_[1 - d][t], f_stem = stems_[1 - d][t];
  for (const auto& [link, by] : {std::pair(before, -1.0f), std::pair(now, 1.0f)}) {
    if (link == 0) {
      dir.null_count[f] += by;
      dir.null_total += static_cast<double>(by);
      continue;
    }
    const WordId e = words_[d][link - 1], e_stem = stems_[d][link - 1];
    pairs_[pairs_.insert(d == 0 ? PairCounts::key(e, f) : PairCounts::key(f, e))].count[d] += by;
    const auto stem_key = d == 0 ? PairCounts::key(e_stem, f_stem) : PairCounts::key(f_stem, e_stem);
    stem_pairs_[stem_pairs_.insert(stem_key)].count[d] += by;
    dir.word_count[e] += static_cast<double>(by);
    dir.stem_count[e_stem] += static_cast<double>(by);
    const WordId ending = endings_[d][link - 1];
    if (ending == NO_WORD) continue;
    ending_pairs_[d][ending_pairs_[d].insert(PairCounts::key(ending, f))].count[0] += by;
    dir.ending_count[ending] += static_cast<double>(by);
  }
}

// ------------------------------------------------------------------ draws

// Weights of token t's links into weights_; returns their sum.
template <GibbsChain::Stage stage>
double GibbsChain::weigh_links(int d, std::size_t t, std::size_t last, std::size_t next, std::size_t next_at) {
  const float* const counts = counts_[d].data() + t * stride_;
  const float* const stem_counts = stem_counts_[d].data() + t * stride_;
  const float* const ending_counts = ending_counts_[d].data() + t * stride_;
  const float frequency = static_cast<float>(options_.ending_prior) * frequency_[d][words_[1 - d][t]];
  const float share = share_of_stem_[d][words_[1 - d][t]], stem_prior = static_cast<float>(options_.stem_prior);
  const auto prior = static_cast<float>(options_.lexicon_prior);
  const float *const scales = scales_.data(), *const stem_scales = stem_scales_.data();
  const float* const ending_scales = ending_scales_.data();
  const float* const ratios = ratios_.data();
  const float *from_last = nullptr, *to_next = nullptr;
  if constexpr (stage != Stage::MODEL1) {
    const auto after = static_cast<std::ptrdiff_t>(next > 0 ? next : words_[d].size() + 1);
    const JumpRow& here = last > 0 ? inner_jumps(d, t) : rows_[d].start;
    const JumpRow& there = next > 0 ? inner_jumps(d, next_at) : rows_[d].end;
    from_last = here.ahead.data() + reach_ + 1 - static_cast<std::ptrdiff_t>(last);
    to_next = there.back.data() + reach_ + 1 - after;
  }
  float* const weights = weights_.data();
  float sums[LANES] = {};
  for (std::size_t begin = 0; begin < stride_; begin += LANES) {
    for (std::size_t lane = 0; lane < LANES; ++lane) {
      const std::size_t k = begin + lane;
      const float by_stem = stem_scales[k] * share * (stem_counts[k] + stem_prior);
      const float by_ending = ending_scales[k] * (ending_counts[k] + frequency);
      float weight = (counts[k] + prior + by_stem + by_ending) * scales[k];
      if constexpr (stage == Stage::HMM) weight *= from_last[k] * to_next[k];
      if constexpr (stage == Stage::FERTILITY) weight *= from_last[k] * to_next[k] * ratios[k];
      weights[k] = weight;
      sums[lane] += weight;
    }
  }
  double sum = static_cast<double>(sums[0] + sums[1]) + static_cast<double>(sums[2] + sums[3]);
  const auto more = static_cast<float>(options_.coupling - 1.0);
  for (std::uint32_t k = coupled_[t + 1]; k != NO_WORD; k = next_coupled_[k]) {
    const float gain = more * weights[k];
    weights[k] += gain;
    sum += static_cast<double>(gain);
  }
  return sum;
}

// What the jump over a NULL weighs.
template <GibbsChain::Stage stage>
double GibbsChain::jump_around(int d, std::size_t last, std::size_t next, std::size_t next_at) const {
  if (stage == Stage::MODEL1 || (last == 0 && next == 0)) return 1.0;
  const auto before = static_cast<std::ptrdiff_t>(last);
  const auto after = static_cast<std::ptrdiff_t>(next > 0 ? next : words_[d].size() + 1);
  const JumpRow& row = next == 0 ? rows_[d].end : last > 0 ? inner_jumps(d, next_at) : rows_[d].start;
  return row.ahead[static_cast<std::size_t>(reach_ + after - before)];
}

void GibbsChain::collect_token(int d, std::size_t s, std::size_t t, double sum) {
  const std::size_t n = words_[d].size(), step = d == 0 ? 1 : words_[0].size();
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

// 0 is NULL, else a position + 1. The link there was comes first in the order: it is drawn most often.
std::uint32_t GibbsChain::draw_link(std::uint32_t before, double null, double sum, Random& random) const {
  double x = random.uniform() * (null + sum);
  if (before > 0 && (x -= static_cast<double>(weights_[before - 1])) < 0.0) return before;
  if ((x -= null) < 0.0) return 0;
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    if (k + 1 == before) continue;
    x -= static_cast<double>(weights_[k]);
    if (x < 0.0) return static_cast<std::uint32_t>(k + 1);
  }
  // Rounding left a rest.
  return static_cast<std::uint32_t>(std::max_element(weights_.begin(), weights_.end()) - weights_.begin() + 1);
}

template <GibbsChain::Stage stage>
double GibbsChain::draw_sentence(int d, std::size_t s, Random& random, bool collect) {
  open_direction(d, s);
  GibbsDirection& dir = directions_[d];
  const std::size_t n = words_[d].size(), m = words_[1 - d].size(), width = options_.max_fertility + 1;
  std::uint32_t* const links = dir.links.data() + to(d).begin[s];
  const auto set_ratio = [&](std::size_t k) {
    if constexpr (stage == Stage::FERTILITY) {
      ratios_[k] = dir.fertility[words_[d][k] * width + std::min<std::size_t>(fertilities_[k], width - 1)];
    }
  };
  for (std::size_t k = 0; k < n; ++k) set_ratio(k);
  const auto shift_link = [&](std::size_t t, std::size_t k, int by) {
    shift_counts(d, t, k, static_cast<float>(by));
    fertilities_[k] += static_cast<std::uint32_t>(by);
    set_ratio(k);
  };
  const double null_scale = options_.null_probability / (1.0 - options_.null_probability);
  const double null_base = options_.null_prior * static_cast<double>(to(d).words.size());
  double log_total = 0.0, product = 1.0;
  std::size_t last = 0, next = 0, next_at = 0;  // the real links around t; positions + 1, 0 if none
  for (std::size_t t = 0; t < m; ++t) {
    const std::uint32_t before = links[t];
    if (before > 0) shift_link(t, before - 1, -1);
    if (next_at <= t) {
      for (next_at = t + 1; next_at < m && links[next_at] == 0;) ++next_at;
      next = next_at < m ? links[next_at] : 0;
    }
    const double linked = weigh_links<stage>(d, t, last, next, next_at), own = before == 0 ? 1.0 : 0.0;
    const double null = null_scale * jump_around<stage>(d, last, next, next_at) *
                        (static_cast<double>(dir.null_count[words_[1 - d][t]]) - own + options_.null_prior) /
                        (dir.null_total - own + null_base);
    const double sum = null + linked;
    product *= sum;
    if (product < 1e-200 || product > 1e200) {
      log_total += std::log(product);
      product = 1.0;
    }
    if (collect) collect_token(d, s, t, sum);
    const std::uint32_t link = draw_link(before, null, linked, random);
    if (link > 0) {
      shift_link(t, link - 1, 1);
      last = link;
    }
    if (link == before) continue;
    move_link(d, t, before, link);
    links[t] = link;
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
