#include "hiddenite/align/em.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/parallel.hpp"

namespace hiddenite::align {

namespace {

constexpr double UNIT = 4294967296.0;
constexpr std::size_t SENTENCES_PER_PIECE = 256;
constexpr double LEAST = 1e-12;  // of a probability in the lexicon

void add(std::uint64_t& sum, double x) {
  std::atomic_ref<std::uint64_t>(sum).fetch_add(static_cast<std::uint64_t>(x * UNIT + 0.5), std::memory_order_relaxed);
}

}  // namespace

// The sentence at hand, as probabilities.
struct AlignmentEm::Scratch {
  std::size_t n = 0, m = 0;              // generating and generated words
  std::vector<std::uint32_t> cells;      // [t * n + k]: pair
  std::vector<double> emission;          // [t * (n + 1) + i], NULL being 0
  std::vector<double> forward, backward; // [t * (n + 1) + last]: before word t, and from t on; scaled
  std::vector<double> scale;             // of forward
  std::vector<double> weight;
  std::array<std::vector<double>, 3> jumps;
};

AlignmentEm::AlignmentEm(std::string_view source_text, std::string_view target_text, const std::string& source_name,
                         const std::string& target_name, const GibbsOptions& options)
    : bitext_(source_text, target_text, source_name, target_name), table_(bitext_, false), options_(options) {
  for (int d = 0; d < 2; ++d) {
    Direction& dir = directions_[d];
    // Flat: a first iteration of Model 1 then gives shares of meetings.
    dir.lexicon.assign(table_.num_pairs(), 1.0f);
    dir.null_lexicon.assign(to(d).words.size(), 1.0f / static_cast<float>(to(d).words.size()));
    for (auto& h : dir.jumps) h.assign(2 * options.max_jump + 1, 1.0 / (2 * options.max_jump + 1));
    clear_counts(dir);
    const auto& partners = d == 0 ? table_.source_partners : table_.target_partners;
    for (std::size_t p = 0; p < table_.num_pairs(); ++p) {
      dir.lexicon[p] = 1.0f / static_cast<float>(partners[d == 0 ? table_.source[p] : table_.target[p]]);
    }
  }
}

void AlignmentEm::clear_counts(Direction& dir) const {
  dir.pair_count.assign(table_.num_pairs(), 0);
  dir.null_count.assign(dir.null_lexicon.size(), 0);
  for (auto& h : dir.jump_count) h.assign(2 * options_.max_jump + 1, 0);
}

void AlignmentEm::open_sentence(int d, std::size_t s, Scratch& x) const {
  const auto from_words = from(d).sentence(s), to_words = to(d).sentence(s);
  x.n = from_words.size();
  x.m = to_words.size();
  const std::uint32_t* const cell = table_.cell.data() + table_.cell_begin[s];
  x.cells.resize(x.n * x.m);
  for (std::size_t t = 0; t < x.m; ++t) {
    for (std::size_t k = 0; k < x.n; ++k) x.cells[t * x.n + k] = d == 0 ? cell[t * x.n + k] : cell[k * x.m + t];
  }
  const Direction& dir = directions_[d];
  const double p0 = options_.null_probability;
  x.emission.resize(x.m * (x.n + 1));
  for (std::size_t t = 0; t < x.m; ++t) {
    double* const emit = x.emission.data() + t * (x.n + 1);
    emit[0] = (x.n == 0 ? 1.0 : p0) * static_cast<double>(dir.null_lexicon[to_words[t]]);
    for (std::size_t k = 0; k < x.n; ++k) {
      emit[k + 1] = (1.0 - p0) * static_cast<double>(dir.lexicon[x.cells[t * x.n + k]]);
    }
  }
}

// ---------------------------------------------------------------- E-steps

double AlignmentEm::expect(int d, Model model, std::size_t s, Scratch& scratch) {
  open_sentence(d, s, scratch);
  return model == Model::MODEL1 ? expect_model1(d, s, scratch) : expect_hmm(d, s, scratch);
}

double AlignmentEm::expect_model1(int d, std::size_t s, Scratch& x) {
  Direction& dir = directions_[d];
  const auto to_words = to(d).sentence(s);
  // Each position is equally probable.
  const double share = x.n == 0 ? 1.0 : 1.0 / static_cast<double>(x.n);
  double log_prob = 0.0;
  for (std::size_t t = 0; t < x.m; ++t) {
    const double* const emit = x.emission.data() + t * (x.n + 1);
    double total = emit[0];
    for (std::size_t k = 1; k <= x.n; ++k) total += share * emit[k];
    log_prob += std::log(total);
    add(dir.null_count[to_words[t]], emit[0] / total);
    for (std::size_t k = 0; k < x.n; ++k) add(dir.pair_count[x.cells[t * x.n + k]], share * emit[k + 1] / total);
  }
  return log_prob;
}

double AlignmentEm::expect_hmm(int d, std::size_t s, Scratch& x) {
  Direction& dir = directions_[d];
  const auto to_words = to(d).sentence(s);
  const std::size_t n = x.n, m = x.m, width = n + 1;
  const std::uint32_t most = options_.max_jump;
  const auto jump = [&](std::size_t last, std::size_t i) {
    return last == 0 ? dir.jumps[0][jump_bin(static_cast<std::ptrdiff_t>(i), most)]
                     : dir.jumps[1][jump_bin(static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(last), most)];
  };
  const auto end = [&](std::size_t last) {
    return last == 0 ? 1.0 : dir.jumps[2][jump_bin(static_cast<std::ptrdiff_t>(width - last), most)];
  };
  x.forward.assign((m + 1) * width, 0.0);
  x.backward.assign((m + 1) * width, 0.0);
  x.scale.assign(m + 1, 1.0);
  x.forward[0] = 1.0;
  double log_prob = 0.0;
  for (std::size_t t = 0; t < m; ++t) {
    const double* const before = x.forward.data() + t * width;
    double* const now = x.forward.data() + (t + 1) * width;
    const double* const emit = x.emission.data() + t * width;
    for (std::size_t last = 0; last < width; ++last) {
      if (before[last] == 0.0) continue;
      for (std::size_t i = 1; i < width; ++i) now[i] += before[last] * jump(last, i);
    }
    double total = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      now[i] = now[i] * (i > 0 ? emit[i] : 0.0) + before[i] * emit[0];
      total += now[i];
    }
    x.scale[t + 1] = total;
    log_prob += std::log(total);
    for (std::size_t i = 0; i < width; ++i) now[i] /= total;
  }
  double total_end = 0.0;
  for (std::size_t last = 0; last < width; ++last) {
    x.backward[m * width + last] = end(last);
    total_end += x.forward[m * width + last] * end(last);
  }
  log_prob += std::log(total_end);
  for (auto& h : x.jumps) h.assign(2 * most + 1, 0.0);
  for (std::size_t last = 1; last < width; ++last) {
    x.jumps[2][jump_bin(static_cast<std::ptrdiff_t>(width - last), most)] +=
        x.forward[m * width + last] * end(last) / total_end;
  }
  x.weight.resize(width);
  for (std::size_t t = m; t-- > 0;) {
    const double* const after = x.backward.data() + (t + 1) * width;
    double* const now = x.backward.data() + t * width;
    const double* const before = x.forward.data() + t * width;
    const double* const emit = x.emission.data() + t * width;
    for (std::size_t i = 1; i < width; ++i) x.weight[i] = emit[i] * after[i] / x.scale[t + 1];
    double null = 0.0;
    for (std::size_t last = 0; last < width; ++last) {
      const double stay = emit[0] * after[last] / x.scale[t + 1];
      now[last] = stay;
      null += before[last] * stay;
    }
    add(dir.null_count[to_words[t]], null / total_end);
    for (std::size_t i = 1; i < width; ++i) {
      double arrivals = 0.0;
      for (std::size_t last = 0; last < width; ++last) {
        const double step = jump(last, i) * x.weight[i];
        now[last] += step;
        const double flow = before[last] * step / total_end;
        arrivals += flow;
        const std::ptrdiff_t distance = static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(last);
        x.jumps[last == 0 ? 0 : 1][jump_bin(distance, most)] += flow;
      }
      add(dir.pair_count[x.cells[t * n + i - 1]], arrivals);
    }
  }
  for (int h = 0; h < 3; ++h) {
    for (std::size_t k = 0; k < x.jumps[h].size(); ++k) {
      if (x.jumps[h][k] > 0.0) add(dir.jump_count[h][k], x.jumps[h][k]);
    }
  }
  return log_prob;
}

// ------------------------------------------------------------------ M-step

void AlignmentEm::maximise(int d, Model model) {
  Direction& dir = directions_[d];
  const std::vector<WordId>& generating = d == 0 ? table_.source : table_.target;
  std::vector<double> total(from(d).words.size(), 0.0);
  for (std::size_t p = 0; p < dir.pair_count.size(); ++p) {
    total[generating[p]] += static_cast<double>(dir.pair_count[p]) / UNIT;
  }
  for (std::size_t p = 0; p < dir.lexicon.size(); ++p) {
    const double count = static_cast<double>(dir.pair_count[p]) / UNIT;
    const double share = total[generating[p]] > 0.0 ? count / total[generating[p]] : 0.0;
    dir.lexicon[p] = static_cast<float>(std::max(share, LEAST));
  }
  double null_total = 0.0;
  for (const Units c : dir.null_count) null_total += static_cast<double>(c) / UNIT + options_.null_prior;
  for (std::size_t w = 0; w < dir.null_lexicon.size(); ++w) {
    dir.null_lexicon[w] =
        static_cast<float>((static_cast<double>(dir.null_count[w]) / UNIT + options_.null_prior) / null_total);
  }
  if (model == Model::MODEL1) return;
  for (int h = 0; h < 3; ++h) {
    double sum = 0.0;
    for (const Units c : dir.jump_count[h]) sum += static_cast<double>(c) / UNIT + 1e-3;
    const auto size = static_cast<double>(dir.jumps[h].size());
    for (std::size_t k = 0; k < dir.jumps[h].size(); ++k) {
      const double share = (static_cast<double>(dir.jump_count[h][k]) / UNIT + 1e-3) / sum;
      dir.jumps[h][k] = (1.0 - options_.uniform_jump) * share + options_.uniform_jump / size;
    }
  }
}

double AlignmentEm::expect(Model model, std::size_t begin, std::size_t end, int threads) {
  end = std::min(end, bitext_.num_sentences());
  begin = std::min(begin, end);
  const std::size_t pieces = (end - begin + SENTENCES_PER_PIECE - 1) / SENTENCES_PER_PIECE;
  std::vector<Scratch> scratch(static_cast<std::size_t>(resolve_threads(threads)));
  std::vector<double> log_prob(pieces, 0.0);
  double total = 0.0;
  for (int d = 0; d < 2; ++d) {
    clear_counts(directions_[d]);
    std::fill(log_prob.begin(), log_prob.end(), 0.0);
    parallel_for(pieces, threads, [&](std::size_t piece, int thread) {
      const std::size_t first = begin + piece * SENTENCES_PER_PIECE;
      for (std::size_t s = first; s < std::min(end, first + SENTENCES_PER_PIECE); ++s) {
        check_interrupt();
        log_prob[piece] += expect(d, model, s, scratch[static_cast<std::size_t>(thread)]);
      }
    });
    for (const double x : log_prob) total += x;
  }
  const auto words = static_cast<double>(bitext_.source.tokens.size() + bitext_.target.tokens.size());
  return total / std::max(words, 1.0);
}

void AlignmentEm::maximise(Model model) {
  for (int d = 0; d < 2; ++d) maximise(d, model);
}

double AlignmentEm::iterate(Model model, int threads) {
  const double fit = expect(model, 0, bitext_.num_sentences(), threads);
  maximise(model);
  return fit;
}

std::vector<std::uint64_t> AlignmentEm::counts(std::size_t d) const {
  const Direction& dir = directions_.at(d);
  std::vector<std::uint64_t> result = dir.pair_count;
  result.insert(result.end(), dir.null_count.begin(), dir.null_count.end());
  for (const auto& h : dir.jump_count) result.insert(result.end(), h.begin(), h.end());
  return result;
}

void AlignmentEm::set_counts(std::size_t d, std::span<const std::uint64_t> counts) {
  Direction& dir = directions_.at(d);
  std::vector<std::vector<std::uint64_t>*> parts{&dir.pair_count, &dir.null_count};
  for (auto& h : dir.jump_count) parts.push_back(&h);
  std::size_t size = 0;
  for (const auto* part : parts) size += part->size();
  if (counts.size() != size) throw ModelError("the counts are those of another text");
  for (auto* part : parts) {
    std::copy_n(counts.begin(), part->size(), part->begin());
    counts = counts.subspan(part->size());
  }
}

AlignmentTables AlignmentEm::tables() const {
  constexpr WordId first = NUM_SPECIAL_WORDS;
  constexpr double least = 1e-4;
  AlignmentTables result;
  const std::size_t width = options_.max_fertility + 1;
  for (int side = 0; side < 2; ++side) {
    const TextSide& text = side == 0 ? bitext_.source : bitext_.target;
    for (WordId w = first; w < text.words.size(); ++w) {
      result.words[side].emplace_back(text.words.word(w));
      result.word_count[side].push_back(text.count[w]);
      result.partners[side].push_back((side == 0 ? table_.source_partners : table_.target_partners)[w]);
      result.null_count[1 - side].push_back(
          static_cast<float>(static_cast<double>(directions_[1 - side].null_count[w]) / UNIT));
    }
    result.likeness[side].assign(result.words[side].size(), 0.0f);
    result.fertility[side].assign(result.words[side].size() * width, 0.0f);
    for (int h = 0; h < 3; ++h) {
      for (const Units c : directions_[side].jump_count[h]) {
        result.jumps[side][h].push_back(static_cast<double>(c) / UNIT);
      }
    }
  }
  for (std::size_t p = 0; p < table_.num_pairs(); ++p) {
    const double forward = static_cast<double>(directions_[0].pair_count[p]) / UNIT;
    const double reverse = static_cast<double>(directions_[1].pair_count[p]) / UNIT;
    if (std::max(forward, reverse) < least || table_.source[p] < first || table_.target[p] < first) continue;
    result.pair_source.push_back(table_.source[p] - first);
    result.pair_target.push_back(table_.target[p] - first);
    result.pair_count[0].push_back(static_cast<float>(forward));
    result.pair_count[1].push_back(static_cast<float>(reverse));
  }
  return result;
}

}  // namespace hiddenite::align
