#include "hiddenite/lm/score.hpp"

#include <bit>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/lm/score_lanes.hpp"

namespace hiddenite::lm {

namespace {

constexpr std::size_t LINES_PER_PIECE = 32 * NUM_LANES;
constexpr std::size_t FEW_SENTENCES = NUM_LANES / 4;  // not worth the lanes
constexpr std::size_t MOST_WORDS = std::size_t{1} << 31;  // that lanes can number

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
  std::size_t begin(std::size_t i) const { return begin_[i]; }
  std::size_t num_words() const { return words_.size(); }

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

// Scores sentences side by side; adds the same numbers in the same order as score_sentence.
class LaneScorer {
 public:
  LaneScorer(const NgramTable& table, const Sentences& sentences, RoundOfLanes round)
      : table_(table), sentences_(sentences), round_(round) {
    lanes_.words = sentences_.words(0);
  }

  // Calls result(sentence, score) for each sentence.
  template <class Result>
  void run(Result result) {
    for (std::size_t i = 0; i < NUM_LANES; ++i) begin_sentence(i);
    for (std::size_t left = sentences_.size(); left > 0;) {
      for (std::uint32_t ended = round_(table_, lanes_); ended != 0; ended &= ended - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(ended));
        if (sentence_[i] < sentences_.size()) {
          result(sentence_[i], Score{lanes_.log_prob[i], lanes_.log_prob_known[i]});
          --left;
        }
        begin_sentence(i);
      }
    }
  }

 private:
  // Without a sentence, the lane predicts the last </s> from nothing, again and again.
  void begin_sentence(std::size_t i) {
    const bool idle = next_sentence_ == sentences_.size();
    sentence_[i] = next_sentence_;
    lanes_.next[i] = static_cast<std::uint32_t>(idle ? sentences_.num_words() - 1 : sentences_.begin(next_sentence_));
    lanes_.state[i] = idle ? ROOT : table_.start();
    lanes_.log_weight[i] = lanes_.log_prob[i] = lanes_.log_prob_known[i] = 0.0;
    next_sentence_ += !idle;
  }

  const NgramTable& table_;
  const Sentences& sentences_;
  RoundOfLanes round_;
  Lanes lanes_;
  Lanes::PerLane<std::size_t> sentence_;
  std::size_t next_sentence_ = 0;
};

}  // namespace

SentenceScores score_text(const NgramTable& table, std::string_view text, int threads,
                          const std::string& name, std::uint64_t first_line, bool plain) {
  const std::vector<std::string_view> lines = split_lines(text);
  const RoundOfLanes round = plain ? plain_round : round_of_lanes(table);
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
    if (sentences.size() <= FEW_SENTENCES || sentences.num_words() > MOST_WORDS) {
      for (std::size_t i = 0; i < sentences.size(); ++i) store(i, score_sentence(table, sentences.words(i)));
    } else {
      LaneScorer(table, sentences, round).run(store);
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
    if (i % 256 == 0) check_interrupt();
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

}  // namespace hiddenite::lm
