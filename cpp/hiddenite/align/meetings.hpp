// Which words meet in a parallel text, without a table of all the pairs that do.
//
// The text is walked source word by source word: an index of its tokens, and one counter
// for each target word. That takes memory of the text's size, where a table of all pairs
// that meet takes several times as much. What is kept are numbers of partners, and the few
// pairs that are spelt alike. The same walk draws first links, by squared meetings over
// counts and near the diagonal: a start that needs no model.
#pragma once

#include <array>
#include <vector>

#include "hiddenite/align/bitext.hpp"
#include "hiddenite/base/random.hpp"

namespace hiddenite::align {

struct AlikePair {
  WordId source, target;
  float likeness;
};

struct Meetings {
  Meetings(const Bitext& bitext, bool string_prior);

  std::uint64_t num_cells() const { return cell_begin.back(); }
  std::size_t bytes() const;

  std::vector<std::uint64_t> cell_begin{0};  // [sentence]: cells of the link matrices before it, and all
  std::size_t longest = 0;                   // sentence, in words
  std::vector<AlikePair> alike;
  // Per word, [0] as the source word that generates: partners and their likeness.
  std::array<std::vector<std::uint32_t>, 2> partners, stem_partners;
  std::array<std::vector<float>, 2> likeness;
};

// links[d] of each generated token: a position + 1, or 0 where there is nothing to link with.
void draw_first_links(const Bitext& bitext, double diagonal, Random& random,
                      std::array<std::vector<std::uint32_t>*, 2> links);

}  // namespace hiddenite::align
