// Compiled language models: the n-gram table, its vocabulary and, for exact
// inference, the index of its states, as arrays of one container.
//
// What opening promises. It checks header and sizes, and of the table whatever a
// look-up follows: the words' boundaries and hash table, suffixes (one level
// down each), children (ranges that meet). After that no look-up leaves the
// arrays and none runs for ever, whatever the other bytes hold; damage there
// gives wrong numbers, which only the checksums can find. Inference relies on
// more than that (bounds that hold, sorted arcs), so an Engine compares all
// checksums first, as does everything that writes the model again.
//
// Opening reads 4 bytes an n-gram and 4 a context, about a quarter of the table.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "hiddenite/base/container.hpp"
#include "hiddenite/lm/ngram.hpp"
#include "hiddenite/lm/state_index.hpp"

namespace hiddenite::lm {

// Throws FormatError. The bytes, at a multiple of 64, stay where they are as long as the table lives.
NgramTable open_compiled(std::string_view bytes, std::string name);

// `with_index`: the index for texts that end in </s> too, about twice the size of the table.
void write_compiled(const NgramTable& table, bool with_index, const std::function<void(std::string_view)>& sink);

// The index that the table was compiled with, its checksums compared; null if there is none.
std::unique_ptr<StateIndex> compiled_index(const NgramTable& table, bool ends);

// Compares the checksums of a compiled table; of any other there is nothing to compare.
void verify(const NgramTable& table);

}  // namespace hiddenite::lm
