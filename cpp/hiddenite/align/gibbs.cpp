#include "hiddenite/align/gibbs.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::align {

namespace {

constexpr double LEAST_RATIO = 1e-6;  // of a fertility beyond the largest

// The histogram's bin of a distance.
std::size_t bin(std::ptrdiff_t distance, std::uint32_t max_jump) {
  const auto most = static_cast<std::ptrdiff_t>(max_jump);
  return static_cast<std::size_t>(std::clamp(distance, -most, most) + most);
}

void normalise(std::vector<double>& counts, double uniform) {
  double total = 0.0;
  for (double& c : counts) total += c += 1e-3;
  for (double& c : counts) c = (1.0 - uniform) * c / total + uniform / static_cast<double>(counts.size());
}

}  // namespace

GibbsChain::GibbsChain(const Bitext& bitext, const PairTable& table, const GibbsOptions& options, std::uint64_t seed,
                       std::uint64_t chain, const BaseCounts* base)
    : bitext_(bitext), table_(table), options_(options), seed_(seed), chain_(chain), base_(base),
      pairs_(table.num_pairs()), stem_pairs_(table.num_stem_pairs, {0, 0}) {
  const auto collected = std::max<std::uint32_t>(1, options.sweeps() - options.first_collected());
  cell_unit_ = 65535u / collected;
  const auto prior = static_cast<float>(options.lexicon_prior);
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    pairs_[p] = {{0, 0}, prior + (table.likeness.empty() ? 0.0f : table.likeness[p]), table.stem_pair[p]};
  }
  for (int d = 0; d < 2; ++d) {
    const auto& partners = d == 0 ? table.source_partners : table.target_partners;
    const auto& likeness = d == 0 ? table.source_likeness : table.target_likeness;
    const auto& stem_partners = d == 0 ? table.source_stem_partners : table.target_stem_partners;
    for (std::size_t w = 0; w < partners.size(); ++w) {
      word_base_[d].push_back(prior * static_cast<float>(partners[w]) + likeness[w] +
                              static_cast<float>(options.stem_weight));
    }
    for (const std::uint32_t n : stem_partners) {
      stem_base_[d].push_back(static_cast<float>(options.stem_prior) * static_cast<float>(std::max(n, 1u)));
    }
    for (std::size_t w = 0; w < to(d).words.size(); ++w) {
      const std::uint32_t all = to(d).stem_count[to(d).stem_of_word[w]];
      share_of_stem_[d].push_back(all == 0 ? 0.0f : static_cast<float>(to(d).count[w]) / static_cast<float>(all));
    }
    Random random(seed, splitmix64(chain) ^ static_cast<std::uint64_t>(d));
    draw_first_links(d, random);
    count_all(d);
  }
}

void GibbsChain::restore(std::uint32_t sweeps_done, std::array<GibbsDirection, 2> directions) {
  for (int d = 0; d < 2; ++d) {
    bool fits = directions[d].links.size() == to(d).tokens.size();
    for (std::size_t s = 0; fits && s < bitext_.num_sentences(); ++s) {
      const std::size_t n = from(d).sentence(s).size();
      for (std::uint64_t t = to(d).begin[s]; t < to(d).begin[s + 1]; ++t) fits &= directions[d].links[t] <= n;
    }
    const bool collects = sweeps_done > options_.first_collected();
    fits &= directions[d].cell_sums.size() == (collects ? table_.cell.size() : 0);
    if (!fits) throw ModelError("the checkpoint was made for another text or other options");
  }
  done_ = sweeps_done;
  is_torn_ = false;
  for (Pair& pair : pairs_) pair.count = {0, 0};
  std::fill(stem_pairs_.begin(), stem_pairs_.end(), std::array<std::uint32_t, 2>{0, 0});
  for (int d = 0; d < 2; ++d) {
    directions_[d] = std::move(directions[d]);
    count_all(d);
  }
}

// ------------------------------------------------------------------ counts

void GibbsChain::open_sentence(int d, std::size_t s) {
  from_words_ = from(d).sentence(s);
  to_words_ = to(d).sentence(s);
  const std::uint32_t* const cell = table_.cell.data() + table_.cell_begin[s];
  const std::size_t n = from_words_.size(), m = to_words_.size();
  if (d == 0) {
    cells_.assign(cell, cell + n * m);
    return;
  }
  cells_.resize(n * m);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t t = 0; t < m; ++t) cells_[t * n + k] = cell[k * m + t];
  }
}

// Squared meetings over counts, near the diagonal: a start that needs no model.
void GibbsChain::draw_first_links(int d, Random& random) {
  GibbsDirection& dir = directions_[d];
  dir.links.assign(to(d).tokens.size(), 0);
  for (std::size_t s = 0; s < bitext_.num_sentences(); ++s) {
    check_interrupt();
    open_sentence(d, s);
    const std::size_t n = from_words_.size(), m = to_words_.size();
    if (n == 0) continue;
    weights_.resize(n);
    for (std::size_t t = 0; t < m; ++t) {
      const double here = (static_cast<double>(t) + 0.5) / static_cast<double>(m);
      double sum = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        const double meetings = table_.meetings[cells_[t * n + k]];
        const double there = (static_cast<double>(k) + 0.5) / static_cast<double>(n);
        const double expected = static_cast<double>(from(d).count[from_words_[k]]) * to(d).count[to_words_[t]];
        weights_[k] = sum += meetings * meetings / expected * std::exp(-options_.diagonal * std::abs(here - there));
      }
      dir.links[to(d).begin[s] + t] = static_cast<std::uint32_t>(1 + random.draw({weights_.data(), n}));
    }
  }
}

void GibbsChain::count_all(int d) {
  GibbsDirection& dir = directions_[d];
  dir.word_count.assign(from(d).words.size(), 0);
  dir.stem_count.assign(from(d).stems.size(), 0);
  dir.null_count.assign(to(d).words.size(), 0);
  dir.null_total = 0;
  if (base_) count_base(d);
  for (std::size_t s = 0; s < bitext_.num_sentences(); ++s) {
    check_interrupt();
    open_sentence(d, s);
    const std::uint32_t* const links = dir.links.data() + to(d).begin[s];
    for (std::size_t t = 0; t < to_words_.size(); ++t) {
      if (links[t] == 0) {
        ++dir.null_count[to_words_[t]];
        ++dir.null_total;
      } else {
        const std::size_t k = links[t] - 1;
        add_link(d, cells_[t * from_words_.size() + k], from_words_[k], 1);
      }
    }
  }
}

void GibbsChain::count_base(int d) {
  GibbsDirection& dir = directions_[d];
  dir.word_count = base_->word_links[d];
  dir.stem_count = base_->stem_links[d];
  dir.null_count = base_->null_links[d];
  for (const std::uint32_t n : dir.null_count) dir.null_total += n;
  for (std::size_t k = 0; k < base_->pairs.size(); ++k) {
    Pair& pair = pairs_[base_->pairs[k]];
    pair.count[d] += base_->pair_links[d][k];
    stem_pairs_[pair.stem][d] += base_->pair_links[d][k];
  }
}

// `change` is 1, or -1 as an unsigned number.
void GibbsChain::add_link(int d, std::uint32_t pair, WordId from_word, std::uint32_t change) {
  Pair& p = pairs_[pair];
  p.count[d] += change;
  stem_pairs_[p.stem][d] += change;
  directions_[d].word_count[from_word] += change;
  directions_[d].stem_count[from(d).stem_of_word[from_word]] += change;
}

void GibbsChain::estimate_jumps(int d, bool collect) {
  GibbsDirection& dir = directions_[d];
  const std::uint32_t most = options_.max_jump;
  JumpHistograms& jumps = dir.jumps;
  for (auto* h : {&jumps.start, &jumps.inner, &jumps.end}) h->assign(2 * most + 1, 0.0);
  for (std::size_t s = 0; s < bitext_.num_sentences(); ++s) {
    if (s % 1024 == 0) check_interrupt();
    const auto n = static_cast<std::ptrdiff_t>(from(d).sentence(s).size());
    std::ptrdiff_t last = 0;
    for (std::uint64_t t = to(d).begin[s]; t < to(d).begin[s + 1]; ++t) {
      const std::ptrdiff_t i = dir.links[t];
      if (i == 0) continue;
      jumps.inner[bin(i - last, most)] += last > 0;
      jumps.start[bin(i, most)] += last == 0;
      last = i;
    }
    if (last > 0) jumps.end[bin(n + 1 - last, most)] += 1.0;
  }
  const auto add = [](JumpHistograms& sums, const JumpHistograms& more) {
    for (const auto part : {&JumpHistograms::start, &JumpHistograms::inner, &JumpHistograms::end}) {
      (sums.*part).resize((more.*part).size(), 0.0);
      for (std::size_t k = 0; k < (more.*part).size(); ++k) (sums.*part)[k] += (more.*part)[k];
    }
  };
  if (collect) add(dir.jump_sums, jumps);
  if (base_) add(jumps, base_->jumps[d]);
  for (auto* h : {&jumps.start, &jumps.inner, &jumps.end}) normalise(*h, options_.uniform_jump);
}

void GibbsChain::estimate_fertilities(int d, bool collect) {
  GibbsDirection& dir = directions_[d];
  const std::size_t width = options_.max_fertility + 1;
  std::vector<float> histogram(from(d).words.size() * width, 0.0f);
  std::vector<double> global(width, 0.01);
  std::vector<std::uint32_t> counts;
  double total = 0.01 * static_cast<double>(width);
  for (std::size_t s = 0; s < bitext_.num_sentences(); ++s) {
    if (s % 1024 == 0) check_interrupt();
    const auto words = from(d).sentence(s);
    counts.assign(words.size() + 1, 0);
    for (std::uint64_t t = to(d).begin[s]; t < to(d).begin[s + 1]; ++t) ++counts[dir.links[t]];
    for (std::size_t k = 0; k < words.size(); ++k) {
      const std::size_t fertility = std::min<std::size_t>(counts[k + 1], options_.max_fertility);
      histogram[words[k] * width + fertility] += 1.0f;
      global[fertility] += 1.0;
      total += 1.0;
    }
  }
  if (collect) {
    dir.fertility_sums.resize(histogram.size(), 0.0f);
    for (std::size_t k = 0; k < histogram.size(); ++k) dir.fertility_sums[k] += histogram[k];
  }
  if (base_) {
    for (std::size_t k = 0; k < histogram.size(); ++k) {
      histogram[k] += base_->fertility[d][k];
      global[k % width] += base_->fertility[d][k];
      total += base_->fertility[d][k];
    }
  }
  for (double& g : global) g *= options_.fertility_weight / total;
  dir.fertility.assign(histogram.size(), LEAST_RATIO);
  for (std::size_t w = 0; w < from(d).words.size(); ++w) {
    const float* const h = histogram.data() + w * width;
    for (std::size_t c = 0; c + 1 < width; ++c) {
      dir.fertility[w * width + c] = (h[c + 1] + global[c + 1]) / (h[c] + global[c]);
    }
  }
}

// ------------------------------------------------------------------ sweeps

void GibbsChain::refresh_lexicon(int d, WordId stem) {
  const GibbsDirection& dir = directions_[d];
  for (std::size_t k = 0; k < from_words_.size(); ++k) {
    const WordId w = from_words_[k];
    if (from(d).stem_of_word[w] != stem) continue;
    lexicon_scale_[k] = 1.0 / (dir.word_count[w] + static_cast<double>(word_base_[d][w]));
    stem_scale_[k] = options_.stem_weight / (dir.stem_count[stem] + static_cast<double>(stem_base_[d][stem]));
  }
}

template <GibbsChain::Stage stage>
double GibbsChain::draw_sentence(int d, std::size_t s, Random& random, bool collect) {
  GibbsDirection& dir = directions_[d];
  open_sentence(d, s);
  const std::size_t n = from_words_.size(), m = to_words_.size();
  std::uint32_t* const links = dir.links.data() + to(d).begin[s];
  const std::uint32_t* const partners = directions_[1 - d].links.data() + from(d).begin[s];
  lexicon_scale_.resize(n);
  stem_scale_.resize(n);
  weights_.resize(n + 1);
  fertilities_.assign(n, 0);
  for (const WordId w : from_words_) refresh_lexicon(d, from(d).stem_of_word[w]);
  for (std::size_t t = 0; t < m; ++t) {
    if (links[t] > 0) ++fertilities_[links[t] - 1];
  }
  const double p0 = options_.null_probability;
  const double stem_prior = options_.stem_prior;
  const double null_scale = p0 / (1.0 - p0);
  const double null_base = options_.null_prior * static_cast<double>(to(d).words.size());
  const std::size_t width = options_.max_fertility + 1;
  const std::uint32_t most = options_.max_jump;
  double log_total = 0.0;
  std::size_t last = 0, next = 0;  // the real links around t; positions + 1, 0 if none
  for (std::size_t t = 0; t < m; ++t) {
    const WordId word = to_words_[t];
    const std::uint32_t* const row = cells_.data() + t * n;
    if (links[t] == 0) {
      --dir.null_count[word];
      --dir.null_total;
    } else {
      const std::size_t k = links[t] - 1;
      add_link(d, row[k], from_words_[k], static_cast<std::uint32_t>(-1));
      --fertilities_[k];
      refresh_lexicon(d, from(d).stem_of_word[from_words_[k]]);
    }
    double around = 1.0;  // the jump that NULL leaves
    if constexpr (stage != Stage::MODEL1) {
      std::size_t u = t + 1;
      while (u < m && links[u] == 0) ++u;
      next = u < m ? links[u] : 0;
      const auto signed_last = static_cast<std::ptrdiff_t>(last), signed_next = static_cast<std::ptrdiff_t>(next);
      const auto after_end = static_cast<std::ptrdiff_t>(n + 1);
      if (next > 0) {
        around = last > 0 ? dir.jumps.inner[bin(signed_next - signed_last, most)]
                          : dir.jumps.start[bin(signed_next, most)];
      } else {
        around = last > 0 ? dir.jumps.end[bin(after_end - signed_last, most)] : 1.0;
      }
    }
    const double share = share_of_stem_[d][word];
    double sum = weights_[0] = null_scale * around * (dir.null_count[word] + options_.null_prior) /
                               (static_cast<double>(dir.null_total) + null_base);
    for (std::size_t k = 0; k < n; ++k) {
      const Pair& pair = pairs_[row[k]];
      double w = (static_cast<double>(pair.count[d]) + static_cast<double>(pair.prior) +
                  stem_scale_[k] * share * (stem_pairs_[pair.stem][d] + stem_prior)) * lexicon_scale_[k];
      if constexpr (stage != Stage::MODEL1) {
        const auto here = static_cast<std::ptrdiff_t>(k + 1);
        w *= last > 0 ? dir.jumps.inner[bin(here - static_cast<std::ptrdiff_t>(last), most)]
                      : dir.jumps.start[bin(here, most)];
        w *= next > 0 ? dir.jumps.inner[bin(static_cast<std::ptrdiff_t>(next) - here, most)]
                      : dir.jumps.end[bin(static_cast<std::ptrdiff_t>(n + 1) - here, most)];
      }
      if constexpr (stage == Stage::FERTILITY) {
        w *= dir.fertility[from_words_[k] * width + std::min<std::size_t>(fertilities_[k], options_.max_fertility)];
      }
      if (partners[k] == t + 1) w *= options_.coupling;
      weights_[k + 1] = sum += w;
    }
    log_total += std::log(sum);
    const auto link = static_cast<std::uint32_t>(random.draw({weights_.data(), n + 1}));
    links[t] = link;
    if (link == 0) {
      ++dir.null_count[word];
      ++dir.null_total;
    } else {
      add_link(d, row[link - 1], from_words_[link - 1], 1);
      ++fertilities_[link - 1];
      refresh_lexicon(d, from(d).stem_of_word[from_words_[link - 1]]);
      last = link;
    }
    if (collect) {
      std::uint16_t* const sums = dir.cell_sums.data() + table_.cell_begin[s];
      const double scale = cell_unit_ / sum;
      for (std::size_t k = 0; k < n; ++k) {
        const auto p = static_cast<std::uint16_t>(scale * (weights_[k + 1] - weights_[k]) + 0.5);
        sums[d == 0 ? t * n + k : k * m + t] += p;
      }
    }
  }
  return log_total;
}

double GibbsChain::sweep(std::size_t begin, std::size_t end, std::uint64_t shard) {
  if (is_torn_) throw ModelError("the training was stopped within a sweep; begin again, or go on from its checkpoint");
  is_torn_ = true;
  Random random(seed_, splitmix64(chain_ + 1) ^ splitmix64(done_ + 1) ^ (shard == 0 ? 0 : splitmix64(~shard)));
  const bool fertile = done_ >= options_.model1_sweeps + options_.hmm_sweeps;
  const bool jumps = done_ >= options_.model1_sweeps;
  const bool collect = done_ >= options_.first_collected();
  for (int d = 0; d < 2; ++d) {
    if (jumps) estimate_jumps(d, collect);
    if (fertile) estimate_fertilities(d, collect);
    if (collect) directions_[d].cell_sums.resize(table_.cell.size(), 0);
  }
  double log_total = 0.0;
  for (std::size_t s = begin; s < std::min(end, bitext_.num_sentences()); ++s) {
    check_interrupt();
    for (int d = 0; d < 2; ++d) {
      log_total += fertile ? draw_sentence<Stage::FERTILITY>(d, s, random, collect)
                   : jumps ? draw_sentence<Stage::HMM>(d, s, random, collect)
                           : draw_sentence<Stage::MODEL1>(d, s, random, collect);
    }
  }
  ++done_;
  is_torn_ = false;
  const auto words = static_cast<double>(bitext_.source.tokens.size() + bitext_.target.tokens.size());
  return log_total / std::max(words, 1.0);
}

}  // namespace hiddenite::align
