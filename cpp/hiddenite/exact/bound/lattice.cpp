#include "hiddenite/exact/bound/lattice.hpp"

#include <algorithm>
#include <cmath>

namespace hiddenite::exact {

namespace {

// A sum of scaled products below this may have lost more than rounding.
constexpr double TINY = 1e-200;

}  // namespace

Lattice::Lattice(const std::vector<std::size_t>& num_words) : layers_(num_words.size()) {
  for (std::size_t i = 0; i < num_words.size(); ++i) layers_[i].num_words = num_words[i];
}

std::uint32_t Lattice::add_state(std::size_t position) {
  Layer& layer = layers_[position];
  const std::uint32_t state = layer.num_states++;
  layer.log_weight.resize(offset(layer, layer.num_states), LOG_ZERO);
  layer.target.resize(offset(layer, layer.num_states), 0);
  layer.sums.emplace_back();
  ++num_states_;
  num_edges_ += layer.num_words;
  mark_stale(position);
  return state;
}

std::span<const double> Lattice::log_weights(std::size_t position, std::uint32_t state) const {
  const Layer& layer = layers_[position];
  return {layer.log_weight.data() + offset(layer, state), layer.num_words};
}

std::span<const std::uint32_t> Lattice::targets(std::size_t position, std::uint32_t state) const {
  const Layer& layer = layers_[position];
  return {layer.target.data() + offset(layer, state), layer.num_words};
}

std::span<double> Lattice::edit_log_weights(std::size_t position, std::uint32_t state) {
  Layer& layer = layers_[position];
  layer.sums[state].has_linear = false;
  mark_stale(position);
  return {layer.log_weight.data() + offset(layer, state), layer.num_words};
}

std::span<std::uint32_t> Lattice::edit_targets(std::size_t position, std::uint32_t state) {
  Layer& layer = layers_[position];
  mark_stale(position);
  return {layer.target.data() + offset(layer, state), layer.num_words};
}

// -------------------------------------------------------------- Viterbi

double Lattice::best(std::vector<std::uint32_t>& path) {
  std::vector<std::vector<std::uint32_t>> choice(layers_.size());
  std::vector<double> after{0.0}, before;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    before.assign(layer.num_states, LOG_ZERO);
    choice[i].assign(layer.num_states, 0);
    const double* log_weight = layer.log_weight.data();
    const std::uint32_t* target = layer.target.data();
    for (std::uint32_t s = 0; s < layer.num_states; ++s) {
      for (std::uint32_t k = 0; k < layer.num_words; ++k, ++log_weight, ++target) {
        const double value = *log_weight + after[*target];
        if (value > before[s]) before[s] = value, choice[i][s] = k;
      }
    }
    after.swap(before);
  }
  path.clear();
  if (after[0] == LOG_ZERO) return LOG_ZERO;
  std::uint32_t state = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    path.push_back(choice[i][state]);
    state = targets(i, state)[path[i]];
  }
  return after[0];
}

// ----------------------------------------------------------------- sums

void Lattice::make_linear(Layer& layer, std::uint32_t state) const {
  StateSums& sums = layer.sums[state];
  layer.linear.resize(layer.log_weight.size());
  const double* const log_weight = layer.log_weight.data() + offset(layer, state);
  double* const linear = layer.linear.data() + offset(layer, state);
  sums.log_heaviest = *std::max_element(log_weight, log_weight + layer.num_words);
  const double heaviest = sums.log_heaviest == LOG_ZERO ? 0.0 : sums.log_heaviest;
  for (std::size_t k = 0; k < layer.num_words; ++k) linear[k] = std::exp(log_weight[k] - heaviest);
  sums.has_linear = true;
}

void Lattice::sum_backward() {
  for (std::size_t i = num_stale_; i-- > 0;) {
    Layer& layer = layers_[i];
    layer.log_scale = LOG_ZERO;
    for (std::uint32_t s = 0; s < layer.num_states; ++s) {
      sum_state(i, s);
      layer.log_scale = std::max(layer.log_scale, layer.sums[s].log_value);
    }
    if (layer.log_scale == LOG_ZERO) layer.log_scale = 0.0;
    layer.scaled.resize(layer.num_states);
    for (std::uint32_t s = 0; s < layer.num_states; ++s) {
      layer.scaled[s] = std::exp(layer.sums[s].log_value - layer.log_scale);
    }
  }
  num_stale_ = 0;
}

void Lattice::sum_state(std::size_t position, std::uint32_t state) {
  Layer& layer = layers_[position];
  if (!layer.sums[state].has_linear) make_linear(layer, state);
  StateSums& sums = layer.sums[state];
  sums.has_cumulative = false;
  const double* const linear = layer.linear.data() + offset(layer, state);
  double sum = 0.0, log_scale = sums.log_heaviest;
  if (position + 1 == layers_.size()) {
    for (std::size_t k = 0; k < layer.num_words; ++k) sum += linear[k];
  } else {
    const double* const after = layers_[position + 1].scaled.data();
    const std::uint32_t* const target = layer.target.data() + offset(layer, state);
    for (std::size_t k = 0; k < layer.num_words; ++k) sum += linear[k] * after[target[k]];
    log_scale += layers_[position + 1].log_scale;
  }
  sums.needs_logs = sum < TINY;
  sums.log_value = sums.needs_logs ? sum_on_logs(position, state, nullptr) : std::log(sum) + log_scale;
}

double Lattice::sum_on_logs(std::size_t position, std::uint32_t state, std::vector<double>* cumulative) const {
  const std::span<const double> log_weight = log_weights(position, state);
  const std::span<const std::uint32_t> target = targets(position, state);
  const bool is_last = position + 1 == layers_.size();
  std::vector<double> terms(log_weight.begin(), log_weight.end());
  if (!is_last) {
    for (std::size_t k = 0; k < terms.size(); ++k) terms[k] += layers_[position + 1].sums[target[k]].log_value;
  }
  const double largest = *std::max_element(terms.begin(), terms.end());
  if (largest == LOG_ZERO) return LOG_ZERO;
  double sum = 0.0;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    sum += std::exp(terms[k] - largest);
    if (cumulative) cumulative->push_back(sum);
  }
  return largest + std::log(sum);
}

double Lattice::log_total() {
  if (num_stale_ > 0) sum_backward();
  return layers_[0].sums[0].log_value;
}

// -------------------------------------------------------------- samples

void Lattice::accumulate(std::size_t position, std::uint32_t state) {
  const Layer& layer = layers_[position];
  StateSums& sums = layers_[position].sums[state];
  sums.has_cumulative = true;
  sums.cumulative.clear();
  if (sums.needs_logs) {
    sum_on_logs(position, state, &sums.cumulative);
    return;
  }
  const double* const linear = layer.linear.data() + offset(layer, state);
  const std::uint32_t* const target = layer.target.data() + offset(layer, state);
  const bool is_last = position + 1 == layers_.size();
  double sum = 0.0;
  for (std::size_t k = 0; k < layer.num_words; ++k) {
    sum += is_last ? linear[k] : linear[k] * layers_[position + 1].scaled[target[k]];
    sums.cumulative.push_back(sum);
  }
}

void Lattice::draw(Random& random, std::vector<std::uint32_t>& path) {
  log_total();
  path.clear();
  std::uint32_t state = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (!layers_[i].sums[state].has_cumulative) accumulate(i, state);
    const std::vector<double>& cumulative = layers_[i].sums[state].cumulative;
    // The first whose running sum exceeds the target has a positive weight of its own.
    const double target = random.uniform() * cumulative.back();
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), target);
    path.push_back(static_cast<std::uint32_t>(found - cumulative.begin()));
    state = targets(i, state)[path[i]];
  }
}

}  // namespace hiddenite::exact
