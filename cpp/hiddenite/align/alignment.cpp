#include "hiddenite/align/alignment.hpp"

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

std::vector<float> AlignmentTrainer::probabilities(std::size_t sentence, int d) const {
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

constexpr std::uint64_t MAX_TRIALS_PER_SAMPLE = 10'000;

// Shares of exact draws, from the point of view of the generated words.
void sample_links(const FertilityHmm& hmm, const AlignTask& task, Random& random, DirectionAnswer& answer) {
  const Deadline deadline(task.budget.seconds);
  const FertilitySampler sampler(hmm, deadline);
  if (sampler.is_empty()) return;
  Links links;
  double ratio = 0.0;
  const std::uint64_t most = MAX_TRIALS_PER_SAMPLE * task.num_samples;
  while (answer.samples.size() < task.num_samples && answer.trials < most && !deadline.is_over()) {
    ++answer.trials;
    if (sampler.draw(random, links, ratio)) answer.samples.push_back(links);
  }
  answer.probabilities.assign(hmm.num_targets * hmm.num_sources, 0.0f);
  if (answer.samples.empty()) return;
  const float share = 1.0f / static_cast<float>(answer.samples.size());
  for (const Links& draw : answer.samples) {
    for (std::size_t j = 0; j < draw.size(); ++j) {
      if (draw[j] > 0) answer.probabilities[j * hmm.num_sources + draw[j] - 1] += share;
    }
  }
}

void chain_links(const FertilityHmm& hmm, DirectionAnswer& answer) {
  JumpSums chain(hmm);
  answer.probabilities.assign(hmm.num_targets * hmm.num_sources, 0.0f);
  if (chain.run_backward(std::vector<double>(hmm.num_sources + 1, 0.0)) == LOG_ZERO) return;
  CellMatrix posterior(hmm.num_targets, hmm.num_sources, 0.0);
  chain.posterior(posterior);
  for (std::size_t j = 0; j < hmm.num_targets; ++j) {
    for (std::size_t i = 0; i < hmm.num_sources; ++i) {
      answer.probabilities[j * hmm.num_sources + i] = static_cast<float>(posterior[j][i + 1]);
    }
  }
}

void align_best(const FertilityHmm& hmm, const AlignTask& task, DirectionAnswer& answer) {
  if (task.method == AlignTask::Method::EXACT && task.num_best > 1) {
    RankedAlignments ranked = align_kbest(hmm, task.num_best, task.budget);
    answer.links = std::move(ranked.links);
    answer.log_weights = std::move(ranked.log_weights);
    answer.exact = ranked.exact;
    answer.upper = answer.log_weights.empty() ? LOG_ZERO : answer.log_weights.front();
    return;
  }
  Aligned best = task.method == AlignTask::Method::EXACT   ? align_exact(hmm, task.budget)
                 : task.method == AlignTask::Method::PAPER ? align_paper(hmm, task.paper)
                                                           : align_viterbi(hmm);
  // Viterbi may link a word more often than its fertility allows.
  if (best.log_weight > LOG_ZERO || !best.links.empty()) {
    answer.links.push_back(std::move(best.links));
    answer.log_weights.push_back(best.log_weight);
  }
  answer.exact = best.exact;
  answer.upper = best.upper;
  answer.iterations = best.iterations;
  answer.labels = best.labels;
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

DirectionAnswer align_hmm(const FertilityHmm& hmm, const AlignTask& task, Random random) {
  DirectionAnswer answer;
  align_best(hmm, task, answer);
  if (task.num_samples > 0) {
    sample_links(hmm, task, random, answer);
  } else if (task.chain_probabilities) {
    chain_links(hmm, answer);
  }
  return answer;
}

std::vector<AlignAnswer> align_lines(const AlignmentModel& model, std::string_view source_text,
                                     std::string_view target_text, const AlignTask& task, std::uint64_t first_record,
                                     int threads) {
  const std::vector<std::string_view> sources = split_lines(source_text), targets = split_lines(target_text);
  if (sources.size() != targets.size()) throw ModelError("source and target have different numbers of lines");
  std::vector<AlignAnswer> answers(sources.size());
  parallel_for(sources.size(), threads, [&](std::size_t n, int) {
    AlignAnswer& answer = answers[n];
    try {
      check_text(sources[n], "source", first_record + n + 1);
      check_text(targets[n], "target", first_record + n + 1);
    } catch (const FormatError& e) {
      answer.error = e.file + " line " + std::to_string(e.line) + ": " + e.what();
      return;
    }
    const std::array<std::vector<std::string_view>, 2> words{words_of(sources[n]), words_of(targets[n])};
    answer.source_length = static_cast<std::uint32_t>(words[0].size());
    answer.target_length = static_cast<std::uint32_t>(words[1].size());
    for (int d = 0; d < 2; ++d) {
      if (!task.directions[d]) continue;
      answer.directions[d] = align_hmm(model.hmm(d, words), task, Random(task.seed, 2 * (first_record + n) + d));
      if (d == 1 && !answer.directions[d].probabilities.empty()) {
        transpose(words[0].size(), words[1].size(), answer.directions[d].probabilities);
      }
    }
  });
  return answers;
}

}  // namespace hiddenite::align
