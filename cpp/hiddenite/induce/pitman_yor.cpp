#include "hiddenite/induce/pitman_yor.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/gamma.hpp"

namespace hiddenite::induce {

namespace {

// The priors are cut here, far from where they have mass.
constexpr double LARGEST_DISCOUNT = 0.9999, LEAST_STRENGTH = 1e-6, LARGEST_STRENGTH = 1e6;

// One draw by slice sampling on (low, high) from exp(log_density): step out by `width`, then shrink.
template <class LogDensity>
double slice(double x, double width, double low, double high, const LogDensity& log_density, Random& random) {
  const double level = log_density(x) + std::log(random.positive_uniform());
  double left = x - width * random.uniform();
  double right = left + width;
  while (left > low && log_density(left) > level) left -= width;
  while (right < high && log_density(right) > level) right += width;
  left = std::max(left, low);
  right = std::min(right, high);
  for (;;) {
    const double y = left + (right - left) * random.uniform();
    if (y > low && y < high && log_density(y) >= level) return y;
    if (y == x) return x;  // the interval has shrunk to rounding
    (y < x ? left : right) = y;
  }
}

// ln prod_{0<i<n} (b + a i).
double log_rising(double strength, double discount, std::int32_t n) {
  double sum = 0.0, product = 1.0;
  for (std::int32_t i = 1; i < n; ++i) {
    product *= strength + discount * i;
    if (product > 1e250 || product < 1e-250) {
      sum += std::log(product);
      product = 1.0;
    }
  }
  return sum + std::log(product);
}

}  // namespace

double SeatingSummary::log_restaurants(double discount, double strength) const {
  double sum = 0.0;
  for (const auto& [seats, count] : restaurants_) {
    const auto [customers, tables] = seats;
    const double below = base::log_gamma(strength + customers) - base::log_gamma(strength + 1.0);
    sum += static_cast<double>(count) * (log_rising(strength, discount, tables) - below);
  }
  return sum;
}

double SeatingSummary::log_dishes(StirlingTable& stirling) const {
  double sum = 0.0;
  for (const auto& [seats, count] : dishes_) {
    sum += static_cast<double>(count) * stirling.log_number(seats.first, seats.second);
  }
  return sum;
}

void draw_parameters(PitmanYor& process, const SeatingSummary& seating, StrengthPrior prior, bool fixed_discount,
                     Random& random) {
  double discount = process.discount;
  if (!fixed_discount) {
    const auto log_density = [&](double a) {
      if (a != process.stirling.discount()) process.stirling.reset(a);
      return seating.log_restaurants(a, process.strength) + seating.log_dishes(process.stirling);
    };
    discount = slice(discount, 0.05, 0.0, LARGEST_DISCOUNT, log_density, random);
  }
  // On the logarithm of the strength: its scale is unknown. The last term is the change of variable.
  const auto log_density = [&](double log_b) {
    const double b = std::exp(log_b);
    return seating.log_restaurants(discount, b) + (prior.shape - 1.0) * log_b - b / prior.scale + log_b;
  };
  const double log_b = slice(std::log(process.strength), 0.5, std::log(LEAST_STRENGTH), std::log(LARGEST_STRENGTH),
                             log_density, random);
  process.set(discount, std::exp(log_b));
}

}  // namespace hiddenite::induce
