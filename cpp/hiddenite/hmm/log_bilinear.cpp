#include "hiddenite/hmm/log_bilinear.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/kernels.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t STATES_PER_STEP = 256, PIECES = 8;  // states of a step, and the parts they are cut into
constexpr float LEAST_LOG = -30.0f;
constexpr float KEEP_MEAN = 0.9f, KEEP_SQUARE = 0.99f, TINY = 1e-6f;

// A row of one group, by either form of the header.
void mix(const float* counts, const float* model, std::size_t columns, double leaving, double weight, double within,
         float* out) {
  double count = 0.0, share = 0.0;
  for (std::size_t j = 0; j < columns; ++j) {
    count += static_cast<double>(counts[j]);
    share += static_cast<double>(model[j]);
  }
  double factor = 1.0 / (leaving + weight), pseudo = weight;
  if (within >= 0.0 && count + within > 0.0) {
    factor *= (count + weight * share) / (count + within);
    pseudo = share > 0.0 ? within / share : 0.0;
  }
  for (std::size_t j = 0; j < columns; ++j) {
    out[j] = static_cast<float>(factor * (static_cast<double>(counts[j]) + pseudo * static_cast<double>(model[j])));
  }
}

}  // namespace

struct LogBilinear::Scratch {
  std::vector<float> row, probability, u, mask;
  std::vector<float> v_gradient, bias_gradient;  // summed over a piece
  std::vector<float> u_gradient;                 // of one state
};

LogBilinear::LogBilinear(const HmmShape& shape, const BilinearOptions& options, std::uint64_t seed)
    : shape_(shape), options_(options), seed_(seed), group_of_(shape.num_states()) {
  const std::size_t size = std::size_t{shape.num_states()} * options.dimensions;
  u_.resize(size);
  v_.resize(size);
  bias_.resize(shape.num_states());
  Random random(seed);
  const double scale = 1.0 / std::sqrt(static_cast<double>(options.dimensions));
  for (auto* values : {&u_.value, &v_.value}) {
    for (float& x : *values) x = static_cast<float>((random.uniform() - 0.5) * scale);
  }
  for (std::uint32_t g = 0; g < shape.num_groups(); ++g) {
    std::fill(group_of_.begin() + shape.group_begin[g], group_of_.begin() + shape.group_begin[g + 1], g);
  }
}

void LogBilinear::Parameters::step(std::size_t i, float gradient, float rate, float decay, double mean_bias,
                                   double square_bias) {
  mean[i] = KEEP_MEAN * mean[i] + (1.0f - KEEP_MEAN) * gradient;
  square[i] = KEEP_SQUARE * square[i] + (1.0f - KEEP_SQUARE) * gradient * gradient;
  const float m = mean[i] / static_cast<float>(mean_bias), s = square[i] / static_cast<float>(square_bias);
  value[i] += rate * (m / (std::sqrt(s) + TINY) - decay * value[i]);
}

// n(z, .) over all states.
void LogBilinear::open_row(const HmmCounts& counts, HiddenState z, std::vector<float>& row) const {
  row.assign(shape_.num_states(), 0.0f);
  const std::uint32_t g = group_of_[z], groups = shape_.num_groups();
  for (std::uint32_t h = 0; h < groups; ++h) {
    const std::size_t block = std::size_t{g} * groups + h;
    if (!counts.has(block)) continue;
    const std::size_t columns = shape_.group_size(h);
    const float* const from = counts.pairs.data() + counts.block_begin[block] + (z - shape_.group_begin[g]) * columns;
    std::copy_n(from, columns, row.data() + shape_.group_begin[h]);
  }
}

std::vector<float> LogBilinear::log_prior(const HmmCounts& counts, const HmmPrior& prior) const {
  const HmmMargins margins(shape_, counts, nullptr);
  const std::uint32_t groups = shape_.num_groups();
  std::vector<float> result(std::size_t{groups} * shape_.num_states());
  for (std::uint32_t g = 0; g < groups; ++g) {
    for (HiddenState z = 0; z < shape_.num_states(); ++z) {
      const std::uint32_t h = group_of_[z];
      const double alone =
          margins.of_group[h] > 0.0 ? margins.entering[z] / margins.of_group[h] : 1.0 / shape_.group_size(h);
      const double p = prior.follow[std::size_t{g} * groups + h] * alone;
      result[std::size_t{g} * shape_.num_states() + z] = std::max(LEAST_LOG, static_cast<float>(std::log(p)));
    }
  }
  return result;
}

void LogBilinear::predict(const float* log_prior, const float* u, std::vector<float>& out) const {
  out.assign(log_prior, log_prior + shape_.num_states());
  for (HiddenState z = 0; z < shape_.num_states(); ++z) out[z] += bias_.value[z];
  add_block_times_column(v_.value.data(), shape_.num_states(), options_.dimensions, u, out.data());
  const float most = *std::max_element(out.begin(), out.end());
  double sum = 0.0;
  for (float& x : out) sum += static_cast<double>(x = std::exp(x - most));
  const auto factor = static_cast<float>(1.0 / sum);
  for (float& x : out) x *= factor;
}

// Adds the gradient of n(z) sum n(z') / n(z) ln B; that of u_z is left in the scratch.
double LogBilinear::differentiate(const HmmCounts& counts, HiddenState z, const float* log_prior, std::uint64_t stream,
                                  Scratch& s) const {
  const std::uint32_t size = options_.dimensions;
  Random random(seed_ + 1, stream);
  s.u.resize(size);
  s.mask.resize(size);
  for (std::uint32_t d = 0; d < size; ++d) {
    s.mask[d] = random.uniform() < options_.dropout ? 0.0f : static_cast<float>(1.0 / (1.0 - options_.dropout));
    s.u[d] = u_.value[std::size_t{z} * size + d] * s.mask[d];
  }
  open_row(counts, z, s.row);
  predict(log_prior, s.u.data(), s.probability);
  double total = 0.0, fit = 0.0;
  for (HiddenState to = 0; to < shape_.num_states(); ++to) {
    if (s.row[to] <= 0.0f) continue;
    total += static_cast<double>(s.row[to]);
    fit += static_cast<double>(s.row[to]) * std::log(std::max(1e-30, static_cast<double>(s.probability[to])));
  }
  // The derivative by a logit is n(z, z') - n(z) B(z' | z).
  s.u_gradient.assign(size, 0.0f);
  for (HiddenState to = 0; to < shape_.num_states(); ++to) {
    const float error = s.row[to] - static_cast<float>(total) * s.probability[to];
    s.bias_gradient[to] += error;
    const float* const v = v_.value.data() + std::size_t{to} * size;
    float* const gradient = s.v_gradient.data() + std::size_t{to} * size;
    for (std::uint32_t d = 0; d < size; ++d) s.u_gradient[d] += error * v[d];
    for (std::uint32_t d = 0; d < size; ++d) gradient[d] += error * s.u[d];
  }
  for (std::uint32_t d = 0; d < size; ++d) s.u_gradient[d] *= s.mask[d];
  return fit;
}

double LogBilinear::fit(const HmmCounts& counts, const HmmPrior& prior, std::uint32_t passes, int threads) {
  const std::uint32_t states = shape_.num_states(), size = options_.dimensions;
  const std::vector<float> priors = log_prior(counts, prior);
  std::vector<Scratch> scratch(PIECES);
  std::vector<HiddenState> order(states);
  std::vector<float> gradients(STATES_PER_STEP * size);
  std::vector<double> weight(states, 0.0);
  for (HiddenState z = 0; z < states; ++z) {
    for (std::uint32_t h = 0; h < shape_.num_groups(); ++h) {
      weight[z] += static_cast<double>(counts.rows[std::size_t{z} * shape_.num_groups() + h]);
    }
  }
  const double all = std::max(1.0, std::accumulate(weight.begin(), weight.end(), 0.0));
  double mean_fit = 0.0;
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    std::iota(order.begin(), order.end(), 0u);
    Random random(seed_ + 2, steps_);
    for (std::size_t i = states; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    const auto rate = static_cast<float>(options_.rate * (1.0 - static_cast<double>(pass) / passes));
    double fit = 0.0;
    for (std::size_t begin = 0; begin < states; begin += STATES_PER_STEP, ++steps_) {
      const std::size_t count = std::min<std::size_t>(STATES_PER_STEP, states - begin);
      std::vector<double> fits(PIECES, 0.0);
      parallel_for(PIECES, threads, [&](std::size_t piece, int) {
        Scratch& s = scratch[piece];
        s.v_gradient.assign(std::size_t{states} * size, 0.0f);
        s.bias_gradient.assign(states, 0.0f);
        for (std::size_t i = piece; i < count; i += PIECES) {
          check_interrupt();
          const HiddenState z = order[begin + i];
          fits[piece] += differentiate(counts, z, priors.data() + std::size_t{group_of_[z]} * states,
                                       steps_ * STATES_PER_STEP + i, s);
          std::copy_n(s.u_gradient.data(), size, gradients.data() + i * size);
        }
      });
      const double t = static_cast<double>(steps_ + 1);
      const double mean_bias = 1.0 - std::pow(static_cast<double>(KEEP_MEAN), t);
      const double square_bias = 1.0 - std::pow(static_cast<double>(KEEP_SQUARE), t);
      const auto scale = static_cast<float>(1.0 / static_cast<double>(count));
      const auto decay = static_cast<float>(options_.decay);
      for (std::size_t i = 0; i < count; ++i) {
        for (std::uint32_t d = 0; d < size; ++d) {
          u_.step(std::size_t{order[begin + i]} * size + d, scale * gradients[i * size + d], rate, decay, 1.0, 1.0);
        }
      }
      parallel_for(PIECES, threads, [&](std::size_t part, int) {
        for (HiddenState z = static_cast<HiddenState>(part); z < states; z += PIECES) {
          float error = 0.0f;
          for (const Scratch& s : scratch) error += s.bias_gradient[z];
          bias_.step(z, scale * error, rate, decay, mean_bias, square_bias);
          for (std::uint32_t d = 0; d < size; ++d) {
            float sum = 0.0f;
            for (const Scratch& s : scratch) sum += s.v_gradient[std::size_t{z} * size + d];
            v_.step(std::size_t{z} * size + d, scale * sum, rate, decay, mean_bias, square_bias);
          }
        }
      });
      fit += std::accumulate(fits.begin(), fits.end(), 0.0);
    }
    mean_fit = fit / all;
  }
  return mean_fit;
}

SparseHmm LogBilinear::chain(const HmmCounts& counts, const HmmPrior& prior, const Smoothing& smoothing,
                         double weight, double within, int threads) const {
  const HmmMargins margins(shape_, counts, nullptr);
  const std::vector<float> priors = log_prior(counts, prior);
  SparseHmm result;
  static_cast<HmmShape&>(result) = shape_;
  result.initial = smooth_initial(shape_, prior, counts, nullptr, margins, smoothing);
  result.emission = smooth_emissions(shape_, prior, counts, nullptr, margins, smoothing);
  result.transition.resize(shape_.num_transitions());
  parallel_for(shape_.num_groups(), threads, [&](std::size_t group, int) {
    const auto g = static_cast<std::uint32_t>(group);
    std::vector<float> row, probability;
    for (HiddenState z = shape_.group_begin[g]; z < shape_.group_begin[g + 1]; ++z) {
      check_interrupt();
      open_row(counts, z, row);
      predict(priors.data() + std::size_t{g} * shape_.num_states(),
              u_.value.data() + std::size_t{z} * options_.dimensions, probability);
      for (std::uint32_t h = 0; h < shape_.num_groups(); ++h) {
        const std::size_t columns = shape_.group_size(h), first = shape_.group_begin[h];
        float* const out = result.transition.data() + shape_.block(g, h) + (z - shape_.group_begin[g]) * columns;
        mix(row.data() + first, probability.data() + first, columns, margins.leaving[z], weight, within, out);
      }
    }
  });
  return result;
}

}  // namespace hiddenite::hmm
