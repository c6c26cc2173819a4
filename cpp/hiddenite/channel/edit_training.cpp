#include "hiddenite/channel/edit_training.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/types.hpp"

namespace hiddenite::channel {

namespace {

constexpr double LEAST_COUNT = 2e-3;  // smaller expected counts are noise of the prior, and many

// All alignments of one pair: the sums from the left and from the right, and what they say of each piece.
class PairSums {
 public:
  PairSums(const EditModel& model, const EditPair& pair) : model_(model), seen_(model.alphabet().letters(pair.seen)) {
    intended_ = model.alphabet().letters(pair.intended);
    intended_.push_back(Alphabet::END);
    rows_ = intended_.size() + 1;
    width_ = seen_.size() + 1;
    left_.assign(rows_ * width_, 0.0);
    right_.assign(rows_ * width_, 0.0);
  }

  // ln p_edit; nothing is added if that is zero.
  double add_to(std::unordered_map<std::uint64_t, double>& counts, double weight) {
    left_[0] = 1.0;
    for_each_piece([&](std::size_t from, std::size_t to, double prob, std::uint64_t) {
      left_[to] += left_[from] * prob;
    });
    right_.back() = 1.0;
    for_each_piece_backwards([&](std::size_t from, std::size_t to, double prob) { right_[from] += prob * right_[to]; });
    const double total = left_.back();
    if (!(total > 0.0)) return LOG_ZERO;
    for_each_piece([&](std::size_t from, std::size_t to, double prob, std::uint64_t key) {
      const double expected = weight * left_[from] * prob * right_[to] / total;
      if (expected > 0.0) counts[key] += expected;
    });
    return std::log(total);
  }

 private:
  // visit(from cell, to cell, probability, key) for the pieces that begin at (i, j).
  template <class Visit>
  void pieces_at(std::size_t i, std::size_t j, Visit visit) {
    const Letter left = i == 0 ? Alphabet::BEGIN : intended_[i - 1];
    for (std::size_t size = 1; size <= 2 && i + size < rows_; ++size) {
      const Letter b = size == 2 ? intended_[i + 1] : Alphabet::NOTHING;
      for (std::size_t k = 0; k <= 2 && j + k < width_; ++k) {
        const Edit edit{intended_[i], b, k >= 1 ? seen_[j] : Alphabet::NOTHING,
                        k == 2 ? seen_[j + 1] : Alphabet::NOTHING};
        const double prob = model_.prob(left, edit);
        if (prob > 0.0) visit(i * width_ + j, (i + size) * width_ + j + k, prob, EditModel::key(left, edit));
      }
    }
  }
  template <class Visit>
  void for_each_piece(Visit visit) {
    for (std::size_t i = 0; i + 1 < rows_; ++i) {
      for (std::size_t j = 0; j < width_; ++j) pieces_at(i, j, visit);
    }
  }
  template <class Visit>
  void for_each_piece_backwards(Visit visit) {
    for (std::size_t i = rows_ - 1; i-- > 0;) {
      for (std::size_t j = width_; j-- > 0;) {
        pieces_at(i, j, [&](std::size_t from, std::size_t to, double prob, std::uint64_t) { visit(from, to, prob); });
      }
    }
  }

  const EditModel& model_;
  Letters seen_, intended_;
  std::size_t rows_ = 0, width_ = 0;
  std::vector<double> left_, right_;
};

EditCounts sorted(const std::unordered_map<std::uint64_t, double>& counts, double least) {
  std::vector<std::pair<std::uint64_t, double>> rows;
  for (const auto& row : counts) {
    if (row.second >= least) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  EditCounts result;
  for (const auto& [key, count] : rows) {
    result.keys.push_back(key);
    result.counts.push_back(count);
  }
  return result;
}

}  // namespace

EditCounts expected_edits(const EditModel& model, const std::vector<EditPair>& pairs) {
  std::unordered_map<std::uint64_t, double> counts;
  double log_likelihood = 0.0;
  for (const EditPair& pair : pairs) {
    check_interrupt();
    const double log_prob = PairSums(model, pair).add_to(counts, pair.weight);
    log_likelihood += pair.weight * log_prob;
  }
  EditCounts result = sorted(counts, 0.0);
  result.log_likelihood = log_likelihood;
  return result;
}

EditCounts train_edits(const Alphabet& alphabet, SlipKind kind, const std::vector<EditPair>& pairs, int iterations,
                       const EditCounts& given) {
  EditCounts result = given;
  for (int i = 0; i < iterations; ++i) {
    const EditModel model(alphabet, kind, result.keys, result.counts);
    const EditCounts expected = expected_edits(model, pairs);
    std::unordered_map<std::uint64_t, double> counts;
    for (std::size_t k = 0; k < expected.keys.size(); ++k) counts[expected.keys[k]] += expected.counts[k];
    for (std::size_t k = 0; k < given.keys.size(); ++k) counts[given.keys[k]] += given.counts[k];
    result = sorted(counts, LEAST_COUNT);
    result.log_likelihood = expected.log_likelihood;
  }
  return result;
}

}  // namespace hiddenite::channel
