// Numbers of 64-bit keys, which are hashes already: a hash table with linear
// probing. Where many keys are looked up, fetch() them all first: a look takes
// longer to come from memory than to make.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "hiddenite/rooms.hpp"

namespace hiddenite::channel {

inline void prefetch([[maybe_unused]] const void* place) {
#ifdef __GNUC__
  __builtin_prefetch(place);
#endif
}

class KeyTable {
 public:
  static constexpr std::uint32_t NONE = 0xFFFFFFFF;
  explicit KeyTable(std::size_t expected = 0);
  // The number of a key; a new one has the next number.
  std::uint32_t add(std::uint64_t key);
  // Gives a new key a number; false if it has one.
  bool insert(std::uint64_t key, std::uint32_t number);
  std::uint32_t find(std::uint64_t key) const { return slots_[place(key)].number; }
  void fetch(std::uint64_t key) const { prefetch(slots_.data() + home(key)); }
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t number = NONE;
  };
  std::size_t home(std::uint64_t key) const { return (key ^ key >> 32) & (slots_.size() - 1); }
  std::size_t place(std::uint64_t key) const {
    std::size_t i = home(key);
    while (slots_[i].number != NONE && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void grow();
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

inline KeyTable::KeyTable(std::size_t expected) : slots_(std::bit_ceil(std::max<std::size_t>(16, 2 * expected))) {}

inline bool KeyTable::insert(std::uint64_t key, std::uint32_t number) {
  std::size_t i = place(key);
  if (slots_[i].number != NONE) return false;
  if (2 * (size_ + 1) > slots_.size()) {
    grow();
    i = place(key);
  }
  slots_[i] = {key, number};
  ++size_;
  return true;
}

inline std::uint32_t KeyTable::add(std::uint64_t key) {
  const auto next = static_cast<std::uint32_t>(size_);
  return insert(key, next) ? next : find(key);
}

inline void KeyTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.number != NONE) slots_[place(slot.key)] = slot;
  }
}

}  // namespace hiddenite::channel
