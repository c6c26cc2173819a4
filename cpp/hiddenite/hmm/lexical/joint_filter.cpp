#include "hiddenite/hmm/lexical/joint_filter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/lexical/axes.hpp"

namespace hiddenite::hmm {

namespace {

using Chains = std::vector<const SparseHmm*>;
constexpr std::size_t FILTERED_AT_ONCE = 64;
constexpr float UNSEEN = 1e-9f;
constexpr std::size_t LANES = 4;

struct RowSums {
  double all, ahead;  // of x, and of x a, before x is multiplied
};

// Multiplies a row x(j) by base + factor a(j).
RowSums weigh_row(float* x, std::size_t size, float base, float factor, const float* a) {
  float all[LANES] = {}, ahead[LANES] = {};
  std::size_t j = 0;
  for (; j + LANES <= size; j += LANES) {
    for (std::size_t k = 0; k < LANES; ++k) {
      all[k] += x[j + k];
      ahead[k] += x[j + k] * a[j + k];
      x[j + k] *= base + factor * a[j + k];
    }
  }
  for (; j < size; ++j) {
    all[0] += x[j];
    ahead[0] += x[j] * a[j];
    x[j] *= base + factor * a[j];
  }
  return {static_cast<double>((all[0] + all[2]) + (all[1] + all[3])),
          static_cast<double>((ahead[0] + ahead[2]) + (ahead[1] + ahead[3]))};
}

class Joint {
 public:
  Joint(const Chains& chains, const std::vector<double>& weight)
      : chains_(chains), weight_(weight), size_(chains.size()), ahead_(chains.size()), entering_(chains.size()),
        hidden_(chains.size()) {}

  void restart() {
    last_ = SENTENCE_BEGIN;
    std::fill(size_.begin(), size_.end(), std::size_t{1});
    now_.assign(1, 1.0f);
  }

  // p(w | before).
  double step(WordId w, float lexical, float gamma) {
    for (std::size_t m = 0; m < chains_.size(); ++m) open(m, w);
    const double sum = weigh(lexical, gamma);
    if (!(sum > 0.0)) throw ModelError("a word of the text has probability zero; use smoothing");
    const auto factor = static_cast<float>(1.0 / sum);
    for (float& x : now_) x *= factor;
    for (std::size_t m = 0; m < chains_.size(); ++m) {
      const std::size_t rest = now_.size() / size_[m], columns = chains_[m]->set(w).size;
      next_.resize(rest * columns);
      turn_axis(now_.data(), size_[m], rest, entering_[m].data(), columns, next_.data(), UNSEEN);
      now_.swap(next_);
      size_[m] = columns;
    }
    last_ = w;
    return sum;
  }
  double hidden(std::size_t m) const { return hidden_[m]; }
  const std::vector<float>& states() const { return now_; }

 private:
  // a(z, w) and R(z' | z, w) of chain m.
  void open(std::size_t m, WordId w) {
    const SparseHmm& chain = *chains_[m];
    const StateSet set = chain.set(w);
    if (set.size == 0) throw ModelError("a word of the text has no states");
    const std::span<const double> emission = chain.emissions(w);
    ahead_[m].assign(size_[m], 0.0f);
    entering_[m].resize(size_[m] * set.size);
    for (std::size_t i = 0; i < size_[m]; ++i) {
      float* const row = entering_[m].data() + i * set.size;
      const float* const from =
          last_ == SENTENCE_BEGIN ? nullptr : chain.block_of(chain.word_group[last_], set.group) + i * set.size;
      float sum = 0.0f;
      for (std::uint32_t j = 0; j < set.size; ++j) {
        const double a =
            from == nullptr ? chain.initial[chain.group_begin[set.group] + j] : static_cast<double>(from[j]);
        sum += row[j] = static_cast<float>(a * emission[j]);
      }
      ahead_[m][i] = sum;
      const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
      for (std::uint32_t j = 0; j < set.size; ++j) row[j] *= factor;
    }
  }

  // Multiplies by P(w | z) and adds up; the chains' own predictions on the way.
  double weigh(float lexical, float gamma) {
    std::fill(hidden_.begin(), hidden_.end(), 0.0);
    const std::size_t last = chains_.size() - 1, columns = size_[last];
    const float factor = gamma * static_cast<float>(weight_[last]);
    double sum = 0.0;
    place_.assign(chains_.size(), 0);
    for (float* row = now_.data(); row != now_.data() + now_.size(); row += columns) {
      float base = lexical;
      for (std::size_t m = 0; m < last; ++m) base += gamma * static_cast<float>(weight_[m]) * ahead_[m][place_[m]];
      const RowSums found = weigh_row(row, columns, base, factor, ahead_[last].data());
      sum += static_cast<double>(base) * found.all + static_cast<double>(factor) * found.ahead;
      for (std::size_t m = 0; m < last; ++m) hidden_[m] += static_cast<double>(ahead_[m][place_[m]]) * found.all;
      hidden_[last] += found.ahead;
      for (std::size_t m = last; m-- > 0;) {
        if (++place_[m] < size_[m]) break;
        place_[m] = 0;
      }
    }
    return sum;
  }

  const Chains& chains_;
  const std::vector<double>& weight_;
  WordId last_ = SENTENCE_BEGIN;
  std::vector<std::size_t> size_;                // [m]
  std::vector<std::vector<float>> ahead_, entering_;
  std::vector<double> hidden_;
  std::vector<float> now_, next_;
  std::vector<std::size_t> place_;
};

std::size_t joint_size(const Chains& chains, WordId w) {
  std::size_t size = 1;
  for (const SparseHmm* chain : chains) size *= chain->set(w).size;
  return size;
}

// Fills the states of a context from the places' numbers, in their order.
void append_state(const Chains& chains, WordId w, std::size_t index, std::vector<std::uint16_t>& places) {
  const std::size_t first = places.size();
  places.resize(first + chains.size());
  for (std::size_t m = chains.size(); m-- > 0;) {
    const std::size_t size = chains[m]->set(w).size;
    places[first + m] = static_cast<std::uint16_t>(index % size);
    index /= size;
  }
}

// Visits weigh less where there are many: a frequent context can do without a share that a rare one needs.
constexpr double VISITS_POWER = -0.3;

double visits_weight(const float* row, std::size_t size) {
  const double visits = std::accumulate(row, row + size, 0.0);
  return std::pow(std::max(1.0, visits), VISITS_POWER);
}

bool is_single(ContextId x) { return x == SENTENCE_BEGIN || x == SENTENCE_END; }

}  // namespace

JointFilter joint_filter(const Chains& chains, const std::vector<double>& weight, const TokenText& text,
                         const LexicalRoute& route, const ContextTree* tree, int threads) {
  const std::size_t tokens = text.tokens.size() + text.num_sentences(), sentences = text.num_sentences();
  if (chains.empty() || weight.size() != chains.size()) throw ModelError("expected one weight for each chain");
  if (route.lexical.size() != tokens || route.gamma.size() != tokens) {
    throw ModelError("found another number of lexical probabilities than of tokens");
  }
  JointFilter result;
  result.hidden.resize(tokens * chains.size());
  result.log_prob.resize(tokens);
  if (tree != nullptr) {
    for (WordId w = 0; w < tree->num_words(); ++w) result.stride = std::max(result.stride, joint_size(chains, w));
    result.occupancy.assign(result.stride * tree->size(), 0.0f);
  }
  parallel_for((sentences + FILTERED_AT_ONCE - 1) / FILTERED_AT_ONCE, tree == nullptr ? threads : 1,
               [&](std::size_t piece, int) {
    Joint joint(chains, weight);
    for (std::size_t s = piece * FILTERED_AT_ONCE; s < std::min(sentences, (piece + 1) * FILTERED_AT_ONCE); ++s) {
      joint.restart();
      std::size_t t = text.begin[s] + s;
      ContextId x = SENTENCE_BEGIN;
      const auto visit = [&](WordId w) {
        result.log_prob[t] = std::log(joint.step(w, route.lexical[t], route.gamma[t]));
        for (std::size_t m = 0; m < chains.size(); ++m) result.hidden[m * tokens + t] = joint.hidden(m);
        ++t;
        if (tree == nullptr) return;
        x = tree->next(x, w);
        float* const out = result.occupancy.data() + result.stride * x;
        for (std::size_t i = 0; i < joint.states().size(); ++i) out[i] += joint.states()[i];
      };
      for (const WordId w : text.sentence(s)) visit(w);
      visit(SENTENCE_END);
    }
  });
  return result;
}

KeptStates keep_all(const Chains& chains, const ContextTree& tree) {
  KeptStates result;
  result.begin.assign(1, 0);
  for (ContextId x = 0; x < tree.size(); ++x) {
    const WordId w = is_single(x) ? SENTENCE_END : tree.last(x);
    const std::size_t size = joint_size(chains, w);
    for (std::size_t i = 0; i < size; ++i) append_state(chains, w, i, result.places);
    result.begin.push_back(result.begin.back() + size);
  }
  return result;
}

KeptStates keep_states(const Chains& chains, const ContextTree& tree, const JointFilter& filter, std::uint64_t most) {
  const std::size_t stride = filter.stride;
  if (filter.occupancy.size() != stride * tree.size()) throw ModelError("the occupancies are those of other contexts");
  std::vector<std::uint32_t> best(tree.size(), 0);
  std::vector<float> values;
  std::uint64_t singles = 0;
  for (ContextId x = 0; x < tree.size(); ++x) {
    const float* const row = filter.occupancy.data() + stride * x;
    const std::size_t size = is_single(x) ? 1 : joint_size(chains, tree.last(x));
    singles += size > 0;
    if (size < 2) continue;
    best[x] = static_cast<std::uint32_t>(std::max_element(row, row + size) - row);
    const auto weight = static_cast<float>(visits_weight(row, size));
    for (std::size_t i = 0; i < size; ++i) {
      if (i != best[x] && row[i] > 0.0f) values.push_back(weight * row[i]);
    }
  }
  // Beside the best of each context, those above the value that leaves room for `most`.
  const std::uint64_t room = most > singles ? most - singles : 0;
  float least = 0.0f;
  if (room < values.size()) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(room);
    std::nth_element(values.begin(), middle, values.end(), std::greater<>());
    least = values[room];
  }
  KeptStates result;
  result.begin.assign(1, 0);
  for (ContextId x = 0; x < tree.size(); ++x) {
    const WordId w = is_single(x) ? SENTENCE_END : tree.last(x);
    const std::size_t size = is_single(x) ? 1 : joint_size(chains, w);
    const float* const row = filter.occupancy.data() + stride * x;
    const auto weight = static_cast<float>(visits_weight(row, size));
    for (std::size_t i = 0; i < size; ++i) {
      if (i == best[x] || weight * row[i] > least) append_state(chains, w, i, result.places);
    }
    result.begin.push_back(result.places.size() / chains.size());
  }
  return result;
}

}  // namespace hiddenite::hmm
