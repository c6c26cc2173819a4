// The paths of an acyclic graph in descending order of weight, as many as are asked for.
//
// A partial path stands for its best completion. Taken from the queue, it is
// completed, and at each step on the way the next best choice instead of the one
// that was taken goes into the queue. So the paths come in order, and what is
// never asked for is never made.
//
// A Graph has
//   Node                                  a place where a path can be continued
//   Choice { value, log_weight, .. }      an edge: the weight of the best path over it from the node on, and its own
//   const Choice* choice(node, rank)      the node's choices in descending order of value; null: there are fewer
//   bool is_last(choice), Node target(choice)
// The choices of a node may change place in memory, but not their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "hiddenite/base/types.hpp"

namespace hiddenite::exact {

template <class Graph>
class BestFirst {
 public:
  using Node = typename Graph::Node;
  using Choice = typename Graph::Choice;

  // Paths of less than `least` are left out. The graph must outlive this.
  BestFirst(Graph& graph, Node start, double least = LOG_ZERO) : graph_(graph), least_(least) {
    push(0.0, NO_PARTIAL, start, 0);
  }

  bool is_empty() const { return queue_.empty(); }
  // Of the next path, as far as the order of adding leaves it open.
  double next_log_weight() const { return queue_.empty() ? LOG_ZERO : queue_.front().value; }
  // The choices of the next path, first to last; until the next call.
  const std::vector<Choice>& next() {
    std::uint32_t p = queue_.front().partial;
    std::pop_heap(queue_.begin(), queue_.end());
    queue_.pop_back();
    path_.clear();
    for (std::uint32_t before = partials_[p].parent; before != NO_PARTIAL; before = partials_[before].parent) {
      path_.push_back(partials_[before].choice);
    }
    std::reverse(path_.begin(), path_.end());
    while (true) {
      const Partial partial = partials_[p];
      path_.push_back(partial.choice);
      push(partial.log_weight, partial.parent, partial.node, partial.rank + 1);
      log_weight_ = partial.log_weight + partial.choice.log_weight;
      if (graph_.is_last(partial.choice)) return path_;
      const Node node = graph_.target(partial.choice);
      partials_.push_back({*graph_.choice(node, 0), log_weight_, p, node, 0});
      p = static_cast<std::uint32_t>(partials_.size() - 1);
    }
  }
  double log_weight() const { return log_weight_; }  // of that path

 private:
  static constexpr std::uint32_t NO_PARTIAL = std::numeric_limits<std::uint32_t>::max();

  struct Partial {
    Choice choice;         // the last one
    double log_weight;     // of those before it
    std::uint32_t parent;  // the partial path without it
    Node node;             // where it was made,
    std::uint32_t rank;    // and as which
  };
  struct Queued {
    double value;
    std::uint32_t partial;
    bool operator<(const Queued& o) const { return value != o.value ? value < o.value : partial > o.partial; }
  };

  void push(double log_weight, std::uint32_t parent, Node node, std::uint32_t rank) {
    const Choice* const choice = graph_.choice(node, rank);
    if (!choice || log_weight + choice->value < least_) return;
    queue_.push_back({log_weight + choice->value, static_cast<std::uint32_t>(partials_.size())});
    partials_.push_back({*choice, log_weight, parent, node, rank});
    std::push_heap(queue_.begin(), queue_.end());
  }

  Graph& graph_;
  double least_;
  std::vector<Partial> partials_;
  std::vector<Queued> queue_;  // a heap
  std::vector<Choice> path_;
  double log_weight_ = 0.0;
};

}  // namespace hiddenite::exact
