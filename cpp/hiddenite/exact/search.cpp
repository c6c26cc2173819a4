#include "hiddenite/exact/search.hpp"

#include "hiddenite/exact/bound/paper.hpp"

namespace hiddenite::exact {

std::unique_ptr<Relaxation> make_relaxation(const NgramTable& table, const Candidates& candidates, Method method,
                                            Weighting weighting, Strategy strategy) {
  if (!candidates.is_chain()) {
    const GraphOptions options{1.0, true, candidates.ends, candidates.log_offset};
    return make_graph_relaxation(table, graph_of(candidates).graph, method, options, strategy);
  }
  if (method == Method::PAPER) return std::make_unique<PaperRelaxation>(table, candidates, weighting);
  return std::make_unique<Refinement>(table, candidates, weighting, strategy);
}

// ------------------------------------------------------------- decoding

Decoder::Decoder(std::unique_ptr<Relaxation> q) : q_(std::move(q)) {}

void Decoder::step() {
  if (bounds_.is_closed()) return;
  if (began_) {
    q_->tighten(trial_);
    ++refinements_;
  }
  trial_ = q_->best();
  if (trial_.log_q == LOG_ZERO) q_->throw_empty();
  if (!began_ || trial_.log_p > bounds_.lower()) best_path_ = trial_.path;
  began_ = true;
  bounds_.found(trial_.log_p);
  bounds_.none_above(q_->upper_of(trial_.log_q));
  if (trial_.is_tight() || trial_.log_q <= bounds_.lower()) bounds_.close();
}

DecodeStep Decoder::last() const {
  const double offset = q_->log_offset();
  DecodeStep step{trial_, bounds_.upper() + offset, bounds_.lower() + offset, bounds_.is_closed(),
                  refinements_, q_->num_states()};
  step.trial.log_q += offset;
  step.trial.log_p += offset;
  return step;
}

Decoded Decoder::run(const Deadline& deadline, Method method) {
  const Certificate certificate = run_search(*this, deadline, method);
  return {best_path_, q_->log_weight(best_path_), certificate};
}

Decoded decode_by_refining(const NgramTable& table, const Candidates& candidates, Method method,
                           const Deadline& deadline, Strategy strategy) {
  Decoder decoder(make_relaxation(table, candidates, method, Weighting::BEST, strategy));
  Decoded decoded = decoder.run(deadline, method);
  if (candidates.is_chain()) return decoded;
  const CandidateGraph graph = graph_of(candidates);
  decoded.route = graph.route(decoded.path);
  decoded.path = CandidateGraph::column(graph.word, decoded.path);
  return decoded;
}

// ------------------------------------------------------------- sampling

Sampler::Sampler(std::unique_ptr<Relaxation> q, SamplerOptions options, Random random)
    : q_(std::move(q)), sampler_(*q_, options, random) {}

Sampler::Batch Sampler::step() {
  Batch batch = sampler_.step();
  if (batch.draws.empty()) q_->throw_empty();
  batch.log_total += q_->log_offset();
  return batch;
}

Sampled Sampler::run(std::size_t count, const Deadline& deadline) {
  Sampled sampled;
  sampled.complete = sampler_.run(count, deadline, [&](const Trial& trial, Random& random) {
    sampled.paths.push_back(q_->spelled(trial.path, random));
  });
  sampled.log_partition = sampler_.estimate(deadline);
  PartitionEstimate& estimate = sampled.log_partition;
  if (estimate.upper == LOG_ZERO) q_->throw_empty();
  estimate.upper = q_->upper_of(estimate.upper) + q_->log_offset();
  if (estimate.value) *estimate.value += q_->log_offset();
  sampled.trials = sampler_.num_trials();
  sampled.refinements = sampler_.num_refinements();
  sampled.states = q_->num_states();
  return sampled;
}

Sampled sample_by_refining(const NgramTable& table, const Candidates& candidates, std::size_t count, Random random,
                           Method method, const SamplerOptions& options, const Deadline& deadline,
                           Strategy strategy) {
  Sampler sampler(make_relaxation(table, candidates, method, Weighting::TOTAL, strategy), options, random);
  Sampled sampled = sampler.run(count, deadline);
  if (candidates.is_chain()) return sampled;
  const CandidateGraph graph = graph_of(candidates);
  for (std::vector<std::uint32_t>& path : sampled.paths) {
    sampled.routes.push_back(graph.route(path));
    path = CandidateGraph::column(graph.candidate, path);
  }
  return sampled;
}

}  // namespace hiddenite::exact
