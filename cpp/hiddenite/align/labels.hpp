// The exact last step: dynamic programming over links and counts, where the
// bound leaves something open.
//
// A label is (target words done, last real position, how often each contested
// source word was linked so far). Given multipliers u, a label whose links so far
// weigh g in the chain can still reach at most
//   g + max of the chain's rest under u + sum_i T_i(count so far),
//   T_i(c) = max_k [ fertility(i, c + k) - the k smallest u left in row i ].
// Cells that no alignment better than the best known can use are dead (reduced-
// cost fixing); a source word without live cells to come has its fertility added
// to g and leaves the label, so labels that differ in nothing else merge.
//
// What a label can reach is rounded up, with what the sums so far can have lost:
// no label is dropped that could lead above `least`. The number of labels is the
// number of ways made, and so what the search takes in memory.
#pragma once

#include "hiddenite/align/bound.hpp"

namespace hiddenite::align {

class LabelSearch {
 public:
  // All cells are live at first.
  LabelSearch(const FertilityHmm& hmm, FertilityBound& bound, Pace& pace);

  // Kills the cells that cannot be part of an alignment above `least`. Without time it leaves them as they are.
  void fix_cells(double least);

  // Keeps the `beam` best labels of each column, drops what cannot exceed `least`, gives up past `max_labels` or
  // without time. Returns whether nothing above `least` was passed over.
  bool run(double least, std::size_t beam, std::size_t max_labels);
  std::uint64_t num_labels() const { return num_labels_; }  // of the last run
  // The best found, empty if it was given up or nothing is above `least`.
  Links best_links() const;

  // From now on runs keep all ways to a label, for ranked(): the best alignments found, in order, at most k.
  void keep_ways() { keeps_ways_ = true; }
  std::vector<Links> ranked(std::size_t k);

 private:
  struct Row {
    std::size_t source = 0, remaining = 0, width = 0;
    std::vector<std::uint32_t> columns;  // live, ascending
    std::vector<double> table;           // T: [columns left * width + count], LOG_ZERO for larger counts
    double reach(std::size_t left, std::size_t count) const {
      return count < width ? table[left * width + count] : LOG_ZERO;
    }
  };
  struct Label {
    double log_weight, rest;   // g, and the sum of T over the rows that are not done, with all rounding
    std::uint64_t hash;        // of the counts
    std::uint32_t last, node;
    double bound(const double* after) const { return rounded_up(rounded_up(log_weight + rest) + after[last]); }
  };
  struct Node {
    std::uint32_t parent, link;
  };
  struct Way {  // to a node
    std::uint32_t node, parent, link;
    double log_weight;  // up to the node, by this way
  };
  class WayGraph;

  void mask_emission();
  bool prepare();
  bool make_row(std::size_t i);
  static double change_unlinked(const Row& row, std::size_t count);
  bool expand(std::size_t j, double least, std::size_t max_labels);
  void expand_label(std::size_t j, std::size_t k, double least);
  void add(const Label& label, const std::uint16_t* counts, std::uint32_t parent, std::uint32_t link);
  void keep_best(std::size_t beam, const double* after);

  const FertilityHmm& hmm_;
  FertilityBound& bound_;
  Pace& pace_;
  BestJumps chain_;
  CellMatrix tilted_;                 // dead cells are LOG_ZERO
  std::vector<std::uint8_t> live_;    // [j * (I + 1) + i]
  std::vector<Row> rows_;             // with live cells
  std::vector<std::vector<std::uint32_t>> rows_at_;  // [j]: rows with a live cell there
  std::vector<Label> frontier_, next_;
  std::vector<std::uint16_t> counts_, next_counts_;  // of each label, one a row
  std::vector<std::uint32_t> slots_;                 // hash table over next_
  std::vector<Node> nodes_;
  std::vector<Way> ways_;
  std::vector<std::uint16_t> scratch_;               // counts of the label being made
  bool keeps_ways_ = false;
  bool reached_ = false;              // the last column
  std::uint64_t num_labels_ = 0;
};

}  // namespace hiddenite::align
