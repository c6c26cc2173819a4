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
#pragma once

#include <span>

#include "hiddenite/align/bound.hpp"

namespace hiddenite::align {

class LabelSearch {
 public:
  // All cells are live at first.
  LabelSearch(const FertilityHmm& hmm, FertilityBound& bound);

  // Kills the cells that cannot be part of an alignment above `lower`.
  void fix_cells(double lower);
  std::size_t num_live_cells() const;

  struct Outcome {
    bool complete = false;         // nothing above `lower` was passed over
    std::uint64_t num_labels = 0;
    Links links;                   // the best found, empty if none is above `lower`
  };
  // Keeps the `beam` best labels of each column; gives up past `max_labels`.
  Outcome run(double lower, std::size_t beam, std::size_t max_labels);

  // The exact k best alignments of weight above best - margin, fewer if there are fewer.
  struct Ranked {
    bool complete = false;
    std::vector<Links> links;
    std::vector<double> log_weights;
  };
  Ranked ranked(std::size_t k, double lower, std::size_t max_labels);

 private:
  struct Row {
    std::size_t source = 0, remaining = 0;
    std::vector<std::uint32_t> columns;  // live, ascending
    std::vector<double> table;           // T: [columns left * (columns + 1) + count]
    double reach(std::size_t left, std::size_t count) const { return table[left * (columns.size() + 1) + count]; }
  };
  struct Label {
    double log_weight, rest;   // g, and the sum of T over the rows that are not done
    std::uint64_t hash;        // of the counts
    std::uint32_t last, node;
    double bound(const double* after) const { return log_weight + rest + after[last]; }
  };
  struct Node {
    std::uint32_t parent, link;
  };
  struct Edge {  // another way to a node that was merged
    std::uint32_t node, parent, link;
    double log_weight;  // up to the node, by this way
  };

  void prepare();
  void make_row(std::size_t i);
  static double change_unlinked(const Row& row, std::size_t count);
  void expand(std::size_t j, double lower);
  void add(const Label& label, const std::uint8_t* counts, std::uint32_t parent, std::uint32_t link);
  void keep_best(std::size_t beam, const double* after);
  Links links_to(std::uint32_t node) const;
  bool search(double lower, std::size_t beam, std::size_t max_labels);

  const FertilityHmm& hmm_;
  FertilityBound& bound_;
  BestJumps chain_;
  CellMatrix tilted_;                 // dead cells are LOG_ZERO
  std::vector<std::uint8_t> live_;    // [j * (I + 1) + i]
  std::vector<Row> rows_;             // with live cells
  std::vector<std::vector<std::uint32_t>> rows_at_;  // [j]: rows with a live cell there
  std::vector<Label> frontier_, next_;
  std::vector<std::uint8_t> counts_, next_counts_;   // a label's counts, one byte a row
  std::vector<std::uint32_t> slots_;                 // hash table over next_
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  bool keeps_edges_ = false;
  bool dropped_ = false;              // the beam did
};

}  // namespace hiddenite::align
