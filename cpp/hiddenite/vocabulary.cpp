#include "vocabulary.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "error.hpp"
#include "text.hpp"

namespace hiddenite {

namespace {

std::uint64_t load64(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes) {
  constexpr std::uint64_t k0 = 0x9E3779B97F4A7C15u, k1 = 0xD6E8FEB86659FD93u;
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t h = mix(k1 ^ left, k0);
  for (; left >= 8; p += 8, left -= 8) h = mix(h ^ load64(p), k1);
  std::uint64_t tail = 0;
  for (std::size_t i = 0; i < left; ++i) {
    tail = tail << 8 | static_cast<unsigned char>(p[i]);
  }
  return mix(h ^ tail, k0);
}

Vocabulary::Vocabulary() : begin_{0}, slots_(1024, Slot{0, NO_WORD}), mask_(1023) {
  add("<unk>");
  add("<s>");
  add("</s>");
}

WordId Vocabulary::find(std::string_view word) const {
  const std::uint64_t hash = hash_bytes(word);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::uint64_t i = hash & mask_;; i = (i + 1) & mask_) {
    const Slot& slot = slots_[i];
    if (slot.id == NO_WORD) return NO_WORD;
    if (slot.hash == tag && this->word(slot.id) == word) return slot.id;
  }
}

WordId Vocabulary::add(std::string_view word) {
  const std::uint64_t hash = hash_bytes(word);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  std::uint64_t i = hash & mask_;
  for (;; i = (i + 1) & mask_) {
    const Slot& slot = slots_[i];
    if (slot.id == NO_WORD) break;
    if (slot.hash == tag && this->word(slot.id) == word) return slot.id;
  }
  const WordId id = size();
  if (id == NO_WORD - 1) throw ModelError("the vocabulary has more than 4 billion words");
  text_.append(word);
  begin_.push_back(text_.size());
  slots_[i] = {tag, id};
  if (2 * std::uint64_t{size()} > mask_) grow();
  return id;
}

void Vocabulary::grow() {
  mask_ = 2 * mask_ + 1;
  slots_.assign(mask_ + 1, Slot{0, NO_WORD});
  for (WordId id = 0; id < size(); ++id) {
    const std::uint64_t hash = hash_bytes(word(id));
    std::uint64_t i = hash & mask_;
    while (slots_[i].id != NO_WORD) i = (i + 1) & mask_;
    slots_[i] = {static_cast<std::uint32_t>(hash >> 32), id};
  }
}

std::size_t Vocabulary::bytes() const {
  return text_.capacity() + begin_.capacity() * sizeof(begin_[0]) +
         slots_.capacity() * sizeof(Slot);
}

std::vector<WordId> Vocabulary::order_by_length() const {
  std::vector<WordId> order(size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::uint32_t> length(size());
  for (WordId id = 0; id < size(); ++id) {
    length[id] = static_cast<std::uint32_t>(count_characters(word(id)));
  }
  std::stable_sort(order.begin() + NUM_SPECIAL_WORDS, order.end(),
                   [&](WordId a, WordId b) { return length[a] < length[b]; });
  return order;
}

Vocabulary Vocabulary::reordered(const std::vector<WordId>& order) const {
  Vocabulary result;
  for (std::size_t k = NUM_SPECIAL_WORDS; k < order.size(); ++k) result.add(word(order[k]));
  return result;
}

}  // namespace hiddenite
