#include <algorithm>
#include <cmath>
#include <limits>

#include "hiddenite/induce/one_tag.hpp"
#include "hiddenite/induce/particles.hpp"

namespace hiddenite::induce {

namespace {

// A class that a particle tries, with its head.
struct ClassChoice {
  TagSet set;
  Tag head = 0;
  Trail head_trail;  // for replay
};

// The moves of a type's class: alone, or with all tokens.
class ClassMove {
 public:
  ClassMove(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics)
      : state_(state), lexicon_(*state.lexicon), options_(options), random_(random),
        particles_(state, options, random, statistics), trials_(state, options, random, statistics) {
    for (unsigned t = 0; t < state.num_tags(); ++t) every_tag_.flip(static_cast<Tag>(t));
  }

  // Class and tokens together: particles around a hidden centre, which is a neighbour of the present class as
  // likely as the other way round; so the proposals cancel.
  void move_class(std::uint32_t word) {
    const TagSet present = lexicon_.of(word);
    particles_.leave(state_.tokens_of(word));
    particles_.begin(std::max(2u, options_.particles));
    resize_choices(particles_.size());
    begin(word, choose_around(present));
    for (std::size_t p = 0; p < particles_.size(); ++p) {
      enter(word, p, p == 0, particles_[p].weight);
      tags_.clear();
      choices_[p].set.for_each([&](Tag t) { tags_.push_back(t); });
      particles_.run(particles_[p], tags_, p == 0, base_);
    }
    const std::size_t chosen = particles_.draw(word);
    settle(word, chosen);
    particles_.settle(particles_[chosen]);
  }

  // A class of one tag for another, with all tokens.
  void move_singleton(std::uint32_t word) {
    trials_.leave(word);
    resize_choices(options_.one_tag_trials + 1);
    begin(word, every_tag_);
    log_priors_.clear();
    for (unsigned t = 0; t < state_.num_tags(); ++t) log_priors_.push_back(log_singleton(static_cast<Tag>(t)));
    trials_.propose(base_, log_priors_);
    for (std::size_t p = 0; p <= options_.one_tag_trials; ++p) {
      OneTagTrials::Trial& trial = trials_.try_next(base_);
      choices_[p].set = singleton(trial.tag);
      enter(word, p, p == 0, trial.weight);
    }
    const std::size_t chosen = trials_.draw();
    settle(word, chosen);
    trials_.settle(chosen, base_);
  }

  // The tokens given the class, some chunks of them.
  void move_tokens(std::uint32_t word) {
    tags_.clear();
    lexicon_.of(word).for_each([&](Tag t) { tags_.push_back(t); });
    induce::move_tokens(particles_, state_, options_, random_, word, tags_, options_.chunk_share);
  }

  // The class given the tokens: each tag that no token has, in or out.
  void move_unused_tags(std::uint32_t word) {
    TagSet set = lexicon_.of(word);
    lexicon_.leave(word, random_);
    const Seats* row = state_.emissions.row(word);
    double present = lexicon_.probability(set);
    for (unsigned i = 0; i < state_.num_tags(); ++i) {
      const auto t = static_cast<Tag>(i);
      if (row[t].customers > 0 || (state_.heads() && lexicon_.head(word) == t)) continue;
      TagSet other = set;
      other.flip(t);
      const bool has = set.has(t);
      const double changed = lexicon_.probability(other);
      const TagSet& with = has ? set : other;
      const TagSet& without = has ? other : set;
      double odds = has ? present / changed : changed / present;
      if (!state_.spelled()) odds *= std::exp(log_bases(t));
      if (state_.heads()) odds *= static_cast<double>(without.size()) / with.size();  // p(head | class)
      if ((random_.uniform() * (1.0 + odds) < odds) == has) continue;
      set = other;
      present = changed;
    }
    lexicon_.enter(word, set, random_);
  }

  // The head given class and tokens, proposed from the spelling, corrected for the word's own bigrams.
  void move_head(std::uint32_t word) {
    const TagSet set = lexicon_.of(word);
    if (set.size() == 1) return;
    const Tag present = lexicon_.head(word);
    Trail left, trail;
    const double log_present = state_.spelling->unseat(word, present, random_, left);
    state_.spelling->spell(word, base_.log_prob);
    const Tag head = draw_head(set);
    const double log_next = state_.spelling->seat(word, head, random_, trail);
    const double log_ratio = log_next - base_.log_prob[head] - log_present + base_.log_prob[present];
    if (log_ratio >= 0.0 || random_.uniform() < std::exp(log_ratio)) {
      lexicon_.set_head(word, head);
      return;
    }
    state_.spelling->undo(word, head, trail);
    state_.spelling->replay(word, present, left);
  }

 private:
  void resize_choices(std::size_t num_particles) {
    if (choices_.size() < num_particles) choices_.resize(num_particles);
  }

  // The particles' classes, the present one first; all tags that occur in them.
  TagSet choose_around(const TagSet& present) {
    const TagSet centre = options_.fault.is(Fault::CENTRED_CLASSES) ? present : neighbour(present);
    choices_[0].set = present;
    TagSet all = present;
    for (std::size_t p = 1; p < particles_.size(); ++p) {
      choices_[p].set = neighbour(centre);
      choices_[p].set.for_each([&](Tag t) {
        if (!all.has(t)) all.flip(t);
      });
    }
    return all;
  }

  // The tokens have left, the class leaves. The base is that of the tags that will be asked for.
  void begin(std::uint32_t word, const TagSet& tags) {
    lexicon_.leave(word, random_);
    if (state_.heads()) {
      left_head_.clear();
      state_.spelling->unseat(word, lexicon_.head(word), random_, left_head_);
      state_.spelling->spell(word, base_.log_prob);
    }
    state_.fill_base(word, true, tags, base_);
  }

  // Weighs a particle's class.
  void enter(std::uint32_t word, std::size_t p, bool retained, LogWeight& weight) {
    const TagSet& set = choices_[p].set;
    weight.add_log(std::log(lexicon_.probability(set)));
    set.for_each([&](Tag t) { weight.add_log(log_bases(t)); });
    if (state_.heads()) try_head(word, p, retained, weight);
  }

  // A head for the particle's class, drawn from the spelling; it is spelled, weighed and taken back.
  void try_head(std::uint32_t word, std::size_t p, bool retained, LogWeight& weight) {
    ClassChoice& choice = choices_[p];
    double largest = -std::numeric_limits<double>::infinity(), total = 0.0;
    choice.set.for_each([&](Tag t) { largest = std::max(largest, base_.log_prob[t]); });
    choice.set.for_each([&](Tag t) { total += std::exp(base_.log_prob[t] - largest); });
    weight.add_log(std::log(total / choice.set.size()) + largest);
    choice.head = retained ? lexicon_.head(word) : draw_head(choice.set);
    Trail trail = retained ? left_head_ : Trail{};
    const double log_spelled = retained ? state_.spelling->replay(word, choice.head, trail)
                                        : state_.spelling->seat(word, choice.head, random_, trail);
    weight.add_log(log_spelled - base_.log_prob[choice.head]);
    if (retained) trail.assign(left_head_.rbegin(), left_head_.rend());
    choice.head_trail.assign(trail.rbegin(), trail.rend());
    state_.spelling->undo(word, choice.head, trail);
  }

  // The class comes back.
  void settle(std::uint32_t word, std::size_t chosen) {
    lexicon_.enter(word, choices_[chosen].set, random_);
    if (state_.heads()) {
      lexicon_.set_head(word, choices_[chosen].head);
      state_.spelling->replay(word, choices_[chosen].head, choices_[chosen].head_trail);
    }
  }

  // A tag more or less, or none: the same probability there and back.
  TagSet neighbour(TagSet set) {
    const std::uint64_t i = random_.below(state_.num_tags() + 1);
    if (i == state_.num_tags()) return set;
    set.flip(static_cast<Tag>(i));
    if (set.size() == 0) set.flip(static_cast<Tag>(i));
    return set;
  }

  // ln of what a class of this tag alone weighs, about.
  double log_singleton(Tag t) const {
    const double log_class = std::log(lexicon_.probability(singleton(t))) + log_bases(t);
    return state_.heads() ? log_class + base_.log_prob[t] : log_class;
  }

  // ln of the factor by which the tables of the other words in E_t weigh more, if the word has t too:
  // [(e + 1) / e]^-tables, e without the word.
  double log_bases(Tag t) const {
    const double tables = state_.emissions.total(t).tables;
    if (state_.spelled() || tables == 0.0) return 0.0;
    const double factor = -tables * std::log1p(1.0 / static_cast<double>(lexicon_.num_types_with(t)));
    return options_.fault.is(Fault::WRONG_CLASS_SIGN) ? -factor : factor;
  }

  Tag draw_head(const TagSet& set) {
    double weights[TagSet::CAPACITY], total = 0.0;
    std::fill(weights, weights + state_.num_tags(), 0.0);
    double largest = -std::numeric_limits<double>::infinity();
    set.for_each([&](Tag t) { largest = std::max(largest, base_.log_prob[t]); });
    set.for_each([&](Tag t) { total += weights[t] = std::exp(base_.log_prob[t] - largest); });
    return static_cast<Tag>(draw_index(weights, state_.num_tags(), total, random_));
  }

  TaggingState& state_;
  TagLexicon& lexicon_;
  const MoveOptions& options_;
  Random& random_;
  BlockParticles particles_;
  OneTagTrials trials_;
  WordBase base_;
  std::vector<Tag> tags_;
  std::vector<double> log_priors_;  // by tag
  std::vector<ClassChoice> choices_;  // by particle
  Trail left_head_;
  TagSet every_tag_;
};

}  // namespace

void sweep_classes(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics) {
  ClassMove move(state, options, random, statistics);
  for (std::uint32_t word = 0; word < state.num_types(); ++word) {
    check_interrupt_at(std::size_t{word} * 64);
    move.move_unused_tags(word);
    if (state.heads()) move.move_head(word);
  }
}

void sweep_lexicon(TaggingState& state, const MoveOptions& options, Random& random, SweepStatistics& statistics) {
  ClassMove move(state, options, random, statistics);
  for (std::uint32_t word = 0; word < state.num_types(); ++word) {
    const std::size_t num_tokens = state.tokens_of(word).size();
    if (options.chunk == 0 || num_tokens <= options.chunk) {
      move.move_class(word);
    } else if (state.lexicon->of(word).size() > 1) {
      move.move_tokens(word);
    }
    if (state.lexicon->of(word).size() == 1 && options.one_tag_trials > 0) move.move_singleton(word);
    move.move_unused_tags(word);
    if (state.heads()) move.move_head(word);
  }
}

}  // namespace hiddenite::induce
