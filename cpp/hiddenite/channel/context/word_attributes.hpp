// What is known of words beforehand, as small numbers: the classes that a raw
// text puts them into, the tags that a dictionary lists for them.
//
// An attribute is a feature of context_features.hpp like any other, so a word
// that no tagged text has is still met as one of its class. A word is looked up
// as it is, then in lower case.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/lm/vocabulary.hpp"

namespace hiddenite::channel {

class WordAttributes {
 public:
  // Word i has numbers[begin[i]] .. numbers[begin[i + 1]]. Throws ModelError for what does not fit together.
  WordAttributes(const std::vector<std::string>& words, std::vector<std::uint64_t> begin,
                 std::vector<std::uint32_t> numbers);

  // Empty for a word that is not listed.
  std::span<const std::uint32_t> of(std::string_view word) const;

 private:
  std::span<const std::uint32_t> row(WordId id) const;

  Vocabulary words_;
  std::vector<std::uint64_t> first_, last_;  // [id]
  std::vector<std::uint32_t> numbers_;
};

}  // namespace hiddenite::channel
