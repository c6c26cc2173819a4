#include "hiddenite/hmm/lexical/product.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"

namespace hiddenite::hmm {

namespace {

constexpr double MOST_WORK = 4e9;  // steps of states by words

[[noreturn]] void refuse(double work) {
  throw ModelError("the words of so many gaps need " + std::to_string(static_cast<long long>(work / 1e9)) +
                   " billion steps; fix more words, or draw sentences instead");
}

}  // namespace

LexicalProduct::LexicalProduct(const LexicalHmm& model, Automaton automaton, std::vector<WordId> fixed,
                               std::uint32_t shortest, std::uint32_t longest, bool best, int threads)
    : model_(model), guided_(model), automaton_(std::move(automaton)), fixed_(std::move(fixed)), shortest_(shortest),
      longest_(longest), best_(best), threads_(threads) {
  automaton_.check(model.num_words());
  if (shortest > longest) throw ModelError("the shortest sentence is longer than the longest");
  fixed_.resize(longest, NO_WORD);
  for (const WordId w : fixed_) {
    if (w == NO_WORD || (w < model.num_words() && model.emits(w))) continue;
    throw ModelError("a fixed word that no state emits");
  }
  for (WordId w = 0; w < model.num_words(); ++w) {
    if (w != SENTENCE_END && model.emits(w)) emitted_.push_back(w);
  }
  if (best_ || std::count(fixed_.begin(), fixed_.end(), NO_WORD) > 1) {
    ahead_ = std::make_unique<Ahead>(guided_, automaton_, LengthWindow{fixed_, shortest_, longest_}, best_, threads_);
  } else {
    layers_.resize(std::size_t{longest_} + 1);
    reach();
    for (std::uint32_t t = longest_ + 1; t-- > 0;) backward_reached(t);
  }
  double scale = LOG_ZERO;
  const double first = first_value(scale);
  if (first > 0.0) log_prob_ = std::log(first) + scale;
}

// B_0(start, <s>).
double LexicalProduct::first_value(double& log_scale) const {
  if (ahead_ == nullptr) {
    log_scale = layers_[0].log_scale[automaton_.start];
    return layers_[0].values[layers_[0].place.at(key(automaton_.start, SENTENCE_BEGIN))];
  }
  if (best_) {
    log_scale = common_scale(0, automaton_.start);
    double most = 0.0;
    each_step(0, automaton_.start, SENTENCE_BEGIN, 0, log_scale, [&](WordId, double value) {
      most = std::max(most, value);
    });
    return most;
  }
  const NextColumns columns = ahead_->columns(0, automaton_.start, log_scale);
  std::vector<double> probability(model_.num_words()), joint(model_.num_words()), unknown(columns.column.size());
  guided_.next_words(guided_.begin(), columns, {}, threads_, probability.data(), joint.data(), unknown.data());
  double sum = 0.0;
  for (const double x : joint) sum += x;
  return sum;
}

void LexicalProduct::read_values(std::uint32_t t, std::uint32_t q, ContextId x, std::vector<double>& values) const {
  values.resize(model_.states_of(x));
  const double* const reached =
      ahead_ != nullptr ? nullptr : layers_[t].values.data() + layers_[t].place.at(key(q, x));
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    values[i] = reached != nullptr ? reached[i] : ahead_->value(t, q, model_.state_begin[x] + i);
  }
}

template <class Visit>
void LexicalProduct::each_word(std::uint32_t t, std::uint32_t q, Visit visit) const {
  if (t == longest_) return;
  const auto consider = [&](WordId w) {
    if (allowed(t, w) && target(q, w) != DEAD) visit(w, target(q, w));
  };
  if (fixed_[t] != NO_WORD) {
    consider(fixed_[t]);
  } else {
    for (const WordId w : emitted_) consider(w);
  }
}

// Which contexts can be reached at each t.
void LexicalProduct::reach() {
  layers_[0].place.emplace(key(automaton_.start, SENTENCE_BEGIN), 0);
  for (std::uint32_t t = 0; t <= longest_; ++t) {
    std::uint64_t size = 0;
    for (auto& [where, place] : layers_[t].place) {
      check_interrupt();
      const auto q = static_cast<std::uint32_t>(where >> 32);
      const auto x = static_cast<ContextId>(where);
      place = size;
      size += model_.states_of(x);
      each_word(t, q, [&](WordId w, std::uint32_t next) {
        layers_[t + 1].place.emplace(key(next, model_.contexts.next(x, w)), 0);
      });
    }
    layers_[t].values.assign(size, 0.0);
    layers_[t].log_scale.assign(automaton_.num_states(), LOG_ZERO);
  }
}

double LexicalProduct::common_scale(std::uint32_t t, std::uint32_t q) const {
  double common = may_end(t, q) ? 0.0 : LOG_ZERO;
  each_word(t, q, [&](WordId, std::uint32_t next) { common = std::max(common, log_scale(t + 1, next)); });
  return common;
}

void LexicalProduct::backward_reached(std::uint32_t t) {
  Layer& layer = layers_[t];
  std::vector<Key> keys;
  for (const auto& [where, place] : layer.place) keys.push_back(where);
  std::vector<double> common(automaton_.num_states());
  for (std::uint32_t q = 0; q < automaton_.num_states(); ++q) common[q] = common_scale(t, q);
  parallel_for(keys.size(), threads_, [&](std::size_t i, int) {
    const auto q = static_cast<std::uint32_t>(keys[i] >> 32);
    const auto x = static_cast<ContextId>(keys[i]);
    if (common[q] == LOG_ZERO) return;
    double* const out = layer.values.data() + layer.place.at(keys[i]);
    LexicalMove move(model_);
    if (may_end(t, q)) {
      move.open(x, SENTENCE_END);
      for (std::uint32_t s = 0; s < move.from_size(); ++s) out[s] += std::exp(-common[q]) * move.probability(s);
    }
    std::vector<double> rest;
    each_word(t, q, [&](WordId w, std::uint32_t next) {
      const double scale = log_scale(t + 1, next);
      if (scale == LOG_ZERO) return;
      move.open(x, w);
      read_values(t + 1, next, move.to(), rest);
      for (double& value : rest) value *= std::exp(scale - common[q]);
      move.add_backward(out, rest.data());
    });
  });
  std::vector<double> most(automaton_.num_states(), 0.0);
  const auto each = [&](auto visit) {
    for (const Key where : keys) {
      double* const out = layer.values.data() + layer.place.at(where);
      const auto q = static_cast<std::uint32_t>(where >> 32);
      for (std::uint32_t s = 0; s < model_.states_of(static_cast<ContextId>(where)); ++s) visit(q, out[s]);
    }
  };
  each([&](std::uint32_t q, double& value) { most[q] = std::max(most[q], value); });
  each([&](std::uint32_t q, double& value) { value = most[q] > 0.0 ? value / most[q] : 0.0; });
  for (std::uint32_t q = 0; q < automaton_.num_states(); ++q) {
    if (most[q] > 0.0) layer.log_scale[q] = std::log(most[q]) + common[q];
  }
}

// visit(w, value) for each word that may follow the state at `place` of x, </s> among them: its summand of B_t(q, s),
// or what the maximum is taken of, over exp(common).
template <class Visit>
void LexicalProduct::each_step(std::uint32_t t, std::uint32_t q, ContextId x, std::uint32_t place, double common,
                               Visit visit) const {
  LexicalMove move(model_);
  if (may_end(t, q)) {
    move.open(x, SENTENCE_END);
    visit(SENTENCE_END, std::exp(-common) * move.probability(place));
  }
  std::vector<double> ahead;
  each_word(t, q, [&](WordId w, std::uint32_t next) {
    const double scale = log_scale(t + 1, next);
    if (scale == LOG_ZERO) return;
    move.open(x, w);
    read_values(t + 1, next, move.to(), ahead);
    const std::vector<double>& share = move.entering(place);
    double rest = 0.0;
    for (std::uint32_t j = 0; j < share.size(); ++j) {
      rest = best_ ? std::max(rest, share[j] * ahead[j]) : rest + share[j] * ahead[j];
    }
    visit(w, std::exp(scale - common) * move.probability(place) * rest);
  });
}

// choose(weights) picks the place of one of them.
template <class Choose>
Walk LexicalProduct::walk(Choose choose) const {
  if (log_prob_ == LOG_ZERO) throw ModelError("no sentence of the model satisfies the constraint");
  Walk result;
  std::uint32_t q = automaton_.start, place = 0;
  ContextId x = SENTENCE_BEGIN;
  LexicalMove move(model_);
  std::vector<WordId> words;
  std::vector<double> weights, ahead;
  for (std::uint32_t t = 0; t <= longest_; ++t) {
    check_interrupt();
    words.clear();
    weights.clear();
    each_step(t, q, x, place, common_scale(t, q), [&](WordId w, double value) {
      words.push_back(w);
      weights.push_back(value);
    });
    const WordId w = words[choose(weights)];
    move.open(x, w);
    weights = move.entering(place);
    if (w != SENTENCE_END) {
      read_values(t + 1, target(q, w), move.to(), ahead);
      for (std::uint32_t j = 0; j < weights.size(); ++j) weights[j] *= ahead[j];
    }
    place = static_cast<std::uint32_t>(choose(weights));
    x = move.to();
    result.states.push_back(static_cast<HiddenState>(model_.state_begin[x] + place));
    if (w == SENTENCE_END) return result;
    result.words.push_back(w);
    q = target(q, w);
  }
  return result;
}

Walk LexicalProduct::draw(Random& random) const {
  if (best_) throw ModelError("the product was built for the best walk");
  return walk([&](std::vector<double>& weights) {
    std::partial_sum(weights.begin(), weights.end(), weights.begin());
    return random.draw(weights);
  });
}

Walk LexicalProduct::best_walk() const {
  if (!best_) throw ModelError("the product was built for draws");
  return walk([](const std::vector<double>& weights) {
    return static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  });
}

std::vector<std::vector<double>> LexicalProduct::word_probabilities(
    const std::vector<std::uint32_t>& positions) const {
  if (best_ || shortest_ != longest_) throw ModelError("word probabilities need an exact length and sums");
  if (log_prob_ == LOG_ZERO) throw ModelError("no sentence of the model satisfies the constraint");
  std::vector<std::vector<double>> result(positions.size());
  const std::uint32_t last = positions.empty() ? 0 : *std::max_element(positions.begin(), positions.end()) + 1;
  // p(q, s and the words before), scaled.
  std::unordered_map<Key, std::vector<double>> now, next;
  now[key(automaton_.start, SENTENCE_BEGIN)] = {1.0};
  LexicalMove move(model_);
  double work = 0.0;
  for (std::uint32_t t = 0; t < std::min(last, longest_); ++t) {
    const auto wanted = std::find(positions.begin(), positions.end(), t);
    std::vector<double> probability(model_.num_words(), 0.0), moved, ahead;
    next.clear();
    double most_ahead = LOG_ZERO, most = 0.0;
    for (std::uint32_t q = 0; q < automaton_.num_states(); ++q) most_ahead = std::max(most_ahead, log_scale(t + 1, q));
    for (const auto& [where, from] : now) {
      check_interrupt();
      const auto q = static_cast<std::uint32_t>(where >> 32);
      const auto x = static_cast<ContextId>(where);
      each_word(t, q, [&](WordId w, std::uint32_t to) {
        if ((work += static_cast<double>(from.size())) > MOST_WORK) refuse(work);
        if (log_scale(t + 1, to) == LOG_ZERO) return;
        move.open(x, w);
        moved.assign(move.to_size(), 0.0);
        move.add_forward(from.data(), moved.data());
        const double factor = std::exp(log_scale(t + 1, to) - most_ahead);
        read_values(t + 1, to, move.to(), ahead);
        std::vector<double>& sum = next[key(to, move.to())];
        sum.resize(moved.size(), 0.0);
        for (std::size_t j = 0; j < moved.size(); ++j) {
          probability[w] += moved[j] * ahead[j] * factor;
          most = std::max(most, sum[j] += moved[j]);
        }
      });
    }
    if (wanted != positions.end()) {
      double sum = 0.0;
      for (const double p : probability) sum += p;
      for (double& p : probability) p /= sum;
      result[static_cast<std::size_t>(wanted - positions.begin())] = std::move(probability);
    }
    for (auto& [where, values] : next) {
      for (double& value : values) value /= most;
    }
    now.swap(next);
  }
  return result;
}

}  // namespace hiddenite::hmm
