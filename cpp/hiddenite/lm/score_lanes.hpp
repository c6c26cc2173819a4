// One round of scoring for many sentences side by side.
//
// A step from one context to the next is a handful of loads that depend on one
// another, and a choice that no processor can guess; whoever scores one sentence
// waits most of the time. Here each sentence is a lane, and a round does one
// thing after the other for all lanes, without branches: look for the lane's
// next word among the children of its state, then go past the word if it was
// found and back off if not. Where the processor has AVX2, eight lanes are one
// vector; elsewhere the same is done by plain loops, with the same numbers.
#pragma once

#include <array>
#include <cstdint>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

inline constexpr std::size_t NUM_LANES = 32;

struct Lanes {
  template <class T>
  using PerLane = std::array<T, NUM_LANES>;

  const WordId* words = nullptr;               // of all sentences
  alignas(32) PerLane<std::uint32_t> next;     // the word to predict, an index into words
  alignas(32) PerLane<NodeId> state;
  alignas(32) PerLane<double> log_weight;      // of the back-offs since the last word
  alignas(32) PerLane<double> log_prob, log_prob_known;
};

// Returns the lanes that went past </s>, one bit each.
using RoundOfLanes = std::uint32_t (*)(const NgramTable&, Lanes&);

// The fastest for this processor and a table of this size.
RoundOfLanes round_of_lanes(const NgramTable& table);

// For any processor.
std::uint32_t plain_round(const NgramTable& table, Lanes& lanes);

}  // namespace hiddenite::lm
