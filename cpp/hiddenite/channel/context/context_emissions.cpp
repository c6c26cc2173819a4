#include "hiddenite/channel/context/context_emissions.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

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
    : parts_(std::move(parts)), base_weight_(base_weight), prior_weight_(prior_weight), attributes_(attributes),
      rows_(weights.keys.size()) {
  check(weights, parts_.num_parts());
  if (!std::isfinite(base_weight) || !std::isfinite(prior_weight)) misfit_of_weights("a weight is no number");
  add_rows(weights);
}

// Size and weights of a row side by side, so that a look at one waits for memory once.
void ContextEmissions::add_rows(const ContextWeights& w) {
  if (w.keys.size() + w.parts.size() >= KeyTable::NONE) misfit_of_weights("there are more than 4 billion");
  weights_.reserve(w.keys.size() + w.parts.size());
  for (std::size_t row = 0; row < w.keys.size(); ++row) {
    if (!rows_.insert(w.keys[row], static_cast<std::uint32_t>(weights_.size()))) {
      misfit_of_weights("a feature is listed twice");
    }
    weights_.push_back({static_cast<std::uint32_t>(w.begin[row + 1] - w.begin[row]), 0.0f});
    for (std::uint64_t k = w.begin[row]; k < w.begin[row + 1]; ++k) weights_.push_back({w.parts[k], w.weights[k]});
  }
}

// In three rounds, because nearly all of the time is spent waiting for memory: what is asked for in one round has
// come when the next one needs it.
void ContextEmissions::add(std::string_view word, std::span<const Role> roles, std::span<float> scores,
                           Scratch& scratch) const {
  scratch.word.read(word, attributes_);
  scratch.keys.clear(), scratch.rows.clear(), scratch.end.clear();
  for (const Role role : roles) {
    const std::size_t first = scratch.keys.size();
    scratch.word.add_features(role, scratch.keys);
    for (std::size_t k = first; k < scratch.keys.size(); ++k) rows_.fetch(scratch.keys[k]);
    scratch.end.push_back(scratch.keys.size());
  }
  for (const std::uint64_t key : scratch.keys) {
    const std::uint32_t row = rows_.find(key);
    if (row != KeyTable::NONE) prefetch(weights_.data() + row);
    scratch.rows.push_back(row);
  }
  std::size_t next = 0;
  for (std::size_t k = 0; k < roles.size(); ++k) {
    float* to = scores.data() + k * parts_.num_parts();
    for (; next < scratch.end[k]; ++next) {
      if (scratch.rows[next] == KeyTable::NONE) continue;
      const PartWeight* weight = weights_.data() + scratch.rows[next];
      for (const PartWeight* const last = weight + weight->part; weight++ != last;) to[weight->part] += weight->weight;
    }
  }
}

}  // namespace hiddenite::channel
