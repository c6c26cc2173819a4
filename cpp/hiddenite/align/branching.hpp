// A proof that leaves the house: why no alignment weighs more than the one that
// was found, as data that others can check with a few passes of Viterbi.
//
// Where the dual bound of bound.hpp closes the gap, the proof is its multipliers.
// Where it does not, cases are told apart: a source word is linked at most c
// times, or more often; a target word is linked to a certain source word, or it
// is not. Both cases are proved by themselves, so the proof is a binary tree, and
// its leaves are multipliers under which no alignment that fits all cases on the
// way weighs more. The answer is known beforehand, by whatever method: the tree
// only has to show that it is an optimum, and Polyak's steps know where to go.
#pragma once

#include "hiddenite/align/bound.hpp"

namespace hiddenite::align {

struct ProofTree {
  enum class Kind : std::uint8_t { LEAF, COUNT, LINK };
  // Before its two children, the case that holds first.
  struct Node {
    Kind kind;
    std::uint32_t word = 0;   // COUNT: a source word, 1 .. I. LINK: a target word, 0 .. J - 1
    std::uint32_t value = 0;  // COUNT: linked at most so often. LINK: linked to this, 0 .. I
    std::uint32_t leaf = 0;   // LEAF: whose multipliers
  };
  std::vector<Node> nodes;
  std::vector<CellMatrix> multipliers;  // of each leaf: [j][i], NULL's are 0
  std::uint64_t iterations = 0;
  bool is_complete = false;             // else time or room ended
};

// `slack` is what the bounds may be above the weight of the links. The deadline's states are nodes of the tree.
ProofTree prove_optimal(const FertilityHmm& hmm, const Links& links, double slack, const Deadline& deadline);

}  // namespace hiddenite::align
