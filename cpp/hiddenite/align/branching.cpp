#include "hiddenite/align/branching.hpp"

#include <algorithm>
#include <cmath>

namespace hiddenite::align {

namespace {

// Steps beyond Polyak's enter the region where the bound is the target, instead of nearing its border for ever.
constexpr double FIRST_SCALE = 1.5, CASE_MOMENTUM = 0.3;
constexpr int CASE_PATIENCE = 40;
constexpr std::size_t ROOT_ITERATIONS = 400, ITERATIONS = 120;
constexpr double LEAST_SHARE = 0.1;  // of a count that is worth telling apart

// One case: the model with what it excludes made impossible, and multipliers to begin with.
struct Case {
  FertilityHmm hmm;
  CellMatrix multipliers;
};

bool any_possible(const double* begin, const double* end) {
  return std::any_of(begin, end, [](double x) { return x > LOG_ZERO; });
}

// How often the chain and the rows chose what, over the last steps of a descent.
class Choices {
 public:
  explicit Choices(const FertilityHmm& hmm)
      : width_(hmm.num_sources + 1), most_(std::min(hmm.max_fertility, hmm.num_targets)),
        counts_(width_ * (most_ + 2), 0.0), cells_(hmm.num_targets * width_, 0.0) {}

  bool is_empty() const { return total_ == 0.0; }

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

  // The case that parts them most evenly, a count rather than a link; a leaf if nothing can be parted.
  ProofTree::Node split(const FertilityHmm& hmm) const {
    double share = 0.0;
    const ProofTree::Node count = split_count(hmm, share);
    if (share >= LEAST_SHARE * total_) return count;
    const ProofTree::Node link = split_link(hmm, share);
    return link.kind == ProofTree::Kind::LEAF ? count : link;
  }

 private:
  ProofTree::Node split_count(const FertilityHmm& hmm, double& best) const {
    ProofTree::Node result;
    for (std::size_t i = 1; i < width_; ++i) {
      const double* const fertility = hmm.fertilities(i);
      double below = 0.0;
      for (std::size_t c = 0; c < most_; ++c) {
        below += counts_[i * (most_ + 2) + c];
        const double share = std::min(below, total_ - below);
        if (share <= best || !any_possible(fertility, fertility + c + 1)) continue;
        if (!any_possible(fertility + c + 1, fertility + most_ + 1)) continue;
        best = share;
        result = {ProofTree::Kind::COUNT, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(c)};
      }
    }
    return result;
  }

  ProofTree::Node split_link(const FertilityHmm& hmm, double best) const {
    ProofTree::Node result;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      const double share = std::min(cells_[cell], total_ - cells_[cell]);
      if (share <= best || hmm.emission.values[cell] == LOG_ZERO) continue;
      best = share;
      result = {ProofTree::Kind::LINK, static_cast<std::uint32_t>(cell / width_ + 1),
                static_cast<std::uint32_t>(cell % width_)};
    }
    return result;
  }

  std::size_t width_, most_;
  std::vector<double> counts_, cells_;  // [i * (most_ + 2) + count], [j * width_ + i]
  double total_ = 0.0;
};

class Prover {
 public:
  Prover(const FertilityHmm& hmm, double target, const Deadline& deadline)
      : pace_(deadline), target_(target), size_(hmm.emission.values.size()) {}

  ProofTree run(const FertilityHmm& hmm) {
    const bool is_proved = prove({hmm, CellMatrix(hmm.num_targets, hmm.num_sources, 0.0)}, ROOT_ITERATIONS);
    return is_proved ? std::move(tree_) : ProofTree();
  }

 private:
  // Adds the nodes of one case; returns whether it is proved.
  bool prove(Case now, std::size_t iterations) {
    if (tree_.nodes.size() >= MAX_PROOF_NODES) return false;
    const std::size_t place = tree_.nodes.size();
    tree_.nodes.emplace_back();
    ProofTree::Node split;
    if (descend(now, iterations, split)) {
      round(now);
      tree_.multipliers.push_back(std::move(now.multipliers));
      return true;
    }
    if (split.kind == ProofTree::Kind::LEAF) return false;
    tree_.nodes[place] = split;
    return prove(restricted(now, split, true), ITERATIONS) && prove(restricted(now, split, false), ITERATIONS);
  }

  // Lowers the bound to the target (true), or finds how to part the case, if there is time.
  bool descend(Case& now, std::size_t iterations, ProofTree::Node& split) {
    FertilityBound bound(now.hmm, pace_);
    CellMatrix multipliers = now.multipliers;
    std::vector<double> direction(size_, 0.0);
    std::vector<std::uint8_t> chosen(size_);
    Links links;
    Choices choices(now.hmm);
    double lowest = -LOG_ZERO, scale = FIRST_SCALE;
    int stalled = 0;
    for (std::size_t k = 0; k < iterations; ++k) {
      const double value = bound.bound_at(multipliers, links, chosen);
      if (value == -LOG_ZERO) return false;
      if (value < lowest) {
        lowest = value, stalled = 0;
        now.multipliers = multipliers;
      } else if (++stalled >= CASE_PATIENCE) {
        scale *= 0.7, stalled = 0;
      }
      if (value <= target_) return true;
      if (2 * k >= iterations) choices.add(links, chosen);
      const double squared_norm = turn(now.hmm, links, chosen, direction);
      if (squared_norm == 0.0) break;
      const double step = scale * (value - target_) / squared_norm;
      for (std::size_t cell = 0; cell < size_; ++cell) multipliers.values[cell] -= step * direction[cell];
    }
    if (choices.is_empty()) choices.add(links, chosen);
    split = choices.split(now.hmm);
    return false;
  }

  // Towards what the chain chose and the rows did not; returns the square of the length.
  static double turn(const FertilityHmm& hmm, const Links& links, const std::vector<std::uint8_t>& chosen,
                     std::vector<double>& direction) {
    const std::size_t width = hmm.num_sources + 1;
    double squared_norm = 0.0;
    for (std::size_t j = 0; j < links.size(); ++j) {
      for (std::size_t i = 1; i < width; ++i) {
        double& d = direction[j * width + i];
        d = (links[j] == i ? 1.0 : 0.0) - chosen[j * width + i] + CASE_MOMENTUM * d;
        squared_norm += d * d;
      }
    }
    return squared_norm;
  }

  // To as few digits as the target allows.
  void round(Case& now) {
    FertilityBound bound(now.hmm, pace_);
    std::vector<std::uint8_t> chosen(size_);
    Links links;
    for (const double unit : {1e2, 1e3, 1e5, 1e7}) {
      CellMatrix rounded = now.multipliers;
      for (double& u : rounded.values) u = std::round(u * unit) / unit;
      if (bound.bound_at(rounded, links, chosen) <= target_) return now.multipliers.values.swap(rounded.values);
    }
  }

  static Case restricted(const Case& now, const ProofTree::Node& split, bool holds) {
    Case result = now;
    if (split.kind == ProofTree::Kind::COUNT) {
      double* const fertility = result.hmm.fertility.data() + split.word * (now.hmm.max_fertility + 1);
      for (std::size_t c = 0; c <= now.hmm.max_fertility; ++c) {
        if ((c <= split.value) != holds) fertility[c] = LOG_ZERO;
      }
      return result;
    }
    for (std::size_t i = 0; i <= now.hmm.num_sources; ++i) {
      if ((i == split.value) != holds) result.hmm.emission[split.word - 1][i] = LOG_ZERO;
    }
    return result;
  }

  Pace pace_;
  double target_;
  std::size_t size_;
  ProofTree tree_;
};

}  // namespace

ProofTree prove_optimal(const FertilityHmm& hmm, const Links& links, double slack, const Deadline& deadline) {
  return Prover(hmm, log_weight(hmm, links) + slack, deadline).run(hmm);
}

}  // namespace hiddenite::align
