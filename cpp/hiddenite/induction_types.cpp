#include <algorithm>
#include <bit>
#include <cmath>

#include "induction_samplers.hpp"

namespace hiddenite {

namespace {

// Tokens that move together; token i brings the events from its own to last[i].
struct Block {
  std::vector<std::uint32_t> tokens, last;
  std::vector<Tag> tags;  // before the move
  std::size_t size() const { return tokens.size(); }
};

void set_block(const TaggingState& state, std::span<const std::uint32_t> tokens, Block& block) {
  block.tokens.assign(tokens.begin(), tokens.end());
  block.last.clear();
  block.tags.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::uint32_t last = state.last_event(tokens[i]);
    if (i + 1 < tokens.size()) last = std::min(last, tokens[i + 1] - 1);
    block.last.push_back(last);
    block.tags.push_back(state.tag(tokens[i]));
  }
}

struct Particle {
  std::vector<Tag> tags;
  Trail trail;
  TagSet set;  // class, for the lexicon
  Tag head = 0;
  LogWeight weight;
};

// The moves of one type; a block is out of the seats between `leave` and `settle`.
class TypeMove {
 public:
  TypeMove(TaggingState& state, const SamplerOptions& options, Random& random, SweepStatistics& statistics)
      : state_(state), options_(options), random_(random), statistics_(statistics) {}

  // Particle Gibbs over these tokens, tags from the word's class if there is a lexicon.
  void move_tokens(std::uint32_t word, std::span<const std::uint32_t> tokens) {
    leave(tokens);
    state_.fill_base(word, false, base_);
    choose_tags(word);
    begin_particles(std::max(2u, options_.particles));
    for (std::size_t p = 0; p < num_particles_; ++p) run(particles_[p], p == 0);
    settle(draw_particle(word));
  }

  // One tag for all tokens: one particle for each of `candidates`, the present one among them.
  void move_one_tag(std::uint32_t word, std::span<const Tag> candidates) {
    const Tag present = state_.tag(state_.tokens_of(word)[0]);
    leave(state_.tokens_of(word));
    if (state_.lexicon) leave_class(word);
    state_.fill_base(word, true, base_);
    begin_particles(candidates.size());
    for (std::size_t p = 0; p < candidates.size(); ++p) {
      Particle& particle = particles_[p];
      particle.tags.assign(block_.size(), candidates[p]);
      if (state_.lexicon) enter_class(word, particle, singleton(candidates[p]), candidates[p] == present);
      run_fixed(particle, candidates[p] == present);
    }
    const std::size_t chosen = draw_particle(word);
    if (state_.lexicon) settle_class(word, particles_[chosen]);
    settle(chosen);
  }

  // Class and all tokens.
  void move_class(std::uint32_t word) {
    const TagSet present = state_.lexicon->of(word);
    leave(state_.tokens_of(word));
    leave_class(word);
    state_.fill_base(word, true, base_);
    begin_particles(std::max(2u, options_.particles));
    const TagSet centre = options_.fault == Fault::CENTRED_CLASSES ? present : neighbour(present);
    for (std::size_t p = 0; p < num_particles_; ++p) {
      enter_class(word, particles_[p], p == 0 ? present : neighbour(centre), p == 0);
      tags_.clear();
      particles_[p].set.for_each([&](Tag t) { tags_.push_back(t); });
      run(particles_[p], p == 0);
    }
    const std::size_t chosen = draw_particle(word);
    settle_class(word, particles_[chosen]);
    settle(chosen);
  }

  // The class given the tokens: each tag that no token has, in or out.
  void move_unused_tags(std::uint32_t word) {
    TagLexicon& lexicon = *state_.lexicon;
    TagSet set = lexicon.of(word);
    lexicon.leave(word, random_);
    const Seats* row = state_.emissions.row(word);
    for (unsigned i = 0; i < state_.num_tags(); ++i) {
      const auto t = static_cast<Tag>(i);
      if (row[t].customers > 0 || (state_.heads() && lexicon.head(word) == t)) continue;
      TagSet other = set;
      other.flip(t);
      const TagSet& with = set.has(t) ? set : other;
      const TagSet& without = set.has(t) ? other : set;
      double odds = lexicon.probability(with) / lexicon.probability(without) * std::exp(log_bases(t));
      if (state_.heads()) odds *= static_cast<double>(without.size()) / with.size();  // p(head | class)
      set = random_.uniform() * (1.0 + odds) < odds ? with : without;
    }
    lexicon.enter(word, set, random_);
  }

  // The head given class and tokens, proposed from the spelling, corrected for the word's own bigrams.
  void move_head(std::uint32_t word) {
    const TagSet set = state_.lexicon->of(word);
    if (set.size() == 1) return;
    Particle& now = scratch_[0];
    Particle& next = scratch_[1];
    now.trail.clear();
    next.trail.clear();
    now.head = state_.lexicon->head(word);
    const double log_now = state_.spelling->unseat(word, now.head, random_, now.trail);
    state_.spelling->spell(word, base_.log_prob);
    next.head = draw_head(set);
    const double log_next = state_.spelling->seat(word, next.head, random_, next.trail);
    const double log_ratio =
        log_next - base_.log_prob[next.head] - log_now + base_.log_prob[now.head];
    if (log_ratio >= 0.0 || random_.uniform() < std::exp(log_ratio)) {
      state_.lexicon->set_head(word, next.head);
      return;
    }
    state_.spelling->undo(word, next.head, next.trail);
    state_.spelling->replay(word, now.head, now.trail);
  }

  // The present tag and others drawn without replacement; all of them if `others` is large.
  std::span<const Tag> draw_candidates(Tag present, unsigned others) {
    candidates_.clear();
    for (unsigned t = 0; t < state_.num_tags(); ++t) candidates_.push_back(static_cast<Tag>(t));
    std::swap(candidates_[0], candidates_[present]);
    const std::size_t n = std::min<std::size_t>(state_.num_tags(), std::size_t{others} + 1);
    for (std::size_t i = 1; i < n; ++i) {
      std::swap(candidates_[i], candidates_[i + random_.below(candidates_.size() - i)]);
    }
    return {candidates_.data(), n};
  }

 private:
  void leave(std::span<const std::uint32_t> tokens) {
    set_block(state_, tokens, block_);
    left_trail_.clear();
    LogWeight unused;
    for (std::size_t i = tokens.size(); i-- > 0;) {
      state_.leave(tokens[i], block_.last[i], random_, left_trail_, unused);
    }
  }

  void begin_particles(std::size_t n) {
    num_particles_ = n;
    if (particles_.size() < n) particles_.resize(n);
    for (std::size_t p = 0; p < n; ++p) {
      particles_[p].tags.clear();
      particles_[p].trail.clear();
      particles_[p].weight = {};
    }
  }

  // The tags a token may have.
  void choose_tags(std::uint32_t word) {
    tags_.clear();
    if (state_.lexicon) state_.lexicon->of(word).for_each([&](Tag t) { tags_.push_back(t); });
  }

  // Tags and seats of all tokens, drawn one by one or, for particle 0, repeated; then all is taken back.
  void run(Particle& particle, bool retained) {
    const bool repeat_tags = retained && options_.fault != Fault::NO_RETAINED;
    const bool repeat_seats = repeat_tags && options_.fault != Fault::REDRAWN_SEATS;
    if (repeat_seats) retained_trail_ = left_trail_;
    double scores[TagSet::CAPACITY];
    for (std::size_t i = 0; i < block_.size(); ++i) {
      const std::uint32_t token = block_.tokens[i], last = block_.last[i];
      std::size_t choice = 0;
      if (tags_.size() != 1) {
        const double total = score(token, last, scores);
        choice = repeat_tags ? index_of(block_.tags[i])
                             : draw_index(scores, tags_.empty() ? state_.num_tags() : tags_.size(), total, random_);
        particle.weight.multiply(total / scores[choice]);
      }
      if (options_.fault == Fault::SHARED_EVENTS) count_again(token, last, particle.weight);
      const Tag tag = tags_.empty() ? static_cast<Tag>(choice) : tags_[choice];
      state_.set_tag(token, tag);
      particle.tags.push_back(tag);
      if (repeat_seats) {
        state_.replay(token, last, base_, retained_trail_, particle.weight);
      } else {
        state_.seat(token, last, base_, random_, particle.trail, particle.weight);
      }
    }
    take_back(particle, repeat_seats);
  }

  void count_again(std::uint32_t token, std::uint32_t last, LogWeight& weight) {
    for (std::uint32_t event = last + 1; event <= state_.last_event(token); ++event) {
      weight.multiply(state_.transitions.predict(state_.at(event)));
    }
  }

  void run_fixed(Particle& particle, bool retained) {
    if (retained) retained_trail_ = left_trail_;
    for (std::size_t i = 0; i < block_.size(); ++i) {
      state_.set_tag(block_.tokens[i], particle.tags[i]);
    }
    for (std::size_t i = 0; i < block_.size(); ++i) {
      if (retained) {
        state_.replay(block_.tokens[i], block_.last[i], base_, retained_trail_, particle.weight);
      } else {
        state_.seat(block_.tokens[i], block_.last[i], base_, random_, particle.trail, particle.weight);
      }
    }
    take_back(particle, retained);
  }

  // Undo pops a trail in the order in which seating pushed it; that of the tokens that left is the other
  // way round. `settle` wants to replay: the particle's trail is turned.
  void take_back(Particle& particle, bool retained) {
    retained_trail_ = retained ? left_trail_ : particle.trail;
    if (retained) std::reverse(retained_trail_.begin(), retained_trail_.end());
    for (std::size_t i = block_.size(); i-- > 0;) {
      state_.undo(block_.tokens[i], block_.last[i], retained_trail_);
    }
    if (retained) {
      particle.trail = left_trail_;
    } else {
      std::reverse(particle.trail.begin(), particle.trail.end());
    }
  }

  // The tokens come back as the chosen particle has them.
  void settle(std::size_t chosen) {
    Particle& particle = particles_[chosen];
    LogWeight unused;
    for (std::size_t i = 0; i < block_.size(); ++i) {
      state_.set_tag(block_.tokens[i], particle.tags[i]);
      state_.replay(block_.tokens[i], block_.last[i], base_, particle.trail, unused);
    }
  }

  std::size_t draw_particle(std::uint32_t word) {
    weights_.resize(num_particles_);
    double largest = LOG_ZERO_WEIGHT;
    for (std::size_t p = 0; p < num_particles_; ++p) {
      largest = std::max(largest, weights_[p] = particles_[p].weight.log());
    }
    double total = 0.0, squares = 0.0;
    for (double& weight : weights_) {
      weight = std::exp(weight - largest);
      total += weight;
      squares += weight * weight;
    }
    const auto bin = static_cast<std::size_t>(std::bit_width(state_.tokens_of(word).size()));
    statistics_.ess[bin] += total * total / squares;
    ++statistics_.blocks[bin];
    return draw_index(weights_.data(), num_particles_, total, random_);
  }

  double score(std::uint32_t token, std::uint32_t last, double* scores) {
    double total = 0.0;
    if (tags_.empty()) {
      state_.score_all(token, last, base_, scores);
      for (unsigned t = 0; t < state_.num_tags(); ++t) total += scores[t];
    } else {
      for (std::size_t i = 0; i < tags_.size(); ++i) {
        total += scores[i] = state_.score_one(token, last, base_, tags_[i]);
      }
    }
    return total;
  }
  std::size_t index_of(Tag tag) const {
    if (tags_.empty()) return tag;
    return static_cast<std::size_t>(std::find(tags_.begin(), tags_.end(), tag) - tags_.begin());
  }

  // --- classes ---

  // A tag more or less, or none: the same probability there and back.
  TagSet neighbour(TagSet set) {
    const std::uint64_t i = random_.below(state_.num_tags() + 1);
    if (i == state_.num_tags()) return set;
    set.flip(static_cast<Tag>(i));
    if (set.size() == 0) set.flip(static_cast<Tag>(i));
    return set;
  }

  // ln of the factor by which the tables of the other words in E_t weigh more, if the word has t too:
  // [(e + 1) / e]^-tables, e without the word.
  double log_bases(Tag t) const {
    if (state_.spelled()) return 0.0;
    const auto types = static_cast<double>(state_.lexicon->num_types_with(t));
    const double tables = state_.emissions.total(t).tables;
    if (tables == 0.0) return 0.0;
    const double factor = -tables * std::log1p(1.0 / types);
    return options_.fault == Fault::WRONG_CLASS_SIGN ? -factor : factor;
  }

  void leave_class(std::uint32_t word) {
    state_.lexicon->leave(word, random_);
    if (!state_.heads()) return;
    head_trail_.clear();
    present_head_ = state_.lexicon->head(word);
    state_.spelling->unseat(word, present_head_, random_, head_trail_);
    state_.spelling->spell(word, base_.log_prob);
  }

  Tag draw_head(const TagSet& set) {
    double weights[TagSet::CAPACITY];
    Tag members[TagSet::CAPACITY];
    std::size_t n = 0;
    double largest = LOG_ZERO_WEIGHT, total = 0.0;
    set.for_each([&](Tag t) { largest = std::max(largest, base_.log_prob[t]); });
    set.for_each([&](Tag t) {
      members[n] = t;
      total += weights[n++] = std::exp(base_.log_prob[t] - largest);
    });
    return members[draw_index(weights, n, total, random_)];
  }

  // Gives the particle a class, and weighs it; with heads also a head, spelled and taken back.
  void enter_class(std::uint32_t word, Particle& particle, const TagSet& set, bool retained) {
    particle.set = set;
    particle.weight.add_log(std::log(state_.lexicon->probability(set)));
    set.for_each([&](Tag t) { particle.weight.add_log(log_bases(t)); });
    if (!state_.heads()) return;
    double largest = LOG_ZERO_WEIGHT, total = 0.0;
    set.for_each([&](Tag t) { largest = std::max(largest, base_.log_prob[t]); });
    set.for_each([&](Tag t) { total += std::exp(base_.log_prob[t] - largest); });
    particle.weight.add_log(std::log(total / set.size()) + largest);
    Trail& trail = retained ? (scratch_[0].trail = head_trail_) : scratch_[0].trail;
    particle.head = retained ? present_head_ : draw_head(set);
    if (!retained) trail.clear();
    const double log_spelled = retained ? state_.spelling->replay(word, particle.head, trail)
                                        : state_.spelling->seat(word, particle.head, random_, trail);
    particle.weight.add_log(log_spelled - base_.log_prob[particle.head]);
    particle_head_trail(particle, trail, retained);
    state_.spelling->undo(word, particle.head, trail);
  }

  // Keeps the head's trail for `settle_class` (turned for replay), leaves `trail` ready for undo.
  void particle_head_trail(const Particle& particle, Trail& trail, bool retained) {
    const auto p = static_cast<std::size_t>(&particle - particles_.data());
    if (head_trails_.size() <= p) head_trails_.resize(p + 1);
    if (retained) trail.assign(head_trail_.rbegin(), head_trail_.rend());
    head_trails_[p].assign(trail.rbegin(), trail.rend());
  }

  void settle_class(std::uint32_t word, const Particle& particle) {
    state_.lexicon->enter(word, particle.set, random_);
    if (!state_.heads()) return;
    state_.lexicon->set_head(word, particle.head);
    state_.spelling->replay(word, particle.head, head_trails_[static_cast<std::size_t>(&particle - particles_.data())]);
  }

  static constexpr double LOG_ZERO_WEIGHT = -1e300;

  TaggingState& state_;
  const SamplerOptions& options_;
  Random& random_;
  SweepStatistics& statistics_;
  Block block_;
  Trail left_trail_, retained_trail_, head_trail_;
  std::vector<Trail> head_trails_;
  WordBase base_;
  std::vector<Tag> tags_, candidates_;  // tags_: those a token may have; empty means all
  std::vector<Particle> particles_;
  std::array<Particle, 2> scratch_;
  std::size_t num_particles_ = 0;
  std::vector<double> weights_;
  Tag present_head_ = 0;
};

// The tokens in chunks; where the first one ends is drawn, so that the seams move.
template <class Move>
void for_chunks(std::span<const std::uint32_t> tokens, unsigned chunk, Random& random, Move move) {
  if (chunk == 0 || tokens.size() <= chunk) {
    move(tokens);
    return;
  }
  std::size_t begin = 0, end = 1 + random.below(chunk);
  while (begin < tokens.size()) {
    move(tokens.subspan(begin, end - begin));
    begin = end;
    end = std::min(tokens.size(), end + chunk);
  }
}

}  // namespace

void sweep_types(TaggingState& state, const SamplerOptions& options, Random& random, SweepStatistics& statistics) {
  TypeMove move(state, options, random, statistics);
  for (std::uint32_t word = 0; word < state.num_types(); ++word) {
    for_chunks(state.tokens_of(word), options.chunk, random,
               [&](std::span<const std::uint32_t> tokens) { move.move_tokens(word, tokens); });
  }
}

void sweep_one_tag(TaggingState& state, const SamplerOptions& options, Random& random, SweepStatistics& statistics) {
  TypeMove move(state, options, random, statistics);
  state.transitions.set_mirrored(false);
  for (std::uint32_t word = 0; word < state.num_types(); ++word) {
    const Tag present = state.tag(state.tokens_of(word)[0]);
    move.move_one_tag(word, move.draw_candidates(present, state.num_tags()));
  }
  state.transitions.set_mirrored(true);
}

void sweep_classes(TaggingState& state, const SamplerOptions& options, Random& random, SweepStatistics& statistics) {
  TypeMove move(state, options, random, statistics);
  for (std::uint32_t word = 0; word < state.num_types(); ++word) {
    move.move_unused_tags(word);
    if (state.heads()) move.move_head(word);
  }
}

void sweep_lexicon(TaggingState& state, const SamplerOptions& options, Random& random, SweepStatistics& statistics) {
  TypeMove move(state, options, random, statistics);
  state.transitions.set_mirrored(false);  // classes are small: their tags are scored one by one
  for (std::uint32_t word = 0; word < state.num_types(); ++word) {
    const auto tokens = state.tokens_of(word);
    if (options.chunk == 0 || tokens.size() <= options.chunk) {
      move.move_class(word);
    } else if (state.lexicon->of(word).size() > 1) {
      for_chunks(tokens, options.chunk, random,
                 [&](std::span<const std::uint32_t> part) { move.move_tokens(word, part); });
    }
    if (state.lexicon->of(word).size() == 1 && options.singleton_tags > 0) {
      // Rare types try all tags, which costs little and is where most types are; frequent ones a few a sweep.
      const auto affordable = static_cast<unsigned>(options.singleton_tokens / tokens.size());
      const unsigned others = std::max(options.singleton_tags, affordable);
      move.move_one_tag(word, move.draw_candidates(state.tag(tokens[0]), others));
    }
    move.move_unused_tags(word);
    if (state.heads()) move.move_head(word);
  }
  state.transitions.set_mirrored(true);
}

}  // namespace hiddenite
