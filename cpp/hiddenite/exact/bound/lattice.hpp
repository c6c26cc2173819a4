// A lattice with all its edges: positions, states, and for each state one edge
// per word of its position. Viterbi, log Z and samples, by dynamic programs
// over everything there is.
//
// For those who need sums over all paths (sampling), or the paper's algorithm
// as it stands; who only needs the best path is served better by BestPaths.
//
// Sums are taken on doubles relative to each state's heaviest edge and to each
// position's largest value. What gets lost that way is below 1e-300 of a sum;
// where the sum itself is not far above that, it is taken on logarithms.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/base/types.hpp"

namespace hiddenite::exact {

class Lattice {
 public:
  // State 0 of position 0 is the start; all edges of the last position end the path.
  explicit Lattice(const std::vector<std::size_t>& num_words);

  // A new state: edges of weight zero to state 0 of the next position.
  std::uint32_t add_state(std::size_t position);
  std::uint32_t num_states(std::size_t position) const { return layers_[position].num_states; }
  std::uint64_t num_states() const { return num_states_; }
  std::uint64_t num_edges() const { return num_edges_; }
  std::size_t num_positions() const { return layers_.size(); }

  std::span<const double> log_weights(std::size_t position, std::uint32_t state) const;
  std::span<const std::uint32_t> targets(std::size_t position, std::uint32_t state) const;
  // For writing; the sums are computed anew.
  std::span<double> edit_log_weights(std::size_t position, std::uint32_t state);
  std::span<std::uint32_t> edit_targets(std::size_t position, std::uint32_t state);

  // The weight and one k per position of the heaviest path; empty: all have weight zero.
  double best(std::vector<std::uint32_t>& path);
  // ln of the sum of all paths' weights.
  double log_total();
  // A path with probability proportional to its weight, if any is positive.
  void draw(Random& random, std::vector<std::uint32_t>& path);

 private:
  struct StateSums {
    double log_value = LOG_ZERO;        // ln of the sum over all that can follow
    double log_heaviest = LOG_ZERO;     // edge
    bool has_linear = false;            // Layer::linear is up to date
    bool has_cumulative = false;
    bool needs_logs = false;            // the sum leaves the range of doubles
    std::vector<double> cumulative;     // for drawing: running sums over the words
  };
  struct Layer {
    std::size_t num_words = 0;
    std::uint32_t num_states = 0;
    std::vector<double> log_weight;     // num_words per state
    std::vector<std::uint32_t> target;
    std::vector<double> linear;         // exp(log_weight - log_heaviest)
    std::vector<StateSums> sums;
    double log_scale = LOG_ZERO;        // the largest log_value
    std::vector<double> scaled;         // exp(log_value - log_scale)
  };

  void sum_backward();
  void mark_stale(std::size_t position) { num_stale_ = std::max(num_stale_, position + 1); }
  void sum_state(std::size_t position, std::uint32_t state);
  double sum_on_logs(std::size_t position, std::uint32_t state, std::vector<double>* cumulative) const;
  void make_linear(Layer& layer, std::uint32_t state) const;
  void accumulate(std::size_t position, std::uint32_t state);
  std::size_t offset(const Layer& layer, std::uint32_t state) const { return layer.num_words * state; }

  std::vector<Layer> layers_;
  std::uint64_t num_states_ = 0, num_edges_ = 0;
  std::size_t num_stale_ = 0;  // the sums of so many first positions are to be taken anew
};

}  // namespace hiddenite::exact
