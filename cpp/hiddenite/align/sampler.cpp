#include "hiddenite/align/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hiddenite::align {

namespace {

constexpr int TILT_STEPS = 40;

double exp_or_zero(double x) { return x == LOG_ZERO ? 0.0 : std::exp(x); }

double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return low == LOG_ZERO ? high : high + std::log1p(std::exp(low - high));
}

}  // namespace

// ---------------------------------------------------------------- the chain

JumpSums::JumpSums(const FertilityHmm& hmm)
    : hmm_(hmm), jump_(hmm.jump.size()), emission_(hmm.emission),
      after_(hmm.num_targets + 1, hmm.num_sources, 0.0), log_scale_(hmm.num_targets + 1, 0.0),
      weights_(hmm.num_sources + 2) {
  for (std::size_t k = 0; k < jump_.size(); ++k) jump_[k] = exp_or_zero(hmm.jump[k]);
  for (std::size_t from = 0; from <= hmm.num_sources; ++from) jump_[from * (hmm.num_sources + 1)] = 0.0;  // NULL
}

double JumpSums::run_backward(const std::vector<double>& tilt) {
  const std::size_t width = hmm_.num_sources + 1;
  for (std::size_t last = 0; last < width; ++last) after_[hmm_.num_targets][last] = exp_or_zero(hmm_.end[last]);
  log_scale_[hmm_.num_targets] = 0.0;
  for (std::size_t j = hmm_.num_targets; j-- > 0;) {
    double* const emit = emission_[j];
    double high = LOG_ZERO;
    for (std::size_t i = 0; i < width; ++i) high = std::max(high, emit[i] = hmm_.emission[j][i] + tilt[i]);
    if (high == LOG_ZERO) return LOG_ZERO;
    for (std::size_t i = 0; i < width; ++i) emit[i] = exp_or_zero(emit[i] - high);
    const double* const next = after_[j + 1];
    double* const now = after_[j];
    double largest = 0.0;
    for (std::size_t i = 0; i < width; ++i) weights_[i] = next[i] * emit[i];
    for (std::size_t last = 0; last < width; ++last) {
      const double* const jump = jump_.data() + last * width;
      double sum = next[last] * emit[0];
      for (std::size_t i = 1; i < width; ++i) sum += jump[i] * weights_[i];
      now[last] = sum;
      largest = std::max(largest, sum);
    }
    if (largest == 0.0) return LOG_ZERO;
    for (std::size_t last = 0; last < width; ++last) now[last] /= largest;
    log_scale_[j] = log_scale_[j + 1] + high + std::log(largest);
  }
  return log_after(0, 0);
}

double JumpSums::log_after(std::size_t j, std::size_t last) const {
  return after_[j][last] > 0.0 ? std::log(after_[j][last]) + log_scale_[j] : LOG_ZERO;
}

void JumpSums::posterior(CellMatrix& result) const {
  const std::size_t width = hmm_.num_sources + 1;
  std::vector<double> before(width, 0.0), now(width);
  before[0] = 1.0;
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    const double* const emit = emission_[j];
    const double* const next = after_[j + 1];
    double total = 0.0, null = 0.0;
    std::fill(now.begin(), now.end(), 0.0);
    for (std::size_t from = 0; from < width; ++from) {
      const double* const jump = jump_.data() + from * width;
      for (std::size_t i = 1; i < width; ++i) now[i] += before[from] * jump[i];
    }
    for (std::size_t i = 1; i < width; ++i) {
      now[i] *= emit[i];
      total += result[j][i] = now[i] * next[i];
    }
    for (std::size_t last = 0; last < width; ++last) null += before[last] * emit[0] * next[last];
    result[j][0] = null;
    total += null;
    double largest = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      result[j][i] /= total;
      now[i] += before[i] * emit[0];
      largest = std::max(largest, now[i]);
    }
    for (std::size_t i = 0; i < width; ++i) before[i] = now[i] / largest;
  }
}

void JumpSums::draw_rest(std::size_t j, std::size_t last, Random& random, Links& links) const {
  const std::size_t width = hmm_.num_sources + 1;
  std::vector<double> cumulative(width);
  for (; j < hmm_.num_targets; ++j) {
    const double* const emit = emission_[j];
    const double* const next = after_[j + 1];
    const double* const jump = jump_.data() + last * width;
    double sum = cumulative[0] = next[last] * emit[0];
    for (std::size_t i = 1; i < width; ++i) cumulative[i] = sum += jump[i] * emit[i] * next[i];
    const std::size_t i = random.draw(cumulative);
    links[j] = static_cast<std::uint32_t>(i);
    if (i > 0) last = i;
  }
}

// ------------------------------------------------------------- the sampler

FertilitySampler::FertilitySampler(const FertilityHmm& hmm, const Deadline& deadline, double epsilon,
                                   std::size_t max_labels)
    : hmm_(hmm), chain_(hmm), tilt_(hmm.num_sources + 1, 0.0) {
  fit_tilt(deadline);
  if (chain_.run_backward(tilt_) > LOG_ZERO) build(epsilon, max_labels, deadline);
}

// Subgradient steps on ln Z(b) + sum_i max_c [fertility(i, c) - b(i) c]; keeps the best b.
void FertilitySampler::fit_tilt(const Deadline& deadline) {
  const std::size_t most = std::min(hmm_.max_fertility, hmm_.num_targets);
  CellMatrix posterior(hmm_.num_targets, hmm_.num_sources, 0.0);
  std::vector<double> tilt = tilt_;
  double lowest = -LOG_ZERO;
  for (int k = 0; k < TILT_STEPS && (k == 0 || !deadline.is_over()); ++k) {
    double mass = chain_.run_backward(tilt);
    if (mass == LOG_ZERO) return;
    chain_.posterior(posterior);
    const double step = 1.0 / (1.0 + 0.2 * k);
    std::vector<double> next = tilt;
    for (std::size_t i = 1; i <= hmm_.num_sources; ++i) {
      double expected = 0.0;
      for (std::size_t j = 0; j < hmm_.num_targets; ++j) expected += posterior[j][i];
      std::size_t best = 0;
      const auto value = [&](std::size_t c) { return hmm_.fertilities(i)[c] - tilt[i] * static_cast<double>(c); };
      for (std::size_t c = 1; c <= most; ++c) {
        if (value(c) > value(best)) best = c;
      }
      mass += value(best);
      next[i] -= step * (expected - static_cast<double>(best));
    }
    if (mass < lowest) lowest = mass, tilt_ = tilt;
    tilt = std::move(next);
  }
}

// max_k [fertility(i, count + k) - b(i) k] over k links to come.
double FertilitySampler::log_reach(std::size_t i, std::size_t count, std::size_t left) const {
  double best = LOG_ZERO;
  for (std::size_t k = 0; k <= left && count + k <= hmm_.max_fertility; ++k) {
    best = std::max(best, hmm_.fertilities(i)[count + k] - tilt_[i] * static_cast<double>(k));
  }
  return best;
}

double FertilitySampler::log_bound(const Label& label, const std::uint16_t* counts) const {
  double total = label.log_mass + chain_.log_after(label.column, label.last);
  for (std::size_t i = 1; i <= hmm_.num_sources; ++i) {
    total += log_reach(i, counts[i], hmm_.num_targets - label.column);
  }
  return total;
}

void FertilitySampler::build(double epsilon, std::size_t max_labels, const Deadline& deadline) {
  const std::size_t width = hmm_.num_sources + 1;
  labels_.push_back({0.0, 0, 0});
  counts_.assign(width, 0);
  const double least = log_bound(labels_[0], counts_.data()) + std::log(epsilon);
  std::vector<std::uint32_t> leaves;
  std::vector<double> log_masses;
  std::vector<std::uint32_t> frontier{0};
  const auto hash_of = [&](std::uint32_t last, const std::vector<std::uint16_t>& counts) {
    std::uint64_t h = splitmix64(last);
    for (std::size_t i = 1; i < width; ++i) h = splitmix64(h ^ (std::uint64_t{counts[i]} << 32 | i));
    return h;
  };
  std::vector<std::uint16_t> counts(width);
  for (std::size_t j = 0; !frontier.empty(); ++j) {
    std::unordered_multimap<std::uint64_t, std::uint32_t> places;
    std::vector<std::uint32_t> next;
    const bool is_late = deadline.is_over();
    for (const std::uint32_t parent : frontier) {
      const double bound = log_bound(labels_[parent], counts_.data() + parent * width);
      if (bound == LOG_ZERO) continue;
      if (j == hmm_.num_targets || bound < least || labels_.size() >= max_labels || is_late) {
        leaves.push_back(parent);
        log_masses.push_back(bound);
        continue;
      }
      const Label from = labels_[parent];
      for (std::uint32_t i = 0; i < width; ++i) {
        const double step = hmm_.emission[j][i] + (i > 0 ? hmm_.jumps_from(from.last)[i] : 0.0);
        if (step == LOG_ZERO || (i > 0 && counts_[parent * width + i] == hmm_.max_fertility)) continue;
        const double mass = from.log_mass + step;
        counts.assign(counts_.begin() + static_cast<std::ptrdiff_t>(parent * width),
                      counts_.begin() + static_cast<std::ptrdiff_t>((parent + 1) * width));
        if (i > 0) ++counts[i];
        const std::uint32_t last = i > 0 ? i : from.last;
        const std::uint64_t hash = hash_of(last, counts);
        std::uint32_t label = static_cast<std::uint32_t>(labels_.size());
        const auto [begin, end] = places.equal_range(hash);
        for (auto it = begin; it != end; ++it) {
          const std::uint16_t* const same = counts_.data() + it->second * width;
          if (labels_[it->second].last == last && std::equal(counts.begin(), counts.end(), same)) label = it->second;
        }
        if (label == labels_.size()) {
          labels_.push_back({LOG_ZERO, static_cast<std::uint32_t>(j + 1), last});
          counts_.insert(counts_.end(), counts.begin(), counts.end());
          places.emplace(hash, label);
          next.push_back(label);
        }
        labels_[label].log_mass = log_add(labels_[label].log_mass, mass);
        ways_.push_back({parent, i, mass, label});
      }
    }
    frontier.swap(next);
  }
  finish(std::move(leaves), log_masses);
}

void FertilitySampler::finish(std::vector<std::uint32_t> leaves, const std::vector<double>& log_masses) {
  std::stable_sort(ways_.begin(), ways_.end(), [](const Way& a, const Way& b) { return a.label < b.label; });
  for (std::size_t w = 0; w < ways_.size(); ++w) {
    Label& label = labels_[ways_[w].label];
    if (label.num_ways++ == 0) label.first_way = static_cast<std::uint32_t>(w);
  }
  leaves_ = std::move(leaves);
  double high = LOG_ZERO;
  for (const double mass : log_masses) high = std::max(high, mass);
  if (high == LOG_ZERO) return;
  double sum = 0.0;
  for (const double mass : log_masses) cumulative_.push_back(sum += std::exp(mass - high));
  log_mass_ = high + std::log(sum);
}

bool FertilitySampler::draw(Random& random, Links& links, double& ratio) const {
  const std::uint32_t leaf = leaves_[random.draw(cumulative_)];
  links.assign(hmm_.num_targets, 0);
  const std::uint32_t column = labels_[leaf].column;
  for (std::uint32_t node = leaf; labels_[node].column > 0;) {
    const Label& label = labels_[node];
    double rest = random.uniform();
    std::uint32_t w = label.first_way;
    for (; w + 1 < label.first_way + label.num_ways; ++w) {
      rest -= std::exp(ways_[w].log_mass - label.log_mass);
      if (rest < 0.0) break;
    }
    links[label.column - 1] = ways_[w].link;
    node = ways_[w].parent;
  }
  chain_.draw_rest(column, labels_[leaf].last, random, links);
  const std::vector<std::uint32_t> counts = count_links(hmm_, links);
  const std::uint16_t* const done = counts_.data() + leaf * (hmm_.num_sources + 1);
  double log_ratio = 0.0;
  for (std::size_t i = 1; i <= hmm_.num_sources; ++i) {
    const double paid = tilt_[i] * static_cast<double>(counts[i] - done[i]);
    log_ratio += hmm_.fertility_of(i, counts[i]) - paid - log_reach(i, done[i], hmm_.num_targets - column);
  }
  ratio = std::exp(std::min(log_ratio, 0.0));
  return random.uniform() < ratio;
}

}  // namespace hiddenite::align
