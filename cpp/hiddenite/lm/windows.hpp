// The n-gram windows of a text in sorted order, from memory or from disk.
//
// A window is `order` keys, last word first: key[k] = 1 + the word k places
// before the end, 0 where the sentence has no such word (it begins with <s>).
#pragma once

#include <cstdio>
#include <functional>
#include <span>
#include <vector>

#include "hiddenite/base/types.hpp"

namespace hiddenite::lm {

using WindowKeys = std::span<const std::uint32_t>;
using WindowVisitor = std::function<void(WindowKeys keys, std::uint64_t count)>;

// Visits the windows of `tokens` (<s> words </s>, repeated) in sorted order;
// equal windows may be visited in one call or in several.
void visit_sorted_windows(std::span<const WordId> tokens, int order, WordId num_words,
                          const WindowVisitor& visit);

// A sorted run on disk: each window once, with its count.
class WindowRun {
 public:
  WindowRun(std::FILE* file, int order) : file_(file), keys_(static_cast<std::size_t>(order)) {}
  void write(std::span<const WordId> tokens, WordId num_words);
  void rewind();
  bool next();  // false at the end
  WindowKeys keys() const { return keys_; }
  std::uint64_t count() const { return count_; }

 private:
  void put(WindowKeys keys, std::uint64_t count);

  std::FILE* file_;
  std::vector<std::uint32_t> keys_;
  std::uint64_t count_ = 0;
};

// Visits the windows of all runs in sorted order.
void merge_runs(std::vector<WindowRun>& runs, const WindowVisitor& visit);

}  // namespace hiddenite::lm
