// Small files of n-gram models: what an ARPA file says and nothing that can be
// computed from it.
//
// A compiled model (compiled.hpp) is mapped as it is and so holds all that a
// look-up follows. A compact one holds words, numbers of children, probabilities
// and back-off weights; suffixes and max columns are made when it is opened,
// which takes a fifth of the time of reading the text. Numbers of which an order
// has at most 65,536 different ones are codes of one or two bytes. All others are
// floats: nothing is lost.
//
// quantize() makes such a table of any: each order's probabilities are rounded
// to 2^bits values that lie where its numbers lie (Lloyd 1982), then back-off
// weights are made anew for the rounded probabilities and rounded too. The table
// is an ordinary one whose numbers repeat: its bounds are computed for those
// numbers, so every proof holds for the model as it is.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

// `bits`: 4 to 16.
NgramTable quantize(const NgramTable& table, int bits);

void write_compact(const NgramTable& table, const std::function<void(std::string_view)>& sink);

// Whether a container of a compiled model is a compact one, and its table. Throws FormatError.
bool is_compact(const Container& container);
NgramTable open_compact(const Container& container);

// At most `most` values near all of those given, in ascending order; zeros of probability (-inf) have one of them.
std::vector<float> representatives(std::vector<float> values, std::size_t most);

}  // namespace hiddenite::lm
