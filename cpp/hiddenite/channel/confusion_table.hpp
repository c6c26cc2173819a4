// The file of a confusion channel: which pieces are taken for which, how often.
//
//   # intended TAB seen TAB probability
//   rn      m       0.02
//   o       0       0.05
//   l               0.001     seen as nothing
//           .       0.0005    seen out of nothing
//
// Each side has up to three characters and no white space. Empty lines and lines
// that begin with # are skipped; \# and \\ stand for # and \. What the numbers mean
// is confusion.hpp's business; that they are numbers is checked here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hiddenite/base/text.hpp"

namespace hiddenite::channel {

struct Confusion {
  std::u32string intended, seen;
  double prob;
  std::uint64_t line;  // of the file, for errors
};

inline constexpr std::size_t MAX_PIECE = 3;  // characters a side

// Throws FormatError for a line that is no entry, a pair given twice, and a file
// without any.
std::vector<Confusion> read_confusions(LineReader& lines);

}  // namespace hiddenite::channel
