// A trained alignment model: everything a new sentence pair's two fertility HMMs
// are made of, both directions, as expected counts.
//
// The formulas are those of gibbs.hpp, with expected counts in the
// place of a sample's. Pairs that are hardly ever linked are left out; what they
// have instead is what an unseen pair has: prior, likeness and stems.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>

#include "hiddenite/align/fertility.hpp"
#include "hiddenite/align/gibbs.hpp"

namespace hiddenite::align {

// What is saved and loaded: plain arrays. [0] is the source side or the forward direction.
struct AlignmentTables {
  std::array<std::vector<std::string>, 2> words;
  std::array<std::vector<std::uint32_t>, 2> word_count;    // occurrences
  std::array<std::vector<std::uint32_t>, 2> partners;      // words of the other side it was seen with
  std::array<std::vector<float>, 2> likeness;              // summed over these
  std::vector<std::uint32_t> pair_source, pair_target;     // indices of words
  std::array<std::vector<float>, 2> pair_count;            // expected links
  std::array<std::vector<float>, 2> null_count;            // by generated word: [0] of target words
  std::array<std::vector<float>, 2> fertility;             // [generating word * (max + 1) + count]
  std::array<std::array<std::vector<double>, 3>, 2> jumps; // [direction][start, inner, end]: counts
};

class AlignmentModel {
 public:
  // Throws ModelError if the tables do not fit together.
  AlignmentModel(AlignmentTables tables, const GibbsOptions& options, bool string_prior);

  // The HMM of a direction, 0 or 1; words[0] is the source sentence, words[1] the target one.
  FertilityHmm hmm(std::size_t direction, const std::array<std::vector<std::string_view>, 2>& words) const;
  // Counts one more sentence pair with these links of both directions; new words are added. What is asked at the same
  // time in another thread must wait.
  void learn(const std::array<std::vector<std::string_view>, 2>& words, const std::array<Links, 2>& links);
  const AlignmentTables& tables() const { return tables_; }
  const GibbsOptions& options() const { return options_; }
  bool has_string_prior() const { return string_prior_; }
  // Without a single fertility counted, the model is a plain HMM.
  bool has_fertilities() const { return has_fertilities_; }

 private:
  struct Word {
    WordId id, stem;  // NO_WORD if new
    std::string_view spelling;
  };
  void set_jump_probs(int d);
  std::uint32_t add_word(int side, std::string_view word);
  void add_link(int d, std::uint32_t e, std::uint32_t f);
  void add_fertilities(int d, const std::vector<std::uint32_t>& from, const Links& links);
  void add_jumps(int d, std::size_t num_sources, const Links& links);
  Word look_up(int side, std::string_view word) const;
  double lexicon(int d, const Word& from, const Word& to) const;
  void fill_jumps(int d, FertilityHmm& hmm) const;
  void fill_fertilities(int d, const std::vector<Word>& from, FertilityHmm& hmm) const;

  AlignmentTables tables_;
  GibbsOptions options_;
  bool string_prior_, has_fertilities_ = false;
  std::array<Vocabulary, 2> words_, stems_;
  std::array<std::vector<WordId>, 2> stem_of_word_;
  std::array<std::vector<double>, 2> word_links_, stem_links_, stem_occurrences_, stem_partners_;
  std::array<double, 2> null_total_{}, fertility_total_{};
  std::unordered_map<std::uint64_t, std::uint32_t> pair_place_;
  std::unordered_map<std::uint64_t, std::array<double, 2>> stem_pairs_;
  std::array<std::vector<double>, 2> global_fertility_;
  std::array<std::array<std::vector<double>, 3>, 2> jump_probs_;
};

// The counts of an earlier training by the ids of this text, in parts of 1 / 64 link. Words that the text lacks still
// count for their stems.
BaseCounts base_counts(const Bitext& bitext, const AlignmentTables& earlier, const GibbsOptions& options);

// The counts of two texts together. Of partners, which may be the same in both, the larger number stays.
AlignmentTables merge(const AlignmentTables& earlier, const AlignmentTables& later, const GibbsOptions& options);

using ChainLanes = std::vector<std::unique_ptr<GibbsChain>>;

// Expected counts, means over chains and collected sweeps; pairs below `least` links both ways are left out.
AlignmentTables expected_counts(const Bitext& bitext, const Meetings& meetings, const ChainLanes& lanes,
                                const GibbsOptions& options, double least = 0.005);

}  // namespace hiddenite::align
