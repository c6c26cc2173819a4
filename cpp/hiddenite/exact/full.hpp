// Sums over all paths by walking the model's states: log Z, i.i.d. samples and
// marginals, exact up to the rounding of doubles.
//
// The forward pass of `full` (see dominance.hpp) with sums for maxima. With
// V(s) the mass of the prefixes that end in state s,
//   M(s)    = V(s) + sum over states c with suffix s of M(c) bow(c),
//   F(s, w) = V(s) + sum over c that do not list w of M(c) bow(c)
// is what arc (s, w) carries. The sum over those that do list w is gathered
// from their arcs and subtracted; where that would cancel, the sum is taken
// directly. Backward, with T(a) = p(a) weight(w) beta(next(a)),
//   beta(s) = sum over arcs a of s of T(a)
//             + bow(s) [beta(suf s) - sum over arcs a of s of T(suf a)],
// again directly where it cancels. Samples run backwards along the masses, all
// of them together: draws that agree so far are told apart only where they
// part, and a state's table is made once for all that come to it. A word path
// has one path of states, so each bundle that arrives is a path of its own.
//
// The slots that lead to one joint of the graph add up there, in one unit: masses
// are doubles scaled per joint. Weights so far apart that they leave
// the range of doubles make the same code run on logarithms.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/exact/inference.hpp"
#include "hiddenite/lm/state_index.hpp"

namespace hiddenite::exact {

struct DrawnPath {
  std::vector<std::uint32_t> candidates;  // by their places in the slots as given
  Route route;
  std::uint64_t count = 0;                // how often it was drawn
};

class FullPosterior {
 public:
  // `index` must outlive this. Memory is kept from record to record.
  explicit FullPosterior(const StateIndex& index);
  ~FullPosterior();

  // The forward pass; what follows is about these candidates, which must stay
  // where they are. The index must treat sentence ends as they do. Throws
  // EmptySupport, or ModelError where the budget of seconds and states ends,
  // here or in `marginals`: a sum that is not complete bounds nothing.
  void observe(const Candidates& candidates, const Budget& budget = {});
  double log_partition() const;
  std::uint64_t num_states() const;
  // So many independent draws, as a multiset: equal ones together, in no order
  // that means anything.
  std::vector<DrawnPath> sample(std::uint64_t count, Random& random);
  // [slot][candidate]: its posterior probability; slots as given.
  std::vector<std::vector<double>> marginals(const std::vector<std::size_t>& slot_sizes);

  class Filter;  // the pass, on doubles or on logarithms

 private:
  void observe_by_logarithms();

  const StateIndex& index_;
  const Candidates* candidates_ = nullptr;
  Budget budget_;
  std::chrono::steady_clock::time_point begin_;  // since when it is spent
  std::unique_ptr<Filter> linear_, logarithmic_;  // made when first needed
  Filter* current_ = nullptr;
};

}  // namespace hiddenite::exact
