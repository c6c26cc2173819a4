// Log-linear emissions: the weight of a tag at a position, given the whole
// observed sentence,
//
//   s(t) = kappa ln p(t | w) + sum of weight[f][t] over the features f there,
//
// with p(t | w) from counts and guesser (tag_channel.hpp) and the features of
// context_features.hpp. The words are observed, so however far s looks, it is a
// number for each tag and position: to the engine a channel like any other, and
// answers stay exact.
//
// The model of tags has its own weight, lambda, which is in its table already;
// the channel adds s(t) - mu ln p(symbol). context_training.hpp finds the weights.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hiddenite/channel/context/context_features.hpp"
#include "hiddenite/channel/context/tag_parts.hpp"

namespace hiddenite::channel {

// Rows of (part, weight), a row for each feature; without parts a tag is its own: tag_parts.hpp.
struct ContextWeights {
  std::vector<std::uint64_t> keys;   // [row]: the feature's hash
  std::vector<std::uint64_t> begin;  // row i has begin[i] .. begin[i + 1]
  std::vector<std::uint32_t> parts;
  std::vector<float> weights;
};

// Numbers of keys: a hash table with linear probing.
class KeyTable {
 public:
  static constexpr std::uint32_t NONE = 0xFFFFFFFF;
  explicit KeyTable(std::size_t expected = 0);
  // The number of a key; a new one has the next number.
  std::uint32_t add(std::uint64_t key);
  std::uint32_t find(std::uint64_t key) const;
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t number = NONE;
  };
  std::size_t place(std::uint64_t key) const;
  void grow();
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

class ContextEmissions {
 public:
  // The attributes, or null, stay the caller's. Throws ModelError for what does not fit together.
  ContextEmissions(TagParts parts, ContextWeights weights, double base_weight, double prior_weight,
                   const WordAttributes* attributes = nullptr);

  // Adds to the scores of all parts what a word contributes in a role.
  void add(std::string_view word, Role role, std::span<float> scores) const;

  const TagParts& parts() const { return parts_; }
  double base_weight() const { return base_weight_; }    // kappa
  double prior_weight() const { return prior_weight_; }  // mu
  const ContextWeights& weights() const { return weights_; }

 private:
  TagParts parts_;
  ContextWeights weights_;
  double base_weight_, prior_weight_;
  const WordAttributes* attributes_;
  KeyTable rows_;
};

}  // namespace hiddenite::channel
