// Steps of a small model, each computed once: a model of tags has a few hundred
// contexts and a few dozen words, and a text asks for the same steps again and
// again. A model with more than MOST steps is asked each time. For one thread.
#pragma once

#include <vector>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

class StepMemory {
 public:
  static constexpr std::size_t MOST = 1 << 16;

  // Without `remember` the model is asked each time. The table stays the caller's.
  explicit StepMemory(const NgramTable& table, bool remember = true) : table_(&table) {
    const std::size_t size = std::size_t{table.num_contexts()} * table.vocabulary.size();
    if (remember && size <= MOST) steps_.assign(size, Step{});
  }

  const NgramTable& table() const { return *table_; }

  // NgramTable::step, the same number.
  double step(NodeId& state, WordId w) {
    if (steps_.empty()) return table_->step(state, w);
    Step& known = steps_[state * std::size_t{table_->vocabulary.size()} + w];
    if (known.next == NO_NODE) {
      known.next = state;
      known.log_prob = table_->step(known.next, w);
    }
    state = known.next;
    return known.log_prob;
  }

 private:
  struct Step {
    double log_prob = 0.0;
    NodeId next = NO_NODE;  // not computed yet
  };

  const NgramTable* table_;
  std::vector<Step> steps_;  // [context][word], or none
};

}  // namespace hiddenite::lm
