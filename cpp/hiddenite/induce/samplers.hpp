// The samplers of part-of-speech induction: each sweep leaves the posterior
//   p(tags, seats, classes | words, parameters)
// as it is, and moves.
//
//   local     one token at a time. The events around a token touch the same restaurants, so a
//             tag is proposed from their product as if they did not, and the error is settled by
//             a Metropolis–Hastings step.
//   sentence  one sentence at a time, proposed by filtering forward and sampling backward with
//             frozen counts (exact, orders 2 and 3), or by a conditional particle filter under
//             the same frozen counts; both leave the frozen model as it is, so one and the same
//             Metropolis–Hastings step makes them right for the true one.
//   type      the tokens of a type, or of chunks of it, by particle Gibbs: particles run over
//             the tokens, particle 0 repeats what was there, seats included, and one is drawn by
//             weight (Dubbin & Blunsom 2012, section 4.2).
//   one tag   all tokens of a type get one tag, by particle Gibbs: one_tag.hpp.
//   lexicon   class and tokens of a type together, then the moves that mix: classes given
//             the tokens, and one tag for another in classes of one. Of types in chunks a sweep
//             draws some, by coins that know nothing of the state; a local sweep moves all tokens.
//
// All are systematic scans in a fixed order. Randomness is an argument.
#pragma once

#include <array>

#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/induce/fault.hpp"
#include "hiddenite/induce/state.hpp"

namespace hiddenite::induce {

// Of a WorkMeter, for moving one token: some microseconds.
inline constexpr std::size_t WORK_OF_TOKEN = 1024;

struct MoveOptions {
  unsigned particles = 10;
  unsigned chunk = 64;            // tokens of a type that move together; 0: all
  unsigned one_tag_trials = 4;    // so many tags are proposed for a type that has one; lexicon: 0 leaves it alone
  double chunk_share = 0.5;       // lexicon: probability that a sweep draws a chunk of a type that has several
  double negligible = 1e-4;       // lexicon: tags that emit the word with less than this share of the most probable one
  [[no_unique_address]] PlantedFault fault{};
};

// What a sweep did. Effective sample sizes are kept by the number of tokens of the type, in powers of two.
struct SweepStatistics {
  static constexpr std::size_t BINS = 32;
  std::int64_t proposals = 0, accepted = 0;
  std::array<double, BINS> ess{};
  std::array<std::int64_t, BINS> blocks{};
};

void sweep_local(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics);
void sweep_sentences(TaggingState& state, const MoveOptions& options, bool exact, Random& random,
                     SweepStatistics& statistics);
void sweep_types(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics);
void sweep_one_tag(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics);
// Blunsom & Cohn's (2011) approximation of the same step: tables by their expected number, no weights. It does not
// leave the posterior as it is; it is here to be compared with.
void sweep_one_tag_heuristic(TaggingState& state, Random& random);
// Classes (and heads) given the tokens.
void sweep_classes(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics);
void sweep_lexicon(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics);

// Index i with probability proportional to scores[i]; `total` is their sum.
inline std::size_t draw_index(const double* scores, std::size_t n, double total, Random& random) {
  double left = random.uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (scores[i] <= 0.0) continue;
    last = i;
    left -= scores[i];
    if (left < 0.0) return i;
  }
  return last;
}

// A particle by its weight, of a type with so many tokens; the weights become those of a sum's parts.
std::size_t draw_by_weight(std::span<double> log_weights, std::size_t num_tokens, Random& random,
                           SweepStatistics& statistics);

}  // namespace hiddenite::induce
