#include "hiddenite/align/pair_counts.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/error.hpp"

namespace hiddenite::align {

namespace {

constexpr double FULL = 0.78, AFTER_GROWING = 0.65;
constexpr std::size_t FILTER_BITS = 8;  // a slot, at least
constexpr std::size_t SLACK = 256;  // slots behind the last home

}  // namespace

void PairCounts::resize(std::size_t room) {
  num_homes_ = room;
  slots_.assign(room + SLACK + 1, Slot{});
  slots_.back().key = 0;
  tags_.assign(room + SLACK + WINDOW, 0);
  filter_.assign(std::bit_ceil(room * FILTER_BITS / 64 + 1), 0);
  filter_shift_ = 64 - std::countr_zero(filter_.size());
  size_ = 0;
}

std::uint32_t PairCounts::find(std::uint64_t key) const {
  const std::uint64_t hash = hash_of(key);
  const std::uint8_t sought = tag(hash);
  for (std::uint32_t place = home(hash); tags_[place] != 0; ++place) {
    if (tags_[place] == sought && (slots_[place].key & KEY_MASK) == key) return place;
  }
  return none();
}

std::uint32_t PairCounts::insert(std::uint64_t key) {
  const std::uint64_t hash = hash_of(key);
  const std::uint32_t guessed = guess(hash);
  if ((slots_[guessed].key & KEY_MASK) == key) return guessed;
  const std::uint8_t sought = tag(hash);
  std::uint32_t place = home(hash);
  for (; tags_[place] != 0; ++place) {
    if (tags_[place] == sought && (slots_[place].key & KEY_MASK) == key) return place;
  }
  slots_[place].key = key;
  tags_[place] = sought;
  filter_[hash >> filter_shift_] |= std::uint64_t{1} << (hash & 63);
  ++size_;
  return place;
}

bool PairCounts::reserve(std::size_t more) {
  if (static_cast<double>(size_ + more) <= FULL * static_cast<double>(num_homes_)) return false;
  rebuild(more);
  return true;
}

void PairCounts::rebuild(std::size_t more) {
  std::vector<Slot> kept;
  kept.reserve(static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end() - 1, is_needed)));
  std::copy_if(slots_.begin(), slots_.end() - 1, std::back_inserter(kept), is_needed);
  const auto room = static_cast<std::size_t>(static_cast<double>(kept.size() + more) / AFTER_GROWING);
  if (room >= MAX_ID * 8ull) throw ModelError("the text has more than 2 billion linked word pairs");
  std::vector<Slot>().swap(slots_);
  resize(std::max(room, LEAST));
  for (const Slot& slot : kept) slots_[insert(slot.key & KEY_MASK)] = slot;
}

std::uint32_t PairCounts::add(std::uint64_t key, float likeness) {
  reserve(1);
  const std::uint32_t slot = insert(key);
  const auto byte = static_cast<std::uint64_t>(std::lround(std::clamp(likeness, 0.0f, 1.0f) * 255.0f));
  slots_[slot].key |= byte << KEY_BITS;
  return slot;
}

void PairCounts::forget() {
  for (Slot& slot : slots_) slot.count = {0.0f, 0.0f};
  rebuild(0);
}

}  // namespace hiddenite::align
