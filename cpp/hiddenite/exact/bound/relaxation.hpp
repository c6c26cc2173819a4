// What the loop of search.hpp needs of a bound q >= p: its best path, draws
// from it, and the operator that makes it tighter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/channel/candidates.hpp"
#include "hiddenite/exact/bound/max_backoff.hpp"

namespace hiddenite::exact {

// A path and what it is worth; log_q >= log_p.
struct Trial {
  WordPath path;            // empty: q is zero everywhere (or there is no position)
  double log_q = LOG_ZERO;
  double log_p = LOG_ZERO;
  double log_ratio = LOG_ZERO;  // ln p / q, taken term by term; 0 if and only if all terms are equal
  bool is_tight() const { return log_ratio == 0.0; }
};

// What a state knows, for display.
struct StateView {
  std::vector<WordId> words;  // the history ends in these
  bool closed;                // nothing before them matters
};

class Relaxation {
 public:
  using Draw = Trial;  // for RejectionSampler
  virtual ~Relaxation() = default;

  // The path of largest q.
  virtual Trial best() = 0;
  // A path with probability proportional to q.
  virtual Trial draw(Random& random) = 0;
  // ln of the sum of q over all paths: ln Z is not above it.
  virtual double log_total() = 0;
  // q = p on every path, by construction.
  virtual bool is_exact() const = 0;
  // Lowers q where the path goes; q >= p everywhere as before. A path whose
  // ratio is 0 may be given, to no use.
  virtual void tighten(std::span<const std::uint32_t> path) = 0;
  void tighten(const Trial& trial) { tighten(std::span<const std::uint32_t>(trial.path)); }
  // Of a given path.
  virtual Trial score(std::span<const std::uint32_t> path) const = 0;

  virtual std::uint64_t num_states() const = 0;
  virtual std::uint64_t num_edges() const = 0;
  // The states before a position (the number of slots stands for </s>), or at a node.
  virtual std::vector<StateView> states(std::size_t position) const = 0;

  // What the loop must know of the paths themselves.
  virtual double log_offset() const = 0;  // to be added to the weight of every path
  // The weight of a path as it is reported, without the offset.
  virtual double log_weight(const WordPath& path) const = 0;
  // No path weighs more, if log_q is the largest q: what rounding can have done is counted in.
  virtual double upper_of(double log_q) const = 0;
  // A drawn path with one candidate for each word, by weight.
  virtual WordPath spelled(const WordPath& path, Random& random) const = 0;
  [[noreturn]] virtual void throw_empty() const = 0;  // EmptySupport: q is zero everywhere
};

// Adds the terms of one position to log_q, log_p and log_ratio: the one order in which all sums are taken.
template <class Sums>
void add_terms(Sums& sums, double log_q, double log_p, double log_weight) {
  if (log_q != log_p) sums.log_ratio += log_p - log_q;
  sums.log_q += log_q;
  sums.log_q += log_weight;
  sums.log_p += log_p;
  sums.log_p += log_weight;
}

// Adds up a path: term(i, w) is the bound's LM term at position i, `path` has
// one k per layer, of which the first `length` are returned.
template <class Term>
Trial score_path(const NgramTable& table, std::span<const Layer> layers, std::span<const std::uint32_t> path,
                 std::size_t length, Term term) {
  Trial trial{{path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length)}, 0.0, 0.0, 0.0};
  NodeId state = table.start();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const WordId w = layers[i].word[path[i]];
    const double log_q = term(i, w), log_p = table.step(state, w);
    add_terms(trial, log_q, log_p, layers[i].log_weight[path[i]]);
  }
  return trial;
}

}  // namespace hiddenite::exact
