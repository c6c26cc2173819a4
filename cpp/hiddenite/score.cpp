#include "score.hpp"

#include <cstring>

#include "error.hpp"
#include "parallel.hpp"
#include "text.hpp"

namespace hiddenite {

namespace {

constexpr std::size_t LINES_PER_PIECE = 64;

class LineScorer {
 public:
  LineScorer(const NgramTable& table, const std::string& name, SentenceScores& scores)
      : table_(table), name_(name), scores_(scores) {}

  void score(std::string_view line, std::size_t i, std::uint64_t line_number) const {
    check(line, line_number);
    NodeId state = table_.start();
    double log_prob = 0.0, log_prob_known = 0.0;
    std::uint32_t tokens = 1, oov = 0;
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const WordId w = table_.vocabulary.id_or_unknown(word);
      if (w == SENTENCE_BEGIN || w == SENTENCE_END) fail_boundary(word, line_number);
      const double term = table_.step(state, w);
      log_prob += term;
      if (w == UNKNOWN) {
        ++oov;
      } else {
        log_prob_known += term;
      }
      ++tokens;
    }
    const double term = table_.step(state, SENTENCE_END);
    scores_.log_prob[i] = log_prob + term;
    scores_.log_prob_known[i] = log_prob_known + term;
    scores_.tokens[i] = tokens;
    scores_.oov[i] = oov;
  }

 private:
  void check(std::string_view line, std::uint64_t line_number) const {
    const std::size_t bad = find_invalid_utf8(line);
    if (bad == line.npos) return;
    throw FormatError(name_, line_number,
                      "column " + std::to_string(bad + 1) +
                          ": found a byte that is not UTF-8 text, expected UTF-8; convert the "
                          "file with iconv");
  }

  [[noreturn]] void fail_boundary(std::string_view word, std::uint64_t line_number) const {
    throw FormatError(name_, line_number,
                      "found the word " + std::string(word) +
                          ", expected none: sentence boundaries are added to each line; remove it");
  }

  const NgramTable& table_;
  const std::string& name_;
  SentenceScores& scores_;
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
  const LineScorer scorer(table, name, scores);
  const std::size_t pieces = (lines.size() + LINES_PER_PIECE - 1) / LINES_PER_PIECE;
  parallel_for(pieces, threads, [&](std::size_t piece, int) {
    const std::size_t end = std::min(lines.size(), (piece + 1) * LINES_PER_PIECE);
    for (std::size_t i = piece * LINES_PER_PIECE; i < end; ++i) {
      scorer.score(lines[i], i, first_line + i);
    }
  });
  return scores;
}

}  // namespace hiddenite
