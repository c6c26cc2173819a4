// Steps of a lexicalised model on all K^M places at once: the states that are left out are zeros.
//
// R(s' | s, w) is a product over chains, divided by n(s) = its sum over the kept states of x'. So n is the product
// matrix times a one for each kept state, and a step takes that many multiplications twice, once for n.
#include <algorithm>

#include "hiddenite/hmm/lexical/axes.hpp"
#include "hiddenite/hmm/lexical/model.hpp"

namespace hiddenite::hmm {

struct LexicalMove::Grid {
  std::vector<std::size_t> from_size, to_size;  // [m]
  std::vector<std::vector<double>> forward;     // [m][place * to_size + place']
  std::vector<std::vector<double>> backward;    // [m], transposed
  std::vector<double> sum;                      // [i]: n of the i-th state of x
  std::vector<std::size_t> from_cell, to_cell;  // [i]

  static std::size_t volume(const std::vector<std::size_t>& sizes) {
    std::size_t result = 1;
    for (const std::size_t size : sizes) result *= size;
    return result;
  }
  // All axes of x, in turn.
  static std::vector<double> apply(std::vector<double> x, const std::vector<std::size_t>& rows,
                                   const std::vector<std::vector<double>>& matrix,
                                   const std::vector<std::size_t>& columns) {
    std::vector<double> y;
    for (std::size_t m = 0; m < rows.size(); ++m) {
      const std::size_t rest = x.size() / rows[m];
      y.resize(rest * columns[m]);
      turn_axis(x.data(), rows[m], rest, matrix[m].data(), columns[m], y.data());
      x.swap(y);
    }
    return x;
  }
  std::vector<double> forward_through(std::vector<double> x) const {
    return apply(std::move(x), from_size, forward, to_size);
  }
  std::vector<double> backward_through(std::vector<double> x) const {
    return apply(std::move(x), to_size, backward, from_size);
  }
};

bool LexicalMove::grid_is_cheaper() const {
  double from = 1.0, to = 1.0, turns = 0.0;
  for (const Rows& rows : rows_) {
    from *= static_cast<double>(rows.sum.size());
    to *= static_cast<double>(rows.size);
  }
  // The axes change one after the other; the largest array on the way has at most this size.
  for (const Rows& rows : rows_) turns += static_cast<double>(std::min<std::size_t>(rows.sum.size(), rows.size));
  const double chains = static_cast<double>(rows_.size());
  return 2.0 * std::max(from, to) * turns < chains * static_cast<double>(from_size()) * to_size();
}

LexicalMove::Grid LexicalMove::open_grid() const {
  Grid grid;
  for (const Rows& rows : rows_) {
    const std::size_t places = rows.sum.size(), size = rows.size;
    grid.from_size.push_back(places);
    grid.to_size.push_back(size);
    grid.forward.emplace_back(places * size, 0.0);
    grid.backward.emplace_back(places * size, 0.0);
    for (std::size_t i = 0; i < places; ++i) {
      if (!(rows.sum[i] > 0.0)) continue;  // not of a kept state, or the chain cannot emit the word from it
      for (std::size_t j = 0; j < size; ++j) {
        const double share = rows.product[i * size + j] / rows.sum[i];
        grid.forward.back()[i * size + j] = grid.backward.back()[j * places + i] = share;
      }
    }
  }
  const auto cell = [&](ContextId x, std::uint32_t i, const std::vector<std::size_t>& sizes) {
    std::size_t result = 0;
    for (std::size_t m = 0; m < sizes.size(); ++m) result = result * sizes[m] + model_.place(x, i)[m];
    return result;
  };
  for (std::uint32_t i = 0; i < from_size(); ++i) grid.from_cell.push_back(cell(from_, i, grid.from_size));
  for (std::uint32_t j = 0; j < to_size(); ++j) grid.to_cell.push_back(cell(to_, j, grid.to_size));
  std::vector<double> kept(Grid::volume(grid.to_size), 0.0);
  for (const std::size_t c : grid.to_cell) kept[c] = 1.0;
  const std::vector<double> sums = grid.backward_through(std::move(kept));
  for (const std::size_t c : grid.from_cell) grid.sum.push_back(sums[c]);
  return grid;
}

void LexicalMove::forward_by_grid(const double* from, double* to) const {
  const Grid grid = open_grid();
  std::vector<double> x(Grid::volume(grid.from_size), 0.0);
  double anywhere = 0.0;  // of states that say nothing about the next one
  for (std::uint32_t i = 0; i < from_size(); ++i) {
    const double weight = from[i] * probability_[i];
    if (grid.sum[i] > 0.0) {
      x[grid.from_cell[i]] = weight / grid.sum[i];
    } else {
      anywhere += weight / to_size();
    }
  }
  const std::vector<double> y = grid.forward_through(std::move(x));
  for (std::uint32_t j = 0; j < to_size(); ++j) to[j] += y[grid.to_cell[j]] + anywhere;
}

void LexicalMove::backward_by_grid(double* from, const double* to) const {
  const Grid grid = open_grid();
  std::vector<double> y(Grid::volume(grid.to_size), 0.0);
  double anywhere = 0.0;
  for (std::uint32_t j = 0; j < to_size(); ++j) {
    y[grid.to_cell[j]] = to[j];
    anywhere += to[j] / to_size();
  }
  const std::vector<double> x = grid.backward_through(std::move(y));
  for (std::uint32_t i = 0; i < from_size(); ++i) {
    from[i] += probability_[i] * (grid.sum[i] > 0.0 ? x[grid.from_cell[i]] / grid.sum[i] : anywhere);
  }
}

}  // namespace hiddenite::hmm
