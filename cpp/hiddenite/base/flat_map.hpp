// A small hash map from 64-bit keys to 32-bit values: open addressing, linear
// probing, nothing is ever removed.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

class FlatMap {
 public:
  static constexpr std::uint32_t ABSENT = std::numeric_limits<std::uint32_t>::max();

  FlatMap() : slots_(INITIAL_SIZE) {}

  // The value of `key`, or ABSENT.
  std::uint32_t find(std::uint64_t key) const { return slots_[place(key)].value; }

  // `key` must be absent.
  void insert(std::uint64_t key, std::uint32_t value) {
    if (2 * ++size_ > slots_.size()) grow();
    slots_[place(key)] = {key, value};
  }

  void clear() {
    slots_.assign(INITIAL_SIZE, {});
    size_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = ABSENT;
  };

  static constexpr std::size_t INITIAL_SIZE = 256;  // a power of two

  std::size_t place(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::uint64_t hash = key * 0x9E3779B97F4A7C15u;
    std::size_t i = (hash ^ (hash >> 32)) & mask;
    while (slots_[i].value != ABSENT && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != ABSENT) slots_[place(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace hiddenite::base
