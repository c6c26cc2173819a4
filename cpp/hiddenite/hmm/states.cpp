#include "hiddenite/hmm/states.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"

namespace hiddenite::hmm {

namespace {

std::vector<WordId> completed(const SparseHmm& chain, std::span<const WordId> words, bool complete) {
  std::vector<WordId> result(words.begin(), words.end());
  if (complete && chain.has_end) result.push_back(SENTENCE_END);
  for (const WordId w : result) {
    if (w >= chain.num_words()) throw ModelError("a word that the chain does not have");
  }
  return result;
}

// p(z_1) or x T, before the word itself is looked at; nothing for a word that no state emits.
void predict(const SparseHmm& chain, const std::vector<WordId>& words, std::size_t t, const double* before,
             double* now) {
  const StateSet set = chain.set(words[t]);
  if (set.size == 0) return;
  std::fill_n(now, set.size, 0.0);
  if (t > 0) {
    chain.add_forward(chain.set(words[t - 1]), before, set, now);
    return;
  }
  for (std::uint32_t i = 0; i < set.size; ++i) now[i] = chain.initial[chain.state(words[t], i)];
}

StateNumbers layout(const SparseHmm& chain, const std::vector<WordId>& words) {
  StateNumbers result;
  for (const WordId w : words) {
    for (std::uint32_t i = 0; i < chain.set(w).size; ++i) result.states.push_back(chain.state(w, i));
    result.begin.push_back(result.states.size());
  }
  result.values.assign(result.states.size(), 0.0);
  return result;
}

// Fills the filter, up to a word that is impossible; the scales are p(x_t | before).
StateNumbers forward(const SparseHmm& chain, const std::vector<WordId>& words, std::vector<double>& scale) {
  StateNumbers result = layout(chain, words);
  WorkMeter meter;
  for (std::size_t t = 0; t < words.size(); ++t) {
    meter.add(std::size_t{chain.set(words[t]).size} * chain.set(words[t]).size);
    double* const now = result.values.data() + result.begin[t];
    predict(chain, words, t, t == 0 ? nullptr : result.values.data() + result.begin[t - 1], now);
    const std::span<const double> emission = chain.emissions(words[t]);
    double sum = 0.0;
    for (std::size_t i = 0; i < emission.size(); ++i) sum += now[i] *= emission[i];
    if (!(sum > 0.0)) {
      result.log_prob = LOG_ZERO;
      return result;
    }
    for (std::size_t i = 0; i < emission.size(); ++i) now[i] /= sum;
    scale.push_back(sum);
    result.log_prob += std::log(sum);
  }
  return result;
}

// Turns the filter into the posterior. With beta_t(z) = p(x_t+1 .. | z) / p(x_t+1 .. | x_1 .. x_t), the weights are
// p(x_t | z) beta_t(z) / p(x_t | before), by position and state as the posterior.
void backward(const SparseHmm& chain, const std::vector<WordId>& words, const std::vector<double>& scale,
              StateNumbers& result, std::vector<double>& weights) {
  weights.resize(result.values.size());
  std::vector<double> beta;
  WorkMeter meter;
  for (std::size_t t = words.size(); t-- > 0;) {
    const StateSet set = chain.set(words[t]);
    meter.add(std::size_t{set.size} * set.size);
    if (t + 1 == words.size()) {
      beta.assign(set.size, 1.0);
    } else {
      beta.assign(set.size, 0.0);
      chain.add_backward(set, beta.data(), chain.set(words[t + 1]), weights.data() + result.begin[t + 1]);
    }
    const std::span<const double> emission = chain.emissions(words[t]);
    for (std::uint32_t i = 0; i < set.size; ++i) {
      weights[result.begin[t] + i] = emission[i] * beta[i] / scale[t];
      result.values[result.begin[t] + i] *= beta[i];
    }
  }
}

// What a sentence adds to a gradient.
struct SentenceEdges {
  std::vector<WordId> words;
  StateNumbers posterior;
  std::vector<double> filter, weights;
};

SentenceEdges sentence_edges(const SparseHmm& chain, std::span<const WordId> given) {
  SentenceEdges edges;
  edges.words = completed(chain, given, true);
  std::vector<double> scale;
  edges.posterior = forward(chain, edges.words, scale);
  edges.filter = edges.posterior.values;
  if (edges.posterior.log_prob > LOG_ZERO) backward(chain, edges.words, scale, edges.posterior, edges.weights);
  return edges;
}

void add_edges(const SparseHmm& chain, const SentenceEdges& edges, double factor, LogProbGradient& gradient) {
  const StateNumbers& posterior = edges.posterior;
  for (std::size_t t = 0; t < edges.words.size(); ++t) {
    const WordId w = edges.words[t];
    const StateSet set = chain.set(w);
    for (std::uint32_t i = 0; i < set.size; ++i) {
      const double x = factor * posterior.values[posterior.begin[t] + i];
      gradient.emission[chain.set_begin[w] + i] += x;
      if (t == 0) gradient.initial[posterior.states[i]] += x;
    }
    if (t == 0) continue;
    const StateSet last = chain.set(edges.words[t - 1]);
    double* const block = gradient.transition.data() + chain.block(last.group, set.group);
    for (std::uint32_t i = 0; i < last.size; ++i) {
      double* const row = block + std::size_t{last.place(i)} * chain.group_size(set.group);
      const double x = factor * edges.filter[posterior.begin[t - 1] + i];
      for (std::uint32_t j = 0; j < set.size; ++j) row[set.place(j)] += x * edges.weights[posterior.begin[t] + j];
    }
  }
}

}  // namespace

LogProbGradient log_prob_gradient(const SparseHmm& chain, const TokenText& text, std::span<const double> weights,
                                  int threads) {
  constexpr std::size_t at_once = 256;  // sentences; they are added in order, so that threads change nothing
  if (weights.size() != text.num_sentences()) throw ModelError("expected a weight for each sentence");
  LogProbGradient gradient{std::vector<double>(chain.num_states(), 0.0),
                           std::vector<double>(chain.num_transitions(), 0.0),
                           std::vector<double>(chain.emission.size(), 0.0)};
  std::vector<SentenceEdges> edges(std::min(at_once, text.num_sentences()));
  for (std::size_t begin = 0; begin < text.num_sentences(); begin += at_once) {
    const std::size_t size = std::min(at_once, text.num_sentences() - begin);
    parallel_for(size, threads, [&](std::size_t i, int) {
      if (weights[begin + i] != 0.0) edges[i] = sentence_edges(chain, text.sentence(begin + i));
    });
    for (std::size_t i = 0; i < size; ++i) {
      if (weights[begin + i] == 0.0) continue;
      if (edges[i].posterior.log_prob == LOG_ZERO) {
        throw ModelError("sentence " + std::to_string(begin + i + 1) + " has probability zero under the model");
      }
      add_edges(chain, edges[i], weights[begin + i], gradient);
    }
  }
  for (std::size_t k = 0; k < gradient.transition.size(); ++k) {
    gradient.transition[k] *= static_cast<double>(chain.transition[k]);
  }
  return gradient;
}

StateNumbers filter_states(const SparseHmm& chain, std::span<const WordId> words, bool complete) {
  std::vector<double> scale;
  return forward(chain, completed(chain, words, complete), scale);
}

StateNumbers posterior_states(const SparseHmm& chain, std::span<const WordId> given, bool complete) {
  const std::vector<WordId> words = completed(chain, given, complete);
  std::vector<double> scale, weights;
  StateNumbers result = forward(chain, words, scale);
  if (result.log_prob > LOG_ZERO) backward(chain, words, scale, result, weights);
  return result;
}

BestStates best_states(const SparseHmm& chain, std::span<const WordId> given, bool complete) {
  const std::vector<WordId> words = completed(chain, given, complete);
  const StateNumbers places = layout(chain, words);
  std::vector<std::uint32_t> back(places.states.size(), 0);
  std::vector<double> now, before;
  BestStates result;
  WorkMeter meter;
  for (std::size_t t = 0; t < words.size(); ++t) {
    const StateSet set = chain.set(words[t]);
    meter.add(std::size_t{set.size} * set.size);
    now.assign(set.size, 0.0);
    if (t == 0) {
      predict(chain, words, t, nullptr, now.data());
    } else {
      const StateSet last = chain.set(words[t - 1]);
      for (std::uint32_t i = 0; i < last.size; ++i) {
        for (std::uint32_t j = 0; j < set.size; ++j) {
          const double x =
              before[i] * static_cast<double>(chain.probability(last.group, last.place(i), set.group, set.place(j)));
          if (x > now[j]) {
            now[j] = x;
            back[places.begin[t] + j] = i;
          }
        }
      }
    }
    const std::span<const double> emission = chain.emissions(words[t]);
    double most = 0.0;
    for (std::uint32_t j = 0; j < set.size; ++j) most = std::max(most, now[j] *= emission[j]);
    if (!(most > 0.0)) return {{}, LOG_ZERO};
    for (double& x : now) x /= most;
    result.log_prob += std::log(most);
    before.swap(now);
  }
  result.states.resize(words.size());
  auto best = static_cast<std::uint32_t>(std::max_element(before.begin(), before.end()) - before.begin());
  for (std::size_t t = words.size(); t-- > 0;) {
    result.states[t] = places.states[places.begin[t] + best];
    best = back[places.begin[t] + best];
  }
  return result;
}

std::vector<double> next_words(const SparseHmm& chain, std::span<const WordId> given) {
  const std::vector<WordId> words = completed(chain, given, false);
  std::vector<double> scale, states(chain.initial);
  const StateNumbers filter = forward(chain, words, scale);
  if (filter.log_prob == LOG_ZERO) return std::vector<double>(chain.num_words(), 0.0);
  if (!words.empty()) {
    std::fill(states.begin(), states.end(), 0.0);
    const double* const now = filter.values.data() + filter.begin[words.size() - 1];
    for (std::uint32_t h = 0; h < chain.num_groups(); ++h) {
      chain.add_forward(chain.set(words.back()), now, chain.whole(h), states.data() + chain.group_begin[h]);
    }
  }
  std::vector<double> result(chain.num_words(), 0.0);
  for (WordId w = 0; w < chain.num_words(); ++w) {
    const std::span<const double> emission = chain.emissions(w);
    for (std::uint32_t i = 0; i < emission.size(); ++i) result[w] += emission[i] * states[chain.state(w, i)];
  }
  return result;
}

std::vector<double> state_visits(const SparseHmm& chain, const TokenText& text, int threads) {
  constexpr std::size_t pieces = 16;  // not as many as threads: sums must not depend on them
  std::vector<std::vector<double>> sums(pieces, std::vector<double>(chain.num_states(), 0.0));
  parallel_for(pieces, threads, [&](std::size_t piece, int) {
    for (std::size_t s = piece; s < text.num_sentences(); s += pieces) {
      const StateNumbers posterior = posterior_states(chain, text.sentence(s), true);
      if (posterior.log_prob == LOG_ZERO) {
        throw ModelError("sentence " + std::to_string(s + 1) + " has probability zero under the model");
      }
      for (std::size_t i = 0; i < posterior.states.size(); ++i) sums[piece][posterior.states[i]] += posterior.values[i];
    }
  });
  std::vector<double> result(chain.num_states(), 0.0);
  for (const auto& sum : sums) {
    for (HiddenState z = 0; z < chain.num_states(); ++z) result[z] += sum[z];
  }
  return result;
}

}  // namespace hiddenite::hmm
