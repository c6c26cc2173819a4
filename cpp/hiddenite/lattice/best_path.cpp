#include "hiddenite/lattice/best_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

#include "hiddenite/base/flat_map.hpp"

namespace hiddenite::lattice {

namespace {

constexpr std::uint32_t NOWHERE = std::numeric_limits<std::uint32_t>::max();

// Step: word_weight(context, word), the weight of a word, the context moved on.
template <class Step>
class BestFirst {
 public:
  BestFirst(Composition bound, const WordGraph& graph, const CompositionOptions& options, NodeId start, Step step)
      : word_weight_(std::move(step)), graph_(graph), options_(options), bound_(std::move(bound)),
        after_(bound_.best_after()),
        rounding_(4.0 * std::numeric_limits<double>::epsilon() * (graph.num_nodes + 4.0)),
        magnitude_(find_magnitude()), start_(start) {}

  BestPath run(const Deadline& deadline) {
    constexpr std::uint64_t turns_a_look = 64;
    reach(0, start_, {0.0, NOWHERE, NOWHERE});
    bool is_over = false;
    for (std::uint64_t turn = 0; !queue_.empty() && may_win(queue_.top().priority, 0.0); ++turn) {
      is_over = states_.size() >= options_.max_states || states_.size() + 1 >= FlatMap::ABSENT ||
                (turn % turns_a_look == 0 && deadline.is_over(0, states_.size()));
      if (is_over) break;
      const std::uint32_t s = queue_.top().state;
      queue_.pop();
      if (states_[s].is_open) open(s);
    }
    GraphPath path = last_ == NOWHERE && is_over ? of_bound() : traced();
    Bounds bounds;
    bounds.found(path.log_weight);
    if (is_over) {
      bounds.none_above(queue_.top().priority + slack(queue_.top().priority, 0.0));
    } else {
      bounds.close();
    }
    return {std::move(path), Certificate(bounds, Method::DOMINANCE, 0, states_.size())};
  }

 private:
  struct Way {
    double log_weight;
    std::uint32_t previous, edge;
  };
  struct State {
    std::uint32_t in_bound;  // the state of the bound: its node and last word
    NodeId context;
    Way way;                 // the best known
    bool is_open;            // and not yet gone on from
  };
  struct Waiting {
    double priority;
    std::uint32_t state;
    bool operator<(const Waiting& other) const { return priority < other.priority; }
  };

  // Whether a way of this weight, with so much to come, may lead to a path that is heavier than the best one found,
  // if all that rounding can have done speaks for it: the bound is added up from the other end.
  bool may_win(double log_weight, double to_come) const {
    return to_come > LOG_ZERO && log_weight + to_come + slack(log_weight, to_come) > best_;
  }
  double slack(double log_weight, double to_come) const {
    return rounding_ * std::max({1.0, magnitude_, std::fabs(log_weight), std::fabs(to_come)});
  }

  // The largest number that is met on the bound's own best path.
  double find_magnitude() const {
    double largest = 0.0;
    for (std::uint32_t s = 0; after_[s] > LOG_ZERO;) {
      largest = std::max(largest, std::fabs(after_[s]));
      const auto arcs = bound_.arcs(s);
      const auto next = std::find_if(arcs.begin(), arcs.end(), [&](const GraphArc& arc) {
        return arc.log_weight + after_[arc.to] == after_[s];
      });
      if (next == arcs.end()) break;
      s = next->to;
    }
    return largest;
  }

  // The bound's state is known by the node and the context, whose last word it knows.
  void reach(std::uint32_t in_bound, NodeId context, const Way& way) {
    if (!may_win(way.log_weight, after_[in_bound])) return;
    const std::uint64_t key = std::uint64_t{in_bound} << 32 | context;
    std::uint32_t s = place_.find(key);
    if (s == FlatMap::ABSENT) {
      s = static_cast<std::uint32_t>(states_.size());
      states_.push_back({in_bound, context, way, true});
      place_.insert(key, s);
    } else if (way.log_weight > states_[s].way.log_weight) {
      states_[s].way = way;
      states_[s].is_open = true;
    } else {
      return;
    }
    queue_.push({way.log_weight + after_[in_bound], s});
  }

  void open(std::uint32_t s) {
    states_[s].is_open = false;
    const State own = states_[s];
    double log_final = graph_.log_final[bound_.node(own.in_bound)];
    if (log_final > LOG_ZERO) {
      NodeId context = own.context;
      if (options_.ends) log_final += word_weight_(context, SENTENCE_END);
      if (own.way.log_weight + log_final > best_) {
        best_ = own.way.log_weight + log_final;
        last_ = s;
      }
    }
    for (const GraphArc& arc : bound_.arcs(own.in_bound)) {
      NodeId context = own.context;
      double log_weight = graph_.log_weight[arc.edge];
      if (!may_win(own.way.log_weight + arc.log_weight, after_[arc.to])) continue;
      if (graph_.word[arc.edge] != NO_WORD) log_weight += word_weight_(context, graph_.word[arc.edge]);
      if (log_weight == LOG_ZERO) continue;
      reach(arc.to, context, {own.way.log_weight + log_weight, s, arc.edge});
    }
  }

  GraphPath traced() const {
    GraphPath path{{}, best_};
    if (last_ == NOWHERE) return path;
    for (std::uint32_t s = last_; states_[s].way.edge != NOWHERE; s = states_[s].way.previous) {
      path.edges.push_back(states_[s].way.edge);
    }
    std::reverse(path.edges.begin(), path.edges.end());
    return path;
  }

  // The bound's best path, weighed by the model.
  GraphPath of_bound() {
    GraphPath path = bound_.best();
    NodeId context = start_;
    std::uint32_t node = graph_.start;
    path.log_weight = 0.0;
    for (const std::uint32_t e : path.edges) {
      path.log_weight += graph_.log_weight[e];
      if (graph_.word[e] != NO_WORD) path.log_weight += word_weight_(context, graph_.word[e]);
      node = graph_.to[e];
    }
    path.log_weight += graph_.log_final[node];
    if (options_.ends) path.log_weight += word_weight_(context, SENTENCE_END);
    return path;
  }

  Step word_weight_;
  const WordGraph& graph_;
  const CompositionOptions& options_;
  Composition bound_;
  const std::vector<double>& after_;
  const double rounding_, magnitude_;
  const NodeId start_;
  std::vector<State> states_;
  FlatMap place_;
  std::priority_queue<Waiting> queue_;
  double best_ = LOG_ZERO;
  std::uint32_t last_ = NOWHERE;
};

// A bound has no more states than the lattice has edges and one.
CompositionOptions unlimited(CompositionOptions options) {
  options.max_states = CompositionOptions().max_states;
  return options;
}

}  // namespace

BestPath find_best_path(const NgramTable* table, const WordGraph& graph, const CompositionOptions& options,
                        const Deadline& deadline) {
  const NgramTable* const model = options.lm_weight == 0.0 ? nullptr : table;
  const auto step = [&](NodeId& context, WordId w) {
    return model ? options.lm_weight * model->step(context, w) : 0.0;
  };
  const NodeId start = model && options.begins ? model->start() : ROOT;
  return BestFirst(Composition::bound(model, graph, unlimited(options)), graph, options, start, step).run(deadline);
}

BestPath find_best_path(const ModelMixture& mixture, const WordGraph& graph, const CompositionOptions& options,
                        const Deadline& deadline) {
  JointContexts joint(mixture, options.begins);
  const auto step = [&](NodeId& context, WordId w) {
    const double log_prob = joint.step(context, w);
    return options.lm_weight == 0.0 ? 0.0 : options.lm_weight * log_prob;
  };
  Composition bound = Composition::bound(mixture, graph, unlimited(options));
  return BestFirst(std::move(bound), graph, options, joint.start(), step).run(deadline);
}

}  // namespace hiddenite::lattice
