#include "hiddenite/exact/sparse_viterbi.hpp"

#include <algorithm>

namespace hiddenite::exact {

// Adds the states of the next position, reached from those from `first` on. After
// a word w all states end in w, so equal ones are found among those of w.
bool SparseViterbi::advance(const Reading& reading, std::size_t slot, std::size_t first, std::size_t max_steps) {
  const std::size_t last = states_.size();
  const auto size = static_cast<std::uint32_t>(reading.begin[slot + 1] - reading.begin[slot]);
  if (size * (last - first) > max_steps) return false;
  for (std::uint32_t k = 0; k < size; ++k) {
    const std::size_t candidate = reading.begin[slot] + k;
    const std::size_t of_word = states_.size();
    for (std::size_t i = first; i < last; ++i) {
      NodeId node = states_[i].node;
      double log_weight = states_[i].log_weight;
      log_weight += steps_.step(node, reading.words[candidate]);
      log_weight += reading.log_weights[candidate];
      if (log_weight == LOG_ZERO) continue;
      const auto same = std::find_if(states_.begin() + static_cast<std::ptrdiff_t>(of_word), states_.end(),
                                     [&](const State& s) { return s.node == node; });
      const State reached{node, static_cast<std::uint32_t>(i), k, log_weight};
      if (same == states_.end()) {
        states_.push_back(reached);
      } else if (log_weight > same->log_weight) {
        *same = reached;
      }
    }
  }
  return states_.size() > last;
}

bool SparseViterbi::decode(const Reading& reading, bool ends, std::size_t max_steps,
                           std::vector<std::uint32_t>& path, double& log_weight) {
  states_.clear();
  states_.push_back({steps_.table().start(), 0, 0, 0.0});
  std::size_t first = 0;
  for (std::size_t slot = 0; slot < reading.length(); ++slot) {
    check_interrupt();
    const std::size_t next = states_.size();
    if (!advance(reading, slot, first, max_steps)) return false;
    first = next;
  }
  std::size_t best = first;
  log_weight = LOG_ZERO;
  for (std::size_t i = first; i < states_.size(); ++i) {
    NodeId node = states_[i].node;
    const double total = states_[i].log_weight + (ends ? steps_.step(node, SENTENCE_END) : 0.0);
    if (total > log_weight) {
      log_weight = total;
      best = i;
    }
  }
  follow(best, reading.length(), path);
  return log_weight != LOG_ZERO;
}

void SparseViterbi::follow(std::size_t last, std::size_t length, std::vector<std::uint32_t>& path) const {
  path.resize(length);
  for (std::size_t slot = length; slot-- > 0; last = states_[last].before) path[slot] = states_[last].choice;
}

}  // namespace hiddenite::exact
