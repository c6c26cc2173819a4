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
#include "hiddenite/channel/context/key_table.hpp"
#include "hiddenite/channel/context/tag_parts.hpp"

namespace hiddenite::channel {

// Rows of (part, weight), a row for each feature; without parts a tag is its own: tag_parts.hpp.
struct ContextWeights {
  std::vector<std::uint64_t> keys;   // [row]: the feature's hash
  std::vector<std::uint64_t> begin;  // row i has begin[i] .. begin[i + 1]
  std::vector<std::uint32_t> parts;
  std::vector<float> weights;
};

class ContextEmissions {
 public:
  // The attributes, or null, stay the caller's. Throws ModelError for what does not fit together.
  ContextEmissions(TagParts parts, ContextWeights weights, double base_weight, double prior_weight,
                   const WordAttributes* attributes = nullptr);

  // What one look at a word needs; used again for the next one.
  struct Scratch {
    ContextWord word;
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> rows;
    std::vector<std::size_t> end;  // [role]: of its keys
  };

  // Adds what a word contributes in some roles: scores[k] of all parts, num_parts() apart, gets that of roles[k].
  void add(std::string_view word, std::span<const Role> roles, std::span<float> scores, Scratch& scratch) const;

  const TagParts& parts() const { return parts_; }
  double base_weight() const { return base_weight_; }    // kappa
  double prior_weight() const { return prior_weight_; }  // mu

 private:
  struct PartWeight {
    std::uint32_t part;
    float weight;
  };

  void add_rows(const ContextWeights& weights);

  TagParts parts_;
  double base_weight_, prior_weight_;
  const WordAttributes* attributes_;
  KeyTable rows_;                    // places in the following
  std::vector<PartWeight> weights_;  // each row begins with its size, in place of a part
};

}  // namespace hiddenite::channel
