#include "hiddenite/align/branching.hpp"

#include <algorithm>
#include <cmath>

namespace hiddenite::align {

namespace {

constexpr double MOMENTUM = 0.5;
constexpr int PATIENCE = 6;
constexpr std::size_t ROOT_ITERATIONS = 400, ITERATIONS = 120;

// One case: the model with what it excludes made impossible, and multipliers to begin with.
struct Case {
  FertilityHmm hmm;
  CellMatrix multipliers;
};

// How often the chain and the rows chose what, over the last steps of a descent.
class Choices {
 public:
  Choices(const FertilityHmm& hmm)
      : width_(hmm.num_sources + 1), most_(std::min(hmm.max_fertility, hmm.num_targets)),
        counts_(width_ * (most_ + 2), 0.0), cells_(hmm.num_targets * width_, 0.0) {}

  void add(const Links& links, const std::vector<std::uint8_t>& chosen) {
    std::vector<std::uint32_t> by_chain(width_, 0), by_rows(width_, 0);
    for (std::size_t j = 0; j < links.size(); ++j) {
      ++by_chain[links[j]];
      cells_[j * width_ + links[j]] += 1.0;
      for (std::size_t i = 1; i < width_; ++i) by_rows[i] += chosen[j * width_ + i];
    }
    for (std::size_t i = 1; i < width_; ++i) {
      counts_[i * (most_ + 2) + std::min<std::size_t>(by_chain[i], most_ + 1)] += 0.5;
      counts_[i * (most_ + 2) + by_rows[i]] += 0.5;
    }
    total_ += 1.0;
  }

  // The case that parts them most evenly.
  ProofTree::Node split() const {
    ProofTree::Node best{ProofTree::Kind::COUNT};
    double best_share = 0.0;
    for (std::size_t i = 1; i < width_; ++i) {
      double below = 0.0;
      for (std::size_t c = 0; c < most_; ++c) {
        below += counts_[i * (most_ + 2) + c];
        const double share = std::min(below, total_ - below);
        if (share > best_share) {
          best_share = share;
          best.word = static_cast<std::uint32_t>(i);
          best.value = static_cast<std::uint32_t>(c);
        }
      }
    }
    if (best_share >= 0.1 * total_) return best;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      const double share = std::min(cells_[cell], total_ - cells_[cell]);
      if (share <= best_share) continue;
      best_share = share;
      best = {ProofTree::Kind::LINK, static_cast<std::uint32_t>(cell / width_),
              static_cast<std::uint32_t>(cell % width_)};
    }
    return best;
  }
  bool is_mixed() const { return total_ > 0.0; }

 private:
  std::size_t width_, most_;
  std::vector<double> counts_, cells_;
  double total_ = 0.0;
};

class Prover {
 public:
  Prover(const FertilityHmm& hmm, double target, const Deadline& deadline)
      : pace_(deadline), max_nodes_(deadline.budget().states), target_(target), size_(hmm.emission.values.size()) {}

  ProofTree run(const FertilityHmm& hmm) {
    tree_.is_complete = prove({hmm, CellMatrix(hmm.num_targets, hmm.num_sources, 0.0)}, ROOT_ITERATIONS);
    return std::move(tree_);
  }

 private:
  // Adds the nodes of one case; returns whether it is proved.
  bool prove(Case now, std::size_t iterations) {
    if (tree_.nodes.size() >= max_nodes_) return false;
    const std::size_t place = tree_.nodes.size();
    tree_.nodes.push_back({ProofTree::Kind::LEAF});
    ProofTree::Node split{};
    if (descend(now, iterations, split)) {
      tree_.nodes[place].leaf = static_cast<std::uint32_t>(tree_.multipliers.size());
      tree_.multipliers.push_back(std::move(now.multipliers));
      return true;
    }
    if (pace_.is_over(0) || split.kind == ProofTree::Kind::LEAF) return false;
    tree_.nodes[place] = split;
    return prove(restricted(now, split, true), ITERATIONS) && prove(restricted(now, split, false), ITERATIONS);
  }

  // Lowers the bound to the target (true), or finds how to go on.
  bool descend(Case& now, std::size_t iterations, ProofTree::Node& split) {
    FertilityBound bound(now.hmm, pace_);
    CellMatrix multipliers = now.multipliers;
    std::vector<double> direction(size_, 0.0);
    std::vector<std::uint8_t> chosen(size_);
    Links links;
    Choices choices(now.hmm);
    double lowest = -LOG_ZERO, scale = 1.0;
    int stalled = 0;
    for (std::size_t k = 0; k < iterations; ++k, ++tree_.iterations) {
      const double value = bound.bound_at(multipliers, links, chosen);
      if (value == -LOG_ZERO) return false;
      if (value < lowest - 1e-7) stalled = 0; else if (++stalled >= PATIENCE) scale *= 0.7, stalled = 0;
      if (value < lowest) lowest = value, now.multipliers = multipliers;
      if (value <= target_) return true;
      if (2 * k >= iterations) choices.add(links, chosen);
      double squared_norm = 0.0;
      const std::size_t width = now.hmm.num_sources + 1;
      for (std::size_t j = 0; j < links.size(); ++j) {
        for (std::size_t i = 1; i < width; ++i) {
          const std::size_t cell = j * width + i;
          direction[cell] = (links[j] == i ? 1.0 : 0.0) - chosen[cell] + MOMENTUM * direction[cell];
          squared_norm += direction[cell] * direction[cell];
        }
      }
      if (squared_norm == 0.0) break;
      const double step = scale * (value - target_) / squared_norm;
      for (std::size_t cell = 0; cell < size_; ++cell) multipliers.values[cell] -= step * direction[cell];
    }
    if (!choices.is_mixed()) choices.add(links, chosen);
    split = choices.split();
    return false;
  }

  static Case restricted(const Case& now, const ProofTree::Node& split, bool holds) {
    Case result = now;
    const std::size_t width = now.hmm.num_sources + 1;
    if (split.kind == ProofTree::Kind::COUNT) {
      double* const fertility = result.hmm.fertility.data() + split.word * (now.hmm.max_fertility + 1);
      for (std::size_t c = 0; c <= now.hmm.max_fertility; ++c) {
        if ((c <= split.value) != holds) fertility[c] = LOG_ZERO;
      }
      return result;
    }
    for (std::size_t i = 0; i < width; ++i) {
      if ((i == split.value) != holds) result.hmm.emission[split.word][i] = LOG_ZERO;
    }
    return result;
  }

  Pace pace_;
  std::uint64_t max_nodes_;
  double target_;
  std::size_t size_;
  ProofTree tree_;
};

}  // namespace

ProofTree prove_optimal(const FertilityHmm& hmm, const Links& links, double slack, const Deadline& deadline) {
  return Prover(hmm, log_weight(hmm, links) + slack, deadline).run(hmm);
}

}  // namespace hiddenite::align
