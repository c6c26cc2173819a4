// A binary tree over word classes, for the bit strings of Brown's format.
//
// Classes are merged two by two, always the pair whose merger loses the least
// average mutual information (Brown et al. 1992, section 3). With q(c, d) the
// summand of the pair, the loss of merging i and j is
//   s_i + s_j - q(i, j) - q(j, i) - m(i, j),
// s_i the sum of all summands that have i and m(i, j) that of the merged class.
// A merger or a newcomer k changes m of the other pairs by the summands with k
// only, so either costs W^2. Only W classes are candidates at a time, in the
// given order; each merger lets the next one in.
#pragma once

#include <string>
#include <vector>

#include "hiddenite/hmm/clusters.hpp"

namespace hiddenite::hmm {

// matrix: N(c, d), rows of `width` columns; the bit string of each of the first
// num_classes classes. A lone class has the empty string.
std::vector<std::string> cluster_paths(const std::vector<std::uint32_t>& matrix, std::size_t width,
                                       ClassId num_classes, std::size_t window = 256);

}  // namespace hiddenite::hmm
