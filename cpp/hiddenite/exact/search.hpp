// The loop: take a path from q; if p = q there, it is the answer; if not,
// tighten q and take another. Steppers for those who watch (search() in Python,
// the page, table 2 of the paper), functions for those who want the answer.
//
// Decoding takes q's best path. Its weight bounds every path's from above, so
// the first tight one is an optimum, and at any time the optimum lies between
// `lower`, the best p met, and `upper`, the best q left.
//
// Sampling draws x from q and accepts it with probability p(x) / q(x); an
// accepted draw is a draw from p. Only rejected draws, and whether draws were
// rejected, decide what q is next, and when to stop refining. Hence
//   P(accept x and then any course of the run) = p(x)/Z P(accept, same course):
// the accepted paths are independent of each other and of the run's course:
// how many trials there were, how q looks, when a budget ended it. Whoever
// also refines on accepted draws makes the later course depend on them, and a
// run that is stopped by the clock then favours some paths over others.
//
// q is fixed once the acceptance rate has reached its target. Of the draws from
// the fixed q, the mean of p / q times the total of q estimates Z without bias;
// it has the mean of the acceptance rate and a smaller variance.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "hiddenite/exact/dominance.hpp"
#include "hiddenite/exact/inference.hpp"
#include "hiddenite/exact/refine.hpp"

namespace hiddenite::exact {

// ------------------------------------------------------------- decoding

struct DecodeStep {
  Trial trial;                    // q's best path
  double upper = -LOG_ZERO;       // no path weighs more
  double lower = LOG_ZERO;        // the best p so far
  bool done = false;              // upper == lower
  std::uint64_t refinements = 0;
  std::uint64_t states = 0, edges = 0;  // of q
};

class Decoder {
 public:
  // The table and the candidates must outlive this.
  Decoder(const NgramTable& table, const Candidates& candidates, std::unique_ptr<Relaxation> q);

  // Tightens q where the last path was too optimistic, and finds its best path.
  // Throws EmptySupport when q is zero everywhere.
  const DecodeStep& step();
  const DecodeStep& last() const { return last_; }
  const WordPath& best_path() const { return best_path_; }  // of weight `lower`
  const Relaxation& relaxation() const { return *q_; }
  // Steps until done or out of budget.
  Decoded run(const Budget& budget, Method method);

 private:
  const NgramTable& table_;
  const Candidates& candidates_;
  std::unique_ptr<Relaxation> q_;
  DecodeStep last_;
  WordPath best_path_;
  bool began_ = false;
};

// Throw EmptySupport.
Decoded decode_refine(const NgramTable& table, const Candidates& candidates, const Budget& budget = {},
                      Strategy strategy = Strategy::ALL_BY_ONE);
Decoded decode_paper(const NgramTable& table, const Candidates& candidates, const Budget& budget = {});

// The k best distinct candidate sequences, fewer if there are fewer. Exact if
// and only if no other path can weigh more than the last; else the best found,
// and the certificate bounds the first. Throws EmptySupport.
KBest kbest_refine(const NgramTable& table, const Candidates& candidates, std::size_t k, const Budget& budget = {},
                   Strategy strategy = Strategy::ALL_BY_ONE);
KBest kbest_paper(const NgramTable& table, const Candidates& candidates, std::size_t k, const Budget& budget = {});

// ------------------------------------------------------------- sampling

struct SamplerOptions {
  std::uint64_t batch = 32;         // draws from one q, B in the paper
  double target_rate = 0.5;         // q is fixed once this share is accepted
  std::uint64_t rate_window = 100;  // of so many last trials (AR-100); 0: of all (AR)
  std::uint64_t max_trials = std::numeric_limits<std::uint64_t>::max();  // the run gives up after these
};

struct SampleStep {
  std::vector<Trial> trials;   // drawn from one q
  std::vector<bool> accepted;
  double log_total = 0.0;      // ln of the sum of q
  bool is_fixed = false;       // q was final
  std::uint64_t states = 0, edges = 0;  // of q
};

struct Sampled {
  // Candidates by their place in the slots as given.
  std::vector<std::vector<std::uint32_t>> paths;
  bool complete = false;             // as many as were asked for; a budget may end the run before
  std::uint64_t trials = 0;          // until then
  std::uint64_t refinements = 0;     // rejected draws that q was tightened by
  std::uint64_t states = 0;
  double log_partition = LOG_ZERO;   // estimate of ln Z
  double log_partition_error = 0.0;  // its standard error
  double log_partition_upper = 0.0;  // ln of the sum of the final q
};

class Sampler {
 public:
  // The table and the candidates must outlive this.
  Sampler(const NgramTable& table, const Candidates& candidates, std::unique_ptr<Relaxation> q,
          SamplerOptions options, Random random);

  // Tightens q by the last batch's rejected draws, if q is not fixed, and draws
  // another batch. Throws EmptySupport when q is zero everywhere.
  SampleStep step();
  void fix() { is_fixed_ = true; }
  bool is_fixed() const { return is_fixed_; }
  std::uint64_t refinements() const { return refinements_; }
  const Relaxation& relaxation() const { return *q_; }
  // Steps until `count` draws are accepted or the time is over. The budget's
  // refinements and states only end the refining.
  Sampled run(std::size_t count, const Budget& budget);

 private:
  bool has_reached_target() const;
  void estimate_partition(Sampled& sampled);

  const NgramTable& table_;
  const Candidates& candidates_;
  std::unique_ptr<Relaxation> q_;
  SamplerOptions options_;
  Random random_;
  bool is_fixed_ = false;
  std::uint64_t refinements_ = 0;
  std::vector<WordPath> rejected_;  // of the last batch
  std::vector<bool> outcomes_;      // of all trials while q was not fixed
  std::uint64_t num_accepted_ = 0;  // of these
  std::uint64_t num_fixed_ = 0;     // trials from the fixed q,
  double ratio_sum_ = 0.0, ratio_square_sum_ = 0.0;  // and their p / q
};

// Throw EmptySupport.
Sampled sample_refine(const NgramTable& table, const Candidates& candidates, std::size_t count, Random random,
                      const SamplerOptions& options = {}, const Budget& budget = {},
                      Strategy strategy = Strategy::ALL_BY_ONE);
Sampled sample_paper(const NgramTable& table, const Candidates& candidates, std::size_t count, Random random,
                     const SamplerOptions& options, const Budget& budget = {});

}  // namespace hiddenite::exact
