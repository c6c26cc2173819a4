#include "hiddenite/induce/one_tag.hpp"

#include <algorithm>
#include <cmath>

namespace hiddenite::induce {

namespace {

constexpr double TEMPERED_TOKENS = 16.0;  // a word with so many tokens has half of its log scores
constexpr double UNIFORM_SHARE = 0.05;    // of the proposal

// The proposal: log scores, tempered, with a share of the uniform law.
void temper(std::size_t num_tokens, std::span<double> logs, std::vector<double>& law) {
  const double largest = *std::max_element(logs.begin(), logs.end());
  const double power = TEMPERED_TOKENS / (TEMPERED_TOKENS + static_cast<double>(num_tokens));
  double total = 0.0;
  law.clear();
  for (const double log : logs) total += law.emplace_back(std::exp(power * (log - largest)));
  for (std::size_t t = 0; t < law.size(); ++t) {
    law[t] = (1.0 - UNIFORM_SHARE) * law[t] / total + UNIFORM_SHARE / static_cast<double>(law.size());
    logs[t] = std::log(law[t]);
  }
}

}  // namespace

void OneTagTrials::leave(std::uint32_t word) {
  word_ = word;
  left_tag_ = state_.tag(state_.tokens_of(word)[0]);
  trials_.clear();
  gather_events();
  leave_words();
  left_events_.clear();
  for (const std::size_t mark : marks_) windows_[mark] = left_tag_;
  for (std::size_t kind = num_events_.size(); kind-- > 0;) {
    state_.transitions.unseat_all(event(kind), num_events_[kind], random_, left_events_);
  }
}

// Counts the kinds of the tokens' events, in the order in which they first occur.
void OneTagTrials::gather_events() {
  const unsigned order = state_.order();
  const std::size_t base = state_.transitions.num_symbols() + 1;  // the mark is a symbol more
  kinds_.clear();
  codes_.clear();
  num_events_.clear();
  windows_.clear();
  marks_.clear();
  const auto tokens = state_.tokens_of(word_);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::uint32_t last = state_.last_event(tokens[i]);
    if (i + 1 < tokens.size()) last = std::min(last, tokens[i + 1] - 1);
    for (std::uint32_t event = tokens[i]; event <= last; ++event) {
      std::uint64_t code = 0;
      for (std::uint32_t at = event + 1 - order; at <= event; ++at) {
        code = code * base + (state_.is_token_of(at, word_) ? base - 1 : state_.tag(at));
      }
      const std::uint32_t kind = kinds_.find(code);
      if (kind == FlatMap::ABSENT) {
        add_kind(event, code);
      } else {
        ++num_events_[kind];
      }
    }
  }
}

void OneTagTrials::add_kind(std::uint32_t event, std::uint64_t code) {
  kinds_.insert(code, static_cast<std::uint32_t>(codes_.size()));
  codes_.push_back(code);
  num_events_.push_back(1);
  for (std::uint32_t at = event + 1 - state_.order(); at <= event; ++at) {
    if (state_.is_token_of(at, word_)) marks_.push_back(windows_.size());
    windows_.push_back(state_.tag(at));
  }
}

void OneTagTrials::leave_words() {
  left_words_.clear();
  left_spelling_.clear();
  TagEmissions& emissions = state_.emissions;
  for (std::size_t i = state_.tokens_of(word_).size(); i-- > 0;) {
    const bool opened = random_.uniform() < emissions.opened(word_, left_tag_);
    emissions.change(word_, left_tag_, -1, opened ? -1 : 0);
    left_words_.push_back(opened);
    if (opened && state_.spelled()) state_.spelling->unseat(word_, left_tag_, random_, left_spelling_);
  }
}

void OneTagTrials::propose(const WordBase& base, std::span<const double> log_prior) {
  const std::size_t num_tokens = left_words_.size();
  scores_.clear();
  score_events();
  state_.emissions.score_like(static_cast<std::uint32_t>(num_tokens), scores_);
  log_proposal_.clear();
  for (unsigned t = 0; t < state_.num_tags(); ++t) {
    const double more = log_prior.empty() ? 0.0 : log_prior[t];
    log_proposal_.push_back(scores_.log(t) + std::log(base.prob[t]) + more);
  }
  temper(num_tokens, log_proposal_, proposal_);
}

void OneTagTrials::score_events() {
  contexts_.clear();
  in_context_.clear();
  std::size_t first = 0;
  for (std::size_t kind = 0; kind < num_events_.size(); ++kind) {
    const std::size_t end = (kind + 1) * state_.order();
    std::size_t last = first + 1;  // each event has the word somewhere
    while (last < marks_.size() && marks_[last] < end) ++last;
    const auto distance = static_cast<unsigned>(end - 1 - marks_[first]);
    if (last - first > 1) {
      score_several_marks(kind, {marks_.data() + first, last - first});
    } else {
      const std::uint32_t before = distance == 0 ? 0 : count_in_context(kind);
      state_.transitions.score_like(event(kind), distance, num_events_[kind], before, scores_);
    }
    first = last;
  }
}

// The word stands at several places: its tags are put in one by one. Rare, and not scored any better than this.
void OneTagTrials::score_several_marks(std::size_t kind, std::span<const std::size_t> marks) {
  double p[TagSet::CAPACITY];
  for (unsigned t = 0; t < state_.num_tags(); ++t) {
    for (const std::size_t mark : marks) windows_[mark] = static_cast<Tag>(t);
    p[t] = state_.transitions.predict(event(kind));
  }
  for (std::uint32_t i = 0; i < num_events_[kind]; ++i) scores_.multiply({p, state_.num_tags()});
}

// How many events of kinds before have the context of this one.
std::uint32_t OneTagTrials::count_in_context(std::size_t kind) {
  const std::uint64_t code = codes_[kind] / (state_.transitions.num_symbols() + 1);
  std::uint32_t place = contexts_.find(code);
  if (place == FlatMap::ABSENT) {
    place = static_cast<std::uint32_t>(in_context_.size());
    contexts_.insert(code, place);
    in_context_.push_back(0);
  }
  const std::uint32_t before = in_context_[place];
  in_context_[place] += num_events_[kind];
  return before;
}

OneTagTrials::Trial& OneTagTrials::try_next(const WordBase& base) {
  const bool retained = trials_.empty() && !options_.fault.is(Fault::NO_RETAINED);
  const Tag tag =
      retained ? left_tag_ : static_cast<Tag>(draw_index(proposal_.data(), proposal_.size(), 1.0, random_));
  Trial& trial = trials_.emplace_back(Trial{tag, retained, random_, {}});
  if (!options_.fault.is(Fault::FREE_PROPOSALS)) trial.weight.add_log(-log_proposal_[tag]);
  state_.transitions.hold_mirrors(true);
  run(trial, random_, base);
  take_back(tag);
  state_.transitions.hold_mirrors(false);
  return trial;
}

void OneTagTrials::run(Trial& trial, Random& random, const WordBase& base) {
  for (const std::size_t mark : marks_) windows_[mark] = trial.tag;
  arrivals_.clear();
  const std::uint8_t* end = left_events_.data() + left_events_.size();
  for (std::size_t kind = 0; kind < num_events_.size(); ++kind) {
    const std::uint32_t count = num_events_[kind];
    meter_.add(WORK_OF_TOKEN / 16 * count);
    arrivals_.push_back(trial.retained ? state_.transitions.replay_all(event(kind), count, end, trial.weight)
                                       : state_.transitions.seat_all(event(kind), count, random, trial.weight));
  }
  emit(trial, random, base);
}

// The words sit down. Nobody looks at the counts of their tag meanwhile: only those of the spelling are changed.
void OneTagTrials::emit(Trial& trial, Random& random, const WordBase& base) {
  const Tag tag = trial.tag;
  const double a = state_.emissions.discount(), b = state_.emissions.process().strength;
  const Seats all = state_.emissions.total(tag);
  const std::size_t num_tokens = left_words_.size();
  Trail left_spelling = trial.retained ? left_spelling_ : Trail{};
  tables_ = 0;
  spelling_.clear();
  for (std::size_t i = 0; i < num_tokens; ++i) {
    const double seen = static_cast<double>(i) - a * tables_;
    const double sum = seen + (b + a * (all.tables + tables_)) * base.prob[tag];
    trial.weight.multiply(sum / (b + all.customers + static_cast<double>(i)));
    const bool opens = trial.retained ? left_words_[num_tokens - 1 - i] != 0 : random.uniform() * sum >= seen;
    if (!opens) continue;
    ++tables_;
    if (!state_.spelled()) continue;
    const double log_spelled = trial.retained ? state_.spelling->replay(word_, tag, left_spelling)
                                              : state_.spelling->seat(word_, tag, random, spelling_);
    trial.weight.add_log(log_spelled - base.log_prob[tag]);
  }
  if (trial.retained) spelling_.assign(left_spelling_.rbegin(), left_spelling_.rend());
}

void OneTagTrials::take_back(Tag tag) {
  for (std::size_t kind = 0; kind < num_events_.size(); ++kind) {
    state_.transitions.move_all(event(kind), arrivals_[kind], -1);
  }
  for (std::uint32_t i = 0; state_.spelled() && i < tables_; ++i) state_.spelling->undo(word_, tag, spelling_);
}

std::size_t OneTagTrials::draw() {
  weights_.clear();
  for (const Trial& trial : trials_) weights_.push_back(trial.weight.log());
  return draw_by_weight(weights_, left_words_.size(), random_, statistics_);
}

void OneTagTrials::settle(std::size_t index, const WordBase& base) {
  Trial& trial = trials_[index];
  Random random = trial.random;
  run(trial, random, base);
  state_.emissions.change(word_, trial.tag, static_cast<int>(left_words_.size()), static_cast<int>(tables_));
  for (const std::uint32_t token : state_.tokens_of(word_)) state_.set_tag(token, trial.tag);
}

}  // namespace hiddenite::induce
