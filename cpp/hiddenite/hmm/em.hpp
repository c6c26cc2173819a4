// Training of a chain by incremental expectation-maximisation.
//
// The sentences are dealt into folds. A turn of a fold takes probabilities from
// the counts of all folds, replaces the fold's counts by those expected under
// them (Neal & Hinton 1998), and goes on. Cross-validated, the fold's own counts
// are left out of the probabilities it is explained by: no state is kept alive by
// the very words it explains, and the likelihood that comes out is held-out.
// With one fold, not cross-validated and not smoothed, this is plain EM, and the
// likelihood never falls.
//
// Within a turn: forward and backward per sentence, in parallel, in floats scaled
// at each word. The counts of a block are T o sum_t alpha_{t-1} w_t', so they are
// summed per block, in the order of the text: no two threads write the same
// number, and the result does not depend on them.
//
// Soft targets: if another model drew the text and its probabilities q of the words that may stand at a token are
// known, the token's own counts can be replaced by their mean over q. With c_t(v) the counts of the last step, had v
// come at t (from the forward recursion alone), the counts of a sentence become
//   counts(x) + sum_t [ sum_v q_t(v) c_t(v) - c_t(x_t) ]
// The bracket has mean zero over x_t ~ q_t, so these counts mean the same, with less noise. A list may be cut: q is
// normalised over it, and a token that is not in its list keeps its counts, which leaves the mean zero. A cell of a
// fold that would fall below zero is zero.
#pragma once

#include <vector>

#include "hiddenite/hmm/counts.hpp"

namespace hiddenite::hmm {

struct EmOptions {
  std::uint32_t folds = 8;
  bool cross_validated = true;
  double noise = 1.0;  // of the start: 0 is none
  Smoothing smoothing;
};

struct SoftTargets {
  std::vector<std::uint64_t> begin;  // [token, </s> included], and the end
  std::vector<WordId> words;
  std::vector<float> probability;

  // Throws ModelError.
  void check(std::size_t num_tokens, WordId num_words) const;
};

class HmmEm {
 public:
  // Throws ModelError if the shape or the targets do not fit the text.
  HmmEm(const TokenText& text, HmmShape shape, const EmOptions& options, std::uint64_t seed,
        const SoftTargets* targets = nullptr);

  // One turn of each fold; ln p of the words as each fold was met. The first
  // call starts from random probabilities and uses those for all folds.
  double iterate(int threads);
  std::uint32_t iterations_done() const { return done_; }
  std::uint64_t num_tokens() const { return num_tokens_; }
  const HmmShape& shape() const { return shape_; }

  // The chain of all counts.
  SparseHmm chain(const Smoothing& smoothing, int threads) const;
  const HmmCounts& total() const {
    require_whole();
    return total_;
  }
  const HmmPrior& prior() const { return prior_; }
  // One turn of each fold under given probabilities, without smoothing or leaving out.
  double iterate_under(const SparseHmm& chain, int threads);

  // For checkpoints: the counts between two iterations.
  std::size_t num_folds() const { return folds_.size(); }
  const HmmCounts& fold(std::size_t f) const {
    require_whole();
    return folds_[f].counts;
  }
  void restore(std::uint32_t done, std::vector<std::vector<float>> pairs, std::vector<std::vector<float>> first,
               std::vector<std::vector<float>> emissions);

 private:
  struct SoftEntry {
    std::uint32_t position;
    WordId word;
    float weight;   // q(word) - [it is the token]
    bool is_first;  // of its sentence
  };
  struct Fold {
    std::vector<WordId> words;              // sentence by sentence, </s> included
    std::vector<std::uint64_t> begin{0};    // of each sentence
    std::vector<std::uint64_t> offset{0};   // [word]: of its states' numbers
    std::vector<std::uint32_t> arrivals;    // positions with a predecessor, by block
    std::vector<std::uint64_t> arrivals_of;  // [g]: where the group of the predecessor begins
    std::vector<std::uint32_t> by_word;     // positions
    std::vector<std::uint64_t> by_word_begin;  // [w]
    std::vector<SoftEntry> soft;
    std::vector<std::uint32_t> soft_by_block, soft_by_word;
    std::vector<std::uint64_t> soft_block_begin, soft_word_begin;  // [block], [w], and the end
    HmmCounts counts;
  };
  void require_whole() const;  // throws ModelError after an interruption
  void build(Fold& fold) const;
  void set_random(const Fold& fold, int threads);
  void set_smoothed(const Fold& fold, int threads);
  void set_from(const SparseHmm& chain, const Fold& fold, int threads);
  double expect(const Fold& fold, int threads);
  double expect_sentence(const Fold& fold, std::size_t s);
  void count_group(Fold& fold, std::uint32_t g);
  void replace_block(Fold& fold, std::uint32_t g, std::uint32_t h, const std::vector<float>& sums);
  void count_words(Fold& fold, int threads);
  void replace(Fold& fold, int threads);
  void sum_folds(int threads);
  void add_targets(Fold& fold, std::size_t p, bool is_first, const SoftTargets& targets, std::size_t token) const;
  void order_targets(Fold& fold, std::vector<bool>& present) const;
  void predict_entry(const Fold& fold, const SoftEntry& entry, std::vector<float>& joint) const;
  void weigh_targets(const Fold& fold, int threads);
  void add_soft_pairs(const Fold& fold, std::uint32_t g, std::uint32_t h, std::vector<float>& sums) const;
  void add_soft_words(const Fold& fold, WordId w, bool first_only, std::vector<double>& sums) const;
  void forward_step(const StateSet& from, const float* x, const StateSet& to, const float* matrix, float* y) const;
  void backward_step(const StateSet& from, float* y, const StateSet& to, const float* matrix, const float* w) const;
  const float* matrix(const Fold& fold, std::uint32_t g, std::uint32_t h) const {
    return transition_.data() + fold.counts.block_begin[std::size_t{g} * shape_.num_groups() + h];
  }

  HmmShape shape_;
  EmOptions options_;
  std::uint64_t seed_;
  HmmPrior prior_;
  std::uint64_t num_tokens_ = 0;
  std::uint32_t done_ = 0;
  bool broken_ = false;  // an iteration is under way, or was interrupted
  std::vector<Fold> folds_;
  HmmCounts total_;
  // Of the fold at hand.
  std::vector<float> transition_, initial_, emission_;
  std::vector<float> alpha_, weight_, posterior_;  // [offset + i]
  std::vector<float> soft_factor_;                 // [entry]: weight / p(word | before)
};

}  // namespace hiddenite::hmm
