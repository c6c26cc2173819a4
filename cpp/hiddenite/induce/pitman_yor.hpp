// The two numbers of a Pitman–Yor process and how they are drawn.
//
// A process that many restaurants share has a discount a in [0, 1) and a strength
// b > 0. A customer in a restaurant with C customers at T tables, c at the t tables
// of its dish, finds
//   p(dish) = (c - a t) / (b + C) + (b + a T) / (b + C) p_base(dish),
// the first part by sitting down, the second by opening a table, which sends a
// customer to the base. Customers are exchangeable: (c, t) is all that is kept.
//
// Given the counts, a and b have the likelihood
//   prod over restaurants of prod_{0<i<T} (b + a i) / prod_{0<i<C} (b + i)  x  prod over dishes of S_a(c, t),
// priors Beta and Gamma, and are drawn in turn by slice sampling (Neal 2003).
#pragma once

#include <map>
#include <utility>

#include "hiddenite/base/random.hpp"
#include "hiddenite/induce/stirling.hpp"

namespace hiddenite::induce {

struct Seats {
  std::int32_t customers = 0, tables = 0;
};

// Priors of a process: a ~ Beta(1, 1), b ~ Gamma(shape, scale).
struct StrengthPrior {
  double shape = 1.0, scale = 10.0;
};

struct PitmanYor {
  explicit PitmanYor(double discount = 0.5, double strength = 1.0)
      : discount(discount), strength(strength), stirling(discount) {}

  void set(double new_discount, double new_strength) {
    if (new_discount != stirling.discount()) stirling.reset(new_discount);
    discount = new_discount;
    strength = new_strength;
  }

  double discount, strength;
  StirlingTable stirling;
};

// All restaurants of a process, as histograms: what the likelihood needs.
class SeatingSummary {
 public:
  void add_restaurant(Seats seats) {
    if (seats.customers > 0) ++restaurants_[{seats.customers, seats.tables}];
  }
  void add_dish(Seats seats) {
    if (seats.customers > 0) ++dishes_[{seats.customers, seats.tables}];
  }
  double log_restaurants(double discount, double strength) const;
  double log_dishes(StirlingTable& stirling) const;
  double log_likelihood(PitmanYor& process) const {
    return log_restaurants(process.discount, process.strength) + log_dishes(process.stirling);
  }

 private:
  using Histogram = std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t>;
  Histogram restaurants_, dishes_;
};

// Draws discount (unless it is fixed at zero) and strength anew given the seating. The last discount that is tried
// is as a rule the one that is drawn: its Stirling ratios stay.
void draw_parameters(PitmanYor& process, const SeatingSummary& seating, StrengthPrior prior, bool fixed_discount,
                     Random& random);

}  // namespace hiddenite::induce
