#include "hiddenite/exact/search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <queue>
#include <set>

#include "hiddenite/exact/paper.hpp"
#include "hiddenite/exact/walk.hpp"

namespace hiddenite::exact {

namespace {

class Clock {
 public:
  explicit Clock(const Budget& budget) : budget_(budget) {}
  bool is_over() const {
    if (budget_.seconds == std::numeric_limits<double>::infinity()) return false;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    return elapsed.count() >= budget_.seconds;
  }

 private:
  const Budget& budget_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Some path through the first positions has a positive probability.
bool is_possible(const NgramTable& table, const Candidates& candidates, std::size_t num_positions) {
  Refinement q(table, candidates, num_positions);
  while (true) {
    const Trial trial = q.best();
    if (trial.log_q == LOG_ZERO) return false;
    if (trial.log_p > LOG_ZERO) return true;
    q.tighten(trial.path);
  }
}

// Names the first position where all paths have come to an end.
[[noreturn]] void throw_empty_support(const NgramTable& table, const Candidates& candidates) {
  std::size_t possible = 0, impossible = candidates.length() + 1;  // numbers of positions
  while (impossible - possible > 1) {
    const std::size_t middle = (possible + impossible) / 2;
    (is_possible(table, candidates, middle) ? possible : impossible) = middle;
  }
  throw_no_path(candidates, possible);
}

double candidates_log_weight(const NgramTable& table, const Candidates& candidates,
                             std::span<const std::uint32_t> words, std::span<const std::uint32_t> ranks) {
  NodeId state = table.start();
  double log_weight = 0.0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Slot& slot = candidates.slots[i];
    log_weight += table.step(state, slot.word[words[i]]);
    log_weight += slot.log_weight[slot.begin[words[i]] + ranks[i]];
  }
  if (candidates.ends) log_weight += table.step(state, SENTENCE_END);
  return log_weight;
}

}  // namespace

// ------------------------------------------------------------- decoding

Decoder::Decoder(const NgramTable& table, const Candidates& candidates, std::unique_ptr<Relaxation> q)
    : table_(table), candidates_(candidates), q_(std::move(q)) {}

const DecodeStep& Decoder::step() {
  if (last_.done) return last_;
  if (began_) {
    q_->tighten(last_.trial.path);
    ++last_.refinements;
  }
  last_.trial = q_->best();
  const Trial& trial = last_.trial;
  if (trial.log_q == LOG_ZERO) throw_empty_support(table_, candidates_);
  last_.upper = std::min(last_.upper, trial.log_q);
  if (!began_ || trial.log_p > last_.lower) {
    best_path_ = trial.path;
    last_.lower = trial.log_p;
  }
  began_ = true;
  last_.states = q_->num_states();
  last_.edges = q_->num_edges();
  last_.done = trial.is_tight() || last_.lower >= last_.upper;
  if (last_.done) last_.upper = last_.lower;
  return last_;
}

Decoded Decoder::run(const Budget& budget, Method method) {
  const Clock clock(budget);
  do {
    step();
  } while (!last_.done && last_.refinements < budget.refinements && last_.states < budget.states && !clock.is_over());
  return {best_path_, path_log_weight(table_, candidates_, best_path_),
          {last_.done, last_.upper, last_.lower, method, last_.refinements, last_.states}};
}

Decoded decode_refine(const NgramTable& table, const Candidates& candidates, const Budget& budget,
                      Strategy strategy) {
  return Decoder(table, candidates,
                 std::make_unique<Refinement>(table, candidates, Weighting::BEST, strategy))
      .run(budget, Method::REFINE);
}

Decoded decode_paper(const NgramTable& table, const Candidates& candidates, const Budget& budget) {
  return Decoder(table, candidates, std::make_unique<PaperRelaxation>(table, candidates, Weighting::BEST))
      .run(budget, Method::PAPER);
}

// --------------------------------------------------------------- k best

namespace {

// The best word paths met, each once.
class Pool {
 public:
  explicit Pool(std::size_t k) : k_(k) {}
  void add(const Trial& trial) {
    if (trial.log_p == LOG_ZERO || trial.log_p <= kth() || !known_.insert(trial.path).second) return;
    ranked_.emplace(-trial.log_p, trial.path);
    if (ranked_.size() > k_) ranked_.erase(std::prev(ranked_.end()));
  }
  // The weight of the k-th best, zero if there are fewer.
  double kth() const { return ranked_.size() < k_ ? LOG_ZERO : -ranked_.rbegin()->first; }
  const std::multimap<double, WordPath>& ranked() const { return ranked_; }  // by -log_p

 private:
  std::size_t k_;
  std::set<WordPath> known_;
  std::multimap<double, WordPath> ranked_;
};

// The k best candidate sequences of the k best word paths: each begins with the best candidate of every
// word; then one position, none before the last one changed, takes its next best.
void expand_candidates(const NgramTable& table, const Candidates& candidates,
                       const std::multimap<double, WordPath>& ranked, std::size_t k, KBest& result) {
  struct Item {
    double log_weight;
    const WordPath* words;
    WordPath ranks;
    std::size_t changed;
    bool operator<(const Item& o) const { return log_weight < o.log_weight; }
  };
  std::priority_queue<Item> queue;
  for (const auto& [cost, words] : ranked) queue.push({-cost, &words, WordPath(words.size(), 0), 0});
  while (!queue.empty() && result.paths.size() < k) {
    const Item item = queue.top();
    queue.pop();
    WordPath& path = result.paths.emplace_back(item.ranks);
    result.log_weights.push_back(item.log_weight);
    for (std::size_t i = 0; i < path.size(); ++i) {
      const Slot& slot = candidates.slots[i];
      const std::uint32_t first = slot.begin[(*item.words)[i]], last = slot.begin[(*item.words)[i] + 1];
      path[i] = slot.candidate[first + item.ranks[i]];
      if (i < item.changed || first + item.ranks[i] + 1 == last) continue;
      WordPath ranks = item.ranks;
      ++ranks[i];
      queue.push({candidates_log_weight(table, candidates, *item.words, ranks), item.words, ranks, i});
    }
  }
}

// Looks at q's best paths in order until the pool is complete (true) or `rejected` should be refined first.
template <class Bound>
bool fill_pool(Bound& q, Pool& pool, std::size_t most_rejected, std::vector<WordPath>& rejected) {
  auto ranked = q.ranked_paths();
  while (!ranked.is_empty()) {
    if (pool.kth() >= ranked.next_log_weight()) return true;
    const Trial trial = q.score(ranked.next());
    pool.add(trial);
    if (!trial.is_tight()) rejected.push_back(trial.path);
    if (rejected.size() == most_rejected) return false;
  }
  return true;  // every path of positive weight
}

// The loop of decoding for k paths: q is tightened by up to k of its best paths at a time.
template <class Bound>
KBest kbest_by(Bound& q, Method method, const NgramTable& table, const Candidates& candidates, std::size_t k,
               const Budget& budget) {
  const Clock clock(budget);
  k = std::max<std::size_t>(k, 1);
  KBest result;
  Certificate& certificate = result.certificate;
  certificate = {false, -LOG_ZERO, LOG_ZERO, method, 0, 0};
  Pool pool(k);
  std::vector<WordPath> rejected;
  while (true) {
    const Trial best = q.best();
    if (best.log_q == LOG_ZERO) throw_empty_support(table, candidates);
    pool.add(best);
    certificate.upper = std::min(certificate.upper, best.log_q);
    certificate.exact = fill_pool(q, pool, k, rejected);
    certificate.states = q.num_states();
    if (certificate.exact || certificate.refinements >= budget.refinements || certificate.states >= budget.states ||
        clock.is_over()) {
      break;
    }
    for (const WordPath& path : rejected) q.tighten(path);
    certificate.refinements += rejected.size();
    rejected.clear();
  }
  if (pool.ranked().empty() && certificate.exact) throw_empty_support(table, candidates);
  expand_candidates(table, candidates, pool.ranked(), k, result);
  if (!result.paths.empty()) certificate.lower = result.log_weights.front();
  if (certificate.exact) certificate.upper = certificate.lower;
  return result;
}

}  // namespace

KBest kbest_refine(const NgramTable& table, const Candidates& candidates, std::size_t k, const Budget& budget,
                   Strategy strategy) {
  Refinement q(table, candidates, Weighting::BEST, strategy);
  return kbest_by(q, Method::REFINE, table, candidates, k, budget);
}

KBest kbest_paper(const NgramTable& table, const Candidates& candidates, std::size_t k, const Budget& budget) {
  PaperRelaxation q(table, candidates, Weighting::BEST);
  return kbest_by(q, Method::PAPER, table, candidates, k, budget);
}

// ------------------------------------------------------------- sampling

Sampler::Sampler(const NgramTable& table, const Candidates& candidates, std::unique_ptr<Relaxation> q,
                 SamplerOptions options, Random random)
    : table_(table), candidates_(candidates), q_(std::move(q)), options_(options), random_(random) {}

bool Sampler::has_reached_target() const {
  const std::size_t window = options_.rate_window == 0 ? outcomes_.size() : options_.rate_window;
  if (outcomes_.empty() || outcomes_.size() < window) return false;
  const auto accepted = std::count(outcomes_.end() - static_cast<std::ptrdiff_t>(window), outcomes_.end(), true);
  return static_cast<double>(accepted) >= options_.target_rate * static_cast<double>(window);
}

SampleStep Sampler::step() {
  if (!is_fixed_) {
    for (const WordPath& path : rejected_) q_->tighten(path);
    refinements_ += rejected_.size();
    rejected_.clear();
    is_fixed_ = has_reached_target();
  }
  SampleStep result;
  result.log_total = q_->log_total();
  result.is_fixed = is_fixed_;
  result.states = q_->num_states();
  result.edges = q_->num_edges();
  if (result.log_total == LOG_ZERO) throw_empty_support(table_, candidates_);
  for (std::uint64_t b = 0; b < options_.batch; ++b) {
    Trial trial = q_->draw(random_);
    const double ratio = std::exp(trial.log_ratio);
    const bool accepted = random_.uniform() < ratio;
    if (is_fixed_) {
      ++num_fixed_;
      ratio_sum_ += ratio;
      ratio_square_sum_ += ratio * ratio;
    } else {
      outcomes_.push_back(accepted);
      if (!accepted) rejected_.push_back(trial.path);
    }
    result.accepted.push_back(accepted);
    result.trials.push_back(std::move(trial));
  }
  return result;
}

namespace {

// One candidate for each word, by weight.
WordPath draw_candidates(const Candidates& candidates, const WordPath& words, Random& random) {
  WordPath path(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Slot& slot = candidates.slots[i];
    std::uint32_t c = slot.begin[words[i]];
    const std::uint32_t last = slot.begin[words[i] + 1] - 1;
    if (c < last) {
      double rest = random.uniform();
      while (c < last && (rest -= std::exp(slot.log_weight[c] - slot.log_sum[words[i]])) >= 0.0) ++c;
    }
    path[i] = slot.candidate[c];
  }
  return path;
}

}  // namespace

Sampled Sampler::run(std::size_t count, const Budget& budget) {
  const Clock clock(budget);
  Sampled sampled;
  while (sampled.paths.size() < count && sampled.trials < options_.max_trials && !clock.is_over()) {
    if (refinements_ >= budget.refinements || q_->num_states() >= budget.states) fix();
    const SampleStep batch = step();
    for (std::size_t b = 0; b < batch.trials.size() && sampled.paths.size() < count; ++b) {
      ++sampled.trials;
      if (batch.accepted[b]) sampled.paths.push_back(draw_candidates(candidates_, batch.trials[b].path, random_));
    }
  }
  sampled.complete = sampled.paths.size() == count;
  sampled.refinements = refinements_;
  sampled.states = q_->num_states();
  estimate_partition(sampled);
  return sampled;
}

// With s.e. sqrt(var(p / q) / n) / mean(p / q). One more draw with p / q = 0 is taken to have happened, so
// that a few draws that all fit are not taken for certainty.
void Sampler::estimate_partition(Sampled& sampled) {
  constexpr std::uint64_t min_draws = 100;
  fix();
  sampled.log_partition_upper = q_->log_total();
  if (q_->is_exact()) {
    sampled.log_partition = sampled.log_partition_upper;
    return;
  }
  while (num_fixed_ < min_draws) step();
  const auto n = static_cast<double>(num_fixed_);
  const double mean = ratio_sum_ / n;
  if (mean == 0.0) {
    sampled.log_partition_error = std::numeric_limits<double>::infinity();
    return;
  }
  sampled.log_partition = sampled.log_partition_upper + std::log(mean);
  const double variance = std::max(ratio_square_sum_ - n * mean * mean, 0.0) + mean * mean;
  sampled.log_partition_error = std::sqrt(variance) / n / mean;
}

Sampled sample_refine(const NgramTable& table, const Candidates& candidates, std::size_t count, Random random,
                      const SamplerOptions& options, const Budget& budget, Strategy strategy) {
  return Sampler(table, candidates, std::make_unique<Refinement>(table, candidates, Weighting::TOTAL, strategy),
                 options, random)
      .run(count, budget);
}

Sampled sample_paper(const NgramTable& table, const Candidates& candidates, std::size_t count, Random random,
                     const SamplerOptions& options, const Budget& budget) {
  return Sampler(table, candidates, std::make_unique<PaperRelaxation>(table, candidates, Weighting::TOTAL), options,
                 random)
      .run(count, budget);
}

}  // namespace hiddenite::exact
