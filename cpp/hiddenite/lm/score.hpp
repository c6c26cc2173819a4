// Scoring text under an n-gram table: one sentence a line, many at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

struct SentenceScores {
  std::vector<double> log_prob;        // ln p(words </s> | <s>)
  std::vector<double> log_prob_known;  // without the terms of words outside the vocabulary
  std::vector<std::uint32_t> tokens;   // words and </s>
  std::vector<std::uint32_t> oov;      // words outside the vocabulary; <unk> itself is one
};

// Scores each line of `text`; a last line end is optional. `name` and
// `first_line` are for FormatError, which non-UTF-8 text and the words <s>
// and </s> give. `plain` is for tests: no instructions that only some
// processors have; the scores are the same.
SentenceScores score_text(const NgramTable& table, std::string_view text, int threads,
                          const std::string& name, std::uint64_t first_line, bool plain = false);

// ln p of each word and of each line's </s>, line after line: the summands of log_prob.
std::vector<double> token_log_probs(const NgramTable& table, std::string_view text, const std::string& name,
                                    std::uint64_t first_line);

}  // namespace hiddenite::lm
