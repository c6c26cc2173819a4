#include "hiddenite/induce/particles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hiddenite::induce {

std::size_t draw_by_weight(std::span<double> log_weights, std::size_t num_tokens, Random& random,
                           SweepStatistics& statistics) {
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  double total = 0.0, squares = 0.0;
  for (double& weight : log_weights) {
    weight = std::exp(weight - largest);
    total += weight;
    squares += weight * weight;
  }
  const auto bin = static_cast<std::size_t>(std::bit_width(num_tokens));
  statistics.ess[bin] += total * total / squares;
  ++statistics.blocks[bin];
  return draw_index(log_weights.data(), log_weights.size(), total, random);
}

void BlockParticles::leave(std::span<const std::uint32_t> tokens) {
  tokens_.assign(tokens.begin(), tokens.end());
  last_.clear();
  old_tags_.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::uint32_t last = state_.last_event(tokens[i]);
    if (i + 1 < tokens.size()) last = std::min(last, tokens[i + 1] - 1);
    last_.push_back(last);
    old_tags_.push_back(state_.tag(tokens[i]));
  }
  left_trail_.clear();
  for (std::size_t i = tokens.size(); i-- > 0;) state_.leave(tokens[i], last_[i], random_, left_trail_);
}

void BlockParticles::begin(std::size_t num_particles) {
  num_particles_ = num_particles;
  if (particles_.size() < num_particles) particles_.resize(num_particles);
  for (std::size_t p = 0; p < num_particles; ++p) {
    particles_[p].tags.clear();
    particles_[p].trail.clear();
    particles_[p].weight = {};
  }
}

void BlockParticles::run(Particle& particle, std::span<const Tag> tags, bool retained, const WordBase& base) {
  const bool repeat_tags = retained && !options_.fault.is(Fault::NO_RETAINED);
  const bool repeat_seats = repeat_tags && !options_.fault.is(Fault::REDRAWN_SEATS);
  if (repeat_seats) scratch_ = left_trail_;
  double scores[TagSet::CAPACITY];
  const std::size_t num_choices = tags.empty() ? state_.num_tags() : tags.size();
  state_.transitions.hold_mirrors(!tags.empty());  // few tags are scored one by one, and all is taken back
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    meter_.add(WORK_OF_TOKEN);
    std::size_t choice = 0;
    if (num_choices > 1) {
      const double total = score(tokens_[i], last_[i], tags, base, scores);
      if (!repeat_tags) {
        choice = draw_index(scores, num_choices, total, random_);
      } else if (tags.empty()) {
        choice = old_tags_[i];
      } else {
        choice = static_cast<std::size_t>(std::find(tags.begin(), tags.end(), old_tags_[i]) - tags.begin());
      }
      particle.weight.multiply(total / scores[choice]);
    }
    if (options_.fault.is(Fault::SHARED_EVENTS)) count_again(tokens_[i], last_[i], particle.weight);
    const Tag tag = tags.empty() ? static_cast<Tag>(choice) : tags[choice];
    state_.set_tag(tokens_[i], tag);
    particle.tags.push_back(tag);
    if (repeat_seats) {
      state_.replay(tokens_[i], last_[i], base, scratch_, particle.weight);
    } else {
      state_.seat(tokens_[i], last_[i], base, random_, particle.trail, particle.weight);
    }
  }
  take_back(particle, repeat_seats);
  state_.transitions.hold_mirrors(false);
}

// The trail of the tokens that left is one for replay, that of a new seating one for undo; either turns into the other.
void BlockParticles::take_back(Particle& particle, bool retained) {
  if (retained) {
    scratch_.assign(left_trail_.rbegin(), left_trail_.rend());
    particle.trail = left_trail_;
  } else {
    scratch_ = particle.trail;
    std::reverse(particle.trail.begin(), particle.trail.end());
  }
  for (std::size_t i = tokens_.size(); i-- > 0;) state_.undo(tokens_[i], last_[i], scratch_);
}

void BlockParticles::count_again(std::uint32_t token, std::uint32_t last, LogWeight& weight) {
  for (std::uint32_t event = last + 1; event <= state_.last_event(token); ++event) {
    weight.multiply(state_.transitions.predict(state_.at(event)));
  }
}

double BlockParticles::score(std::uint32_t token, std::uint32_t last, std::span<const Tag> tags, const WordBase& base,
                             double* scores) {
  double total = 0.0;
  if (tags.empty()) {
    state_.score_all(token, last, base, scores);
    for (unsigned t = 0; t < state_.num_tags(); ++t) total += scores[t];
    return total;
  }
  if (score_words(state_.word(token), tags, base, scores, total)) return total;
  total = 0.0;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    total += scores[i] *= state_.score_events(token, last, tags[i]);
  }
  return total;
}

// By the word alone. Whether one tag emits it so much more often than all others that the events cannot matter.
bool BlockParticles::score_words(std::uint32_t word, std::span<const Tag> tags, const WordBase& base, double* scores,
                                 double& total) const {
  double largest = 0.0;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    total += scores[i] = state_.emission(word, tags[i], base);
    largest = std::max(largest, scores[i]);
  }
  return total - largest <= options_.negligible * largest;
}

bool BlockParticles::is_settled(std::span<const Tag> tags, const WordBase& base) const {
  double scores[TagSet::CAPACITY], total = 0.0;
  return !tags.empty() && score_words(state_.word(tokens_[0]), tags, base, scores, total);
}

std::size_t BlockParticles::draw(std::uint32_t word) {
  weights_.clear();
  for (std::size_t p = 0; p < num_particles_; ++p) weights_.push_back(particles_[p].weight.log());
  return draw_by_weight(weights_, state_.tokens_of(word).size(), random_, statistics_);
}

void BlockParticles::settle(Particle& particle) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    state_.set_tag(tokens_[i], particle.tags[i]);
    state_.redo(tokens_[i], last_[i], particle.trail);
  }
}

}  // namespace hiddenite::induce
