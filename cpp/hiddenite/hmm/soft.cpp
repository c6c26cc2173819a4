// Counts from soft targets; see em.hpp.
#include <algorithm>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/hmm/em.hpp"
#include "hiddenite/hmm/kernels.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t ENTRIES_PER_PIECE = 1024;

}  // namespace

void SoftTargets::check(std::size_t num_tokens, WordId num_words) const {
  bool fits = begin.size() == num_tokens + 1 && begin.front() == 0 && begin.back() == words.size() &&
              probability.size() == words.size() && std::is_sorted(begin.begin(), begin.end());
  for (const WordId w : words) fits = fits && w < num_words;
  for (const float p : probability) fits = fits && p >= 0.0f && p <= 1.0f;
  if (!fits) throw ModelError("the soft targets do not fit the text: one list of probabilities a token is expected");
}

// The changes that the targets of one token make to its counts: p(v) - [v is the token], if it is in the list.
void HmmEm::add_targets(Fold& fold, std::size_t p, bool is_first, const SoftTargets& targets, std::size_t token) const {
  const WordId word = fold.words[p];
  double sum = 0.0;
  bool is_listed = false;
  for (std::uint64_t i = targets.begin[token]; i < targets.begin[token + 1]; ++i) {
    if (shape_.word_group[targets.words[i]] == NO_GROUP) continue;
    sum += static_cast<double>(targets.probability[i]);
    is_listed = is_listed || (targets.words[i] == word && targets.probability[i] > 0.0f);
  }
  if (!is_listed) return;
  for (std::uint64_t i = targets.begin[token]; i < targets.begin[token + 1]; ++i) {
    const WordId v = targets.words[i];
    if (shape_.word_group[v] == NO_GROUP) continue;
    const double weight = static_cast<double>(targets.probability[i]) / sum - (v == word ? 1.0 : 0.0);
    if (weight != 0.0) fold.soft.push_back({static_cast<std::uint32_t>(p), v, static_cast<float>(weight), is_first});
  }
}

// Orders the entries by block and by word; marks the blocks that they need.
void HmmEm::order_targets(Fold& fold, std::vector<bool>& present) const {
  const std::uint32_t groups = shape_.num_groups();
  const auto block = [&](std::uint32_t e) {
    const SoftEntry& entry = fold.soft[e];
    return std::size_t{shape_.word_group[fold.words[entry.position - 1]]} * groups + shape_.word_group[entry.word];
  };
  fold.soft_by_word.resize(fold.soft.size());
  std::iota(fold.soft_by_word.begin(), fold.soft_by_word.end(), 0u);
  for (const std::uint32_t e : fold.soft_by_word) {
    if (!fold.soft[e].is_first) fold.soft_by_block.push_back(e);
  }
  std::stable_sort(fold.soft_by_word.begin(), fold.soft_by_word.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return fold.soft[a].word < fold.soft[b].word; });
  std::stable_sort(fold.soft_by_block.begin(), fold.soft_by_block.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return block(a) < block(b); });
  fold.soft_word_begin.assign(std::size_t{shape_.num_words()} + 1, 0);
  for (const SoftEntry& entry : fold.soft) ++fold.soft_word_begin[entry.word + 1];
  std::partial_sum(fold.soft_word_begin.begin(), fold.soft_word_begin.end(), fold.soft_word_begin.begin());
  fold.soft_block_begin.assign(present.size() + 1, 0);
  for (const std::uint32_t e : fold.soft_by_block) {
    present[block(e)] = true;
    ++fold.soft_block_begin[block(e) + 1];
  }
  std::partial_sum(fold.soft_block_begin.begin(), fold.soft_block_begin.end(), fold.soft_block_begin.begin());
}

// p(z', v | words before), over the states of the entry's word.
void HmmEm::predict_entry(const Fold& fold, const SoftEntry& entry, std::vector<float>& joint) const {
  const StateSet to = shape_.set(entry.word);
  joint.assign(to.size, 0.0f);
  if (entry.is_first) {
    for (std::uint32_t i = 0; i < to.size; ++i) joint[i] = initial_[shape_.state(entry.word, i)];
  } else {
    const StateSet from = shape_.set(fold.words[entry.position - 1]);
    forward_step(from, alpha_.data() + fold.offset[entry.position - 1], to, matrix(fold, from.group, to.group),
                 joint.data());
  }
  const float* const emission = emission_.data() + shape_.set_begin[entry.word];
  for (std::uint32_t i = 0; i < to.size; ++i) joint[i] *= emission[i];
}

void HmmEm::weigh_targets(const Fold& fold, int threads) {
  soft_factor_.resize(fold.soft.size());
  parallel_for((fold.soft.size() + ENTRIES_PER_PIECE - 1) / ENTRIES_PER_PIECE, threads, [&](std::size_t piece, int) {
    std::vector<float> joint;
    const std::size_t end = std::min(fold.soft.size(), (piece + 1) * ENTRIES_PER_PIECE);
    for (std::size_t e = piece * ENTRIES_PER_PIECE; e < end; ++e) {
      predict_entry(fold, fold.soft[e], joint);
      const double sum = std::accumulate(joint.begin(), joint.end(), 0.0);
      soft_factor_[e] = sum > 0.0 ? static_cast<float>(static_cast<double>(fold.soft[e].weight) / sum) : 0.0f;
    }
  });
}

// sums += alpha' (factor E), without the transitions.
void HmmEm::add_soft_pairs(const Fold& fold, std::uint32_t g, std::uint32_t h, std::vector<float>& sums) const {
  const std::size_t block = std::size_t{g} * shape_.num_groups() + h;
  const std::uint32_t columns = shape_.group_size(h);
  std::vector<float> weight;
  WorkMeter meter;
  for (std::uint64_t k = fold.soft_block_begin[block]; k < fold.soft_block_begin[block + 1]; ++k) {
    const SoftEntry& entry = fold.soft[fold.soft_by_block[k]];
    const StateSet from = shape_.set(fold.words[entry.position - 1]), to = shape_.set(entry.word);
    meter.add(std::size_t{from.size} * to.size);
    const float* const alpha = alpha_.data() + fold.offset[entry.position - 1];
    const float* const emission = emission_.data() + shape_.set_begin[entry.word];
    weight.resize(to.size);
    for (std::uint32_t j = 0; j < to.size; ++j) weight[j] = soft_factor_[fold.soft_by_block[k]] * emission[j];
    if (from.members == nullptr) {
      add_outer(alpha, from.size, weight.data(), columns, sums.data());
      continue;
    }
    for (std::uint32_t i = 0; i < from.size; ++i) {
      float* const row = sums.data() + std::size_t{from.place(i)} * columns;
      for (std::uint32_t j = 0; j < to.size; ++j) row[to.place(j)] += alpha[i] * weight[j];
    }
  }
}

// The entries of a word: their share of its states, and of the first states of sentences.
void HmmEm::add_soft_words(const Fold& fold, WordId w, bool first_only, std::vector<double>& sums) const {
  std::vector<float> joint;
  for (std::uint64_t k = fold.soft_word_begin[w]; k < fold.soft_word_begin[w + 1]; ++k) {
    const std::uint32_t e = fold.soft_by_word[k];
    if (first_only && !fold.soft[e].is_first) continue;
    predict_entry(fold, fold.soft[e], joint);
    for (std::uint32_t i = 0; i < joint.size(); ++i) sums[i] += static_cast<double>(soft_factor_[e] * joint[i]);
  }
}

}  // namespace hiddenite::hmm
