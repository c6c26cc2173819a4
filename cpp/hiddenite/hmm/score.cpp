#include "hiddenite/hmm/score.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/parallel.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t SCORED_PER_PIECE = 64;

class Forward {
 public:
  explicit Forward(const SparseHmm& chain) : chain_(chain) {}

  // ln p(w | before); an impossible word leaves no trace.
  double step(WordId w) {
    const StateSet set = chain_.set(w);
    if (set.group == NO_GROUP) return LOG_ZERO;
    next_.assign(set.size, 0.0);
    if (last_ == NO_WORD) {
      for (std::uint32_t i = 0; i < set.size; ++i) next_[i] = chain_.initial[chain_.state(w, i)];
    } else {
      meter_.add(now_.size() * set.size);
      chain_.add_forward(chain_.set(last_), now_.data(), set, next_.data());
    }
    const std::span<const double> emission = chain_.emissions(w);
    double sum = 0.0;
    for (std::uint32_t i = 0; i < set.size; ++i) sum += next_[i] *= emission[i];
    if (!(sum > 0.0)) return LOG_ZERO;
    for (double& x : next_) x /= sum;
    now_.swap(next_);
    last_ = w;
    return std::log(sum);
  }

 private:
  const SparseHmm& chain_;
  std::vector<double> now_, next_;
  WordId last_ = NO_WORD;
  WorkMeter meter_;
};

}  // namespace

std::vector<double> token_log_probs(const SparseHmm& chain, const TokenText& text, int threads) {
  const std::size_t sentences = text.num_sentences(), ends = chain.has_end ? 1 : 0;
  std::vector<double> result(text.tokens.size() + sentences * ends);
  parallel_for((sentences + SCORED_PER_PIECE - 1) / SCORED_PER_PIECE, threads, [&](std::size_t piece, int) {
    const std::size_t last = std::min(sentences, (piece + 1) * SCORED_PER_PIECE);
    for (std::size_t s = piece * SCORED_PER_PIECE; s < last; ++s) {
      Forward forward(chain);
      double* out = result.data() + text.begin[s] + s * ends;
      for (const WordId w : text.sentence(s)) *out++ = forward.step(w);
      if (chain.has_end) *out = forward.step(SENTENCE_END);
    }
  });
  return result;
}

}  // namespace hiddenite::hmm
