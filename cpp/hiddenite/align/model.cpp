#include "hiddenite/align/model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::align {

namespace {

void require(bool fits, const char* what) {
  if (!fits) throw ModelError(std::string("the alignment model's ") + what + " do not fit together");
}

double log_or_zero(double x) { return x > 0.0 ? std::log(x) : LOG_ZERO; }

}  // namespace

AlignmentModel::AlignmentModel(AlignmentTables tables, const GibbsOptions& options, bool string_prior)
    : tables_(std::move(tables)), options_(options), string_prior_(string_prior) {
  const std::size_t fertility_width = options.max_fertility + 1;
  for (int side = 0; side < 2; ++side) {
    const std::size_t n = tables_.words[side].size();
    require(tables_.word_count[side].size() == n && tables_.partners[side].size() == n &&
                tables_.likeness[side].size() == n && tables_.null_count[1 - side].size() == n &&
                tables_.fertility[side].size() == n * fertility_width, "word tables");
    for (const auto& h : tables_.jumps[side]) require(h.size() == 2 * options.max_jump + 1, "jump histograms");
    for (std::size_t w = 0; w < n; ++w) {
      const WordId id = words_[side].add(tables_.words[side][w]);
      require(id == NUM_SPECIAL_WORDS + w, "words");
      const WordId stem = stems_[side].add(stem_of(tables_.words[side][w]));
      stem_of_word_[side].push_back(stem);
      stem_occurrences_[side].resize(stems_[side].size(), 0.0);
      stem_occurrences_[side][stem] += tables_.word_count[side][w];
    }
    word_links_[side].assign(n, 0.0);
    stem_links_[side].assign(stems_[side].size(), 0.0);
    stem_partners_[side].assign(stems_[side].size(), 0.0);
  }
  const std::size_t num_pairs = tables_.pair_source.size();
  require(tables_.pair_target.size() == num_pairs && tables_.pair_count[0].size() == num_pairs &&
              tables_.pair_count[1].size() == num_pairs, "pairs");
  for (std::size_t p = 0; p < num_pairs; ++p) {
    const std::uint32_t e = tables_.pair_source[p], f = tables_.pair_target[p];
    require(e < tables_.words[0].size() && f < tables_.words[1].size(), "pairs and words");
    pair_place_.emplace(pair_key(e, f), static_cast<std::uint32_t>(p));
    const auto [place, is_new] =
        stem_pairs_.try_emplace(pair_key(stem_of_word_[0][e], stem_of_word_[1][f]), std::array<double, 2>{0.0, 0.0});
    for (int d = 0; d < 2; ++d) {
      const double links = tables_.pair_count[d][p];
      const std::uint32_t from = d == 0 ? e : f;
      place->second[d] += links;
      word_links_[d][from] += links;
      stem_links_[d][stem_of_word_[d][from]] += links;
      stem_partners_[d][stem_of_word_[d][from]] += is_new;
    }
  }
  for (int d = 0; d < 2; ++d) {
    for (const float c : tables_.null_count[d]) null_total_[d] += c;
    std::vector<double>& global = global_fertility_[d];
    global.assign(fertility_width, 0.01);
    double total = 0.01 * static_cast<double>(fertility_width);
    for (std::size_t k = 0; k < tables_.fertility[d].size(); ++k) {
      global[k % fertility_width] += tables_.fertility[d][k];
      total += tables_.fertility[d][k];
      has_fertilities_ |= tables_.fertility[d][k] > 0.0f;
    }
    for (double& g : global) g /= total;
    fertility_total_[d] = total;
    set_jump_probs(d);
  }
}

void AlignmentModel::set_jump_probs(int d) {
  for (int h = 0; h < 3; ++h) {
    std::vector<double>& probs = jump_probs_[d][h] = tables_.jumps[d][h];
    double sum = 0.0;
    for (double& p : probs) sum += p += 1e-3;
    for (double& p : probs) {
      p = (1.0 - options_.uniform_jump) * p / sum + options_.uniform_jump / static_cast<double>(probs.size());
    }
  }
}

AlignmentModel::Word AlignmentModel::look_up(int side, std::string_view word) const {
  const WordId id = words_[side].find(word);
  const WordId stem = stems_[side].find(stem_of(word));
  return {id == NO_WORD || id < NUM_SPECIAL_WORDS ? NO_WORD : id - NUM_SPECIAL_WORDS, stem, word};
}

double AlignmentModel::lexicon(int d, const Word& from, const Word& to) const {
  // A new word may translate any word.
  double links = 0.0, total = 0.0, likeness_total = 0.0;
  double partners = static_cast<double>(tables_.words[1 - d].size() + 1);
  if (from.id != NO_WORD) {
    total = word_links_[d][from.id];
    partners = std::max<double>(tables_.partners[d][from.id], 1.0);
    likeness_total = tables_.likeness[d][from.id];
    if (to.id != NO_WORD) {
      const auto found = pair_place_.find(d == 0 ? pair_key(from.id, to.id) : pair_key(to.id, from.id));
      if (found != pair_place_.end()) links = tables_.pair_count[d][found->second];
    }
  }
  const double likeness = string_prior_ ? spelling_likeness(from.spelling, to.spelling) : 0.0;
  double by_stems = 0.0;
  if (options_.stem_weight > 0.0) {
    double stem_links = 0.0, stem_total = 0.0, share = 1.0;
    double stem_partners = static_cast<double>(stems_[1 - d].size() + 1);
    if (from.stem != NO_WORD) {
      stem_total = stem_links_[d][from.stem];
      stem_partners = std::max(stem_partners_[d][from.stem], 1.0);
      if (to.stem != NO_WORD) {
        const auto found = stem_pairs_.find(d == 0 ? pair_key(from.stem, to.stem) : pair_key(to.stem, from.stem));
        if (found != stem_pairs_.end()) stem_links = found->second[d];
      }
    }
    if (to.stem != NO_WORD) {
      // A new word is taken to have been seen once.
      const double seen = to.id == NO_WORD ? 1.0 : tables_.word_count[1 - d][to.id];
      share = seen / std::max(stem_occurrences_[1 - d][to.stem] + (to.id == NO_WORD), 1.0);
    }
    by_stems = options_.stem_weight * share * (stem_links + options_.stem_prior) /
               (stem_total + options_.stem_prior * stem_partners);
  }
  return (links + options_.lexicon_prior + likeness + by_stems) /
         (total + options_.lexicon_prior * partners + std::max(likeness_total, likeness) + options_.stem_weight);
}

void AlignmentModel::fill_jumps(int d, FertilityHmm& hmm) const {
  const auto n = static_cast<std::ptrdiff_t>(hmm.num_sources);
  const auto most = static_cast<std::ptrdiff_t>(options_.max_jump);
  const auto log_prob = [&](int histogram, std::ptrdiff_t distance) {
    return std::log(jump_probs_[d][histogram][static_cast<std::size_t>(std::clamp(distance, -most, most) + most)]);
  };
  for (std::ptrdiff_t from = 0; from <= n; ++from) {
    for (std::ptrdiff_t to = 1; to <= n; ++to) {
      hmm.jump[static_cast<std::size_t>(from * (n + 1) + to)] = from == 0 ? log_prob(0, to) : log_prob(1, to - from);
    }
    hmm.end[static_cast<std::size_t>(from)] = from == 0 ? 0.0 : log_prob(2, n + 1 - from);
  }
}

void AlignmentModel::fill_fertilities(int d, const std::vector<Word>& from, FertilityHmm& hmm) const {
  const std::size_t width = hmm.max_fertility + 1;
  const double weight = options_.fertility_weight;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const float* counts = from[i].id == NO_WORD ? nullptr : tables_.fertility[d].data() + from[i].id * width;
    double total = 0.0;
    for (std::size_t c = 0; counts && c < width; ++c) total += counts[c];
    for (std::size_t c = 0; c < width; ++c) {
      hmm.fertility[(i + 1) * width + c] =
          std::log(((counts ? counts[c] : 0.0) + weight * global_fertility_[d][c]) / (total + weight));
    }
  }
}

FertilityHmm AlignmentModel::hmm(std::size_t direction,
                                 const std::array<std::vector<std::string_view>, 2>& words) const {
  if (direction > 1) throw std::out_of_range("the direction is 0 or 1");
  const auto d = static_cast<int>(direction);
  std::array<std::vector<Word>, 2> looked_up;
  for (int side = 0; side < 2; ++side) {
    for (const std::string_view word : words[side]) looked_up[side].push_back(look_up(side, word));
  }
  const std::vector<Word>& from = looked_up[d];
  const std::vector<Word>& to = looked_up[1 - d];
  FertilityHmm hmm(from.size(), to.size(), has_fertilities_ ? options_.max_fertility : to.size());
  const double p0 = options_.null_probability;
  const double null_base = options_.null_prior * static_cast<double>(tables_.null_count[d].size() + 1);
  for (std::size_t j = 0; j < to.size(); ++j) {
    check_interrupt();
    const double null_count = to[j].id == NO_WORD ? 0.0 : tables_.null_count[d][to[j].id];
    hmm.emission[j][0] = log_or_zero(p0 * (null_count + options_.null_prior) / (null_total_[d] + null_base));
    for (std::size_t i = 0; i < from.size(); ++i) {
      hmm.emission[j][i + 1] = log_or_zero((1.0 - p0) * lexicon(d, from[i], to[j]));
    }
  }
  fill_jumps(d, hmm);
  if (has_fertilities_) fill_fertilities(d, from, hmm);
  return hmm;
}

// ------------------------------------------------------------- from chains

namespace {

// Expected links of each pair, and of each word with NULL.
struct LinkSums {
  PairCounts pairs;
  std::array<std::vector<float>, 2> unlinked;  // by the generated word
};

LinkSums sum_links(const Bitext& bitext, const Meetings& meetings, const ChainLanes& lanes,
                   const GibbsOptions& options) {
  LinkSums result;
  const CellFormat& format = lanes.front()->cell_format();
  const double share = 1.0 / (static_cast<double>(options.num_collected()) * options.chains * format.unit);
  for (int d = 0; d < 2; ++d) {
    const TextSide& to = d == 0 ? bitext.target : bitext.source;
    result.unlinked[d].assign(to.count.begin(), to.count.end());
  }
  for (std::size_t s = 0; s < bitext.num_sentences(); ++s) {
    if (s % 1024 == 0) check_interrupt();
    const auto source = bitext.source.sentence(s), target = bitext.target.sentence(s);
    for (std::size_t cell = 0; cell < source.size() * target.size(); ++cell) {
      const WordId words[2] = {source[cell % source.size()], target[cell / source.size()]};
      std::array<std::uint32_t, 2> sums{0, 0};
      for (int d = 0; d < 2; ++d) {
        for (const auto& lane : lanes) {
          sums[d] += format.read(lane->direction(d).cell_sums, meetings.cell_begin[s] + cell);
        }
      }
      if (sums[0] == 0 && sums[1] == 0) continue;
      PairCounts::Slot& slot = result.pairs[result.pairs.add(PairCounts::key(words[0], words[1]))];
      for (int d = 0; d < 2; ++d) {
        const auto links = static_cast<float>(sums[d] * share);
        slot.count[d] += links;
        result.unlinked[d][words[1 - d]] -= links;
      }
    }
  }
  return result;
}

}  // namespace

AlignmentTables expected_counts(const Bitext& bitext, const Meetings& meetings, const ChainLanes& lanes,
                                const GibbsOptions& options, double least) {
  AlignmentTables result;
  const LinkSums sums = sum_links(bitext, meetings, lanes, options);
  const double share = 1.0 / (static_cast<double>(options.num_collected()) * options.chains);
  const std::size_t width = options.max_fertility + 1;
  for (int side = 0; side < 2; ++side) {
    const TextSide& text = side == 0 ? bitext.source : bitext.target;
    const std::size_t first = NUM_SPECIAL_WORDS;  // rows of special words are left out
    for (WordId w = first; w < text.words.size(); ++w) result.words[side].emplace_back(text.words.word(w));
    const auto tail = [&](const auto& values) {
      return std::vector(values.begin() + static_cast<std::ptrdiff_t>(std::min(first, values.size())), values.end());
    };
    result.word_count[side] = tail(text.count);
    result.partners[side] = tail(meetings.partners[side]);
    result.likeness[side] = tail(meetings.likeness[side]);
    result.null_count[1 - side] = tail(sums.unlinked[1 - side]);
    for (float& c : result.null_count[1 - side]) c = std::max(c, 0.0f);
    std::vector<double> fertility(text.words.size() * width, 0.0);
    for (int h = 0; h < 3; ++h) result.jumps[side][h].assign(2 * options.max_jump + 1, 0.0);
    for (const auto& lane : lanes) {
      const GibbsDirection& dir = lane->direction(side);
      for (std::size_t k = 0; k < dir.fertility_sums.size(); ++k) fertility[k] += dir.fertility_sums[k];
      const std::vector<double>* const histograms[3] = {&dir.jump_sums.start, &dir.jump_sums.inner, &dir.jump_sums.end};
      for (int h = 0; h < 3; ++h) {
        for (std::size_t k = 0; k < histograms[h]->size(); ++k) result.jumps[side][h][k] += (*histograms[h])[k];
      }
    }
    for (auto& histogram : result.jumps[side]) {
      for (double& c : histogram) c *= share;
    }
    for (double& c : fertility) c *= share;
    result.fertility[side].assign(fertility.begin() + static_cast<std::ptrdiff_t>(first * width), fertility.end());
  }
  std::vector<std::pair<std::uint64_t, std::array<float, 2>>> kept;
  sums.pairs.each([&](WordId e, WordId f, const PairCounts::Slot& slot) {
    if (slot.count[0] < least && slot.count[1] < least) return;
    if (e < NUM_SPECIAL_WORDS || f < NUM_SPECIAL_WORDS) return;
    kept.emplace_back(pair_key(e - NUM_SPECIAL_WORDS, f - NUM_SPECIAL_WORDS), slot.count);
  });
  std::sort(kept.begin(), kept.end());
  for (const auto& [key, count] : kept) {
    result.pair_source.push_back(static_cast<std::uint32_t>(key >> 32));
    result.pair_target.push_back(static_cast<std::uint32_t>(key));
    for (int d = 0; d < 2; ++d) result.pair_count[d].push_back(count[d]);
  }
  return result;
}

// --------------------------------------------------------- going on from a model

namespace {

// Multiples of 1 / 64, which chains add and take whole links to and from without rounding.
float in_parts(double links) { return static_cast<float>(std::round(links * 64.0) / 64.0); }

// The ids that the earlier words, stems and endings have in this text.
struct WordsHere {
  std::array<std::vector<WordId>, 2> words, stems, endings;
};

WordsHere add_words(const Bitext& bitext, const AlignmentTables& earlier, std::size_t width, BaseCounts& base) {
  WordsHere here;
  for (int side = 0; side < 2; ++side) {
    const TextSide& text = side == 0 ? bitext.source : bitext.target;
    base.word_links[side].assign(text.words.size(), 0.0);
    base.stem_links[side].assign(text.stems.size(), 0.0);
    base.ending_links[side].assign(text.endings.size(), 0.0);
    base.null_links[1 - side].assign(text.words.size(), 0.0f);
    base.word_seen[side].assign(text.words.size(), 0.0f);
    base.stem_seen[side].assign(text.stems.size(), 0.0f);
    base.fertility[side].assign(text.words.size() * width, 0.0f);
    for (std::size_t w = 0; w < earlier.words[side].size(); ++w) {
      const WordId id = text.words.find(earlier.words[side][w]);
      const WordId stem = text.stems.find(stem_of(earlier.words[side][w]));
      here.words[side].push_back(id);
      here.stems[side].push_back(stem);
      const std::string ending = ending_of(earlier.words[side][w]);
      here.endings[side].push_back(ending.empty() ? NO_WORD : text.endings.find(ending));
      if (stem != NO_WORD) base.stem_seen[side][stem] += static_cast<float>(earlier.word_count[side][w]);
      if (id == NO_WORD) continue;
      base.word_seen[side][id] = static_cast<float>(earlier.word_count[side][w]);
      base.null_links[1 - side][id] = in_parts(earlier.null_count[1 - side][w]);
      for (std::size_t c = 0; c < width; ++c) {
        base.fertility[side][id * width + c] = earlier.fertility[side][w * width + c];
      }
    }
  }
  return here;
}

}  // namespace

BaseCounts base_counts(const Bitext& bitext, const AlignmentTables& earlier, const GibbsOptions& options) {
  BaseCounts base;
  const WordsHere here = add_words(bitext, earlier, options.max_fertility + 1, base);
  for (int d = 0; d < 2; ++d) {
    base.jumps[d] = {earlier.jumps[d][0], earlier.jumps[d][1], earlier.jumps[d][2]};
  }
  PairCounts stem_pairs;
  std::array<PairCounts, 2> ending_pairs;
  for (std::size_t p = 0; p < earlier.pair_source.size(); ++p) {
    const std::uint32_t places[2] = {earlier.pair_source[p], earlier.pair_target[p]};
    const std::array<float, 2> links{in_parts(earlier.pair_count[0][p]), in_parts(earlier.pair_count[1][p])};
    WordId words[2], stems[2];
    for (int side = 0; side < 2; ++side) {
      words[side] = here.words[side][places[side]];
      stems[side] = here.stems[side][places[side]];
      if (words[side] != NO_WORD) base.word_links[side][words[side]] += static_cast<double>(links[side]);
      if (stems[side] != NO_WORD) base.stem_links[side][stems[side]] += static_cast<double>(links[side]);
    }
    for (int d = 0; d < 2; ++d) {
      const WordId ending = here.endings[d][places[d]];
      if (ending == NO_WORD) continue;
      base.ending_links[d][ending] += static_cast<double>(links[d]);
      if (words[1 - d] == NO_WORD) continue;
      ending_pairs[d][ending_pairs[d].add(PairCounts::key(ending, words[1 - d]))].count[0] += links[d];
    }
    if (words[0] != NO_WORD && words[1] != NO_WORD) base.pairs.push_back({words[0], words[1], links});
    if (stems[0] == NO_WORD || stems[1] == NO_WORD) continue;
    PairCounts::Slot& slot = stem_pairs[stem_pairs.add(PairCounts::key(stems[0], stems[1]))];
    for (int d = 0; d < 2; ++d) slot.count[d] += links[d];
  }
  stem_pairs.each([&](WordId e, WordId f, const PairCounts::Slot& slot) {
    base.stem_pairs.push_back({e, f, slot.count});
  });
  for (int d = 0; d < 2; ++d) {
    ending_pairs[d].each([&](WordId ending, WordId f, const PairCounts::Slot& slot) {
      base.ending_pairs[d].push_back({ending, f, slot.count});
    });
  }
  return base;
}

AlignmentTables merge(const AlignmentTables& earlier, const AlignmentTables& later, const GibbsOptions& options) {
  AlignmentTables result = earlier;
  const std::size_t width = options.max_fertility + 1;
  std::array<std::vector<std::uint32_t>, 2> place;  // of the later words
  for (int side = 0; side < 2; ++side) {
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (std::size_t w = 0; w < earlier.words[side].size(); ++w) {
      known.emplace(earlier.words[side][w], static_cast<std::uint32_t>(w));
    }
    for (std::size_t w = 0; w < later.words[side].size(); ++w) {
      const auto fresh = static_cast<std::uint32_t>(result.words[side].size());
      const auto [found, is_new] = known.try_emplace(later.words[side][w], fresh);
      place[side].push_back(found->second);
      if (is_new) {
        result.words[side].push_back(later.words[side][w]);
        result.word_count[side].push_back(0);
        result.partners[side].push_back(0);
        result.likeness[side].push_back(0.0f);
        result.null_count[1 - side].push_back(0.0f);
        result.fertility[side].resize(result.fertility[side].size() + width, 0.0f);
      }
      const std::size_t to = found->second;
      result.word_count[side][to] += later.word_count[side][w];
      result.partners[side][to] = std::max(result.partners[side][to], later.partners[side][w]);
      result.likeness[side][to] = std::max(result.likeness[side][to], later.likeness[side][w]);
      result.null_count[1 - side][to] += later.null_count[1 - side][w];
      for (std::size_t c = 0; c < width; ++c) {
        result.fertility[side][to * width + c] += later.fertility[side][w * width + c];
      }
    }
    for (int h = 0; h < 3; ++h) {
      for (std::size_t k = 0; k < result.jumps[side][h].size(); ++k) {
        result.jumps[side][h][k] += later.jumps[side][h][k];
      }
    }
  }
  std::unordered_map<std::uint64_t, std::size_t> pair_of;
  for (std::size_t p = 0; p < earlier.pair_source.size(); ++p) {
    pair_of.emplace(pair_key(earlier.pair_source[p], earlier.pair_target[p]), p);
  }
  for (std::size_t p = 0; p < later.pair_source.size(); ++p) {
    const std::uint32_t e = place[0][later.pair_source[p]], f = place[1][later.pair_target[p]];
    const auto [found, is_new] = pair_of.try_emplace(pair_key(e, f), result.pair_source.size());
    if (is_new) {
      result.pair_source.push_back(e);
      result.pair_target.push_back(f);
      for (int d = 0; d < 2; ++d) result.pair_count[d].push_back(0.0f);
    }
    for (int d = 0; d < 2; ++d) result.pair_count[d][found->second] += later.pair_count[d][p];
  }
  return result;
}

}  // namespace hiddenite::align
