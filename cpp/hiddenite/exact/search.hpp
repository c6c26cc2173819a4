// Searches that refine a bound: take a path from q; if p = q there, it is the
// answer; if not, tighten q and take another. Steppers for those who watch
// (search() in Python, the page, table 2 of the paper), functions for those who
// want the answer. The loop is that of loop.hpp, the sampler that of
// rejection.hpp; `refine` and `paper` differ in the Relaxation alone.
//
// Decoding takes q's best path. Its weight bounds every path's from above, so
// the first tight one is an optimum, and at any time the optimum lies between
// the best p met and the best q left.
#pragma once

#include <memory>
#include <vector>

#include "hiddenite/exact/bound/graph_bound.hpp"
#include "hiddenite/exact/bound/refine.hpp"
#include "hiddenite/exact/inference.hpp"
#include "hiddenite/exact/loop.hpp"
#include "hiddenite/exact/rejection.hpp"

namespace hiddenite::exact {

// The table and the candidates must outlive this. Of candidates that are no row, a path is given by the edges of
// graph_of(candidates).
std::unique_ptr<Relaxation> make_relaxation(const NgramTable& table, const Candidates& candidates, Method method,
                                            Weighting weighting, Strategy strategy = Strategy::ALL_BY_ONE);

// ------------------------------------------------------------- decoding

// What one step showed; weights with the candidates' offset.
struct DecodeStep {
  Trial trial;                    // q's best path
  double upper = -LOG_ZERO;       // no path weighs more
  double lower = LOG_ZERO;        // the best p so far
  bool done = false;              // upper == lower
  std::uint64_t refinements = 0;
  std::uint64_t states = 0;  // of q
};

class Decoder {
 public:
  explicit Decoder(std::unique_ptr<Relaxation> q);

  // Tightens q where the last path was too optimistic, and finds its best path.
  // Throws EmptySupport when q is zero everywhere.
  void step();
  DecodeStep last() const;
  const WordPath& best_path() const { return best_path_; }
  const Bounds& bounds() const { return bounds_; }
  std::uint64_t refinements() const { return refinements_; }
  std::uint64_t num_states() const { return q_->num_states(); }
  const Relaxation& relaxation() const { return *q_; }
  Decoded run(const Deadline& deadline, Method method);

 private:
  std::unique_ptr<Relaxation> q_;
  Trial trial_;
  Bounds bounds_;
  WordPath best_path_;
  std::uint64_t refinements_ = 0;
  bool began_ = false;
};

// By Method::REFINE or PAPER. Throws EmptySupport.
Decoded decode_by_refining(const NgramTable& table, const Candidates& candidates, Method method,
                           const Deadline& deadline, Strategy strategy = Strategy::ALL_BY_ONE);

// The k best distinct candidate sequences, fewer if there are fewer. Exact if
// and only if no other path can weigh more than the last; else the best found,
// and the certificate bounds the first. Throws EmptySupport.
KBest kbest_by_refining(const NgramTable& table, const Candidates& candidates, std::size_t k, Method method,
                        const Deadline& deadline, Strategy strategy = Strategy::ALL_BY_ONE);

// The k best paths of a word graph, those with equal labels being one; paths are edges, and weights without the
// offset. `label` has an entry for each edge, NO_LABEL for none; none at all: paths are told apart by their edges.
inline constexpr std::uint32_t NO_LABEL = std::numeric_limits<std::uint32_t>::max();
KBest kbest_of_graph(GraphRelaxation& q, std::size_t k, const std::vector<std::uint32_t>& label, Method method,
                     const Deadline& deadline);

// ------------------------------------------------------------- sampling

struct Sampled {
  // Candidates by their place in the slots as given; of a stepper on a graph, edges.
  std::vector<std::vector<std::uint32_t>> paths;
  std::vector<Route> routes;         // [path]; none: paths of a chain
  bool complete = false;             // as many as were asked for; a budget may end the run before
  std::uint64_t trials = 0;          // until then
  std::uint64_t refinements = 0;     // rejected draws that q was tightened by
  std::uint64_t states = 0;
  PartitionEstimate log_partition;   // with the candidates' offset
};

class Sampler {
 public:
  using Batch = RejectionSampler<Relaxation>::Batch;

  Sampler(std::unique_ptr<Relaxation> q, SamplerOptions options, Random random);

  // A batch of draws; its total has the candidates' offset. Throws EmptySupport when q is zero everywhere.
  Batch step();
  const Relaxation& relaxation() const { return *q_; }
  // Until so many draws are accepted; see RejectionSampler::run.
  Sampled run(std::size_t count, const Deadline& deadline);

 private:
  std::unique_ptr<Relaxation> q_;
  RejectionSampler<Relaxation> sampler_;
};

// By Method::REFINE or PAPER. Throws EmptySupport.
Sampled sample_by_refining(const NgramTable& table, const Candidates& candidates, std::size_t count, Random random,
                           Method method, const SamplerOptions& options, const Deadline& deadline,
                           Strategy strategy = Strategy::ALL_BY_ONE);

}  // namespace hiddenite::exact
