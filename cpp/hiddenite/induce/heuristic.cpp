#include <algorithm>
#include <cmath>

#include "hiddenite/base/flat_map.hpp"
#include "hiddenite/induce/samplers.hpp"

namespace hiddenite::induce {

namespace {

struct Fraction {
  double customers = 0.0, tables = 0.0;
};

// Customers and expected tables on top of the state's counts, as if a type's tokens had sat down.
class ExpectedSeats {
 public:
  explicit ExpectedSeats(const TaggingState& state) : state_(state) {}

  void clear() {
    places_.clear();
    fractions_.clear();
    emitted_ = {};
  }

  // p(event), then one customer more, with the tables it is expected to open.
  double transition(const Tag* at, const std::vector<PitmanYor*>& processes) {
    const TagTransitions& transitions = state_.transitions;
    const unsigned order = transitions.order();
    double p[TagTransitions::MAX_ORDER], opens[TagTransitions::MAX_ORDER];
    double below = 1.0 / static_cast<double>(transitions.num_symbols());
    for (unsigned l = 0; l < order; ++l) {
      const PitmanYor& process = *processes[l];
      const Fraction dish = sum(transitions.level(l).dishes[transitions.dish_place(l, at)], find(key(l, 0, at)));
      const Seats seated = transitions.level(l).contexts[transitions.context_place(l, at)].seats;
      const Fraction context = sum(seated, find(key(l, 1, at)));
      const double share = 1.0 / (process.strength + context.customers);
      const double fresh = (process.strength + process.discount * context.tables) * share * below;
      p[l] = (dish.customers - process.discount * dish.tables) * share + fresh;
      opens[l] = fresh / p[l];
      below = p[l];
    }
    double customers = 1.0;
    for (unsigned l = order; l-- > 0;) {
      const double tables = customers * opens[l];
      for (unsigned kind = 0; kind < 2; ++kind) {
        Fraction& fraction = find(key(l, kind, at));
        fraction.customers += customers;
        fraction.tables += tables;
      }
      customers = tables;
    }
    return p[order - 1];
  }

  double emission(std::uint32_t word, Tag tag, double base, const PitmanYor& process) {
    const Fraction dish = sum(state_.emissions.seats(word, tag), emitted_);
    const Fraction total = sum(state_.emissions.total(tag), emitted_);
    const double share = 1.0 / (process.strength + total.customers);
    const double fresh = (process.strength + process.discount * total.tables) * share * base;
    const double p = (dish.customers - process.discount * dish.tables) * share + fresh;
    emitted_.customers += 1.0;
    emitted_.tables += fresh / p;
    return p;
  }

 private:
  static Fraction sum(Seats seats, Fraction more) {
    return {seats.customers + more.customers, seats.tables + more.tables};
  }
  std::uint64_t key(unsigned level, unsigned kind, const Tag* at) const {
    const TagTransitions& t = state_.transitions;
    const std::size_t place = kind == 0 ? t.dish_place(level, at) : t.context_place(level, at);
    return (std::uint64_t{level} << 1 | kind) << 40 | place;
  }
  Fraction& find(std::uint64_t key) {
    std::uint32_t i = places_.find(key);
    if (i == FlatMap::ABSENT) {
      i = static_cast<std::uint32_t>(fractions_.size());
      places_.insert(key, i);
      fractions_.push_back({});
    }
    return fractions_[i];
  }

  const TaggingState& state_;
  FlatMap places_;
  std::vector<Fraction> fractions_;
  Fraction emitted_;  // of the word, under the tag that is tried
};

}  // namespace

void sweep_one_tag_heuristic(TaggingState& state, Random& random) {
  ExpectedSeats seats(state);
  std::vector<PitmanYor*> processes;
  for (unsigned l = 0; l < state.order(); ++l) processes.push_back(&state.transitions.process(l));
  WordBase base;
  Trail trail;
  std::vector<double> weights(state.num_tags());
  WorkMeter meter;
  for (std::uint32_t word = 0; word < state.num_types(); ++word) {
    const auto tokens = state.tokens_of(word);
    const auto last = [&](std::size_t i) {
      const std::uint32_t event = state.last_event(tokens[i]);
      return i + 1 < tokens.size() ? std::min(event, tokens[i + 1] - 1) : event;
    };
    LogWeight unused;
    for (std::size_t i = tokens.size(); i-- > 0;) state.leave(tokens[i], last(i), random, trail, unused);
    state.fill_base(word, false, base);
    for (unsigned t = 0; t < state.num_tags(); ++t) {
      meter.add(WORK_OF_TOKEN * tokens.size());
      seats.clear();
      LogWeight weight;
      for (const std::uint32_t token : tokens) state.set_tag(token, static_cast<Tag>(t));
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        for (std::uint32_t event = tokens[i]; event <= last(i); ++event) {
          weight.multiply(seats.transition(state.at(event), processes));
        }
        weight.multiply(seats.emission(word, static_cast<Tag>(t), base.prob[t], state.emissions.process()));
      }
      weights[t] = weight.log();
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double total = 0.0;
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    const auto tag = static_cast<Tag>(draw_index(weights.data(), weights.size(), total, random));
    trail.clear();
    for (const std::uint32_t token : tokens) state.set_tag(token, tag);
    for (std::size_t i = 0; i < tokens.size(); ++i) state.seat(tokens[i], last(i), base, random, trail, unused);
    trail.clear();
  }
}

}  // namespace hiddenite::induce
