#include "hiddenite/hmm/cluster_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::hmm {

namespace {

constexpr std::size_t NOBODY = std::numeric_limits<std::size_t>::max();

// The classes that may merge now, in slots; the classes that wait take no part.
class Window {
 public:
  Window(const std::vector<std::uint32_t>& matrix, std::size_t width, std::size_t slots)
      : size_(slots), joint_(slots * slots, 0.0), summand_(slots * slots, 0.0), merged_(slots * slots, 0.0),
        left_(slots, 0.0), right_(slots, 0.0), node_(slots, NOBODY), members_(slots), matrix_(matrix), width_(width) {
    for (const std::uint32_t n : matrix) total_ += n;
    total_ = std::max(total_, 1.0);
  }

  std::size_t count() const { return count_; }
  std::size_t node(std::size_t slot) const { return node_[slot]; }

  // Class c, as a tree of its own.
  void enter(std::size_t c) {
    const auto slot = static_cast<std::size_t>(std::find(node_.begin(), node_.end(), NOBODY) - node_.begin());
    node_[slot] = c;
    members_[slot] = {c};
    ++count_;
    for (std::size_t d = 0; d < width_; ++d) {
      left_[slot] += matrix_[c * width_ + d] / total_;
      right_[slot] += matrix_[d * width_ + c] / total_;
    }
    for (std::size_t k = 0; k < size_; ++k) {
      for (const std::size_t d : members_[k]) {
        joint_[slot * size_ + k] += matrix_[c * width_ + d] / total_;
        if (k != slot) joint_[k * size_ + slot] += matrix_[d * width_ + c] / total_;
      }
    }
    for_pairs(slot, slot, [&](std::size_t i, std::size_t j) { merged_[i * size_ + j] += with(i, j, slot); });
    renew(slot);
  }

  // The two slots whose merger costs least, the lower first.
  std::pair<std::size_t, std::size_t> cheapest() const {
    std::vector<double> all(size_, 0.0);
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < size_; ++k) all[i] += summand(i, k) + (k == i ? 0.0 : summand(k, i));
    }
    double least = std::numeric_limits<double>::infinity();
    std::pair<std::size_t, std::size_t> best{NOBODY, NOBODY};
    for_pairs(NOBODY, NOBODY, [&](std::size_t i, std::size_t j) {
      const double loss = all[i] + all[j] - summand(i, j) - summand(j, i) - merged_[i * size_ + j];
      if (best.first == NOBODY || loss < least) {
        least = loss;
        best = {i, j};
      }
    });
    return best;
  }

  // Merges slot j into slot i as tree `node`.
  void merge(std::size_t i, std::size_t j, std::size_t node) {
    for_pairs(i, j, [&](std::size_t x, std::size_t y) { merged_[x * size_ + y] -= with(x, y, i) + with(x, y, j); });
    for (std::size_t k = 0; k < size_; ++k) joint_[i * size_ + k] += joint_[j * size_ + k];
    for (std::size_t k = 0; k < size_; ++k) joint_[k * size_ + i] += joint_[k * size_ + j];
    for (std::size_t k = 0; k < size_; ++k) {
      joint_[j * size_ + k] = joint_[k * size_ + j] = summand_[j * size_ + k] = summand_[k * size_ + j] = 0.0;
    }
    left_[i] += left_[j];
    right_[i] += right_[j];
    left_[j] = right_[j] = 0.0;
    node_[i] = node;
    node_[j] = NOBODY;
    members_[i].insert(members_[i].end(), members_[j].begin(), members_[j].end());
    members_[j].clear();
    --count_;
    for_pairs(i, i, [&](std::size_t x, std::size_t y) { merged_[x * size_ + y] += with(x, y, i); });
    renew(i);
  }

 private:
  static double q(double joint, double left, double right) {
    return joint > 0.0 ? joint * std::log(joint / (left * right)) : 0.0;
  }
  double p(std::size_t i, std::size_t j) const { return joint_[i * size_ + j]; }
  double summand(std::size_t i, std::size_t j) const { return summand_[i * size_ + j]; }
  // The summands of the merger of i and j with k.
  double with(std::size_t i, std::size_t j, std::size_t k) const {
    return q(p(i, k) + p(j, k), left_[i] + left_[j], right_[k]) + q(p(k, i) + p(k, j), left_[k], right_[i] + right_[j]);
  }

  // All pairs of slots in use that hold neither a nor b.
  template <class Work>
  void for_pairs(std::size_t a, std::size_t b, Work work) const {
    for (std::size_t i = 0; i < size_; ++i) {
      check_interrupt_at(i * 64);
      if (node_[i] == NOBODY || i == a || i == b) continue;
      for (std::size_t j = i + 1; j < size_; ++j) {
        if (node_[j] != NOBODY && j != a && j != b) work(i, j);
      }
    }
  }

  // Everything that slot i itself is part of.
  void renew(std::size_t i) {
    for (std::size_t k = 0; k < size_; ++k) {
      if (node_[k] == NOBODY) continue;
      summand_[i * size_ + k] = q(p(i, k), left_[i], right_[k]);
      summand_[k * size_ + i] = q(p(k, i), left_[k], right_[i]);
      if (k == i) continue;
      double sum = q(p(i, i) + p(i, k) + p(k, i) + p(k, k), left_[i] + left_[k], right_[i] + right_[k]);
      check_interrupt_at(k * 64);
      for (std::size_t other = 0; other < size_; ++other) {
        if (node_[other] != NOBODY && other != i && other != k) sum += with(i, k, other);
      }
      merged_[std::min(i, k) * size_ + std::max(i, k)] = sum;
    }
  }

  std::size_t size_, count_ = 0;
  double total_ = 0.0;
  std::vector<double> joint_, summand_;  // [slot, slot]: p(c, d), q(c, d)
  std::vector<double> merged_;           // [lower slot, higher slot]: m
  std::vector<double> left_, right_;     // [slot]
  std::vector<std::size_t> node_;        // [slot]: tree
  std::vector<std::vector<std::size_t>> members_;
  const std::vector<std::uint32_t>& matrix_;
  std::size_t width_;
};

}  // namespace

std::vector<std::string> cluster_paths(const std::vector<std::uint32_t>& matrix, std::size_t width,
                                       ClassId num_classes, std::size_t window) {
  if (num_classes == 0) return {};
  Window classes(matrix, width, std::min<std::size_t>(window, num_classes) + 1);
  struct Children {
    std::size_t zero, one;
  };
  std::vector<Children> inner;  // node num_classes + i
  std::size_t entered = 0;
  while (entered < num_classes && classes.count() < window) classes.enter(entered++);
  while (classes.count() > 1 || entered < num_classes) {
    if (entered < num_classes) classes.enter(entered++);
    const auto [i, j] = classes.cheapest();
    inner.push_back({classes.node(i), classes.node(j)});
    classes.merge(i, j, num_classes + inner.size() - 1);
  }
  std::vector<std::string> path(num_classes + inner.size());
  for (std::size_t i = inner.size(); i-- > 0;) {
    path[inner[i].zero] = path[num_classes + i] + '0';
    path[inner[i].one] = path[num_classes + i] + '1';
  }
  path.resize(num_classes);
  return path;
}

}  // namespace hiddenite::hmm
