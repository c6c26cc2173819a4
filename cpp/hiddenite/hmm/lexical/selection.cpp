// The choice of contexts: stage k looks at all contexts of k words at once.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/hmm/lexical/contexts.hpp"

namespace hiddenite::hmm {

namespace {

// Words of a text with </s>, and the k words before each token as the number of their kind.
struct Histories {
  std::vector<WordId> word;
  std::vector<std::uint32_t> kind;     // NO_CONTEXT where the sentence has fewer words before
  std::vector<std::uint32_t> example;  // [kind]: a token that has it
};

Histories words_of(const TokenText& text) {
  Histories result;
  for (std::size_t s = 0; s < text.num_sentences(); ++s) {
    for (const WordId w : text.sentence(s)) result.word.push_back(w);
    result.word.push_back(SENTENCE_END);
  }
  return result;
}

// <s> stands before the first word of each sentence.
WordId word_before(const Histories& all, std::size_t t) {
  return t == 0 || all.word[t - 1] == SENTENCE_END ? SENTENCE_BEGIN : all.word[t - 1];
}

// Makes histories of k words from those of k - 1: the kind of the token before, and its word.
void lengthen(Histories& all) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
  const bool first = all.kind.empty();
  for (std::size_t t = 0; t < all.word.size(); ++t) {
    const WordId w = word_before(all, t);
    if (first) {
      keys.emplace_back(w, t);
    } else if (w != SENTENCE_BEGIN && all.kind[t - 1] != NO_CONTEXT) {
      keys.emplace_back((std::uint64_t{all.kind[t - 1]} << 32) | w, t);
    }
  }
  std::sort(keys.begin(), keys.end());
  all.kind.assign(all.word.size(), NO_CONTEXT);
  all.example.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || keys[i].first != keys[i - 1].first) all.example.push_back(keys[i].second);
    all.kind[keys[i].second] = static_cast<std::uint32_t>(all.example.size() - 1);
  }
}

struct KindCounts {
  std::vector<std::uint32_t> total, types;  // [kind]
  std::vector<std::uint32_t> count;         // [token]: of its kind and word
};

KindCounts count_kinds(const Histories& all) {
  KindCounts result;
  result.total.assign(all.example.size(), 0);
  result.types.assign(all.example.size(), 0);
  result.count.assign(all.word.size(), 0);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
  for (std::size_t t = 0; t < all.word.size(); ++t) {
    if (all.kind[t] != NO_CONTEXT) keys.emplace_back((std::uint64_t{all.kind[t]} << 32) | all.word[t], t);
  }
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0, j = 0; i < keys.size(); i = j) {
    while (j < keys.size() && keys[j].first == keys[i].first) ++j;
    const std::uint64_t kind = keys[i].first >> 32;
    result.total[kind] += static_cast<std::uint32_t>(j - i);
    ++result.types[kind];
    for (std::size_t k = i; k < j; ++k) result.count[keys[k].second] = static_cast<std::uint32_t>(j - i);
  }
  return result;
}

// A share lengthened by the token's kind, the token itself left out.
LexicalShare left_out(const LexicalShare& shorter, const KindCounts& counts, std::uint32_t kind, std::size_t t,
                      double discount) {
  const double n = counts.total[kind] - 1.0;
  if (!(n > 0.0)) return shorter;
  const double c = counts.count[t] - 1.0, types = counts.types[kind] - (counts.count[t] == 1 ? 1.0 : 0.0);
  const double back_off = discount * types / n;
  return {std::max(c - discount, 0.0) / n + back_off * shorter.listed, back_off * shorter.left};
}

std::vector<bool> choose(const std::vector<double>& gain, std::uint32_t most, double least) {
  std::vector<std::uint32_t> order(gain.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return gain[a] > gain[b]; });
  std::vector<bool> chosen(gain.size(), false);
  for (std::size_t i = 0; i < order.size() && i < most && gain[order[i]] > least; ++i) chosen[order[i]] = true;
  return chosen;
}

}  // namespace

SelectedContexts select_contexts(const TokenText& text, WordId num_words, std::span<const double> log_prob,
                                 const SelectionOptions& options) {
  Histories all = words_of(text);
  if (log_prob.size() != all.word.size()) throw ModelError("found another number of probabilities than of tokens");
  std::vector<LexicalShare> share(all.word.size());
  SelectedContexts result{ContextTree(num_words), {}};
  std::vector<ContextId> listed;
  for (std::size_t k = 0; k < MOST_CONTEXT_WORDS && options.most[k] > 0; ++k) {
    check_interrupt();
    lengthen(all);
    const KindCounts counts = count_kinds(all);
    std::vector<double> gain(all.example.size(), 0.0);
    const auto log_mixed = [&](const LexicalShare& s, std::size_t t) {
      const double hidden = std::exp(log_prob[t]) / options.optimism;
      return std::log(options.lexical_weight * (s.listed + s.left * hidden) + (1.0 - options.lexical_weight) * hidden);
    };
    for (std::size_t t = 0; t < all.word.size(); ++t) {
      if (all.kind[t] == NO_CONTEXT) continue;
      const LexicalShare longer = left_out(share[t], counts, all.kind[t], t, options.discounts[k]);
      gain[all.kind[t]] += log_mixed(longer, t) - log_mixed(share[t], t);
    }
    const std::vector<bool> chosen = choose(gain, options.most[k], options.least_gain[k]);
    for (std::size_t t = 0; t < all.word.size(); ++t) {
      if (all.kind[t] == NO_CONTEXT || !chosen[all.kind[t]]) continue;
      share[t] = left_out(share[t], counts, all.kind[t], t, options.discounts[k]);
    }
    for (std::size_t kind = 0; kind < chosen.size(); ++kind) {
      if (!chosen[kind]) continue;
      // The k + 1 words before the example, with all their prefixes.
      std::vector<WordId> words;
      for (std::size_t t = all.example[kind], i = 0; i <= k; ++i, --t) words.push_back(word_before(all, t));
      ContextId x = words[k];
      for (std::size_t i = k; i-- > 0;) x = result.tree.extend(x, words[i]);
      listed.push_back(x);
    }
  }
  result.tree.finish();
  result.listed.assign(result.tree.size(), false);
  for (const ContextId x : listed) result.listed[x] = true;
  return result;
}

}  // namespace hiddenite::hmm
