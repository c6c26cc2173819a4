#include <algorithm>
#include <cmath>

#include "hiddenite/base/clones.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/induce/samplers.hpp"

namespace hiddenite::induce {

namespace {

// sum[k] += sum_i weights[i] rows[i * gap + k].
HIDDENITE_CLONES
void add_rows(const float* rows, std::size_t gap, const float* weights, std::size_t num_rows, std::size_t padded,
              float* sum) {
  const std::size_t width = padded / 8 * 8;  // tells the compiler that rows are whole vectors
  for (std::size_t i = 0; i < num_rows; ++i) {
    const float weight = weights[i];
    if (weight == 0.0f) continue;
    const float* from = rows + i * gap;
    for (std::size_t k = 0; k < width; ++k) sum[k] += weight * from[k];
  }
}

// Random::draw of a short row: where no branch can be foretold, comparing all of it is faster than halving it.
HIDDENITE_CLONES
std::size_t draw_of_short(std::span<const double> cumulative, Random& random) {
  const double* sums = cumulative.data();
  const std::size_t n = cumulative.size();
  const double x = random.uniform() * sums[n - 1];
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < n; ++i) index += sums[i] <= x;
  return index < n ? index : static_cast<std::size_t>(std::lower_bound(sums, sums + n, sums[n - 1]) - sums);
}

// The frozen model of one sentence: emissions by token, transitions as the counts stand.
struct Frozen {
  std::vector<WordBase> bases;
  std::vector<std::vector<float>> emission;  // [token][tag], zeros after the last tag
};

// Proposes tags for a sentence whose tokens have left, from the frozen model.
class SentenceProposal {
 public:
  SentenceProposal(TaggingState& state, const MoveOptions& options, Random& random)
      : state_(state), options_(options), random_(random), stride_(state.transitions.stride()),
        symbols_(state.transitions.num_symbols()), window_(state.order()), boundary_(state.transitions.boundary()),
        place_of_(state.transitions.level(state.order() - 1).contexts.size(), NONE) {}

  // Filter forward, sample backward. Orders 2 and 3.
  void exact(const Frozen& frozen, std::vector<Tag>& tags) {
    if (state_.order() == 3) {
      filter_trigrams(frozen);
      sample_trigrams(tags);
    } else {
      filter_bigrams(frozen);
      sample_bigrams(tags);
    }
  }

  // A conditional particle filter, resampling at each token; `tags` is the retained path, then the answer.
  // A particle is what it drew for each token and where it came from; particles that end alike share their scores.
  void particles(const Frozen& frozen, std::vector<Tag>& tags) {
    const std::size_t length = tags.size(), n = std::max(2u, options_.particles);
    const std::size_t retained = options_.fault.is(Fault::UNCONDITIONAL) ? n : 0;
    endings_.assign(n * window_, boundary_);
    drawn_.resize(length * n);
    parents_.resize(length * n);
    weights_.resize(n);
    for (std::size_t i = 0; i < length; ++i) {
      if (i > 0) resample(retained, parents_.data() + i * n);
      forget_scores();
      for (std::size_t p = 0; p < n; ++p) {
        Tag* at = endings_.data() + (p + 1) * window_ - 1;
        const std::span<const double> cumulative = scores_after(at, frozen.emission[i]);
        weights_[p] = cumulative.back();
        const Tag tag = p == retained ? tags[i] : static_cast<Tag>(draw_of_short(cumulative, random_));
        drawn_[i * n + p] = *at = tag;
        std::copy(at + 2 - window_, at + 1, at + 1 - window_);
      }
    }
    double total = 0.0;
    for (std::size_t p = 0; p < n; ++p) {
      Tag* at = endings_.data() + (p + 1) * window_ - 1;
      *at = boundary_;
      total += weights_[p] *= state_.transitions.predict(at);
    }
    std::size_t chosen = draw_index(weights_.data(), n, total, random_);
    for (std::size_t i = length; i-- > 0; chosen = parents_[i * n + chosen]) tags[i] = drawn_[i * n + chosen];
  }

 private:
  void resample(std::size_t retained, std::uint32_t* parents) {
    double sum = 0.0;
    for (double& weight : weights_) weight = sum += weight;
    resampled_.resize(endings_.size());
    for (std::size_t p = 0; p < weights_.size(); ++p) {
      const std::size_t parent = p == retained ? p : draw_of_short(weights_, random_);
      parents[p] = static_cast<std::uint32_t>(parent);
      std::copy_n(endings_.data() + parent * window_, window_, resampled_.data() + p * window_);
    }
    endings_.swap(resampled_);
  }

  void forget_scores() {
    for (const std::size_t context : contexts_) place_of_[context] = NONE;
    contexts_.clear();
  }

  // Sums of p(tags up to t | context) p(word | tag), t by t, for the context before `at`.
  std::span<const double> scores_after(const Tag* at, const std::vector<float>& emission) {
    const std::size_t context = state_.transitions.context_place(state_.order() - 1, at);
    const std::size_t num_tags = state_.num_tags();
    std::uint32_t& place = place_of_[context];
    if (place == NONE) {
      place = static_cast<std::uint32_t>(contexts_.size());
      contexts_.push_back(context);
      if (cumulative_.size() < contexts_.size() * num_tags) cumulative_.resize(contexts_.size() * num_tags);
      row_ = emission;
      state_.transitions.multiply_scores(at, 0, row_.data());
      double sum = 0.0;
      double* sums = cumulative_.data() + place * num_tags;
      for (std::size_t t = 0; t < num_tags; ++t) sums[t] = sum += row_[t];
    }
    return {cumulative_.data() + place * num_tags, num_tags};
  }

  static void normalize(std::vector<float>& values) {
    double sum = 0.0;
    for (const float value : values) sum += value;
    const auto scale = static_cast<float>(1.0 / sum);
    for (float& value : values) value *= scale;
  }

  // p(k | j) of the bigram level, [j * stride + k].
  void fill_bigrams() {
    const auto& unigram = state_.transitions.level(0);
    const auto& bigram = state_.transitions.level(1);
    const float uniform = unigram.contexts[0].rest / static_cast<float>(symbols_);
    bigrams_.assign(symbols_ * stride_, 0.0f);
    for (std::size_t j = 0; j < symbols_; ++j) {
      const float share = bigram.contexts[j].share, rest = bigram.contexts[j].rest;
      for (std::size_t k = 0; k < symbols_; ++k) {
        const float below = unigram.seen[k] * unigram.contexts[0].share + uniform;
        bigrams_[j * stride_ + k] = bigram.seen[j * stride_ + k] * share + rest * below;
      }
    }
  }

  // forward[n][j * stride + k] ~ p(words up to n, tag n - 1 = j, tag n = k).
  void filter_trigrams(const Frozen& frozen) {
    fill_bigrams();
    const auto& level = state_.transitions.level(2);
    forward_.resize(frozen.emission.size());
    std::vector<float> share(symbols_);
    for (std::size_t n = 0; n < frozen.emission.size(); ++n) {
      std::vector<float>& out = forward_[n];
      out.assign(symbols_ * stride_, 0.0f);
      const float* emission = frozen.emission[n].data();
      for (std::size_t j = 0; j < symbols_; ++j) {
        if ((n == 0) != (j == boundary_)) continue;
        float rest_sum = 0.0f;
        for (std::size_t i = 0; i < symbols_; ++i) {
          const bool possible = (n <= 1) == (i == boundary_);
          const float before = !possible ? 0.0f : n == 0 ? 1.0f : forward_[n - 1][i * stride_ + j];
          const auto& context = level.contexts[i * symbols_ + j];
          share[i] = before * context.share;
          rest_sum += before * context.rest;
        }
        float* sum = out.data() + j * stride_;
        add_rows(level.seen.data() + j * stride_, symbols_ * stride_, share.data(), symbols_, stride_, sum);
        const float* below = bigrams_.data() + j * stride_;
        for (std::size_t k = 0; k < stride_; ++k) sum[k] = (sum[k] + rest_sum * below[k]) * emission[k];
      }
      normalize(out);
    }
  }

  void sample_trigrams(std::vector<Tag>& tags) {
    const std::size_t length = tags.size();
    std::vector<double> sums(symbols_);
    std::vector<float> row(stride_);
    Tag window[3] = {0, 0, boundary_};
    // The last two tags: j by its sum over k, then k.
    std::vector<std::vector<float>> last(symbols_);
    double total = 0.0;
    for (std::size_t j = 0; j < symbols_; ++j) {
      const float* from = forward_[length - 1].data() + j * stride_;
      last[j].assign(from, from + stride_);
      window[0] = static_cast<Tag>(j);
      state_.transitions.multiply_scores(window + 2, 1, last[j].data());
      sums[j] = 0.0;
      for (const float value : last[j]) sums[j] += value;
      total += sums[j];
    }
    const auto j = static_cast<Tag>(draw_index(sums.data(), symbols_, total, random_));
    Tag later = draw_row(last[j]);
    Tag here = j;
    tags[length - 1] = later;
    for (std::size_t n = length - 1; n-- > 0;) {
      tags[n] = here;
      if (n == 0) break;
      for (std::size_t i = 0; i < symbols_; ++i) row[i] = forward_[n][i * stride_ + here];
      std::fill(row.begin() + static_cast<std::ptrdiff_t>(symbols_), row.end(), 0.0f);
      window[1] = here;
      window[2] = later;
      state_.transitions.multiply_scores(window + 2, 2, row.data());
      later = here;
      here = draw_row(row);
    }
  }

  void filter_bigrams(const Frozen& frozen) {
    fill_bigrams();
    forward_.resize(frozen.emission.size());
    for (std::size_t n = 0; n < frozen.emission.size(); ++n) {
      std::vector<float>& out = forward_[n];
      out.assign(stride_, 0.0f);
      for (std::size_t j = 0; j < symbols_; ++j) {
        if ((n == 0) != (j == boundary_)) continue;
        const float before = n == 0 ? 1.0f : forward_[n - 1][j];
        for (std::size_t k = 0; k < stride_; ++k) out[k] += before * bigrams_[j * stride_ + k];
      }
      for (std::size_t k = 0; k < stride_; ++k) out[k] *= frozen.emission[n][k];
      normalize(out);
    }
  }

  void sample_bigrams(std::vector<Tag>& tags) {
    Tag later = boundary_;
    std::vector<float> row(stride_);
    for (std::size_t n = tags.size(); n-- > 0;) {
      for (std::size_t j = 0; j < stride_; ++j) {
        row[j] = j < symbols_ ? forward_[n][j] * bigrams_[j * stride_ + later] : 0.0f;
      }
      tags[n] = later = draw_row(row);
    }
  }

  Tag draw_row(const std::vector<float>& row) {
    double scores[512], total = 0.0;
    for (std::size_t x = 0; x < row.size(); ++x) total += scores[x] = row[x];
    return static_cast<Tag>(draw_index(scores, row.size(), total, random_));
  }

  TaggingState& state_;
  const MoveOptions& options_;
  Random& random_;
  std::size_t stride_, symbols_, window_;
  Tag boundary_;
  std::vector<float> bigrams_;
  std::vector<std::vector<float>> forward_;

  // Of the filter. [token][particle], and each particle's last tags with room for the next, `window_` in all.
  static constexpr std::uint32_t NONE = ~0u;
  std::vector<Tag> drawn_, endings_, resampled_;
  std::vector<std::uint32_t> parents_;
  std::vector<double> weights_;
  // Of the token at hand: the contexts that occur, where each one's scores stand, the scores.
  std::vector<std::size_t> contexts_;
  std::vector<std::uint32_t> place_of_;
  std::vector<double> cumulative_;
  std::vector<float> row_;
};

// ln of the tags' weight in the frozen model; the tokens must have these tags.
double log_frozen(const TaggingState& state, std::span<const std::uint32_t> tokens, const Frozen& frozen) {
  LogWeight weight;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    weight.multiply(state.transitions.predict(state.at(tokens[i])));
    weight.multiply(frozen.emission[i][state.tag(tokens[i])]);
  }
  weight.multiply(state.transitions.predict(state.at(tokens.back() + 1)));
  return weight.log();
}

void freeze(const TaggingState& state, std::span<const std::uint32_t> tokens, Frozen& frozen) {
  frozen.bases.resize(tokens.size());
  frozen.emission.resize(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::uint32_t word = state.word(tokens[i]);
    state.fill_base(word, false, frozen.bases[i]);
    std::vector<float>& row = frozen.emission[i];
    row.assign(state.transitions.stride(), 0.0f);
    double largest = 0.0;
    for (unsigned t = 0; t < state.num_tags(); ++t) {
      largest = std::max(largest, state.emission(word, static_cast<Tag>(t), frozen.bases[i]));
    }
    for (unsigned t = 0; t < state.num_tags(); ++t) {  // a long word's probability may be too small for a float
      const double p = state.emission(word, static_cast<Tag>(t), frozen.bases[i]) / largest;
      if (!state.lexicon || state.lexicon->of(word).has(static_cast<Tag>(t))) {
        row[t] = static_cast<float>(std::max(p, 1e-30));
      }
    }
  }
}

}  // namespace

void sweep_sentences(TaggingState& state, const MoveOptions& options, bool exact, Random& random,
                     SweepStatistics& statistics) {
  if (exact && state.order() > 3) {
    throw ModelError("the exact sentence sampler knows orders 2 and 3; take the particle filter");
  }
  SentenceProposal proposal(state, options, random);
  Frozen frozen;
  Trail left_trail, trail;
  std::vector<LeftWord> left;
  std::vector<Tag> old_tags, tags;
  for (std::size_t s = 0; s < state.num_sentences(); ++s) {
    check_interrupt();
    const auto tokens = state.sentence(s);
    if (tokens.empty()) continue;
    const auto last = [&](std::size_t i) { return tokens[i] + (i + 1 == tokens.size() ? 1 : 0); };
    LogWeight old_weight, weight;
    left_trail.clear();
    trail.clear();
    left.assign(tokens.size(), {});
    old_tags.clear();
    for (const std::uint32_t token : tokens) old_tags.push_back(state.tag(token));
    for (std::size_t i = tokens.size(); i-- > 0;) {
      left[i] = state.leave(tokens[i], last(i), random, left_trail, old_weight);
    }
    freeze(state, tokens, frozen);
    for (std::size_t i = 0; i < tokens.size(); ++i) state.weigh(left[i], frozen.bases[i], old_weight);
    const double old_frozen = log_frozen(state, tokens, frozen);
    tags = old_tags;
    if (exact) {
      proposal.exact(frozen, tags);
    } else {
      proposal.particles(frozen, tags);
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) state.set_tag(tokens[i], tags[i]);
    const double new_frozen = log_frozen(state, tokens, frozen);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      state.seat(tokens[i], last(i), frozen.bases[i], random, trail, weight);
    }
    ++statistics.proposals;
    const double log_ratio = weight.log() - new_frozen - old_weight.log() + old_frozen;
    if (log_ratio >= 0.0 || random.uniform() < std::exp(log_ratio) || options.fault.is(Fault::NO_CORRECTION)) {
      ++statistics.accepted;
      continue;
    }
    for (std::size_t i = tokens.size(); i-- > 0;) state.undo(tokens[i], last(i), trail);
    LogWeight unused;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      state.set_tag(tokens[i], old_tags[i]);
      state.replay(tokens[i], last(i), frozen.bases[i], left_trail, unused);
    }
  }
}

}  // namespace hiddenite::induce
