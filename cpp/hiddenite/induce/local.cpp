#include <cmath>

#include "hiddenite/induce/samplers.hpp"

namespace hiddenite::induce {

namespace {

// The tokens of words with several tags, one at a time. Most of them keep their tag, because the others would have to
// spell the word; so whether it stays is decided first, by a bound that needs nobody to leave, and only if that leaves
// it open the token leaves and all tags are scored. It is the same law as if they always were: the old tag
// has the share [0, s(old) / total) of the unit interval, and the bound is never above it, however the
// seats of the token are drawn that leave. A token that keeps its tag keeps its seats.
//
// Words follow each other, so that a word's base is found once, and again only after a table was opened or closed.
class ClassTokens {
 public:
  ClassTokens(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics)
      : state_(state), options_(options), random_(random), statistics_(statistics) {}

  void move_all(std::uint32_t word) {
    word_ = word;
    tags_ = state_.lexicon->of(word);
    if (tags_.size() < 2) return;
    state_.fill_base(word, false, tags_, base_);
    for (const std::uint32_t position : state_.tokens_of(word)) {
      meter_.add(WORK_OF_TOKEN / 8);
      ++statistics_.proposals;
      const double u = random_.uniform();
      statistics_.accepted += u < least_share(position) || move(position, u);
    }
  }

 private:
  // At most the probability that the token's tag is drawn again.
  double least_share(std::uint32_t position) const {
    const Tag tag = state_.tag(position);
    const TagEmissions& emissions = state_.emissions;
    const Seats seats = emissions.seats(word_, tag);
    double own = (seats.customers - 1 - emissions.discount() * seats.tables) * emissions.share()[tag], others = 0.0;
    if (own <= 0.0) return 0.0;
    tags_.for_each([&](Tag t) {
      if (t != tag) others += state_.emission(word_, t, base_);
    });
    for (std::uint32_t event = position; event <= state_.last_event(position); ++event) {
      if (options_.fault.is(Fault::LOOSE_BOUND)) break;
      own *= state_.transitions.predict_at_least(state_.at(event), state_.order());
    }
    own *= 1.0 - ROUNDING;
    return own / (own + others);
  }

  // Whether the token gets the tag that is drawn.
  bool move(std::uint32_t position, double u) {
    meter_.add(WORK_OF_TOKEN);
    const Tag old_tag = state_.tag(position);
    const std::uint32_t last = state_.last_event(position);
    left_trail_.clear();
    LogWeight old_weight;
    const LeftWord left = state_.leave(position, last, random_, left_trail_, old_weight);
    if (left.opened) state_.fill_base(word_, false, tags_, base_);
    const Tag tag = draw(position, last, old_tag, u);
    bool accepted = true, changed = left.opened;
    if (tag != old_tag) {
      state_.weigh(left, base_, old_weight);
      accepted = try_tag(position, last, tag, old_weight.log() + std::log(scores_[tag] / scores_[old_tag]), changed);
    }
    if (tag == old_tag || !accepted) {
      state_.set_tag(position, old_tag);
      state_.redo(position, last, left_trail_);
    }
    if (changed) state_.fill_base(word_, false, tags_, base_);
    return accepted;
  }

  Tag draw(std::uint32_t position, std::uint32_t last, Tag old_tag, double u) {
    double total = 0.0;
    tags_.for_each([&](Tag t) { total += scores_[t] = state_.score_one(position, last, base_, t); });
    double left = u * total - scores_[old_tag];
    if (left < 0.0) return old_tag;
    Tag drawn = old_tag;
    tags_.for_each([&](Tag t) {
      if (t == old_tag || scores_[t] <= 0.0 || (drawn != old_tag && left < 0.0)) return;
      drawn = t;
      left -= scores_[t];
    });
    return drawn;
  }

  // The Metropolis–Hastings step. `changed`: a table of the word was opened or closed.
  bool try_tag(std::uint32_t position, std::uint32_t last, Tag tag, double log_old, bool& changed) {
    trail_.clear();
    LogWeight weight;
    state_.set_tag(position, tag);
    state_.seat(position, last, base_, random_, trail_, weight);
    const double log_ratio = weight.log() - log_old;
    const bool accepted =
        log_ratio >= 0.0 || random_.uniform() < std::exp(log_ratio) || options_.fault.is(Fault::NO_CORRECTION);
    if (!accepted) state_.undo(position, last, trail_);
    if (accepted && trail_.back() != 0) changed = true;
    return accepted;
  }

  static constexpr double ROUNDING = 1e-4;  // the shares and rests of restaurants are floats

  TaggingState& state_;
  const MoveOptions& options_;
  Random& random_;
  SweepStatistics& statistics_;
  WorkMeter meter_;

  std::uint32_t word_ = 0;
  TagSet tags_;
  WordBase base_;
  double scores_[TagSet::CAPACITY];
  Trail left_trail_, trail_;
};

// All tags are possible.
void sweep_free_tokens(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics) {
  Trail left_trail, trail;
  WordBase base;
  double scores[TagSet::CAPACITY];
  if (!state.spelled()) state.fill_base(0, false, base);
  WorkMeter meter;
  for (const std::uint32_t position : state.positions()) {
    meter.add(WORK_OF_TOKEN);
    const std::uint32_t last = state.last_event(position);
    const Tag old_tag = state.tag(position);
    LogWeight old_weight, weight;
    left_trail.clear();
    trail.clear();
    const LeftWord left = state.leave(position, last, random, left_trail, old_weight);
    if (state.spelled()) state.fill_base(state.word(position), false, base);
    state.weigh(left, base, old_weight);
    state.score_all(position, last, base, scores);
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
    state.redo(position, last, left_trail);
  }
}

}  // namespace

void sweep_local(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics) {
  if (!state.lexicon) {
    sweep_free_tokens(state, options, random, statistics);
    return;
  }
  ClassTokens tokens(state, options, random, statistics);
  for (std::uint32_t word = 0; word < state.num_types(); ++word) tokens.move_all(word);
}

}  // namespace hiddenite::induce
