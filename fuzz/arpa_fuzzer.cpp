// Throws bytes at the ARPA reader and questions at what it accepts.
//
// A text is either refused with a FormatError of one line, or it gives a table
// that must keep its promises: it is closed and sorted, every probability is a
// number, the bound is never below what it bounds, and writing and reading the
// table again gives the same table, to the last bit. Anything else aborts.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "hiddenite/base/error.hpp"
#include "hiddenite/lm/arpa.hpp"
#include "hiddenite/lm/score.hpp"

using namespace hiddenite::lm;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// The text in pieces of `size` bytes, each in memory of its own that is gone
// when the next one is asked for: a dangling view into a piece is seen.
ChunkSource pieces(std::string_view text, std::size_t size) {
  auto held = std::make_shared<std::unique_ptr<std::string>>();
  return [=]() mutable -> std::string_view {
    *held = std::make_unique<std::string>(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
    return **held;
  };
}

ReadArpa read(std::string_view text, std::size_t piece_size) {
  LineReader lines(pieces(text, piece_size), "fuzz", std::size_t{1} << 16);
  return read_arpa(lines);
}

void check_refusal(const FormatError& error) {
  const std::string_view message = error.what();
  require(!message.empty(), "a refusal says why");
  require(message.find('\n') == message.npos, "a refusal is one line");
  require(error.line > 0, "a refusal names a line");
}

// ------------------------------------------------------------------ structure

bool is_implied(const NgramTable& t, NodeId node) {
  return std::binary_search(t.implied.begin(), t.implied.end(), node);
}

void check_nodes(const NgramTable& t) {
  require(std::is_sorted(t.implied.begin(), t.implied.end()), "implied n-grams are in order");
  require(t.order >= 1 && t.level_begin.size() == static_cast<std::size_t>(t.order) + 2, "levels");
  require(t.num_ngrams(1) == t.vocabulary.size(), "one unigram per word");
  for (NodeId a = 1; a < t.num_nodes(); ++a) {
    require(t.word[a] < t.vocabulary.size(), "a node's word");
    require(t.suffix[a] < a, "a suffix is shorter");
    require(t.log_prob[a] < INFINITY, "a probability is a number");
    require(t.log_prob[a] <= 0.0f || is_implied(t, a), "a listed probability is at most one");
    require(t.log_max_prob[a] >= t.log_prob[a], "mf >= p");
  }
  for (NodeId s = 0; s < t.num_contexts(); ++s) {
    require(!std::isnan(t.log_backoff[s]) && t.log_backoff[s] < INFINITY, "a back-off weight");
    require(t.log_max_backoff[s] >= t.log_backoff[s], "mb >= bow");
    require(t.first_child[s] <= t.first_child[s + 1], "children are ranges");
    for (NodeId a = t.first_child[s]; a < t.first_child[s + 1]; ++a) {
      require(a == t.first_child[s] || t.word[a - 1] < t.word[a], "children are sorted");
      require(s == ROOT || t.suffix[a] == t.child(t.suffix[s], t.word[a]), "the table is closed");
    }
  }
}

// ---------------------------------------------------------------------- bound

// The bound of w after the shorter context against the probability after the longer one.
void check_bound(const NgramTable& t, WordId w, std::span<const WordId> context) {
  const double log_prob = t.conditional(w, context);
  require(!std::isnan(log_prob), "a probability is a number");
  // <s> only starts a context: the bound promises nothing of one that has it inside.
  if (std::find(context.begin() + 1, context.end(), SENTENCE_BEGIN) != context.end()) return;
  for (std::size_t drop = 0; drop <= context.size(); ++drop) {
    const double bound = t.max_conditional(w, context.subspan(drop));
    // Bound and probability add up to `order` floats in different orders.
    const double rounding = std::isfinite(log_prob) ? 1e-12 * (1.0 + std::fabs(log_prob)) : 0.0;
    require(bound >= log_prob - rounding, "the bound is never below what it bounds");
  }
}

void check_bounds(const NgramTable& t) {
  constexpr NodeId most_contexts = 64;
  constexpr WordId most_words = 12;
  const WordId words = std::min(t.vocabulary.size(), most_words);
  for (int n = 1; n < t.order; ++n) {
    const NodeId begin = t.level_begin[n], end = std::min(t.level_begin[n + 1], begin + most_contexts);
    t.for_each_ngram(n, begin, end, [&](NodeId, std::span<const WordId> context) {
      for (WordId w = 0; w < words; ++w) check_bound(t, w, context);
    });
  }
}

// -------------------------------------------------------------------- scoring

// Sentences of the first words in many orders, and one with an unknown word: enough to be scored side by side.
std::string sentences(const NgramTable& t) {
  std::string text = "\nno-such-word ";
  const WordId words = std::min<WordId>(t.vocabulary.size(), 16);
  for (WordId step = 1; step <= 12; ++step) {
    for (WordId i = 0; i < words; ++i) {
      const WordId w = i * step % words;
      if (w == SENTENCE_BEGIN || w == SENTENCE_END) continue;
      text += t.vocabulary.word(w);
      text += ' ';
    }
    text += '\n';
  }
  return text;
}

void check_scores(const NgramTable& t) {
  const std::string text = sentences(t);
  const SentenceScores scores = score_text(t, text, 1, "fuzz", 1);
  std::string_view rest = text;
  for (std::size_t i = 0; !rest.empty(); ++i) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    NodeId state = t.start();
    double log_prob = 0.0;
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
      log_prob += t.step(state, t.vocabulary.id_or_unknown(word));
    }
    log_prob += t.step(state, SENTENCE_END);
    require(scores.log_prob[i] == log_prob, "a line's score is the sum of its steps");
  }
}

// ----------------------------------------------------------------- round trip

template <class Array>
void require_same(const Array& a, const Array& b, const char* what) {
  require(a == b, what);  // -0 is written as 0
}

std::string write(const NgramTable& t, bool with_max_columns) {
  std::string text;
  write_arpa(t, with_max_columns, [&](std::string_view piece) { text += piece; });
  return text;
}

// Back-off weights may imply n-grams that are no listed ones: above 1, or so small that text means zero by it.
bool implies_what_text_refuses(const NgramTable& t) {
  constexpr double text_zero = -99.0 * LN_10;
  return std::any_of(t.implied.begin(), t.implied.end(), [&](NodeId node) {
    return t.log_prob[node] > 0.0f || (t.log_prob[node] <= text_zero && std::isfinite(t.log_prob[node]));
  });
}

void check_round_trip(const NgramTable& t, bool with_max_columns) {
  if (with_max_columns && implies_what_text_refuses(t)) return;
  const std::string text = write(t, with_max_columns);
  const ReadArpa again = read(text, text.size());
  const NgramTable& u = again.table;
  if (with_max_columns) {
    require(u.implied.empty(), "MAX-ARPA lists all n-grams");
  } else {
    require_same(u.implied, t.implied, "the same n-grams are implied");
  }
  require(u.order == t.order && u.unknown_is_listed == t.unknown_is_listed, "the same kind of model");
  require(u.vocabulary.size() == t.vocabulary.size(), "as many words");
  for (WordId w = 0; w < t.vocabulary.size(); ++w) {
    require(u.vocabulary.word(w) == t.vocabulary.word(w), "the same words");
  }
  require_same(u.level_begin, t.level_begin, "the same levels");
  require_same(u.word, t.word, "the same n-grams");
  require_same(u.suffix, t.suffix, "the same suffixes");
  require_same(u.first_child, t.first_child, "the same children");
  require_same(u.log_prob, t.log_prob, "the same probabilities");
  require_same(u.log_backoff, t.log_backoff, "the same back-off weights");
  require_same(u.log_max_prob, t.log_max_prob, "the same mf");
  require_same(u.log_max_backoff, t.log_max_backoff, "the same mb");
  require(write(u, with_max_columns) == text, "the same text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t mixed = size;  // the size of the pieces is another one for each text
  for (const char c : text) mixed = mixed * 31 + static_cast<unsigned char>(c);
  try {
    const ReadArpa result = read(text, 1 + mixed % 200);
    check_nodes(result.table);
    check_bounds(result.table);
    check_scores(result.table);
    check_round_trip(result.table, false);
    check_round_trip(result.table, true);
  } catch (const FormatError& error) {
    check_refusal(error);
  }
  return 0;
}
