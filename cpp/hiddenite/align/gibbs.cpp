#include "hiddenite/align/gibbs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::align {

namespace {

constexpr std::uint32_t FEWEST_JUMPS = 20;  // occurrences of a word with jumps of its own
constexpr std::uint64_t MANY_CELLS = 2'000'000;
constexpr std::uint32_t FEWEST_UNITS = 3;  // a probability's in one byte

constexpr auto HISTOGRAMS = {&JumpHistograms::start, &JumpHistograms::inner, &JumpHistograms::end};

void normalise(std::vector<double>& counts, double uniform) {
  double total = 0.0;
  for (double& c : counts) total += c += 1e-3;
  for (double& c : counts) c = (1.0 - uniform) * c / total + uniform / static_cast<double>(counts.size());
}

void add_to(JumpHistograms& sums, const JumpHistograms& more) {
  for (const auto part : HISTOGRAMS) {
    (sums.*part).resize((more.*part).size(), 0.0);
    for (std::size_t k = 0; k < (more.*part).size(); ++k) (sums.*part)[k] += (more.*part)[k];
  }
}

}  // namespace

CellFormat::CellFormat(std::uint64_t num_cells, const GibbsOptions& options) {
  const std::uint32_t terms = std::max<std::uint32_t>(1, options.num_collected() * options.chains);
  width = num_cells > MANY_CELLS && terms * FEWEST_UNITS <= 255 ? 1 : 2;
  unit = (width == 1 ? 255u : 65535u) / terms;
  if (unit == 0) throw ModelError("more than 65535 sweeps are averaged; ask for fewer sweeps or chains");
}

GibbsChain::GibbsChain(const Bitext& bitext, const Meetings& meetings, const GibbsOptions& options,
                       std::uint64_t seed, std::uint32_t lane, std::uint32_t lanes, const BaseCounts* base)
    : bitext_(bitext), meetings_(meetings), options_(options), format_(meetings.num_cells(), options), seed_(seed),
      lane_(lane), lanes_(lanes), base_(base), reach_(static_cast<std::ptrdiff_t>(meetings.longest) + 1) {
  if (std::max(bitext.source.words.size(), bitext.target.words.size()) > PairCounts::MAX_ID) {
    throw ModelError("a side has more than 268 million different words");
  }
  fill_priors();
  for (const AlikePair& pair : meetings.alike) {
    pairs_.add(PairCounts::key(pair.source, pair.target), pair.likeness);
    // Words are looked up where their stems are found.
    const WordId stem = bitext.source.stem_of_word[pair.source], other = bitext.target.stem_of_word[pair.target];
    stem_pairs_.add(PairCounts::key(stem, other), 1.0f);
  }
  begin_chain();
}

void GibbsChain::fill_priors() {
  const auto prior = static_cast<float>(options_.lexicon_prior), stem_prior = static_cast<float>(options_.stem_prior);
  for (int d = 0; d < 2; ++d) {
    for (std::size_t w = 0; w < meetings_.partners[d].size(); ++w) {
      word_base_[d].push_back(prior * static_cast<float>(meetings_.partners[d][w]) + meetings_.likeness[d][w] +
                              static_cast<float>(options_.stem_weight + options_.ending_weight));
    }
    for (const std::uint32_t n : meetings_.stem_partners[d]) {
      stem_base_[d].push_back(stem_prior * static_cast<float>(std::max(n, 1u)));
    }
    choose_jump_words(d);
    const TextSide& text = to(d);
    double tokens = static_cast<double>(std::max<std::size_t>(text.tokens.size(), 1));
    if (base_) tokens = std::accumulate(base_->word_seen[1 - d].begin(), base_->word_seen[1 - d].end(), tokens);
    for (std::size_t w = 0; w < text.words.size(); ++w) {
      const WordId stem = text.stem_of_word[w];
      const float seen = base_ ? base_->word_seen[1 - d][w] : 0.0f;
      const float seen_stem = base_ ? base_->stem_seen[1 - d][stem] : 0.0f;
      const float all = static_cast<float>(text.stem_count[stem]) + seen_stem;
      frequency_[d].push_back((static_cast<float>(text.count[w]) + seen) / static_cast<float>(tokens));
      share_of_stem_[d].push_back(all == 0.0f ? 0.0f : (static_cast<float>(text.count[w]) + seen) / all);
    }
  }
}

void GibbsChain::choose_jump_words(int d) {
  const TextSide& text = to(d);
  std::vector<WordId> frequent;
  for (WordId w = 0; w < text.words.size(); ++w) {
    if (text.count[w] >= FEWEST_JUMPS) frequent.push_back(w);
  }
  const auto is_before = [&](WordId a, WordId b) { return text.count[a] > text.count[b]; };
  std::stable_sort(frequent.begin(), frequent.end(), is_before);
  frequent.resize(std::min<std::size_t>(frequent.size(), options_.jump_words));
  jump_class_[d].assign(text.words.size(), 0);
  for (std::size_t k = 0; k < frequent.size(); ++k) jump_class_[d][frequent[k]] = static_cast<std::uint16_t>(k + 1);
  rows_[d].inner.resize(frequent.size() + 1);
}

void GibbsChain::begin_chain() {
  const std::uint64_t chain = lane_ + std::uint64_t{lanes_} * (done_ / std::max(options_.sweeps(), 1u));
  Random random(seed_, splitmix64(chain));
  for (PairCounts* const table : {&pairs_, &stem_pairs_, &ending_pairs_[0], &ending_pairs_[1]}) table->forget();
  for (GibbsDirection& dir : directions_) std::vector<float>().swap(dir.fertility);  // until it is estimated again
  draw_first_links(bitext_, options_.diagonal, random, {&directions_[0].links, &directions_[1].links});
  count_all();
#ifdef __GLIBC__
  malloc_trim(0);  // what the first links took is not needed again
#endif
}

void GibbsChain::restore(std::uint32_t sweeps_done, std::array<GibbsDirection, 2> directions) {
  for (int d = 0; d < 2; ++d) {
    bool fits = directions[d].links.size() == to(d).tokens.size();
    for (std::size_t s = 0; fits && s < bitext_.num_sentences(); ++s) {
      const std::size_t n = from(d).sentence(s).size();
      for (std::uint64_t t = to(d).begin[s]; t < to(d).begin[s + 1]; ++t) fits &= directions[d].links[t] <= n;
    }
    const bool collects = sweeps_done > options_.first_collected();
    fits &= directions[d].cell_sums.size() == (collects ? meetings_.num_cells() * format_.width : 0);
    if (!fits) throw ModelError("the checkpoint was made for another text or other options");
  }
  done_ = sweeps_done;
  is_torn_ = false;
  for (int d = 0; d < 2; ++d) directions_[d] = std::move(directions[d]);
  count_all();
}

std::size_t GibbsChain::bytes() const {
  std::size_t total = pairs_.bytes() + stem_pairs_.bytes() + ending_pairs_[0].bytes() + ending_pairs_[1].bytes();
  for (const GibbsDirection& dir : directions_) {
    total += 4 * dir.links.size() + dir.cell_sums.size() + 4 * (dir.fertility.size() + dir.fertility_sums.size());
  }
  return total;
}

// ------------------------------------------------------------------ counts

void GibbsChain::count_all() {
  for (PairCounts* const table : {&pairs_, &stem_pairs_, &ending_pairs_[0], &ending_pairs_[1]}) table->forget();
  for (int d = 0; d < 2; ++d) count_links(d);
}

void GibbsChain::count_links(int d) {
  GibbsDirection& dir = directions_[d];
  dir.word_count.assign(from(d).words.size(), 0.0);
  dir.stem_count.assign(from(d).stems.size(), 0.0);
  dir.ending_count.assign(from(d).endings.size(), 0.0);
  dir.null_count.assign(to(d).words.size(), 0.0f);
  dir.null_total = 0.0;
  if (base_) count_base(d);
  for (std::size_t s = 0; s < bitext_.num_sentences(); ++s) {
    check_interrupt();
    const auto from_words = from(d).sentence(s), to_words = to(d).sentence(s);
    const std::uint32_t* const links = dir.links.data() + to(d).begin[s];
    for (std::size_t t = 0; t < to_words.size(); ++t) {
      if (links[t] == 0) {
        dir.null_count[to_words[t]] += 1.0f;
        dir.null_total += 1.0;
        continue;
      }
      const WordId e = from_words[links[t] - 1], f = to_words[t];
      const WordId e_stem = from(d).stem_of_word[e], f_stem = to(d).stem_of_word[f];
      const auto key = d == 0 ? PairCounts::key(e, f) : PairCounts::key(f, e);
      const auto stem_key = d == 0 ? PairCounts::key(e_stem, f_stem) : PairCounts::key(f_stem, e_stem);
      pairs_[pairs_.add(key)].count[d] += 1.0f;
      stem_pairs_[stem_pairs_.add(stem_key)].count[d] += 1.0f;
      dir.word_count[e] += 1.0;
      dir.stem_count[e_stem] += 1.0;
      const WordId ending = from(d).ending_of_word[e];
      if (ending == NO_WORD) continue;
      ending_pairs_[d][ending_pairs_[d].add(PairCounts::key(ending, f))].count[0] += 1.0f;
      dir.ending_count[ending] += 1.0;
    }
  }
}

void GibbsChain::count_base(int d) {
  GibbsDirection& dir = directions_[d];
  dir.word_count = base_->word_links[d];
  dir.stem_count = base_->stem_links[d];
  dir.ending_count = base_->ending_links[d];
  dir.null_count = base_->null_links[d];
  for (const float n : dir.null_count) dir.null_total += n;
  for (const auto& pair : base_->pairs) {
    pairs_[pairs_.add(PairCounts::key(pair.source, pair.target))].count[d] += pair.links[d];
  }
  for (const auto& pair : base_->ending_pairs[d]) {
    ending_pairs_[d][ending_pairs_[d].add(PairCounts::key(pair.source, pair.target))].count[0] += pair.links[0];
  }
  for (const auto& pair : base_->stem_pairs) {
    stem_pairs_[stem_pairs_.add(PairCounts::key(pair.source, pair.target))].count[d] += pair.links[d];
  }
}

void GibbsChain::estimate_jumps(int d, Stage stage, bool collect) {
  GibbsDirection& dir = directions_[d];
  const std::uint32_t most = options_.max_jump;
  JumpHistograms& jumps = dir.jumps;
  for (const auto part : HISTOGRAMS) (jumps.*part).assign(2 * most + 1, 0.0);
  std::vector<std::uint64_t> linked(meetings_.longest + 1, 0);  // by position: the last sentence + 1 that links it
  double later = 0.0;                                           // links beyond the first of their word
  const std::size_t width = 2 * most + 1;
  std::vector<double> by_class(rows_[d].inner.size() * width, 0.0);
  for (std::size_t s = 0; s < bitext_.num_sentences(); ++s) {
    if (s % 1024 == 0) check_interrupt();
    const auto n = static_cast<std::ptrdiff_t>(from(d).sentence(s).size());
    std::ptrdiff_t last = 0;
    for (std::uint64_t t = to(d).begin[s]; t < to(d).begin[s + 1]; ++t) {
      const std::ptrdiff_t i = dir.links[t];
      if (i == 0) continue;
      const std::size_t bin = jump_bin(i - last, most);
      (last > 0 ? jumps.inner : jumps.start)[bin] += 1.0;
      if (last > 0) by_class[jump_class_[d][to(d).tokens[t]] * width + bin] += 1.0;
      later += linked[static_cast<std::size_t>(i)] == s + 1;
      linked[static_cast<std::size_t>(i)] = s + 1;
      last = i;
    }
    if (last > 0) jumps.end[jump_bin(n + 1 - last, most)] += 1.0;
  }
  if (stage == Stage::FERTILITY) {
    const double at_once = later > 0.0 ? jumps.inner[most] / later : 0.0;
    const auto set_stays = [&](double* histogram) {
      histogram[most] = 0.0;
      histogram[most] = at_once * std::accumulate(histogram, histogram + width, 0.0);
    };
    set_stays(jumps.inner.data());
    for (std::size_t begin = 0; begin < by_class.size(); begin += width) set_stays(by_class.data() + begin);
  }
  if (collect) add_to(dir.jump_sums, jumps);
  if (base_) add_to(jumps, base_->jumps[d]);
  for (const auto part : HISTOGRAMS) normalise(jumps.*part, options_.uniform_jump);
  spread_jumps(d, by_class);
}

// The inner jumps that were counted of each class become probabilities here.
void GibbsChain::spread_jumps(int d, std::vector<double>& by_class) {
  const JumpHistograms& jumps = directions_[d].jumps;
  JumpRows& rows = rows_[d];
  rows.start = spread(jumps.start.data());
  rows.end = spread(jumps.end.data());
  if (rows.inner.size() == 1) {
    rows.inner[0] = spread(jumps.inner.data());
    return;
  }
  const std::size_t width = jumps.inner.size();
  const double share = options_.uniform_jump / static_cast<double>(width), weight = options_.jump_weight;
  for (std::size_t c = 0; c < rows.inner.size(); ++c) {
    double* const histogram = by_class.data() + c * width;
    const double own = std::accumulate(histogram, histogram + width, 0.0), total = own + weight;
    for (std::size_t k = 0; k < width; ++k) {
      const double counted = (1.0 - options_.uniform_jump) * histogram[k] + own * share;
      histogram[k] = total > 0.0 ? (counted + weight * jumps.inner[k]) / total : jumps.inner[k];
    }
    rows.inner[c] = spread(histogram);
  }
}

GibbsChain::JumpRow GibbsChain::spread(const double* histogram) const {
  JumpRow row;
  row.ahead.resize(static_cast<std::size_t>(2 * reach_ + 1) + LANES, 0.0f);
  row.back.resize(row.ahead.size(), 0.0f);
  for (std::ptrdiff_t x = -reach_; x <= reach_; ++x) {
    const auto p = static_cast<float>(histogram[jump_bin(x, options_.max_jump)]);
    row.ahead[static_cast<std::size_t>(reach_ + x)] = p;
    row.back[static_cast<std::size_t>(reach_ - x)] = p;
  }
  return row;
}

void GibbsChain::estimate_fertilities(int d, bool collect) {
  constexpr float LEAST_RATIO = 1e-6f;  // of a fertility beyond the largest
  GibbsDirection& dir = directions_[d];
  const std::size_t width = options_.max_fertility + 1;
  std::vector<float>& histogram = dir.fertility;  // becomes ratios in place
  histogram.assign(from(d).words.size() * width, 0.0f);
  std::vector<double> global(width, 0.01);
  std::vector<std::uint32_t> counts;
  for (std::size_t s = 0; s < bitext_.num_sentences(); ++s) {
    if (s % 1024 == 0) check_interrupt();
    const auto words = from(d).sentence(s);
    counts.assign(words.size() + 1, 0);
    for (std::uint64_t t = to(d).begin[s]; t < to(d).begin[s + 1]; ++t) ++counts[dir.links[t]];
    for (std::size_t k = 0; k < words.size(); ++k) {
      histogram[words[k] * width + std::min<std::size_t>(counts[k + 1], options_.max_fertility)] += 1.0f;
    }
  }
  if (collect) dir.fertility_sums.resize(histogram.size(), 0.0f);
  for (std::size_t k = 0; k < histogram.size(); ++k) {
    if (collect) dir.fertility_sums[k] += histogram[k];
    if (base_) histogram[k] += base_->fertility[d][k];
    global[k % width] += histogram[k];
  }
  double total = 0.0;
  for (const double g : global) total += g;
  for (double& g : global) g *= options_.fertility_weight / total;
  for (std::size_t w = 0; w < from(d).words.size(); ++w) {
    float* const h = histogram.data() + w * width;
    for (std::size_t c = 0; c + 1 < width; ++c) {
      h[c] = static_cast<float>((h[c + 1] + global[c + 1]) / (h[c] + global[c]));
    }
    h[width - 1] = LEAST_RATIO;
  }
}

// ------------------------------------------------------------------ sweeps

double GibbsChain::sweep(std::size_t begin, std::size_t end, std::uint64_t shard) {
  if (is_torn_) throw ModelError("the training was stopped within a sweep; begin again, or go on from its checkpoint");
  is_torn_ = true;
  const std::uint32_t number = done_ % std::max(options_.sweeps(), 1u), round = done_ / std::max(options_.sweeps(), 1u);
  if (number == 0 && round > 0) begin_chain();
  const std::uint64_t chain = lane_ + std::uint64_t{lanes_} * round;
  Random random(seed_, splitmix64(chain + 1) ^ splitmix64(number + 1) ^ (shard == 0 ? 0 : splitmix64(~shard)));
  const bool collect = number >= options_.first_collected();
  const Stage stage = number >= options_.model1_sweeps + options_.hmm_sweeps ? Stage::FERTILITY
                      : number >= options_.model1_sweeps                      ? Stage::HMM
                                                                              : Stage::MODEL1;
  for (int d = 0; d < 2; ++d) {
    if (stage != Stage::MODEL1) estimate_jumps(d, stage, collect);
    if (stage == Stage::FERTILITY) estimate_fertilities(d, collect);
    if (collect) directions_[d].cell_sums.resize(meetings_.num_cells() * format_.width, 0);
  }
  // Multiples of the golden ratio: over the sweeps what is cut off evens out.
  const double place = 0.6180339887498949 * static_cast<double>(number + 1 + std::uint64_t{options_.sweeps()} * chain);
  dither_ = std::min(static_cast<float>(place - std::floor(place)), 0.999f);
  double log_total = 0.0;
  for (std::size_t s = begin; s < std::min(end, bitext_.num_sentences()); ++s) {
    check_interrupt();
    if (bitext_.source.sentence(s).empty() || bitext_.target.sentence(s).empty()) continue;
    read_sentence(s);
    for (int d = 0; d < 2; ++d) log_total += sweep_sentence(stage, d, s, random, collect);
  }
  ++done_;
  is_torn_ = false;
  const auto words = static_cast<double>(bitext_.source.tokens.size() + bitext_.target.tokens.size());
  return log_total / std::max(words, 1.0);
}

}  // namespace hiddenite::align
