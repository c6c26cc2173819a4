// The best path of a lattice under a language model, without the product of the two.
//
// A best-first search over states (node, context of the model). What can follow
// a state is bounded by a model that knows the last word alone (Composition::bound),
// whose best continuations are a dynamic program over as many states as the lattice
// has pairs of node and last word:
//   priority(state) = weight of the best way there + the bound's best from there.
// No path through the state weighs more. So when the heaviest priority left is below
// the best whole path found, by more than rounding can have done, that path is the best
// of all; states of lower priority are never opened, and need not even be made. Where the budget ends before, the
// heaviest priority left says what the best path can weigh.
//
// A mixture of models has a bound of the same kind: after the last word, the sum of what each model can give at most.
#pragma once

#include "hiddenite/exact/proof.hpp"
#include "hiddenite/lattice/composition.hpp"

namespace hiddenite::lattice {

struct BestPath {
  GraphPath path;  // of weight LOG_ZERO: there is none, or the budget ended before one was found
  Certificate certificate;  // its states: those of the lattice under the model that were made
};

// The limit of states of `options` is part of the budget.
BestPath find_best_path(const NgramTable* table, const WordGraph& graph, const CompositionOptions& options,
                        const Deadline& deadline);
BestPath find_best_path(const ModelMixture& mixture, const WordGraph& graph, const CompositionOptions& options,
                        const Deadline& deadline);

}  // namespace hiddenite::lattice
