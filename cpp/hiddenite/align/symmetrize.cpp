#include "hiddenite/align/symmetrize.hpp"

#include <algorithm>

namespace hiddenite::align {

namespace {

class Grid {
 public:
  Grid(const LinkPairs& forward, const LinkPairs& reverse) : forward_(forward), reverse_(reverse) {
    for (const LinkPairs* links : {&forward, &reverse}) {
      for (const auto& [i, j] : *links) {
        height_ = std::max<std::size_t>(height_, i + 1u);
        width_ = std::max<std::size_t>(width_, j + 1u);
      }
    }
    votes_.assign(height_ * width_, 0);
    is_linked_.assign(height_ * width_, false);
    source_linked_.assign(height_, false);
    target_linked_.assign(width_, false);
    for (const auto& [i, j] : forward) votes_[i * width_ + j] |= 1;
    for (const auto& [i, j] : reverse) votes_[i * width_ + j] |= 2;
  }

  void take_all(bool both) {
    for (std::size_t i = 0; i < height_; ++i) {
      for (std::size_t j = 0; j < width_; ++j) {
        if (both ? votes_[i * width_ + j] == 3 : votes_[i * width_ + j] > 0) take(i, j);
      }
    }
  }

  void grow() {
    static constexpr std::pair<int, int> neighbours[] = {{-1, 0}, {0, -1}, {1, 0},  {0, 1},
                                                         {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
    for (bool added = true; added;) {
      added = false;
      for (std::size_t i = 0; i < height_; ++i) {
        for (std::size_t j = 0; j < width_; ++j) {
          if (!is_linked_[i * width_ + j]) continue;
          for (const auto& [di, dj] : neighbours) {
            const std::size_t ni = i + static_cast<std::size_t>(di), nj = j + static_cast<std::size_t>(dj);
            if (ni >= height_ || nj >= width_ || votes_[ni * width_ + nj] == 0) continue;
            if (is_linked_[ni * width_ + nj] || (source_linked_[ni] && target_linked_[nj])) continue;
            take(ni, nj);
            added = true;
          }
        }
      }
    }
  }

  void finish(bool both_free) {
    for (const LinkPairs* links : {&forward_, &reverse_}) {
      LinkPairs ordered = *links;
      std::sort(ordered.begin(), ordered.end());
      for (const auto& [i, j] : ordered) {
        const int num_free = !source_linked_[i] + !target_linked_[j];
        if (num_free >= (both_free ? 2 : 1)) take(i, j);
      }
    }
  }

  LinkPairs links() const {
    LinkPairs result;
    for (std::size_t i = 0; i < height_; ++i) {
      for (std::size_t j = 0; j < width_; ++j) {
        if (is_linked_[i * width_ + j]) result.emplace_back(i, j);
      }
    }
    return result;
  }

 private:
  void take(std::size_t i, std::size_t j) {
    is_linked_[i * width_ + j] = true;
    source_linked_[i] = target_linked_[j] = true;
  }

  const LinkPairs &forward_, &reverse_;
  std::size_t height_ = 0, width_ = 0;
  std::vector<std::uint8_t> votes_;
  std::vector<bool> is_linked_, source_linked_, target_linked_;
};

}  // namespace

LinkPairs symmetrize(const LinkPairs& forward, const LinkPairs& reverse, Symmetrization method) {
  Grid grid(forward, reverse);
  grid.take_all(method != Symmetrization::UNION);
  if (method >= Symmetrization::GROW_DIAG) grid.grow();
  if (method == Symmetrization::GROW_DIAG_FINAL) grid.finish(false);
  if (method == Symmetrization::GROW_DIAG_FINAL_AND) grid.finish(true);
  return grid.links();
}

}  // namespace hiddenite::align
