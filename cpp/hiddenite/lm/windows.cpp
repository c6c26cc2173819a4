#include "hiddenite/lm/windows.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::lm {

namespace {

// How many words of the sentence, <s> included, stand before each token; at most `order`.
std::vector<std::uint8_t> depths(std::span<const WordId> tokens, int order) {
  std::vector<std::uint8_t> depth(tokens.size());
  int before = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    before = tokens[i] == SENTENCE_BEGIN ? 0 : std::min(before + 1, order);
    depth[i] = static_cast<std::uint8_t>(before);
  }
  return depth;
}

[[noreturn]] void fail_disk(const char* what) {
  throw ModelError(std::string("a temporary file cannot be ") + what + ": " +
                   std::strerror(errno) + "; give a directory with more room or raise the memory");
}

}  // namespace

void visit_sorted_windows(std::span<const WordId> tokens, int order, WordId num_words,
                          const WindowVisitor& visit) {
  if (tokens.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw ModelError("more than 4 billion tokens in memory; lower the memory to use runs on disk");
  }
  const std::vector<std::uint8_t> depth = depths(tokens, order);
  const auto key = [&](std::uint32_t i, int k) {
    return depth[i] >= k ? tokens[i - static_cast<std::uint32_t>(k)] + 1 : 0;
  };
  std::vector<std::uint32_t> sorted, next;
  sorted.reserve(tokens.size());
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    if (depth[i] > 0) sorted.push_back(i);
  }
  next.resize(sorted.size());
  std::vector<std::uint32_t> begin(num_words + std::size_t{1});
  for (int k = order - 1; k >= 0; --k) {
    std::fill(begin.begin(), begin.end(), 0);
    std::size_t turn = 0;
    for (const std::uint32_t i : sorted) {
      check_interrupt_at(turn++);
      ++begin[key(i, k)];
    }
    std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), 0u);
    for (const std::uint32_t i : sorted) {
      check_interrupt_at(turn++);
      next[begin[key(i, k)]++] = i;
    }
    sorted.swap(next);
  }
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(order));
  std::size_t visited = 0;
  for (const std::uint32_t i : sorted) {
    check_interrupt_at(visited++);
    for (int k = 0; k < order; ++k) keys[static_cast<std::size_t>(k)] = key(i, k);
    visit(keys, 1);
  }
}

void WindowRun::put(WindowKeys keys, std::uint64_t count) {
  if (count == 0) return;
  if (std::fwrite(keys.data(), sizeof(std::uint32_t), keys.size(), file_) != keys.size() ||
      std::fwrite(&count, sizeof count, 1, file_) != 1) {
    fail_disk("written");
  }
}

void WindowRun::write(std::span<const WordId> tokens, WordId num_words) {
  std::vector<std::uint32_t> last(keys_.size());
  std::uint64_t repeated = 0;
  visit_sorted_windows(tokens, static_cast<int>(keys_.size()), num_words,
                       [&](WindowKeys keys, std::uint64_t count) {
                         if (!std::equal(keys.begin(), keys.end(), last.begin())) {
                           put(last, repeated);
                           repeated = 0;
                           last.assign(keys.begin(), keys.end());
                         }
                         repeated += count;
                       });
  put(last, repeated);
  if (std::fflush(file_) != 0) fail_disk("written");
}

void WindowRun::rewind() {
  if (std::fseek(file_, 0, SEEK_SET) != 0) fail_disk("read");
}

bool WindowRun::next() {
  const std::size_t got = std::fread(keys_.data(), sizeof(std::uint32_t), keys_.size(), file_);
  if (got == 0 && !std::ferror(file_)) return false;
  if (got != keys_.size() || std::fread(&count_, sizeof count_, 1, file_) != 1) fail_disk("read");
  return true;
}

void merge_runs(std::vector<WindowRun>& runs, const WindowVisitor& visit) {
  std::vector<WindowRun*> heap;
  for (WindowRun& run : runs) {
    run.rewind();
    if (run.next()) heap.push_back(&run);
  }
  const auto later = [](const WindowRun* a, const WindowRun* b) {
    return std::lexicographical_compare(b->keys().begin(), b->keys().end(), a->keys().begin(),
                                        a->keys().end());
  };
  std::make_heap(heap.begin(), heap.end(), later);
  for (std::size_t turn = 0; !heap.empty(); ++turn) {
    check_interrupt_at(turn);
    std::pop_heap(heap.begin(), heap.end(), later);
    visit(heap.back()->keys(), heap.back()->count());
    if (heap.back()->next()) {
      std::push_heap(heap.begin(), heap.end(), later);
    } else {
      heap.pop_back();
    }
  }
}

}  // namespace hiddenite::lm
