// The method `refine`: the max-backoff relaxation as the loop wants it. The
// best path comes from values computed on demand (BestPaths), draws come from
// the same automaton with all its edges (Lattice); each is made when first
// asked for.
#pragma once

#include <optional>
#include <vector>

#include "hiddenite/exact/bound/best_paths.hpp"
#include "hiddenite/exact/bound/lattice.hpp"
#include "hiddenite/exact/bound/row_bound.hpp"

namespace hiddenite::exact {

class Refinement final : public RowRelaxation {
 public:
  // The table and the candidates must outlive this. `widest_row` is of BestPaths.
  Refinement(const NgramTable& table, const Candidates& candidates, Weighting weighting,
             Strategy strategy = Strategy::ALL_BY_ONE, std::size_t widest_row = BestPaths::WIDEST_ROW);

  Trial best() override;
  Trial draw(Random& random) override;
  double log_total() override;
  bool is_exact() const override { return automaton_.is_exact(); }
  using Relaxation::tighten;
  void tighten(std::span<const std::uint32_t> path) override;
  Trial score(std::span<const std::uint32_t> path) const override;
  std::uint64_t num_states() const override { return automaton_.num_states(); }
  std::uint64_t num_edges() const override { return automaton_.num_edges(); }
  std::vector<StateView> states(std::size_t position) const override;

  // For BestFirst, the paths of q in descending order; until the next tighten().
  RankedEdges ranked_edges() { return RankedEdges(best_paths()); }

 private:
  // What one step of a path is worth.
  struct Terms {
    BestPaths::Step step;
    NodeId before, after;  // the model's states
    double log_q, log_p;   // LM terms
  };

  std::vector<std::uint32_t> with_end(std::span<const std::uint32_t> path) const;
  BestPaths& best_paths();
  const Terms& terms(std::size_t position, BestPaths::Step step, NodeId before);
  Lattice& lattice();
  void add_to_lattice(StateId id);
  void redirect(std::size_t position, std::size_t num_old);

  std::size_t length_;  // of a path; </s> is one more position
  Strategy strategy_;
  std::size_t widest_row_;
  ContextAutomaton automaton_;
  std::optional<BestPaths> best_paths_;
  std::optional<Lattice> lattice_;
  std::size_t num_in_best_paths_ = 0;
  std::vector<Terms> best_terms_;     // of the last best path
  std::vector<StateId> best_states_;  // its states
  std::vector<std::uint32_t> place_;            // [id]: its number in the lattice's position
  std::vector<std::vector<StateId>> state_at_;  // [position][place]
  std::vector<std::vector<std::uint32_t>> versions_;  // [position][k]: of the lattice's targets
  std::vector<std::uint32_t> path_;             // workspace
};

}  // namespace hiddenite::exact
