// Sums over all paths by walking the model's states: log Z, independent draws and
// marginals, with an interval that holds log Z.
//
// `epsilon` is the share of Z that may be left out (sums.hpp has the passes). A
// walk leaves out what looks small enough; the backward pass bounds what that
// was; if it may be more than epsilon of Z, the walk begins again and leaves
// out less, in the end nothing. With Z- the mass of the paths that were
// kept and Z+ the upper bound, true probabilities and those of the paths that
// were kept differ by at most (Z+ - Z-) / Z+:
//   draws        the paths that were left out have at most this probability, and all others are drawn in proportion
//                to their weights: the total variation distance is at most this
//   marginals    that of a candidate lies between K / Z+ and (K + Z+ - Z-) / Z+, K being the mass of the kept paths
//                that take it, and so does what is returned
// Epsilon 0 leaves nothing out: then the interval is as wide as rounding makes it.
#pragma once

#include <memory>
#include <vector>

#include "hiddenite/exact/walk/sums.hpp"

namespace hiddenite::exact {

// ln Z lies between lower and upper.
struct PartitionBounds {
  double lower = LOG_ZERO, upper = -LOG_ZERO;
  // No probability under the paths that were kept is further from the true one.
  double error() const { return std::min(-std::expm1(lower - upper), 1.0); }
};

class FullPosterior {
 public:
  static constexpr double EPSILON = 1e-9;

  // `index` must outlive this. Memory is kept from record to record.
  explicit FullPosterior(const StateIndex& index);
  ~FullPosterior();

  // What follows is about these candidates, which must stay where they are. The index must treat sentence ends as
  // they do. Throws EmptySupport, or ModelError where the budget of seconds and states ends.
  void observe(const Candidates& candidates, const Deadline& deadline = Deadline(), double epsilon = EPSILON);
  // ln of the mass of the paths that were kept, and the interval that holds that of all; without the offset.
  double log_partition() const { return log_partition_; }
  const PartitionBounds& bounds() const { return bounds_; }
  std::uint64_t num_states() const { return num_states_; }
  // So many independent draws, as a multiset: equal ones together, in no order that means anything.
  std::vector<DrawnPath> sample(std::uint64_t count, Random& random);
  // [slot][candidate]: its posterior probability; slots as given.
  std::vector<std::vector<double>> marginals(const std::vector<std::size_t>& slot_sizes);

 private:
  template <class Number>
  struct Passes;  // on doubles or on logarithms

  void observe_by_logarithms(const Deadline& deadline);
  template <class Number>
  void take_bounds(const SumGraph<Number>& graph);

  const StateIndex& index_;
  const Candidates* candidates_ = nullptr;
  std::unique_ptr<Passes<Linear>> linear_;
  std::unique_ptr<Passes<Logarithmic>> logarithmic_;  // made when first needed
  bool is_linear_ = true;                             // which of them has seen the candidates
  double log_partition_ = LOG_ZERO;
  PartitionBounds bounds_;
  std::uint64_t num_states_ = 0;
};

}  // namespace hiddenite::exact
