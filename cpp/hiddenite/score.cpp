#include "score.hpp"

#include <array>
#include <bit>

#include "error.hpp"
#include "parallel.hpp"
#include "text.hpp"

// A step from one context to the next is a handful of loads that depend on one
// another and miss the cache, so a processor that scores one sentence waits
// most of the time. Here one thread scores many sentences in lanes, side by
// side, and in each round does one thing for all lanes in a loop whose
// iterations are independent: their misses overlap. The loops choose by masks,
// because a branch that depends on a word is mispredicted half of the time.

namespace hiddenite {

namespace {

constexpr std::size_t NUM_LANES = 64;
constexpr std::size_t LINES_PER_PIECE = 16 * NUM_LANES;

// All ones for true.
template <class T>
T mask_of(bool condition) {
  return T{0} - T{condition};
}
NodeId choose(NodeId mask, NodeId yes, NodeId no) { return no ^ ((no ^ yes) & mask); }
double keep(bool condition, double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & mask_of<std::uint64_t>(condition));
}

// The sentences of some lines.
class Sentences {
 public:
  Sentences(const NgramTable& table, const std::string& name) : vocabulary_(table.vocabulary), name_(name) {}

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

// Adds the same numbers in the same order as NgramTable::step.
class LaneScorer {
 public:
  LaneScorer(const NgramTable& table, const Sentences& sentences, double* log_prob, double* log_prob_known)
      : table_(table), sentences_(sentences), log_prob_(log_prob), log_prob_known_(log_prob_known) {}

  void run() {
    while (num_lanes_ < NUM_LANES && begin_sentence(num_lanes_)) ++num_lanes_;
    while (num_lanes_ > 0) {
      open_ranges();
      search_ranges();
      look_up();
      advance();
    }
  }

 private:
  struct Lane {
    std::size_t sentence;
    const WordId* next;   // the word to predict
    double log_weight;    // of the back-offs since the last word
    double log_prob, log_prob_known;
    NodeId state;
    WordId word;          // *next
    NodeId arc;           // where the children of state that may be the word begin,
    NodeId num_arcs;      // and how many they are
    NodeId node;          // the arc if it is the word's, else state
    bool found;
  };

  bool begin_sentence(std::size_t i) {
    if (next_sentence_ == sentences_.size()) return false;
    lanes_[i] = Lane{};
    lanes_[i].sentence = next_sentence_;
    lanes_[i].next = sentences_.words(next_sentence_++);
    lanes_[i].state = table_.start();
    return true;
  }

  // All children of the state; of the root, the one child of the word.
  void open_ranges() {
    const NodeId* const first_child = table_.first_child.data();
    num_wide_ = 0;
    for (std::size_t i = 0; i < num_lanes_; ++i) {
      Lane& lane = lanes_[i];
      const NodeId begin = first_child[lane.state], end = first_child[lane.state + 1];
      const auto root = mask_of<NodeId>(lane.state == ROOT);
      lane.word = *lane.next;
      lane.arc = begin + (lane.word & root);
      lane.num_arcs = choose(root, 1, end - begin);
      wide_[num_wide_] = static_cast<std::uint32_t>(i);
      num_wide_ += lane.num_arcs > 1;
    }
  }

  // Halves all ranges until each holds at most one arc.
  void search_ranges() {
    const WordId* const word = table_.word.data();
    while (num_wide_ > 0) {
      std::size_t still_wide = 0;
      for (std::size_t k = 0; k < num_wide_; ++k) {
        Lane& lane = lanes_[wide_[k]];
        const NodeId half = lane.num_arcs / 2;
        lane.arc += half & mask_of<NodeId>(word[lane.arc + half] <= lane.word);
        lane.num_arcs -= half;
        wide_[still_wide] = wide_[k];
        still_wide += lane.num_arcs > 1;
      }
      num_wide_ = still_wide;
    }
  }

  void look_up() {
    const WordId* const word = table_.word.data();
    for (std::size_t i = 0; i < num_lanes_; ++i) {
      Lane& lane = lanes_[i];
      const NodeId arc = choose(mask_of<NodeId>(lane.num_arcs != 0), lane.arc, ROOT);  // the root has no word
      lane.found = word[arc] == lane.word;
      lane.node = choose(mask_of<NodeId>(lane.found), arc, lane.state);
      __builtin_prefetch(weights_[lane.found] + lane.node);
      __builtin_prefetch(table_.suffix.data() + lane.node);
    }
  }

  // Past the word if it was found, to the shorter context if not.
  void advance() {
    const NodeId* const suffix = table_.suffix.data();
    const NodeId num_contexts = table_.num_contexts();
    for (std::size_t i = 0; i < num_lanes_; ++i) {
      Lane& lane = lanes_[i];
      const double log_weight = lane.log_weight + weights_[lane.found][lane.node];
      lane.log_weight = keep(!lane.found, log_weight);
      lane.log_prob += keep(lane.found, log_weight);
      lane.log_prob_known += keep(lane.found & (lane.word != UNKNOWN), log_weight);
      const auto stays = mask_of<NodeId>(lane.found & (lane.node < num_contexts));
      lane.state = choose(stays, lane.node, suffix[lane.node & ~stays]);
      lane.next += lane.found;
      if (lane.found & (lane.word == SENTENCE_END)) i -= end_sentence(i);
    }
  }

  // Stores lane i's result and gives it the next sentence. Without one the last
  // lane takes its place, to be advanced there: true.
  bool end_sentence(std::size_t i) {
    const Lane& lane = lanes_[i];
    log_prob_[lane.sentence] = lane.log_prob;
    log_prob_known_[lane.sentence] = lane.log_prob_known;
    if (begin_sentence(i)) return false;
    lanes_[i] = lanes_[--num_lanes_];
    return true;
  }

  const NgramTable& table_;
  const Sentences& sentences_;
  double* log_prob_;
  double* log_prob_known_;
  const std::array<const float*, 2> weights_{table_.log_backoff.data(), table_.log_prob.data()};  // [found]
  std::array<Lane, NUM_LANES> lanes_;
  std::array<std::uint32_t, NUM_LANES> wide_;  // lanes with more than one arc to choose from
  std::size_t num_lanes_ = 0, num_wide_ = 0, next_sentence_ = 0;
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
    Sentences sentences(table, name);
    for (std::size_t i = begin; i < end; ++i) {
      sentences.add(lines[i], first_line + i, scores.tokens[i], scores.oov[i]);
    }
    LaneScorer(table, sentences, scores.log_prob.data() + begin, scores.log_prob_known.data() + begin).run();
  });
  return scores;
}

}  // namespace hiddenite
