#include "hiddenite/align/search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "hiddenite/align/labels.hpp"
#include "hiddenite/exact/loop.hpp"

namespace hiddenite::align {

namespace {

// A few steps down make the last step small enough for most sentence pairs; more steps are made for those that
// need more than the first labels.
constexpr std::size_t WORD_ITERATIONS = 6, CELL_ITERATIONS = 60, BEAM = 64;
constexpr std::size_t FIRST_LABELS = 2'000;
constexpr std::size_t NO_BEAM = std::numeric_limits<std::uint32_t>::max();

// Raises the incumbent and lowers the bound until they meet.
class ExactSearch {
 public:
  ExactSearch(const FertilityHmm& hmm, const Deadline& deadline)
      : hmm_(hmm), max_labels_(deadline.budget().states), pace_(deadline), bound_(hmm, pace_) {}

  void step() {
    const bool is_complete = advance();
    if (bound_.upper() == LOG_ZERO || (is_complete && incumbent_.log_weight == LOG_ZERO)) throw NoAlignment();
    if (incumbent_.links.empty() && !incumbent_.offer(hmm_, greedy_links(hmm_), pace_)) {
      incumbent_.links = greedy_links(hmm_);  // impossible, but what there is
    }
    bounds_.found(incumbent_.log_weight);
    bounds_.none_above(bound_.upper());
    if (incumbent_.log_weight > LOG_ZERO && (is_complete || bound_.is_closed(incumbent_))) bounds_.close();
  }

  const Bounds& bounds() const { return bounds_; }
  std::uint64_t refinements() const { return bound_.iterations(); }
  std::uint64_t num_states() const { return num_labels_; }

  const Incumbent& incumbent() const { return incumbent_; }
  FertilityBound& bound() { return bound_; }
  Pace& pace() { return pace_; }

 private:
  enum class Stage { DESCEND_BY_WORD, BEAM, LABELS, DESCEND_BY_CELL };

  // The next stage; returns whether the incumbent is now known to be an optimum.
  bool advance() {
    switch (stage_) {
      case Stage::DESCEND_BY_WORD:
        bound_.descend_by_word(WORD_ITERATIONS, incumbent_);
        stage_ = Stage::BEAM;
        return false;
      case Stage::BEAM:
        labels_.emplace(hmm_, bound_, pace_);
        stage_ = Stage::LABELS;
        return run_labels(BEAM, NO_BEAM);
      case Stage::LABELS:
        labels_->fix_cells(incumbent_.log_weight + incumbent_.tie);
        stage_ = Stage::DESCEND_BY_CELL;
        return run_labels(NO_BEAM, limit_);
      case Stage::DESCEND_BY_CELL:
        bound_.descend_by_cell(std::max<std::size_t>(CELL_ITERATIONS, limit_ / 100), incumbent_);
        limit_ *= 4;
        stage_ = Stage::LABELS;
        return false;
    }
    return false;
  }

  bool run_labels(std::size_t beam, std::uint64_t limit) {
    const std::uint64_t left = max_labels_ - std::min(max_labels_, num_labels_);
    const bool is_complete = labels_->run(incumbent_.log_weight + incumbent_.tie, beam, std::min(limit, left));
    num_labels_ += labels_->num_labels();
    Links links = labels_->best_links();
    if (!links.empty()) incumbent_.offer(hmm_, std::move(links), pace_);
    return is_complete;
  }

  const FertilityHmm& hmm_;
  std::uint64_t max_labels_;
  Pace pace_;
  FertilityBound bound_;
  std::optional<LabelSearch> labels_;
  Incumbent incumbent_;
  Bounds bounds_;
  Stage stage_ = Stage::DESCEND_BY_WORD;
  std::uint64_t limit_ = FIRST_LABELS, num_labels_ = 0;
};

// The best alignment first; then labels within a margin of its weight, which hold all alignments within it.
class RankedSearch {
 public:
  RankedSearch(const FertilityHmm& hmm, std::size_t k, const Deadline& deadline)
      : hmm_(hmm), k_(k), max_labels_(deadline.budget().states), best_(hmm, deadline),
        margin_(1.0 + std::log2(static_cast<double>(k))) {}

  void step() {
    if (!best_.bounds().is_closed()) {
      best_.step();
      ranked_ = {best_.incumbent().links};
      bounds_.found(best_.bounds().lower());
    } else if (rank_within_margin()) {
      return bounds_.close();
    }
    // The first can be proved before the others are: the bound stays above it, and above all that it ties with.
    const Incumbent& best = best_.incumbent();
    bounds_.none_above(std::max(best_.bounds().upper(), std::nextafter(best.log_weight + best.tie, -LOG_ZERO)));
  }

  const Bounds& bounds() const { return bounds_; }
  std::uint64_t refinements() const { return best_.refinements(); }
  std::uint64_t num_states() const { return best_.num_states() + num_labels_; }
  std::vector<Links> take_ranked() { return std::move(ranked_); }

 private:
  // Beyond this margin all alignments are looked at.
  static constexpr double LARGEST_MARGIN = 1e4;

  bool rank_within_margin() {
    const double best = best_.incumbent().log_weight;
    const double least = margin_ < LARGEST_MARGIN ? best - margin_ : LOG_ZERO;
    LabelSearch labels(hmm_, best_.bound(), best_.pace());
    labels.keep_ways();
    labels.fix_cells(least);
    const bool is_complete = labels.run(least, NO_BEAM, max_labels_ - std::min(max_labels_, num_states()));
    num_labels_ += labels.num_labels();
    if (!is_complete) return false;
    std::vector<Links> ranked = labels.ranked(k_);
    const bool all = least == LOG_ZERO && !best_.pace().is_over(0);
    const bool enough = ranked.size() == k_ && log_weight(hmm_, ranked.back()) > least;
    if (ranked.size() >= ranked_.size()) take(std::move(ranked));
    margin_ *= 2.0;
    return enough || all;
  }

  // Labels add up in another order: ties are put in that of the weights, and the best is the one that is known.
  void take(std::vector<Links> ranked) {
    const Links& best = best_.incumbent().links;
    if (std::find(ranked.begin(), ranked.end(), best) == ranked.end()) ranked.back() = best;
    std::vector<std::pair<double, Links>> weighed;
    for (Links& links : ranked) weighed.emplace_back(log_weight(hmm_, links), std::move(links));
    std::stable_sort(weighed.begin(), weighed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    ranked_.clear();
    for (auto& [weight, links] : weighed) ranked_.push_back(std::move(links));
    bounds_.found(weighed.front().first);
  }

  const FertilityHmm& hmm_;
  std::size_t k_;
  std::uint64_t max_labels_;
  ExactSearch best_;
  double margin_;
  std::uint64_t num_labels_ = 0;
  Bounds bounds_;
  std::vector<Links> ranked_;
};

Aligned answer(const FertilityHmm& hmm, std::vector<Links> links, const Certificate& certificate) {
  Aligned result{std::move(links), {}, certificate};
  for (const Links& one : result.links) result.log_weights.push_back(log_weight(hmm, one));
  return result;
}

}  // namespace

Aligned align_exact(const FertilityHmm& hmm, const Deadline& deadline) {
  ExactSearch search(hmm, deadline);
  const Certificate certificate = run_search(search, deadline, Method::REFINE);
  return answer(hmm, {search.incumbent().links}, certificate);
}

Aligned align_kbest(const FertilityHmm& hmm, std::size_t k, const Deadline& deadline) {
  if (k == 1) return align_exact(hmm, deadline);
  RankedSearch search(hmm, k, deadline);
  const Certificate certificate = run_search(search, deadline, Method::REFINE);
  return answer(hmm, search.take_ranked(), certificate);
}

Aligned align_viterbi(const FertilityHmm& hmm, const Deadline& deadline) {
  Pace pace(deadline);
  BestJumps chain(hmm);
  const double best = chain.best_log_weight(hmm.emission, pace);
  if (best == LOG_ZERO) throw NoAlignment();
  const Links links = best == -LOG_ZERO ? greedy_links(hmm) : chain.best_links(hmm.emission);
  Bounds bounds;
  bounds.found(log_weight(hmm, links));
  return answer(hmm, {links}, Certificate(bounds, Method::FULL, 0, 0));
}

// ----------------------------------------------------- as published (figures 1, 2)

namespace {

// Half of each emission belongs to the chain, half to the rows. NULL has no fertility and no row, unless rows
// with exactly J links are asked for.
class PaperSearch {
 public:
  PaperSearch(const FertilityHmm& hmm, const PaperOptions& options, const Deadline& deadline)
      : hmm_(hmm), options_(options), pace_(deadline), chain_(hmm), half_(hmm.emission), tilted_(half_),
        priced_(half_), u_(hmm.num_targets, hmm.num_sources, 0.0), chosen_(half_.values.size()) {
    for (double& value : half_.values) value *= 0.5;
    for (std::size_t j = 0; j < hmm.num_targets && !options.exactly_all; ++j) half_[j][0] = hmm.emission[j][0];
  }

  // Figure 1's iteration; closed when both sides chose the same links.
  void step() {
    for (std::size_t cell = 0; cell < u_.values.size(); ++cell) {
      tilted_.values[cell] = rounded_up(half_.values[cell] + u_.values[cell]);
      priced_.values[cell] = rounded_up(half_.values[cell] - u_.values[cell]);
    }
    const double best = chain_.best_log_weight(tilted_, pace_);
    if (best == LOG_ZERO) throw NoAlignment();
    if (best == -LOG_ZERO) return;
    links_ = chain_.best_links(tilted_);
    const double upper = rounded_up(best + choose_rows());
    if (upper == LOG_ZERO) throw NoAlignment();
    bounds_.none_above(upper);
    if (!update(step_size(++iterations_))) return;
    const double weight = log_weight(hmm_, links_);
    bounds_.found(weight);
    if (upper <= weight + 16.0 * rounding_of(hmm_, links_)) bounds_.close();
  }

  const Bounds& bounds() const { return bounds_; }
  std::uint64_t refinements() const { return iterations_; }
  std::uint64_t num_states() const { return 0; }

  // The last alignment, and its bounds: those that the chain chose before it are not kept.
  Aligned last() {
    if (links_.empty()) links_ = greedy_links(hmm_);
    bounds_.found(log_weight(hmm_, links_));
    return answer(hmm_, {links_}, Certificate(bounds_, Method::PAPER, iterations_, 0));
  }

 private:
  double step_size(std::size_t k) const {
    const auto n = static_cast<double>(k);
    if (options_.step == PaperOptions::Step::HARMONIC) return options_.scale / n;
    return options_.step == PaperOptions::Step::ROOT ? options_.scale / std::sqrt(n) : options_.scale;
  }

  // Figure 1's update; true if both sides chose the same links.
  bool update(double step) {
    bool agree = true;
    for (std::size_t j = 0; j < links_.size(); ++j) {
      for (std::size_t i = options_.exactly_all ? 0 : 1; i <= hmm_.num_sources; ++i) {
        const int difference = (links_[j] == i) - chosen_[j * half_.width + i];
        agree &= difference == 0;
        u_[j][i] -= step * difference;
      }
    }
    return agree;
  }

  // Figure 2, and its extension to sets of exactly J links: value[n] = the best of the rows so far with n links.
  double choose_rows() {
    const std::size_t targets = hmm_.num_targets, width = half_.width;
    std::fill(chosen_.begin(), chosen_.end(), 0);
    rank_rows();
    if (!options_.exactly_all) {
      double total = 0.0;
      for (std::size_t i = 1; i < width; ++i) {
        std::size_t best = 0;
        for (std::size_t c = 1; c < gain_[i].size(); ++c) {
          if (gain_[i][c] > gain_[i][best]) best = c;
        }
        total = rounded_up(total + take(i, best));
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
          const double sum = rounded_up(value[n] + gain_[i][c]);
          if (sum > next[n + c]) {
            next[n + c] = sum;
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
  void rank_rows() {
    const std::size_t targets = hmm_.num_targets, width = half_.width;
    order_.resize(width);
    gain_.resize(width);
    for (std::size_t i = 0; i < width; ++i) {
      order_[i].clear();
      for (std::size_t j = 0; j < targets; ++j) {
        if (priced_[j][i] > LOG_ZERO) order_[i].push_back(static_cast<std::uint32_t>(j));
      }
      std::sort(order_[i].begin(), order_[i].end(), [&](std::uint32_t a, std::uint32_t b) {
        return priced_[a][i] != priced_[b][i] ? priced_[a][i] > priced_[b][i] : a < b;
      });
      const std::size_t most = i == 0 ? order_[i].size() : std::min(hmm_.max_fertility, order_[i].size());
      gain_[i].assign(most + 1, 0.0);
      double sum = 0.0;
      for (std::size_t c = 0; c <= most; ++c) {
        if (c > 0) sum = rounded_up(sum + priced_[order_[i][c - 1]][i]);
        gain_[i][c] = rounded_up(sum + (i == 0 ? 0.0 : hmm_.fertilities(i)[c]));
      }
    }
  }

  double take(std::size_t i, std::size_t count) {
    for (std::size_t c = 0; c < count; ++c) chosen_[order_[i][c] * half_.width + i] = 1;
    return gain_[i][count];
  }

  const FertilityHmm& hmm_;
  const PaperOptions& options_;
  Pace pace_;
  BestJumps chain_;
  CellMatrix half_, tilted_, priced_, u_;
  Links links_;
  Bounds bounds_;
  std::uint64_t iterations_ = 0;
  std::vector<std::uint8_t> chosen_;
  std::vector<std::vector<std::uint32_t>> order_;
  std::vector<std::vector<double>> gain_;
};

}  // namespace

Aligned align_paper(const FertilityHmm& hmm, const PaperOptions& options, const Deadline& deadline) {
  PaperSearch search(hmm, options, deadline);
  run_search(search, deadline.with_refinements(options.iterations), Method::PAPER);
  return search.last();
}

}  // namespace hiddenite::align
