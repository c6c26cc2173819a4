// One Markov chain of part-of-speech induction: a state, a sampler, the parameters,
// and what is kept of the samples.
//
// Sweep k draws from stream (seed, stream, k) alone, and the copies inside the state
// are functions of its counts: a chain that is saved between two sweeps and restored
// goes on bit by bit as if it never had stopped. A sweep that is interrupted has not
// been: the chain is as it was before it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "hiddenite/induce/samplers.hpp"

namespace hiddenite::induce {

enum class InductionSampler { LOCAL, SENTENCE, SENTENCE_PARTICLES, TYPE, ONE_TAG, ONE_TAG_HEURISTIC, LEXICON };

struct InductionOptions {
  unsigned tags = 0, order = 3;
  bool one_tag = false;
  LexiconKind lexicon = LexiconKind::NONE;
  SpellingKind spelling = SpellingKind::NONE;
  InductionSampler sampler = InductionSampler::LOCAL;
  MoveOptions moves;
  unsigned local_every = 1;            // lexicon: a local sweep after each so many sweeps; 0: never
  bool sample_parameters = true;
  StrengthPrior strength_prior;
  double geometric = 0.9;
  std::uint64_t seed = 1, stream = 0;
};

struct SweepRecord {
  double log_joint = 0.0, moved = 0.0, accepted = 0.0, effective_size = 0.0;
};

// Everything that changes; arrays as they are written to a checkpoint.
struct ChainSnapshot {
  std::uint64_t sweeps = 0;
  std::vector<std::int32_t> tags, classes, heads;        // classes: [type * tags + tag]
  std::vector<double> parameters;                        // a, b by process
  std::vector<std::vector<std::int32_t>> seats;          // customers, tables, ... by process
  std::vector<std::int32_t> class_sets;                  // the rows of the lexicon: [row * tags + tag]
  std::vector<std::uint16_t> kept;                       // [token * tags + tag]; of one tag a word [type * tags + tag]
  std::uint64_t num_kept = 0;
};

class InductionChain {
 public:
  // Throws ModelError where model, sampler and tags do not fit together.
  InductionChain(const InductionOptions& options, InductionText text, std::span<const std::int32_t> tags);

  SweepRecord sweep();
  // Takes back the last sweep, if nothing was kept or restored since: for chains that go together, of which another
  // was interrupted.
  void undo_sweep();
  void keep();

  std::vector<std::int32_t> tags() const;
  // The tag that most kept samples gave each token (of equals the present one, then the first), and its share.
  void max_marginal(std::vector<std::int32_t>& tags, std::vector<float>& share) const;

  // The processes by name, in a fixed order.
  std::vector<std::pair<std::string, PitmanYor*>> processes();
  void set_parameters(const std::string& name, double discount, double strength);

  double log_joint() { return state_.log_joint(); }
  TaggingState& state() { return state_; }
  const InductionOptions& options() const { return options_; }
  const SweepStatistics& statistics() const { return total_; }  // of all sweeps since the chain was made

  ChainSnapshot snapshot() const;
  void restore(const ChainSnapshot& snapshot);

 private:
  // All that a sweep changes; without what is kept.
  ChainSnapshot swept_state() const;
  void set_swept_state(const ChainSnapshot& snapshot);
  SweepRecord run_sweep();
  void draw_all_parameters(Random& random);
  void run_sampler(Random& random, SweepStatistics& statistics);
  SeatingSummary summary(const std::string& name);
  std::size_t num_kept_rows() const;

  InductionOptions options_;
  TaggingState state_;
  std::uint64_t sweeps_ = 0, num_kept_ = 0;
  std::vector<std::uint16_t> kept_;
  SweepStatistics total_;
  struct Before {
    ChainSnapshot state;
    SweepStatistics total;
  };
  std::optional<Before> before_;  // the last sweep
};

}  // namespace hiddenite::induce
