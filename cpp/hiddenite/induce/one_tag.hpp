// A type whose tokens all have one tag, moved to another.
//
// Customers are exchangeable, so the events of the tokens may sit down in any order, as long as it
// is always the same. Here like events follow each other, which makes most of them cheap: a
// frequent word has far fewer kinds of events than tokens. An event's kind are its tags, with a mark
// where the word itself stands.
//
// The move is particle Gibbs: tags are drawn from a proposal, the tokens are seated with each of
// them, weighed and taken back, and one is drawn by weight, the tag that they had and its seats
// being one of them. The proposal is the weight as it would be if no event opened a table, for all
// tags at once; it is right within a fraction of a nat for rare words. For frequent words it is
// drawn nearer to uniform, because their errors add up. Any proposal leaves the
// posterior as it is; a better one needs fewer trials.
//
// What a trial drew is not kept: the one that wins is made again from where its random numbers began.
#pragma once

#include "hiddenite/base/flat_map.hpp"
#include "hiddenite/induce/samplers.hpp"

namespace hiddenite::induce {

class OneTagTrials {
 public:
  OneTagTrials(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics)
      : state_(state), options_(options), random_(random), statistics_(statistics),
        scores_(state.transitions.stride()) {}

  // The tokens of the word leave; they have one tag. Forgets earlier trials.
  void leave(std::uint32_t word);

  // Makes the proposal; `log_prior`: what else depends on the tag, or nothing.
  void propose(const WordBase& base, std::span<const double> log_prior);

  // The first trial repeats what was there. The weight may be multiplied by what else depends on the tag.
  struct Trial {
    Tag tag;
    bool retained;
    Random random;  // from where its seats were drawn
    LogWeight weight;
  };
  Trial& try_next(const WordBase& base);

  // A trial by its weight.
  std::size_t draw();
  // The tokens come back as the trial had them.
  void settle(std::size_t trial, const WordBase& base);

 private:
  void gather_events();
  void add_kind(std::uint32_t event, std::uint64_t code);
  void leave_words();
  void score_events();
  void score_several_marks(std::size_t kind, std::span<const std::size_t> marks);
  std::uint32_t count_in_context(std::size_t kind);
  void run(Trial& trial, Random& random, const WordBase& base);
  void emit(Trial& trial, Random& random, const WordBase& base);
  void take_back(Tag tag);
  const Tag* event(std::size_t kind) const { return windows_.data() + (kind + 1) * state_.order() - 1; }

  TaggingState& state_;
  const MoveOptions& options_;
  Random& random_;
  SweepStatistics& statistics_;
  WorkMeter meter_;

  std::uint32_t word_ = 0;
  Tag left_tag_ = 0;
  FlatMap kinds_;                                   // by code: the tags as digits, the symbol last
  std::vector<std::uint64_t> codes_;                // of each kind
  std::vector<std::uint32_t> num_events_;           // of each kind
  std::vector<Tag> windows_;                        // of each kind, `order` tags
  std::vector<std::size_t> marks_;                  // where the word stands in them
  Trail left_events_, left_words_, left_spelling_;  // for replay

  TagScores scores_;
  FlatMap contexts_;                     // by code
  std::vector<std::uint32_t> in_context_;
  std::vector<double> log_proposal_, proposal_;
  std::vector<Trial> trials_;
  std::vector<double> weights_;

  // Of the trial that is under way.
  std::vector<TagTransitions::Arrivals> arrivals_;
  std::uint32_t tables_ = 0;
  Trail spelling_;  // for undo
};

}  // namespace hiddenite::induce
