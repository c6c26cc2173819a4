#include "hiddenite/align/pair_gibbs.hpp"

#include <algorithm>

namespace hiddenite::align {

namespace {

constexpr double NEGLIGIBLE = 40.0;  // nats below the largest: less than a rounding of the sum

class PairChain {
 public:
  PairChain(const FertilityHmm& hmm, Links start, Random random)
      : hmm_(hmm), links_(std::move(start)), counts_(count_links(hmm, links_)), random_(random),
        cumulative_(hmm.num_sources + 1), weights_(hmm.num_sources + 1), ratios_(hmm.num_sources + 1, 0.0) {
    for (std::size_t i = 1; i <= hmm_.num_sources; ++i) set_ratio(i);
  }

  // Adds the probabilities of all links to `sums`, if there is one.
  void sweep(std::vector<double>* sums) {
    std::size_t last = 0;
    for (std::size_t j = 0; j < links_.size(); ++j) {
      if (links_[j] > 0) change(links_[j], static_cast<std::uint32_t>(-1));
      const double total = weigh(j, last);
      if (sums) {
        for (std::size_t i = 1; i <= hmm_.num_sources; ++i) {
          (*sums)[j * hmm_.num_sources + i - 1] += (cumulative_[i] - cumulative_[i - 1]) / total;
        }
      }
      links_[j] = static_cast<std::uint32_t>(random_.draw(cumulative_));
      if (links_[j] > 0) {
        change(links_[j], 1);
        last = links_[j];
      }
    }
  }

 private:
  void set_ratio(std::size_t i) {
    const double now = hmm_.fertility_of(i, counts_[i]), more = hmm_.fertility_of(i, counts_[i] + 1);
    ratios_[i] = more == LOG_ZERO ? LOG_ZERO : now == LOG_ZERO ? -LOG_ZERO : more - now;
  }
  void change(std::size_t i, std::uint32_t by) {
    counts_[i] += by;
    set_ratio(i);
  }

  // Fills the cumulative weights of the links of target word j; returns their sum.
  double weigh(std::size_t j, std::size_t last) {
    const std::size_t width = hmm_.num_sources + 1;
    std::size_t next = 0;
    for (std::size_t u = j + 1; u < links_.size() && next == 0; ++u) next = links_[u];
    const auto onward = [&](std::size_t from) { return next > 0 ? hmm_.jumps_from(from)[next] : hmm_.end[from]; };
    const double* const emission = hmm_.emission[j];
    const double* const jump = hmm_.jumps_from(last);
    double high = weights_[0] = emission[0] + onward(last);
    for (std::size_t i = 1; i < width; ++i) {
      weights_[i] = emission[i] + jump[i] + onward(i) + ratios_[i];
      high = std::max(high, weights_[i]);
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      // The largest is infinite where a word cannot do without this link: it alone has a weight then.
      const double below = weights_[i] == high ? 0.0 : high - weights_[i];
      if (below < NEGLIGIBLE) sum += std::exp(-below);
      cumulative_[i] = sum;
    }
    return sum;
  }

  const FertilityHmm& hmm_;
  Links links_;
  std::vector<std::uint32_t> counts_;
  Random random_;
  std::vector<double> cumulative_, weights_, ratios_;
};

// Sums of batches of sweeps, and how far their means lie apart.
class BatchMeans {
 public:
  explicit BatchMeans(std::size_t cells) : sums_(cells, 0.0), squares_(cells, 0.0) {}
  void add(const std::vector<double>& batch, std::uint32_t sweeps) {
    for (std::size_t c = 0; c < sums_.size(); ++c) {
      sums_[c] += batch[c];
      squares_[c] += batch[c] * batch[c] / sweeps;
    }
    total_ += sweeps;
    ++batches_;
  }
  PairGibbs result() const {
    PairGibbs result{total_, std::vector<float>(sums_.size()), 0.0};
    for (std::size_t c = 0; c < sums_.size(); ++c) {
      const double mean = sums_[c] / total_;
      result.probabilities[c] = static_cast<float>(std::clamp(mean, 0.0, 1.0));
      // One batch says nothing of its own error: that of a share of as many draws stands in.
      const double variance = batches_ > 1 ? std::max(squares_[c] / total_ - mean * mean, 0.0) / (batches_ - 1)
                                           : mean * (1.0 - mean) / total_;
      result.standard_error = std::max(result.standard_error, std::sqrt(variance));
    }
    return result;
  }

 private:
  std::vector<double> sums_, squares_;
  std::uint32_t total_ = 0, batches_ = 0;
};

}  // namespace

PairGibbs sample_pair(const FertilityHmm& hmm, const Deadline& deadline, Random random) {
  constexpr std::size_t FEW_CELLS = 1'000'000;
  const bool is_quick = deadline.budget().seconds > 0.0 && hmm.num_targets * hmm.num_sources <= FEW_CELLS;
  if (deadline.is_over() && !is_quick) return {};
  const std::size_t work = hmm.num_targets * (hmm.num_sources + 1) + 1;
  BatchMeans means(hmm.num_targets * hmm.num_sources);
  Links best = greedy_links(hmm);
  const Deadline improving = deadline.within(0.1);
  Pace improving_pace(improving);
  improve(hmm, best, improving_pace);
  if (log_weight(hmm, best) == LOG_ZERO) return {};
  for (std::uint32_t c = 0; c < PairGibbs::CHAINS; ++c) {
    const Deadline share = deadline.within(1.0 / (PairGibbs::CHAINS - c));
    const Deadline burning = share.within(0.3);
    Links start = c == 0 ? best : Links(hmm.num_targets, 0);
    if (log_weight(hmm, start) == LOG_ZERO) start = best;
    PairChain chain(hmm, std::move(start), Random(random.next(), c));
    Pace burn(burning), pace(share);
    bool is_late = burning.is_over();
    for (std::uint32_t k = 0; k < PairGibbs::BURN_IN && !is_late; ++k) {
      chain.sweep(nullptr);
      is_late = burn.is_over(work);
    }
    bool is_over = false;
    for (std::uint32_t b = 0; b < PairGibbs::BATCHES && !is_over; ++b) {
      std::vector<double> batch(hmm.num_targets * hmm.num_sources, 0.0);
      std::uint32_t sweeps = 0;
      for (; sweeps < PairGibbs::SWEEPS_PER_BATCH && !is_over; ++sweeps) {
        chain.sweep(&batch);
        is_over = is_late ? share.is_over() : pace.is_over(work);
      }
      means.add(batch, sweeps);
    }
  }
  return means.result();
}

}  // namespace hiddenite::align
