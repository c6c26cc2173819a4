// One model of an ARPA file: the sections between its counts and '\end\'.
#pragma once

#include <cstdint>
#include <vector>

#include "hiddenite/lm/arpa.hpp"
#include "hiddenite/lm/arpa_cursor.hpp"

namespace hiddenite::lm {

// Reads what follows '\1-grams:', up to '\end\'; `counts` are those of the header. Throws FormatError.
ReadArpa read_arpa_model(ArpaCursor& cursor, std::vector<std::uint64_t> counts, const ArpaOptions& options);

}  // namespace hiddenite::lm
