#include "hiddenite/lattice/path_shares.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::lattice {

PathShares::PathShares(const Composition& composition, const std::vector<std::uint32_t>& label, double least_share) {
  const std::vector<double>& after = composition.sum_after();
  constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();
  std::vector<double> share(composition.num_states(), 0.0);
  std::vector<std::uint32_t> number(composition.num_states(), unseen);
  share[0] = 1.0;
  number[0] = 0;
  for (std::uint32_t s = 0; s < composition.num_states(); ++s) {
    if (number[s] == unseen) continue;
    begin_.push_back(arcs_.size());
    ending_.push_back(std::exp(composition.log_final(s) - after[s]));
    for (const GraphArc& arc : composition.arcs(s)) {
      if (after[arc.to] == LOG_ZERO) continue;
      const double prob = std::exp(arc.log_weight + after[arc.to] - after[s]);
      if (prob == 0.0) continue;
      if (share[s] * prob < least_share) {
        left_out_ += share[s] * prob;
        continue;
      }
      share[arc.to] += share[s] * prob;
      number[arc.to] = 0;  // seen
      arcs_.push_back({arc.to, label[arc.edge], prob});
    }
    number[s] = static_cast<std::uint32_t>(begin_.size()) - 1;
  }
  begin_.push_back(arcs_.size());
  for (Arc& arc : arcs_) arc.to = number[arc.to];
}

std::vector<double> PathShares::counts(std::uint32_t word) const {
  std::vector<std::vector<double>> rows(ending_.size());  // [state][count]: shares
  std::vector<double> result;
  rows[0] = {1.0};
  const auto add = [](std::vector<double>& to, const std::vector<double>& from, std::size_t more, double prob) {
    if (to.size() < from.size() + more) to.resize(from.size() + more, 0.0);
    for (std::size_t n = 0; n < from.size(); ++n) to[n + more] += from[n] * prob;
  };
  WorkMeter meter;
  for (std::size_t s = 0; s < ending_.size(); ++s) {
    const std::vector<double> own = std::move(rows[s]);
    if (own.empty()) continue;
    if (ending_[s] > 0.0) add(result, own, 0, ending_[s]);
    for (const Arc& arc : arcs(s)) add(rows[arc.to], own, arc.label == word, arc.prob);
    meter.add(4 * (1 + arcs(s).size()));
  }
  return result;
}

// A state's shares: first y not yet seen, by x before; then by x before and after; y twice is dropped.
std::vector<double> PathShares::around(std::uint32_t x, std::uint32_t y, std::size_t size) const {
  const std::size_t width = size + size * size, last = size - 1;
  std::vector<std::vector<double>> rows(ending_.size());
  std::vector<double> result(size * size, 0.0);
  rows[0].assign(width, 0.0);
  rows[0][0] = 1.0;
  WorkMeter meter;
  for (std::size_t s = 0; s < ending_.size(); ++s) {
    const std::vector<double> own = std::move(rows[s]);
    if (own.empty()) continue;
    for (std::size_t c = 0; c < size * size; ++c) result[c] += ending_[s] * own[size + c];
    for (const Arc& arc : arcs(s)) {
      std::vector<double>& row = rows[arc.to];
      if (row.empty()) row.assign(width, 0.0);
      for (std::size_t c = 0; c < width; ++c) {
        if (own[c] == 0.0) continue;
        const bool is_after = c >= size;
        const std::size_t i = is_after ? (c - size) / size : c, j = is_after ? (c - size) % size : 0;
        std::size_t to = c;
        if (arc.label == y) {
          if (is_after) continue;
          to = size + i * size;
        } else if (arc.label == x) {
          to = is_after ? size + i * size + std::min(j + 1, last) : std::min(i + 1, last);
        }
        row[to] += own[c] * arc.prob;
      }
    }
    meter.add(16 * (1 + arcs(s).size()));
  }
  return result;
}

PathShares::Errors PathShares::errors(const Labels& sequence, double least_share, double enough,
                                      std::uint64_t max_rows) const {
  struct Mass {
    ErrorColumn column;
    double share, words;  // words: the share times the words of its paths so far, on the mean
  };
  const std::uint64_t all = sequence.empty() ? 0 : ~std::uint64_t{0} >> (64 - sequence.size());
  std::unordered_map<std::uint32_t, std::uint64_t> equal;  // [label]
  for (std::size_t i = 0; i < sequence.size(); ++i) equal[sequence[i]] |= std::uint64_t{1} << i;
  std::vector<std::vector<Mass>> masses(ending_.size());
  masses[0].push_back({{all, 0}, 1.0, 0.0});
  Errors result{0.0, left_out_, 0};
  WorkMeter meter;
  for (std::size_t s = 0; s < ending_.size(); ++s) {
    if (result.sum >= enough || result.rows > max_rows) return {result.sum, 1.0, result.rows};
    std::vector<Mass> own = std::move(masses[s]);
    masses[s] = {};
    std::sort(own.begin(), own.end(), [](const Mass& a, const Mass& b) { return a.column < b.column; });
    std::size_t size = 0;
    for (const Mass& mass : own) {
      if (size > 0 && own[size - 1].column == mass.column) {
        own[size - 1].share += mass.share;
        own[size - 1].words += mass.words;
      } else {
        own[size++] = mass;
      }
    }
    own.resize(size);
    for (const Mass& mass : own) {
      if (mass.share < least_share) {
        result.left_out += mass.share;
        continue;
      }
      const int more = std::popcount(mass.column.plus) - std::popcount(mass.column.minus);
      result.sum += ending_[s] * (mass.words + mass.share * more);
      for (const Arc& arc : arcs(s)) {
        const double share = mass.share * arc.prob, words = mass.words * arc.prob;
        if (arc.label == SILENT) {
          masses[arc.to].push_back({mass.column, share, words});
          continue;
        }
        const auto found = equal.find(arc.label);
        const std::uint64_t same = found == equal.end() ? 0 : found->second;
        masses[arc.to].push_back({after_word(mass.column, same, all), share, words + share});
      }
    }
    result.rows += size;
    meter.add(8 * size * (1 + arcs(s).size()));
  }
  return result;
}

}  // namespace hiddenite::lattice
