// Tag n-grams under a hierarchical Pitman–Yor prior: T -> B -> U -> uniform.
//
// Level l has a restaurant per context of l tags; a table opened there sends a
// customer to level l - 1, whose context is one tag shorter; below level 0 is the
// uniform distribution over the tags and the boundary. All of it is dense, so that
// samplers read without search.
//
// A sampler asks for one token's tag x in all K versions at once. x is the symbol of
// one event and part of the context of the next order - 1; so beside the counts
// stand, for every place that x can take in an n-gram, copies of
//   seen = c - a t,   share = 1 / (b + C),   rest = (b + a T) / (b + C)
// in which x runs fastest: p_l = seen share + rest p_{l-1} is then a loop over rows.
// A copy is computed from the whole counts at each change: undoing is exact.
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

#include "pitman_yor.hpp"

namespace hiddenite {

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

  // scores[x] *= p(*at | context) with the tag `distance` places before `at` replaced by x.
  void multiply_scores(const Tag* at, unsigned distance, float* scores) const;

  // Where the event's dish and restaurant stand in `level(l).dishes` and `.contexts`.
  std::size_t dish_place(unsigned level, const Tag* at) const;
  std::size_t context_place(unsigned level, const Tag* at) const;

  PitmanYor& process(unsigned level) { return levels_[level].process; }
  void set_process(unsigned level, double discount, double strength);
  SeatingSummary summary(unsigned level) const;
  double log_base(unsigned level) const;  // ln of the uniform base, once a table of level 0; 0 above
  std::vector<Seats> counts(unsigned level) const;  // [code of the n-gram, most distant tag first]
  void restore(unsigned level, std::span<const Seats> counts);
  void check() const;  // the tables of a level are the customers of the next

  // For sums over contexts: rows of seen, over the tag at `distance`, and the context's share and rest.
  struct Level {
    PitmanYor process;
    std::vector<Seats> dishes, contexts;                     // in the layouts of distance 0 and 1
    std::vector<std::vector<float>> seen;                    // by distance 0 .. l
    std::vector<std::vector<float>> share, rest;             // by distance 1 .. l; one scalar at level 0
    std::vector<std::vector<std::size_t>> gram_place, context_place;  // [distance][digit]: factor of the digit
  };
  const Level& level(unsigned l) const { return levels_[l]; }
  std::size_t num_symbols() const { return num_symbols_; }

 private:
  void change(Level& level, unsigned l, const Tag* at, int customers, int tables);
  void write(Level& level, unsigned l, const Tag* at);
  double level_values(const Tag* at, double* p, double* joined) const;

  std::size_t num_symbols_, stride_;
  std::vector<Level> levels_;  // by length of the context
};

}  // namespace hiddenite
