#include <cmath>

#include "hiddenite/induce/samplers.hpp"

namespace hiddenite::induce {

namespace {

// Scores of the tags that the token may have; the others are zero.
void score(TaggingState& state, std::uint32_t position, std::uint32_t last, const WordBase& base, double* scores) {
  if (!state.lexicon) {
    state.score_all(position, last, base, scores);
    return;
  }
  std::fill(scores, scores + state.num_tags(), 0.0);
  state.lexicon->of(state.word(position)).for_each([&](Tag t) {
    scores[t] = state.score_one(position, last, base, t);
  });
}

}  // namespace

void sweep_local(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics) {
  Trail left_trail, trail;
  WordBase base;
  double scores[TagSet::CAPACITY];
  const bool fixed_base = !state.lexicon && !state.spelled();
  if (fixed_base) state.fill_base(0, false, base);
  WorkMeter meter;
  for (const std::uint32_t position : state.positions()) {
    meter.add(WORK_OF_TOKEN);
    const std::uint32_t word = state.word(position), last = state.last_event(position);
    if (state.lexicon && state.lexicon->of(word).size() == 1) continue;
    const Tag old_tag = state.tag(position);
    LogWeight old_weight, weight;
    left_trail.clear();
    trail.clear();
    const LeftWord left = state.leave(position, last, random, left_trail, old_weight);
    if (!fixed_base) state.fill_base(word, false, base);
    state.weigh(left, base, old_weight);
    score(state, position, last, base, scores);
    double total = 0.0;
    for (unsigned t = 0; t < state.num_tags(); ++t) total += scores[t];
    const auto tag = static_cast<Tag>(draw_index(scores, state.num_tags(), total, random));
    state.set_tag(position, tag);
    state.seat(position, last, base, random, trail, weight);
    ++statistics.proposals;
    const double log_ratio = weight.log() - old_weight.log() + std::log(scores[old_tag] / scores[tag]);
    if (log_ratio >= 0.0 || random.uniform() < std::exp(log_ratio) || options.fault.is(Fault::NO_CORRECTION)) {
      ++statistics.accepted;
      continue;
    }
    state.undo(position, last, trail);
    state.set_tag(position, old_tag);
    LogWeight unused;
    state.replay(position, last, base, left_trail, unused);
  }
}

}  // namespace hiddenite::induce
