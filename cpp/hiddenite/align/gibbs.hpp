// Word alignment by collapsed Gibbs sampling, both directions together.
//
// Each target word is linked to a source word or to NULL, and in reverse. A sweep
// draws every link anew given all others. The lexicon is integrated out:
//   t(f | e) = [c(e, f) + a + s(e, f) + m q(f | e)] / [c(e) + sum_f (a + s(e, f)) + m],
//   q(f | e) = [c(stem e, stem f) + a'] / [c(stem e) + a' partners(stem e)] n(f) / n(stem f),
// counts without the word at hand; s is the likeness of the spellings, q the
// back-off to stems. Jumps (three histograms: from the start, inside, to the end)
// and fertilities (a histogram a word, backed off to that of all words) are
// estimated anew before each sweep. A link weighs g times as much if the other
// direction has it too: Gibbs sampling for p(a) p(b) g^(links in both).
//
// Stages: Model 1 (lexicon alone), HMM (jumps), fertility. Over the second half of
// the fertility sweeps the conditional probabilities of the links are added up:
// their means are the answer, and expected counts for a model to keep.
//
// A chain's sweep k draws from stream (seed, chain, k): the same links for any
// number of threads, and after any interruption between sweeps.
#pragma once

#include <array>

#include "hiddenite/align/bitext.hpp"
#include "hiddenite/base/random.hpp"

namespace hiddenite::align {

struct GibbsOptions {
  std::uint32_t model1_sweeps = 8, hmm_sweeps = 8, fertility_sweeps = 32;
  double coupling = 2.0;           // g
  double lexicon_prior = 0.0003;   // a
  double stem_weight = 5.0;        // m
  double stem_prior = 0.0005;      // a'
  double null_probability = 0.3, null_prior = 0.01;
  double fertility_weight = 5.0;   // of the histogram of all words, in a word's own
  std::uint32_t max_fertility = 10, max_jump = 40;
  double uniform_jump = 0.02;      // share of the uniform distribution in a jump histogram
  double diagonal = 4.0;           // of the first links: exp(-diagonal |i / I - j / J|)
  std::uint32_t sweeps() const { return model1_sweeps + hmm_sweeps + fertility_sweeps; }
  std::uint32_t first_collected() const { return model1_sweeps + hmm_sweeps + fertility_sweeps / 2; }
};

// Distances, cut at max_jump; [0] is -max_jump. From the start: the position; to the end: words left plus one.
struct JumpHistograms {
  std::vector<double> start, inner, end;
};

// Links counted in earlier texts, by the ids of the text at hand: a training that goes on from a model adds them
// to its own counts.
struct BaseCounts {
  std::vector<std::uint32_t> pairs;
  std::array<std::vector<std::uint32_t>, 2> pair_links;              // of each of these
  std::array<std::vector<std::uint32_t>, 2> word_links, stem_links;  // by the generating side, all pairs
  std::array<std::vector<std::uint32_t>, 2> null_links;              // by the generated word
  std::array<std::vector<float>, 2> fertility;                       // [word * (max + 1) + count]
  std::array<JumpHistograms, 2> jumps;
};

// One direction's links and counts. Pairs' counts are beside each other in the chain.
struct GibbsDirection {
  std::vector<std::uint32_t> word_count, stem_count;  // of links, by the word that generates
  std::vector<std::uint32_t> null_count;              // by the generated word
  std::uint64_t null_total = 0;
  std::vector<std::uint32_t> links;                   // of each generated token: 0 or a position + 1
  JumpHistograms jumps;                               // probabilities
  std::vector<double> fertility;                      // [word * (max + 1) + count]: p(count + 1) / p(count)
  // Sums over the collected sweeps.
  std::vector<std::uint16_t> cell_sums;               // in units of 1 / cell_unit
  JumpHistograms jump_sums;
  std::vector<float> fertility_sums;                  // [word * (max + 1) + count]
};

class GibbsChain {
 public:
  // Text, table and base (or none) must outlive this.
  GibbsChain(const Bitext& bitext, const PairTable& table, const GibbsOptions& options, std::uint64_t seed,
             std::uint64_t chain, const BaseCounts* base = nullptr);

  std::uint32_t num_sweeps_done() const { return done_; }
  // Returns the mean over all words of ln of the links' total weight: how well words are explained.
  double sweep() { return sweep(0, bitext_.num_sentences(), 0); }
  // The sentences from `begin` to before `end` alone, as shard number `shard`, which has its own random numbers.
  // Shards that sweep at the same time know one another's links as they were before; when all are done, their
  // links are put together and given to each by restore().
  double sweep(std::size_t begin, std::size_t end, std::uint64_t shard);

  const GibbsDirection& direction(std::size_t d) const { return directions_.at(d); }  // 0 forward, 1 reverse
  std::uint32_t cell_unit() const { return cell_unit_; }
  // For a checkpoint between sweeps: directions hold links and sums; the rest follows from them.
  void restore(std::uint32_t sweeps_done, std::array<GibbsDirection, 2> directions);

 private:
  struct Pair {
    std::array<std::uint32_t, 2> count;
    float prior;
    std::uint32_t stem;
  };
  enum class Stage { MODEL1, HMM, FERTILITY };

  const TextSide& from(int d) const { return d == 0 ? bitext_.source : bitext_.target; }
  const TextSide& to(int d) const { return d == 0 ? bitext_.target : bitext_.source; }
  void draw_first_links(int d, Random& random);
  void count_all(int d);
  void count_base(int d);
  void add_link(int d, std::uint32_t pair, WordId from_word, std::uint32_t change);
  void estimate_jumps(int d, bool collect);
  void estimate_fertilities(int d, bool collect);
  void open_sentence(int d, std::size_t s);
  void refresh_lexicon(int d, WordId stem);
  template <Stage stage>
  double draw_sentence(int d, std::size_t s, Random& random, bool collect);

  const Bitext& bitext_;
  const PairTable& table_;
  GibbsOptions options_;
  std::uint64_t seed_, chain_;
  const BaseCounts* base_;
  std::uint32_t done_ = 0, cell_unit_ = 0;
  bool is_torn_ = false;  // an interrupt ended a sweep halfway
  std::vector<Pair> pairs_;
  std::vector<std::array<std::uint32_t, 2>> stem_pairs_;
  std::array<GibbsDirection, 2> directions_;
  std::array<std::vector<float>, 2> word_base_, stem_base_, share_of_stem_;
  // Of the sentence at hand.
  std::span<const WordId> from_words_, to_words_;
  std::vector<std::uint32_t> cells_;                    // [to position * from length + from position]: pair
  std::vector<double> lexicon_scale_, stem_scale_, weights_;  // per from position
  std::vector<std::uint32_t> fertilities_;
};

}  // namespace hiddenite::align
