#include "hiddenite/induce/state.hpp"

#include <algorithm>
#include <stdexcept>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::induce {

namespace {

constexpr double LEAST_LOG_BASE = -600.0;  // any positive estimate will do; this one has a finite inverse
constexpr std::size_t MAX_ROW = 512;

}  // namespace

TaggingState::TaggingState(InductionText text, unsigned num_tags, unsigned order, SpellingKind spelling_kind,
                           LexiconKind lexicon_kind, double geometric)
    : transitions(num_tags, order), emissions(text.num_types, num_tags), num_tags_(num_tags) {
  if (num_tags < 1 || num_tags > TagSet::CAPACITY - 1) throw ModelError("expected 1 to 255 tags");
  if (spelling_kind != SpellingKind::NONE) spelling.emplace(num_tags, text.spellings, spelling_kind);
  if (lexicon_kind != LexiconKind::NONE) lexicon.emplace(text.num_types, num_tags, lexicon_kind, geometric);
  if (lexicon_kind == LexiconKind::HEADS && !spelling) throw ModelError("a lexicon with heads needs a spelling model");
  const auto add_boundaries = [&] {
    for (unsigned i = 1; i < order; ++i) {
      tags_.push_back(transitions.boundary());
      words_.push_back(0);
      last_event_.push_back(0);
    }
  };
  add_boundaries();
  for (std::size_t s = 0; s + 1 < text.offsets.size(); ++s) {
    const auto length = static_cast<std::uint32_t>(text.offsets[s + 1] - text.offsets[s]);
    const auto end = static_cast<std::uint32_t>(tags_.size()) + length;
    sentence_begin_.push_back(static_cast<std::uint32_t>(positions_.size()));
    for (std::int64_t i = text.offsets[s]; i < text.offsets[s + 1]; ++i) {
      const auto position = static_cast<std::uint32_t>(tags_.size());
      positions_.push_back(position);
      tags_.push_back(0);
      words_.push_back(static_cast<std::uint32_t>(text.words[i]));
      last_event_.push_back(std::min(end, position + order - 1));
    }
    add_boundaries();
  }
  sentence_begin_.push_back(static_cast<std::uint32_t>(positions_.size()));
  type_begin_.assign(text.num_types + 1, 0);
  for (const std::uint32_t position : positions_) ++type_begin_[words_[position] + 1];
  for (std::size_t w = 0; w < text.num_types; ++w) type_begin_[w + 1] += type_begin_[w];
  type_tokens_.resize(positions_.size());
  std::vector<std::uint32_t> next(type_begin_.begin(), type_begin_.end() - 1);
  for (const std::uint32_t position : positions_) type_tokens_[next[words_[position]]++] = position;
}

void TaggingState::begin(std::span<const Tag> tags, Random& random) {
  for (std::size_t i = 0; i < positions_.size(); ++i) tags_[positions_[i]] = tags[i];
  if (lexicon) {
    for (std::uint32_t w = 0; w < num_types(); ++w) {
      TagSet used;
      for (const std::uint32_t position : tokens_of(w)) {
        if (!used.has(tags_[position])) used.flip(tags_[position]);
      }
      lexicon->enter(w, used, random);
    }
  }
  Trail trail;
  LogWeight weight;
  WordBase base;
  for (std::size_t s = 0; s + 1 < sentence_begin_.size(); ++s) {
    check_interrupt_at(s * 64);
    const auto tokens = sentence(s);
    for (const std::uint32_t position : tokens) {
      fill_base(words_[position], false, base);
      seat(position, position == tokens.back() ? last_event_[position] : position, base, random, trail, weight);
      // All events of the last token up to the sentence's end; of the others their own.
      trail.clear();
    }
  }
  for (std::uint32_t w = 0; heads() && w < num_types(); ++w) {
    const auto tokens = tokens_of(w);
    if (tokens.empty()) continue;
    lexicon->set_head(w, tags_[tokens[random.below(tokens.size())]]);
    spelling->seat(w, lexicon->head(w), random, trail);
    trail.clear();
  }
  // The end of an empty sentence is an event that no token brings.
  std::uint8_t opened = 0;
  std::uint32_t end = order() - 1;
  for (std::size_t s = 0; s < num_sentences(); ++s) {
    end += static_cast<std::uint32_t>(sentence(s).size());
    if (sentence(s).empty()) transitions.seat(at(end), random, opened);
    end += order() - 1;
  }
}

void TaggingState::fill_base(std::uint32_t word, bool class_left, WordBase& base) const {
  if (spelled()) {
    spelling->spell(word, base.log_prob);
    for (unsigned t = 0; t < num_tags_; ++t) {
      base.log_prob[t] = std::max(base.log_prob[t], LEAST_LOG_BASE);
      base.prob[t] = std::exp(base.log_prob[t]);
    }
  } else if (lexicon) {
    for (unsigned t = 0; t < num_tags_; ++t) {
      const auto types = static_cast<double>(lexicon->num_types_with(static_cast<Tag>(t)) + (class_left ? 1 : 0));
      base.prob[t] = types > 0 ? 1.0 / types : 0.0;
    }
  } else {
    std::fill(base.prob, base.prob + num_tags_, 1.0 / static_cast<double>(num_types()));
  }
}

void TaggingState::fill_base(std::uint32_t word, bool class_left, const TagSet& tags, WordBase& base) const {
  if (!spelled()) {
    fill_base(word, class_left, base);
    return;
  }
  tags.for_each([&](Tag t) {
    base.log_prob[t] = std::max(spelling->spell(word, t), LEAST_LOG_BASE);
    base.prob[t] = std::exp(base.log_prob[t]);
  });
}

LeftWord TaggingState::leave(std::uint32_t position, std::uint32_t last, Random& random, Trail& trail,
                             LogWeight& weight) {
  const LeftWord word = leave_word(position, random, trail);
  for (std::uint32_t event = last + 1; event-- > position;) {
    trail.push_back(transitions.unseat(at(event), random));
    weight.multiply(transitions.predict(at(event)));
  }
  return word;
}

void TaggingState::leave(std::uint32_t position, std::uint32_t last, Random& random, Trail& trail) {
  leave_word(position, random, trail);
  for (std::uint32_t event = last + 1; event-- > position;) trail.push_back(transitions.unseat(at(event), random));
}

LeftWord TaggingState::leave_word(std::uint32_t position, Random& random, Trail& trail) {
  const std::uint32_t w = words_[position];
  const Tag tag = tags_[position];
  LeftWord word{0.0, 0.0, 0.0, tag, random.uniform() < emissions.opened(w, tag)};
  emissions.change(w, tag, -1, word.opened ? -1 : 0);
  trail.push_back(word.opened);
  if (word.opened && spelled()) {
    word.log_spelled = spelling->unseat(w, tag, random, trail);
    trail.push_back(word.opened);
  }
  word.joined = emissions.joined(w, tag);
  word.rest = emissions.rest()[tag];
  return word;
}

void TaggingState::seat(std::uint32_t position, std::uint32_t last, const WordBase& base, Random& random, Trail& trail,
                        LogWeight& weight) {
  for (std::uint32_t event = position; event <= last; ++event) {
    std::uint8_t opened = 0;
    weight.multiply(transitions.seat(at(event), random, opened));
    trail.push_back(opened);
  }
  const std::uint32_t w = words_[position];
  const Tag tag = tags_[position];
  const double joined = emissions.joined(w, tag);
  const double p = joined + emissions.rest()[tag] * base.prob[tag];
  weight.multiply(p);
  const bool opened = random.uniform() * p >= joined;
  emissions.change(w, tag, 1, opened ? 1 : 0);
  trail.push_back(opened);
  if (opened && spelled()) {
    weight.add_log(spelling->seat(w, tag, random, trail) - base.log_prob[tag]);
    trail.push_back(opened);
  }
}

void TaggingState::replay(std::uint32_t position, std::uint32_t last, const WordBase& base, Trail& trail,
                          LogWeight& weight) {
  for (std::uint32_t event = position; event <= last; ++event) {
    weight.multiply(transitions.replay(at(event), trail.back()));
    trail.pop_back();
  }
  const std::uint32_t w = words_[position];
  const Tag tag = tags_[position];
  weight.multiply(emission(w, tag, base));
  const bool opened = trail.back() != 0;
  trail.pop_back();
  emissions.change(w, tag, 1, opened ? 1 : 0);
  if (opened && spelled()) {
    weight.add_log(spelling->replay(w, tag, trail) - base.log_prob[tag]);
    trail.pop_back();
  }
}

void TaggingState::redo(std::uint32_t position, std::uint32_t last, Trail& trail) {
  for (std::uint32_t event = position; event <= last; ++event) {
    transitions.redo(at(event), trail.back());
    trail.pop_back();
  }
  const std::uint32_t w = words_[position];
  const Tag tag = tags_[position];
  const bool opened = trail.back() != 0;
  trail.pop_back();
  emissions.change(w, tag, 1, opened ? 1 : 0);
  if (opened && spelled()) {
    spelling->redo(w, tag, trail);
    trail.pop_back();
  }
}

void TaggingState::undo(std::uint32_t position, std::uint32_t last, Trail& trail) {
  const std::uint32_t w = words_[position];
  const Tag tag = tags_[position];
  const bool opened = trail.back() != 0;
  trail.pop_back();
  emissions.change(w, tag, -1, opened ? -1 : 0);
  if (opened && spelled()) {
    spelling->undo(w, tag, trail);
    trail.pop_back();
  }
  for (std::uint32_t event = last + 1; event-- > position;) {
    transitions.undo(at(event), trail.back());
    trail.pop_back();
  }
}

void TaggingState::weigh(const LeftWord& word, const WordBase& base, LogWeight& weight) const {
  weight.multiply(word.joined + word.rest * base.prob[word.tag]);
  if (word.opened && spelled()) weight.add_log(word.log_spelled - base.log_prob[word.tag]);
}

void TaggingState::score_all(std::uint32_t position, std::uint32_t last, const WordBase& base, double* scores) const {
  float moves[MAX_ROW];
  std::fill(moves, moves + transitions.stride(), 1.0f);
  for (std::uint32_t event = position; event <= last; ++event) {
    transitions.multiply_scores(at(event), event - position, moves);
  }
  const Seats* row = emissions.row(words_[position]);
  const double* share = emissions.share();
  const double* rest = emissions.rest();
  const double discount = emissions.discount();
  for (unsigned t = 0; t < num_tags_; ++t) {
    const double joined = (row[t].customers - discount * row[t].tables) * share[t];
    scores[t] = (joined + rest[t] * base.prob[t]) * moves[t];
  }
}

double TaggingState::score_events(std::uint32_t position, std::uint32_t last, Tag tag) {
  tags_[position] = tag;
  double score = 1.0;
  for (std::uint32_t event = position; event <= last; ++event) score *= transitions.predict(at(event));
  return score;
}

double TaggingState::log_joint() {
  double sum = 0.0;
  for (unsigned l = 0; l < order(); ++l) {
    sum += transitions.summary(l).log_likelihood(transitions.process(l)) + transitions.log_base(l);
  }
  sum += emissions.summary().log_likelihood(emissions.process());
  if (spelling) {
    for (unsigned l = 2 - spelling->num_levels(); l < 2; ++l) {
      sum += spelling->summary(l).log_likelihood(spelling->process(l));
    }
    sum += spelling->log_base();
  }
  if (lexicon) sum += lexicon->summary().log_likelihood(lexicon->process()) + lexicon->log_base();
  if (heads()) {
    for (std::uint32_t w = 0; w < num_types(); ++w) sum -= std::log(std::max(1u, lexicon->of(w).size()));
  }
  for (unsigned t = 0; t < num_tags_ && !spelled(); ++t) {  // the tables' bases
    const auto types = lexicon ? static_cast<double>(lexicon->num_types_with(static_cast<Tag>(t)))
                               : static_cast<double>(num_types());
    if (emissions.total(static_cast<Tag>(t)).tables > 0) {
      sum -= emissions.total(static_cast<Tag>(t)).tables * std::log(types);
    }
  }
  return sum;
}

void TaggingState::check() const {
  transitions.check();
  if (spelling) spelling->check();
  std::vector<std::int64_t> counts(num_types() * num_tags_);
  for (const std::uint32_t position : positions_) ++counts[std::size_t{words_[position]} * num_tags_ + tags_[position]];
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Seats seats = emissions.counts()[i];
    const bool sound = seats.customers == counts[i] && seats.tables <= seats.customers && seats.tables >= 0 &&
                       (seats.customers > 0) == (seats.tables > 0);
    if (!sound) throw std::logic_error("broken counts of emissions");
    const auto w = static_cast<std::uint32_t>(i / num_tags_);
    if (lexicon && counts[i] > 0 && !lexicon->of(w).has(static_cast<Tag>(i % num_tags_))) {
      throw std::logic_error("a token's tag is not in its class");
    }
  }
}

}  // namespace hiddenite::induce
