// Word alignment by collapsed Gibbs sampling, both directions together.
//
// Each target word is linked to a source word or to NULL, and in reverse. A sweep
// draws every link anew given all others. The lexicon is integrated out:
//   t(f | e) = [c(e, f) + a + s(e, f) + m q(f | e) + w r(f | e)] /
//              [c(e) + sum_f (a + s(e, f)) + m + w],
//   q(f | e) = [c(stem e, stem f) + a'] / [c(stem e) + a' partners(stem e)] n(f) / n(stem f),
//   r(f | e) = [c(ending e, f) + b n(f) / n] / [c(ending e) + b],
// counts without the word at hand; s is the likeness of the spellings, q the
// back-off to stems, r that to endings: «-et» of a Swedish noun generates «the» whatever
// the noun. A word that is too short to have an ending is its own.
// Jumps (three histograms: from the start, inside, to the end) and fertilities (a
// histogram a word, backed off to that of all words) are estimated anew before each
// sweep. Once words have fertilities, the words that one
// word generates are a unit: how many there are is the fertility's business, and
// how often the next of them follows at once, u = (jumps of 0) / (links beyond a
// word's first), is estimated beside the jumps from unit to unit: the histogram has
// u times their number as jumps of 0. Counting the plain jumps of 0 would charge
// a unit of several words twice, as rare fertility and as rare jump. Words differ in where they stand: an article
// comes before its noun, an adjective before or after it. So the frequent words, when they are generated, have inner
// jumps of their own: p(x | f) = [c(x, f) + h p(x)] / [c(f) + h]. The quotient p(x | f) / p(x) is p(f | x) / p(f): what
// the jump says of the word, beside what the word's source says of it.
// A link weighs g times as much if the other
// direction has it too: Gibbs sampling for p(a) p(b) g^(links in both).
//
// Stages: Model 1 (lexicon alone), HMM (jumps), fertility. Over the second half of
// the fertility sweeps the conditional probabilities of the links are added up:
// their means are the answer, and expected counts for a model to keep.
//
// Several short chains are worth more than one long chain: each begins with first links of
// its own. A GibbsChain runs them one after the other and adds their probabilities up, so
// that memory does not grow with their number. Only pairs that are linked have counts
// (pair_counts.hpp). A sentence's counts are looked up once a sweep, for both directions, into rows that
// are then read from end to end; the tables are written to where a link has changed.
//
// Chain c's sweep k draws from stream (seed, c, k): the same links for any number of
// threads, and after any interruption between sweeps.
#pragma once

#include <array>

#include "hiddenite/align/bitext.hpp"
#include "hiddenite/align/meetings.hpp"
#include "hiddenite/align/pair_counts.hpp"
#include "hiddenite/base/random.hpp"

namespace hiddenite::align {

struct GibbsOptions {
  std::uint32_t model1_sweeps = 8, hmm_sweeps = 8, fertility_sweeps = 32;
  std::uint32_t chains = 1;        // in all
  double coupling = 2.0;           // g
  double lexicon_prior = 0.0003;   // a
  double stem_weight = 5.0;        // m
  double stem_prior = 0.0005;      // a'
  double ending_weight = 4.0;      // w
  double ending_prior = 1.0;       // b
  double null_probability = 0.2, null_prior = 0.01;
  double fertility_weight = 5.0;   // of the histogram of all words, in a word's own
  std::uint32_t max_fertility = 10, max_jump = 40;
  double uniform_jump = 0.02;      // share of the uniform distribution in a jump histogram
  std::uint32_t jump_words = 200;  // so many words have jumps of their own
  double jump_weight = 30.0;       // h
  double diagonal = 4.0;           // of the first links: exp(-diagonal |i / I - j / J|)
  // Of one chain.
  std::uint32_t sweeps() const { return model1_sweeps + hmm_sweeps + fertility_sweeps; }
  std::uint32_t first_collected() const { return model1_sweeps + hmm_sweeps + fertility_sweeps / 2; }
  std::uint32_t num_collected() const { return sweeps() - first_collected(); }
};

// Distances, cut at max_jump; [0] is -max_jump. From the start: the position; to the end: words left plus one.
struct JumpHistograms {
  std::vector<double> start, inner, end;
};

// Links counted in earlier texts or given by a lexicon, by the ids of the text at hand: training adds them to its
// own counts.
struct BaseCounts {
  struct Pair {
    WordId source, target;             // words, or stems
    std::array<float, 2> links;        // multiples of 1 / 64
  };
  std::vector<Pair> pairs, stem_pairs;
  std::array<std::vector<Pair>, 2> ending_pairs;  // [direction]: ending, word; links[0] alone
  std::array<std::vector<double>, 2> word_links, stem_links, ending_links;  // by the generating side, all pairs
  std::array<std::vector<float>, 2> null_links;               // by the generated word
  std::array<std::vector<float>, 2> word_seen;                // occurrences in earlier texts, by side
  std::array<std::vector<float>, 2> stem_seen;
  std::array<std::vector<float>, 2> fertility;                // [word * (max + 1) + count]
  std::array<JumpHistograms, 2> jumps;
};

// One direction's links and counts. Pairs' counts are beside each other in the chain.
struct GibbsDirection {
  std::vector<double> word_count, stem_count, ending_count;  // of links, by the word that generates
  std::vector<float> null_count;                      // by the generated word
  double null_total = 0.0;
  std::vector<std::uint32_t> links;                   // of each generated token: 0 or a position + 1
  JumpHistograms jumps;                               // probabilities
  std::vector<float> fertility;                       // [word * (max + 1) + count]: p(count + 1) / p(count)
  // Sums over the collected sweeps.
  std::vector<std::uint8_t> cell_sums;                // cell_width bytes a cell, in units of 1 / cell_unit
  JumpHistograms jump_sums;
  std::vector<float> fertility_sums;                  // [word * (max + 1) + count]
};

// How probabilities are added up: two bytes a cell, one if there are many cells and few sweeps.
struct CellFormat {
  CellFormat(std::uint64_t num_cells, const GibbsOptions& options);
  std::uint32_t width, unit;
  std::uint32_t read(const std::vector<std::uint8_t>& sums, std::uint64_t cell) const {
    return width == 1 ? sums[cell] : sums[2 * cell] | std::uint32_t{sums[2 * cell + 1]} << 8;
  }
};

class GibbsChain {
 public:
  // Text, meetings and base (or none) must outlive this. Of `lanes` that run beside each other this one runs chains
  // lane, lane + lanes ... in turn.
  GibbsChain(const Bitext& bitext, const Meetings& meetings, const GibbsOptions& options, std::uint64_t seed,
             std::uint32_t lane, std::uint32_t lanes, const BaseCounts* base = nullptr);

  // Of all its chains.
  std::uint32_t num_sweeps_done() const { return done_; }
  // Returns the mean over all words of ln of the links' total weight: how well words are explained.
  double sweep() { return sweep(0, bitext_.num_sentences(), 0); }
  // The sentences from `begin` to before `end` alone, as shard number `shard`, which has its own random numbers.
  // Shards that sweep at the same time know one another's links as they were before; when all are done, their
  // links are put together and given to each by restore().
  double sweep(std::size_t begin, std::size_t end, std::uint64_t shard);

  const GibbsDirection& direction(std::size_t d) const { return directions_.at(d); }  // 0 forward, 1 reverse
  const CellFormat& cell_format() const { return format_; }
  std::size_t bytes() const;
  // For a checkpoint between sweeps: directions hold links and sums; the rest follows from them.
  void restore(std::uint32_t sweeps_done, std::array<GibbsDirection, 2> directions);

 private:
  enum class Stage { MODEL1, HMM, FERTILITY };
  static constexpr std::size_t LANES = 4;  // weights are computed so many at a time
  static std::size_t padded(std::size_t n) { return (n + LANES - 1) / LANES * LANES; }
  struct Candidate {  // a cell that is looked up
    std::uint64_t where;  // its pair's hash, then its slot if it is near its home
    std::uint32_t t, k;
  };
  // A histogram as probabilities for every distance there can be, [distance + reach], and the same mirrored.
  struct JumpRow {
    std::vector<float> ahead, back;
  };
  struct JumpRows {
    JumpRow start, end;
    std::vector<JumpRow> inner;  // [class of the word that is generated]
  };

  const TextSide& from(int d) const { return d == 0 ? bitext_.source : bitext_.target; }
  const TextSide& to(int d) const { return d == 0 ? bitext_.target : bitext_.source; }
  void begin_chain();
  void fill_priors();
  void choose_jump_words(int d);
  void count_all();
  void count_links(int d);
  void count_base(int d);
  void estimate_jumps(int d, Stage stage, bool collect);
  void spread_jumps(int d, std::vector<double>& by_class);
  JumpRow spread(const double* histogram) const;
  const JumpRow& inner_jumps(int d, std::size_t t) const {  // to what generates token t of the sentence at hand
    return rows_[d].inner[jump_class_[d][words_[1 - d][t]]];
  }
  void estimate_fertilities(int d, bool collect);
  void read_sentence(std::size_t s);
  void read_endings(int side);
  void find_candidates(const PairCounts& table, std::span<const WordId> source, std::span<const WordId> target,
                       std::vector<Candidate>& found);
  void find_words();
  static void fetch_candidates(const PairCounts& table, std::vector<Candidate>& found);
  void read_counts();
  void read_stem_counts();
  void read_ending_counts(int d);
  void open_direction(int d, std::size_t s);
  void set_scales(std::size_t k);
  void set_ending_scale(std::size_t k);
  void shift_counts(int d, std::size_t t, std::size_t k, float by);
  void move_link(int d, std::size_t t, std::uint32_t before, std::uint32_t now);
  template <Stage stage>
  double draw_sentence(int d, std::size_t s, Random& random, bool collect);
  template <Stage stage>
  double weigh_links(int d, std::size_t t, std::size_t last, std::size_t next, std::size_t next_at);
  template <Stage stage>
  double jump_around(int d, std::size_t last, std::size_t next, std::size_t next_at) const;
  void collect_token(int d, std::size_t s, std::size_t t, double sum);
  std::uint32_t draw_link(std::uint32_t before, double null, double sum, Random& random) const;
  double sweep_sentence(Stage stage, int d, std::size_t s, Random& random, bool collect);

  const Bitext& bitext_;
  const Meetings& meetings_;
  GibbsOptions options_;
  CellFormat format_;
  std::uint64_t seed_;
  std::uint32_t lane_, lanes_;
  const BaseCounts* base_;
  std::uint32_t done_ = 0;
  bool is_torn_ = false;  // an interrupt ended a sweep halfway
  float dither_ = 0.5f;   // of the sweep at hand: what is added before probabilities are cut to whole units
  PairCounts pairs_, stem_pairs_;
  std::array<PairCounts, 2> ending_pairs_;  // [direction]: ending of the word that generates, word; count[0] alone
  std::array<GibbsDirection, 2> directions_;
  std::array<std::vector<float>, 2> word_base_, stem_base_, share_of_stem_, frequency_;
  std::array<JumpRows, 2> rows_;
  std::array<std::vector<std::uint16_t>, 2> jump_class_;  // [direction][word that is generated]; 0: none of its own
  std::ptrdiff_t reach_;
  // Of the sentence at hand, by side: words, stems, endings (NO_WORD: the word itself), and the next position with the
  // same stem or ending, round; the positions with endings, and these.
  std::array<std::span<const WordId>, 2> words_;
  std::array<std::vector<WordId>, 2> stems_, endings_;
  std::array<std::vector<std::uint32_t>, 2> same_stem_, same_ending_;
  std::array<std::vector<std::uint32_t>, 2> inflected_;
  std::array<std::vector<WordId>, 2> inflections_;
  // By direction, [to position * stride + from position]: links of the cell's pair and its likeness, links of the
  // stems' pair, links of the ending with the word. Rows are filled up to a multiple of LANES.
  std::array<std::vector<float>, 2> counts_, stem_counts_, ending_counts_;
  std::vector<std::uint64_t> hashes_;
  std::vector<WordId> ids_;
  std::vector<Candidate> candidates_, stem_candidates_;
  std::array<std::vector<Candidate>, 2> ending_candidates_;
  // Of the direction at hand, by from position.
  std::size_t stride_ = 0;
  std::vector<float> totals_, stem_totals_, ending_totals_, scales_, stem_scales_, ending_scales_, ratios_, weights_;
  std::vector<std::uint32_t> fertilities_;
  std::vector<std::uint32_t> coupled_, next_coupled_;   // positions by what the other direction links them with
};

}  // namespace hiddenite::align
