// Beam search on the library's own tables: the competitor that `dominance` is
// measured against. Not exact, and not part of the library.
//
// Per position the prefixes are recombined on the language model's state and
// the `width` best states stay. Two ways to the same answer:
//
//   SPARSE  what the model lists, as `full` walks it: the kept states are closed
//           under suffixes, each listed arc is met once for all the states that
//           back off to it, the unigrams are one pass over two contiguous
//           arrays, and the `width`-th best value so far is a threshold.
//   DENSE   the textbook: for each kept state the scores of all candidates are
//           laid out along its back-off chain, then the best are taken.
//
// SPARSE does with maxima over shared suffixes what DENSE does state by state;
// it is the faster one and the one that is reported, DENSE shows by how much.
// No look-ahead, no bounds: a hypothesis is worth its prefix.
#pragma once

#include <vector>

#include "hiddenite/exact/inference.hpp"
#include "hiddenite/exact/walk/walk.hpp"

namespace hiddenite::bench {

using namespace exact;

enum class BeamKind { SPARSE, DENSE };

class Beam {
 public:
  Beam(const StateIndex& index, std::size_t width, BeamKind kind) : index_(index), width_(width), kind_(kind) {}

  // certificate.exact is always false. Throws EmptySupport if the beam runs dry.
  Decoded decode(const Candidates& candidates);

 private:
  struct Active {
    NodeId state;
    double value;
    std::uint32_t previous;  // the active state before, and the word in between
    std::uint32_t word;
  };
  struct Entry {
    double value = LOG_ZERO;       // of the prefix that ends in the state itself
    double reach = LOG_ZERO;       // best of it and of those that back off to it
    double backed_off = LOG_ZERO;  // reach + ln bow
    std::uint32_t active = NONE;
    std::uint32_t origin = NONE;   // active state whose prefix `reach` is
    bool sorted = false;           // the extensions are in descending order of backed_off
  };

  void expand_sparse(const Slot& slot);
  void enter_states();
  void expand_root(const Slot& slot, std::uint32_t e);
  void use_arc(std::uint32_t e, WordId w, double log_prob, NodeId next, double weight, std::uint32_t k);
  std::pair<double, std::uint32_t> best_prefix(std::uint32_t e, WordId w);

  void expand_dense(const Slot& slot);
  void score_all(const Slot& slot, NodeId state);

  void relax(NodeId next, double value, std::uint32_t origin, std::uint32_t word);
  void keep_best();

  const StateIndex& index_;
  std::size_t width_;
  BeamKind kind_;
  std::vector<std::vector<Active>> layers_;
  const std::vector<Active>* layer_ = nullptr;
  std::vector<Active>* next_ = nullptr;
  double threshold_ = LOG_ZERO;  // value of the width-th best state so far
  NodeMap next_of_;
  SuffixClosure closure_;
  std::vector<Entry> entries_;
  SlotWords words_;
  // DENSE: per candidate.
  std::vector<double> scores_;
  std::vector<NodeId> nexts_;
};

}  // namespace hiddenite::bench
