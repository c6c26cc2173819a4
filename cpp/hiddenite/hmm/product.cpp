#include "hiddenite/hmm/product.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/kernels.hpp"

namespace hiddenite::hmm {

HmmProduct::HmmProduct(const SparseHmm& chain, Automaton automaton, std::vector<WordId> fixed, std::uint32_t shortest,
                           std::uint32_t longest, bool best, int threads)
    : chain_(chain), guided_(chain), best_(best), threads_(threads),
      ahead_(guided_, std::move(automaton), {std::move(fixed), shortest, longest}, best, threads),
      words_of_(chain.num_states()) {
  for (const WordId w : ahead_.window().fixed) {
    if (w != NO_WORD && chain.word_group[w] == NO_GROUP) throw ModelError("a fixed word that no state emits");
  }
  for (WordId w = 0; w < chain.num_words(); ++w) {
    for (std::uint32_t i = 0; i < chain.set(w).size; ++i) words_of_[chain.state(w, i)].push_back(w);
  }
  const std::uint32_t start = ahead_.automaton().start;
  if (longest == 0 && !chain.has_end) {
    log_prob_ = ahead_.automaton().accepts[start] ? 0.0 : LOG_ZERO;
    return;
  }
  double log_scale = LOG_ZERO, total = 0.0;
  const std::vector<double> first = ahead_.emitted(0, start, log_scale);
  for (HiddenState z = 0; z < chain.num_states(); ++z) {
    total = best ? std::max(total, chain.initial[z] * first[z]) : total + chain.initial[z] * first[z];
  }
  log_prob_ = total > 0.0 ? std::log(total) + log_scale : LOG_ZERO;
}

bool HmmProduct::allowed(std::uint32_t t, WordId w) const {
  const WordId fixed = ahead_.window().word(t);
  return (w != SENTENCE_END || !chain_.has_end) && (fixed == NO_WORD || fixed == w);
}

// The summands of G_t(q, z): of each word the state emits, </s> among them.
std::vector<double> HmmProduct::word_weights(std::uint32_t t, std::uint32_t q, HiddenState z,
                                             std::uint32_t place) const {
  const std::vector<WordId>& words = words_of_[z];
  std::vector<double> weights(words.size(), 0.0), log_scale(words.size(), LOG_ZERO);
  for (std::size_t k = 0; k < words.size(); ++k) {
    const WordId w = words[k];
    const StateSet set = chain_.set(w);
    const bool whole = set.members == nullptr;
    const auto* const found = std::lower_bound(set.members, set.members + (whole ? 0 : set.size), place);
    const double emission = chain_.emissions(w)[whole ? place : static_cast<std::size_t>(found - set.members)];
    if (chain_.has_end && w == SENTENCE_END) {
      if (ahead_.may_end(t, q)) log_scale[k] = 0.0;
      weights[k] = emission;
      continue;
    }
    if (t == ahead_.window().longest || !allowed(t, w)) continue;
    const std::uint32_t target = ahead_.automaton().next(q, w);
    weights[k] = emission * ahead_.value(t + 1, target, z);
    if (weights[k] > 0.0) log_scale[k] = ahead_.log_scale(t + 1, target);
  }
  const double most = *std::max_element(log_scale.begin(), log_scale.end());
  for (std::size_t k = 0; k < words.size(); ++k) weights[k] *= std::exp(log_scale[k] - most);
  return weights;
}

// Walks forward; choose(weights) picks an index.
template <class Choose>
Walk HmmProduct::walk(Choose choose) const {
  if (log_prob_ == LOG_ZERO) throw ModelError("no sentence of the model satisfies the constraint");
  Walk result;
  std::vector<double> weights(chain_.num_states());
  std::uint32_t q = ahead_.automaton().start;
  HiddenState z = 0;
  std::uint32_t group = 0;
  for (std::uint32_t t = 0; t <= ahead_.window().longest; ++t) {
    check_interrupt();
    if (t == ahead_.window().longest && !chain_.has_end) return result;
    double log_scale = 0.0;
    const std::vector<double> column = ahead_.emitted(t, q, log_scale);
    const auto transition = [&](HiddenState to, std::uint32_t h) {
      return t == 0 ? chain_.initial[to]
                    : static_cast<double>(chain_.probability(group, z - chain_.group_begin[group], h,
                                                             to - chain_.group_begin[h]));
    };
    for (std::uint32_t h = 0; h < chain_.num_groups(); ++h) {
      for (HiddenState to = chain_.group_begin[h]; to < chain_.group_begin[h + 1]; ++to) {
        weights[to] = column[to] == 0.0 ? 0.0 : column[to] * transition(to, h);
      }
    }
    const auto next = static_cast<HiddenState>(choose(weights));
    const auto h = static_cast<std::uint32_t>(
        std::upper_bound(chain_.group_begin.begin(), chain_.group_begin.end(), next) - chain_.group_begin.begin() - 1);
    z = next;
    group = h;
    result.states.push_back(z);
    const std::vector<WordId>& words = words_of_[z];
    const std::size_t k = choose(word_weights(t, q, z, z - chain_.group_begin[group]));
    if (chain_.has_end && words[k] == SENTENCE_END) return result;
    result.words.push_back(words[k]);
    q = ahead_.automaton().next(q, words[k]);
  }
  return result;
}

Walk HmmProduct::draw(Random& random) const {
  std::vector<double> cumulative;
  return walk([&](const std::vector<double>& weights) {
    cumulative.resize(weights.size());
    double sum = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) cumulative[i] = sum += weights[i];
    return random.draw(cumulative);
  });
}

Walk HmmProduct::best_walk() const {
  if (!best_) throw ModelError("the product was built for draws");
  return walk([](const std::vector<double>& weights) {
    return static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  });
}

std::vector<std::vector<double>> HmmProduct::word_probabilities(const std::vector<std::uint32_t>& positions) const {
  const LengthWindow& window = ahead_.window();
  const Automaton& automaton = ahead_.automaton();
  if (best_ || window.shortest != window.longest) throw ModelError("word probabilities need an exact length and sums");
  if (log_prob_ == LOG_ZERO) throw ModelError("no sentence of the model satisfies the constraint");
  const std::uint32_t states = automaton.num_states();
  const std::size_t size = std::size_t{states} * chain_.num_states();
  std::vector<std::vector<double>> result(positions.size());
  // p(z_t, q_t and what came before), before the word at t is chosen; scaled.
  std::vector<double> predicted(size, 0.0), after(size);
  const auto row_of = [&](std::vector<double>& table, std::uint32_t q) {
    return table.data() + std::size_t{q} * chain_.num_states();
  };
  std::copy(chain_.initial.begin(), chain_.initial.end(), row_of(predicted, automaton.start));
  const std::uint32_t last = positions.empty() ? 0 : *std::max_element(positions.begin(), positions.end()) + 1;
  for (std::uint32_t t = 0; t < std::min(last, window.longest); ++t) {
    const auto wanted = std::find(positions.begin(), positions.end(), t);
    std::vector<double> probability(wanted == positions.end() ? 0 : chain_.num_words(), 0.0), factor(states);
    double most_ahead = LOG_ZERO;
    for (std::uint32_t q = 0; q < states; ++q) most_ahead = std::max(most_ahead, ahead_.log_scale(t + 1, q));
    for (std::uint32_t q = 0; q < states; ++q) factor[q] = std::exp(ahead_.log_scale(t + 1, q) - most_ahead);
    std::fill(after.begin(), after.end(), 0.0);
    for (std::uint32_t q = 0; q < states; ++q) {
      double* const from = row_of(predicted, q);
      for (WordId w = 0; w < chain_.num_words(); ++w) {
        const std::uint32_t next = automaton.next(q, w);
        if (next == DEAD || !allowed(t, w)) continue;
        const std::span<const double> emission = chain_.emissions(w);
        for (std::uint32_t i = 0; i < emission.size(); ++i) {
          const HiddenState z = chain_.state(w, i);
          const double x = from[z] * emission[i];
          row_of(after, next)[z] += x;
          if (!probability.empty()) probability[w] += x * ahead_.value(t + 1, next, z) * factor[next];
        }
      }
    }
    if (!probability.empty()) {
      double sum = 0.0;
      for (const double x : probability) sum += x;
      for (double& x : probability) x /= sum;
      result[static_cast<std::size_t>(wanted - positions.begin())] = std::move(probability);
    }
    const double most = *std::max_element(after.begin(), after.end());
    for (double& x : after) x /= most;
    std::fill(predicted.begin(), predicted.end(), 0.0);
    parallel_for(chain_.num_groups(), threads_, [&](std::size_t group, int) {
      const auto h = static_cast<std::uint32_t>(group);
      for (std::uint32_t g = 0; g < chain_.num_groups(); ++g) {
        for (std::uint32_t q = 0; q < states; ++q) {
          add_row_times_block(row_of(after, q) + chain_.group_begin[g], chain_.group_size(g), chain_.block_of(g, h),
                              chain_.group_size(h), row_of(predicted, q) + chain_.group_begin[h]);
        }
      }
    });
  }
  return result;
}

}  // namespace hiddenite::hmm
