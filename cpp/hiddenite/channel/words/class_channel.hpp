// The channel of a class-based model: an n-gram model whose words are words and
// classes, and a list of what the classes stand for, in SRILM's format.
//
//   class [p] word word ...        one expansion a line; without p it is 1
//
// An observed word is itself, if the model lists it, or part of the expansion of
// a class, with weight ln p. An expansion of several words is an edge of a
// lattice. So the best path is the best sequence of words and classes, and the sum
// over all of them is the probability of the text under the class model.
//
// Classes that the model does not list are left out. A word that the model does
// not list and that is part of no expansion found in the text is unknown to the
// model; where expansions overlap so that no way leads through, all such words
// may be.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hiddenite/base/text.hpp"
#include "hiddenite/channel/channel.hpp"

namespace hiddenite::channel {

struct ClassExpansion {
  std::string name;
  std::vector<std::string> words;
  double log_prob = 0.0;
};

// Throws FormatError with file and line.
std::vector<ClassExpansion> read_classes(LineReader& lines);

class ClassChannel final : public Channel {
 public:
  // `table` must outlive this. Throws ModelError if the model lists none of the classes.
  ClassChannel(const NgramTable& table, const std::vector<ClassExpansion>& expansions);

 protected:
  Reading read_text(std::string_view line) const override;

 private:
  struct Expansion {
    std::vector<std::string> rest;  // the words after the first
    WordId id;                      // of the class
    double log_prob;
  };
  struct Edge {
    std::uint32_t to, from;
    WordId id;
    double log_weight;
  };

  using Words = std::vector<std::string_view>;
  std::vector<Edge> edges_of(const Words& words) const;
  // The expansions that begin with word `i`.
  void add_classes(const Words& words, std::size_t i, std::vector<Edge>& edges) const;

  const NgramTable& table_;
  std::unordered_map<std::string, std::vector<Expansion>> by_first_;
};

}  // namespace hiddenite::channel
