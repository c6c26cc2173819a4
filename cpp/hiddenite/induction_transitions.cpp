#include "induction_transitions.hpp"

#include <cmath>
#include <string>

#include "error.hpp"

namespace hiddenite {

namespace {

constexpr std::size_t VECTOR = 8;      // floats; rows are padded to whole vectors
constexpr std::size_t MAX_SYMBOLS = 512;

// Where the digit `fastest` runs fastest in rows of `stride`, the others base `symbols`, most distant first.
std::vector<std::size_t> places(unsigned first, unsigned last, unsigned fastest, std::size_t symbols,
                                std::size_t stride) {
  std::vector<std::size_t> factors(last + 1, 0);
  std::size_t factor = stride;
  for (unsigned i = first; i <= last; ++i) {
    if (i == fastest) {
      factors[i] = 1;
    } else {
      factors[i] = factor;
      factor *= symbols;
    }
  }
  return factors;
}

std::size_t place(const std::vector<std::size_t>& factors, const Tag* at) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) sum += factors[i] * at[-static_cast<std::ptrdiff_t>(i)];
  return sum;
}

// ... with the digit at `distance` left out: the beginning of its row.
std::size_t row(const std::vector<std::size_t>& factors, const Tag* at, unsigned distance) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i != distance) sum += factors[i] * at[-static_cast<std::ptrdiff_t>(i)];
  }
  return sum;
}

}  // namespace

TagTransitions::TagTransitions(unsigned num_tags, unsigned order) : num_symbols_(num_tags + 1) {
  stride_ = (num_symbols_ + VECTOR - 1) / VECTOR * VECTOR;
  std::size_t cells = stride_;
  for (unsigned l = 1; l < order; ++l) cells = cells > MAX_CELLS ? cells : cells * num_symbols_;
  if (order < 2 || order > MAX_ORDER || cells > MAX_CELLS || num_symbols_ > MAX_SYMBOLS) {
    throw ModelError("tag n-grams of order " + std::to_string(order) + " over " + std::to_string(num_tags) +
                     " tags are too many to keep; choose a smaller order or fewer tags");
  }
  std::size_t contexts = 1;
  for (unsigned l = 0; l < order; ++l) {
    Level level;
    const std::size_t rows = l == 0 ? 1 : contexts / num_symbols_;  // of contexts
    for (unsigned d = 0; d <= l; ++d) {
      level.gram_place.push_back(places(0, l, d, num_symbols_, stride_));
      level.seen.emplace_back(contexts * stride_);
      if (d == 0 && l > 0) {
        level.context_place.emplace_back();
        level.share.emplace_back();
        level.rest.emplace_back();
        continue;
      }
      level.context_place.push_back(places(1, l, d, num_symbols_, stride_));
      level.share.emplace_back(l == 0 ? 1 : rows * stride_);
      level.rest.emplace_back(l == 0 ? 1 : rows * stride_);
    }
    level.dishes.resize(contexts * stride_);
    level.contexts.resize(l == 0 ? 1 : rows * stride_);
    levels_.push_back(std::move(level));
    set_process(l, 0.5, 1.0);
    contexts *= num_symbols_;
  }
}

// p_l for all levels, and the part of it that is sitting down; the last is the answer.
inline double TagTransitions::level_values(const Tag* at, double* p, double* joined) const {
  double below = 1.0 / static_cast<double>(num_symbols_);
  for (unsigned l = 0; l < levels_.size(); ++l) {
    const Level& level = levels_[l];
    const unsigned d = l == 0 ? 0 : 1;
    const std::size_t context = l == 0 ? 0 : place(level.context_place[1], at);
    joined[l] = double{level.seen[0][place(level.gram_place[0], at)]} * level.share[d][context];
    below = p[l] = joined[l] + double{level.rest[d][context]} * below;
  }
  return below;
}

double TagTransitions::predict(const Tag* at) const {
  double p[MAX_ORDER], joined[MAX_ORDER];
  return level_values(at, p, joined);
}

double TagTransitions::seat(const Tag* at, Random& random, std::uint8_t& opened) {
  double p[MAX_ORDER], joined[MAX_ORDER];
  const double answer = level_values(at, p, joined);
  opened = 0;
  for (auto l = static_cast<unsigned>(levels_.size()); l-- > 0;) {
    const bool opens = random.uniform() * p[l] >= joined[l];
    change(levels_[l], l, at, 1, opens ? 1 : 0);
    if (!opens) break;
    ++opened;
  }
  return answer;
}

double TagTransitions::replay(const Tag* at, std::uint8_t opened) {
  const double answer = predict(at);
  const auto order = static_cast<unsigned>(levels_.size());
  for (unsigned depth = 0; depth <= opened && depth < order; ++depth) {
    const unsigned l = order - 1 - depth;
    change(levels_[l], l, at, 1, depth < opened ? 1 : 0);
  }
  return answer;
}

std::uint8_t TagTransitions::unseat(const Tag* at, Random& random) {
  std::uint8_t closed = 0;
  for (auto l = static_cast<unsigned>(levels_.size()); l-- > 0;) {
    Level& level = levels_[l];
    const Seats seats = level.dishes[place(level.gram_place[0], at)];
    const bool closes = random.uniform() < level.process.stirling.opened(seats.customers, seats.tables);
    change(level, l, at, -1, closes ? -1 : 0);
    if (!closes) break;
    ++closed;
  }
  return closed;
}

void TagTransitions::undo(const Tag* at, std::uint8_t opened) {
  const auto order = static_cast<unsigned>(levels_.size());
  for (unsigned depth = 0; depth <= opened && depth < order; ++depth) {
    const unsigned l = order - 1 - depth;
    change(levels_[l], l, at, -1, depth < opened ? -1 : 0);
  }
}

void TagTransitions::change(Level& level, unsigned l, const Tag* at, int customers, int tables) {
  Seats& dish = level.dishes[place(level.gram_place[0], at)];
  Seats& context = level.contexts[l == 0 ? 0 : place(level.context_place[1], at)];
  dish.customers += customers;
  dish.tables += tables;
  context.customers += customers;
  context.tables += tables;
  write(level, l, at);
}

// The copies of one n-gram and of its context.
void TagTransitions::write(Level& level, unsigned l, const Tag* at) {
  const double a = level.process.discount, b = level.process.strength;
  const Seats dish = level.dishes[place(level.gram_place[0], at)];
  const Seats context = level.contexts[l == 0 ? 0 : place(level.context_place[1], at)];
  const auto seen = static_cast<float>(dish.customers - a * dish.tables);
  const double share = 1.0 / (b + context.customers);
  const auto rest = static_cast<float>((b + a * context.tables) * share);
  for (unsigned d = 0; d <= l; ++d) level.seen[d][place(level.gram_place[d], at)] = seen;
  if (l == 0) {
    level.share[0][0] = static_cast<float>(share);
    level.rest[0][0] = rest;
    return;
  }
  for (unsigned d = 1; d <= l; ++d) {
    const std::size_t at_place = place(level.context_place[d], at);
    level.share[d][at_place] = static_cast<float>(share);
    level.rest[d][at_place] = rest;
  }
}

void TagTransitions::multiply_scores(const Tag* at, unsigned distance, float* scores) const {
  float p[MAX_SYMBOLS];
  const std::size_t width = stride_ / VECTOR * VECTOR;  // tells the compiler that rows are whole vectors
  float below = 1.0f / static_cast<float>(num_symbols_);
  for (unsigned l = 0; l < distance; ++l) {  // x is neither symbol nor context yet
    const Level& level = levels_[l];
    const std::size_t context = l == 0 ? 0 : place(level.context_place[1], at);
    const unsigned d = l == 0 ? 0 : 1;
    below = level.seen[0][place(level.gram_place[0], at)] * level.share[d][context] + level.rest[d][context] * below;
  }
  for (std::size_t x = 0; x < width; ++x) p[x] = below;
  for (unsigned l = distance; l < levels_.size(); ++l) {
    const Level& level = levels_[l];
    const float* seen = level.seen[distance].data() + row(level.gram_place[distance], at, distance);
    if (distance == 0) {  // one restaurant, all dishes
      const unsigned d = l == 0 ? 0 : 1;
      const std::size_t context = l == 0 ? 0 : place(level.context_place[1], at);
      const float share = level.share[d][context], rest = level.rest[d][context];
      for (std::size_t x = 0; x < width; ++x) p[x] = seen[x] * share + rest * p[x];
    } else {  // one dish, all restaurants
      const std::size_t context = row(level.context_place[distance], at, distance);
      const float* share = level.share[distance].data() + context;
      const float* rest = level.rest[distance].data() + context;
      for (std::size_t x = 0; x < width; ++x) p[x] = seen[x] * share[x] + rest[x] * p[x];
    }
  }
  for (std::size_t x = 0; x < width; ++x) scores[x] *= p[x];
}

std::size_t TagTransitions::dish_place(unsigned l, const Tag* at) const { return place(levels_[l].gram_place[0], at); }

std::size_t TagTransitions::context_place(unsigned l, const Tag* at) const {
  return l == 0 ? 0 : place(levels_[l].context_place[1], at);
}

void TagTransitions::set_process(unsigned l, double discount, double strength) {
  Level& level = levels_[l];
  level.process.set(discount, strength);
  const std::vector<Seats> kept = counts(l);
  restore(l, kept);
}

// Calls visit(code, at) for all n-grams of the level.
template <class Visit>
static void for_grams(unsigned l, std::size_t num_symbols, Visit visit) {
  Tag window[TagTransitions::MAX_ORDER] = {};
  std::size_t cells = 1;
  for (unsigned i = 0; i <= l; ++i) cells *= num_symbols;
  for (std::size_t code = 0; code < cells; ++code) {
    std::size_t left = code;
    for (unsigned i = 0; i <= l; ++i) {
      window[l - i] = static_cast<Tag>(left % num_symbols);
      left /= num_symbols;
    }
    visit(code, window + l);
  }
}

std::vector<Seats> TagTransitions::counts(unsigned l) const {
  std::vector<Seats> answer;
  const Level& level = levels_[l];
  for_grams(l, num_symbols_,
            [&](std::size_t, const Tag* at) { answer.push_back(level.dishes[place(level.gram_place[0], at)]); });
  return answer;
}

void TagTransitions::restore(unsigned l, std::span<const Seats> counts) {
  Level& level = levels_[l];
  std::fill(level.contexts.begin(), level.contexts.end(), Seats{});
  for_grams(l, num_symbols_, [&](std::size_t code, const Tag* at) {
    const Seats seats = counts[code];
    level.dishes[place(level.gram_place[0], at)] = seats;
    Seats& context = level.contexts[l == 0 ? 0 : place(level.context_place[1], at)];
    context.customers += seats.customers;
    context.tables += seats.tables;
  });
  for_grams(l, num_symbols_, [&](std::size_t, const Tag* at) { write(level, l, at); });
}

SeatingSummary TagTransitions::summary(unsigned l) const {
  SeatingSummary summary;
  for (const Seats& seats : levels_[l].contexts) summary.add_restaurant(seats);
  for (const Seats& seats : levels_[l].dishes) summary.add_dish(seats);
  return summary;
}

double TagTransitions::log_base(unsigned l) const {
  return l > 0 ? 0.0 : -levels_[0].contexts[0].tables * std::log(static_cast<double>(num_symbols_));
}

void TagTransitions::check() const {
  const auto fail = [](unsigned l) {
    throw std::logic_error("broken counts of tag n-grams at level " + std::to_string(l));
  };
  for (unsigned l = 0; l < levels_.size(); ++l) {
    std::vector<Seats> below(l > 0 ? levels_[l - 1].dishes.size() : 0);
    const Level& level = levels_[l];
    for_grams(l, num_symbols_, [&](std::size_t, const Tag* at) {
      const Seats seats = level.dishes[place(level.gram_place[0], at)];
      if (seats.tables < 0 || seats.customers < seats.tables || (seats.customers > 0 && seats.tables == 0)) fail(l);
      if (level.seen[0][place(level.gram_place[0], at)] !=
          static_cast<float>(seats.customers - level.process.discount * seats.tables)) fail(l);
      if (l > 0) below[place(levels_[l - 1].gram_place[0], at)].customers += seats.tables;
    });
    for (std::size_t i = 0; i < below.size(); ++i) {
      if (below[i].customers != levels_[l - 1].dishes[i].customers) fail(l);
    }
  }
}

}  // namespace hiddenite
