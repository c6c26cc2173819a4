// The door to word alignment: train on parallel text, align sentence pairs.
//
// Numbers of chains, sentences and directions that do not exist are std::out_of_range.
//
// Which door to take:
//   train                       AlignmentTrainer: sweep() until done, then model(), probabilities()
//   align with a model          align_lines: many pairs, in parallel, in order
#pragma once

#include <memory>
#include <optional>

#include "hiddenite/align/branching.hpp"
#include "hiddenite/align/model.hpp"
#include "hiddenite/align/pair_gibbs.hpp"
#include "hiddenite/align/search.hpp"
#include "hiddenite/exact/rejection.hpp"

namespace hiddenite::align {

class AlignmentTrainer {
 public:
  AlignmentTrainer(std::string_view source_text, std::string_view target_text, const std::string& source_name,
                   const std::string& target_name, const GibbsOptions& options, bool string_prior,
                   std::uint64_t seed, std::uint32_t lanes,
                   std::optional<AlignmentTables> earlier = std::nullopt);
  AlignmentTrainer(const AlignmentTrainer&) = delete;  // chains refer to the text
  AlignmentTrainer& operator=(const AlignmentTrainer&) = delete;

  // Chains are shared out to lanes, which run beside each other; each takes its memory. The result is the same for
  // any number of lanes. One sweep of every lane, in parallel; the mean of what they return.
  double sweep(int threads);
  // A chain's sweep over some sentences: GibbsChain.
  double sweep_shard(std::size_t c, std::size_t begin, std::size_t end, std::uint64_t shard) {
    return lanes_.at(c)->sweep(begin, end, shard);
  }
  std::uint32_t num_sweeps_done() const { return lanes_.front()->num_sweeps_done(); }
  std::uint32_t num_sweeps() const {
    return options_.sweeps() * options_.chains / static_cast<std::uint32_t>(lanes_.size());
  }
  std::size_t num_sentences() const { return bitext_.num_sentences(); }
  std::size_t bytes() const;
  const Bitext& bitext() const { return bitext_; }
  const std::vector<std::uint64_t>& cells_before() const { return meetings_.cell_begin; }  // [sentence], and all
  const GibbsOptions& options() const { return options_; }

  // [target position * source length + source position]: the mean probability of each link of direction d.
  std::vector<float> probabilities(std::size_t sentence, std::size_t d) const;
  std::pair<std::size_t, std::size_t> lengths(std::size_t sentence) const;  // of its source and target
  // With those of the earlier training, if it went on from one.
  AlignmentTables tables() const {
    AlignmentTables counts = expected_counts(bitext_, meetings_, lanes_, options_);
    return earlier_ ? merge(*earlier_, counts, options_) : counts;
  }
  const GibbsChain& lane(std::size_t c) const { return *lanes_.at(c); }
  std::size_t num_lanes() const { return lanes_.size(); }
  // The probability, from 0.01 to 0.99, from which on links have the greatest expected F, 2 sum_{p >= t} p / (number
  // of these + sum p), over the whole text; p is that of one direction (d 0 or 1), or of both, where a link that one
  // direction alone has counts `single`.
  double best_threshold(int d, double single) const;
  // Links of these sentences that reach the threshold, source-target, one line a sentence; d and single as above.
  std::string links_text(std::size_t begin, std::size_t end, int d, double single, double threshold) const;
  void restore(std::size_t c, std::uint32_t sweeps_done, std::array<GibbsDirection, 2> directions) {
    lanes_.at(c)->restore(sweeps_done, std::move(directions));
  }

 private:
  std::vector<float> link_probabilities(std::size_t sentence, int d, double single) const;

  Bitext bitext_;
  Meetings meetings_;
  GibbsOptions options_;
  std::optional<AlignmentTables> earlier_;
  std::optional<BaseCounts> base_;
  ChainLanes lanes_;
};

struct AlignTask {
  enum class Method { EXACT, PAPER, VITERBI };
  Method method = Method::EXACT;
  std::array<bool, 2> directions{true, true};
  Budget budget{.states = DEFAULT_LABELS};  // of a sentence pair, all directions and stages together
  PaperOptions paper;
  std::uint32_t num_best = 1;        // EXACT: the k best; 0: none is asked for
  bool proves = false;               // the best alignment, for others to check
  std::uint32_t num_samples = 0;     // link probabilities from so many exact draws
  bool gibbs_probabilities = false;  // by Gibbs sampling, without a trial of exact draws
  bool chain_probabilities = false;  // or from the chain alone, without fertilities
  std::uint64_t seed = 0;
};

// Independent draws of alignments, and what they say.
struct LinkDraws {
  std::vector<Links> draws;
  bool is_complete = false;         // as many as were asked for; else the budget or the limit on trials came first
  std::uint64_t trials = 0;
  PartitionEstimate log_partition;  // ln of the sum of all alignments' weights
  // Where too few draws were accepted: averages of so many Gibbs sweeps stand in for their shares.
  std::uint32_t gibbs_sweeps = 0;
  double gibbs_error = 0.0;         // the largest standard error of any link's
};

// What became of one sentence pair in one direction; links are of generated words.
struct DirectionAnswer {
  std::optional<Aligned> best;       // if it was asked for
  std::optional<LinkDraws> sampled;  // likewise
  std::optional<ProofTree> proof;    // of the best, if it was asked for, is certified, and there was time
  // [target position * source length + source position]; empty if they were not asked for or cannot be known.
  std::vector<float> probabilities;
};

struct AlignAnswer {
  std::string error;                 // empty if all is well
  std::uint32_t source_length = 0, target_length = 0;
  std::array<DirectionAnswer, 2> directions;
};

// Line n of one text with line n of the other; the texts have equally many lines (ModelError).
std::vector<AlignAnswer> align_lines(const AlignmentModel& model, std::string_view source_text,
                                     std::string_view target_text, const AlignTask& task, std::uint64_t first_record,
                                     int threads);
// Sentence pairs `begin` to `end` of the text that a trainer has read, whose words it knows by their ids.
std::vector<AlignAnswer> align_trained(const AlignmentModel& model, const AlignmentTrainer& trainer,
                                       const AlignTask& task, std::size_t begin, std::size_t end, int threads);
// The same of a given HMM, which is what tests and other models use. Throws NoAlignment.
DirectionAnswer align_hmm(const FertilityHmm& hmm, const AlignTask& task, const Deadline& deadline, Random random);

}  // namespace hiddenite::align
