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
//
// Multipliers are rounded to a few digits where that leaves them good enough.
#pragma once

#include "hiddenite/align/bound.hpp"

namespace hiddenite::align {

struct ProofTree {
  enum class Kind : std::uint8_t { LEAF, COUNT, LINK };
  // Stands before its two children, the case that it names first.
  struct Node {
    Kind kind = Kind::LEAF;
    std::uint32_t word = 0;   // COUNT: a source word, 1 .. I. LINK: a target word, 1 .. J
    std::uint32_t value = 0;  // COUNT: linked at most so often. LINK: linked to this, 0 .. I
  };
  std::vector<Node> nodes;
  std::vector<CellMatrix> multipliers;  // of each leaf, in the order of the nodes: [j][i], NULL's are 0
};

inline constexpr std::uint64_t MAX_PROOF_NODES = 10'000;

// A tree whose bounds are at most `slack` above the weight of the links. It has no nodes if there was no time for it,
// or it would have more than MAX_PROOF_NODES.
ProofTree prove_optimal(const FertilityHmm& hmm, const Links& links, double slack, const Deadline& deadline);

}  // namespace hiddenite::align
