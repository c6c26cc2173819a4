#include "hiddenite/hmm/product.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/kernels.hpp"

namespace hiddenite::hmm {

void Automaton::check(WordId num_words) const {
  bool fits = !accepts.empty() && start < num_states() && target.size() == std::size_t{num_words} * num_states();
  for (const std::uint32_t q : target) fits &= q == DEAD || q < num_states();
  if (!fits) throw ModelError("the arrays of an automaton do not fit");
}

HmmProduct::HmmProduct(const SparseHmm& chain, Automaton automaton, std::vector<WordId> fixed, std::uint32_t shortest,
                           std::uint32_t longest, bool best, int threads)
    : chain_(chain), automaton_(std::move(automaton)), fixed_(std::move(fixed)), shortest_(shortest),
      longest_(longest), best_(best), threads_(threads), words_of_(chain.num_states()) {
  automaton_.check(chain.num_words());
  if (shortest > longest) throw ModelError("the shortest sentence is longer than the longest");
  if (!chain.has_end && shortest != longest) throw ModelError("the model has no </s>; give an exact length");
  fixed_.resize(longest, NO_WORD);
  for (const WordId w : fixed_) {
    if (w != NO_WORD && (w >= chain.num_words() || chain.word_group[w] == NO_GROUP)) {
      throw ModelError("a fixed word that no state emits");
    }
  }
  for (WordId w = 0; w < chain.num_words(); ++w) {
    for (std::uint32_t i = 0; i < chain.set(w).size; ++i) words_of_[chain.state(w, i)].push_back(w);
  }
  backward();
}

bool HmmProduct::allowed(std::uint32_t t, WordId w) const {
  return (w != SENTENCE_END || !chain_.has_end) && (fixed_[t] == NO_WORD || fixed_[t] == w);
}

void HmmProduct::backward() {
  const std::size_t size = std::size_t{automaton_.num_states()} * chain_.num_states();
  emitted_.assign(longest_ + 1, {});
  ahead_.assign(longest_ + 1, {});
  log_scale_.assign(std::size_t{longest_ + 1} * automaton_.num_states(), LOG_ZERO);
  for (std::uint32_t t = longest_ + 1; t-- > 0;) {
    emitted_[t].assign(size, 0.0);
    ahead_[t].assign(size, 0.0);
    if (t == longest_ && !chain_.has_end) {  // nothing follows the last word
      for (std::uint32_t q = 0; q < automaton_.num_states(); ++q) {
        if (!automaton_.accepts[q]) continue;
        std::fill_n(row(ahead_[t], q), chain_.num_states(), 1.0);
        scale(t, q) = 0.0;
      }
      continue;
    }
    parallel_for(automaton_.num_states(), threads_,
                 [&](std::size_t q, int) { emit(t, static_cast<std::uint32_t>(q)); });
    if (t > 0) transit(t);
  }
  const double* const first = row(emitted_[0], automaton_.start);
  double total = 0.0;
  if (longest_ == 0 && !chain_.has_end) total = automaton_.accepts[automaton_.start] ? 1.0 : 0.0;
  for (HiddenState z = 0; z < chain_.num_states(); ++z) {
    total = best_ ? std::max(total, chain_.initial[z] * first[z]) : total + chain_.initial[z] * first[z];
  }
  log_prob_ = total > 0.0 ? std::log(total) + scale(0, automaton_.start) : LOG_ZERO;
}

void HmmProduct::emit(std::uint32_t t, std::uint32_t q) {
  const std::uint32_t* const target = automaton_.target.data() + std::size_t{q} * chain_.num_words();
  double* const out = row(emitted_[t], q);
  // Sentences that end and those that go on come with scales of their own; no factor is above one.
  double common = chain_.has_end && may_end(t, q) ? 0.0 : LOG_ZERO;
  const auto goes_on = [&](WordId w) { return t < longest_ && target[w] != DEAD && allowed(t, w); };
  for (WordId w = 0; w < chain_.num_words(); ++w) {
    if (goes_on(w)) common = std::max(common, scale(t + 1, target[w]));
  }
  if (common == LOG_ZERO) return;
  std::vector<double> factor(automaton_.num_states(), 0.0);
  for (std::uint32_t next = 0; next < factor.size() && t < longest_; ++next) {
    factor[next] = std::exp(std::min(scale(t + 1, next) - common, 0.0));
  }
  const auto add = [&](double& to, double x) { to = best_ ? std::max(to, x) : to + x; };
  if (chain_.has_end && may_end(t, q)) {
    const std::span<const double> emission = chain_.emissions(SENTENCE_END);
    for (std::uint32_t i = 0; i < emission.size(); ++i) {
      add(out[chain_.state(SENTENCE_END, i)], std::exp(-common) * emission[i]);
    }
  }
  for (WordId w = 0; w < chain_.num_words(); ++w) {
    if (!goes_on(w)) continue;
    const double* const rest = row(ahead_[t + 1], target[w]);
    const std::span<const double> emission = chain_.emissions(w);
    for (std::uint32_t i = 0; i < emission.size(); ++i) {
      const HiddenState z = chain_.state(w, i);
      add(out[z], factor[target[w]] * emission[i] * rest[z]);
    }
  }
  const double most = *std::max_element(out, out + chain_.num_states());
  if (!(most > 0.0)) return;
  std::transform(out, out + chain_.num_states(), out, [&](double x) { return x / most; });
  scale(t, q) = std::log(most) + common;
}

void HmmProduct::transit(std::uint32_t t) {
  const std::uint32_t groups = chain_.num_groups();
  // Most columns are zero where a word is fixed or the automaton is dead.
  std::vector<std::vector<std::uint32_t>> live(automaton_.num_states());
  for (std::uint32_t q = 0; q < automaton_.num_states(); ++q) {
    const double* const column = row(emitted_[t], q);
    for (std::uint32_t h = 0; h < groups; ++h) {
      const auto positive = [](double x) { return x > 0.0; };
      if (std::any_of(column + chain_.group_begin[h], column + chain_.group_begin[h + 1], positive)) {
        live[q].push_back(h);
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> columns(groups);
  for (std::uint32_t q = 0; q < automaton_.num_states(); ++q) {
    for (const std::uint32_t h : live[q]) columns[h].push_back(q);
  }
  parallel_for(groups, threads_, [&](std::size_t group, int) {
    const auto g = static_cast<std::uint32_t>(group);
    for (std::uint32_t h = 0; h < groups; ++h) {
      for (const std::uint32_t q : columns[h]) {
        const double* const w = row(emitted_[t], q) + chain_.group_begin[h];
        double* const y = row(ahead_[t], q) + chain_.group_begin[g];
        const float* const matrix = chain_.block_of(g, h);
        if (best_) {
          max_block_times_column(matrix, chain_.group_size(g), chain_.group_size(h), w, y);
        } else {
          add_block_times_column(matrix, chain_.group_size(g), chain_.group_size(h), w, y);
        }
      }
    }
  });
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
      if (may_end(t, q)) log_scale[k] = 0.0;
      weights[k] = emission;
      continue;
    }
    const std::uint32_t target = automaton_.target[std::size_t{q} * chain_.num_words() + w];
    if (t == longest_ || target == DEAD || !allowed(t, w)) continue;
    weights[k] = emission * row(ahead_[t + 1], target)[z];
    if (weights[k] > 0.0) log_scale[k] = scale(t + 1, target);
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
  std::uint32_t q = automaton_.start;
  HiddenState z = 0;
  std::uint32_t group = 0;
  for (std::uint32_t t = 0; t <= longest_; ++t) {
    if (t == longest_ && !chain_.has_end) return result;
    const double* const column = row(emitted_[t], q);
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
    q = automaton_.target[std::size_t{q} * chain_.num_words() + words[k]];
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
  if (best_ || shortest_ != longest_) throw ModelError("word probabilities need an exact length and sums");
  if (log_prob_ == LOG_ZERO) throw ModelError("no sentence of the model satisfies the constraint");
  const std::uint32_t states = automaton_.num_states();
  const std::size_t size = std::size_t{states} * chain_.num_states();
  std::vector<std::vector<double>> result(positions.size());
  // p(z_t, q_t and what came before), before the word at t is chosen; scaled.
  std::vector<double> predicted(size, 0.0), after(size);
  std::copy(chain_.initial.begin(), chain_.initial.end(), row(predicted, automaton_.start));
  const std::uint32_t last = positions.empty() ? 0 : *std::max_element(positions.begin(), positions.end()) + 1;
  for (std::uint32_t t = 0; t < std::min(last, longest_); ++t) {
    const auto wanted = std::find(positions.begin(), positions.end(), t);
    std::vector<double> probability(wanted == positions.end() ? 0 : chain_.num_words(), 0.0), factor(states);
    double most_ahead = LOG_ZERO;
    for (std::uint32_t q = 0; q < states; ++q) most_ahead = std::max(most_ahead, scale(t + 1, q));
    for (std::uint32_t q = 0; q < states; ++q) factor[q] = std::exp(scale(t + 1, q) - most_ahead);
    std::fill(after.begin(), after.end(), 0.0);
    for (std::uint32_t q = 0; q < states; ++q) {
      const double* const from = row(predicted, q);
      for (WordId w = 0; w < chain_.num_words(); ++w) {
        const std::uint32_t next = automaton_.target[std::size_t{q} * chain_.num_words() + w];
        if (next == DEAD || !allowed(t, w)) continue;
        const std::span<const double> emission = chain_.emissions(w);
        const double* const rest = row(ahead_[t + 1], next);
        for (std::uint32_t i = 0; i < emission.size(); ++i) {
          const HiddenState z = chain_.state(w, i);
          const double x = from[z] * emission[i];
          row(after, next)[z] += x;
          if (!probability.empty()) probability[w] += x * rest[z] * factor[next];
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
          add_row_times_block(row(after, q) + chain_.group_begin[g], chain_.group_size(g), chain_.block_of(g, h),
                              chain_.group_size(h), row(predicted, q) + chain_.group_begin[h]);
        }
      }
    });
  }
  return result;
}

}  // namespace hiddenite::hmm
