// The method `sparse`: plain Viterbi over every n-gram state that the candidates
// reach. One step of the model for each state and candidate, and nothing is set
// up: where positions have one or two candidates, as most words have tags, no
// method is faster. It is meant for a row of positions.
#pragma once

#include <vector>

#include "hiddenite/channel/channel.hpp"
#include "hiddenite/exact/proof.hpp"
#include "hiddenite/lm/step_memory.hpp"

namespace hiddenite::exact {

class SparseViterbi {
 public:
  static constexpr std::size_t MAX_STEPS = 1024;  // a position that takes more is left to other methods

  // `has_many`: sentences, so that it pays to remember the steps of a small model.
  explicit SparseViterbi(const NgramTable& table, bool has_many = false) : steps_(table, has_many) {}
  // The best path by places in the slots, or false: more than `max_steps` steps at one position, or no path.
  // The weight is added up as path_log_weight does, so the two are equal.
  bool decode(const Reading& reading, bool ends, std::size_t max_steps, std::vector<std::uint32_t>& path,
              double& log_weight);
  std::uint64_t num_states() const { return states_.size(); }  // of the last sentence

 private:
  struct State {
    NodeId node;
    std::uint32_t before;  // the state it was reached from
    std::uint32_t choice;  // by this candidate of the slot
    double log_weight;
  };
  bool advance(const Reading& reading, std::size_t slot, std::size_t first, std::size_t max_steps);
  void follow(std::size_t last, std::size_t length, std::vector<std::uint32_t>& path) const;

  StepMemory steps_;
  std::vector<State> states_;  // of all positions in a row
};

}  // namespace hiddenite::exact
