#include "hiddenite/exact/search.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/exact/bound/paper.hpp"
#include "hiddenite/exact/empty_support.hpp"

namespace hiddenite::exact {

std::unique_ptr<Relaxation> make_relaxation(const NgramTable& table, const Candidates& candidates, Method method,
                                            Weighting weighting, Strategy strategy) {
  if (method == Method::PAPER) return std::make_unique<PaperRelaxation>(table, candidates, weighting);
  return std::make_unique<Refinement>(table, candidates, weighting, strategy);
}

// ------------------------------------------------------------- decoding

Decoder::Decoder(const NgramTable& table, const Candidates& candidates, std::unique_ptr<Relaxation> q)
    : table_(table), candidates_(candidates), q_(std::move(q)) {}

void Decoder::step() {
  if (bounds_.is_closed()) return;
  if (began_) {
    q_->tighten(trial_);
    ++refinements_;
  }
  trial_ = q_->best();
  if (trial_.log_q == LOG_ZERO) throw_empty_support(table_, candidates_);
  if (!began_ || trial_.log_p > bounds_.lower()) best_path_ = trial_.path;
  began_ = true;
  bounds_.found(trial_.log_p);
  bounds_.none_above(outward(trial_.log_q, num_terms(table_, candidates_)));
  if (trial_.is_tight() || trial_.log_q <= bounds_.lower()) bounds_.close();
}

DecodeStep Decoder::last() const {
  const double offset = candidates_.log_offset;
  DecodeStep step{trial_, bounds_.upper() + offset, bounds_.lower() + offset, bounds_.is_closed(),
                  refinements_, q_->num_states()};
  step.trial.log_q += offset;
  step.trial.log_p += offset;
  return step;
}

Decoded Decoder::run(const Deadline& deadline, Method method) {
  const Certificate certificate = run_search(*this, deadline, method);
  return {best_path_, path_log_weight(table_, candidates_, best_path_), certificate};
}

Decoded decode_by_refining(const NgramTable& table, const Candidates& candidates, Method method,
                           const Deadline& deadline, Strategy strategy) {
  return Decoder(table, candidates, make_relaxation(table, candidates, method, Weighting::BEST, strategy))
      .run(deadline, method);
}

// ------------------------------------------------------------- sampling

Sampler::Sampler(const NgramTable& table, const Candidates& candidates, std::unique_ptr<Relaxation> q,
                 SamplerOptions options, Random random)
    : table_(table), candidates_(candidates), q_(std::move(q)), sampler_(*q_, options, random) {}

Sampler::Batch Sampler::step() {
  Batch batch = sampler_.step();
  if (batch.draws.empty()) throw_empty_support(table_, candidates_);
  batch.log_total += candidates_.log_offset;
  return batch;
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

Sampled Sampler::run(std::size_t count, const Deadline& deadline) {
  Sampled sampled;
  sampled.complete = sampler_.run(count, deadline, [&](const Trial& trial, Random& random) {
    sampled.paths.push_back(draw_candidates(candidates_, trial.path, random));
  });
  sampled.log_partition = sampler_.estimate(deadline);
  PartitionEstimate& estimate = sampled.log_partition;
  if (estimate.upper == LOG_ZERO) throw_empty_support(table_, candidates_);
  estimate.upper = outward(estimate.upper, num_terms(table_, candidates_)) + candidates_.log_offset;
  if (estimate.value) *estimate.value += candidates_.log_offset;
  sampled.trials = sampler_.num_trials();
  sampled.refinements = sampler_.num_refinements();
  sampled.states = q_->num_states();
  return sampled;
}

Sampled sample_by_refining(const NgramTable& table, const Candidates& candidates, std::size_t count, Random random,
                           Method method, const SamplerOptions& options, const Deadline& deadline,
                           Strategy strategy) {
  return Sampler(table, candidates, make_relaxation(table, candidates, method, Weighting::TOTAL, strategy), options,
                 random)
      .run(count, deadline);
}

}  // namespace hiddenite::exact
