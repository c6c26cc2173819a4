// ARPA text: reading what other toolkits write, writing what they read.
//
// Liberal in what is usable (preambles, CRLF, missing back-off columns, models
// that are not closed), strict in what would be a guess (see docs/arpa.md).
// A log10 of exactly -99 and -inf stand for zero; any other number is meant.
// A MAX-ARPA file has two more columns on each line, log10 mf and log10 mb;
// the reader accepts it and computes the two columns anew. It also lists the
// n-grams that were inserted to close the table, because they have bounds of
// their own (and, after back-off weights above 1, "probabilities" above 1); a
// plain file lists what was read or estimated.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hiddenite/base/text.hpp"
#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

struct ArpaOptions {
  // log10 p(<unk>) for a file that lists no <unk>; none: probability zero.
  std::optional<double> unknown_log10;
};

struct ReadArpa {
  NgramTable table;
  std::vector<std::string> warnings;  // one line each
  std::size_t implied = 0;            // n-grams inserted to close the table
};

// Throws FormatError.
ReadArpa read_arpa(LineReader& lines, const ArpaOptions& options = {});

using TextSink = std::function<void(std::string_view)>;

// Writes the n-grams in the table's order. Reading the file again gives the
// same floats, and the same ids.
void write_arpa(const NgramTable& table, bool with_max_columns, const TextSink& sink);

}  // namespace hiddenite::lm
