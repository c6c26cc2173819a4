#include "hiddenite/induce/transitions.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "hiddenite/base/clones.hpp"
#include "hiddenite/base/error.hpp"

namespace hiddenite::induce {

namespace {

constexpr std::size_t VECTOR = 8;      // floats; rows are padded to whole vectors
constexpr std::size_t MAX_SYMBOLS = 512;

// Factors of the digits `first` to `last` in a place where the digit `fastest` runs fastest, in rows of `stride`.
std::vector<std::size_t> factors(unsigned first, unsigned last, unsigned fastest, std::size_t symbols,
                                 std::size_t stride) {
  std::vector<std::size_t> answer(last + 1, 0);
  std::size_t factor = stride;
  for (unsigned i = first; i <= last; ++i) {
    answer[i] = i == fastest ? 1 : factor;
    if (i != fastest) factor *= symbols;
  }
  return answer;
}

std::size_t place(const std::vector<std::size_t>& factors, const Tag* at) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) sum += factors[i] * at[-static_cast<std::ptrdiff_t>(i)];
  return sum;
}

// ... with the digit at `distance` left out: the beginning of its row.
std::size_t row(const std::vector<std::size_t>& factors, const Tag* at, unsigned distance) {
  return place(factors, at) - factors[distance] * at[-static_cast<std::ptrdiff_t>(distance)];
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
    level.dishes.resize(contexts * stride_);
    level.seen.resize(contexts * stride_);
    level.contexts.resize(contexts);
    level.mirrors.resize(l + 1);
    for (unsigned d = 1; d <= l; ++d) {
      Mirror& mirror = level.mirrors[d];
      mirror.gram_factors = factors(0, l, d, num_symbols_, stride_);
      mirror.context_factors = factors(1, l, d, num_symbols_, stride_);
      mirror.seen.resize(contexts * stride_);
      mirror.share.resize(contexts / num_symbols_ * stride_);
      mirror.rest.resize(contexts / num_symbols_ * stride_);
    }
    levels_.push_back(std::move(level));
    powers_.push_back(contexts);
    set_process(l, 0.5, 1.0);
    contexts *= num_symbols_;
  }
}

double TagTransitions::predict(const Tag* at) const {
  double below = 1.0 / static_cast<double>(num_symbols_);
  std::size_t code = 0;
  for (unsigned l = 0; l < levels_.size(); ++l) {
    if (l > 0) code += powers_[l - 1] * at[-static_cast<std::ptrdiff_t>(l)];
    const Level& level = levels_[l];
    const Context& context = level.contexts[code];
    const double seen = level.seen_of(level.dishes[code * stride_ + *at]);
    below = seen * context.share + double{context.rest} * below;
  }
  return below;
}

double TagTransitions::seat(const Tag* at, Random& random, std::uint8_t& opened) {
  LevelValues values;
  read_levels(at, order(), values);
  opened = 0;
  for (unsigned l = order(); l-- > 0;) {
    const bool opens = random.uniform() * values.p[l] >= values.joined[l];
    change(l, values.places[l], at, 1, opens ? 1 : 0);
    if (!opens) break;
    ++opened;
  }
  return values.p[order() - 1];
}

double TagTransitions::replay(const Tag* at, std::uint8_t opened) {
  const double answer = predict(at);
  redo(at, opened);
  return answer;
}

// A customer who leaves takes 1 - a or 1 from what is seen, and a / (b + C) at most from what is left for the levels
// below, which lose no more customers than the levels above; the others get more of a restaurant with fewer customers.
double TagTransitions::predict_at_least(const Tag* at, unsigned num_left) const {
  double below = 1.0 / static_cast<double>(num_symbols_);
  std::size_t code = 0;
  for (unsigned l = 0; l < levels_.size(); ++l) {
    if (l > 0) code += powers_[l - 1] * at[-static_cast<std::ptrdiff_t>(l)];
    const Level& level = levels_[l];
    const Context& context = level.contexts[code];
    const double seen = double{level.seen_of(level.dishes[code * stride_ + *at])} - num_left;
    const double rest = double{context.rest} - num_left * level.process.discount * context.share;
    below = std::max(seen, 0.0) * context.share + std::max(rest, 0.0) * below;
  }
  return below;
}

std::uint8_t TagTransitions::unseat(const Tag* at, Random& random) { return unseat_from(order() - 1, at, random); }

// From the level `highest` down; how many of them lose a table.
std::uint8_t TagTransitions::unseat_from(unsigned highest, const Tag* at, Random& random) {
  std::uint8_t closed = 0;
  for (unsigned l = highest + 1; l-- > 0;) {
    Level& level = levels_[l];
    const std::size_t context = context_place(l, at);
    const Seats seats = level.dishes[context * stride_ + *at];
    const bool closes = random.uniform() < level.process.stirling.opened(seats.customers, seats.tables);
    change(l, context, at, -1, closes ? -1 : 0);
    if (!closes) break;
    ++closed;
  }
  return closed;
}

void TagTransitions::move(const Tag* at, std::uint8_t opened, int sign) {
  for (unsigned depth = 0; depth <= opened && depth < order(); ++depth) {
    const unsigned l = order() - 1 - depth;
    change(l, context_place(l, at), at, sign, depth < opened ? sign : 0);
  }
}

// All copies of an n-gram's counts.
void TagTransitions::write_mirrors(unsigned l, const Tag* at) {
  Level& level = levels_[l];
  const Context& context = level.contexts[context_place(l, at)];
  const std::size_t dish = dish_place(l, at);
  const float seen = level.seen[dish] = level.seen_of(level.dishes[dish]);
  for (unsigned d = 1; d <= l; ++d) {
    Mirror& mirror = level.mirrors[d];
    mirror.seen[place(mirror.gram_factors, at)] = seen;
    const std::size_t at_place = place(mirror.context_factors, at);
    mirror.share[at_place] = context.share;
    mirror.rest[at_place] = context.rest;
  }
}

HIDDENITE_CLONES
void TagTransitions::multiply_scores(const Tag* at, unsigned distance, float* scores) const {
  float p[MAX_SYMBOLS];
  const std::size_t width = stride_ / VECTOR * VECTOR;  // tells the compiler that rows are whole vectors
  float below = 1.0f / static_cast<float>(num_symbols_);
  for (unsigned l = 0; l < distance; ++l) {  // x is neither symbol nor context yet
    const Context& context = levels_[l].contexts[context_place(l, at)];
    below = levels_[l].seen[dish_place(l, at)] * context.share + context.rest * below;
  }
  for (std::size_t x = 0; x < width; ++x) p[x] = below;
  for (unsigned l = distance; l < levels_.size(); ++l) {
    const Level& level = levels_[l];
    if (distance == 0) {  // one restaurant, all dishes
      const std::size_t code = context_place(l, at);
      const float* seen = level.seen.data() + code * stride_;
      const float share = level.contexts[code].share, rest = level.contexts[code].rest;
      for (std::size_t x = 0; x < width; ++x) p[x] = seen[x] * share + rest * p[x];
    } else {  // one dish, all restaurants
      const Mirror& mirror = level.mirrors[distance];
      const float* seen = mirror.seen.data() + row(mirror.gram_factors, at, distance);
      const std::size_t context = row(mirror.context_factors, at, distance);
      const float* share = mirror.share.data() + context;
      const float* rest = mirror.rest.data() + context;
      for (std::size_t x = 0; x < width; ++x) p[x] = seen[x] * share[x] + rest[x] * p[x];
    }
  }
  for (std::size_t x = 0; x < width; ++x) scores[x] *= p[x];
}

HIDDENITE_CLONES
void TagTransitions::score_like(const Tag* at, unsigned distance, std::uint32_t count, std::uint32_t before,
                                TagScores& scores) const {
  float numerators[MAX_SYMBOLS], denominators[MAX_SYMBOLS];  // of p at the longest context
  const std::size_t width = stride_ / VECTOR * VECTOR;
  const auto top = static_cast<unsigned>(levels_.size() - 1);
  std::fill(numerators, numerators + width, 1.0f);
  multiply_scores(at, distance, numerators);
  if (distance == 0) {
    const float share = levels_[top].contexts[context_place(top, at)].share;
    for (std::size_t x = 0; x < width; ++x) numerators[x] /= share;
  } else {
    const Mirror& mirror = levels_[top].mirrors[distance];
    const float* share = mirror.share.data() + row(mirror.context_factors, at, distance);
    for (std::size_t x = 0; x < width; ++x) denominators[x] = 1.0f / share[x];
    for (std::size_t x = 0; x < width; ++x) numerators[x] *= denominators[x];
  }
  double* products = scores.products();
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto more = static_cast<float>(i), others = static_cast<float>(before + i);
    if (distance == 0) {
      for (std::size_t x = 0; x < width; ++x) products[x] *= numerators[x] + more;
    } else {
      for (std::size_t x = 0; x < width; ++x) products[x] *= (numerators[x] + more) / (denominators[x] + others);
    }
    scores.count_factor();
  }
}

void TagTransitions::set_process(unsigned l, double discount, double strength) {
  levels_[l].process.set(discount, strength);
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

void TagTransitions::set_mirrored(bool mirrored) {
  if (mirrored && !mirrored_) {
    for (unsigned l = 0; l < levels_.size(); ++l) {
      for_grams(l, num_symbols_, [&](std::size_t, const Tag* at) { write_mirrors(l, at); });
    }
  }
  mirrored_ = writing_ = mirrored;
}

std::vector<Seats> TagTransitions::counts(unsigned l) const {
  std::vector<Seats> answer;
  for_grams(l, num_symbols_,
            [&](std::size_t, const Tag* at) { answer.push_back(levels_[l].dishes[dish_place(l, at)]); });
  return answer;
}

void TagTransitions::restore(unsigned l, std::span<const Seats> counts) {
  Level& level = levels_[l];
  std::fill(level.contexts.begin(), level.contexts.end(), Context{});
  for_grams(l, num_symbols_, [&](std::size_t code, const Tag* at) {
    const Seats seats = counts[code];
    level.dishes[dish_place(l, at)] = seats;
    Context& context = level.contexts[context_place(l, at)];
    context.seats.customers += seats.customers;
    context.seats.tables += seats.tables;
  });
  for_grams(l, num_symbols_, [&](std::size_t, const Tag* at) { change(l, context_place(l, at), at, 0, 0); });
}

SeatingSummary TagTransitions::summary(unsigned l) const {
  SeatingSummary summary;
  for (const Context& context : levels_[l].contexts) summary.add_restaurant(context.seats);
  for (const Seats& seats : levels_[l].dishes) summary.add_dish(seats);
  return summary;
}

double TagTransitions::log_base(unsigned l) const {
  return l > 0 ? 0.0 : -levels_[0].contexts[0].seats.tables * std::log(static_cast<double>(num_symbols_));
}

void TagTransitions::check() const {
  const auto fail = [](unsigned l) {
    throw std::logic_error("broken counts of tag n-grams at level " + std::to_string(l));
  };
  for (unsigned l = 0; l < levels_.size(); ++l) {
    std::vector<Seats> below(l > 0 ? levels_[l - 1].dishes.size() : 0);
    const Level& level = levels_[l];
    for_grams(l, num_symbols_, [&](std::size_t, const Tag* at) {
      const Seats seats = level.dishes[dish_place(l, at)];
      if (seats.tables < 0 || seats.customers < seats.tables || (seats.customers > 0 && seats.tables == 0)) fail(l);
      if (mirrored_ && level.seen[dish_place(l, at)] != level.seen_of(seats)) fail(l);
      if (l > 0) below[dish_place(l - 1, at)].customers += seats.tables;
    });
    for (std::size_t i = 0; i < below.size(); ++i) {
      if (below[i].customers != levels_[l - 1].dishes[i].customers) fail(l);
    }
  }
}

}  // namespace hiddenite::induce
