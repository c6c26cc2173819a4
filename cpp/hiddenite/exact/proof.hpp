// What an answer promises, and the only way to promise it.
//
//   Deadline      when the work on a record ends; started once, handed down through every stage
//   Bounds        an interval that contains the optimum; it can only be narrowed
//   Certificate   made of Bounds and of nothing else; no result can be made without one
//
// Rounding. A path's weight is a sum of doubles, and so is a bound. Bounds are
// moved outwards by what their sums can have lost, relative to their size
// (`outward`), so lower <= optimum <= upper holds for the real numbers behind
// them. `exact` means that no path weighs more than the answer by more than
// that: with the same terms in two orders, sums can differ in their last digits,
// and two paths that differ by less are a tie.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/types.hpp"

namespace hiddenite::exact {

enum class Method { AUTO, REFINE, PAPER, FULL, DOMINANCE, SPARSE };

// ------------------------------------------------------------------ budgets

// When to stop before the proof is complete. The default never does.
struct Budget {
  static constexpr std::uint64_t NO_LIMIT = std::numeric_limits<std::uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t refinements = NO_LIMIT;
  std::uint64_t states = NO_LIMIT;
};

// A budget that is being spent since this was made. Also where a long search hears that it is to stop: is_over()
// throws Interrupted then.
class Deadline {
 public:
  explicit Deadline(const Budget& budget = {}) : budget_(budget) {}
  explicit Deadline(double seconds) : budget_{seconds} {}

  bool is_over() const {
    check_interrupt();
    return budget_.seconds < std::numeric_limits<double>::infinity() && spent() >= budget_.seconds;
  }
  // The same, or so much has been done.
  bool is_over(std::uint64_t refinements, std::uint64_t states) const {
    return refinements >= budget_.refinements || states >= budget_.states || is_over();
  }
  // In seconds.
  double spent() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  const Budget& budget() const { return budget_; }
  // The same clock with fewer refinements.
  Deadline with_refinements(std::uint64_t most) const {
    Deadline result = *this;
    result.budget_.refinements = std::min(budget_.refinements, most);
    return result;
  }

 private:
  Budget budget_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// ------------------------------------------------------------------- bounds

// An upper bound that was added up of so many terms, none of whose partial sums was larger than `magnitude` in
// absolute value: no less than the sum of the real numbers.
inline double outward(double log_weight, std::size_t num_terms, double magnitude) {
  return log_weight + std::numeric_limits<double>::epsilon() * static_cast<double>(num_terms) * magnitude;
}
// The same for terms that are mostly of one sign.
inline double outward(double log_weight, std::size_t num_terms) {
  return std::isinf(log_weight) ? log_weight : outward(log_weight, 4 * num_terms + 4, std::fabs(log_weight) + 1.0);
}

class Bounds {
 public:
  double lower() const { return lower_; }
  double upper() const { return std::max(lower_, upper_); }  // they cross by rounding only
  bool is_closed() const { return lower_ > LOG_ZERO && upper_ <= lower_; }

  // There is an answer of this weight.
  void found(double log_weight) { lower_ = std::max(lower_, log_weight); }
  // There is none of a larger weight.
  void none_above(double log_weight) { upper_ = std::min(upper_, log_weight); }
  // The best that was found is an optimum.
  void close() { upper_ = std::min(upper_, lower_); }

 private:
  double lower_ = LOG_ZERO, upper_ = -LOG_ZERO;
};

class Certificate {
 public:
  Certificate(const Bounds& bounds, Method method, std::uint64_t refinements, std::uint64_t states)
      : bounds_(bounds), method_(method), refinements_(refinements), states_(states) {}

  bool exact() const { return bounds_.is_closed(); }
  double lower() const { return bounds_.lower(); }  // the weight of the best answer found
  double upper() const { return bounds_.upper(); }
  const Bounds& bounds() const { return bounds_; }
  Method method() const { return method_; }
  std::uint64_t refinements() const { return refinements_; }
  std::uint64_t states() const { return states_; }  // that were built

 private:
  Bounds bounds_;
  Method method_;
  std::uint64_t refinements_, states_;
};

// Of an answer that a method has proved to be an optimum.
inline Certificate proved(double log_weight, Method method, std::uint64_t states = 0) {
  Bounds bounds;
  bounds.found(log_weight);
  bounds.close();
  return Certificate(bounds, method, 0, states);
}

}  // namespace hiddenite::exact
