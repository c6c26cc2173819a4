#include "hiddenite/align/alignment.hpp"

#include <cmath>
#include <stdexcept>

#include "hiddenite/align/sampler.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::align {

AlignmentTrainer::AlignmentTrainer(std::string_view source_text, std::string_view target_text,
                                   const std::string& source_name, const std::string& target_name,
                                   const GibbsOptions& options, bool string_prior, std::uint64_t seed,
                                   std::uint32_t lanes, std::optional<AlignmentTables> earlier)
    : bitext_(source_text, target_text, source_name, target_name), meetings_(bitext_, string_prior), options_(options),
      earlier_(std::move(earlier)) {
  if (lanes == 0 || options.chains == 0 || options.chains % lanes != 0) {
    throw ModelError("the number of chains is no multiple of those that run at once");
  }
  if (earlier_) base_ = base_counts(bitext_, *earlier_, options);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    lanes_.push_back(
        std::make_unique<GibbsChain>(bitext_, meetings_, options, seed, lane, lanes, base_ ? &*base_ : nullptr));
  }
}

double AlignmentTrainer::sweep(int threads) {
  std::vector<double> fit(lanes_.size());
  parallel_for(lanes_.size(), threads, [&](std::size_t c, int) { fit[c] = lanes_[c]->sweep(); });
  double sum = 0.0;
  for (const double f : fit) sum += f;
  return sum / static_cast<double>(fit.size());
}

std::size_t AlignmentTrainer::bytes() const {
  std::size_t total = meetings_.bytes() + 4 * (bitext_.source.tokens.size() + bitext_.target.tokens.size());
  for (const auto& lane : lanes_) total += lane->bytes();
  return total;
}

std::pair<std::size_t, std::size_t> AlignmentTrainer::lengths(std::size_t sentence) const {
  if (sentence >= num_sentences()) throw std::out_of_range("no such sentence");
  return {bitext_.source.sentence(sentence).size(), bitext_.target.sentence(sentence).size()};
}

std::vector<float> AlignmentTrainer::probabilities(std::size_t sentence, std::size_t d) const {
  if (sentence >= num_sentences()) throw std::out_of_range("no such sentence");
  const CellFormat& format = lanes_.front()->cell_format();
  const std::uint64_t begin = meetings_.cell_begin[sentence], end = meetings_.cell_begin[sentence + 1];
  std::vector<float> result(end - begin, 0.0f);
  const float unit = 1.0f / (static_cast<float>(format.unit) * static_cast<float>(options_.num_collected()) *
                             static_cast<float>(options_.chains));
  for (std::uint64_t c = begin; c < end; ++c) {
    std::uint32_t sum = 0;
    for (const auto& lane : lanes_) {
      const std::vector<std::uint8_t>& sums = lane->direction(d).cell_sums;
      if (sums.size() < end * format.width) throw ModelError("link probabilities exist after the last sweep only");
      sum += format.read(sums, c);
    }
    result[c - begin] = unit * static_cast<float>(sum);
  }
  return result;
}

std::vector<float> AlignmentTrainer::link_probabilities(std::size_t sentence, int d, double single) const {
  std::vector<float> p = probabilities(sentence, d == 1 ? 1 : 0);
  if (d >= 0) return p;
  const std::vector<float> reverse = probabilities(sentence, 1);
  for (std::size_t c = 0; c < p.size(); ++c) {
    const double forward = static_cast<double>(p[c]), both = forward * static_cast<double>(reverse[c]);
    p[c] = static_cast<float>(both + single * (forward + static_cast<double>(reverse[c]) - 2.0 * both));
  }
  return p;
}

std::string AlignmentTrainer::links_text(std::size_t begin, std::size_t end, int d, double single,
                                         double threshold) const {
  std::string text;
  const auto least = static_cast<float>(threshold);
  for (std::size_t s = begin; s < std::min(end, num_sentences()); ++s) {
    const std::vector<float> p = link_probabilities(s, d, single);
    const auto [n, m] = lengths(s);
    bool is_first = true;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        if (p[j * n + i] < least) continue;
        if (!is_first) text += ' ';
        is_first = false;
        text += std::to_string(i) + '-' + std::to_string(j);
      }
    }
    text += '\n';
  }
  return text;
}

double AlignmentTrainer::best_threshold(int d, double single) const {
  constexpr std::size_t BINS = 1000;
  std::vector<double> count(BINS + 1, 0.0), mass(BINS + 1, 0.0);
  for (std::size_t s = 0; s < num_sentences(); ++s) {
    if (s % 1024 == 0) check_interrupt();
    const std::vector<float> p = link_probabilities(s, d, single);
    for (const float one : p) {
      const auto bin = std::min(BINS, static_cast<std::size_t>(static_cast<double>(one) * BINS));
      count[bin] += 1.0;
      mass[bin] += static_cast<double>(one);
    }
  }
  double all = 0.0, found = 0.0, links = 0.0, best = -1.0;
  for (const double m : mass) all += m;
  std::size_t chosen = BINS / 2;
  for (std::size_t bin = BINS + 1; bin-- > BINS / 100;) {
    found += mass[bin];
    links += count[bin];
    const double expected = links + all > 0.0 ? 2.0 * found / (links + all) : 0.0;
    if (bin < BINS && expected > best) best = expected, chosen = bin;
  }
  return static_cast<double>(chosen) / BINS;
}

namespace {

// Where so many trials do not give the draws that were asked for, more would not either: the bound is loose. The first
// trials say whether there is hope.
constexpr std::uint64_t FIRST_TRIALS = 300, TRIALS_PER_SAMPLE = 100, LEAST_TRIALS = 20'000;
constexpr std::uint64_t CHEAP = 20'000'000;  // cells of all trials together, which take a fraction of a second
constexpr std::size_t ENOUGH_DRAWS = 50;  // whose shares are of use, though more were asked for
constexpr double EXACT_SHARE = 0.6;       // of the time; the rest is for Gibbs sampling if it must be

// Of the answer's weight: what a proof may leave open. Those who check it sum up in another order.
constexpr double PROOF_SLACK = 1e-11;

LinkDraws draw_links(const FertilityHmm& hmm, const AlignTask& task, const Deadline& deadline, Random random) {
  LinkDraws result;
  FertilitySampler bound(hmm, deadline);
  if (bound.is_empty()) throw NoAlignment();
  if (!bound.is_ready()) return result;
  const std::uint64_t most = LEAST_TRIALS + TRIALS_PER_SAMPLE * task.num_samples;
  for (const std::uint64_t trials : {FIRST_TRIALS, most - FIRST_TRIALS}) {
    SamplerOptions options;
    options.max_trials = trials;
    RejectionSampler<FertilitySampler> sampler(bound, options, Random(random.next(), trials));
    sampler.fix();
    const std::uint64_t missing = task.num_samples - result.draws.size();
    result.is_complete = sampler.run(missing, deadline, [&](const FertilitySampler::Draw& draw, Random&) {
      result.draws.push_back(draw.links);
    });
    result.trials += sampler.num_trials();
    result.log_partition = sampler.estimate(deadline);
    const bool has_hope = TRIALS_PER_SAMPLE * result.draws.size() >= result.trials ||
                          most * hmm.num_sources * hmm.num_targets <= CHEAP;
    if (result.is_complete || deadline.is_over() || !has_hope) break;
  }
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
    LinkDraws& sampled = answer.sampled.emplace();
    if (!task.gibbs_probabilities) sampled = draw_links(hmm, task, deadline.within(EXACT_SHARE), random);
    answer.probabilities = shares(hmm, sampled.draws);
    if (!sampled.is_complete && sampled.draws.size() < ENOUGH_DRAWS) {
      PairGibbs instead = sample_pair(hmm, deadline, Random(task.seed, ~random.next()));
      sampled.gibbs_sweeps = instead.sweeps;
      sampled.gibbs_error = instead.standard_error;
      if (instead.sweeps > 0) answer.probabilities = std::move(instead.probabilities);
    }
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

std::vector<AlignAnswer> align_trained(const AlignmentModel& model, const AlignmentTrainer& trainer,
                                       const AlignTask& task, std::size_t begin, std::size_t end, int threads) {
  const Bitext& bitext = trainer.bitext();
  if (begin > end || end > bitext.num_sentences()) throw std::out_of_range("there are fewer sentence pairs");
  const auto words_of_sentence = [](const TextSide& side, std::size_t sentence) {
    std::vector<std::string_view> words;
    for (const WordId id : side.sentence(sentence)) words.push_back(side.words.word(id));
    return words;
  };
  std::vector<AlignAnswer> answers(end - begin);
  parallel_for(answers.size(), threads, [&](std::size_t n, int) {
    try {
      const std::size_t sentence = begin + n;
      align_line(model, {words_of_sentence(bitext.source, sentence), words_of_sentence(bitext.target, sentence)}, task,
                 sentence, answers[n]);
    } catch (const ModelError& e) {
      answers[n].error = e.what();
    }
  });
  return answers;
}

}  // namespace hiddenite::align
