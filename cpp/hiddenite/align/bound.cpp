#include "hiddenite/align/bound.hpp"

#include <algorithm>
#include <cmath>

namespace hiddenite::align {

bool Incumbent::offer(const FertilityHmm& hmm, Links candidate) {
  const double weight = improve(hmm, candidate);
  if (!(weight > log_weight)) return false;
  log_weight = weight;
  links = std::move(candidate);
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

FertilityBound::FertilityBound(const FertilityHmm& hmm, const Deadline& deadline)
    : hmm_(hmm), deadline_(deadline), chain_(hmm), tilted_(hmm.emission),
      best_(hmm.num_targets, hmm.num_sources, 0.0) {}

bool FertilityBound::is_closed(const Incumbent& incumbent) const {
  return upper_ <= incumbent.log_weight + FERTILITY_TOLERANCE;
}

bool FertilityBound::goes_on(std::size_t step, std::size_t steps, const Incumbent& incumbent) const {
  return step < steps && !is_closed(incumbent) && (step == 0 || !deadline_.is_over());
}

const CellMatrix& FertilityBound::tilted_emission() {
  for (std::size_t k = 0; k < tilted_.values.size(); ++k) {
    tilted_.values[k] = hmm_.emission.values[k] + best_.values[k];
  }
  return tilted_;
}

double FertilityBound::chain_maximum(const CellMatrix& multipliers, Links& links) {
  for (std::size_t k = 0; k < tilted_.values.size(); ++k) {
    tilted_.values[k] = hmm_.emission.values[k] + multipliers.values[k];
  }
  const double best = chain_.best_log_weight(tilted_);
  if (best > LOG_ZERO) links = chain_.best_links(tilted_);
  return best;
}

void FertilityBound::descend_by_word(std::size_t iterations, Incumbent& incumbent) {
  const std::size_t width = hmm_.num_sources + 1;
  const std::size_t most = std::min(hmm_.max_fertility, hmm_.num_targets);
  CellMatrix multipliers(hmm_.num_targets, hmm_.num_sources, 0.0);
  std::vector<double> slope(width, 0.0), direction(width, 0.0);
  StepSize step_size;
  Links links;
  for (std::size_t k = 0; goes_on(k, iterations, incumbent); ++k, ++iterations_) {
    for (std::size_t j = 0; j < hmm_.num_targets; ++j) std::copy(slope.begin(), slope.end(), multipliers[j]);
    double bound = chain_maximum(multipliers, links);
    if (bound == LOG_ZERO) return void(upper_ = LOG_ZERO);
    const std::vector<std::uint32_t> counts = count_links(hmm_, links);
    double squared_norm = 0.0;
    bool agrees = true;
    for (std::size_t i = 1; i < width; ++i) {
      const double* const fertility = hmm_.fertilities(i);
      std::size_t best = 0;
      for (std::size_t c = 1; c <= most; ++c) {
        if (fertility[c] - slope[i] * static_cast<double>(c) >
            fertility[best] - slope[i] * static_cast<double>(best)) {
          best = c;
        }
      }
      bound += fertility[best] - slope[i] * static_cast<double>(best);
      const double difference = static_cast<double>(counts[i]) - static_cast<double>(best);
      agrees &= counts[i] == best;
      direction[i] = difference + MOMENTUM * direction[i];
      squared_norm += direction[i] * direction[i];
    }
    incumbent.offer(hmm_, links);
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
    double best = fertility[0], paid = 0.0;
    std::size_t best_count = 0;
    for (std::size_t c = 1; c <= most; ++c) {
      paid += row_[c - 1].first;
      if (fertility[c] - paid > best) best = fertility[c] - paid, best_count = c;
    }
    for (std::size_t c = 0; c < best_count; ++c) chosen[row_[c].second * width + i] = 1;
    total += best;
  }
  return total;
}

void FertilityBound::descend_by_cell(std::size_t iterations, Incumbent& incumbent) {
  const std::size_t width = hmm_.num_sources + 1;
  CellMatrix multipliers = best_;
  std::vector<double> direction(multipliers.values.size(), 0.0);
  std::vector<std::uint8_t> chosen(multipliers.values.size());
  StepSize step_size;
  Links links;
  for (std::size_t k = 0; goes_on(k, iterations, incumbent); ++k, ++iterations_) {
    double bound = chain_maximum(multipliers, links);
    if (bound == LOG_ZERO) return void(upper_ = LOG_ZERO);
    bound += cell_rows(multipliers, chosen);
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
    incumbent.offer(hmm_, links);
    const double lowest_before = upper_;
    if (bound < upper_) upper_ = bound, best_ = multipliers;
    if (agrees) return;
    const double step = step_size.next(bound, incumbent.log_weight, lowest_before, squared_norm);
    for (std::size_t cell = 0; cell < direction.size(); ++cell) multipliers.values[cell] -= step * direction[cell];
  }
}

double FertilityBound::row_maximum(std::size_t i) const { return row_maximum_with(i, hmm_.num_targets); }

// With column j in the set; j = J forces none.
double FertilityBound::row_maximum_with(std::size_t i, std::size_t j) const {
  std::vector<double> costs;
  for (std::size_t other = 0; other < hmm_.num_targets; ++other) {
    if (other != j && hmm_.emission[other][i] > LOG_ZERO) costs.push_back(best_[other][i]);
  }
  std::sort(costs.begin(), costs.end());
  const bool forced = j < hmm_.num_targets;
  double paid = forced ? best_[j][i] : 0.0;
  double best = hmm_.fertility_of(i, forced ? 1 : 0) - paid;
  for (std::size_t c = 0; c < costs.size() && c + forced < hmm_.max_fertility; ++c) {
    paid += costs[c];
    best = std::max(best, hmm_.fertilities(i)[c + 1 + forced] - paid);
  }
  return best;
}

}  // namespace hiddenite::align
