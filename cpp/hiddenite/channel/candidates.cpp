#include "hiddenite/channel/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hiddenite/base/error.hpp"

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

Slot make_plain_slot(std::span<const WordId> words, std::span<const double> log_weights) {
  Slot slot;
  slot.word.assign(words.begin(), words.end());
  slot.log_max.assign(log_weights.begin(), log_weights.end());
  slot.log_sum = slot.log_max;
  slot.log_weight = slot.log_max;
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
      slot.log_sum.push_back(log_weights[i]);
      slot.begin.push_back(static_cast<std::uint32_t>(slot.candidate.size()));
    } else {
      if (words[i] != UNKNOWN) {
        throw ModelError("position " + std::to_string(position + 1) + ": a word is given twice");
      }
      const double best = slot.log_max.back();
      slot.log_sum.back() = best + std::log(std::exp(slot.log_sum.back() - best) +
                                            std::exp(log_weights[i] - best));
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
