// One alignment from the two directions' (Och & Ney 2003; Koehn, Och & Marcu 2003).
//
//   intersection, union
//   grow-diag              the intersection, and again and again those links of the union that touch a
//                          link (also at a corner) and whose source or target word has none yet
//   grow-diag-final        then the links of either direction whose source or target word has none
//   grow-diag-final-and    then those whose source and target word have none
#pragma once

#include <utility>
#include <vector>

#include "hiddenite/base/types.hpp"

namespace hiddenite::align {

enum class Symmetrization { INTERSECTION, UNION, GROW_DIAG, GROW_DIAG_FINAL, GROW_DIAG_FINAL_AND };

using LinkPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // (source, target) positions from 0

// Sorted by source, then target. Links may come in any order.
LinkPairs symmetrize(const LinkPairs& forward, const LinkPairs& reverse, Symmetrization method);

}  // namespace hiddenite::align
