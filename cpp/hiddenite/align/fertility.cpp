#include "hiddenite/align/fertility.hpp"

#include <algorithm>

namespace hiddenite::align {

FertilityHmm::FertilityHmm(std::size_t sources, std::size_t targets, std::size_t max_fertility)
    : num_sources(sources), num_targets(targets), max_fertility(max_fertility),
      emission(targets, sources, LOG_ZERO), jump((sources + 1) * (sources + 1), LOG_ZERO),
      end(sources + 1, 0.0), fertility((sources + 1) * (max_fertility + 1), 0.0) {}

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

// ------------------------------------------------------------- local search

namespace {

constexpr double PENALTY = -1e4;  // of what is impossible, while the search may still leave it
constexpr int MAX_SWEEPS = 50;

class LocalSearch {
 public:
  LocalSearch(const FertilityHmm& hmm, Links& links) : hmm_(hmm), links_(links), counts_(count_links(hmm, links)) {}

  double run() {
    bool moved = true;
    for (int sweep = 0; moved && sweep < MAX_SWEEPS; ++sweep) {
      moved = false;
      std::size_t last = 0;
      for (std::size_t j = 0; j < links_.size(); ++j) {
        moved |= move_link(j, last);
        if (links_[j] > 0) last = links_[j];
      }
    }
    return log_weight(hmm_, links_);
  }

 private:
  bool move_link(std::size_t j, std::size_t last) {
    std::size_t next = j + 1;
    while (next < links_.size() && links_[next] == 0) ++next;
    const std::uint32_t old = links_[j];
    const auto value = [&](std::size_t i) {
      const std::size_t here = i > 0 ? i : last;
      double v = hmm_.emission[j][i] + (i > 0 ? hmm_.jumps_from(last)[i] : 0.0);
      v += next < links_.size() ? hmm_.jumps_from(here)[links_[next]] : hmm_.end[here];
      const std::size_t others = counts_[i] - (i == old);
      if (i == 0) return std::max(v, PENALTY);
      return std::max(v, PENALTY) + fertility(i, others + 1) - fertility(i, others);
    };
    std::uint32_t best = old;
    double best_value = value(old);
    for (std::uint32_t i = 0; i <= hmm_.num_sources; ++i) {
      const double v = value(i);
      if (v > best_value + 1e-12) best = i, best_value = v;
    }
    if (best == old) return false;
    --counts_[old];
    ++counts_[best];
    links_[j] = best;
    return true;
  }

  double fertility(std::size_t i, std::size_t count) const { return std::max(hmm_.fertility_of(i, count), PENALTY); }

  const FertilityHmm& hmm_;
  Links& links_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

double improve(const FertilityHmm& hmm, Links& links) { return LocalSearch(hmm, links).run(); }

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

double BestJumps::best_log_weight(const CellMatrix& emission) {
  const std::size_t width = hmm_.num_sources + 1;
  std::fill(forward_[0], forward_[0] + width, LOG_ZERO);
  forward_[0][0] = 0.0;
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    const double* const before = forward_[j];
    double* const now = forward_[j + 1];
    best_arrivals(before, now);
    const double* const emit = emission[j];
    for (std::size_t i = 0; i < width; ++i) now[i] = std::max(now[i] + emit[i], before[i] + emit[0]);
    now[0] = before[0] + emit[0];
  }
  double best = LOG_ZERO;
  for (std::size_t i = 0; i < width; ++i) best = std::max(best, forward_[hmm_.num_targets][i] + hmm_.end[i]);
  return best;
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
    if (last == 0 || forward_[j + 1][last] == before[last] + emission[j][0]) continue;  // NULL
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

void BestJumps::fill_backward(const CellMatrix& emission) {
  const std::size_t width = hmm_.num_sources + 1;
  std::copy(hmm_.end.begin(), hmm_.end.end(), backward_[hmm_.num_targets]);
  std::vector<double>& reached = arrival_;
  for (std::size_t j = hmm_.num_targets; j-- > 0;) {
    const double* const after = backward_[j + 1];
    const double* const emit = emission[j];
    double* const now = backward_[j];
    for (std::size_t last = 0; last < width; ++last) now[last] = after[last] + emit[0];
    for (std::size_t to = 1; to < width; ++to) reached[to] = after[to] + emit[to];
    for (std::size_t to = 1; to < width; ++to) {
      if (reached[to] == LOG_ZERO) continue;
      const double* const jump = jump_to_.data() + to * width;
      for (std::size_t from = 0; from < width; ++from) now[from] = std::max(now[from], reached[to] + jump[from]);
    }
  }
}

void BestJumps::max_marginals(const CellMatrix& emission, CellMatrix& result) const {
  const std::size_t width = hmm_.num_sources + 1;
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    best_arrivals(forward_[j], arrival_.data());
    const double* const after = backward_[j + 1];
    double null = LOG_ZERO;
    for (std::size_t last = 0; last < width; ++last) null = std::max(null, forward_[j][last] + after[last]);
    result[j][0] = null + emission[j][0];
    for (std::size_t i = 1; i < width; ++i) result[j][i] = arrival_[i] + emission[j][i] + after[i];
  }
}

}  // namespace hiddenite::align
