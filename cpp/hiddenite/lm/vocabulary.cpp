#include "hiddenite/lm/vocabulary.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/fold.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::lm {

namespace {

template <class T>
T load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// The same as a == b, without the call that a short word is not worth.
bool equal(std::string_view a, std::string_view b) {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  const char* p = a.data();
  const char* q = b.data();
  if (size > 16) return std::memcmp(p, q, size) == 0;
  if (size >= 8) {
    return ((load<std::uint64_t>(p) ^ load<std::uint64_t>(q)) |
            (load<std::uint64_t>(p + size - 8) ^ load<std::uint64_t>(q + size - 8))) == 0;
  }
  if (size >= 4) {
    return ((load<std::uint32_t>(p) ^ load<std::uint32_t>(q)) |
            (load<std::uint32_t>(p + size - 4) ^ load<std::uint32_t>(q + size - 4))) == 0;
  }
  if (size == 0) return true;
  return p[0] == q[0] && p[size / 2] == q[size / 2] && p[size - 1] == q[size - 1];
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes) {
  constexpr std::uint64_t k0 = 0x9E3779B97F4A7C15u, k1 = 0xD6E8FEB86659FD93u;
  const char* p = bytes.data();
  const std::size_t size = bytes.size();
  if (size <= 16) {
    // First and last bytes, which overlap or leave nothing out.
    std::uint64_t a = 0, b = 0;
    if (size >= 8) {
      a = load<std::uint64_t>(p);
      b = load<std::uint64_t>(p + size - 8);
    } else if (size >= 4) {
      a = load<std::uint32_t>(p);
      b = load<std::uint32_t>(p + size - 4);
    } else if (size > 0) {
      a = static_cast<unsigned char>(p[0]) | static_cast<std::uint64_t>(static_cast<unsigned char>(p[size / 2])) << 8;
      b = static_cast<unsigned char>(p[size - 1]);
    }
    return fold_product(fold_product(a ^ k0 ^ size, k1) ^ b, k0);
  }
  std::uint64_t h = k0 ^ size;
  std::size_t left = size;
  for (; left > 8; p += 8, left -= 8) h = fold_product(h ^ load<std::uint64_t>(p), k1);
  return fold_product(h ^ load<std::uint64_t>(p + left - 8), k0);
}

Vocabulary::Vocabulary()
    : begin_(std::vector<std::uint64_t>{0}), slots_(std::vector<Slot>(1024, Slot{0, NO_WORD})), mask_(1023) {
  add("<unk>");
  add("<s>");
  add("</s>");
}

Vocabulary::Vocabulary(const Parts& parts)
    : text_(Column<char>::view(parts.text)), begin_(Column<std::uint64_t>::view(parts.begin)),
      slots_(Column<Slot>::view(parts.slots)), mask_(parts.slots.size() - 1) {}

std::string_view Vocabulary::first_fault(const Parts& parts) {
  const auto& [text, begin, slots] = parts;
  if (begin.size() <= NUM_SPECIAL_WORDS || begin.size() > NO_WORD) return "an impossible number of words";
  if (begin.front() != 0 || begin.back() != text.size()) return "words that do not fill their text";
  if (!std::is_sorted(begin.begin(), begin.end())) return "words that overlap";
  if (find_invalid_utf8({text.data(), text.size()}) != std::string_view::npos) return "words that are not UTF-8";
  for (const std::uint64_t at : begin.first(begin.size() - 1)) {
    if (at < text.size() && (text[at] & 0xC0) == 0x80) return "a word that begins inside a character";
  }
  if (!std::has_single_bit(slots.size())) return "a hash table of an impossible size";
  std::size_t empty = 0;
  for (const Slot& slot : slots) {
    if (slot.id != NO_WORD && slot.id >= begin.size() - 1) return "a hash table of words that do not exist";
    empty += slot.id == NO_WORD;
  }
  if (empty == 0) return "a full hash table";  // in which a search would not end
  const Vocabulary vocabulary(parts);
  const bool special = vocabulary.word(UNKNOWN) == "<unk>" && vocabulary.word(SENTENCE_BEGIN) == "<s>" &&
                       vocabulary.word(SENTENCE_END) == "</s>";
  return special ? "" : "other special words";
}

WordId Vocabulary::find(std::string_view word) const {
  const std::uint64_t hash = hash_bytes(word);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::uint64_t i = hash & mask_;; i = (i + 1) & mask_) {
    const Slot& slot = slots_[i];
    if (slot.id == NO_WORD) return NO_WORD;
    if (slot.hash == tag && equal(this->word(slot.id), word)) return slot.id;
  }
}

WordId Vocabulary::add(std::string_view word) {
  const std::uint64_t hash = hash_bytes(word);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  std::uint64_t i = hash & mask_;
  for (;; i = (i + 1) & mask_) {
    const Slot& slot = slots_[i];
    if (slot.id == NO_WORD) break;
    if (slot.hash == tag && equal(this->word(slot.id), word)) return slot.id;
  }
  const WordId id = size();
  if (id == NO_WORD - 1) throw ModelError("the vocabulary has more than 4 billion words");
  text_.append({word.data(), word.size()});
  begin_.push_back(text_.size());
  slots_[i] = {tag, id};
  if (2 * std::uint64_t{size()} > mask_) grow();
  return id;
}

void Vocabulary::grow() {
  mask_ = 2 * mask_ + 1;
  slots_ = std::vector<Slot>(mask_ + 1, Slot{0, NO_WORD});
  for (WordId id = 0; id < size(); ++id) {
    const std::uint64_t hash = hash_bytes(word(id));
    std::uint64_t i = hash & mask_;
    while (slots_[i].id != NO_WORD) i = (i + 1) & mask_;
    slots_[i] = {static_cast<std::uint32_t>(hash >> 32), id};
  }
}

std::size_t Vocabulary::bytes() const {
  return text_.bytes() + begin_.bytes() + slots_.bytes();
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

}  // namespace hiddenite::lm
