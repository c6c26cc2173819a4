#include "hiddenite/align/bound.hpp"

#include <algorithm>
#include <cmath>

namespace hiddenite::align {

bool Incumbent::offer(const FertilityHmm& hmm, Links candidate, Pace& pace) {
  const double weight = improve(hmm, candidate, pace);
  if (!(weight > log_weight)) return false;
  log_weight = weight;
  links = std::move(candidate);
  tie = 16.0 * rounding_of(hmm, links);  // a bound adds up several times as many terms
  return true;
}

namespace {

constexpr double MOMENTUM = 0.5;
constexpr double FIRST_STEP = 1.0;
constexpr int PATIENCE = 5;  // iterations without a lower bound before the steps are halved

// Polyak steps whose scale shrinks while the bound does not.
class StepSize {
 public:
  double next(double bound, double best_weight, double lowest_before, double squared_norm) {
    if (bound < lowest_before - 1e-6) {
      stalled_ = 0;
    } else if (++stalled_ >= PATIENCE) {
      scale_ *= 0.5;
      stalled_ = 0;
    }
    const double gap = best_weight == LOG_ZERO ? 1.0 : std::max(bound - best_weight, 0.0);
    return squared_norm > 0.0 ? scale_ * gap / squared_norm : 0.0;
  }

 private:
  double scale_ = FIRST_STEP;
  int stalled_ = 0;
};

}  // namespace

FertilityBound::FertilityBound(const FertilityHmm& hmm, Pace& pace)
    : hmm_(hmm), pace_(pace), chain_(hmm), tilted_(hmm.emission), best_(hmm.num_targets, hmm.num_sources, 0.0) {}

void FertilityBound::tilt(const CellMatrix& multipliers) {
  for (std::size_t k = 0; k < tilted_.values.size(); ++k) {
    tilted_.values[k] = rounded_up(hmm_.emission.values[k] + multipliers.values[k]);
  }
}

const CellMatrix& FertilityBound::tilted_emission() {
  tilt(best_);
  return tilted_;
}

double FertilityBound::chain_maximum(const CellMatrix& multipliers, Links& links) {
  tilt(multipliers);
  const double best = chain_.best_log_weight(tilted_, pace_);
  if (std::isfinite(best)) links = chain_.best_links(tilted_);
  return best;
}

// The highest point of row i's fertilities above the line through 0 of this slope, and where it is.
double FertilityBound::word_row(std::size_t i, double slope, std::size_t& count) const {
  const std::size_t most = std::min(hmm_.max_fertility, hmm_.num_targets);
  double best = LOG_ZERO;
  count = 0;
  for (std::size_t c = 0; c <= most; ++c) {
    const double paid = slope * static_cast<double>(c);
    const double value = row_value(hmm_.fertilities(i)[c], paid, std::fabs(paid), 0);
    if (value > best) best = value, count = c;
  }
  return best;
}

void FertilityBound::descend_by_word(std::size_t iterations, Incumbent& incumbent) {
  const std::size_t width = hmm_.num_sources + 1;
  CellMatrix multipliers(hmm_.num_targets, hmm_.num_sources, 0.0);
  std::vector<double> slope(width, 0.0), direction(width, 0.0);
  StepSize step_size;
  Links links;
  for (std::size_t k = 0; k < iterations && !is_closed(incumbent); ++k, ++iterations_) {
    for (std::size_t j = 0; j < hmm_.num_targets; ++j) std::copy(slope.begin(), slope.end(), multipliers[j]);
    double bound = chain_maximum(multipliers, links);
    if (bound == -LOG_ZERO) return;
    if (bound == LOG_ZERO) return void(upper_ = LOG_ZERO);
    const std::vector<std::uint32_t> counts = count_links(hmm_, links);
    double squared_norm = 0.0;
    bool agrees = true;
    for (std::size_t i = 1; i < width; ++i) {
      std::size_t best = 0;
      bound = rounded_up(bound + word_row(i, slope[i], best));
      const double difference = static_cast<double>(counts[i]) - static_cast<double>(best);
      agrees &= counts[i] == best;
      direction[i] = difference + MOMENTUM * direction[i];
      squared_norm += direction[i] * direction[i];
    }
    incumbent.offer(hmm_, links, pace_);
    const double lowest_before = upper_;
    if (bound < upper_) upper_ = bound, best_ = multipliers;
    if (agrees) return;  // nothing to pay for: the bound is a weight
    const double step = step_size.next(bound, incumbent.log_weight, lowest_before, squared_norm);
    for (std::size_t i = 1; i < width; ++i) slope[i] -= step * direction[i];
  }
}

// The rows' maxima and the sets that reach them.
double FertilityBound::cell_rows(const CellMatrix& multipliers, std::vector<std::uint8_t>& chosen) const {
  const std::size_t width = hmm_.num_sources + 1;
  std::fill(chosen.begin(), chosen.end(), 0);
  double total = 0.0;
  for (std::size_t i = 1; i < width; ++i) {
    row_.clear();
    for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
      if (hmm_.emission[j][i] > LOG_ZERO) row_.emplace_back(multipliers[j][i], static_cast<std::uint32_t>(j));
    }
    const std::size_t most = std::min(hmm_.max_fertility, row_.size());
    std::partial_sort(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(most), row_.end());
    const double* const fertility = hmm_.fertilities(i);
    double best = fertility[0], paid = 0.0, size = 0.0;
    std::size_t best_count = 0;
    for (std::size_t c = 1; c <= most; ++c) {
      paid += row_[c - 1].first;
      size += std::fabs(row_[c - 1].first);
      const double value = row_value(fertility[c], paid, size, c);
      if (value > best) best = value, best_count = c;
    }
    for (std::size_t c = 0; c < best_count; ++c) chosen[row_[c].second * width + i] = 1;
    total = rounded_up(total + best);
  }
  return total;
}

double FertilityBound::bound_at(const CellMatrix& multipliers, Links& links, std::vector<std::uint8_t>& chosen) {
  const double chain = chain_maximum(multipliers, links);
  return std::isfinite(chain) ? rounded_up(chain + cell_rows(multipliers, chosen)) : chain;
}

void FertilityBound::descend_by_cell(std::size_t iterations, Incumbent& incumbent) {
  const std::size_t width = hmm_.num_sources + 1;
  CellMatrix multipliers = best_;
  std::vector<double> direction(multipliers.values.size(), 0.0);
  std::vector<std::uint8_t> chosen(multipliers.values.size());
  StepSize step_size;
  Links links;
  for (std::size_t k = 0; k < iterations && !is_closed(incumbent); ++k, ++iterations_) {
    const double bound = bound_at(multipliers, links, chosen);
    if (bound == -LOG_ZERO) return;
    if (bound == LOG_ZERO) return void(upper_ = LOG_ZERO);
    double squared_norm = 0.0;
    bool agrees = true;
    for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
      for (std::size_t i = 1; i < width; ++i) {
        const std::size_t cell = j * width + i;
        const double difference = (links[j] == i ? 1.0 : 0.0) - chosen[cell];
        agrees &= difference == 0.0;
        direction[cell] = difference + MOMENTUM * direction[cell];
        squared_norm += direction[cell] * direction[cell];
      }
    }
    incumbent.offer(hmm_, links, pace_);
    const double lowest_before = upper_;
    if (bound < upper_) upper_ = bound, best_ = multipliers;
    if (agrees) return;
    const double step = step_size.next(bound, incumbent.log_weight, lowest_before, squared_norm);
    for (std::size_t cell = 0; cell < direction.size(); ++cell) multipliers.values[cell] -= step * direction[cell];
  }
}

// With the prices in ascending order, the c smallest apart from column j's are the first c, or the first c + 1 without
// j's if that is one of them.
double FertilityBound::row_maximum(std::size_t i, std::vector<double>& with_link) const {
  with_link.assign(hmm_.num_targets, LOG_ZERO);
  row_.clear();
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    if (hmm_.emission[j][i] > LOG_ZERO) row_.emplace_back(best_[j][i], static_cast<std::uint32_t>(j));
  }
  std::sort(row_.begin(), row_.end());
  const std::size_t most = std::min(hmm_.max_fertility, row_.size());
  std::vector<double> paid(most + 1, 0.0), size(most + 1, 0.0);
  for (std::size_t c = 0; c < most; ++c) {
    paid[c + 1] = paid[c] + row_[c].first;
    size[c + 1] = size[c] + std::fabs(row_[c].first);
  }
  const double* const fertility = hmm_.fertilities(i);
  double best = fertility[0];
  for (std::size_t c = 1; c <= most; ++c) best = std::max(best, row_value(fertility[c], paid[c], size[c], c));
  for (std::size_t rank = 0; rank < row_.size(); ++rank) {
    const double own = row_[rank].first;
    double& with = with_link[row_[rank].second];
    for (std::size_t c = 1; c <= most; ++c) {
      const bool is_among = rank < c;
      const double price = is_among ? paid[c] : paid[c - 1] + own;
      with = std::max(with, row_value(fertility[c], price, size[is_among ? c : c - 1] + std::fabs(own), c));
    }
  }
  return best;
}

}  // namespace hiddenite::align
