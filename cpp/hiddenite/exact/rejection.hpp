// Sampling by rejection: draw x from a bound q >= p, accept it with probability
// p(x) / q(x). An accepted draw is a draw from p.
//
// Only rejected draws, and whether draws were rejected, decide what q is next,
// and when to stop refining. Hence
//   P(accept x and then any course of the run) = p(x)/Z P(accept, same course):
// the accepted draws are independent of each other and of the run's course:
// how many trials there were, how q looks, when a budget ended it. Whoever
// also refines on accepted draws makes the later course depend on them, and a
// run that is stopped by the clock then favours some paths over others.
//
// What is known of Z. The total of q is never below it. The mean of p / q over
// draws from one fixed q, times that total, estimates Z without bias; but draws
// that were never seen can outweigh all that were: n draws say nothing of what
// happens once in 2 n times, and there p / q may be as much as 1. So there
// is an estimate only where the ratios add up to LEAST_ACCEPTED or more, and its
// error counts one unseen draw of ratio 1 in.
//
// A Proposal has
//   Draw { log_ratio, .. }        a draw; log_ratio = ln p / q, never above 0
//   Draw draw(Random&)
//   double log_total()            ln of the total of q
//   void tighten(const Draw&)     lowers q where a rejected draw was
//   bool is_exact()               q = p everywhere
//   num_states()
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/exact/proof.hpp"

namespace hiddenite::exact {

struct SamplerOptions {
  std::uint64_t batch = 32;         // draws from one q, B in the paper
  double target_rate = 0.5;         // q is fixed once this share is accepted
  std::uint64_t rate_window = 100;  // of so many last trials (AR-100); 0: of all (AR)
  std::uint64_t max_trials = std::numeric_limits<std::uint64_t>::max();  // the run gives up after these
};

struct PartitionEstimate {
  double upper = -LOG_ZERO;     // ln Z is not above this, whatever was drawn
  std::optional<double> value;  // none where unseen draws could decide
  double error = 0.0;           // the standard error of `value`
  double lower = LOG_ZERO;      // nor below this
};

// Ratios p / q of draws from one fixed q.
class RatioStatistics {
 public:
  static constexpr double LEAST_ACCEPTED = 20.0;
  static constexpr std::uint64_t LEAST_DRAWS = 100;

  void add(double ratio) {
    ++count_;
    sum_ += ratio;
    square_sum_ += ratio * ratio;
  }
  std::uint64_t count() const { return count_; }
  PartitionEstimate estimate(double log_total, bool is_exact) const {
    if (is_exact) return {log_total, log_total, 0.0};
    if (count_ < LEAST_DRAWS || sum_ < LEAST_ACCEPTED) return {log_total, std::nullopt, 0.0};
    const auto n = static_cast<double>(count_);
    const double mean = sum_ / n;
    const double squares = std::max(square_sum_ - n * mean * mean, 0.0) + 1.0;
    return {log_total, log_total + std::log(mean), std::sqrt(squares) / sum_};
  }

 private:
  std::uint64_t count_ = 0;
  double sum_ = 0.0, square_sum_ = 0.0;
};

template <class Proposal>
class RejectionSampler {
 public:
  using Draw = typename Proposal::Draw;
  struct Batch {  // drawn from one q
    std::vector<Draw> draws;
    std::vector<bool> accepted;
    double log_total = LOG_ZERO;
    bool is_fixed = false;  // q was final
    std::uint64_t num_states = 0;
  };

  // The proposal must outlive this.
  RejectionSampler(Proposal& q, SamplerOptions options, Random random) : q_(q), options_(options), random_(random) {}

  // Tightens q by the last batch's rejected draws, if q is not fixed, and draws another batch; an empty one if q is
  // zero everywhere.
  Batch step() {
    refine();
    Batch batch;
    batch.log_total = q_.log_total();
    batch.is_fixed = is_fixed_;
    batch.num_states = q_.num_states();
    for (std::uint64_t b = 0; batch.log_total > LOG_ZERO && b < options_.batch; ++b) {
      batch.draws.push_back(q_.draw(random_));
      batch.accepted.push_back(judge(batch.draws.back()));
    }
    return batch;
  }

  // Steps until keep(draw, random) was called for `count` accepted draws (true), or the deadline is over, or hope is
  // given up: after options.max_trials, or when a budget has ended the refining and TRIALS_PER_DRAW more trials for
  // each draw were not enough. The budget's refinements and states only end the refining.
  template <class Keep>
  bool run(std::uint64_t count, const Deadline& deadline, Keep keep) {
    const Budget& budget = deadline.budget();
    std::uint64_t most = options_.max_trials;
    for (std::uint64_t kept = 0; kept < count;) {
      if (num_trials_ >= most || deadline.is_over()) return false;
      if (!is_fixed_ && (num_refinements_ >= budget.refinements || q_.num_states() >= budget.states)) {
        fix();
        most = std::min(most, num_trials_ + TRIALS_PER_DRAW * (count - kept) + MORE_TRIALS);
      }
      const Batch batch = step();
      if (batch.draws.empty()) return false;
      for (std::size_t b = 0; b < batch.draws.size() && kept < count; ++b) {
        ++num_trials_;
        if (!batch.accepted[b]) continue;
        keep(batch.draws[b], random_);
        ++kept;
      }
    }
    return true;
  }

  // What the draws say about Z; a few more are drawn if there is time.
  PartitionEstimate estimate(const Deadline& deadline) {
    fix();
    while (!q_.is_exact() && statistics_.count() < RatioStatistics::LEAST_DRAWS && !deadline.is_over()) {
      if (step().draws.empty()) break;
    }
    return statistics_.estimate(q_.log_total(), q_.is_exact());
  }

  // q stays as it is from now on; draws that it would have been tightened by are forgotten.
  void fix() {
    is_fixed_ = true;
    rejected_.clear();
  }
  bool is_fixed() const { return is_fixed_; }
  std::uint64_t num_trials() const { return num_trials_; }  // of run()
  std::uint64_t num_refinements() const { return num_refinements_; }

 private:
  static constexpr std::uint64_t TRIALS_PER_DRAW = 100, MORE_TRIALS = 1000;

  void refine() {
    if (is_fixed_) return;
    for (const Draw& draw : rejected_) q_.tighten(draw);
    num_refinements_ += rejected_.size();
    rejected_.clear();
    if (has_reached_target()) fix();
  }

  bool has_reached_target() const {
    const std::size_t window = options_.rate_window == 0 ? outcomes_.size() : options_.rate_window;
    if (outcomes_.empty() || outcomes_.size() < window) return false;
    const auto accepted = std::count(outcomes_.end() - static_cast<std::ptrdiff_t>(window), outcomes_.end(), true);
    return static_cast<double>(accepted) >= options_.target_rate * static_cast<double>(window);
  }

  bool judge(const Draw& draw) {
    const double ratio = std::exp(draw.log_ratio);
    const bool accepted = random_.uniform() < ratio;
    if (is_fixed_) {
      statistics_.add(ratio);
    } else {
      outcomes_.push_back(accepted);
      if (!accepted) rejected_.push_back(draw);
    }
    return accepted;
  }

  Proposal& q_;
  SamplerOptions options_;
  Random random_;
  bool is_fixed_ = false;
  std::uint64_t num_refinements_ = 0, num_trials_ = 0;
  std::vector<Draw> rejected_;   // of the last batch
  std::vector<bool> outcomes_;   // of all trials while q was not fixed
  RatioStatistics statistics_;
};

}  // namespace hiddenite::exact
