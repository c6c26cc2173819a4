#include "hiddenite/hmm/model.hpp"

#include <cmath>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/hmm/kernels.hpp"

namespace hiddenite::hmm {

namespace {

void require(bool fits, const char* what) {
  if (!fits) throw ModelError(std::string("the arrays of a chain do not fit: ") + what);
}

template <class Values>
bool probabilities(const Values& values) {
  for (const auto x : values) {
    if (!(x >= 0 && x <= 1 + 1e-5)) return false;
  }
  return true;
}

}  // namespace

void HmmShape::check() const {
  require(group_begin.size() >= 2 && group_begin[0] == 0, "no groups");
  for (std::uint32_t g = 0; g < num_groups(); ++g) require(group_begin[g] < group_begin[g + 1], "an empty group");
  require(set_begin.size() == word_group.size() + 1 && set_begin[0] == 0, "one set a word is expected");
  require(members.empty() || members.size() == set_begin.back(), "members of sets");
  require(!has_end || (num_words() > SENTENCE_END && word_group[SENTENCE_END] != NO_GROUP), "no state emits </s>");
  for (WordId w = 0; w < num_words(); ++w) {
    require(set_begin[w] <= set_begin[w + 1], "sets overlap");
    const std::uint64_t size = set_begin[w + 1] - set_begin[w];
    if (word_group[w] == NO_GROUP) {
      require(size == 0, "a set without group");
      continue;
    }
    require(word_group[w] < num_groups() && size > 0, "a word's group");
    const std::uint32_t largest = group_size(word_group[w]);
    require(members.empty() ? size == largest : size <= largest, "a set larger or smaller than its group");
    for (std::uint64_t i = set_begin[w]; i < set_begin[w + 1] && !members.empty(); ++i) {
      require(members[i] < largest && (i == set_begin[w] || members[i - 1] < members[i]), "a set's members");
    }
  }
}

void SparseHmm::check() const {
  HmmShape::check();
  require(initial.size() == num_states(), "initial");
  require(transition.size() == num_transitions(), "transition");
  require(emission.size() == set_begin.back(), "emission");
  require(probabilities(initial) && probabilities(transition) && probabilities(emission),
          "a number is no probability");
}

void SparseHmm::add_forward(const StateSet& from, const double* x, const StateSet& to, double* y) const {
  const float* const matrix = block_of(from.group, to.group);
  const std::size_t columns = group_size(to.group);
  if (from.members == nullptr && to.members == nullptr) {
    add_row_times_block(x, from.size, matrix, columns, y);
    return;
  }
  for (std::uint32_t i = 0; i < from.size; ++i) {
    const float* const row = matrix + from.place(i) * columns;
    if (x[i] == 0.0) continue;
    for (std::uint32_t j = 0; j < to.size; ++j) y[j] += x[i] * static_cast<double>(row[to.place(j)]);
  }
}

void SparseHmm::add_backward(const StateSet& from, double* y, const StateSet& to, const double* w) const {
  const float* const matrix = block_of(from.group, to.group);
  const std::size_t columns = group_size(to.group);
  if (from.members == nullptr && to.members == nullptr) {
    add_block_times_column(matrix, from.size, columns, w, y);
    return;
  }
  for (std::uint32_t i = 0; i < from.size; ++i) {
    const float* const row = matrix + from.place(i) * columns;
    for (std::uint32_t j = 0; j < to.size; ++j) y[i] += static_cast<double>(row[to.place(j)]) * w[j];
  }
}

}  // namespace hiddenite::hmm
