// The weights of all edges of a context at a position, as one row: for
// positions with few words, where a row is had sooner than an order.
//
//   row(s)[w] = ln p(w | s) + channel(w)      if s lists w,
//             = ln bow(s) + row(suf s)[w]     if not,
// and mf, mb for p, bow in this first step if the context is open. A suffix
// serves all contexts that end in it, so its row is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hiddenite/exact/bound/max_backoff.hpp"

namespace hiddenite::exact {

// The most words of a position.
std::size_t widest(std::span<const Layer> layers);

// Rows of one width that stay where they are. They come in blocks, so that more of them move none.
class RowPool {
 public:
  explicit RowPool(std::size_t width) : width_(width) {}
  // Its numbers are not set.
  double* add() {
    if (num_rows_ % ROWS_A_BLOCK == 0) {
      blocks_.push_back(std::make_unique_for_overwrite<double[]>(ROWS_A_BLOCK * width_));
    }
    return at(num_rows_++);
  }
  double* at(std::uint32_t row) const { return blocks_[row / ROWS_A_BLOCK].get() + row % ROWS_A_BLOCK * width_; }
  std::uint32_t size() const { return num_rows_; }

 private:
  static constexpr std::uint32_t ROWS_A_BLOCK = 32;

  std::size_t width_;
  std::uint32_t num_rows_ = 0;
  std::vector<std::unique_ptr<double[]>> blocks_;
};

class WeightRows {
 public:
  // The automaton must outlive this.
  explicit WeightRows(const ContextAutomaton& automaton);

  // A new row, for the caller to change: one weight per word of the position.
  double* make(std::size_t position, Context context);

 private:
  const double* exact_row(std::size_t position, NodeId node);
  void fill(std::size_t position, Context context, double* row);

  const ContextAutomaton& automaton_;
  FlatMap index_;  // (position, node): of the rows of closed contexts
  RowPool exact_, made_;
};

// The place of the largest number, the first of equals; the size if there is none.
std::uint32_t find_largest(std::span<const double> row);

}  // namespace hiddenite::exact
