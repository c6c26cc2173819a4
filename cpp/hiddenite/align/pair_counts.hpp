// Counts of pairs of ids, both directions side by side; only pairs that are linked take room.
//
// Open addressing with linear probing, 16 bytes a slot, and a byte of each slot's hash in an
// array of its own, 0 where the slot is empty. Eight such bytes are one word, and a few
// operations on it say where in the next eight slots a key can be, or that it is absent:
// most pairs that are looked up are, and neither answer needs a branch. A key is two ids of
// 28 bits; the byte above holds what stays of a pair for ever (its likeness, in units of
// 1 / 255). Entries move only in reserve(), so that slots found for the cells of a sentence
// stay valid while its links are drawn. Counts are floats in multiples of 1 / 64, which
// addition of whole links keeps exact.
//
// none() is a slot of zeros that is never written: what an absent pair has.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/base/types.hpp"

namespace hiddenite::align {

class PairCounts {
 public:
  static constexpr std::uint32_t MAX_ID = (1u << 28) - 2;
  struct Slot {
    std::uint64_t key = EMPTY;
    std::array<float, 2> count{0.0f, 0.0f};
    float likeness() const { return static_cast<float>(static_cast<int>(key >> KEY_BITS)) * (1.0f / 255.0f); }
  };

  PairCounts() { resize(LEAST); }
  static std::uint64_t key(WordId a, WordId b) { return std::uint64_t{a} << 28 | b; }
  // A pair's hash is hash_first ^ hash_second of its ids: those who look up a whole sentence hash each word once.
  static std::uint64_t hash_first(WordId a) { return splitmix64(a); }
  static std::uint64_t hash_second(WordId b) { return splitmix64(~std::uint64_t{b}); }
  static std::uint64_t hash_of(std::uint64_t key) {
    return hash_first(static_cast<WordId>(key >> 28)) ^ hash_second(static_cast<WordId>(key & ID_MASK));
  }

  // Looking up in steps, for those who have many to look up: may_have, then guess, then fetch, then at.
  bool may_have(std::uint64_t hash) const { return filter_[hash >> filter_shift_] >> (hash & 63) & 1; }
  // Where a key is if it is near its home.
  std::uint32_t guess(std::uint64_t hash) const {
    const std::uint32_t place = home(hash);
    std::uint64_t window;
    std::memcpy(&window, tags_.data() + place, sizeof window);
    const std::uint64_t same = zero_bytes(window ^ ONES * tag(hash)) | std::uint64_t{1} << 63;
    return place + static_cast<std::uint32_t>(std::countr_zero(same)) / 8;
  }
  void fetch(std::uint32_t place) const { __builtin_prefetch(&slots_[place]); }
  // The key's slot, or that of none().
  const Slot& at(std::uint64_t key, std::uint32_t guessed) const {
    const Slot& slot = slots_[guessed];
    return (slot.key & KEY_MASK) == key ? slot : slots_[find(key)];
  }
  std::uint32_t find(std::uint64_t key) const;
  // The key's slot, new if need be; reserve() must have made room.
  std::uint32_t insert(std::uint64_t key);
  // Room for so many more; drops pairs without a count and a likeness. Slots move if this returns true.
  bool reserve(std::size_t more);
  // Insert with room made; likeness above 0 keeps the pair.
  std::uint32_t add(std::uint64_t key, float likeness = 0.0f);
  // No pair has a count; those with a likeness stay, and memory is given back.
  void forget();

  Slot& operator[](std::uint32_t slot) { return slots_[slot]; }
  const Slot& operator[](std::uint32_t slot) const { return slots_[slot]; }
  std::uint32_t none() const { return static_cast<std::uint32_t>(slots_.size() - 1); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return slots_.size() * sizeof(Slot) + tags_.size() + filter_.size() * 8; }
  // Pairs with entries, in no order that means anything.
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::uint32_t k = 0; k < none(); ++k) {
      if (slots_[k].key == EMPTY) continue;
      const std::uint64_t key = slots_[k].key;
      visit(static_cast<WordId>(key >> 28 & ID_MASK), static_cast<WordId>(key & ID_MASK), slots_[k]);
    }
  }

 private:
  static constexpr std::uint64_t EMPTY = ~std::uint64_t{0};
  static constexpr int KEY_BITS = 56;
  static constexpr std::uint64_t KEY_MASK = (std::uint64_t{1} << KEY_BITS) - 1;
  static constexpr std::uint64_t ID_MASK = (1u << 28) - 1;
  static constexpr std::size_t LEAST = 1024;
  static constexpr std::uint32_t WINDOW = 8;  // tags that are looked at together
  static constexpr std::uint64_t ONES = 0x0101010101010101u, TOPS = 0x8080808080808080u;
  static_assert(std::endian::native == std::endian::little, "the lowest byte of a window is its first tag");

  static bool is_needed(const Slot& slot) {
    return slot.key != EMPTY && (slot.key >> KEY_BITS != 0 || slot.count[0] != 0.0f || slot.count[1] != 0.0f);
  }
  // Homes are spread over all but the last slots, so that a search never runs round.
  std::uint32_t home(std::uint64_t hash) const { return static_cast<std::uint32_t>((hash >> 32) * num_homes_ >> 32); }
  static std::uint8_t tag(std::uint64_t hash) { return static_cast<std::uint8_t>(hash >> 8 | 1u); }
  // The top bit of the first zero byte is exact; above it there can be others.
  static std::uint64_t zero_bytes(std::uint64_t word) { return (word - ONES) & ~word & TOPS; }
  void resize(std::size_t room);
  void rebuild(std::size_t more);

  std::vector<Slot> slots_;          // and none() behind them
  std::vector<std::uint8_t> tags_;   // of the slots, and a window of zeros
  std::vector<std::uint64_t> filter_;  // a power of two in size; bits of the hashes that were ever inserted
  int filter_shift_ = 0;
  std::uint64_t num_homes_ = 0;
  std::size_t size_ = 0;
};

}  // namespace hiddenite::align
