#include "hiddenite/induce/lexicon.hpp"

#include <cmath>

#include "hiddenite/base/gamma.hpp"

namespace hiddenite::induce {

TagLexicon::TagLexicon(std::size_t num_types, unsigned num_tags, LexiconKind kind, double geometric)
    : num_tags_(num_tags), kind_(kind), log_base_(num_tags + 1), base_(num_tags + 1), classes_(num_types),
      heads_(num_types), types_with_(num_tags) {
  const auto log_size = [&](unsigned n) { return (n - 1) * std::log1p(-geometric); };
  double norm = 0.0;
  for (unsigned n = 1; n <= num_tags; ++n) norm += std::exp(log_size(n));
  if (kind == LexiconKind::SINGLETONS) {
    inside_ = (norm - 1.0) / norm;
    log_inside_ = std::log(inside_);
  }
  for (unsigned n = 1; n <= num_tags; ++n) {
    const double log_sets =
        base::log_gamma(num_tags + 1.0) - base::log_gamma(n + 1.0) - base::log_gamma(num_tags - n + 1.0);
    log_base_[n] = log_size(n) - std::log(norm) - log_sets - (n > 1 ? log_inside_ : 0.0);
    base_[n] = std::exp(log_base_[n]);
  }
}

double TagLexicon::probability(const TagSet& set) const {
  if (outside(set)) return base_[1];
  const auto found = counts_.find(set);
  const double seen = found == counts_.end()
                          ? 0.0
                          : found->second.customers - process_.discount * found->second.tables;
  const double fresh = (process_.strength + process_.discount * total_.tables) * base_[set.size()];
  return inside_ * (seen + fresh) / (process_.strength + total_.customers);
}

void TagLexicon::enter(std::uint32_t word, const TagSet& set, Random& random) {
  classes_[word] = set;
  set.for_each([&](Tag t) { ++types_with_[t]; });
  if (outside(set)) {
    ++num_outside_;
    return;
  }
  const auto found = counts_.find(set);
  const double seen = found == counts_.end()
                          ? 0.0
                          : found->second.customers - process_.discount * found->second.tables;
  const double fresh = (process_.strength + process_.discount * total_.tables) * base_[set.size()];
  change(set, 1, random.uniform() * (seen + fresh) >= seen ? 1 : 0);
}

void TagLexicon::leave(std::uint32_t word, Random& random) {
  const TagSet set = classes_[word];
  set.for_each([&](Tag t) { --types_with_[t]; });
  if (outside(set)) {
    --num_outside_;
    return;
  }
  const Seats seats = counts_.at(set);
  change(set, -1, random.uniform() < process_.stirling.opened(seats.customers, seats.tables) ? -1 : 0);
}

void TagLexicon::change(const TagSet& set, int customers, int tables) {
  Seats& seats = counts_[set];
  seats.customers += customers;
  seats.tables += tables;
  total_.customers += customers;
  total_.tables += tables;
  if (seats.customers == 0) counts_.erase(set);
}

SeatingSummary TagLexicon::summary() const {
  SeatingSummary summary;
  summary.add_restaurant(total_);
  for (const auto& [set, seats] : counts_) summary.add_dish(seats);
  return summary;
}

double TagLexicon::log_base() const {
  double sum = 0.0;
  for (const Row& row : rows()) sum += row.seats.tables * log_base_[row.set.size()];
  if (kind_ != LexiconKind::SINGLETONS) return sum;
  sum += static_cast<double>(num_outside_) * log_base_[1];
  return total_.customers > 0 ? sum + total_.customers * log_inside_ : sum;
}

std::vector<TagLexicon::Row> TagLexicon::rows() const {
  std::vector<Row> rows;
  std::unordered_map<TagSet, bool, Hash> seen;
  for (const TagSet& set : classes_) {
    const auto found = counts_.find(set);
    if (found != counts_.end() && seen.emplace(set, true).second) rows.push_back({set, found->second});
  }
  return rows;
}

void TagLexicon::restore_counts(const std::vector<Row>& rows) {
  counts_.clear();
  total_ = {};
  num_outside_ = 0;
  std::fill(types_with_.begin(), types_with_.end(), 0);
  for (const TagSet& set : classes_) {
    set.for_each([&](Tag t) { ++types_with_[t]; });
    if (outside(set)) ++num_outside_;
  }
  for (const Row& row : rows) change(row.set, row.seats.customers, row.seats.tables);
}

}  // namespace hiddenite::induce
