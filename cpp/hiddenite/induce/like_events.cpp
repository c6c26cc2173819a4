#include "hiddenite/induce/transitions.hpp"

namespace hiddenite::induce {

namespace {

// Whether a customer opens a table, `depth` levels below the longest context: drawn, or as it was before.
struct Draws {
  void begin_event() {}
  bool opens(unsigned, double p, double joined) { return random.uniform() * p >= joined; }

  Random& random;
};

struct Repeats {
  void begin_event() { opened = *--end; }
  bool opens(unsigned depth, double, double) const { return depth < opened; }

  const std::uint8_t*& end;
  unsigned opened = 0;
};

}  // namespace

// At the longest context all is in registers; what lies below changes only with a new table.
template <class Decisions>
TagTransitions::Arrivals TagTransitions::seat_like(const Tag* at, std::uint32_t count, Decisions decisions,
                                                   LogWeight& weight) {
  const unsigned top = order() - 1;  // at least 1
  LevelValues values;
  read_levels(at, top, values);
  Level& level = levels_[top];
  const std::size_t place = values.places[top - 1] + powers_[top - 1] * at[-static_cast<std::ptrdiff_t>(top)];
  Seats dish = level.dishes[place * stride_ + *at], all = level.contexts[place].seats;
  const double a = level.process.discount, b = level.process.strength;
  double fresh = (b + a * all.tables) * values.p[top - 1];
  Arrivals arrivals{};
  arrivals[0] = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double seen = dish.customers - a * dish.tables, sum = seen + fresh;
    weight.multiply(sum / (b + all.customers));
    decisions.begin_event();
    ++dish.customers;
    ++all.customers;
    if (!decisions.opens(0, sum, seen)) continue;
    ++dish.tables;
    ++all.tables;
    seat_below(at, decisions, values, arrivals);
    fresh = (b + a * all.tables) * values.p[top - 1];
  }
  change(top, place, at, static_cast<int>(count), static_cast<int>(arrivals[1]));
  return arrivals;
}

// A table was opened at the longest context. The values of the levels below are those after it.
template <class Decisions>
void TagTransitions::seat_below(const Tag* at, Decisions& decisions, LevelValues& values, Arrivals& arrivals) {
  const unsigned top = order() - 1;
  for (unsigned depth = 1; depth <= top; ++depth) {
    const unsigned l = top - depth;
    ++arrivals[depth];
    const bool opens = decisions.opens(depth, values.p[l], values.joined[l]);
    change(l, values.places[l], at, 1, opens ? 1 : 0);
    if (!opens) break;
    if (l == 0) ++arrivals[depth + 1];
  }
  read_levels(at, top, values);
}

TagTransitions::Arrivals TagTransitions::seat_all(const Tag* at, std::uint32_t count, Random& random,
                                                  LogWeight& weight) {
  return seat_like(at, count, Draws{random}, weight);
}

TagTransitions::Arrivals TagTransitions::replay_all(const Tag* at, std::uint32_t count, const std::uint8_t*& end,
                                                    LogWeight& weight) {
  return seat_like(at, count, Repeats{end}, weight);
}

void TagTransitions::unseat_all(const Tag* at, std::uint32_t count, Random& random, Trail& trail) {
  const unsigned top = order() - 1;
  Level& level = levels_[top];
  const std::size_t place = context_place(top, at);
  Seats dish = level.dishes[place * stride_ + *at];
  const std::int32_t tables = dish.tables;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool closes = random.uniform() < level.process.stirling.opened(dish.customers, dish.tables);
    --dish.customers;
    if (closes) --dish.tables;
    trail.push_back(closes ? static_cast<std::uint8_t>(1 + unseat_from(top - 1, at, random)) : 0);
  }
  change(top, place, at, -static_cast<int>(count), dish.tables - tables);
}

void TagTransitions::move_all(const Tag* at, const Arrivals& arrivals, int sign) {
  for (unsigned depth = 0; depth < order() && arrivals[depth] > 0; ++depth) {
    const unsigned l = order() - 1 - depth;
    change(l, context_place(l, at), at, sign * static_cast<int>(arrivals[depth]),
           sign * static_cast<int>(arrivals[depth + 1]));
  }
}

}  // namespace hiddenite::induce
