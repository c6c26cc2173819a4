#include "hiddenite/exact/witness.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/exact/best_paths.hpp"

namespace hiddenite::exact {

namespace {

// What a sum may have lost, relative to the sizes of its terms: some dozens of times what a double rounds.
constexpr double MARGIN = 0x1p-48;

// Layers whose best weight is zero.
class RelativeLayers {
 public:
  explicit RelativeLayers(const Candidates& candidates) : layers_(make_layers(candidates, Weighting::BEST)) {
    weights_.reserve(layers_.size());
    for (Layer& layer : layers_) {
      const double best = *std::max_element(layer.log_weight.begin(), layer.log_weight.end());
      std::vector<double>& weights = weights_.emplace_back();
      for (const double weight : layer.log_weight) weights.push_back(weight - best);
      layer.log_weight = weights;
    }
  }
  const std::vector<Layer>& get() const { return layers_; }

 private:
  std::vector<Layer> layers_;
  std::vector<std::vector<double>> weights_;
};

class Prover {
 public:
  Prover(const NgramTable& table, const RelativeLayers& layers)
      : layers_(layers.get()), automaton_(table, layers_), best_paths_(automaton_) {}

  // The best path of the automaton weighs no more than this one.
  void refine(std::span<const std::uint32_t> path, const Budget& budget) {
    const auto begin = std::chrono::steady_clock::now();
    const double goal = score(path);
    automaton_.tighten(path, Strategy::FULL_CONTEXT);
    best_paths_.refresh();
    while (best_paths_.value(0) > goal) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (refinements_ >= budget.refinements || automaton_.num_states() >= budget.states ||
          spent.count() >= budget.seconds) {
        throw ModelError("no proof within " + std::to_string(refinements_) + " refinements and " +
                         std::to_string(automaton_.num_states()) + " states; allow more");
      }
      tighten();
    }
  }

  Witness witness() {
    Witness result;
    result.refinements = refinements_;
    result.states = automaton_.num_states();
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
    double log_weight = 0.0, magnitude = 1.0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const double log_prob = automaton_.table().step(state, layers_[i].word[path[i]]);
      const double weight = layers_[i].log_weight[path[i]];
      log_weight += log_prob + weight;
      magnitude += std::fabs(log_prob) + std::fabs(weight);
    }
    return log_weight + MARGIN * static_cast<double>(layers_.size()) * magnitude;
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
      const double log_prob = automaton_.log_prob(id, layers_[i].word[k]);
      if (log_prob == LOG_ZERO) continue;
      const double weight = layers_[i].log_weight[k];
      const double rest = is_last ? 0.0 : uppers_[automaton_.target(id, k)];
      if (rest == LOG_ZERO) continue;
      const double sum = log_prob + weight + rest;
      result = std::max(result, sum + MARGIN * (std::fabs(log_prob) + std::fabs(weight) + std::fabs(rest)));
    }
    return result;
  }

  const std::vector<Layer>& layers_;
  ContextAutomaton automaton_;
  BestPaths best_paths_;
  std::uint64_t refinements_ = 0;
  std::vector<std::vector<StateId>> reached_;  // [position]
  std::vector<double> uppers_;                 // [state]
};

}  // namespace

Witness prove(const NgramTable& table, const Candidates& candidates, std::span<const WordId> path,
              const Budget& budget) {
  if (!candidates.is_chain()) throw ModelError("a proof needs positions in a row, and this is a lattice");
  if (candidates.num_positions() == 0) return {};
  if (path.size() != candidates.length()) throw ModelError("the path to be proved does not fit the positions");
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t k = candidates.slots[i].find(path[i]);
    if (k == candidates.slots[i].size()) throw ModelError("the path to be proved has a word that is no candidate");
    places.push_back(static_cast<std::uint32_t>(k));
  }
  if (candidates.ends) places.push_back(0);
  const RelativeLayers layers(candidates);
  Prover prover(table, layers);
  prover.refine(places, budget);
  return prover.witness();
}

}  // namespace hiddenite::exact
