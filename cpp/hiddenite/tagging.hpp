// Many sentences tagged at once: the fast door to the engine for a tagger.
//
// Most words have one or two tags, so the n-gram states that a sentence's
// candidates reach are few, and the plainest exact method wins: Viterbi over all
// of them. It costs one step of the model per state and candidate, and nothing
// is set up. A sentence that reaches more than MAX_STATES states at a position
// (many unseen words in a row, a high order) goes to the engine's own methods.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine.hpp"

namespace hiddenite {

class SparseViterbi {
 public:
  static constexpr std::size_t MAX_STATES = 256;

  explicit SparseViterbi(const NgramTable& table) : table_(table) {}
  // The best path by places in the slots, or false: too many states, or no path.
  // The weight is added up as path_log_weight does, so the two are equal.
  bool decode(const Reading& reading, bool ends, std::vector<std::uint32_t>& path, double& log_weight);
  std::uint64_t num_states() const { return states_.size(); }  // of the last sentence

 private:
  struct State {
    NodeId node;
    std::uint32_t before;  // the state it was reached from
    std::uint32_t choice;  // by this candidate of the slot
    double log_weight;
  };
  bool advance(const Reading& reading, std::size_t slot, std::size_t first);
  void follow(std::size_t last, std::size_t length, std::vector<std::uint32_t>& path) const;

  const NgramTable& table_;
  std::vector<State> states_;  // of all positions in a row
};

struct TaggedLine {
  Answer::Status status = Answer::Status::DONE;
  std::string error;
  std::size_t position = 0;
  std::vector<WordId> symbols;
  double log_weight = 0.0;
  Certificate certificate;
};

// The best tags of each line, in order, the same for any number of threads.
std::vector<TaggedLine> tag_lines(const Engine& engine, const Channel& channel,
                                  const std::vector<std::string_view>& lines, int threads);

}  // namespace hiddenite
