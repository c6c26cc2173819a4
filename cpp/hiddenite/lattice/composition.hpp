// A word lattice times a language model: an acyclic graph on which every question is a dynamic program.
//
// The engine of exact/ answers rows and graphs of slots whose every edge carries a word that the model sees.
// What recognisers write has more: edges without a word (epsilon, !NULL), fillers and pauses that the model must
// not see, several edges of one word between two nodes, several ends, paths without any word. Here all of that is
// plain: a state is a node with a context of the model, an arc is an edge taken from a state. A lattice offers few
// words at a node, so the states are walked one by one; there are at most as many as the lattice has different
// histories of order - 1 words, and fewer where the model lists fewer contexts.
//
//   the weight of a path = sum over its edges of [ log_weight + lm_weight ln p(word | words before) ]
//                          + log_final of its last node + lm_weight ln p(</s> | ...)       if `ends`
//
// Which door to take:
//   the best path               best_path.hpp; best() where the product is there anyway
//   sums, posteriors, draws     log_partition(), posteriors(), draw()
//   word sequences, best first  sequences.hpp
// States are numbered so that arcs lead upwards.
//
// Rounding. Weights are added along paths, so a path's weight is off by no more than rounding(): the number of
// additions times the largest sum of absolute values times the distance of doubles, over the paths that have a
// share in the sum at all. Probabilities are off by the factor exp(2 rounding()) at most. Weights whose sums leave
// the doubles are refused.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/exact/bound/word_graph.hpp"
#include "hiddenite/exact/proof.hpp"

namespace hiddenite::lattice {

using namespace exact;

struct CompositionOptions {
  double lm_weight = 1.0;
  bool begins = true;  // after <s>; else after nothing that is known
  bool ends = true;    // </s> follows
  std::uint64_t max_states = std::numeric_limits<std::uint64_t>::max();
  Deadline deadline{};  // of making the product
};

// Models mixed word by word: p(w | words before) = sum over m of share_m p_m(w | words before). Unlike the table
// of lm/tools/mixture.hpp this is the mixture itself after every context, listed or not; a state has a context of
// each model. The lattice's words are numbered for all models together, after the three words that all have. A word
// that a model does not list and another one does has probability zero in it.
struct ModelMixture {
  std::vector<const NgramTable*> tables;
  std::vector<double> log_share;         // [model]
  std::vector<std::vector<WordId>> ids;  // [model][word of the lattice]: the word's number in the model

  void check(const WordGraph& graph) const;  // throws ModelError
  bool knows(WordId word) const;             // any of the models lists it
};

// The contexts of all models of a mixture at once, numbered as they come.
class JointContexts {
 public:
  // The mixture must outlive this.
  JointContexts(const ModelMixture& mixture, bool begins);
  NodeId start() const { return 0; }
  // ln p(w | context), the context moved on.
  double step(NodeId& context, WordId w);

 private:
  NodeId number(const std::vector<NodeId>& contexts);

  const ModelMixture& mixture_;
  std::map<std::vector<NodeId>, NodeId> number_;
  std::vector<const std::vector<NodeId>*> all_;
  std::vector<NodeId> contexts_;  // workspace
};

struct GraphArc {
  std::uint32_t to;    // state
  std::uint32_t edge;  // of the lattice
  double log_weight;
};

// The edges of a path, and its weight.
struct GraphPath {
  std::vector<std::uint32_t> edges;
  double log_weight = LOG_ZERO;
};

class Composition {
 public:
  // Without a table the lattice stands for itself. Throws ModelError beyond max_states.
  Composition(const NgramTable* table, const WordGraph& graph, const CompositionOptions& options);
  Composition(const ModelMixture& mixture, const WordGraph& graph, const CompositionOptions& options);
  // The lattice times a bound of the model that knows the last word alone: the most that ln p can be after any
  // words before it. So no path weighs less here; `lm_weight` must not be negative.
  static Composition bound(const NgramTable* table, const WordGraph& graph, const CompositionOptions& options);
  static Composition bound(const ModelMixture& mixture, const WordGraph& graph, const CompositionOptions& options);

  std::size_t num_states() const { return node_.size(); }
  std::size_t num_arcs() const { return arcs_.size(); }
  std::uint32_t node(std::uint32_t state) const { return node_[state]; }
  std::span<const GraphArc> arcs(std::uint32_t state) const {
    return {arcs_.data() + begin_[state], arcs_.data() + begin_[state + 1]};
  }
  double log_final(std::uint32_t state) const { return log_final_[state]; }

  // [state]: the best, or ln of the sum, of all that can follow. Made on first use by each; one thread at a time.
  const std::vector<double>& best_after() const;
  const std::vector<double>& sum_after() const;
  bool has_path() const { return best_after()[0] > LOG_ZERO; }
  // The weights of paths and ln of their sums are no further than this from those of real numbers.
  double rounding() const;

  // These need a path.
  GraphPath best() const;
  double log_partition() const { return sum_after()[0]; }
  // [edge of the lattice]: the share of all weight that goes through it.
  std::vector<double> posteriors() const;
  // [n]: the share of paths with n edges of which `counts` is true.
  std::vector<double> length_shares(const std::vector<bool>& counts) const;
  // [edge of the lattice]: the weight of the best path through it; LOG_ZERO if there is none.
  std::vector<double> best_through() const;
  GraphPath draw(Random& random) const;

 private:
  explicit Composition(std::size_t num_edges) : num_edges_(num_edges) {}
  template <class Step>
  void build(const WordGraph& graph, const CompositionOptions& options, NodeId start, const Step& step);
  // [state]: the most that the absolute weights of a path from there add up to, by arcs that count.
  template <class Counts>
  std::vector<double> magnitudes(Counts counts) const;
  std::vector<double> best_before() const;
  double log_share(std::uint32_t state, const GraphArc& arc) const {
    return arc.log_weight + sum_after()[arc.to] - sum_after()[state];
  }

  std::size_t num_edges_;
  std::vector<std::uint32_t> node_;  // [state]
  std::vector<std::uint64_t> begin_;
  std::vector<GraphArc> arcs_;
  std::vector<double> log_final_;
  double magnitude_ = 0.0;  // of all paths
  double unit_ = 1.0;       // what ln and exp lose is a share of it, however small the weights are
  mutable std::vector<double> best_after_, sum_after_;
};

// ln(exp a + exp b).
inline double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return low == LOG_ZERO ? high : high + std::log1p(std::exp(low - high));
}

}  // namespace hiddenite::lattice
