// Transitions that share what they learn: a log-bilinear model fitted to counts.
//
//   B(z' | z) = p(z' | g) exp(u_z . v_z' + b_z') / (sum of the same over all z')
// with p(z' | g) what follows all states of z's group. The vectors have few
// dimensions, so states that behave alike in some ways help each other where
// counts of their own are few; smoothing by group alone cannot do that. Fitted
// by Adam on sum_z sum_z' n(z, z') ln B(z' | z) with dropout of dimensions of u;
// the chain is then A = (n(z, z') + weight B(z' | z)) / (n(z) + weight), or with
// another pseudo-count within a group, p(h | z) p(z' | z, h) with
//   p(h | z) = (n(z, h) + weight B(h | z)) / (n(z) + weight)
//   p(z' | z, h) = (n(z, z') + within B(z' | z, h)) / (n(z, h) + within).
//
// A pass over all states costs 3 H Z^2 multiplications. Batches are cut into a
// fixed number of pieces whose gradients are added in order: the result does not
// depend on the threads.
#pragma once

#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/hmm/counts.hpp"

namespace hiddenite::hmm {

struct BilinearOptions {
  std::uint32_t dimensions = 64;
  double rate = 0.01;      // of Adam, falling to zero over the passes
  double dropout = 0.3;    // share of the dimensions of u left out of a step
  double decay = 1e-4;     // of all vectors, per step and unit of rate
};

class LogBilinear {
 public:
  LogBilinear(const HmmShape& shape, const BilinearOptions& options, std::uint64_t seed);

  // Passes over all states; the mean of ln B over the counts, as each state was met in the last pass.
  double fit(const HmmCounts& counts, const HmmPrior& prior, std::uint32_t passes, int threads);
  // Initial and emission probabilities by `smoothing`, transitions A; a negative `within` means the first form.
  SparseHmm chain(const HmmCounts& counts, const HmmPrior& prior, const Smoothing& smoothing, double weight,
                  double within, int threads) const;

 private:
  struct Scratch;
  struct Parameters {  // with Adam's moments
    std::vector<float> value, mean, square;
    void resize(std::size_t size) { value.resize(size), mean.resize(size), square.resize(size); }
    void step(std::size_t i, float gradient, float rate, float decay, double mean_bias, double square_bias);
  };
  void open_row(const HmmCounts& counts, HiddenState z, std::vector<float>& row) const;
  std::vector<float> log_prior(const HmmCounts& counts, const HmmPrior& prior) const;  // [g * states + z']
  void predict(const float* log_prior, const float* u, std::vector<float>& out) const;
  double differentiate(const HmmCounts& counts, HiddenState z, const float* log_prior, std::uint64_t stream,
                       Scratch& scratch) const;

  HmmShape shape_;
  BilinearOptions options_;
  std::uint64_t seed_, steps_ = 0;
  std::vector<std::uint32_t> group_of_;  // [state]
  Parameters u_, v_, bias_;
};

}  // namespace hiddenite::hmm
