#include "hiddenite/lattice/best_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/flat_map.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::lattice {

namespace {

constexpr std::uint32_t NOWHERE = std::numeric_limits<std::uint32_t>::max();

class BestFirst {
 public:
  BestFirst(const NgramTable* model, const WordGraph& graph, const CompositionOptions& options)
      : model_(model), graph_(graph), options_(options), bound_(Composition::bound(model, graph, options)),
        after_(bound_.best_after()),
        rounding_(4.0 * std::numeric_limits<double>::epsilon() * (graph.num_nodes + 4.0)),
        magnitude_(find_magnitude()) {}

  BestPath run() {
    reach(0, model_ && options_.begins ? model_->start() : ROOT, {0.0, NOWHERE, NOWHERE});
    WorkMeter meter;
    while (!queue_.empty() && may_win(queue_.top().priority, 0.0)) {
      const std::uint32_t s = queue_.top().state;
      queue_.pop();
      if (states_[s].is_open) open(s);
      meter.add(64);
    }
    return {traced(), states_.size()};
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
    const double largest = std::max({magnitude_, std::fabs(log_weight), std::fabs(to_come)});
    return to_come > LOG_ZERO && log_weight + to_come + rounding_ * largest > best_;
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

  double word_weight(NodeId& context, WordId w) const {
    return model_ ? options_.lm_weight * model_->step(context, w) : 0.0;
  }

  // The bound's state is known by the node and the context, whose last word it knows.
  void reach(std::uint32_t in_bound, NodeId context, const Way& way) {
    if (!may_win(way.log_weight, after_[in_bound])) return;
    const std::uint64_t key = std::uint64_t{in_bound} << 32 | context;
    std::uint32_t s = place_.find(key);
    if (s == FlatMap::ABSENT) {
      s = static_cast<std::uint32_t>(states_.size());
      if (s >= options_.max_states || s + 1 == FlatMap::ABSENT) {
        throw ModelError("the search has made more than " + std::to_string(s) +
                         " states of the lattice under this model; prune it, or raise the limit of states");
      }
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
      if (options_.ends) log_final += word_weight(context, SENTENCE_END);
      if (own.way.log_weight + log_final > best_) {
        best_ = own.way.log_weight + log_final;
        last_ = s;
      }
    }
    for (const GraphArc& arc : bound_.arcs(own.in_bound)) {
      NodeId context = own.context;
      double log_weight = graph_.log_weight[arc.edge];
      if (!may_win(own.way.log_weight + arc.log_weight, after_[arc.to])) continue;
      if (graph_.word[arc.edge] != NO_WORD) log_weight += word_weight(context, graph_.word[arc.edge]);
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

  const NgramTable* model_;
  const WordGraph& graph_;
  const CompositionOptions& options_;
  Composition bound_;
  const std::vector<double>& after_;
  const double rounding_, magnitude_;
  std::vector<State> states_;
  FlatMap place_;
  std::priority_queue<Waiting> queue_;
  double best_ = LOG_ZERO;
  std::uint32_t last_ = NOWHERE;
};

}  // namespace

BestPath find_best_path(const NgramTable* table, const WordGraph& graph, const CompositionOptions& options) {
  return BestFirst(options.lm_weight == 0.0 ? nullptr : table, graph, options).run();
}

}  // namespace hiddenite::lattice
