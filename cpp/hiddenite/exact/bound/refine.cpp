#include "hiddenite/exact/bound/refine.hpp"

#include <algorithm>

namespace hiddenite::exact {

namespace {

// The LM terms and channel weights of all edges of a context: the suffix chain
// of context_log_prob, shortest first, so that the longest that lists a word decides.
void fill_log_weights(const NgramTable& table, Context context, const Layer& layer, std::span<double> log_weight) {
  struct Link {
    NodeId node;
    double log_backoff;
  };
  std::vector<Link> chain{{context.node, 0.0}};
  while (chain.back().node != ROOT) {
    const auto [s, log_backoff] = chain.back();
    const bool bounds = chain.size() == 1 && !context.closed;
    chain.push_back({table.suffix[s], log_backoff + (bounds ? table.log_max_backoff : table.log_backoff)[s]});
  }
  for (std::size_t j = chain.size(); j-- > 0;) {
    const auto [s, log_backoff] = chain[j];
    const float* const log_probs = (j == 0 && !context.closed ? table.log_max_prob : table.log_prob).data();
    for_each_listed(table, s, layer, [&](std::uint32_t k, NodeId arc) {
      log_weight[k] = log_backoff + log_probs[arc] + layer.log_weight[k];
    });
  }
}

}  // namespace

Refinement::Refinement(const NgramTable& table, const Candidates& candidates, Weighting weighting,
                       Strategy strategy, std::size_t widest_row)
    : RowRelaxation(table, candidates),
      length_(candidates.length()),
      strategy_(strategy),
      widest_row_(widest_row),
      automaton_(table, make_layers(candidates, weighting)) {}

std::vector<std::uint32_t> Refinement::with_end(std::span<const std::uint32_t> path) const {
  std::vector<std::uint32_t> result(path.begin(), path.end());
  result.resize(automaton_.num_positions(), 0);
  return result;
}

Trial Refinement::score(std::span<const std::uint32_t> path) const {
  const std::vector<std::uint32_t> all = with_end(path);
  StateId id = 0;
  return score_path(table_, automaton_.layers(), all, length_, [&](std::size_t i, WordId w) {
    const double log_prob = automaton_.log_prob(id, w);
    if (i + 1 < all.size()) id = automaton_.target(id, all[i]);
    return log_prob;
  });
}

void Refinement::tighten(std::span<const std::uint32_t> path) {
  if (automaton_.num_positions() == 0) return;
  const std::vector<std::uint32_t> all = with_end(path);
  std::size_t num_known = std::min<std::size_t>(best_states_.size(), 1);  // as far as it is the last best path
  while (num_known < best_states_.size() && best_terms_[num_known - 1].step.k == all[num_known - 1]) ++num_known;
  automaton_.tighten(all, strategy_, std::span(best_states_).first(num_known));
}

std::vector<StateView> Refinement::states(std::size_t position) const {
  std::vector<StateView> views;
  for (StateId id = 0; id < automaton_.num_states(); ++id) {
    const ContextAutomaton::State& state = automaton_.state(id);
    if (state.position != position) continue;
    views.push_back({context_words(table_, state.context.node), state.context.closed});
  }
  return views;
}

// ----------------------------------------------------------- best paths

BestPaths& Refinement::best_paths() {
  if (!best_paths_) {
    best_paths_.emplace(automaton_, widest_row_);
  } else if (num_in_best_paths_ != automaton_.num_states()) {
    best_paths_->refresh();
  }
  num_in_best_paths_ = automaton_.num_states();
  return *best_paths_;
}

// score() of the best path, most of which was there before.
Trial Refinement::best() {
  if (automaton_.num_positions() == 0) return score({});
  const std::span<const BestPaths::Step> steps = best_paths().best_path();
  if (steps.empty()) return {};
  best_terms_.resize(steps.size(), {{0, 0}, NO_NODE, NO_NODE, 0.0, 0.0});
  best_states_.clear();
  Trial trial{WordPath(length_), 0.0, 0.0, 0.0};
  NodeId exact = table_.start();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Terms& known = terms(i, steps[i], exact);
    add_terms(trial, known.log_q, known.log_p, automaton_.layers()[i].log_weight[steps[i].k]);
    exact = known.after;
    best_states_.push_back(steps[i].state);
    if (i < length_) trial.path[i] = steps[i].k;
  }
  return trial;
}

const Refinement::Terms& Refinement::terms(std::size_t position, BestPaths::Step step, NodeId before) {
  Terms& known = best_terms_[position];
  if (known.step == step && known.before == before) return known;
  const Context context = automaton_.state(step.state).context;
  const WordId w = automaton_.layers()[position].word[step.k];
  known = {step, before, before, 0.0, 0.0};
  known.log_p = table_.step(known.after, w);
  known.log_q = context.closed ? known.log_p : context_log_prob(table_, context, w);
  return known;
}

// ---------------------------------------------------------------- draws

Lattice& Refinement::lattice() {
  const std::vector<Layer>& layers = automaton_.layers();
  if (!lattice_) {
    std::vector<std::size_t> num_words;
    for (const Layer& layer : layers) num_words.push_back(layer.size());
    lattice_.emplace(num_words);
    state_at_.resize(layers.size());
    for (const Layer& layer : layers) versions_.emplace_back(layer.size(), 0);
  }
  if (place_.size() == automaton_.num_states()) return *lattice_;
  std::vector<std::size_t> num_old;
  for (const std::vector<StateId>& states : state_at_) num_old.push_back(states.size());
  for (auto id = static_cast<StateId>(place_.size()); id < automaton_.num_states(); ++id) add_to_lattice(id);
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) redirect(i, num_old[i]);
  return *lattice_;
}

void Refinement::add_to_lattice(StateId id) {
  const ContextAutomaton::State& state = automaton_.state(id);
  const std::uint32_t place = lattice_->add_state(state.position);
  place_.push_back(place);
  state_at_[state.position].push_back(id);
  fill_log_weights(table_, state.context, automaton_.layers()[state.position],
                   lattice_->edit_log_weights(state.position, place));
}

// Targets after the first `num_old` states where they may have changed, after the others all.
void Refinement::redirect(std::size_t position, std::size_t num_old) {
  const std::vector<StateId>& states = state_at_[position];
  for (std::uint32_t k = 0; k < versions_[position].size(); ++k) {
    const std::uint32_t version = automaton_.version(position + 1, k);
    if (version == 0) continue;
    const std::size_t first = version == versions_[position][k] ? num_old : 0;
    versions_[position][k] = version;
    for (auto s = static_cast<std::uint32_t>(first); s < states.size(); ++s) {
      lattice_->edit_targets(position, s)[k] = place_[automaton_.target(states[s], k)];
    }
  }
}

double Refinement::log_total() { return automaton_.num_positions() == 0 ? 0.0 : lattice().log_total(); }

Trial Refinement::draw(Random& random) {
  if (automaton_.num_positions() == 0) return score({});
  lattice().draw(random, path_);
  return score(path_);
}

}  // namespace hiddenite::exact
