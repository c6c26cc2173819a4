// Particle Gibbs over a block of tokens of one type.
//
// The block leaves; particles try it one after the other on the same seats, each
// taken back before the next; one is drawn by its weight and brought back. A particle's
// weight is target over proposal: for each token the sum of the scores it was drawn from,
// times what was met on the way over its score. The retained particle repeats tags and
// seats of before, which makes the move leave the posterior as it is (Andrieu et al. 2010).
#pragma once

#include "hiddenite/induce/samplers.hpp"

namespace hiddenite::induce {

struct Particle {
  std::vector<Tag> tags;
  Trail trail;  // for replay
  LogWeight weight;
};

class BlockParticles {
 public:
  BlockParticles(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics)
      : state_(state), options_(options), random_(random), statistics_(statistics) {}

  // The tokens leave, in reverse order.
  void leave(std::span<const std::uint32_t> tokens);
  void begin(std::size_t num_particles);
  // Whether the tokens that stayed leave no doubt about the tag of those that left. It does not depend on these, so the
  // number of particles may depend on it.
  bool is_settled(std::span<const Tag> tags, const WordBase& base) const;
  std::size_t size() const { return num_particles_; }
  Particle& operator[](std::size_t p) { return particles_[p]; }

  // Tags and seats, drawn token by token from `tags` (empty: all) or, for the retained particle, repeated.
  void run(Particle& particle, std::span<const Tag> tags, bool retained, const WordBase& base);

  // A particle by its weight.
  std::size_t draw(std::uint32_t word);
  // The tokens come back as the particle has them.
  void settle(Particle& particle);

 private:
  void take_back(Particle& particle, bool retained);
  void count_again(std::uint32_t token, std::uint32_t last, LogWeight& weight);
  double score(std::uint32_t token, std::uint32_t last, std::span<const Tag> tags, const WordBase& base,
               double* scores);
  bool score_words(std::uint32_t word, std::span<const Tag> tags, const WordBase& base, double* scores,
                   double& total) const;

  TaggingState& state_;
  const MoveOptions& options_;
  Random& random_;
  SweepStatistics& statistics_;
  std::vector<std::uint32_t> tokens_, last_;  // token i brings the events from its own to last_[i]
  std::vector<Tag> old_tags_;
  Trail left_trail_, scratch_;
  std::vector<Particle> particles_;
  std::vector<double> weights_;
  std::size_t num_particles_ = 0;
  WorkMeter meter_;
};

// Moves the word's tokens, in chunks, by particle Gibbs; tags from `tags`, empty: all. Where the first chunk ends is
// drawn, so that the seams move. Each chunk is moved with the probability `share`, by a coin of its own.
void move_tokens(BlockParticles& particles, TaggingState& state, const MoveOptions& options, Random& random,
                 std::uint32_t word, std::span<const Tag> tags, double share);

}  // namespace hiddenite::induce
