// The lexicon: which tags a word type may have.
//
// Each type has an ambiguity class, a non-empty set of tags, drawn from a
// Pitman–Yor process over sets (Dubbin & Blunsom 2014, section 3.2). Its base G draws
// a size n <= K with probability proportional to g (1 - g)^(n - 1), then a set of that
// size, all alike.
//   PUBLISHED   as in the paper; without spelling a tag's emission base is uniform
//               over the e_t types that have it in their class
//   SINGLETONS  the sizes' share of classes of one tag is taken out of the process: these are
//               drawn with that probability, uniformly; the process is over larger sets
//   HEADS       classes as published; a type is spelled once, by its head, a uniformly drawn
//               tag of its class; the emission base is 1 / e_t
#pragma once

#include <array>
#include <bit>
#include <map>
#include <unordered_map>

#include "hiddenite/induce/transitions.hpp"

namespace hiddenite::induce {

class TagSet {
 public:
  static constexpr unsigned CAPACITY = 256;

  bool has(Tag t) const { return words_[t / 64] >> (t % 64) & 1; }
  void flip(Tag t) { words_[t / 64] ^= std::uint64_t{1} << (t % 64); }
  unsigned size() const {
    unsigned n = 0;
    for (const std::uint64_t word : words_) n += static_cast<unsigned>(std::popcount(word));
    return n;
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (unsigned i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
        visit(static_cast<Tag>(64 * i + static_cast<unsigned>(std::countr_zero(left))));
      }
    }
  }
  bool operator==(const TagSet&) const = default;
  std::size_t hash() const {
    std::uint64_t h = 0;
    for (const std::uint64_t word : words_) h = splitmix64(h ^ word);
    return h;
  }

 private:
  std::array<std::uint64_t, CAPACITY / 64> words_{};
};

inline TagSet singleton(Tag t) {
  TagSet set;
  set.flip(t);
  return set;
}

enum class LexiconKind { NONE, PUBLISHED, SINGLETONS, HEADS };

class TagLexicon {
 public:
  TagLexicon(std::size_t num_types, unsigned num_tags, LexiconKind kind, double geometric);

  LexiconKind kind() const { return kind_; }
  const TagSet& of(std::uint32_t word) const { return classes_[word]; }
  std::int64_t num_types_with(Tag t) const { return types_with_[t]; }  // e_t

  // p(class | those of the other types); the word at hand must have none.
  double probability(const TagSet& set) const;
  void enter(std::uint32_t word, const TagSet& set, Random& random);
  void leave(std::uint32_t word, Random& random);

  Tag head(std::uint32_t word) const { return heads_[word]; }
  void set_head(std::uint32_t word, Tag tag) { heads_[word] = tag; }

  PitmanYor& process() { return process_; }
  SeatingSummary summary() const;
  double log_base() const;  // ln of the base of all tables, and of the singletons outside the process
  struct Row {
    TagSet set;
    Seats seats;
  };
  std::vector<Row> rows() const;  // in the order of their first word
  void restore(std::uint32_t word, const TagSet& set) { classes_[word] = set; }
  void restore_counts(const std::vector<Row>& rows);

 private:
  struct Hash {
    std::size_t operator()(const TagSet& set) const { return set.hash(); }
  };
  bool outside(const TagSet& set) const { return kind_ == LexiconKind::SINGLETONS && set.size() == 1; }
  void change(const TagSet& set, int customers, int tables);

  unsigned num_tags_;
  LexiconKind kind_;
  PitmanYor process_{0.5, 1.0};
  std::vector<double> log_base_, base_;  // of a set, by its size
  double log_inside_ = 0.0, inside_ = 1.0;  // the probability that a class comes from the process
  std::vector<TagSet> classes_;
  std::vector<Tag> heads_;
  std::vector<std::int64_t> types_with_;
  std::unordered_map<TagSet, Seats, Hash> counts_;
  Seats total_;
  std::int64_t num_outside_ = 0;  // types with a class outside the process
};

}  // namespace hiddenite::induce
