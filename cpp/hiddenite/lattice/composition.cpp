#include "hiddenite/lattice/composition.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/flat_map.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::lattice {

namespace {

// The contexts of the model that the paths to each node leave behind, found node by node.
class Contexts {
 public:
  explicit Contexts(std::uint32_t num_nodes) : of_node_(num_nodes) {}

  // The place of (node, context) among the node's.
  std::uint32_t add(std::uint32_t node, NodeId context) {
    const std::uint64_t key = std::uint64_t{node} << 32 | context;
    const std::uint32_t known = place_.find(key);
    if (known != FlatMap::ABSENT) return known;
    const auto place = static_cast<std::uint32_t>(of_node_[node].size());
    of_node_[node].push_back(context);
    place_.insert(key, place);
    return place;
  }
  const std::vector<NodeId>& at(std::uint32_t node) const { return of_node_[node]; }

 private:
  std::vector<std::vector<NodeId>> of_node_;
  FlatMap place_;
};

void check_size(std::size_t num_states, std::size_t num_arcs, std::uint64_t max_states) {
  if (num_states > max_states) {
    throw ModelError("the lattice has more than " + std::to_string(max_states) +
                     " states under this model; prune it, or raise the limit of states");
  }
  if (num_arcs >= std::numeric_limits<std::uint32_t>::max()) {
    throw ModelError("the lattice has more than four thousand million arcs under this model; prune it");
  }
}

}  // namespace

Composition::Composition(const NgramTable* table, const WordGraph& graph, const CompositionOptions& options)
    : num_edges_(graph.num_edges()) {
  const NgramTable* const model = options.lm_weight == 0.0 ? nullptr : table;
  build(graph, options, model && options.begins ? model->start() : ROOT, [&](NodeId& state, WordId w) {
    return model ? options.lm_weight * model->step(state, w) : 0.0;
  });
}

void ModelMixture::check(const WordGraph& graph) const {
  if (tables.empty() || log_share.size() != tables.size() || ids.size() != tables.size()) {
    throw ModelError("a mixture needs a share and the numbers of the words for each model");
  }
  for (std::size_t m = 0; m < tables.size(); ++m) {
    if (ids[m].size() != ids[0].size() || ids[m].size() <= SENTENCE_END || ids[m][SENTENCE_END] != SENTENCE_END) {
      throw ModelError("the models of a mixture number other words of the lattice");
    }
    for (const WordId id : ids[m]) {
      if (id >= tables[m]->vocabulary.size()) throw ModelError("a word has a number that the model does not have");
    }
  }
  for (const WordId w : graph.word) {
    if (w != NO_WORD && w >= ids[0].size()) throw ModelError("the lattice has a word that has no number");
  }
}

bool ModelMixture::knows(WordId word) const {
  return std::any_of(ids.begin(), ids.end(), [&](const std::vector<WordId>& numbers) {
    return numbers[word] != UNKNOWN;
  });
}

JointContexts::JointContexts(const ModelMixture& mixture, bool begins) : mixture_(mixture) {
  std::vector<NodeId> contexts;
  for (const NgramTable* table : mixture.tables) contexts.push_back(begins ? table->start() : ROOT);
  number(contexts);
}

NodeId JointContexts::number(const std::vector<NodeId>& contexts) {
  const auto [place, is_new] = number_.try_emplace(contexts, static_cast<NodeId>(all_.size()));
  if (is_new) all_.push_back(&place->first);
  return place->second;
}

// Each model's context moves on, the probabilities are added up.
double JointContexts::step(NodeId& context, WordId w) {
  contexts_ = *all_[context];
  const bool is_known = mixture_.knows(w);
  double total = LOG_ZERO;
  for (std::size_t m = 0; m < mixture_.tables.size(); ++m) {
    const WordId id = mixture_.ids[m][w];
    const double log_prob = mixture_.tables[m]->step(contexts_[m], id);
    if (!is_known || id != UNKNOWN) total = log_add(total, mixture_.log_share[m] + log_prob);
  }
  context = number(contexts_);
  return total;
}

Composition::Composition(const ModelMixture& mixture, const WordGraph& graph, const CompositionOptions& options)
    : num_edges_(graph.num_edges()), unit_(1.0 + options.lm_weight) {
  mixture.check(graph);
  JointContexts joint(mixture, options.begins);
  build(graph, options, joint.start(), [&](NodeId& state, WordId w) {
    const double log_prob = joint.step(state, w);
    return options.lm_weight == 0.0 ? 0.0 : options.lm_weight * log_prob;
  });
}

namespace {

// The most that ln p(w | .) can be after any words whose last ones the node stands for.
double most_after(const NgramTable& model, NodeId node, WordId w) {
  const NodeId arc = model.child(node, w);
  return arc != NO_NODE ? double{model.log_max_prob[arc]}
                        : double{model.log_max_backoff[node]} + model.log_prob[1 + w];
}

}  // namespace

Composition Composition::bound(const NgramTable* table, const WordGraph& graph, const CompositionOptions& options) {
  const NgramTable* const model = options.lm_weight == 0.0 ? nullptr : table;
  Composition result(graph.num_edges());
  result.build(graph, options, model && options.begins ? model->start() : ROOT, [&](NodeId& state, WordId w) {
    if (!model) return 0.0;
    const double most = most_after(*model, state, w);
    state = model->order > 1 ? 1 + w : ROOT;
    return options.lm_weight * most;
  });
  return result;
}

// A state is 0 at the start, else 1 + the last word.
Composition Composition::bound(const ModelMixture& mixture, const WordGraph& graph, const CompositionOptions& options) {
  mixture.check(graph);
  Composition result(graph.num_edges());
  result.build(graph, options, ROOT, [&](NodeId& state, WordId w) {
    if (options.lm_weight == 0.0) return 0.0;
    const bool is_known = mixture.knows(w);
    double total = LOG_ZERO;
    for (std::size_t m = 0; m < mixture.tables.size(); ++m) {
      const NgramTable& model = *mixture.tables[m];
      const WordId id = mixture.ids[m][w];
      if (is_known && id == UNKNOWN) continue;
      NodeId node = options.begins ? model.start() : ROOT;
      if (state != ROOT) node = model.order > 1 ? 1 + mixture.ids[m][state - 1] : ROOT;
      total = log_add(total, mixture.log_share[m] + most_after(model, node, id));
    }
    state = 1 + w;
    return options.lm_weight * total;
  });
  return result;
}

// step(state, word): the weight of a word that the model sees, the state moved on.
template <class Step>
void Composition::build(const WordGraph& graph, const CompositionOptions& options, NodeId start, const Step& step) {
  graph.check();
  Contexts contexts(graph.num_nodes);
  contexts.add(graph.start, start);
  std::vector<std::uint64_t> first_state(graph.num_nodes, 0);
  WorkMeter meter;
  std::size_t edge = 0;
  for (std::uint32_t node = 0; node < graph.num_nodes; ++node) {
    const std::size_t begin = edge;
    while (edge < num_edges_ && graph.from[edge] == node) ++edge;
    first_state[node] = node_.size();
    check_size(node_.size() + contexts.at(node).size(), arcs_.size(), options.max_states);
    if (options.deadline.is_over()) {
      throw ModelError("the budget ended at node " + std::to_string(node + 1) + " of " +
                       std::to_string(graph.num_nodes) + " of the lattice under this model; give more time");
    }
    for (std::size_t i = 0; i < contexts.at(node).size(); ++i) {
      const NodeId context = contexts.at(node)[i];
      node_.push_back(node);
      begin_.push_back(arcs_.size());
      for (std::size_t e = begin; e < edge; ++e) {
        NodeId state = context;
        double log_weight = graph.log_weight[e];
        if (graph.word[e] != NO_WORD) log_weight += step(state, graph.word[e]);
        if (log_weight == LOG_ZERO) continue;
        // For now the place among the states of its node.
        arcs_.push_back({contexts.add(graph.to[e], state), static_cast<std::uint32_t>(e), log_weight});
      }
      double log_final = graph.log_final[node];
      if (options.ends && log_final > LOG_ZERO) {
        NodeId state = context;
        log_final += step(state, SENTENCE_END);
      }
      log_final_.push_back(log_final);
      meter.add(16 * (edge - begin) + 16);
    }
  }
  begin_.push_back(arcs_.size());
  for (GraphArc& arc : arcs_) arc.to += static_cast<std::uint32_t>(first_state[graph.to[arc.edge]]);
  if (node_.empty()) throw ModelError("the lattice has no node");
  magnitude_ = magnitudes([](std::size_t, const GraphArc&) { return true; })[0];
  if (!(magnitude_ <= LARGEST_SUM)) {
    throw ModelError("the weights of a path add up to more than 1e300; scale them down");
  }
}

template <class Counts>
std::vector<double> Composition::magnitudes(Counts counts) const {
  std::vector<double> magnitude(num_states());
  WorkMeter meter;
  for (std::size_t s = num_states(); s-- > 0;) {
    magnitude[s] = log_final_[s] == LOG_ZERO ? 0.0 : std::fabs(log_final_[s]);
    for (const GraphArc& arc : arcs(static_cast<std::uint32_t>(s))) {
      if (!counts(s, arc)) continue;
      magnitude[s] = std::max(magnitude[s], std::fabs(arc.log_weight) + magnitude[arc.to]);
    }
    meter.add(1 + begin_[s + 1] - begin_[s]);
  }
  return magnitude;
}

// A path that is so far behind the best has no share that a double could hold, whatever rounding does to it.
double Composition::rounding() const {
  constexpr double behind = 1000.0, per_arc = 8.0;  // an arc: a product, two sums, what ln and exp lose
  const std::vector<double> before = best_before();
  const std::vector<double>& after = best_after();
  const double least = after[0] - behind - 1e-9 * magnitude_;
  const auto counts = [&](std::size_t s, const GraphArc& arc) {
    return before[s] + arc.log_weight + after[arc.to] >= least;
  };
  std::vector<double> num_terms(num_states());
  for (std::size_t s = num_states(); s-- > 0;) {
    for (const GraphArc& arc : arcs(static_cast<std::uint32_t>(s))) {
      if (counts(s, arc)) num_terms[s] = std::max(num_terms[s], num_terms[arc.to]);
    }
    num_terms[s] += per_arc + std::log2(static_cast<double>(1 + begin_[s + 1] - begin_[s]));
  }
  return std::numeric_limits<double>::epsilon() * num_terms[0] * (unit_ + magnitudes(counts)[0]);
}

const std::vector<double>& Composition::best_after() const {
  if (!best_after_.empty()) return best_after_;
  best_after_ = log_final_;
  WorkMeter meter;
  for (std::size_t s = num_states(); s-- > 0;) {
    for (const GraphArc& arc : arcs(static_cast<std::uint32_t>(s))) {
      best_after_[s] = std::max(best_after_[s], arc.log_weight + best_after_[arc.to]);
    }
    meter.add(1 + begin_[s + 1] - begin_[s]);
  }
  return best_after_;
}

// Measured from the best of a state, so that many arcs cost no more digits than one.
const std::vector<double>& Composition::sum_after() const {
  if (!sum_after_.empty()) return sum_after_;
  sum_after_ = log_final_;
  WorkMeter meter;
  for (std::size_t s = num_states(); s-- > 0;) {
    const std::span<const GraphArc> from = arcs(static_cast<std::uint32_t>(s));
    double best = log_final_[s];
    for (const GraphArc& arc : from) best = std::max(best, arc.log_weight + sum_after_[arc.to]);
    if (best > LOG_ZERO) {
      double sum = std::exp(log_final_[s] - best);
      for (const GraphArc& arc : from) sum += std::exp(arc.log_weight + sum_after_[arc.to] - best);
      sum_after_[s] = best + std::log(sum);
    }
    meter.add(2 * (1 + begin_[s + 1] - begin_[s]));
  }
  return sum_after_;
}

// State 0 is that of the start: nodes before it have no context, so no state.
std::vector<double> Composition::best_before() const {
  std::vector<double> before(num_states(), LOG_ZERO);
  before[0] = 0.0;
  for (std::uint32_t s = 0; s < num_states(); ++s) {
    for (const GraphArc& arc : arcs(s)) before[arc.to] = std::max(before[arc.to], before[s] + arc.log_weight);
  }
  return before;
}

GraphPath Composition::best() const {
  const std::vector<double>& after = best_after();
  GraphPath path{{}, 0.0};
  std::uint32_t state = 0;
  while (after[state] > log_final_[state]) {
    // The arc that gave the maximum; the same sum, so the same double.
    const std::span<const GraphArc> from = arcs(state);
    const auto chosen = std::find_if(from.begin(), from.end(), [&](const GraphArc& arc) {
      return arc.log_weight + after[arc.to] == after[state];
    });
    path.edges.push_back(chosen->edge);
    path.log_weight += chosen->log_weight;
    state = chosen->to;
  }
  path.log_weight += log_final_[state];
  return path;
}

std::vector<double> Composition::posteriors() const {
  std::vector<double> result(num_edges_, 0.0), prob(num_states(), 0.0);  // [state]: that a path passes it
  prob[0] = 1.0;
  for (std::uint32_t s = 0; s < num_states(); ++s) {
    if (prob[s] == 0.0) continue;
    for (const GraphArc& arc : arcs(s)) {
      const double share = prob[s] * std::exp(log_share(s, arc));
      result[arc.edge] += share;
      prob[arc.to] += share;
    }
  }
  for (double& share : result) share = std::min(share, 1.0);  // rounding
  return result;
}

std::vector<double> Composition::length_shares(const std::vector<bool>& counts) const {
  std::vector<std::uint32_t> longest(num_states(), 0);  // most such edges of a path to the state
  for (std::uint32_t s = 0; s < num_states(); ++s) {
    for (const GraphArc& arc : arcs(s)) {
      longest[arc.to] = std::max(longest[arc.to], longest[s] + counts[arc.edge]);
    }
  }
  std::vector<std::vector<double>> prob(num_states());  // [state][length]: that a path passes it so
  std::vector<double> result;
  prob[0] = {1.0};
  WorkMeter meter;
  for (std::uint32_t s = 0; s < num_states(); ++s) {
    const std::vector<double> own = std::move(prob[s]);
    const auto add = [&](std::vector<double>& row, std::size_t size, std::size_t more, double share) {
      if (row.size() < size) row.resize(size, 0.0);
      for (std::size_t n = 0; n < own.size(); ++n) row[n + more] += own[n] * share;
    };
    if (own.empty() || sum_after()[s] == LOG_ZERO) continue;
    for (const GraphArc& arc : arcs(s)) {
      add(prob[arc.to], longest[arc.to] + 1, counts[arc.edge], std::exp(log_share(s, arc)));
    }
    add(result, own.size(), 0, std::exp(log_final_[s] - sum_after()[s]));
    meter.add(own.size() * (1 + begin_[s + 1] - begin_[s]));
  }
  return result;
}

std::vector<double> Composition::best_through() const {
  const std::vector<double> before = best_before();
  const std::vector<double>& after = best_after();
  std::vector<double> result(num_edges_, LOG_ZERO);
  for (std::uint32_t s = 0; s < num_states(); ++s) {
    for (const GraphArc& arc : arcs(s)) {
      result[arc.edge] = std::max(result[arc.edge], before[s] + arc.log_weight + after[arc.to]);
    }
  }
  return result;
}

GraphPath Composition::draw(Random& random) const {
  const std::vector<double>& after = sum_after();
  GraphPath path{{}, 0.0};
  std::vector<double> cumulative;
  for (std::uint32_t state = 0;;) {
    const std::span<const GraphArc> from = arcs(state);
    double total = std::exp(log_final_[state] - after[state]);
    cumulative.assign(1, total);
    for (const GraphArc& arc : from) {
      total += std::exp(log_share(state, arc));
      cumulative.push_back(total);
    }
    const std::size_t chosen = random.draw(cumulative);
    if (chosen == 0) {
      path.log_weight += log_final_[state];
      return path;
    }
    const GraphArc& arc = from[chosen - 1];
    path.edges.push_back(arc.edge);
    path.log_weight += arc.log_weight;
    state = arc.to;
  }
}

}  // namespace hiddenite::lattice
