// Which words a tag emits: E_t ~ PYP(a, b, base_t), one restaurant per tag.
//
// Counts lie word by word, a row over the tags, so that all tags of a token are
// scored in one pass. What the base is (uniform, by lexicon, spelled) is the
// caller's business.
#pragma once

#include <span>

#include "hiddenite/induce/transitions.hpp"

namespace hiddenite::induce {

class TagEmissions {
 public:
  TagEmissions(std::size_t num_types, unsigned num_tags)
      : num_tags_(num_tags), seats_(num_types * num_tags), totals_(num_tags), share_(num_tags), rest_(num_tags) {
    set_process(0.5, 1.0);
  }

  Seats seats(std::uint32_t word, Tag tag) const { return seats_[std::size_t{word} * num_tags_ + tag]; }
  const Seats* row(std::uint32_t word) const { return seats_.data() + std::size_t{word} * num_tags_; }
  Seats total(Tag tag) const { return totals_[tag]; }
  double discount() const { return process_.discount; }
  const double* share() const { return share_.data(); }  // 1 / (b + C), by tag
  const double* rest() const { return rest_.data(); }    // (b + a T) / (b + C)

  // The part of p(word | tag) that is sitting down at a table of the word.
  double joined(std::uint32_t word, Tag tag) const {
    const Seats s = seats(word, tag);
    return (s.customers - process_.discount * s.tables) * share_[tag];
  }
  // The probability that the last customer of the word opened a table.
  double opened(std::uint32_t word, Tag tag) {
    const Seats s = seats(word, tag);
    return process_.stirling.opened(s.customers, s.tables);
  }

  void change(std::uint32_t word, Tag tag, int customers, int tables) {
    Seats& dish = seats_[std::size_t{word} * num_tags_ + tag];
    dish.customers += customers;
    dish.tables += tables;
    totals_[tag].customers += customers;
    totals_[tag].tables += tables;
    write(tag);
  }

  // About the probability that a new word is emitted `count` times, over its base: one table in each tag.
  void score_like(std::uint32_t count, TagScores& scores) const {
    scores.multiply(rest_);
    double factors[TagScores::MAX_WIDTH];
    for (std::uint32_t i = 1; i < count; ++i) {
      const double sits = i - process_.discount, more = process_.strength + i;
      for (unsigned t = 0; t < num_tags_; ++t) factors[t] = sits / (more + totals_[t].customers);
      scores.multiply({factors, num_tags_});
    }
  }

  PitmanYor& process() { return process_; }
  void set_process(double discount, double strength) {
    process_.set(discount, strength);
    for (unsigned t = 0; t < num_tags_; ++t) write(t);
  }
  SeatingSummary summary() const {
    SeatingSummary summary;
    for (const Seats& s : totals_) summary.add_restaurant(s);
    for (const Seats& s : seats_) summary.add_dish(s);
    return summary;
  }
  const std::vector<Seats>& counts() const { return seats_; }  // [word * num_tags + tag]
  void restore(std::span<const Seats> counts) {
    std::copy(counts.begin(), counts.end(), seats_.begin());
    std::fill(totals_.begin(), totals_.end(), Seats{});
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      totals_[i % num_tags_].customers += seats_[i].customers;
      totals_[i % num_tags_].tables += seats_[i].tables;
    }
    set_process(process_.discount, process_.strength);
  }

 private:
  void write(unsigned tag) {
    share_[tag] = 1.0 / (process_.strength + totals_[tag].customers);
    rest_[tag] = (process_.strength + process_.discount * totals_[tag].tables) * share_[tag];
  }

  unsigned num_tags_;
  PitmanYor process_;
  std::vector<Seats> seats_, totals_;
  std::vector<double> share_, rest_;
};

}  // namespace hiddenite::induce
