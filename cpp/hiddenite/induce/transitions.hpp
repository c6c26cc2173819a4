// Tag n-grams under a hierarchical Pitman–Yor prior: T -> B -> U -> uniform.
//
// Level l has a restaurant per context of l tags; a table opened there sends a
// customer to level l - 1, whose context is one tag shorter; below level 0 is the
// uniform distribution over the tags and the boundary. All of it is dense, so that
// samplers read without search.
//
// An n-gram's place follows from its context's: code(g_1 ... g_l) = g_1 + M g_2 + M^2 g_3 ...,
// the dish g_0 is cell g_0 of row code. Beside the counts stand
//   seen = c - a t of a dish,   share = 1 / (b + C) and rest = (b + a T) / (b + C) of a restaurant,
// so that p_l = seen share + rest p_{l-1}; they are computed from the whole counts at each
// change: undoing is exact.
//
// A sampler of tokens asks for one tag x in all K versions at once. x is the symbol of
// one event and part of the context of the next order - 1; so there are mirrors of
// these numbers, one for every place that x can take in a context, in which x runs
// fastest: a level is then a loop over rows. Samplers that do not ask for that switch
// the mirrors off while they run, and `seen` with them: all else reads the counts.
//
// A sampler of types has many like events: one context, one symbol. They follow each other
// in the registers, since only a new table changes what lies below, and leave as one.
//
// Which door to take: `at` points to the event's symbol in the tags; its context lies before it.
//   p(symbol | context)                        predict
//   a customer sits down, tables are drawn     seat (the predictive probability before it)
//   ... with the tables of an earlier seating  replay
//   a customer leaves, tables are drawn        unseat
//   a seating is taken back, and again there   undo, redo
//   p for all values of a tag                  multiply_scores
//   like events, one after the other           seat_all, replay_all, unseat_all
//   ... without draws, there or back           move_all
// `opened` is the number of levels, from the longest context down, that got a new table.
#pragma once

#include <array>
#include <span>

#include "hiddenite/base/log_weight.hpp"
#include "hiddenite/induce/pitman_yor.hpp"
#include "hiddenite/induce/tag_scores.hpp"

namespace hiddenite::induce {

using Tag = std::uint16_t;
using Trail = std::vector<std::uint8_t>;  // what was drawn, as a stack: state.hpp

class TagTransitions {
 public:
  static constexpr unsigned MAX_ORDER = 8;
  static constexpr std::size_t MAX_CELLS = std::size_t{1} << 24;  // of the longest n-grams

  // Throws ModelError if that many n-grams are too many to keep.
  TagTransitions(unsigned num_tags, unsigned order);

  unsigned order() const { return static_cast<unsigned>(levels_.size()); }
  Tag boundary() const { return static_cast<Tag>(num_symbols_ - 1); }
  std::size_t stride() const { return stride_; }  // of a row of scores: all symbols, then zeros

  double predict(const Tag* at) const;
  double seat(const Tag* at, Random& random, std::uint8_t& opened);
  double replay(const Tag* at, std::uint8_t opened);
  std::uint8_t unseat(const Tag* at, Random& random);
  void undo(const Tag* at, std::uint8_t opened) { move(at, opened, -1); }
  void redo(const Tag* at, std::uint8_t opened) { move(at, opened, 1); }  // replay, not weighed
  // At most `predict`, whichever `num_left` customers leave, of the same event or others.
  double predict_at_least(const Tag* at, unsigned num_left) const;

  // How many customers each level gets of like events, from the longest context down: their number, then the tables
  // that these open, and so on; the last are the tables of level 0.
  using Arrivals = std::array<std::uint32_t, MAX_ORDER + 1>;
  Arrivals seat_all(const Tag* at, std::uint32_t count, Random& random, LogWeight& weight);
  // `opened` of each event, the last first: `end` is moved to the first event's.
  Arrivals replay_all(const Tag* at, std::uint32_t count, const std::uint8_t*& end, LogWeight& weight);
  // Writes `opened` of each event, the last event's first.
  void unseat_all(const Tag* at, std::uint32_t count, Random& random, Trail& trail);
  void move_all(const Tag* at, const Arrivals& arrivals, int sign);

  // scores[x] *= p(*at | context) with the tag `distance` places before `at` replaced by x.
  void multiply_scores(const Tag* at, unsigned distance, float* scores) const;

  // About the probability of `count` like events with that tag replaced by x, after `before` others in their context:
  // tables that they open are left out, and so are factors that do not depend on x.
  void score_like(const Tag* at, unsigned distance, std::uint32_t count, std::uint32_t before, TagScores& scores) const;

  // Whether `multiply_scores` and `score_like` may be asked; switching them on brings the mirrors up to date.
  void set_mirrored(bool mirrored);
  // Changes that will be taken back before anybody asks need not be written to the mirrors.
  void hold_mirrors(bool held) { writing_ = mirrored_ && !held; }

  // Where the event's dish and restaurant stand in `level(l).dishes` and `.contexts`.
  std::size_t dish_place(unsigned l, const Tag* at) const { return context_place(l, at) * stride_ + *at; }
  std::size_t context_place(unsigned l, const Tag* at) const {
    std::size_t code = 0;
    for (unsigned i = l; i > 0; --i) code = code * num_symbols_ + at[-static_cast<std::ptrdiff_t>(i)];
    return code;
  }

  PitmanYor& process(unsigned level) { return levels_[level].process; }
  void set_process(unsigned level, double discount, double strength);
  SeatingSummary summary(unsigned level) const;
  double log_base(unsigned level) const;  // ln of the uniform base, once a table of level 0; 0 above
  std::vector<Seats> counts(unsigned level) const;  // [code of the n-gram, most distant tag first]
  void restore(unsigned level, std::span<const Seats> counts);
  void check() const;  // the tables of a level are the customers of the next

  struct Context {
    Seats seats;
    float share = 0.0f, rest = 0.0f;
  };
  struct Mirror {  // x is the tag `distance` places before the symbol
    std::vector<float> seen, share, rest;
    std::vector<std::size_t> gram_factors, context_factors;  // of the digits, in a place
  };
  struct Level {
    PitmanYor process;
    std::vector<Seats> dishes;      // [code * stride + symbol]
    std::vector<float> seen;        // likewise; up to date while there are mirrors
    std::vector<Context> contexts;  // [code]
    std::vector<Mirror> mirrors;    // by distance; the first is empty

    float seen_of(Seats dish) const { return static_cast<float>(dish.customers - process.discount * dish.tables); }
  };
  const Level& level(unsigned l) const { return levels_[l]; }
  std::size_t num_symbols() const { return num_symbols_; }

 private:
  struct LevelValues {
    std::size_t places[MAX_ORDER];  // of the contexts
    double p[MAX_ORDER], joined[MAX_ORDER];  // p_l, and the part of it that is sitting down
  };
  void read_levels(const Tag* at, unsigned num_levels, LevelValues& values) const;
  void change(unsigned l, std::size_t context, const Tag* at, int customers, int tables);
  void move(const Tag* at, std::uint8_t opened, int sign);
  void write_mirrors(unsigned l, const Tag* at);
  std::uint8_t unseat_from(unsigned l, const Tag* at, Random& random);
  template <class Decisions>
  Arrivals seat_like(const Tag* at, std::uint32_t count, Decisions decisions, LogWeight& weight);
  template <class Decisions>
  void seat_below(const Tag* at, Decisions& decisions, LevelValues& values, Arrivals& arrivals);

  std::size_t num_symbols_, stride_;
  std::vector<std::size_t> powers_;  // M^l
  std::vector<Level> levels_;        // by length of the context
  bool mirrored_ = true, writing_ = true;
};

// The shortest contexts first.
inline void TagTransitions::read_levels(const Tag* at, unsigned num_levels, LevelValues& values) const {
  double below = 1.0 / static_cast<double>(num_symbols_);
  std::size_t code = 0;
  for (unsigned l = 0; l < num_levels; ++l) {
    if (l > 0) code += powers_[l - 1] * at[-static_cast<std::ptrdiff_t>(l)];
    const Level& level = levels_[l];
    const Context& context = level.contexts[code];
    values.places[l] = code;
    values.joined[l] = double{level.seen_of(level.dishes[code * stride_ + *at])} * context.share;
    below = values.p[l] = values.joined[l] + double{context.rest} * below;
  }
}

inline void TagTransitions::change(unsigned l, std::size_t place, const Tag* at, int customers, int tables) {
  Level& level = levels_[l];
  Seats& dish = level.dishes[place * stride_ + *at];
  Context& context = level.contexts[place];
  dish.customers += customers;
  dish.tables += tables;
  context.seats.customers += customers;
  context.seats.tables += tables;
  const double a = level.process.discount, b = level.process.strength;
  const double share = 1.0 / (b + context.seats.customers);
  context.share = static_cast<float>(share);
  context.rest = static_cast<float>((b + a * context.seats.tables) * share);
  if (writing_) write_mirrors(l, at);
}

}  // namespace hiddenite::induce
