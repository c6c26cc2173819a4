#include "hiddenite/exact/witness.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/error.hpp"
#include "hiddenite/exact/bound/best_paths.hpp"

namespace hiddenite::exact {

namespace {

// The bound of a word, and the sizes of its terms.
struct Term {
  double log_prob = 0.0;
  double size = 0.0;
  void add(double term) {
    log_prob += term;
    size += std::fabs(term);
  }
};

// context_log_prob.
Term bound_of(const NgramTable& table, Context context, WordId w) {
  Term result;
  bool is_open = !context.closed;
  NodeId s = context.node, arc = table.child(s, w);
  for (; arc == NO_NODE; arc = table.child(s, w)) {
    result.add((is_open ? table.log_max_backoff : table.log_backoff)[s]);
    is_open = false;
    s = table.suffix[s];
  }
  result.add((is_open ? table.log_max_prob : table.log_prob)[arc]);
  return result;
}

class Prover {
 public:
  Prover(const NgramTable& table, const Candidates& candidates)
      : layers_(make_layers(candidates, Weighting::BEST)),
        automaton_(table, layers_),
        best_paths_(automaton_),
        margin_((2.0 * table.order + 8.0) * std::numeric_limits<double>::epsilon()) {}

  // Until the best path of the automaton weighs no more than this one; false if the budget ended first.
  bool refine(std::span<const std::uint32_t> path, const Deadline& deadline) {
    const double goal = score(path);
    automaton_.tighten(path, Strategy::FULL_CONTEXT);
    best_paths_.refresh();
    while (best_paths_.value(0) > goal) {
      if (deadline.is_over(refinements_, automaton_.num_states())) return false;
      tighten();
    }
    return true;
  }

  Witness witness(bool complete) {
    Witness result{complete, {}, refinements_, automaton_.num_states()};
    if (!complete) return result;
    result.positions.resize(layers_.size());
    find_reached();
    uppers_.assign(automaton_.num_states(), LOG_ZERO);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      for (const StateId id : reached_[i]) {
        uppers_[id] = upper(id);
        result.positions[i].push_back({automaton_.state(id).context, uppers_[id]});
      }
    }
    return result;
  }

 private:
  // The weight of a path, moved up by what rounding may have cost.
  double score(std::span<const std::uint32_t> path) const {
    NodeId state = automaton_.table().start();
    Term total;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      total.add(automaton_.table().step(state, layers_[i].word[path[i]]));
      total.add(layers_[i].log_weight[path[i]]);
    }
    return total.log_prob + 0.5 * margin_ * static_cast<double>(layers_.size()) * (1.0 + total.size);
  }

  void tighten() {
    std::vector<std::uint32_t> rival;
    bool is_exact = true;
    for (const auto& [state, k] : best_paths_.best_path()) {
      rival.push_back(k);
      is_exact = is_exact && automaton_.state(state).context.closed;
    }
    if (is_exact) throw ModelError("the path to be proved the best is not: another one weighs more");
    automaton_.tighten(rival, Strategy::ALL_BY_ONE);
    best_paths_.refresh();
    ++refinements_;
  }

  void find_reached() {
    reached_.assign(layers_.size(), {});
    std::vector<bool> is_reached(automaton_.num_states(), false);
    if (!layers_.empty()) reached_[0].push_back(0);
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
      for (const StateId id : reached_[i]) {
        for (std::uint32_t k = 0; k < layers_[i].size(); ++k) {
          if (automaton_.log_prob(id, layers_[i].word[k]) == LOG_ZERO) continue;
          const StateId target = automaton_.target(id, k);
          if (is_reached[target]) continue;
          is_reached[target] = true;
          reached_[i + 1].push_back(target);
        }
      }
    }
  }

  // Whoever adds up the same terms in another order, rounding upwards, does not get more.
  double upper(StateId id) const {
    const std::uint32_t i = automaton_.state(id).position;
    const bool is_last = i + 1 == layers_.size();
    double result = LOG_ZERO;
    for (std::uint32_t k = 0; k < layers_[i].size(); ++k) {
      Term sum = bound_of(automaton_.table(), automaton_.state(id).context, layers_[i].word[k]);
      if (sum.log_prob == LOG_ZERO) continue;
      sum.add(layers_[i].log_weight[k]);
      sum.add(is_last ? 0.0 : uppers_[automaton_.target(id, k)]);
      if (sum.log_prob != LOG_ZERO) result = std::max(result, sum.log_prob + margin_ * (1.0 + sum.size));
    }
    return result;
  }

  const std::vector<Layer> layers_;
  ContextAutomaton automaton_;
  BestPaths best_paths_;
  double margin_;  // what a sum of one step may lose, relative to the sizes of its terms
  std::uint64_t refinements_ = 0;
  std::vector<std::vector<StateId>> reached_;  // [position]
  std::vector<double> uppers_;                 // [state]
};

}  // namespace

Witness prove(const NgramTable& table, const Candidates& candidates, std::span<const WordId> path,
              const Deadline& deadline) {
  if (!candidates.is_chain()) throw ModelError("a proof needs positions in a row, and this is a lattice");
  if (candidates.num_positions() == 0) return {true, {}, 0, 0};
  if (path.size() != candidates.length()) throw ModelError("the path to be proved does not fit the positions");
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t k = candidates.slots[i].find(path[i]);
    if (k == candidates.slots[i].size()) throw ModelError("the path to be proved has a word that is no candidate");
    places.push_back(static_cast<std::uint32_t>(k));
  }
  if (candidates.ends) places.push_back(0);
  Prover prover(table, candidates);
  return prover.witness(prover.refine(places, deadline));
}

}  // namespace hiddenite::exact
