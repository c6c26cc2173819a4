// Many sentences tagged at once: the fast door to the engine for a tagger.
//
// Most words have one or two tags, so the n-gram states that a sentence's
// candidates reach are few, and the plainest exact method wins: Viterbi over all
// of them. It costs one step of the model per state and candidate, and nothing
// is set up. A sentence that would take more than MAX_STEPS of them at one
// position (unseen words in a row) goes to the engine's own methods.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/channel/tag_channel.hpp"
#include "hiddenite/exact/engine.hpp"

namespace hiddenite::exact {

class SparseViterbi {
 public:
  static constexpr std::size_t MAX_STEPS = 1024;

  explicit SparseViterbi(const NgramTable& table) : table_(table) {}
  // The best path by places in the slots, or false: too many steps, or no path.
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

struct TaggedSentence {
  Answer::Status status = Answer::Status::DONE;
  std::string error;
  std::size_t position = 0;
  std::vector<WordId> symbols;
  double log_weight = 0.0;
  Certificate certificate;
};

// Words of many sentences in a row: sentence i has those from begin[i] to
// begin[i + 1]; word j is text[word_begin[j] .. word_begin[j + 1]].
struct SentenceWords {
  std::string text;
  std::vector<std::size_t> word_begin{0};
  std::vector<std::size_t> begin{0};
  std::size_t size() const { return begin.size() - 1; }
};

// The best tags of each sentence, in order, the same for any number of threads.
std::vector<TaggedSentence> tag_sentences(const Engine& engine, const TagChannel& channel,
                                      const SentenceWords& sentences, int threads);

}  // namespace hiddenite::exact
