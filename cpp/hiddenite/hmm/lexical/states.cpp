// Scores and states of sentences under a lexicalised model.
#include <algorithm>
#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/lexical/model.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t SCORED_AT_ONCE = 64;

std::vector<WordId> completed(const LexicalHmm& model, std::span<const WordId> words, bool complete) {
  std::vector<WordId> result(words.begin(), words.end());
  if (complete) result.push_back(SENTENCE_END);
  for (const WordId w : result) {
    if (w >= model.num_words()) throw ModelError("a word that the model does not have");
  }
  return result;
}

class LexicalForward {
 public:
  explicit LexicalForward(const LexicalHmm& model) : model_(model), move_(model) { restart(); }

  void restart() {
    context_ = SENTENCE_BEGIN;
    now_.assign(1, 1.0);
  }
  // p(w | before); a word of probability zero changes nothing.
  double step(WordId w) {
    if (!model_.emits(w)) return 0.0;
    move_.open(context_, w);
    meter_.add(std::size_t{move_.from_size()} * move_.to_size());
    next_.assign(move_.to_size(), 0.0);
    move_.add_forward(now_.data(), next_.data());
    double sum = 0.0;
    for (const double x : next_) sum += x;
    if (!(sum > 0.0)) return 0.0;
    for (double& x : next_) x /= sum;
    now_.swap(next_);
    context_ = move_.to();
    return sum;
  }
  ContextId context() const { return context_; }
  const std::vector<double>& states() const { return now_; }

 private:
  const LexicalHmm& model_;
  LexicalMove move_;
  ContextId context_ = SENTENCE_BEGIN;
  std::vector<double> now_, next_;
  WorkMeter meter_;
};

// The filter, up to a word that is impossible; contexts and scales of each position.
StateNumbers forward(const LexicalHmm& model, const std::vector<WordId>& words, std::vector<ContextId>& contexts,
                     std::vector<double>& scale) {
  StateNumbers result;
  LexicalForward recursion(model);
  for (const WordId w : words) {
    const double p = recursion.step(w);
    result.log_prob += p > 0.0 ? std::log(p) : LOG_ZERO;
    if (!(p > 0.0)) break;
    scale.push_back(p);
    contexts.push_back(recursion.context());
    for (std::uint32_t i = 0; i < recursion.states().size(); ++i) {
      result.states.push_back(static_cast<HiddenState>(model.state_begin[recursion.context()] + i));
      result.values.push_back(recursion.states()[i]);
    }
    result.begin.push_back(result.states.size());
  }
  result.begin.resize(words.size() + 1, result.states.size());
  return result;
}

}  // namespace

std::vector<double> token_log_probs(const LexicalHmm& model, const TokenText& text, int threads) {
  const std::size_t sentences = text.num_sentences();
  std::vector<double> result(text.tokens.size() + sentences);
  parallel_for((sentences + SCORED_AT_ONCE - 1) / SCORED_AT_ONCE, threads, [&](std::size_t piece, int) {
    LexicalForward recursion(model);
    for (std::size_t s = piece * SCORED_AT_ONCE; s < std::min(sentences, (piece + 1) * SCORED_AT_ONCE); ++s) {
      recursion.restart();
      double* out = result.data() + text.begin[s] + s;
      const auto ln = [](double p) { return p > 0.0 ? std::log(p) : LOG_ZERO; };
      for (const WordId w : text.sentence(s)) *out++ = ln(recursion.step(w));
      *out = ln(recursion.step(SENTENCE_END));
    }
  });
  return result;
}

StateNumbers filter_states(const LexicalHmm& model, std::span<const WordId> words, bool complete) {
  std::vector<ContextId> contexts;
  std::vector<double> scale;
  return forward(model, completed(model, words, complete), contexts, scale);
}

StateNumbers posterior_states(const LexicalHmm& model, std::span<const WordId> given, bool complete) {
  const std::vector<WordId> words = completed(model, given, complete);
  std::vector<ContextId> contexts;
  std::vector<double> scale, beta, before;
  StateNumbers result = forward(model, words, contexts, scale);
  if (result.log_prob == LOG_ZERO) return result;
  LexicalMove move(model);
  for (std::size_t t = words.size(); t-- > 0;) {
    check_interrupt();
    if (t + 1 == words.size()) {
      beta.assign(model.states_of(contexts[t]), 1.0);
    } else {
      move.open(contexts[t], words[t + 1]);
      before.assign(move.from_size(), 0.0);
      move.add_backward(before.data(), beta.data());
      for (double& x : before) x /= scale[t + 1];
      beta.swap(before);
    }
    for (std::size_t i = 0; i < beta.size(); ++i) result.values[result.begin[t] + i] *= beta[i];
  }
  return result;
}

BestStates best_states(const LexicalHmm& model, std::span<const WordId> given, bool complete) {
  const std::vector<WordId> words = completed(model, given, complete);
  BestStates result;
  std::vector<std::vector<std::uint32_t>> back(words.size());
  std::vector<ContextId> contexts;
  std::vector<double> before(1, 1.0), now;
  ContextId context = SENTENCE_BEGIN;
  LexicalMove move(model);
  for (std::size_t t = 0; t < words.size(); ++t) {
    check_interrupt();
    if (!model.emits(words[t])) return {{}, LOG_ZERO};
    move.open(context, words[t]);
    now.assign(move.to_size(), 0.0);
    back[t].assign(move.to_size(), 0);
    for (std::uint32_t i = 0; i < move.from_size(); ++i) {
      const double x = before[i] * move.probability(i);
      const std::vector<double>& share = move.entering(i);
      for (std::uint32_t j = 0; j < share.size(); ++j) {
        if (x * share[j] > now[j]) {
          now[j] = x * share[j];
          back[t][j] = i;
        }
      }
    }
    const double most = *std::max_element(now.begin(), now.end());
    if (!(most > 0.0)) return {{}, LOG_ZERO};
    for (double& x : now) x /= most;
    result.log_prob += std::log(most);
    context = move.to();
    contexts.push_back(context);
    before.swap(now);
  }
  result.states.resize(words.size());
  auto best = static_cast<std::uint32_t>(std::max_element(before.begin(), before.end()) - before.begin());
  for (std::size_t t = words.size(); t-- > 0;) {
    result.states[t] = static_cast<HiddenState>(model.state_begin[contexts[t]] + best);
    best = back[t][best];
  }
  return result;
}

std::vector<double> next_words(const LexicalHmm& model, std::span<const WordId> given) {
  std::vector<double> result(model.num_words(), 0.0);
  LexicalForward recursion(model);
  for (const WordId w : completed(model, given, false)) {
    if (!(recursion.step(w) > 0.0)) return result;
  }
  const ContextId x = recursion.context();
  for (WordId w = 0; w < model.num_words(); ++w) {
    if (!model.emits(w)) continue;
    result[w] = static_cast<double>(model.lexical_weight[x]) * model.table.share(model.contexts, x, w).listed;
  }
  for (std::size_t m = 0; m < model.num_chains(); ++m) {
    const SparseHmm& chain = model.chains[m];
    std::vector<double> ahead(chain.num_states(), 0.0);
    for (std::uint32_t i = 0; i < model.states_of(x); ++i) {
      for (std::uint32_t h = 0; h < chain.num_groups(); ++h) {
        const float* const row = model.row(m, x, model.place(x, i)[m], h);
        double* const out = ahead.data() + chain.group_begin[h];
        for (std::uint32_t j = 0; j < chain.group_size(h); ++j) {
          out[j] += recursion.states()[i] * static_cast<double>(row[j]);
        }
      }
    }
    for (WordId w = 0; w < model.num_words(); ++w) {
      const std::span<const double> emission = chain.emissions(w);
      double sum = 0.0;
      for (std::uint32_t j = 0; j < emission.size(); ++j) sum += emission[j] * ahead[chain.state(w, j)];
      result[w] += model.gamma[x] * model.chain_weight[m] * sum;
    }
  }
  return result;
}

std::vector<double> state_visits(const LexicalHmm& model, const TokenText& text, int threads) {
  constexpr std::size_t pieces = 8;  // not as many as threads: sums must not depend on them
  std::vector<std::vector<double>> sums(pieces, std::vector<double>(model.num_states(), 0.0));
  parallel_for(pieces, threads, [&](std::size_t piece, int) {
    for (std::size_t s = piece; s < text.num_sentences(); s += pieces) {
      const StateNumbers posterior = posterior_states(model, text.sentence(s), true);
      if (posterior.log_prob == LOG_ZERO) {
        throw ModelError("sentence " + std::to_string(s + 1) + " has probability zero under the model");
      }
      for (std::size_t i = 0; i < posterior.states.size(); ++i) sums[piece][posterior.states[i]] += posterior.values[i];
    }
  });
  for (std::size_t piece = 1; piece < pieces; ++piece) {
    for (std::size_t i = 0; i < sums[0].size(); ++i) sums[0][i] += sums[piece][i];
  }
  return sums[0];
}

}  // namespace hiddenite::hmm
