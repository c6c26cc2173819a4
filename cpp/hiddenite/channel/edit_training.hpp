// The counts of an edit model from pairs of words, by expectation-maximisation.
//
// A pair is what was meant and what was seen instead, with a weight. One
// iteration adds up, over all alignments of all pairs under the model so far,
// the expected number n(l, piece) of each piece behind each left neighbour:
//   n(l, piece) += weight A_i[j] p(piece | l, c) B_(i+..)[j+..] / p_edit(seen | intended)
// with A the sums of edit_model.hpp and B the same from the right. Give it the
// wrong pairs only: how often a word is wrong at all is counted apart.
// `given` counts, of an earlier training, are added in every iteration.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "hiddenite/channel/edit_model.hpp"

namespace hiddenite::channel {

struct EditPair {
  std::u32string intended, seen;
  double weight = 1.0;
};

struct EditCounts {
  std::vector<std::uint64_t> keys;  // EditModel::key, ascending
  std::vector<double> counts;
  double log_likelihood = 0.0;      // of the pairs under the model before
};

// One iteration: the expected counts under `model`.
EditCounts expected_edits(const EditModel& model, const std::vector<EditPair>& pairs);
// Several, from the model that the given counts make; the result holds them too.
EditCounts train_edits(const Alphabet& alphabet, SlipKind kind, const std::vector<EditPair>& pairs, int iterations,
                       const EditCounts& given = {});

}  // namespace hiddenite::channel
