#include "hiddenite/lm/estimation/smoothing.hpp"

namespace hiddenite::lm {

double OrderRule::kept(std::uint64_t count) const {
  const auto c = static_cast<double>(count);
  switch (smoothing) {
    case NgramSmoothing::WITTEN_BELL: return c;
    case NgramSmoothing::GOOD_TURING: return count < coefficients.size() ? coefficients[count] * c : c;
    case NgramSmoothing::ADD_K: return c + added;
    default: return c - discounts.of(count);
  }
}

double OrderRule::held(std::uint64_t count) const {
  switch (smoothing) {
    case NgramSmoothing::WITTEN_BELL: return count > 0 ? 1.0 : 0.0;
    case NgramSmoothing::GOOD_TURING: return static_cast<double>(count) - kept(count);
    case NgramSmoothing::ADD_K: return 0.0;
    default: return discounts.of(count);
  }
}

double OrderRule::whole(std::uint64_t count) const {
  const auto c = static_cast<double>(count);
  return smoothing == NgramSmoothing::WITTEN_BELL ? c + 1.0 : c;
}

double OrderRule::denominator(double total, double num_types, double held) const {
  switch (smoothing) {
    case NgramSmoothing::WITTEN_BELL: return total + num_types;
    case NgramSmoothing::GOOD_TURING: return held > 0.0 ? total : total + 1.0;
    case NgramSmoothing::ADD_K: return total + added * num_words;
    default: return total;
  }
}

namespace {

Discounts kneser_ney_discounts(const std::vector<CountedLevel>& levels, std::size_t n, const LastNgrams& last) {
  std::array<double, 5> counts{};
  const auto enter = [&](std::uint64_t count, double times) {
    if (count >= 1 && count <= 4) counts[count] += times;
  };
  for (const std::uint32_t c : levels[n - 1].count) enter(c, 1);
  if (n <= last.ngram.size()) {
    enter(levels[n - 1].count[last.ngram[n - 1]], -1);
    enter(last.occurrences[n - 1], 1);
  }
  Discounts result;
  if (counts[1] == 0 || counts[2] == 0 || counts[3] == 0) return result;
  const double y = counts[1] / (counts[1] + 2 * counts[2]);
  std::array<double, 3> d{};
  for (int k = 1; k <= 3; ++k) {
    d[k - 1] = k - (k + 1) * y * counts[k + 1] / counts[k];
    if (d[k - 1] < 0 || d[k - 1] > k) return result;
  }
  result.d = d;
  result.closed_form = true;
  return result;
}

// [r]: the number of n-grams that occur r times, up to `most`.
std::vector<double> counts_of_counts(const CountedLevel& level, std::size_t most) {
  std::vector<double> result(most + 1, 0.0);
  for (const std::uint32_t c : level.count) {
    if (c >= 1 && c <= most) ++result[c];
  }
  return result;
}

Discounts absolute_discount(const CountedLevel& level) {
  const std::vector<double> n = counts_of_counts(level, 2);
  const bool exists = n[1] > 0 && n[2] > 0;
  const double d = exists ? n[1] / (n[1] + 2 * n[2]) : 0.5;
  return {{d, d, d}, exists};
}

constexpr double LEAST_COEFFICIENT = 3e-6;  // SRILM's

std::vector<double> good_turing_coefficients(const CountedLevel& level, std::size_t most) {
  const std::vector<double> n = counts_of_counts(level, most + 1);
  if (n[1] == 0) return {};
  while (most > 0 && n[most + 1] == 0) --most;
  if (most == 0) return {};
  const double common = static_cast<double>(most + 1) * n[most + 1] / n[1];
  std::vector<double> result(most + 1, 1.0);
  for (std::size_t r = 1; r <= most; ++r) {
    if (n[r] == 0) continue;
    const double ratio = static_cast<double>(r + 1) * n[r + 1] / (static_cast<double>(r) * n[r]);
    const double d = (ratio - common) / (1.0 - common);
    if (d > LEAST_COEFFICIENT && d <= 1.0 && ratio <= 1.0) result[r] = d;
  }
  return result;
}

}  // namespace

std::vector<OrderRule> make_rules(const std::vector<CountedLevel>& levels, NgramSmoothing smoothing, double added,
                                  const LastNgrams& last) {
  std::vector<OrderRule> rules(levels.size());
  for (std::size_t n = 1; n <= levels.size(); ++n) {
    OrderRule& rule = rules[n - 1];
    rule.smoothing = smoothing;
    rule.added = added;
    rule.num_words = static_cast<double>(levels[0].size() - 1);
    if (smoothing == NgramSmoothing::KNESER_NEY) rule.discounts = kneser_ney_discounts(levels, n, last);
    if (smoothing == NgramSmoothing::ABSOLUTE) rule.discounts = absolute_discount(levels[n - 1]);
    if (smoothing == NgramSmoothing::GOOD_TURING) {
      rule.coefficients = good_turing_coefficients(levels[n - 1], n == 1 ? 1 : 7);
    }
  }
  return rules;
}

}  // namespace hiddenite::lm
