#include "hiddenite/align/fertility.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "hiddenite/base/error.hpp"

namespace hiddenite::align {

FertilityHmm::FertilityHmm(std::size_t sources, std::size_t targets, std::size_t max_fertility)
    : num_sources(sources), num_targets(targets), max_fertility(max_fertility),
      emission(targets, sources, LOG_ZERO), jump((sources + 1) * (sources + 1), LOG_ZERO),
      end(sources + 1, 0.0), fertility((sources + 1) * (max_fertility + 1), 0.0) {}

void FertilityHmm::check() const {
  const auto check_all = [](const std::vector<double>& weights, std::size_t width, const char* name) {
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (weights[k] == LOG_ZERO || std::fabs(weights[k]) <= LARGEST_WEIGHT) continue;
      const std::string place = std::to_string(k / width) + ", " + std::to_string(k % width);
      throw ModelError(std::string(name) + "[" + place + "] is " + std::to_string(weights[k]) +
                       ", expected a log weight of at most 1e100 or -inf");
    }
  };
  check_all(emission.values, num_sources + 1, "emission");
  check_all(jump, num_sources + 1, "jump");
  check_all(end, num_sources + 1, "end");
  check_all(fertility, max_fertility + 1, "fertility");
}

std::vector<std::uint32_t> count_links(const FertilityHmm& hmm, const Links& links) {
  std::vector<std::uint32_t> counts(hmm.num_sources + 1, 0);
  for (const std::uint32_t i : links) ++counts[i];
  return counts;
}

double log_weight_without_fertility(const FertilityHmm& hmm, const Links& links) {
  double total = 0.0;
  std::size_t last = 0;
  for (std::size_t j = 0; j < links.size(); ++j) {
    const std::size_t i = links[j];
    if (i > 0) total += hmm.jumps_from(last)[i], last = i;
    total += hmm.emission[j][i];
  }
  return total + hmm.end[last];
}

double log_weight(const FertilityHmm& hmm, const Links& links) {
  double total = log_weight_without_fertility(hmm, links);
  const std::vector<std::uint32_t> counts = count_links(hmm, links);
  for (std::size_t i = 1; i <= hmm.num_sources; ++i) total += hmm.fertility_of(i, counts[i]);
  return total;
}

double checked_log_weight(const FertilityHmm& hmm, const Links& links) {
  bool fits = links.size() == hmm.num_targets;
  for (const std::uint32_t i : links) fits &= i <= hmm.num_sources;
  if (!fits) throw std::out_of_range("the links do not fit the sentence pair");
  return log_weight(hmm, links);
}

// n additions are off by n units in the last place of the largest partial sum, which is no more than all terms'
// absolute values together.
double rounding_of(const FertilityHmm& hmm, const Links& links) {
  double size = 0.0;
  std::size_t last = 0;
  for (std::size_t j = 0; j < links.size(); ++j) {
    const std::size_t i = links[j];
    if (i > 0) size += std::fabs(hmm.jumps_from(last)[i]), last = i;
    size += std::fabs(hmm.emission[j][i]);
  }
  size += std::fabs(hmm.end[last]);
  const std::vector<std::uint32_t> counts = count_links(hmm, links);
  for (std::size_t i = 1; i <= hmm.num_sources; ++i) size += std::fabs(hmm.fertility_of(i, counts[i]));
  return size * static_cast<double>(2 * hmm.num_targets + hmm.num_sources + 1) * 0x1p-52;
}

// ------------------------------------------------------------- alignments by hand

Links greedy_links(const FertilityHmm& hmm) {
  Links links(hmm.num_targets, 0);
  std::vector<std::uint32_t> counts(hmm.num_sources + 1, 0);
  std::size_t last = 0;
  for (std::size_t j = 0; j < links.size(); ++j) {
    double best = hmm.emission[j][0];
    for (std::uint32_t i = 1; i <= hmm.num_sources; ++i) {
      const double value = hmm.emission[j][i] + hmm.jumps_from(last)[i];
      if (value > best && hmm.fertility_of(i, counts[i] + 1) > LOG_ZERO) best = value, links[j] = i;
    }
    ++counts[links[j]];
    if (links[j] > 0) last = links[j];
  }
  return links;
}

namespace {

constexpr int MAX_SWEEPS = 50;

class LocalSearch {
 public:
  LocalSearch(const FertilityHmm& hmm, Links& links) : hmm_(hmm), links_(links), counts_(count_links(hmm, links)) {}

  void run(Pace& pace) {
    bool moved = true;
    for (int sweep = 0; moved && sweep < MAX_SWEEPS; ++sweep) {
      moved = false;
      std::size_t last = 0;
      for (std::size_t j = 0; j < links_.size(); ++j) {
        if (pace.is_over(4 * hmm_.num_sources)) return;
        moved |= move_link(j, last);
        if (links_[j] > 0) last = links_[j];
      }
    }
  }

 private:
  // A sum that what is impossible does not end: fewer impossible terms are better than any weight.
  struct Value {
    int impossible = 0;
    double log_weight = 0.0;
    void add(double term, int sign = 1) {
      if (term == LOG_ZERO) impossible += sign; else log_weight += sign * term;
    }
    bool is_above(const Value& o) const {
      return impossible != o.impossible ? impossible < o.impossible : log_weight > o.log_weight + 1e-12;
    }
  };

  bool move_link(std::size_t j, std::size_t last) {
    std::size_t next = j + 1;
    while (next < links_.size() && links_[next] == 0) ++next;
    const std::uint32_t old = links_[j];
    const auto value = [&](std::size_t i) {
      const std::size_t here = i > 0 ? i : last;
      Value v;
      v.add(hmm_.emission[j][i]);
      v.add(next < links_.size() ? hmm_.jumps_from(here)[links_[next]] : hmm_.end[here]);
      if (i == 0) return v;
      v.add(hmm_.jumps_from(last)[i]);
      const std::size_t others = counts_[i] - (i == old);
      v.add(hmm_.fertility_of(i, others + 1));
      v.add(hmm_.fertility_of(i, others), -1);
      return v;
    };
    std::uint32_t best = old;
    Value best_value = value(old);
    for (std::uint32_t i = 0; i <= hmm_.num_sources; ++i) {
      const Value v = value(i);
      if (v.is_above(best_value)) best = i, best_value = v;
    }
    if (best == old) return false;
    --counts_[old];
    ++counts_[best];
    links_[j] = best;
    return true;
  }

  const FertilityHmm& hmm_;
  Links& links_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

double improve(const FertilityHmm& hmm, Links& links, Pace& pace) {
  const double before = log_weight(hmm, links);
  Links moved = links;
  LocalSearch(hmm, moved).run(pace);
  const double after = log_weight(hmm, moved);
  if (after < before) return before;  // by rounding
  links.swap(moved);
  return after;
}

// ------------------------------------------------------------- the chain

BestJumps::BestJumps(const FertilityHmm& hmm)
    : hmm_(hmm), forward_(hmm.num_targets + 1, hmm.num_sources, LOG_ZERO),
      backward_(hmm.num_targets + 1, hmm.num_sources, LOG_ZERO), jump_to_(hmm.jump.size(), LOG_ZERO),
      arrival_(hmm.num_sources + 1, LOG_ZERO) {
  const std::size_t width = hmm.num_sources + 1;
  for (std::size_t from = 0; from < width; ++from) {
    for (std::size_t to = 1; to < width; ++to) jump_to_[to * width + from] = hmm.jump[from * width + to];
  }
}

// max over from of before[from] + jump(from -> to), for each `to`.
void BestJumps::best_arrivals(const double* before, double* arrival) const {
  const std::size_t width = hmm_.num_sources + 1;
  std::fill(arrival, arrival + width, LOG_ZERO);
  for (std::size_t from = 0; from < width; ++from) {
    const double value = before[from];
    if (value == LOG_ZERO) continue;
    const double* const jump = hmm_.jumps_from(from);
    for (std::size_t to = 0; to < width; ++to) arrival[to] = std::max(arrival[to], value + jump[to]);
  }
}

double BestJumps::best_log_weight(const CellMatrix& emission, Pace& pace) {
  const std::size_t width = hmm_.num_sources + 1;
  std::fill(forward_[0], forward_[0] + width, LOG_ZERO);
  forward_[0][0] = 0.0;
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    if (pace.is_over(width * width)) return -LOG_ZERO;
    const double* const before = forward_[j];
    double* const now = forward_[j + 1];
    best_arrivals(before, now);
    const double* const emit = emission[j];
    for (std::size_t i = 0; i < width; ++i) {
      now[i] = rounded_up(std::max(rounded_up(now[i]) + emit[i], before[i] + emit[0]));
    }
    now[0] = rounded_up(before[0] + emit[0]);
  }
  double best = LOG_ZERO;
  for (std::size_t i = 0; i < width; ++i) best = std::max(best, forward_[hmm_.num_targets][i] + hmm_.end[i]);
  return rounded_up(best);
}

Links BestJumps::best_links(const CellMatrix& emission) const {
  const std::size_t width = hmm_.num_sources + 1;
  Links links(hmm_.num_targets, 0);
  std::size_t last = 0;
  for (std::size_t i = 1; i < width; ++i) {
    if (forward_[links.size()][i] + hmm_.end[i] > forward_[links.size()][last] + hmm_.end[last]) last = i;
  }
  for (std::size_t j = links.size(); j-- > 0;) {
    const double* const before = forward_[j];
    if (last == 0 || forward_[j + 1][last] == rounded_up(before[last] + emission[j][0])) continue;  // NULL
    links[j] = static_cast<std::uint32_t>(last);
    const double* const jump = jump_to_.data() + last * width;
    std::size_t best = 0;
    for (std::size_t from = 1; from < width; ++from) {
      if (before[from] + jump[from] > before[best] + jump[best]) best = from;
    }
    last = best;
  }
  return links;
}

bool BestJumps::fill_backward(const CellMatrix& emission, Pace& pace) {
  const std::size_t width = hmm_.num_sources + 1;
  std::copy(hmm_.end.begin(), hmm_.end.end(), backward_[hmm_.num_targets]);
  std::vector<double>& reached = arrival_;
  for (std::size_t j = hmm_.num_targets; j-- > 0;) {
    if (pace.is_over(width * width)) return false;
    const double* const after = backward_[j + 1];
    const double* const emit = emission[j];
    double* const now = backward_[j];
    for (std::size_t last = 0; last < width; ++last) now[last] = after[last] + emit[0];
    for (std::size_t to = 1; to < width; ++to) reached[to] = rounded_up(after[to] + emit[to]);
    for (std::size_t to = 1; to < width; ++to) {
      if (reached[to] == LOG_ZERO) continue;
      const double* const jump = jump_to_.data() + to * width;
      for (std::size_t from = 0; from < width; ++from) now[from] = std::max(now[from], reached[to] + jump[from]);
    }
    for (std::size_t last = 0; last < width; ++last) now[last] = rounded_up(now[last]);
  }
  return true;
}

bool BestJumps::max_marginals(const CellMatrix& emission, CellMatrix& result, Pace& pace) const {
  const std::size_t width = hmm_.num_sources + 1;
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    if (pace.is_over(width * width)) return false;
    best_arrivals(forward_[j], arrival_.data());
    const double* const after = backward_[j + 1];
    double null = LOG_ZERO;
    for (std::size_t last = 0; last < width; ++last) null = std::max(null, forward_[j][last] + after[last]);
    result[j][0] = rounded_up(rounded_up(null) + emission[j][0]);
    for (std::size_t i = 1; i < width; ++i) {
      result[j][i] = rounded_up(rounded_up(rounded_up(arrival_[i]) + emission[j][i]) + after[i]);
    }
  }
  return true;
}

}  // namespace hiddenite::align
