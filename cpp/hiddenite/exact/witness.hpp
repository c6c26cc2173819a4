// A proof that leaves the house: the bound that proves an answer, as data.
//
// What `refine` ends with is an automaton over positions whose states are
// contexts (max_backoff.hpp). A Witness lists the contexts and gives each an
// upper weight: no continuation from there, </s> included, weighs more. That
// such a number is right can be seen one step at a time,
//   upper(s) >= log_prob(s, w) + channel(w) + upper(target(s, w))   for every candidate w,
// and the upper weight of the start then bounds every path. Whoever has the
// model can check it without trusting how it was found
// (src/hiddenite/checker/ngram.py does).
//
// Weights of the channel are measured from the best of their position (candidates.hpp).
//
// An answer may come from any method: here it is the goal. The bound is refined
// until its best path weighs no more than the answer, beyond rounding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/channel/candidates.hpp"
#include "hiddenite/exact/bound/max_backoff.hpp"
#include "hiddenite/exact/proof.hpp"

namespace hiddenite::exact {

struct Witness {
  struct State {
    Context context;
    double upper;
  };
  bool complete = false;  // else the time ended first, and there are no states
  std::vector<std::vector<State>> positions;  // states that some path of positive weight reaches; </s> is one more
  std::uint64_t refinements = 0;
  std::uint64_t num_states = 0;  // of the automaton, reached or not
};

// The proof that no path weighs more than `path`, a word of each slot. Throws ModelError if one does, or if the
// candidates are a lattice.
Witness prove(const NgramTable& table, const Candidates& candidates, std::span<const WordId> path,
              const Deadline& deadline);

}  // namespace hiddenite::exact
