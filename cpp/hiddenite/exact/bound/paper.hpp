// The method `paper`: Carter, Dymetman & Bouchard 2012, Algorithms 1 and 2, as
// the baseline of the reproduction. Algorithm 1 is the loop of search.hpp with
// this relaxation in it.
//
// States are named by the words of a context, whether or not the model lists
// it; each state has all its edges; the dynamic programs run over all of them
// again after every update.
//
// Two repairs that exactness needs: a new state's prefix (at the position
// before) and suffix are created if they do not exist, since otherwise no edge
// leads to it; and lines 7 and 13 never replace a longer context by a shorter.
#pragma once

#include <map>
#include <vector>

#include "hiddenite/exact/bound/lattice.hpp"
#include "hiddenite/exact/bound/lattice_edges.hpp"
#include "hiddenite/exact/bound/row_bound.hpp"

namespace hiddenite::exact {

class PaperRelaxation final : public RowRelaxation {
 public:
  // The table and the candidates must outlive this.
  PaperRelaxation(const NgramTable& table, const Candidates& candidates, Weighting weighting);

  Trial best() override;
  Trial draw(Random& random) override;
  double log_total() override;
  bool is_exact() const override { return table_.order == 1; }
  using Relaxation::tighten;
  void tighten(std::span<const std::uint32_t> path) override;
  Trial score(std::span<const std::uint32_t> path) const override;
  std::uint64_t num_states() const override { return lattice_.num_states(); }
  std::uint64_t num_edges() const override { return lattice_.num_edges(); }
  std::vector<StateView> states(std::size_t position) const override;

  // For BestFirst, the paths of q in descending order; until the next tighten().
  LatticeEdges ranked_edges() const { return LatticeEdges(lattice_); }

  // [n - 1]: number of n-grams at a position whose own weight of order n q has (table 1).
  const std::vector<std::uint64_t>& num_ngrams() const { return num_ngrams_; }

 private:
  using Name = std::vector<WordId>;
  struct Edge {
    double log_prob;      // w_n without the observation
    std::uint32_t order;  // n
  };
  struct Position {
    std::vector<Name> names;               // S_i
    std::map<Name, std::uint32_t> number;
    std::vector<std::vector<Edge>> edges;  // [state][k]
  };

  void update(std::span<const std::uint32_t> path, const Name& history, std::size_t i);
  std::uint32_t create_state(std::size_t i, const Name& name, std::span<const std::uint32_t> path);
  void set_weight(std::size_t i, std::uint32_t state, std::uint32_t k, Edge edge);
  std::uint32_t add_state(std::size_t i, const Name& name);
  double log_max_prob(const Name& context, WordId w) const;
  bool is_complete(std::size_t length, std::size_t i) const;
  std::vector<std::uint32_t> with_end(std::span<const std::uint32_t> path) const;

  std::size_t length_;  // of a path; </s> is one more position
  std::vector<Layer> layers_;
  Lattice lattice_;
  std::vector<Position> positions_;
  std::vector<std::uint64_t> num_ngrams_;
  std::vector<std::uint32_t> path_;  // workspace
};

}  // namespace hiddenite::exact
