// IBM Model 1 and the HMM alignment model (Vogel, Ney & Tillmann 1996) by EM, both
// directions, each by itself.
//
// Model 1: a link's probability is its share of t(f | e). HMM: forward-backward over
// the last real position, with the jumps and the NULL of fertility.hpp and fixed
// NULL probability. Counts are added up in whole units of 2^-32, and integers add
// up to the same sum in any order: the result does not depend on the number of
// threads. Memory: 4 bytes a cell, and per pair 4 for t and 8 for counts in each
// direction.
#pragma once

#include "hiddenite/align/model.hpp"

namespace hiddenite::align {

class AlignmentEm {
 public:
  AlignmentEm(std::string_view source_text, std::string_view target_text, const std::string& source_name,
              const std::string& target_name, const GibbsOptions& options);
  AlignmentEm(const AlignmentEm&) = delete;
  AlignmentEm& operator=(const AlignmentEm&) = delete;

  enum class Model { MODEL1, HMM };
  // One iteration of both directions; returns ln p(text) / words under the parameters it began with.
  double iterate(Model model, int threads);
  // The same in two steps, for texts whose sentences are shared out: expected counts of the sentences from `begin`
  // to before `end`, which returns their share of ln p(text) / words; and new parameters from all counts.
  double expect(Model model, std::size_t begin, std::size_t end, int threads);
  void maximise(Model model);
  // Counts of a direction as one array (pairs, NULL by word, jumps), in units that add up in any order.
  std::vector<std::uint64_t> counts(std::size_t d) const;
  // Throws ModelError if there are too many or few.
  void set_counts(std::size_t d, std::span<const std::uint64_t> counts);
  // Expected counts of the last iteration, without fertilities.
  AlignmentTables tables() const;
  std::size_t num_sentences() const { return bitext_.num_sentences(); }

 private:
  using Units = std::uint64_t;  // of 2^-32
  struct Direction {
    std::vector<float> lexicon;          // [pair]
    std::vector<float> null_lexicon;     // [generated word]
    std::array<std::vector<double>, 3> jumps;  // start, inner, end: probabilities
    std::vector<Units> pair_count, null_count;
    std::array<std::vector<Units>, 3> jump_count;
  };
  struct Scratch;

  const TextSide& from(int d) const { return d == 0 ? bitext_.source : bitext_.target; }
  const TextSide& to(int d) const { return d == 0 ? bitext_.target : bitext_.source; }
  void clear_counts(Direction& dir) const;
  double expect(int d, Model model, std::size_t s, Scratch& scratch);
  double expect_model1(int d, std::size_t s, Scratch& scratch);
  double expect_hmm(int d, std::size_t s, Scratch& scratch);
  void open_sentence(int d, std::size_t s, Scratch& scratch) const;
  void maximise(int d, Model model);

  Bitext bitext_;
  PairTable table_;
  GibbsOptions options_;
  std::array<Direction, 2> directions_;
};

}  // namespace hiddenite::align
