#include "score.hpp"

#include <array>

#include "error.hpp"
#include "parallel.hpp"
#include "text.hpp"

// A step from one context to the next is a handful of loads that depend on one
// another and miss the cache, so a processor that scores one sentence waits
// most of the time. Here a thread scores many sentences in lanes, side by side.
// A round does one thing after the other for all lanes, in loops of fixed length
// without branches: the misses of different lanes overlap, and no branch that
// depends on a word can be mispredicted.

namespace hiddenite {

namespace {

constexpr std::size_t NUM_LANES = 32;
constexpr std::size_t LINES_PER_PIECE = 32 * NUM_LANES;
constexpr std::size_t FEW_SENTENCES = NUM_LANES / 4;  // not worth the lanes

// The sentences of some lines.
class Sentences {
 public:
  Sentences(const Vocabulary& vocabulary, const std::string& name) : vocabulary_(vocabulary), name_(name) {}

  void add(std::string_view line, std::uint64_t line_number, std::uint32_t& tokens, std::uint32_t& oov) {
    if (line_number == 1) line = without_bom(line);
    check_text(line, name_, line_number);
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const WordId w = vocabulary_.id_or_unknown(word);
      if (w == SENTENCE_BEGIN || w == SENTENCE_END) fail_boundary(word, line_number);
      oov += w == UNKNOWN;
      words_.push_back(w);
    }
    words_.push_back(SENTENCE_END);
    tokens = static_cast<std::uint32_t>(words_.size() - begin_.back());
    begin_.push_back(words_.size());
  }

  std::size_t size() const { return begin_.size() - 1; }
  // The words of sentence i; the last one is </s>.
  const WordId* words(std::size_t i) const { return words_.data() + begin_[i]; }

 private:
  [[noreturn]] void fail_boundary(std::string_view word, std::uint64_t line_number) const {
    throw FormatError(name_, line_number,
                      "found the word " + std::string(word) +
                          ", expected none: sentence boundaries are added to each line; remove it");
  }

  const Vocabulary& vocabulary_;
  const std::string& name_;
  std::vector<WordId> words_;
  std::vector<std::size_t> begin_{0};
};

struct Score {
  double log_prob = 0.0, log_prob_known = 0.0;
};

Score score_sentence(const NgramTable& table, const WordId* word) {
  Score score;
  for (NodeId state = table.start();; ++word) {
    const double term = table.step(state, *word);
    score.log_prob += term;
    if (*word != UNKNOWN) score.log_prob_known += term;
    if (*word == SENTENCE_END) return score;
  }
}

// Adds the same numbers in the same order as score_sentence.
class LaneScorer {
 public:
  LaneScorer(const NgramTable& table, const Sentences& sentences) : table_(table), sentences_(sentences) {}

  // Calls result(sentence, score) for each sentence.
  template <class Result>
  void run(Result result) {
    for (std::size_t i = 0; i < NUM_LANES; ++i) begin_sentence(i);
    std::size_t left = sentences_.size();
    while (left > 0) {
      open_ranges();
      search_ranges();
      if (!advance()) continue;
      for (std::size_t i = 0; i < NUM_LANES; ++i) {
        if (!ended_[i]) continue;
        if (sentence_[i] < sentences_.size()) {
          result(sentence_[i], Score{log_prob_[i], log_prob_known_[i]});
          --left;
        }
        begin_sentence(i);
      }
    }
  }

 private:
  // Without a sentence, the lane predicts </s> from nothing, again and again.
  void begin_sentence(std::size_t i) {
    static constexpr WordId nothing = SENTENCE_END;
    const bool idle = next_sentence_ == sentences_.size();
    sentence_[i] = next_sentence_;
    next_[i] = idle ? &nothing : sentences_.words(next_sentence_);
    state_[i] = idle ? ROOT : table_.start();
    log_weight_[i] = log_prob_[i] = log_prob_known_[i] = 0.0;
    next_sentence_ += !idle;
  }

  // The children of the state; of the root, the one child of the word. Without
  // children the range is the root itself, which has no word.
  void open_ranges() {
    const NodeId* const first_child = table_.first_child.data();
    widest_ = 0;
    for (std::size_t i = 0; i < NUM_LANES; ++i) {
      const NodeId state = state_[i];
      const NodeId begin = first_child[state], end = first_child[state + 1];
      word_[i] = *next_[i];
      num_arcs_[i] = state == ROOT ? 1 : end - begin;
      arc_[i] = num_arcs_[i] == 0 ? ROOT : begin + (state == ROOT ? word_[i] : 0);
      widest_ = std::max(widest_, num_arcs_[i]);
    }
  }

  // Halves all ranges until none holds more than one arc: the last whose word
  // is not above the wanted one, if there is such an arc.
  void search_ranges() {
    const WordId* const word = table_.word.data();
    for (; widest_ > 1; widest_ -= widest_ / 2) {
      for (std::size_t i = 0; i < NUM_LANES; ++i) {
        const NodeId half = num_arcs_[i] / 2;
        const NodeId arc = arc_[i];
        const auto upper = NodeId{0} - NodeId{word[arc + half] <= word_[i]};  // all ones if in the upper half
        arc_[i] = arc + (half & upper);
        num_arcs_[i] -= half;
      }
    }
  }

  // Past the word if its arc was found, to the shorter context if not. Returns
  // whether a sentence has ended.
  bool advance() {
    const float* const weights[2] = {table_.log_backoff.data(), table_.log_prob.data()};
    const NodeId num_contexts = table_.num_contexts();
    std::uint32_t any_ended = 0;
    for (std::size_t i = 0; i < NUM_LANES; ++i) {
      const NodeId arc = arc_[i];
      const WordId word = word_[i];
      const bool found = table_.word[arc] == word;
      const NodeId node = found ? arc : state_[i];
      const double log_weight = log_weight_[i] + weights[found][node];
      log_weight_[i] = found ? 0.0 : log_weight;
      log_prob_[i] += found ? log_weight : 0.0;
      log_prob_known_[i] += found && word != UNKNOWN ? log_weight : 0.0;
      const NodeId suffix = table_.suffix[node];
      state_[i] = found && arc < num_contexts ? arc : suffix;
      next_[i] += found;
      ended_[i] = found && word == SENTENCE_END;
      any_ended |= ended_[i];
    }
    return any_ended != 0;
  }

  template <class T>
  using PerLane = std::array<T, NUM_LANES>;

  const NgramTable& table_;
  const Sentences& sentences_;
  std::size_t next_sentence_ = 0;
  PerLane<std::size_t> sentence_;
  PerLane<const WordId*> next_;           // the word to predict
  PerLane<NodeId> state_;
  PerLane<double> log_weight_;            // of the back-offs since the last word
  PerLane<double> log_prob_, log_prob_known_;
  PerLane<WordId> word_;                  // *next_
  PerLane<NodeId> arc_, num_arcs_;        // the range in which it may be
  PerLane<std::uint32_t> ended_;
  NodeId widest_ = 0;
};

}  // namespace

SentenceScores score_text(const NgramTable& table, std::string_view text, int threads,
                          const std::string& name, std::uint64_t first_line) {
  const std::vector<std::string_view> lines = split_lines(text);
  SentenceScores scores;
  scores.log_prob.resize(lines.size());
  scores.log_prob_known.resize(lines.size());
  scores.tokens.resize(lines.size());
  scores.oov.resize(lines.size());
  const std::size_t pieces = (lines.size() + LINES_PER_PIECE - 1) / LINES_PER_PIECE;
  parallel_for(pieces, threads, [&](std::size_t piece, int) {
    const std::size_t begin = piece * LINES_PER_PIECE;
    const std::size_t end = std::min(lines.size(), begin + LINES_PER_PIECE);
    Sentences sentences(table.vocabulary, name);
    for (std::size_t i = begin; i < end; ++i) {
      sentences.add(lines[i], first_line + i, scores.tokens[i], scores.oov[i]);
    }
    const auto store = [&](std::size_t i, const Score& score) {
      scores.log_prob[begin + i] = score.log_prob;
      scores.log_prob_known[begin + i] = score.log_prob_known;
    };
    if (sentences.size() <= FEW_SENTENCES) {
      for (std::size_t i = 0; i < sentences.size(); ++i) store(i, score_sentence(table, sentences.words(i)));
    } else {
      LaneScorer(table, sentences).run(store);
    }
  });
  return scores;
}

std::vector<double> token_log_probs(const NgramTable& table, std::string_view text, const std::string& name,
                                    std::uint64_t first_line) {
  const std::vector<std::string_view> lines = split_lines(text);
  Sentences sentences(table.vocabulary, name);
  std::vector<double> result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::uint32_t tokens = 0, oov = 0;
    sentences.add(lines[i], first_line + i, tokens, oov);
    const WordId* word = sentences.words(i);
    NodeId state = table.start();
    do {
      result.push_back(table.step(state, *word));
    } while (*word++ != SENTENCE_END);
  }
  return result;
}

}  // namespace hiddenite
