#include "hiddenite/channel/context/word_attributes.hpp"

#include <algorithm>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/channel/word_features.hpp"

namespace hiddenite::channel {

namespace {

[[noreturn]] void misfit_of_attributes(const std::string& what) {
  throw ModelError("the words' attributes do not fit together: " + what);
}

}  // namespace

WordAttributes::WordAttributes(const std::vector<std::string>& words, std::vector<std::uint64_t> begin,
                               std::vector<std::uint32_t> numbers)
    : numbers_(std::move(numbers)) {
  if (begin.size() != words.size() + 1 || begin.front() != 0 || begin.back() != numbers_.size() ||
      !std::is_sorted(begin.begin(), begin.end())) {
    misfit_of_attributes("sizes of the tables");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].empty() || find_invalid_utf8(words[i]) != std::string::npos) {
      misfit_of_attributes("a word is not UTF-8 text");
    }
    const WordId id = words_.add(words[i]);
    first_.resize(words_.size(), 0);
    last_.resize(words_.size(), 0);
    if (last_[id] != first_[id]) misfit_of_attributes("'" + words[i] + "' is listed twice");
    first_[id] = begin[i];
    last_[id] = begin[i + 1];
  }
  first_.resize(words_.size(), 0);
  last_.resize(words_.size(), 0);
}

std::span<const std::uint32_t> WordAttributes::row(WordId id) const {
  if (id == NO_WORD) return {};
  return std::span(numbers_).subspan(first_[id], last_[id] - first_[id]);
}

std::span<const std::uint32_t> WordAttributes::of(std::string_view word) const {
  const std::span<const std::uint32_t> found = row(words_.find(word));
  return found.empty() ? row(words_.find(to_lower(word))) : found;
}

}  // namespace hiddenite::channel
