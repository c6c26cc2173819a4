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
// the mirrors off while they run.
//
// Which door to take: `at` points to the event's symbol in the tags; its context lies before it.
//   p(symbol | context)                        predict
//   a customer sits down, tables are drawn     seat (the predictive probability before it)
//   ... with the tables of an earlier seating  replay
//   a customer leaves, tables are drawn        unseat
//   a seating is taken back                    undo
//   p for all values of a tag                  multiply_scores
// `opened` is the number of levels, from the longest context down, that got a new table.
#pragma once

#include <span>

#include "hiddenite/induce/pitman_yor.hpp"

namespace hiddenite::induce {

using Tag = std::uint16_t;

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
  void undo(const Tag* at, std::uint8_t opened);

  // Fetches what `seat` will read of the longest n-gram when the tag `distance` places before `at` is `more` higher.
  void fetch(const Tag* at, unsigned distance, std::ptrdiff_t more) const {
    const auto l = static_cast<unsigned>(levels_.size() - 1);
    const std::size_t step = distance == 0 ? 1 : stride_ * powers_[distance - 1];
    const std::size_t place = dish_place(l, at) + static_cast<std::size_t>(more) * step;
    __builtin_prefetch(levels_[l].seen.data() + place);
    __builtin_prefetch(levels_[l].dishes.data() + place, 1);
  }

  // scores[x] *= p(*at | context) with the tag `distance` places before `at` replaced by x.
  void multiply_scores(const Tag* at, unsigned distance, float* scores) const;

  // Whether `multiply_scores` may be asked; switching them on brings the mirrors up to date.
  void set_mirrored(bool mirrored);

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
    std::vector<float> seen;        // likewise
    std::vector<Context> contexts;  // [code]
    std::vector<Mirror> mirrors;    // by distance; the first is empty
  };
  const Level& level(unsigned l) const { return levels_[l]; }
  std::size_t num_symbols() const { return num_symbols_; }

 private:
  void change(unsigned l, std::size_t context, const Tag* at, int customers, int tables);
  void write_mirrors(unsigned l, const Tag* at);
  double level_values(const Tag* at, std::size_t* places, double* p, double* joined) const;

  std::size_t num_symbols_, stride_;
  std::vector<std::size_t> powers_;  // M^l
  std::vector<Level> levels_;        // by length of the context
  bool mirrored_ = true;
};

}  // namespace hiddenite::induce
