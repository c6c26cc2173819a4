#include "hiddenite/exact/walk/full.hpp"

#include <cmath>

#include "hiddenite/base/error.hpp"

namespace hiddenite::exact {

namespace {

constexpr int MAX_WALKS = 3;

// Arcs that look smaller than this share are left out: several for each word, whose bounds may be far from what
// they are. In a row of slots those that matter are looked at closer (sum_closer.cpp).
double first_share(const Candidates& candidates, double epsilon) {
  std::size_t num_words = 0;
  for (const Slot& slot : candidates.slots) num_words += slot.size();
  return (candidates.is_chain() ? 0.5 : 0.05) * epsilon / static_cast<double>(num_words + 1);
}

}  // namespace

template <class Number>
struct FullPosterior::Passes {
  explicit Passes(const StateIndex& index) : graph(index), forward(index) {}
  bool run(const Candidates& candidates, double share, const Deadline& deadline) {
    if (!forward.run(graph, candidates, share, deadline)) return false;
    backward.run(graph, deadline);
    return true;
  }
  SumGraph<Number> graph;
  ForwardSum<Number> forward;
  BackwardSum<Number> backward;
  SumDraws<Number> draws;
};

FullPosterior::FullPosterior(const StateIndex& index) : index_(index) {}
FullPosterior::~FullPosterior() = default;

void FullPosterior::observe(const Candidates& candidates, const Deadline& deadline, double epsilon) {
  candidates_ = &candidates;
  if (!linear_) linear_ = std::make_unique<Passes<Linear>>(index_);
  try {
    is_linear_ = true;
    double share = first_share(candidates, epsilon);
    for (int walk = 0;; ++walk) {
      if (walk == MAX_WALKS) share = 0.0;
      const bool leads_somewhere = linear_->run(candidates, share, deadline);
      const double left_out = leads_somewhere ? std::expm1(linear_->graph.log_upper - linear_->graph.log_kept)
                                              : std::numeric_limits<double>::infinity();
      if (share == 0.0 || left_out <= epsilon) break;
      share *= std::clamp(0.2 * epsilon / left_out, 1e-6, 0.2);
    }
    take_bounds(linear_->graph);
  } catch (const OutOfRange&) {
    observe_by_logarithms(deadline);
  }
}

void FullPosterior::observe_by_logarithms(const Deadline& deadline) {
  if (!logarithmic_) logarithmic_ = std::make_unique<Passes<Logarithmic>>(index_);
  is_linear_ = false;
  logarithmic_->run(*candidates_, 0.0, deadline);
  take_bounds(logarithmic_->graph);
}

// The interval, moved outwards by what the sums can have lost.
template <class Number>
void FullPosterior::take_bounds(const SumGraph<Number>& graph) {
  // A sum of n positive terms is off by n roundings at most, a logarithm or what is made of one by its size.
  const double size = graph.magnitude + 64.0;
  const auto num_positions = static_cast<double>(candidates_->num_positions());
  const double each = IS_LINEAR<Number> ? graph.num_terms + 8.0 * size * num_positions
                                        : 4.0 * size * (graph.num_terms + 8.0 * num_positions);
  const double rounding =
      ROUNDING * (each + 8.0 * (std::fabs(graph.log_kept) + candidates_->magnitude + 1.0));
  log_partition_ = graph.log_kept;
  num_states_ = graph.num_states;
  bounds_.lower = graph.uncertain < 1.0 ? graph.log_kept + std::log1p(-graph.uncertain) - rounding : LOG_ZERO;
  bounds_.upper = std::max(graph.log_upper, graph.log_kept) + rounding;
}

std::vector<DrawnPath> FullPosterior::sample(std::uint64_t count, Random& random) {
  if (is_linear_) {
    try {
      return linear_->draws.sample(linear_->graph, count, random);
    } catch (const OutOfRange&) {
      observe_by_logarithms(Deadline());
    }
  }
  try {
    return logarithmic_->draws.sample(logarithmic_->graph, count, random);
  } catch (const OutOfRange&) {
    throw ModelError("the weights are too far apart to draw from; scale them down");
  }
}

std::vector<std::vector<double>> FullPosterior::marginals(const std::vector<std::size_t>& slot_sizes) {
  return is_linear_ ? BackwardSum<Linear>::marginals(linear_->graph, slot_sizes)
                    : BackwardSum<Logarithmic>::marginals(logarithmic_->graph, slot_sizes);
}

}  // namespace hiddenite::exact
