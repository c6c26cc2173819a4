#include "hiddenite/align/search.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/align/labels.hpp"

namespace hiddenite::align {

namespace {

// A few steps down make the last step small enough for most sentence pairs; more steps are made for those that
// need more than the first labels.
constexpr std::size_t WORD_ITERATIONS = 6, CELL_ITERATIONS = 60, BEAM = 64;
constexpr std::size_t FIRST_LABELS = 2'000;
constexpr std::size_t NO_BEAM = std::numeric_limits<std::uint32_t>::max();

Aligned answer(const Incumbent& incumbent, const FertilityBound& bound, std::uint64_t labels, bool exact) {
  Aligned result{incumbent.links, incumbent.log_weight, exact, bound.upper(), bound.iterations(), labels};
  if (exact) result.upper = result.log_weight;
  return result;
}

// Raises the incumbent and lowers the bound until they meet or the budget ends.
class ExactSearch {
 public:
  ExactSearch(const FertilityHmm& hmm, const AlignBudget& budget)
      : hmm_(hmm), budget_(budget), deadline_(budget.seconds), bound_(hmm, deadline_) {}

  Aligned run() {
    bound_.descend_by_word(WORD_ITERATIONS, incumbent_);
    if (bound_.upper() == LOG_ZERO) return answer(incumbent_, bound_, 0, true);
    if (bound_.is_closed(incumbent_)) return answer(incumbent_, bound_, 0, true);
    if (deadline_.is_over()) return answer(incumbent_, bound_, 0, false);
    LabelSearch labels(hmm_, bound_);
    offer(labels.run(incumbent_.log_weight, BEAM, NO_BEAM));
    for (std::size_t limit = FIRST_LABELS;; limit *= 4) {
      if (bound_.is_closed(incumbent_)) return answer(incumbent_, bound_, num_labels_, true);
      labels.fix_cells(incumbent_.log_weight);
      const bool last = limit >= budget_.labels;
      if (offer(labels.run(incumbent_.log_weight, NO_BEAM, std::min<std::size_t>(limit, budget_.labels)))) {
        return answer(incumbent_, bound_, num_labels_, true);
      }
      if (last || deadline_.is_over()) return answer(incumbent_, bound_, num_labels_, false);
      bound_.descend_by_cell(std::max(CELL_ITERATIONS, limit / 100), incumbent_);
    }
  }

  FertilityBound& bound() { return bound_; }

 private:
  bool offer(const LabelSearch::Outcome& outcome) {
    num_labels_ += outcome.num_labels;
    if (!outcome.links.empty()) incumbent_.offer(hmm_, outcome.links);
    return outcome.complete;
  }

  const FertilityHmm& hmm_;
  const AlignBudget& budget_;
  Deadline deadline_;
  FertilityBound bound_;
  Incumbent incumbent_;
  std::uint64_t num_labels_ = 0;
};

}  // namespace

Aligned align_exact(const FertilityHmm& hmm, const AlignBudget& budget) {
  Aligned result = ExactSearch(hmm, budget).run();
  // The weight that is said is the weight of the links.
  if (result.log_weight > LOG_ZERO) result.log_weight = log_weight(hmm, result.links);
  return result;
}

// Labels within a margin of the best weight hold all alignments within it.
RankedAlignments align_kbest(const FertilityHmm& hmm, std::size_t k, const AlignBudget& budget) {
  ExactSearch search(hmm, budget);
  const Aligned best = search.run();
  RankedAlignments result;
  if (best.log_weight == LOG_ZERO) return result.exact = best.exact, result;
  result = {{best.links}, {best.log_weight}, k == 1 && best.exact};
  if (k == 1) return result;
  double margin = 1.0 + std::log2(static_cast<double>(k));
  for (;; margin *= 2.0) {
    const double lower = std::isfinite(margin) && margin < 1e4 ? best.log_weight - margin : LOG_ZERO;
    LabelSearch labels(hmm, search.bound());
    labels.fix_cells(lower);
    const LabelSearch::Ranked ranked = labels.ranked(k, lower, budget.labels);
    if (!ranked.complete) return result.exact = false, result;
    result.links = ranked.links;
    result.log_weights = ranked.log_weights;
    const bool all = lower == LOG_ZERO;
    if (all || (ranked.links.size() == k && ranked.log_weights.back() > lower + FERTILITY_TOLERANCE)) break;
  }
  result.exact = true;
  return result;
}

Aligned align_viterbi(const FertilityHmm& hmm) {
  BestJumps chain(hmm);
  Aligned result;
  if (chain.best_log_weight(hmm.emission) == LOG_ZERO) return result;
  result.links = chain.best_links(hmm.emission);
  result.log_weight = log_weight(hmm, result.links);
  return result;
}

// ----------------------------------------------------- as published (figures 1, 2)

namespace {

// Half of each emission belongs to the chain, half to the rows. NULL has no fertility and no row, unless rows
// with exactly J links are asked for.
class PaperSearch {
 public:
  PaperSearch(const FertilityHmm& hmm, const PaperOptions& options)
      : hmm_(hmm), options_(options), chain_(hmm), half_(hmm.emission), chosen_(half_.values.size()) {
    for (double& value : half_.values) value *= 0.5;
    for (std::size_t j = 0; j < hmm.num_targets && !options.exactly_all; ++j) half_[j][0] = hmm.emission[j][0];
  }

  Aligned run() {
    Aligned result;
    CellMatrix u(hmm_.num_targets, hmm_.num_sources, 0.0), tilted = half_, priced = half_;
    for (std::size_t k = 1; k <= options_.iterations; ++k) {
      for (std::size_t cell = 0; cell < u.values.size(); ++cell) {
        tilted.values[cell] = half_.values[cell] + u.values[cell];
        priced.values[cell] = half_.values[cell] - u.values[cell];
      }
      double bound = chain_.best_log_weight(tilted);
      if (bound == LOG_ZERO) return result.upper = LOG_ZERO, result.exact = true, result;
      result.links = chain_.best_links(tilted);
      bound += choose_rows(priced);
      result.upper = std::min(result.upper, bound);
      result.iterations = k;
      if (update(u, result.links, step(k))) {
        result.exact = true;
        break;
      }
    }
    result.log_weight = log_weight(hmm_, result.links);
    if (result.exact) result.upper = result.log_weight;
    return result;
  }

 private:
  double step(std::size_t k) const {
    const auto n = static_cast<double>(k);
    if (options_.step == PaperOptions::Step::HARMONIC) return options_.scale / n;
    return options_.step == PaperOptions::Step::ROOT ? options_.scale / std::sqrt(n) : options_.scale;
  }

  // Figure 1's update; true if both sides chose the same links.
  bool update(CellMatrix& u, const Links& links, double step) const {
    bool agree = true;
    for (std::size_t j = 0; j < links.size(); ++j) {
      for (std::size_t i = options_.exactly_all ? 0 : 1; i <= hmm_.num_sources; ++i) {
        const int difference = (links[j] == i) - chosen_[j * half_.width + i];
        agree &= difference == 0;
        u[j][i] -= step * difference;
      }
    }
    return agree;
  }

  // Figure 2, and its extension to sets of exactly J links: value[n] = the best of the rows so far with n links.
  double choose_rows(const CellMatrix& priced) {
    const std::size_t targets = hmm_.num_targets, width = half_.width;
    std::fill(chosen_.begin(), chosen_.end(), 0);
    rank_rows(priced);
    if (!options_.exactly_all) {
      double total = 0.0;
      for (std::size_t i = 1; i < width; ++i) {
        std::size_t best = 0;
        for (std::size_t c = 1; c < gain_[i].size(); ++c) {
          if (gain_[i][c] > gain_[i][best]) best = c;
        }
        total += take(i, best);
      }
      return total;
    }
    std::vector<double> value(targets + 1, LOG_ZERO), next(targets + 1);
    std::vector<std::vector<std::uint32_t>> taken(width, std::vector<std::uint32_t>(targets + 1, 0));
    value[0] = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      std::fill(next.begin(), next.end(), LOG_ZERO);
      for (std::size_t n = 0; n <= targets; ++n) {
        if (value[n] == LOG_ZERO) continue;
        for (std::size_t c = 0; c < gain_[i].size() && n + c <= targets; ++c) {
          if (value[n] + gain_[i][c] > next[n + c]) {
            next[n + c] = value[n] + gain_[i][c];
            taken[i][n + c] = static_cast<std::uint32_t>(c);
          }
        }
      }
      value.swap(next);
    }
    std::size_t n = targets;
    for (std::size_t i = width; i-- > 0;) {
      const std::size_t c = taken[i][n];
      take(i, c);
      n -= c;
    }
    return value[targets];
  }

  // gain_[i][c]: the best of row i with c links.
  void rank_rows(const CellMatrix& priced) {
    const std::size_t targets = hmm_.num_targets, width = half_.width;
    order_.resize(width);
    gain_.resize(width);
    for (std::size_t i = 0; i < width; ++i) {
      order_[i].clear();
      for (std::size_t j = 0; j < targets; ++j) {
        if (priced[j][i] > LOG_ZERO) order_[i].push_back(static_cast<std::uint32_t>(j));
      }
      std::sort(order_[i].begin(), order_[i].end(), [&](std::uint32_t a, std::uint32_t b) {
        return priced[a][i] != priced[b][i] ? priced[a][i] > priced[b][i] : a < b;
      });
      const std::size_t most = i == 0 ? order_[i].size() : std::min(hmm_.max_fertility, order_[i].size());
      gain_[i].assign(most + 1, 0.0);
      double sum = 0.0;
      for (std::size_t c = 0; c <= most; ++c) {
        if (c > 0) sum += priced[order_[i][c - 1]][i];
        gain_[i][c] = sum + (i == 0 ? 0.0 : hmm_.fertilities(i)[c]);
      }
    }
  }

  double take(std::size_t i, std::size_t count) {
    for (std::size_t c = 0; c < count; ++c) chosen_[order_[i][c] * half_.width + i] = 1;
    return gain_[i][count];
  }

  const FertilityHmm& hmm_;
  const PaperOptions& options_;
  BestJumps chain_;
  CellMatrix half_;
  std::vector<std::uint8_t> chosen_;
  std::vector<std::vector<std::uint32_t>> order_;
  std::vector<std::vector<double>> gain_;
};

}  // namespace

Aligned align_paper(const FertilityHmm& hmm, const PaperOptions& options) { return PaperSearch(hmm, options).run(); }

}  // namespace hiddenite::align
