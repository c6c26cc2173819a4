// The slots channel: candidates and weights given by the user, one JSON object
// a line.
//
//   {"id": "s1", "slots": [[["the", -0.1], ["toe", -2.3]], [["dog", 0]]]}
//
// `slots` has one list per position, a list has pairs of a word and its natural
// log weight; null is the weight of something impossible, minus infinity. `id`,
// a string or an integer, comes back with the answer. Other keys are ignored, an
// empty line is an empty record. Words outside the vocabulary are UNKNOWN and
// keep their spelling. A word twice in a slot is an error, as are <s> and </s>.
//
// The parser is strict (RFC 8259) and small: it reads only what this needs and
// says at which column it found what. Reading is linear in the line, but for
// the search of doubles, which sorts each slot.
#pragma once

#include <string_view>

#include "hiddenite/channel/channel.hpp"

namespace hiddenite::channel {

class SlotsChannel final : public Channel {
 public:
  // The table stays the caller's and must outlive the channel.
  SlotsChannel(const NgramTable& table, std::size_t keep) : table_(table), keep_(keep) {}

 private:
  Reading read_text(std::string_view line) const override;

  const NgramTable& table_;
  std::size_t keep_;
};

}  // namespace hiddenite::channel
