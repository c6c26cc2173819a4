#include "hiddenite/correct/line_alignment.hpp"

#include <algorithm>

namespace hiddenite::correct {

namespace {

constexpr std::size_t MAX_CELLS = std::size_t{1} << 28;
enum Move : std::uint8_t { BOTH, FROM_NOISY, FROM_CLEAN };

// The last move of a best alignment of every pair of prefixes; where several are best, both characters move on.
std::vector<std::uint8_t> best_moves(std::u32string_view noisy, std::u32string_view clean) {
  const std::size_t width = clean.size() + 1;
  std::vector<std::uint8_t> moves((noisy.size() + 1) * width, FROM_CLEAN);
  std::vector<std::uint32_t> row(width), above(width);
  for (std::size_t j = 0; j < width; ++j) above[j] = static_cast<std::uint32_t>(j);
  for (std::size_t i = 1; i <= noisy.size(); ++i) {
    row[0] = static_cast<std::uint32_t>(i);
    moves[i * width] = FROM_NOISY;
    for (std::size_t j = 1; j < width; ++j) {
      const std::uint32_t both = above[j - 1] + (noisy[i - 1] != clean[j - 1]);
      const std::uint32_t from_noisy = above[j] + 1, from_clean = row[j - 1] + 1;
      const std::uint32_t least = std::min(both, std::min(from_noisy, from_clean));
      moves[i * width + j] = both == least ? BOTH : from_noisy == least ? FROM_NOISY : FROM_CLEAN;
      row[j] = least;
    }
    row.swap(above);
  }
  return moves;
}

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> align_lines(std::u32string_view noisy,
                                                                 std::span<const std::uint32_t> noisy_begins,
                                                                 std::u32string_view clean,
                                                                 std::span<const std::uint32_t> clean_begins) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cuts;
  auto i = static_cast<std::uint32_t>(noisy.size()), j = static_cast<std::uint32_t>(clean.size());
  auto a = static_cast<std::uint32_t>(noisy_begins.size()), b = static_cast<std::uint32_t>(clean_begins.size());
  cuts.emplace_back(a, b);
  if ((noisy.size() + 1) * (clean.size() + 1) > MAX_CELLS) {
    cuts.emplace_back(0, 0);
    std::reverse(cuts.begin(), cuts.end());
    return cuts;
  }
  const std::vector<std::uint8_t> moves = best_moves(noisy, clean);
  const std::size_t width = clean.size() + 1;
  while (i > 0 || j > 0) {
    const std::uint8_t move = moves[i * width + j];
    i -= move != FROM_CLEAN;
    j -= move != FROM_NOISY;
    while (a > 0 && noisy_begins[a - 1] > i) --a;
    while (b > 0 && clean_begins[b - 1] > j) --b;
    const bool begins = a > 0 && b > 0 && noisy_begins[a - 1] == i && clean_begins[b - 1] == j;
    if (begins) cuts.emplace_back(a - 1, b - 1);
  }
  if (cuts.back() != std::pair<std::uint32_t, std::uint32_t>(0, 0)) cuts.emplace_back(0, 0);
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

std::uint32_t edit_distance(std::u32string_view a, std::u32string_view b) {
  std::vector<std::uint32_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<std::uint32_t>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::uint32_t diagonal = row[0];
    row[0] = static_cast<std::uint32_t>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::uint32_t both = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min(both, std::min(diagonal, row[j - 1]) + 1);
    }
  }
  return row.back();
}

}  // namespace hiddenite::correct
