// What an observation leaves open: for each position the words that can stand
// there and the channel's log weight for each.
//
// The weight of a path x_1 .. x_L:
//   sum over i of [ ln p(x_i | <s> x_1 .. x_(i-1)) + log_weight(i, x_i) ]
//   + ln p(</s> | x_1 .. x_L)                                   if `ends`
//
// Slots need not stand in a row. They are the edges of an acyclic graph whose
// joints are numbered so that every slot leads upwards; a path goes from the
// first joint to the last and takes one word of each slot on its way. A sentence
// of fixed positions is the chain 0 - 1 - .. - L, and needs no numbers.
//
// Words outside the vocabulary are UNKNOWN to the model, but stay candidates of
// their own: a slot may hold several. All inference works on a slot's distinct
// words (Slot), whose weight is the best (max) or the total (sum) of the
// candidates that share it, and turns words into candidates at the end.
//
// Weights are measured from the best: that of the best candidate of a slot is 0,
// and `log_offset` is what every path lost by that. So weights of any size cost
// no digits: what an acoustic model gives a whole word, -1e4 or -1e8, leaves the
// differences between words as they are. In a graph the offset of a slot is that
// against the best way to the joint it leads to, so that again all paths
// lose the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hiddenite/base/types.hpp"
#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::channel {

// The words of one slot, distinct and in order of id; weights above the slot's own offset.
struct Slot {
  std::vector<WordId> word;
  std::vector<double> log_max;        // [k]: best channel weight among the candidates of word k
  std::vector<double> log_sum;        // [k]: ln of the sum of their weights
  std::vector<std::uint32_t> begin;   // [k]: its candidates are candidate[begin[k] .. begin[k + 1]],
  std::vector<std::uint32_t> candidate;  // best first; indices into the slot as given
  std::vector<double> log_weight;     // of `candidate`
  std::size_t size() const { return word.size(); }
  // The ids are consecutive: k = id - word[0].
  bool is_range() const { return word.back() - word.front() + 1 == word.size(); }
  // The place of w, or size().
  std::size_t find(WordId w) const;
};

// A position that offers nothing: no candidate, or none of positive weight.
class EmptySupport : public std::runtime_error {
 public:
  EmptySupport(std::size_t position, const std::string& message)
      : std::runtime_error(message), position(position) {}
  std::size_t position;  // 0-based; the number of positions stands for </s>
};

// The joints that a slot leads from and to.
struct Span {
  std::uint32_t from, to;
  bool operator==(const Span&) const = default;
};

struct Candidates {
  std::vector<Slot> slots;  // in ascending order of the joints they lead to
  std::vector<Span> spans;  // [slot], </s> included; empty: a chain
  bool ends = true;         // </s> follows
  double log_offset = 0.0;  // to be added to the weight of every path
  double magnitude = 0.0;   // no path's given weights add up to more than this in absolute value

  std::size_t length() const { return slots.size(); }
  bool is_chain() const { return spans.empty(); }
  // Slots, </s> being one more.
  std::size_t num_positions() const { return slots.size() + ends; }
  Span span(std::size_t position) const {
    return spans.empty() ? Span{static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position) + 1}
                         : spans[position];
  }
  std::size_t num_joints() const { return num_positions() == 0 ? 1 : std::size_t{span(num_positions() - 1).to} + 1; }
  // Whether the position is the first, or the last, of those that lead to its joint.
  bool is_first_into(std::size_t position) const {
    return spans.empty() || position == 0 || spans[position - 1].to != spans[position].to;
  }
  bool is_last_into(std::size_t position) const {
    return spans.empty() || position + 1 == spans.size() || spans[position + 1].to != spans[position].to;
  }

  // Slot i holds words[begin[i] .. begin[i + 1]] with their log weights. Words
  // below NUM_SPECIAL_WORDS may be UNKNOWN (any number of times) only. A weight
  // of -inf drops the candidate. Throws ModelError for NaN, +inf, <s>, </s>,
  // a word given twice or weights that add up beyond LARGEST_SUM, EmptySupport
  // for a slot with nothing left; of a graph, such a slot is one that no path takes. `spans`, if there are any, must
  // lead upwards and be in ascending order of `to`.
  static constexpr double LARGEST_SUM = 1e300;
  static Candidates from_csr(std::span<const std::uint64_t> begin, std::span<const WordId> words,
                             std::span<const double> log_weights, bool ends, std::span<const Span> spans = {});
};

// A path by its places in the slots' distinct words.
using WordPath = std::vector<std::uint32_t>;
// The slots that a path takes; empty: it is a path of a chain, which takes all.
using Route = std::vector<std::uint32_t>;
inline std::size_t slot_of_step(const Route& route, std::size_t step) { return route.empty() ? step : route[step]; }

// The weight of a path whose candidates are the best of their words, without the offset: the one routine that
// scores what a method has found, so that all methods report the same double for the same path.
double path_log_weight(const NgramTable& table, const Candidates& candidates,
                       std::span<const std::uint32_t> path, const Route& route = {});

}  // namespace hiddenite::channel
