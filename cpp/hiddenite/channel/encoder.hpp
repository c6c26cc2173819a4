// Encoders: from what was meant to what a channel shows, for trying things out
// and for experiments in which the truth is known.
//
// Line l of a text takes its random numbers from stream l of the seed, so that
// a line's observation depends on its words and number only, however the text
// was cut into pieces.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hiddenite/base/random.hpp"

namespace hiddenite::channel {

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends the observation of `word`, which is UTF-8 and not empty: a draw from
  // the channel's noise, or without `random` what a perfect writer produces.
  virtual void encode_word(std::string_view word, Random* random, std::string& out) const = 0;
};

// The observations of a line's words, one space between them.
std::string encode_line(const Encoder& encoder, std::string_view line, std::optional<std::uint64_t> seed,
                        std::uint64_t line_number);

// The same for each line of a text, in order; every line of the result is
// ended. Throws FormatError with `name` and line where the text is not UTF-8.
std::string encode_text(const Encoder& encoder, std::string_view text, std::optional<std::uint64_t> seed,
                        const std::string& name, std::uint64_t first_line);

}  // namespace hiddenite::channel
