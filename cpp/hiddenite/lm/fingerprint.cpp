#include "hiddenite/lm/fingerprint.hpp"

#include <array>
#include <bit>

#include "hiddenite/base/parallel.hpp"
#include "hiddenite/base/sha256.hpp"

namespace hiddenite::lm {

namespace {

// Most significant word first.
void add(Sha256& sum, const Sha256& other) {
  std::uint64_t carry = 0;
  for (std::size_t i = sum.size(); i-- > 0;) {
    carry += std::uint64_t{sum[i]} + other[i];
    sum[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
}

void append(std::string& line, float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number + 0.0f);  // no negative zero
  for (int i = 0; i < 4; ++i) line += static_cast<char>(bits >> 8 * i);
}

Sha256 sum_of(const NgramTable& table, int n, NodeId begin, NodeId end) {
  Sha256 sum{};
  std::string line;
  table.for_each_ngram(n, begin, end, [&](NodeId node, std::span<const WordId> words) {
    line.clear();
    for (const WordId w : words) {
      line += table.vocabulary.word(w);
      line += ' ';
    }
    line.back() = '\t';
    append(line, table.log_prob[node]);
    append(line, node < table.num_contexts() ? table.log_backoff[node] : 0.0f);
    add(sum, sha256(line));
  });
  return sum;
}

}  // namespace

std::string fingerprint(const NgramTable& table, int threads) {
  constexpr NodeId block = 1 << 15;
  Sha256 total{};
  for (int n = 1; n <= table.order; ++n) {
    const NodeId begin = table.level_begin[n], end = table.level_begin[n + 1];
    std::vector<Sha256> sums((end - begin + block - 1) / block);
    parallel_for(sums.size(), threads, [&](std::size_t i, int) {
      const NodeId first = begin + static_cast<NodeId>(i) * block;
      sums[i] = sum_of(table, n, first, end - first <= block ? end : first + block);
    });
    for (const Sha256& sum : sums) add(total, sum);
  }
  std::string digits;
  for (const std::uint32_t word : total) {
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
  }
  return digits;
}

}  // namespace hiddenite::lm
