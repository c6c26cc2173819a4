#include "hiddenite/exact/bound/word_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hiddenite/base/error.hpp"

namespace hiddenite::exact {

void WordGraph::check() const {
  const std::size_t size = from.size();
  if (to.size() != size || word.size() != size || log_weight.size() != size || log_final.size() != num_nodes ||
      start >= num_nodes) {
    throw ModelError("the columns of the lattice differ in length");
  }
  for (std::size_t e = 0; e < size; ++e) {
    if (from[e] >= to[e] || to[e] >= num_nodes || (e > 0 && from[e] < from[e - 1])) {
      throw ModelError("the edges of the lattice are not in order");
    }
    if (std::isnan(log_weight[e]) || log_weight[e] == -LOG_ZERO) throw ModelError("an edge's weight is no number");
  }
}

CandidateGraph graph_of(const Candidates& candidates) {
  CandidateGraph result;
  WordGraph& graph = result.graph;
  std::vector<std::uint32_t> order(candidates.length());  // slots by the joint that they leave
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return candidates.span(a).from < candidates.span(b).from;
  });
  std::uint32_t last = 0;
  for (const std::uint32_t i : order) {
    const Slot& slot = candidates.slots[i];
    const Span span = candidates.span(i);
    last = std::max(last, span.to);
    for (std::size_t k = 0; k < slot.size(); ++k) {
      for (std::uint32_t c = slot.begin[k]; c < slot.begin[k + 1]; ++c) {
        graph.from.push_back(span.from);
        graph.to.push_back(span.to);
        graph.word.push_back(slot.word[k]);
        graph.log_weight.push_back(slot.log_weight[c]);
        result.slot.push_back(i);
        result.word.push_back(static_cast<std::uint32_t>(k));
        result.candidate.push_back(slot.candidate[c]);
      }
    }
  }
  graph.num_nodes = last + 1;
  graph.log_final.assign(graph.num_nodes, LOG_ZERO);
  graph.log_final[last] = 0.0;
  return result;
}

std::vector<std::uint32_t> CandidateGraph::column(const std::vector<std::uint32_t>& values,
                                                  std::span<const std::uint32_t> edges) {
  std::vector<std::uint32_t> result;
  for (const std::uint32_t e : edges) result.push_back(values[e]);
  return result;
}

}  // namespace hiddenite::exact
