#include "hiddenite/align/alignment.hpp"

#include <cmath>
#include <stdexcept>

#include "hiddenite/align/sampler.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::align {

AlignmentTrainer::AlignmentTrainer(std::string_view source_text, std::string_view target_text,
                                   const std::string& source_name, const std::string& target_name,
                                   const GibbsOptions& options, bool string_prior, std::uint64_t seed,
                                   std::uint32_t num_chains, std::optional<AlignmentTables> earlier)
    : bitext_(source_text, target_text, source_name, target_name), pairs_(bitext_, string_prior), options_(options),
      earlier_(std::move(earlier)) {
  if (earlier_) base_ = base_counts(bitext_, pairs_, *earlier_, options);
  for (std::uint32_t c = 0; c < std::max(num_chains, 1u); ++c) {
    chains_.push_back(std::make_unique<GibbsChain>(bitext_, pairs_, options, seed, c, base_ ? &*base_ : nullptr));
  }
}

double AlignmentTrainer::sweep(int threads) {
  std::vector<double> fit(chains_.size());
  parallel_for(chains_.size(), threads, [&](std::size_t c, int) { fit[c] = chains_[c]->sweep(); });
  double sum = 0.0;
  for (const double f : fit) sum += f;
  return sum / static_cast<double>(fit.size());
}

std::size_t AlignmentTrainer::bytes() const {
  // A chain: 16 bytes a pair, 8 a stem pair, a link a token, and 4 a cell for the two directions' sums.
  const std::size_t chain = 16 * pairs_.num_pairs() + 8 * pairs_.num_stem_pairs +
                            4 * (bitext_.source.tokens.size() + bitext_.target.tokens.size()) + 4 * pairs_.cell.size();
  return pairs_.bytes() + chains_.size() * chain;
}

std::pair<std::size_t, std::size_t> AlignmentTrainer::lengths(std::size_t sentence) const {
  if (sentence >= num_sentences()) throw std::out_of_range("no such sentence");
  return {bitext_.source.sentence(sentence).size(), bitext_.target.sentence(sentence).size()};
}

std::vector<float> AlignmentTrainer::probabilities(std::size_t sentence, std::size_t d) const {
  if (sentence >= num_sentences()) throw std::out_of_range("no such sentence");
  const std::uint64_t begin = pairs_.cell_begin[sentence], end = pairs_.cell_begin[sentence + 1];
  std::vector<float> result(end - begin, 0.0f);
  const auto collected = static_cast<float>(options_.sweeps() - options_.first_collected());
  for (const auto& chain : chains_) {
    const std::vector<std::uint16_t>& sums = chain->direction(d).cell_sums;
    if (sums.size() < end) throw ModelError("link probabilities exist after the last sweep only");
    const float unit = 1.0f / (static_cast<float>(chain->cell_unit()) * collected * static_cast<float>(chains_.size()));
    for (std::uint64_t c = begin; c < end; ++c) result[c - begin] += unit * static_cast<float>(sums[c]);
  }
  return result;
}

namespace {

// Where so many trials do not give the draws that were asked for, more would not either: the bound is loose.
constexpr std::uint64_t TRIALS_PER_SAMPLE = 100, LEAST_TRIALS = 20'000;

// Of the answer's weight: what a proof may leave open. Those who check it sum up in another order.
constexpr double PROOF_SLACK = 1e-11;

LinkDraws draw_links(const FertilityHmm& hmm, const AlignTask& task, const Deadline& deadline, Random random) {
  LinkDraws result;
  FertilitySampler bound(hmm, deadline);
  if (bound.is_empty()) throw NoAlignment();
  if (!bound.is_ready()) return result;
  SamplerOptions options;
  options.max_trials = LEAST_TRIALS + TRIALS_PER_SAMPLE * task.num_samples;
  RejectionSampler<FertilitySampler> sampler(bound, options, random);
  sampler.fix();
  result.is_complete = sampler.run(task.num_samples, deadline, [&](const FertilitySampler::Draw& draw, Random&) {
    result.draws.push_back(draw.links);
  });
  result.trials = sampler.num_trials();
  result.log_partition = sampler.estimate(deadline);
  return result;
}

// Shares of the draws, from the point of view of the generated words.
std::vector<float> shares(const FertilityHmm& hmm, const std::vector<Links>& draws) {
  if (draws.empty()) return {};
  std::vector<std::uint32_t> counts(hmm.num_targets * hmm.num_sources, 0);
  for (const Links& draw : draws) {
    for (std::size_t j = 0; j < draw.size(); ++j) {
      if (draw[j] > 0) ++counts[j * hmm.num_sources + draw[j] - 1];
    }
  }
  std::vector<float> result(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    result[k] = static_cast<float>(counts[k]) / static_cast<float>(draws.size());
  }
  return result;
}

std::vector<float> chain_links(const FertilityHmm& hmm, const Deadline& deadline) {
  Pace pace(deadline);
  JumpSums chain(hmm);
  CellMatrix posterior(hmm.num_targets, hmm.num_sources, 0.0);
  const double total = chain.run_backward(std::vector<double>(hmm.num_sources + 1, 0.0), pace);
  if (total == LOG_ZERO) throw NoAlignment();
  if (total == -LOG_ZERO || !chain.posterior(posterior, pace)) return {};
  std::vector<float> result(hmm.num_targets * hmm.num_sources);
  for (std::size_t j = 0; j < hmm.num_targets; ++j) {
    for (std::size_t i = 0; i < hmm.num_sources; ++i) {
      result[j * hmm.num_sources + i] = static_cast<float>(posterior[j][i + 1]);
    }
  }
  return result;
}

Aligned align_best(const FertilityHmm& hmm, const AlignTask& task, const Deadline& deadline) {
  switch (task.method) {
    case AlignTask::Method::PAPER: return align_paper(hmm, task.paper, deadline);
    case AlignTask::Method::VITERBI: return align_viterbi(hmm, deadline);
    case AlignTask::Method::EXACT: break;
  }
  return align_kbest(hmm, task.num_best, deadline);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) words.push_back(word);
  return words;
}

// [generated * generating] becomes [target * source].
void transpose(std::size_t sources, std::size_t targets, std::vector<float>& probabilities) {
  std::vector<float> result(probabilities.size());
  for (std::size_t i = 0; i < sources; ++i) {
    for (std::size_t j = 0; j < targets; ++j) result[j * sources + i] = probabilities[i * targets + j];
  }
  probabilities.swap(result);
}

}  // namespace

DirectionAnswer align_hmm(const FertilityHmm& hmm, const AlignTask& task, const Deadline& deadline, Random random) {
  DirectionAnswer answer;
  const bool has_more = task.num_samples > 0 || task.chain_probabilities || task.proves;
  if (task.num_best > 0) answer.best = align_best(hmm, task, has_more ? deadline.within(0.5) : deadline);
  if (task.proves && answer.best && answer.best->certificate.exact()) {
    const double slack = PROOF_SLACK * std::max(1.0, std::fabs(answer.best->log_weights[0]));
    ProofTree tree = prove_optimal(hmm, answer.best->links[0], slack, deadline);
    if (!tree.nodes.empty()) answer.proof = std::move(tree);
  }
  if (task.num_samples > 0) {
    answer.sampled = draw_links(hmm, task, deadline, random);
    answer.probabilities = shares(hmm, answer.sampled->draws);
  } else if (task.chain_probabilities) {
    answer.probabilities = chain_links(hmm, deadline);
  }
  return answer;
}

namespace {

void align_line(const AlignmentModel& model, const std::array<std::vector<std::string_view>, 2>& words,
                const AlignTask& task, std::uint64_t record, AlignAnswer& answer) {
  const Deadline deadline(task.budget);
  answer.source_length = static_cast<std::uint32_t>(words[0].size());
  answer.target_length = static_cast<std::uint32_t>(words[1].size());
  for (int d = 0; d < 2; ++d) {
    if (!task.directions[d]) continue;
    const bool has_more = d == 0 && task.directions[1];
    const Deadline share = has_more ? deadline.within(0.5) : deadline;
    answer.directions[d] = align_hmm(model.hmm(d, words), task, share, Random(task.seed, 2 * record + d));
    if (d == 1 && !answer.directions[d].probabilities.empty()) {
      transpose(words[0].size(), words[1].size(), answer.directions[d].probabilities);
    }
  }
}

}  // namespace

std::vector<AlignAnswer> align_lines(const AlignmentModel& model, std::string_view source_text,
                                     std::string_view target_text, const AlignTask& task, std::uint64_t first_record,
                                     int threads) {
  const std::vector<std::string_view> sources = split_lines(source_text), targets = split_lines(target_text);
  if (sources.size() != targets.size()) throw ModelError("source and target have different numbers of lines");
  std::vector<AlignAnswer> answers(sources.size());
  parallel_for(sources.size(), threads, [&](std::size_t n, int) {
    try {
      check_text(sources[n], "source", first_record + n + 1);
      check_text(targets[n], "target", first_record + n + 1);
      align_line(model, {words_of(sources[n]), words_of(targets[n])}, task, first_record + n, answers[n]);
    } catch (const FormatError& e) {
      answers[n].error = e.file + " line " + std::to_string(e.line) + ": " + e.what();
    } catch (const ModelError& e) {
      answers[n].error = e.what();
    }
  });
  return answers;
}

}  // namespace hiddenite::align
