#include "induction_lexicon.hpp"

#include <cmath>

namespace hiddenite {

TagLexicon::TagLexicon(std::size_t num_types, unsigned num_tags, LexiconKind kind, double geometric)
    : num_tags_(num_tags), kind_(kind), log_base_(num_tags + 1), base_(num_tags + 1), classes_(num_types),
      heads_(num_types), types_with_(num_tags) {
  const unsigned least = kind == LexiconKind::SINGLETONS ? 2 : 1;
  double norm = 0.0;
  for (unsigned n = least; n <= num_tags; ++n) norm += std::pow(1.0 - geometric, n - 1);
  for (unsigned n = 1; n <= num_tags; ++n) {
    const double log_sets = std::lgamma(num_tags + 1.0) - std::lgamma(n + 1.0) - std::lgamma(num_tags - n + 1.0);
    const double log_size = (n - 1) * std::log1p(-geometric) - std::log(norm);
    log_base_[n] = n < least ? -std::log(num_tags) : log_size - log_sets;
    base_[n] = std::exp(log_base_[n]);
  }
}

double TagLexicon::probability(const TagSet& set) const {
  const unsigned size = set.size();
  double factor = 1.0;
  if (kind_ == LexiconKind::SINGLETONS) {
    const auto n = static_cast<double>(singletons_ + others_ + 2);
    if (size == 1) return static_cast<double>(singletons_ + 1) / n * base_[1];
    factor = static_cast<double>(others_ + 1) / n;
  }
  const auto found = counts_.find(set);
  const double seen = found == counts_.end()
                          ? 0.0
                          : found->second.customers - process_.discount * found->second.tables;
  const double fresh = (process_.strength + process_.discount * total_.tables) * base_[size];
  return factor * (seen + fresh) / (process_.strength + total_.customers);
}

void TagLexicon::enter(std::uint32_t word, const TagSet& set, Random& random) {
  classes_[word] = set;
  set.for_each([&](Tag t) { ++types_with_[t]; });
  ++(set.size() == 1 ? singletons_ : others_);
  if (outside(set)) return;
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
  --(set.size() == 1 ? singletons_ : others_);
  if (outside(set)) return;
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
  if (kind_ == LexiconKind::SINGLETONS) {  // and the Beta(1, 1) share: s! o! / (s + o + 1)!
    const auto s = static_cast<double>(singletons_), o = static_cast<double>(others_);
    sum += s * log_base_[1] + std::lgamma(s + 1) + std::lgamma(o + 1) - std::lgamma(s + o + 2);
  }
  return sum;
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
  singletons_ = others_ = 0;
  std::fill(types_with_.begin(), types_with_.end(), 0);
  for (const TagSet& set : classes_) {
    set.for_each([&](Tag t) { ++types_with_[t]; });
    ++(set.size() == 1 ? singletons_ : others_);
  }
  for (const Row& row : rows) change(row.set, row.seats.customers, row.seats.tables);
}

}  // namespace hiddenite
