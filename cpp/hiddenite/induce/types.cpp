#include <algorithm>

#include "hiddenite/induce/one_tag.hpp"
#include "hiddenite/induce/particles.hpp"

namespace hiddenite::induce {

void move_tokens(BlockParticles& particles, TaggingState& state, const MoveOptions& options, Random& random,
                 std::uint32_t word, std::span<const Tag> tags, double share) {
  WordBase base;
  const auto tokens = state.tokens_of(word);
  const bool whole = options.chunk == 0 || tokens.size() <= options.chunk;
  std::size_t begin = 0, end = whole ? tokens.size() : 1 + random.below(options.chunk);
  for (; begin < tokens.size(); begin = end, end = std::min<std::size_t>(tokens.size(), end + options.chunk)) {
    if (share < 1.0 && random.uniform() >= share) continue;
    particles.leave(tokens.subspan(begin, end - begin));
    if (tags.empty()) {
      state.fill_base(word, false, base);
    } else {
      state.fill_base(word, false, state.lexicon->of(word), base);
    }
    particles.begin(particles.is_settled(tags, base) ? 2 : std::max(2u, options.particles));
    for (std::size_t p = 0; p < particles.size(); ++p) particles.run(particles[p], tags, p == 0, base);
    particles.settle(particles[particles.draw(word)]);
  }
}

void sweep_types(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics) {
  BlockParticles particles(state, options, random, statistics);
  std::vector<Tag> tags;  // of the word's class; empty: all
  for (std::uint32_t word = 0; word < state.num_types(); ++word) {
    tags.clear();
    if (state.lexicon) state.lexicon->of(word).for_each([&](Tag t) { tags.push_back(t); });
    move_tokens(particles, state, options, random, word, tags, 1.0);
  }
}

void sweep_one_tag(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics) {
  OneTagTrials trials(state, options, random, statistics);
  WordBase base;
  for (std::uint32_t word = 0; word < state.num_types(); ++word) {
    trials.leave(word);
    state.fill_base(word, false, base);
    trials.propose(base, {});
    for (unsigned i = 0; i <= std::max(1u, options.one_tag_trials); ++i) trials.try_next(base);
    trials.settle(trials.draw(), base);
  }
}

}  // namespace hiddenite::induce
