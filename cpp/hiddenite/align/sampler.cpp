#include "hiddenite/align/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hiddenite::align {

namespace {

constexpr int TILT_STEPS = 40;
constexpr double LARGEST_EXPONENT = 600.0;

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
  const std::size_t width = hmm.num_sources + 1;
  for (std::size_t k = 0; k < jump_.size(); ++k) {
    if (k % width == 0) continue;  // NULL makes no jump
    fits_ &= hmm.jump[k] == LOG_ZERO || std::fabs(hmm.jump[k]) <= LARGEST_EXPONENT;
    jump_[k] = exp_or_zero(hmm.jump[k]);
  }
  const auto [low, high] = std::minmax_element(hmm.end.begin(), hmm.end.end());
  log_end_scale_ = *high;
  fits_ &= *low == LOG_ZERO || *high - *low <= LARGEST_EXPONENT;
}

// Returns whether the column's numbers fit.
bool JumpSums::scale_emission(std::size_t j, const std::vector<double>& tilt, double& high) {
  double* const emit = emission_[j];
  double low = -LOG_ZERO;
  high = LOG_ZERO;
  for (std::size_t i = 0; i <= hmm_.num_sources; ++i) {
    emit[i] = hmm_.emission[j][i] + tilt[i];
    high = std::max(high, emit[i]);
    if (emit[i] > LOG_ZERO) low = std::min(low, emit[i]);
  }
  if (high == LOG_ZERO) return true;
  for (std::size_t i = 0; i <= hmm_.num_sources; ++i) emit[i] = exp_or_zero(emit[i] - high);
  return high - low <= LARGEST_EXPONENT;
}

// Whether something can follow `last` from column j on, however small.
bool JumpSums::has_way(std::size_t j, std::size_t last) const {
  const double* const emit = emission_[j];
  const double* const next = after_[j + 1];
  if (next[last] > 0.0 && emit[0] > 0.0) return true;
  const double* const jump = jump_.data() + last * (hmm_.num_sources + 1);
  for (std::size_t i = 1; i <= hmm_.num_sources; ++i) {
    if (jump[i] > 0.0 && emit[i] > 0.0 && next[i] > 0.0) return true;
  }
  return false;
}

double JumpSums::run_backward(const std::vector<double>& tilt, Pace& pace) {
  const std::size_t width = hmm_.num_sources + 1;
  if (!fits_) return -LOG_ZERO;
  if (log_end_scale_ == LOG_ZERO) return LOG_ZERO;
  for (std::size_t last = 0; last < width; ++last) {
    after_[hmm_.num_targets][last] = exp_or_zero(hmm_.end[last] - log_end_scale_);
  }
  log_scale_[hmm_.num_targets] = log_end_scale_;
  for (std::size_t j = hmm_.num_targets; j-- > 0;) {
    double high = LOG_ZERO;
    if (pace.is_over(width * width) || !scale_emission(j, tilt, high)) return -LOG_ZERO;
    if (high == LOG_ZERO) return LOG_ZERO;
    const double* const emit = emission_[j];
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
      if (sum == 0.0 && has_way(j, last)) return -LOG_ZERO;  // it is too small a number
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

bool JumpSums::posterior(CellMatrix& result, Pace& pace) const {
  const std::size_t width = hmm_.num_sources + 1;
  std::vector<double> before(width, 0.0), now(width);
  before[0] = 1.0;
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    if (pace.is_over(width * width)) return false;
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
    if (!(total > 0.0)) return false;
    for (std::size_t i = 0; i < width; ++i) before[i] = now[i] / largest;
  }
  return true;
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

FertilitySampler::FertilitySampler(const FertilityHmm& hmm, const Deadline& deadline, double epsilon)
    : hmm_(hmm), chain_(hmm), tilt_(hmm.num_sources + 1, 0.0) {
  const Deadline fitting = deadline.within(0.4);
  Pace pace(fitting);
  fit_tilt(pace);
  Pace last(deadline);
  const double log_mass = chain_.run_backward(tilt_, last);
  is_empty_ = log_mass == LOG_ZERO;
  if (!std::isfinite(log_mass)) return;
  const Deadline building = deadline.within(0.4);
  Pace rest(building);
  const std::uint64_t most = std::min<std::uint64_t>(MAX_LABELS, MAX_COUNTS / (hmm.num_sources + 1) + 1);
  build(epsilon, std::min(most, deadline.budget().states), rest);
}

// Subgradient steps on ln Z(b) + sum_i max_c [fertility(i, c) - b(i) c]; keeps the best b.
void FertilitySampler::fit_tilt(Pace& pace) {
  const std::size_t most = std::min(hmm_.max_fertility, hmm_.num_targets);
  CellMatrix posterior(hmm_.num_targets, hmm_.num_sources, 0.0);
  std::vector<double> tilt = tilt_;
  double lowest = -LOG_ZERO;
  for (int k = 0; k < TILT_STEPS; ++k) {
    double mass = chain_.run_backward(tilt, pace);
    if (!std::isfinite(mass) || !chain_.posterior(posterior, pace)) return;
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

// log_reach of all counts, for the labels of a column.
void FertilitySampler::fill_reach(std::size_t column) {
  const std::size_t most = std::min(column, hmm_.max_fertility), width = hmm_.max_fertility + 1;
  reach_.assign((hmm_.num_sources + 1) * width, LOG_ZERO);
  for (std::size_t i = 1; i <= hmm_.num_sources; ++i) {
    for (std::size_t c = 0; c <= most; ++c) reach_[i * width + c] = log_reach(i, c, hmm_.num_targets - column);
  }
}

double FertilitySampler::log_bound(std::uint32_t label) const {
  const std::size_t width = hmm_.max_fertility + 1;
  const std::uint16_t* const counts = counts_.data() + label * (hmm_.num_sources + 1);
  double total = labels_[label].log_mass + chain_.log_after(labels_[label].column, labels_[label].last);
  for (std::size_t i = 1; i <= hmm_.num_sources; ++i) total += reach_[i * width + counts[i]];
  return total;
}

// Labels of a column, by their last position and counts.
class FertilitySampler::Column {
 public:
  Column(const std::vector<Label>& labels, const std::vector<std::uint16_t>& counts, std::size_t width)
      : labels_(labels), counts_(counts), width_(width) {}

  // A key is the xor of its last position's and its counts' own.
  static std::uint64_t key_of_last(std::uint32_t last) { return splitmix64(last); }
  static std::uint64_t key_of_count(std::size_t i, std::uint16_t count) {
    return splitmix64((std::uint64_t{count} + 1) << 32 | i);
  }
  // The label of that key, or a number that none has.
  std::uint32_t find(std::uint64_t key, std::uint32_t last, const std::vector<std::uint16_t>& counts) const {
    const auto [begin, end] = places_.equal_range(key);
    for (auto it = begin; it != end; ++it) {
      const std::uint16_t* const same = counts_.data() + it->second * width_;
      if (labels_[it->second].last == last && std::equal(counts.begin(), counts.end(), same)) return it->second;
    }
    return static_cast<std::uint32_t>(labels_.size());
  }
  void add(std::uint64_t key, std::uint32_t label) {
    places_.emplace(key, label);
    members.push_back(label);
  }

  std::vector<std::uint32_t> members;

 private:
  const std::vector<Label>& labels_;
  const std::vector<std::uint16_t>& counts_;
  std::size_t width_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> places_;
};

// The label's ways on into column j + 1.
void FertilitySampler::expand(std::uint32_t parent, std::size_t j, Column& next) {
  const std::size_t width = hmm_.num_sources + 1;
  const Label from = labels_[parent];
  const auto begin = [&] { return counts_.begin() + static_cast<std::ptrdiff_t>(parent * width); };
  std::vector<std::uint16_t> counts(begin(), begin() + static_cast<std::ptrdiff_t>(width));
  std::uint64_t counts_key = 0;
  for (std::size_t i = 1; i < width; ++i) counts_key ^= Column::key_of_count(i, counts[i]);
  for (std::uint32_t i = 0; i < width; ++i) {
    const double step = hmm_.emission[j][i] + (i > 0 ? hmm_.jumps_from(from.last)[i] : 0.0);
    if (step == LOG_ZERO || (i > 0 && counts[i] == hmm_.max_fertility)) continue;
    const std::uint32_t last = i > 0 ? i : from.last;
    std::uint64_t key = Column::key_of_last(last) ^ counts_key;
    if (i > 0) {
      key ^= Column::key_of_count(i, counts[i]) ^ Column::key_of_count(i, static_cast<std::uint16_t>(counts[i] + 1));
      ++counts[i];
    }
    const std::uint32_t label = next.find(key, last, counts);
    if (label == labels_.size()) {
      labels_.push_back({LOG_ZERO, static_cast<std::uint32_t>(j + 1), last});
      counts_.insert(counts_.end(), counts.begin(), counts.end());
      next.add(key, label);
    }
    if (i > 0) --counts[i];
    const double mass = from.log_mass + step;
    labels_[label].log_mass = log_add(labels_[label].log_mass, mass);
    ways_.push_back({parent, i, mass, label});
  }
}

void FertilitySampler::build(double epsilon, std::size_t max_labels, Pace& pace) {
  const std::size_t width = hmm_.num_sources + 1;
  labels_.push_back({0.0, 0, 0});
  counts_.assign(width, 0);
  fill_reach(0);
  const double least = log_bound(0) + std::log(epsilon);
  Leaves leaves;
  std::vector<std::uint32_t> frontier{0};
  for (std::size_t j = 0; !frontier.empty(); ++j) {
    Column next(labels_, counts_, width);
    fill_reach(j);
    for (const std::uint32_t parent : frontier) {
      const double bound = log_bound(parent);
      if (bound == LOG_ZERO) continue;
      const bool is_full = labels_.size() >= max_labels || ways_.size() >= MAX_WAYS;
      if (j < hmm_.num_targets && bound >= least && !is_full && !pace.is_over(64 * width)) {
        expand(parent, j, next);
        continue;
      }
      is_exact_ &= j == hmm_.num_targets;
      leaves.labels.push_back(parent);
      leaves.log_masses.push_back(bound);
    }
    frontier = std::move(next.members);
  }
  finish(std::move(leaves));
}

void FertilitySampler::finish(Leaves leaves) {
  for (const Way& way : ways_) ++labels_[way.label].num_ways;
  std::uint32_t first = 0;
  for (Label& label : labels_) {
    label.first_way = first;
    first += label.num_ways;
  }
  std::vector<Way> sorted(ways_.size());
  std::vector<std::uint32_t> placed(labels_.size(), 0);
  for (const Way& way : ways_) sorted[labels_[way.label].first_way + placed[way.label]++] = way;
  ways_.swap(sorted);
  leaves_ = std::move(leaves.labels);
  double high = LOG_ZERO;
  for (const double mass : leaves.log_masses) high = std::max(high, mass);
  is_empty_ = high == LOG_ZERO;
  if (is_empty_) return;
  double sum = 0.0;
  for (const double mass : leaves.log_masses) cumulative_.push_back(sum += std::exp(mass - high));
  // A column adds up I + 2 numbers and scales them; a leaf adds I fertilities.
  const std::size_t num_terms = (hmm_.num_targets + 1) * (hmm_.num_sources + 16) + leaves_.size();
  log_total_ = outward(high + std::log(sum), num_terms);
}

FertilitySampler::Draw FertilitySampler::draw(Random& random) const {
  const std::uint32_t leaf = leaves_[random.draw(cumulative_)];
  Draw draw{0.0, Links(hmm_.num_targets, 0)};
  const std::uint32_t column = labels_[leaf].column;
  for (std::uint32_t node = leaf; labels_[node].column > 0;) {
    const Label& label = labels_[node];
    double rest = random.uniform();
    std::uint32_t w = label.first_way;
    for (; w + 1 < label.first_way + label.num_ways; ++w) {
      rest -= std::exp(ways_[w].log_mass - label.log_mass);
      if (rest < 0.0) break;
    }
    draw.links[label.column - 1] = ways_[w].link;
    node = ways_[w].parent;
  }
  if (column == hmm_.num_targets) return draw;  // a leaf of exact counts is not above the model
  chain_.draw_rest(column, labels_[leaf].last, random, draw.links);
  const std::vector<std::uint32_t> counts = count_links(hmm_, draw.links);
  const std::uint16_t* const done = counts_.data() + leaf * (hmm_.num_sources + 1);
  for (std::size_t i = 1; i <= hmm_.num_sources; ++i) {
    const double paid = tilt_[i] * static_cast<double>(counts[i] - done[i]);
    draw.log_ratio += hmm_.fertility_of(i, counts[i]) - paid - log_reach(i, done[i], hmm_.num_targets - column);
  }
  draw.log_ratio = std::min(draw.log_ratio, 0.0);
  return draw;
}

}  // namespace hiddenite::align
