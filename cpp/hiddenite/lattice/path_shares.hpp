// What the paths of a lattice have in common: how often a word stands in them, in which order two words do, and how
// far a word sequence is from them. Shares of all weight, by one pass over the states each.
//
// Arcs and states below a least share are left out with all paths through them: what is said of the others bounds
// from below whatever is not negative and added up over paths. With a least share of zero nothing is left out.
#pragma once

#include <span>
#include <vector>

#include "hiddenite/lattice/word_errors.hpp"

namespace hiddenite::lattice {

class PathShares {
 public:
  // The composition must have a path; `label` as in sequences.hpp.
  PathShares(const Composition& composition, const std::vector<std::uint32_t>& label, double least_share);

  // [n]: the share of paths in which the word stands n times.
  std::vector<double> counts(std::uint32_t word) const;
  // [i * size + j]: the share of paths in which y stands once, with x i times before it and j times after it;
  // `size` - 1 stands for all larger numbers.
  std::vector<double> around(std::uint32_t x, std::uint32_t y, std::size_t size) const;
  // No more than the expected errors of a sequence: those of the paths that are not left out, pairs of a state and a
  // column of Levenshtein's table below `least_share` being left out too. Ends when the sum reaches `enough`, and
  // after `max_rows` pairs. The sequence has at most 64 words.
  struct Errors {
    double sum;
    double left_out;     // the share of paths that were not followed to their end
    std::uint64_t rows;  // pairs looked at
  };
  Errors errors(const Labels& sequence, double least_share, double enough, std::uint64_t max_rows) const;

 private:
  struct Arc {
    std::uint32_t to, label;
    double prob;  // of the arc, given the state
  };
  std::span<const Arc> arcs(std::size_t state) const {
    return std::span(arcs_).subspan(begin_[state], begin_[state + 1] - begin_[state]);
  }

  std::vector<std::uint64_t> begin_;  // [state]
  std::vector<Arc> arcs_;
  double left_out_ = 0.0;       // the share of paths that are
  std::vector<double> ending_;  // [state]: the probability of ending there, given the state
};

}  // namespace hiddenite::lattice
