#include "hiddenite/lm/sentence.hpp"

#include <algorithm>
#include <array>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::lm {

// ------------------------------------------------------- look-ups side by side

namespace {

// The search has no branches, so that the loads of one look-up do not wait for those of another.
struct LookUps {
  static constexpr std::size_t MOST = 16;  // more loads than a processor keeps under way
  std::size_t count = 0;
  std::array<NodeId, MOST> parent;
  std::array<WordId, MOST> word;
  std::array<NodeId, MOST> arc;  // found() tells whether it is the child

  void add(NodeId context, WordId w) {
    parent[count] = context;
    word[count++] = w;
  }

  void search(const NgramTable& table) {
    const WordId* const words = table.word.data();
    std::array<NodeId, MOST> left;
    NodeId widest = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const NodeId begin = table.first_child[parent[j]];
      left[j] = table.first_child[parent[j] + 1] - begin;
      arc[j] = left[j] == 0 ? ROOT : begin;  // the root has no word
      widest = std::max(widest, left[j]);
    }
    for (; widest > 1; widest -= widest / 2) {
      for (std::size_t j = 0; j < count; ++j) {
        const NodeId half = left[j] / 2;
        const auto upper = NodeId{0} - NodeId{words[arc[j] + half] <= word[j]};  // all ones if in the upper half
        arc[j] += half & upper;
        left[j] -= half;
      }
    }
  }

  bool found(const NgramTable& table, std::size_t j) const { return table.word[arc[j]] == word[j]; }
};

// ---------------------------------------------------------------- one sentence

// Keeps its memory from sentence to sentence.
class Sentence {
 public:
  void read(const NgramTable& table, std::string_view text, bool eos) {
    words_.assign(1, SENTENCE_BEGIN);
    text = without_bom(text);
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
      const WordId w = table.vocabulary.id_or_unknown(word);
      if (w == SENTENCE_BEGIN || w == SENTENCE_END) fail_boundary(word);
      words_.push_back(w);
    }
    if (eos) words_.push_back(SENTENCE_END);
  }

  // Finds the longest listed n-grams.
  void match(const NgramTable& table, bool bos) {
    length_.assign(size(), 1);
    length_[0] = bos ? 1 : 0;
    nodes_.resize(size());
    open_.clear();
    for (std::size_t i = 0; i < size(); ++i) {
      nodes_[i] = 1 + words_[i];
      if (i > (bos ? 0 : 1)) open_.push_back(static_cast<std::uint32_t>(i));
    }
    for (std::uint32_t n = 2; n <= static_cast<std::uint32_t>(table.order) && !open_.empty(); ++n) {
      nodes_.resize(n * size());
      match_order(table, n);
    }
  }

  std::size_t size() const { return words_.size(); }  // <s>, word 0, included
  WordScore word_score(const NgramTable& table, std::size_t i) const {
    double log_weight = 0.0;
    const auto longest = static_cast<std::uint32_t>(table.order) - 1;
    for (std::uint32_t n = std::min(length_[i - 1], longest); n >= length_[i]; --n) {
      log_weight += table.log_backoff[node(n, i - 1)];
    }
    return {log_weight + table.log_prob[node(length_[i], i)], length_[i], words_[i] == UNKNOWN};
  }

 private:
  [[noreturn]] static void fail_boundary(std::string_view word) {
    throw ModelError("the sentence holds the word " + std::string(word) +
                     ", expected none: bos and eos add the sentence boundaries; remove it");
  }

  NodeId node(std::size_t n, std::size_t i) const { return nodes_[(n - 1) * size() + i]; }

  // Looks for the n-grams that end at the open words.
  void match_order(const NgramTable& table, std::uint32_t n) {
    std::size_t listed = 0;
    for (std::size_t first = 0; first < open_.size(); first += LookUps::MOST) {
      LookUps look_ups;
      const std::size_t end = std::min(first + LookUps::MOST, open_.size());
      for (std::size_t j = first; j < end; ++j) look_ups.add(node(n - 1, open_[j] - 1), words_[open_[j]]);
      look_ups.search(table);
      for (std::size_t j = first; j < end; ++j) {
        const std::uint32_t i = open_[j];
        nodes_[(n - 1) * size() + i] = look_ups.arc[j - first];
        const bool is_listed = look_ups.found(table, j - first);
        length_[i] += is_listed;
        open_[listed] = i;
        listed += is_listed;
      }
    }
    open_.resize(listed);
    std::erase_if(open_, [&](std::uint32_t i) { return length_[i - 1] < n; });  // a longer one needs its context
  }

  std::vector<WordId> words_;          // [0]: <s>
  std::vector<std::uint32_t> length_;  // [i]: of the longest n-gram that ends at word i; 0: no context
  std::vector<NodeId> nodes_;          // [(n - 1) * size + i]: the n-gram that ends at word i, if n <= length_[i]
  std::vector<std::uint32_t> open_;    // the words that may have a longer n-gram
};

Sentence& matched(const NgramTable& table, std::string_view text, bool bos, bool eos) {
  thread_local Sentence sentence;
  sentence.read(table, text, eos);
  sentence.match(table, bos);
  return sentence;
}

}  // namespace

double Scorer::score(std::string_view text, bool bos, bool eos) const {
  const Sentence& sentence = matched(table_, text, bos, eos);
  double sum = 0.0;
  for (std::size_t i = 1; i < sentence.size(); ++i) sum += sentence.word_score(table_, i).log_prob;
  return sum;
}

std::vector<WordScore> Scorer::word_scores(std::string_view text, bool bos, bool eos) const {
  const Sentence& sentence = matched(table_, text, bos, eos);
  std::vector<WordScore> scores;
  for (std::size_t i = 1; i < sentence.size(); ++i) scores.push_back(sentence.word_score(table_, i));
  return scores;
}

// ------------------------------------------------------------ words as they come

namespace {

// The caller needs time until it has the next word; the memory that it will ask for comes meanwhile.
void prefetch([[maybe_unused]] const NgramTable& table, [[maybe_unused]] NodeId context) {
#ifdef __GNUC__
  __builtin_prefetch(table.first_child.data() + context);
  __builtin_prefetch(table.log_backoff.data() + context);
  __builtin_prefetch(table.suffix.data() + context);
#endif
}

}  // namespace

double Scorer::next(State& state, WordId word) const {
  const bool foreign = state.table != &table_ || state.node >= table_.num_contexts();
  if (foreign && state.node != ROOT) {
    throw ModelError("the state belongs to another model; begin with begin_state() of this one");
  }
  double log_weight = 0.0;
  NodeId context = state.node, arc = NO_NODE;
  for (;;) {
    const NodeId shorter = table_.suffix[context];
    prefetch(table_, shorter);
    arc = table_.child(context, word);
    if (arc != NO_NODE) break;
    log_weight += table_.log_backoff[context];
    context = shorter;
  }
  state = {&table_, table_.context_after(arc)};
  prefetch(table_, state.node);
  return log_weight + table_.log_prob[arc];
}

}  // namespace hiddenite::lm
