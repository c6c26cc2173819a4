#include "hiddenite/induce/chain.hpp"

#include <algorithm>
#include <limits>

#include "hiddenite/base/error.hpp"

namespace hiddenite::induce {

namespace {

// The streams of a chain: one for the beginning, one per sweep.
Random stream_of(const InductionOptions& options, std::uint64_t sweep) {
  return Random(splitmix64(options.seed) ^ options.stream, sweep);
}

void check_options(const InductionOptions& options) {
  const InductionSampler sampler = options.sampler;
  const bool one_tag_sampler =
      sampler == InductionSampler::ONE_TAG || sampler == InductionSampler::ONE_TAG_HEURISTIC;
  if (options.one_tag != one_tag_sampler) throw ModelError("the one-tag model and the one-tag samplers go together");
  if (options.one_tag && options.lexicon != LexiconKind::NONE) throw ModelError("a one-tag model has no lexicon");
  if (sampler == InductionSampler::LEXICON && options.lexicon == LexiconKind::NONE) {
    throw ModelError("the lex sampler needs a lexicon model");
  }
  if (!(options.geometric > 0.0 && options.geometric < 1.0)) {
    throw ModelError("expected a geometric parameter in (0, 1)");
  }
}

std::vector<std::int32_t> flat(const std::vector<Seats>& seats) {
  std::vector<std::int32_t> values;
  values.reserve(2 * seats.size());
  for (const Seats& s : seats) {
    values.push_back(s.customers);
    values.push_back(s.tables);
  }
  return values;
}

std::vector<Seats> seats_of(const std::vector<std::int32_t>& values) {
  std::vector<Seats> seats(values.size() / 2);
  for (std::size_t i = 0; i < seats.size(); ++i) seats[i] = {values[2 * i], values[2 * i + 1]};
  return seats;
}

}  // namespace

InductionChain::InductionChain(const InductionOptions& options, InductionText text, std::span<const std::int32_t> tags)
    : options_((check_options(options), options)),
      state_(std::move(text), options.tags, options.order, options.spelling, options.lexicon, options.geometric) {
  if (tags.size() != state_.num_tokens()) throw ModelError("expected a tag for each token");
  std::vector<Tag> first;
  for (const std::int32_t tag : tags) {
    if (tag < 0 || static_cast<unsigned>(tag) >= options.tags) throw ModelError("a tag is out of range");
    first.push_back(static_cast<Tag>(tag));
  }
  Random random = stream_of(options_, std::numeric_limits<std::uint64_t>::max());
  state_.begin(first, random);
  for (std::uint32_t w = 0; options.one_tag && w < state_.num_types(); ++w) {
    for (const std::uint32_t position : state_.tokens_of(w)) {
      if (state_.tag(position) != state_.tag(state_.tokens_of(w)[0])) {
        throw ModelError("a one-tag model must start with one tag per type");
      }
    }
  }
}

std::vector<std::pair<std::string, PitmanYor*>> InductionChain::processes() {
  std::vector<std::pair<std::string, PitmanYor*>> all;
  for (unsigned l = 0; l < options_.order; ++l) {
    all.emplace_back("transition" + std::to_string(l), &state_.transitions.process(l));
  }
  all.emplace_back("emission", &state_.emissions.process());
  if (state_.spelling) {
    for (unsigned l = 2 - state_.spelling->num_levels(); l < 2; ++l) {
      all.emplace_back("spelling" + std::to_string(l), &state_.spelling->process(l));
    }
  }
  if (state_.lexicon) all.emplace_back("class", &state_.lexicon->process());
  return all;
}

SeatingSummary InductionChain::summary(const std::string& name) {
  if (name == "emission") return state_.emissions.summary();
  if (name == "class") return state_.lexicon->summary();
  const unsigned level = static_cast<unsigned>(name.back() - '0');
  return name.starts_with("spelling") ? state_.spelling->summary(level) : state_.transitions.summary(level);
}

void InductionChain::set_parameters(const std::string& name, double discount, double strength) {
  if (!(discount >= 0.0 && discount < 1.0) || !(strength > 0.0)) {
    throw ModelError("expected a discount in [0, 1) and a positive strength");
  }
  const unsigned level = static_cast<unsigned>(name.back() - '0');
  if (name == "emission") {
    state_.emissions.set_process(discount, strength);
  } else if (name == "class") {
    state_.lexicon->process().set(discount, strength);
  } else if (name.starts_with("spelling")) {
    state_.spelling->set_process(level, discount, strength);
  } else {
    state_.transitions.set_process(level, discount, strength);
  }
}

void InductionChain::draw_all_parameters(Random& random) {
  for (const auto& [name, process] : processes()) {
    const bool fixed = options_.spelling == SpellingKind::DIRICHLET && name == "spelling1";
    PitmanYor drawn(process->discount, process->strength);
    std::swap(drawn.stirling, process->stirling);
    draw_parameters(drawn, summary(name), options_.strength_prior, fixed, random);
    std::swap(drawn.stirling, process->stirling);
    set_parameters(name, drawn.discount, drawn.strength);
  }
}

void InductionChain::run_sampler(Random& random, SweepStatistics& statistics) {
  const MoveOptions& moves = options_.moves;
  switch (options_.sampler) {
    case InductionSampler::LOCAL: sweep_local(state_, moves, random, statistics); break;
    case InductionSampler::SENTENCE: sweep_sentences(state_, moves, true, random, statistics); break;
    case InductionSampler::SENTENCE_PARTICLES: sweep_sentences(state_, moves, false, random, statistics); break;
    case InductionSampler::TYPE: sweep_types(state_, moves, random, statistics); break;
    case InductionSampler::ONE_TAG: sweep_one_tag(state_, moves, random, statistics); break;
    case InductionSampler::ONE_TAG_HEURISTIC: sweep_one_tag_heuristic(state_, random); break;
    case InductionSampler::LEXICON:
      sweep_lexicon(state_, moves, random, statistics);
      if (options_.local_every > 0 && sweeps_ % options_.local_every == 0) {
        sweep_local(state_, moves, random, statistics);
      }
      break;
  }
  // Classes given the tokens: the token samplers leave them alone.
  if (state_.lexicon && options_.sampler != InductionSampler::LEXICON) {
    sweep_classes(state_, moves, random, statistics);
  }
}

SweepRecord InductionChain::sweep() {
  before_ = Before{swept_state(), total_};
  try {
    return run_sweep();
  } catch (...) {
    undo_sweep();
    throw;
  }
}

void InductionChain::undo_sweep() {
  if (!before_) return;
  set_swept_state(before_->state);
  total_ = before_->total;
  before_.reset();
}

SweepRecord InductionChain::run_sweep() {
  Random random = stream_of(options_, sweeps_);
  const std::vector<std::int32_t> before = tags();
  SweepStatistics statistics;
  run_sampler(random, statistics);
  if (options_.sample_parameters) draw_all_parameters(random);
  ++sweeps_;
  SweepRecord record;
  record.log_joint = state_.log_joint();
  const std::vector<std::int32_t> after = tags();
  std::size_t moved = 0;
  for (std::size_t i = 0; i < after.size(); ++i) moved += after[i] != before[i];
  if (!after.empty()) record.moved = static_cast<double>(moved) / static_cast<double>(after.size());
  if (statistics.proposals > 0) {
    record.accepted = static_cast<double>(statistics.accepted) / static_cast<double>(statistics.proposals);
  }
  total_.proposals += statistics.proposals;
  total_.accepted += statistics.accepted;
  double sizes = 0.0;
  std::int64_t blocks = 0;
  for (std::size_t bin = 0; bin < SweepStatistics::BINS; ++bin) {
    sizes += statistics.ess[bin];
    blocks += statistics.blocks[bin];
    total_.ess[bin] += statistics.ess[bin];
    total_.blocks[bin] += statistics.blocks[bin];
  }
  if (blocks > 0) record.effective_size = sizes / static_cast<double>(blocks);
  return record;
}

std::vector<std::int32_t> InductionChain::tags() const {
  std::vector<std::int32_t> tags;
  tags.reserve(state_.num_tokens());
  for (const std::uint32_t position : state_.positions()) tags.push_back(state_.tag(position));
  return tags;
}

void InductionChain::keep() {
  if (num_kept_ == std::numeric_limits<std::uint16_t>::max()) throw ModelError("no more than 65535 samples are kept");
  kept_.resize(num_kept_rows() * options_.tags);
  before_.reset();
  ++num_kept_;
  const auto count = [&](std::size_t row, std::uint32_t position) {
    ++kept_[row * options_.tags + state_.tag(position)];
  };
  if (options_.one_tag) {
    for (std::uint32_t word = 0; word < state_.num_types(); ++word) {
      if (!state_.tokens_of(word).empty()) count(word, state_.tokens_of(word)[0]);
    }
  } else {
    for (std::size_t i = 0; i < state_.num_tokens(); ++i) count(i, state_.positions()[i]);
  }
}

std::size_t InductionChain::num_kept_rows() const {
  return options_.one_tag ? state_.num_types() : state_.num_tokens();
}

void InductionChain::max_marginal(std::vector<std::int32_t>& tags, std::vector<float>& share) const {
  tags = this->tags();
  share.assign(tags.size(), 1.0f);
  if (num_kept_ == 0) return;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::size_t place = options_.one_tag ? state_.word(state_.positions()[i]) : i;
    const std::uint16_t* row = kept_.data() + place * options_.tags;
    const std::uint16_t most = *std::max_element(row, row + options_.tags);
    if (row[tags[i]] != most) tags[i] = static_cast<std::int32_t>(std::find(row, row + options_.tags, most) - row);
    share[i] = static_cast<float>(most) / static_cast<float>(num_kept_);
  }
}

ChainSnapshot InductionChain::snapshot() const {
  ChainSnapshot s = swept_state();
  s.kept = kept_;
  s.num_kept = num_kept_;
  return s;
}

ChainSnapshot InductionChain::swept_state() const {
  ChainSnapshot s;
  s.sweeps = sweeps_;
  s.tags = tags();
  for (const auto& [name, process] : const_cast<InductionChain*>(this)->processes()) {
    s.parameters.push_back(process->discount);
    s.parameters.push_back(process->strength);
  }
  for (unsigned l = 0; l < options_.order; ++l) s.seats.push_back(flat(state_.transitions.counts(l)));
  s.seats.push_back(flat(state_.emissions.counts()));
  if (state_.spelling) {
    s.seats.push_back(flat(state_.spelling->counts(0)));
    s.seats.push_back(flat(state_.spelling->counts(1)));
  }
  if (state_.lexicon) {
    const auto push = [&](const TagSet& set, std::vector<std::int32_t>& to) {
      for (unsigned t = 0; t < options_.tags; ++t) to.push_back(set.has(static_cast<Tag>(t)));
    };
    for (std::uint32_t w = 0; w < state_.num_types(); ++w) {
      push(state_.lexicon->of(w), s.classes);
      s.heads.push_back(state_.lexicon->head(w));
    }
    std::vector<Seats> seats;
    for (const TagLexicon::Row& row : state_.lexicon->rows()) {
      push(row.set, s.class_sets);
      seats.push_back(row.seats);
    }
    s.seats.push_back(flat(seats));
  }
  return s;
}

void InductionChain::restore(const ChainSnapshot& s) {
  const ChainSnapshot shape = swept_state();
  bool fits = s.tags.size() == shape.tags.size() && s.parameters.size() == shape.parameters.size() &&
              s.seats.size() == shape.seats.size() && s.classes.size() == shape.classes.size() &&
              s.heads.size() == shape.heads.size() &&
              (s.kept.empty() || s.kept.size() == num_kept_rows() * options_.tags);
  const std::size_t fixed = s.seats.size() - (state_.lexicon ? 1 : 0);
  for (std::size_t i = 0; fits && i < fixed; ++i) fits = s.seats[i].size() == shape.seats[i].size();
  if (fits && state_.lexicon) fits = s.class_sets.size() == s.seats.back().size() / 2 * options_.tags;
  for (const std::int32_t tag : s.tags) fits &= tag >= 0 && static_cast<unsigned>(tag) < options_.tags;
  for (const std::int32_t head : s.heads) fits &= head >= 0 && static_cast<unsigned>(head) < options_.tags;
  if (!fits) throw ModelError("the saved chain does not fit this text and model");
  kept_ = s.kept;
  num_kept_ = s.num_kept;
  before_.reset();
  set_swept_state(s);
}

void InductionChain::set_swept_state(const ChainSnapshot& s) {
  sweeps_ = s.sweeps;
  for (std::size_t i = 0; i < s.tags.size(); ++i) {
    state_.set_tag(state_.positions()[i], static_cast<Tag>(s.tags[i]));
  }
  state_.transitions.set_mirrored(true);  // an interrupted sweep may have left it otherwise
  for (unsigned l = 0; l < options_.order; ++l) state_.transitions.restore(l, seats_of(s.seats[l]));
  state_.emissions.restore(seats_of(s.seats[options_.order]));
  if (state_.spelling) {
    state_.spelling->restore(seats_of(s.seats[options_.order + 2]), seats_of(s.seats[options_.order + 1]));
  }
  if (state_.lexicon) {
    const auto pull = [&](const std::vector<std::int32_t>& from, std::size_t row) {
      TagSet set;
      for (unsigned t = 0; t < options_.tags; ++t) {
        if (from[row * options_.tags + t] != 0) set.flip(static_cast<Tag>(t));
      }
      return set;
    };
    for (std::uint32_t w = 0; w < state_.num_types(); ++w) {
      state_.lexicon->restore(w, pull(s.classes, w));
      state_.lexicon->set_head(w, static_cast<Tag>(s.heads[w]));
    }
    const std::vector<Seats> seats = seats_of(s.seats.back());
    std::vector<TagLexicon::Row> rows;
    for (std::size_t i = 0; i < seats.size(); ++i) rows.push_back({pull(s.class_sets, i), seats[i]});
    state_.lexicon->restore_counts(rows);
  }
  std::size_t i = 0;
  for (const auto& [name, process] : processes()) {
    set_parameters(name, s.parameters[i], s.parameters[i + 1]);
    i += 2;
  }
}

}  // namespace hiddenite::induce
