// A word graph: an acyclic graph whose edges carry a word or none.
//
// Candidates (candidates.hpp) are slots whose every word the model sees. What recognisers write has more: edges
// without a word (epsilon, !NULL), fillers that the model must not see, several edges of one word between two nodes,
// several ends. All of that is plain here.
#pragma once

#include <vector>

#include "hiddenite/channel/candidates.hpp"

namespace hiddenite::exact {

inline constexpr double LARGEST_SUM = 1e300;  // of the absolute weights of a path

// Nodes are numbered so that edges lead upwards, and edges stand in order of the node that they leave.
struct WordGraph {
  std::uint32_t num_nodes = 0;
  std::uint32_t start = 0;
  std::vector<std::uint32_t> from, to;
  std::vector<WordId> word;        // NO_WORD: the model does not see the edge
  std::vector<double> log_weight;  // LOG_ZERO: nobody takes it
  std::vector<double> log_final;   // [node]: of paths that end there; LOG_ZERO: none do

  std::size_t num_edges() const { return from.size(); }
  void check() const;  // throws ModelError
};

// Candidates as a graph with an edge for each candidate; weights above the candidates' offset.
struct CandidateGraph {
  WordGraph graph;
  // [edge]: the slot, the word by its place among the slot's, the candidate by its place in the slot as given.
  std::vector<std::uint32_t> slot, word, candidate;

  // The slots that a path of edges takes.
  Route route(std::span<const std::uint32_t> edges) const { return column(slot, edges); }
  static std::vector<std::uint32_t> column(const std::vector<std::uint32_t>& values,
                                           std::span<const std::uint32_t> edges);
};

CandidateGraph graph_of(const Candidates& candidates);

}  // namespace hiddenite::exact
