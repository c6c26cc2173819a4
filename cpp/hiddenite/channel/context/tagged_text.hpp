// A text with what is known of its words' tags: what taggers learn from.
//
// Of a word one knows its tag, nothing, or evidence: e(t) for some tags t, 0 for the
// others. A dictionary gives e = 1 for the tags that it lists; labels that come
// from a translation give numbers in between. A right tag is e = 1 for it alone, and
// nothing is e = 1 for all, so that there is one rule: tag sequences count with the
// product of e_i(t_i).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiddenite/base/types.hpp"

namespace hiddenite::channel {

inline constexpr std::uint32_t NO_TAG = 0xFFFFFFFF;

struct TaggedText {
  std::vector<std::string> words;    // different ones
  std::vector<std::uint32_t> word;   // [token]
  std::vector<std::uint32_t> tag;    // [token], or NO_TAG
  std::vector<std::uint32_t> counted;  // [token]: the tag that it counts for in p(t | w), or NO_TAG
  std::vector<std::uint64_t> begin;  // sentence i has the tokens begin[i] .. begin[i + 1]
  // ln e of tokens without a tag: those of token i are evidence_begin[i] .. evidence_begin[i + 1], none if
  // nothing is known of it. Empty if there is none at all.
  std::vector<std::uint64_t> evidence_begin;
  std::vector<std::uint32_t> evidence_tag;
  std::vector<double> evidence_log;

  // Throws ModelError for what does not fit together.
  void check(std::size_t num_tags) const;

  bool is_annotated(std::size_t token) const { return tag[token] != NO_TAG || !evidence_tags(token).empty(); }
  // The tags that the evidence of a token without a tag names.
  std::span<const std::uint32_t> evidence_tags(std::size_t token) const;
  // ln e(t), -inf for a tag that is ruled out.
  double log_evidence(std::size_t token, std::uint32_t t) const;
};

[[noreturn]] void misfit_of_text(const std::string& what);

}  // namespace hiddenite::channel
