#include "hiddenite/channel/context/context_emissions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

// -------------------------------------------------------------- numbers of keys

KeyTable::KeyTable(std::size_t expected) : slots_(std::bit_ceil(std::max<std::size_t>(16, 2 * expected))) {}

std::size_t KeyTable::place(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = (key ^ key >> 32) & mask;
  while (slots_[i].number != NONE && slots_[i].key != key) i = (i + 1) & mask;
  return i;
}

std::uint32_t KeyTable::find(std::uint64_t key) const { return slots_[place(key)].number; }

std::uint32_t KeyTable::add(std::uint64_t key) {
  std::size_t i = place(key);
  if (slots_[i].number != NONE) return slots_[i].number;
  if (2 * (size_ + 1) > slots_.size()) {
    grow();
    i = place(key);
  }
  slots_[i] = {key, static_cast<std::uint32_t>(size_++)};
  return slots_[i].number;
}

void KeyTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.number != NONE) slots_[place(slot.key)] = slot;
  }
}

// -------------------------------------------------------------------- emissions

namespace {

[[noreturn]] void misfit_of_weights(const std::string& what) {
  throw ModelError("the tagger's context weights do not fit together: " + what);
}

void check(const ContextWeights& w, std::size_t num_parts) {
  if (w.begin.size() != w.keys.size() + 1 || w.begin.front() != 0 || w.begin.back() != w.parts.size() ||
      w.parts.size() != w.weights.size() || !std::is_sorted(w.begin.begin(), w.begin.end())) {
    misfit_of_weights("sizes of the tables");
  }
  if (std::any_of(w.parts.begin(), w.parts.end(), [&](std::uint32_t t) { return t >= num_parts; })) {
    misfit_of_weights("a tag is out of range");
  }
  if (!std::all_of(w.weights.begin(), w.weights.end(), [](float x) { return std::isfinite(x); })) {
    misfit_of_weights("a weight is no number");
  }
}

}  // namespace

ContextEmissions::ContextEmissions(TagParts parts, ContextWeights weights, double base_weight, double prior_weight,
                                   const WordAttributes* attributes)
    : parts_(std::move(parts)), weights_(std::move(weights)), base_weight_(base_weight), prior_weight_(prior_weight),
      attributes_(attributes), rows_(weights_.keys.size()) {
  check(weights_, parts_.num_parts());
  if (!std::isfinite(base_weight) || !std::isfinite(prior_weight)) misfit_of_weights("a weight is no number");
  for (const std::uint64_t key : weights_.keys) {
    const std::size_t before = rows_.size();
    if (rows_.add(key) != before) misfit_of_weights("a feature is listed twice");
  }
}

void ContextEmissions::add(std::string_view word, Role role, std::span<float> scores) const {
  std::vector<std::uint64_t> keys;
  add_context_features(word, role, attributes_, keys);
  for (const std::uint64_t key : keys) {
    const std::uint32_t row = rows_.find(key);
    if (row == KeyTable::NONE) continue;
    for (std::uint64_t k = weights_.begin[row]; k < weights_.begin[row + 1]; ++k) {
      scores[weights_.parts[k]] += weights_.weights[k];
    }
  }
}

}  // namespace hiddenite::channel
