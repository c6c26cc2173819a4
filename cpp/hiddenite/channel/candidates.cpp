#include "hiddenite/channel/candidates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/exact_sum.hpp"

namespace hiddenite::channel {

namespace {

void check(WordId w, double log_weight, std::size_t position) {
  const std::string place = "position " + std::to_string(position + 1) + ": ";
  if (std::isnan(log_weight)) throw ModelError(place + "a channel weight is NaN, expected a number");
  if (log_weight == -LOG_ZERO) {
    throw ModelError(place + "a channel weight is +inf, expected a finite number or -inf");
  }
  if (w == SENTENCE_BEGIN || w == SENTENCE_END) {
    throw ModelError(place + "<s> and </s> cannot be candidates; sentence ends are added");
  }
}

// The common case: words in order of id, each once, none of weight zero.
bool is_plain(std::span<const WordId> words, std::span<const double> log_weights) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && words[i] <= words[i - 1]) return false;
    if (!std::isfinite(log_weights[i])) return false;
  }
  return !words.empty() && (words[0] == UNKNOWN || words[0] >= NUM_SPECIAL_WORDS) &&
         (words.size() == 1 || words[1] >= NUM_SPECIAL_WORDS);
}

// Its sums and weights are equal to log_max; they are filled in when that is measured (finish).
Slot make_plain_slot(std::span<const WordId> words, std::span<const double> log_weights) {
  Slot slot;
  slot.word.assign(words.begin(), words.end());
  slot.log_max.assign(log_weights.begin(), log_weights.end());
  slot.begin.resize(words.size() + 1);
  std::iota(slot.begin.begin(), slot.begin.end(), 0);
  slot.candidate.assign(slot.begin.begin(), slot.begin.end() - 1);
  return slot;
}

Slot make_slot(std::span<const WordId> words, std::span<const double> log_weights, std::size_t position,
               bool may_be_empty) {
  if (is_plain(words, log_weights)) return make_plain_slot(words, log_weights);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    check(words[i], log_weights[i], position);
    if (log_weights[i] != LOG_ZERO) order.push_back(i);
  }
  if (order.empty() && may_be_empty) return {};
  if (order.empty()) {
    throw EmptySupport(position, "position " + std::to_string(position + 1) +
                                     (words.empty() ? " has no candidate"
                                                    : " has only candidates of weight zero"));
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (words[a] != words[b]) return words[a] < words[b];
    if (log_weights[a] != log_weights[b]) return log_weights[a] > log_weights[b];
    return a < b;
  });
  Slot slot;
  for (const std::uint32_t i : order) {
    if (slot.word.empty() || slot.word.back() != words[i]) {
      slot.word.push_back(words[i]);
      slot.log_max.push_back(log_weights[i]);
      slot.begin.push_back(static_cast<std::uint32_t>(slot.candidate.size()));
    } else if (words[i] != UNKNOWN) {
      throw ModelError("position " + std::to_string(position + 1) + ": a word is given twice");
    }
    slot.candidate.push_back(i);
    slot.log_weight.push_back(log_weights[i]);
  }
  slot.begin.push_back(static_cast<std::uint32_t>(slot.candidate.size()));
  return slot;
}

}  // namespace

std::size_t Slot::find(WordId w) const {
  const auto found = std::lower_bound(word.begin(), word.end(), w);
  if (found == word.end() || *found != w) return size();
  return static_cast<std::size_t>(found - word.begin());
}

namespace {

// Moves the weights of a slot.
void shift(Slot& slot, double by) {
  for (std::vector<double>* weights : {&slot.log_max, &slot.log_weight}) {
    for (double& weight : *weights) weight += by;
  }
}

// The sums are made of weights that are measured from the best: those of large weights would lose digits.
void finish(Slot& slot) {
  slot.log_sum = slot.log_max;
  if (slot.log_weight.empty()) {
    slot.log_weight = slot.log_max;
    return;
  }
  for (std::size_t w = 0; w < slot.size(); ++w) {
    const std::uint32_t begin = slot.begin[w], end = slot.begin[w + 1];
    if (end - begin < 2) continue;
    double sum = 0.0;
    for (std::uint32_t c = begin; c < end; ++c) sum += std::exp(slot.log_weight[c] - slot.log_max[w]);
    slot.log_sum[w] = slot.log_max[w] + std::log(sum);
  }
}

struct Extremes {
  double least, most;
  double magnitude() const { return std::max(std::fabs(least), std::fabs(most)); }
};

// In lanes that the compiler makes a vector of: slots are long, and this is done for each of them.
Extremes weight_extremes(const Slot& slot) {
  const std::vector<double>& weights = slot.log_weight.empty() ? slot.log_max : slot.log_weight;
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> least, most;
  least.fill(weights[0]);
  most.fill(weights[0]);
  std::size_t i = 0;
  for (; i + lanes <= weights.size(); i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      least[j] = weights[i + j] < least[j] ? weights[i + j] : least[j];
      most[j] = weights[i + j] > most[j] ? weights[i + j] : most[j];
    }
  }
  for (; i < weights.size(); ++i) {
    least[0] = std::min(least[0], weights[i]);
    most[0] = std::max(most[0], weights[i]);
  }
  return {*std::min_element(least.begin(), least.end()), *std::max_element(most.begin(), most.end())};
}

// Each slot's best weight becomes 0 against the best way to its joint.
void measure_from_best(Candidates& candidates) {
  struct Way {
    ExactSum best;           // of the given weights alone
    double magnitude = 0.0;  // the largest sum of absolute values
    bool is_reached = false;
  };
  std::vector<Way> ways(candidates.num_joints());
  std::vector<double> best(candidates.length(), 0.0);
  ways[0].is_reached = true;
  for (std::size_t i = 0; i < candidates.length(); ++i) {  // in order of the joints they lead to
    const Slot& slot = candidates.slots[i];
    const Span span = candidates.span(i);
    if (slot.size() == 0 || !ways[span.from].is_reached) continue;
    const Extremes extremes = weight_extremes(slot);
    best[i] = extremes.most;
    Way& to = ways[span.to];
    const double magnitude = ways[span.from].magnitude + extremes.magnitude();
    if (!(magnitude <= Candidates::LARGEST_SUM)) {
      throw ModelError("position " + std::to_string(i + 1) +
                       ": the channel weights add up to more than 1e300 here; scale them down");
    }
    to.magnitude = std::max(to.magnitude, magnitude);
    const ExactSum sum = ways[span.from].best + best[i];
    if (!to.is_reached || to.best < sum) to.best = sum;
    to.is_reached = true;
  }
  for (std::size_t i = 0; i < candidates.length(); ++i) {
    const Span span = candidates.span(i);
    Slot& slot = candidates.slots[i];
    if (slot.size() > 0 && ways[span.from].is_reached) {
      if (best[i] != 0.0) shift(slot, -best[i]);
      const double behind = (ways[span.from].best + best[i]).minus(ways[span.to].best);
      if (behind != 0.0) shift(slot, behind);
    }
    finish(slot);
  }
  const Way& end = ways[candidates.length() == 0 ? 0 : candidates.span(candidates.length() - 1).to];
  candidates.log_offset = end.best.value();
  candidates.magnitude = end.magnitude;
}

}  // namespace

Candidates Candidates::from_csr(std::span<const std::uint64_t> begin, std::span<const WordId> words,
                                std::span<const double> log_weights, bool ends, std::span<const Span> spans) {
  Candidates result;
  result.ends = ends;
  result.spans.assign(spans.begin(), spans.end());
  if (ends && !spans.empty()) result.spans.push_back({spans.back().to, spans.back().to + 1});
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    const std::size_t size = begin[i + 1] - begin[i];
    result.slots.push_back(
        make_slot(words.subspan(begin[i], size), log_weights.subspan(begin[i], size), i, !spans.empty()));
  }
  measure_from_best(result);
  return result;
}

double path_log_weight(const NgramTable& table, const Candidates& candidates,
                       std::span<const std::uint32_t> path, const Route& route) {
  NodeId state = table.start();
  double log_weight = 0.0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Slot& slot = candidates.slots[slot_of_step(route, i)];
    log_weight += table.step(state, slot.word[path[i]]);
    log_weight += slot.log_max[path[i]];
  }
  if (candidates.ends) log_weight += table.step(state, SENTENCE_END);
  return log_weight;
}

}  // namespace hiddenite::channel
