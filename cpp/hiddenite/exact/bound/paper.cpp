#include "hiddenite/exact/bound/paper.hpp"

#include <algorithm>

namespace hiddenite::exact {

namespace {

std::vector<std::size_t> sizes(const std::vector<Layer>& layers) {
  std::vector<std::size_t> result;
  for (const Layer& layer : layers) result.push_back(layer.size());
  return result;
}

// <s> and the path's words.
std::vector<WordId> history_of(const std::vector<Layer>& layers, std::span<const std::uint32_t> path) {
  std::vector<WordId> history{SENTENCE_BEGIN};
  for (std::size_t i = 0; i < layers.size(); ++i) history.push_back(layers[i].word[path[i]]);
  return history;
}

bool ends_in(const std::vector<WordId>& words, const std::vector<WordId>& suffix) {
  return suffix.size() <= words.size() && std::equal(suffix.rbegin(), suffix.rend(), words.rbegin());
}

}  // namespace

PaperRelaxation::PaperRelaxation(const NgramTable& table, const Candidates& candidates, Weighting weighting)
    : RowRelaxation(table, candidates),
      length_(candidates.length()),
      layers_(make_layers(candidates, weighting)),
      lattice_(sizes(layers_)),
      positions_(layers_.size()),
      num_ngrams_(table.order, 0) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Name name = i == 0 && table_.order > 1 ? Name{SENTENCE_BEGIN} : Name{};
    add_state(i, name);
    for (std::uint32_t k = 0; k < layers_[i].size(); ++k) {
      const auto order = static_cast<std::uint32_t>(name.size() + 1);
      set_weight(i, 0, k, {log_max_prob(name, layers_[i].word[k]), order});
      ++num_ngrams_[order - 1];
    }
  }
}

// ------------------------------------------------------------- the bound

// No longer context says more: order - 1 words, or all words from <s> on.
bool PaperRelaxation::is_complete(std::size_t length, std::size_t i) const {
  return length >= std::min<std::size_t>(table_.order - 1, i + 1);
}

// Equation 8, exact for a complete context.
double PaperRelaxation::log_max_prob(const Name& context, WordId w) const {
  const auto longest = static_cast<std::size_t>(table_.order - 1);
  if (context.size() == longest || (!context.empty() && context[0] == SENTENCE_BEGIN)) {
    return table_.conditional(w, context);
  }
  NodeId node = ROOT;
  for (const WordId word : context) {
    node = table_.child(node, word);
    if (node == NO_NODE) return table_.conditional(w, context);  // what is not listed has no extensions
  }
  return context_log_prob(table_, {node, false}, w);
}

// ----------------------------------------------------------- Algorithm 2

void PaperRelaxation::tighten(std::span<const std::uint32_t> path) {
  const std::vector<std::uint32_t> all = with_end(path);
  const Name history = history_of(layers_, all);
  for (std::size_t i = 1; i < layers_.size(); ++i) update(all, history, i);
}

// UpdateHMM; history[i] is the word before position i.
void PaperRelaxation::update(std::span<const std::uint32_t> path, const Name& history, std::size_t i) {
  const std::uint32_t k = path[i];
  std::uint32_t state = 0;
  for (std::size_t j = 0; j < i; ++j) state = lattice_.targets(j, state)[path[j]];
  const std::uint32_t n = positions_[i].edges[state][k].order + 1;  // line 1
  if (is_complete(n - 2, i)) return;
  const Name context(history.begin() + static_cast<std::ptrdiff_t>(i + 2 - n),
                     history.begin() + static_cast<std::ptrdiff_t>(i + 1));
  if (!positions_[i].number.contains(context)) create_state(i, context, path);  // lines 2-10
  const double log_prob = log_max_prob(context, layers_[i].word[k]);
  ++num_ngrams_[n - 1];
  for (std::uint32_t s = 0; s < positions_[i].names.size(); ++s) {  // lines 12-13
    if (ends_in(positions_[i].names[s], context) && positions_[i].edges[s][k].order < n) {
      set_weight(i, s, k, {log_prob, n});
    }
  }
}

std::uint32_t PaperRelaxation::create_state(std::size_t i, const Name& name, std::span<const std::uint32_t> path) {
  const auto found = positions_[i].number.find(name);
  if (found != positions_[i].number.end()) return found->second;
  const Name prefix(name.begin(), name.end() - 1), suffix(name.begin() + 1, name.end());
  if (i > 1) create_state(i - 1, prefix, path);
  const std::uint32_t parent = create_state(i, suffix, path);
  const std::uint32_t state = add_state(i, name);  // line 3
  for (std::uint32_t s = 0; s < positions_[i - 1].names.size(); ++s) {  // lines 5-7
    if (i > 1 && !ends_in(positions_[i - 1].names[s], prefix)) continue;
    std::uint32_t& target = lattice_.edit_targets(i - 1, s)[path[i - 1]];
    if (positions_[i].names[target].size() < name.size()) target = state;
  }
  const std::span<const std::uint32_t> targets = lattice_.targets(i, parent);  // lines 9-10
  std::copy(targets.begin(), targets.end(), lattice_.edit_targets(i, state).begin());
  for (std::uint32_t k = 0; k < layers_[i].size(); ++k) set_weight(i, state, k, positions_[i].edges[parent][k]);
  return state;
}

std::uint32_t PaperRelaxation::add_state(std::size_t i, const Name& name) {
  Position& position = positions_[i];
  const std::uint32_t state = lattice_.add_state(i);
  position.names.push_back(name);
  position.number.emplace(name, state);
  position.edges.emplace_back(layers_[i].size());
  return state;
}

void PaperRelaxation::set_weight(std::size_t i, std::uint32_t state, std::uint32_t k, Edge edge) {
  positions_[i].edges[state][k] = edge;
  lattice_.edit_log_weights(i, state)[k] = edge.log_prob + layers_[i].log_weight[k];
}

// ----------------------------------------------------------------- paths

std::vector<std::uint32_t> PaperRelaxation::with_end(std::span<const std::uint32_t> path) const {
  std::vector<std::uint32_t> result(path.begin(), path.end());
  result.resize(layers_.size(), 0);
  return result;
}

Trial PaperRelaxation::score(std::span<const std::uint32_t> path) const {
  const std::vector<std::uint32_t> all = with_end(path);
  std::uint32_t state = 0;
  return score_path(table_, layers_, all, length_, [&](std::size_t i, WordId) {
    const double log_prob = positions_[i].edges[state][all[i]].log_prob;
    state = lattice_.targets(i, state)[all[i]];
    return log_prob;
  });
}

Trial PaperRelaxation::best() {
  if (layers_.empty()) return score({});
  return lattice_.best(path_) == LOG_ZERO ? Trial{} : score(path_);
}

double PaperRelaxation::log_total() { return layers_.empty() ? 0.0 : lattice_.log_total(); }

Trial PaperRelaxation::draw(Random& random) {
  if (layers_.empty()) return score({});
  lattice_.draw(random, path_);
  return score(path_);
}

std::vector<StateView> PaperRelaxation::states(std::size_t position) const {
  std::vector<StateView> views;
  for (const Name& name : positions_[position].names) views.push_back({name, is_complete(name.size(), position)});
  return views;
}

}  // namespace hiddenite::exact
