#include "hiddenite/channel/context/tagged_text.hpp"

#include <algorithm>
#include <cmath>

#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

void misfit_of_text(const std::string& what) {
  throw ModelError("the tagged text does not fit together: " + what);
}

void TaggedText::check(std::size_t num_tags) const {
  if (word.size() != tag.size() || word.size() != counted.size() || begin.empty() || begin.front() != 0 ||
      begin.back() != word.size() || !std::is_sorted(begin.begin(), begin.end())) {
    misfit_of_text("sizes");
  }
  for (const std::uint32_t w : word) {
    if (w >= words.size()) misfit_of_text("a word is out of range");
  }
  for (const std::vector<std::uint32_t>* tags : {&tag, &counted}) {
    for (const std::uint32_t t : *tags) {
      if (t != NO_TAG && t >= num_tags) misfit_of_text("a tag is out of range");
    }
  }
  if (evidence_begin.empty()) return;
  if (evidence_begin.size() != word.size() + 1 || evidence_begin.front() != 0 ||
      evidence_begin.back() != evidence_tag.size() || evidence_tag.size() != evidence_log.size() ||
      !std::is_sorted(evidence_begin.begin(), evidence_begin.end())) {
    misfit_of_text("sizes of the evidence");
  }
  for (const std::uint32_t t : evidence_tag) {
    if (t >= num_tags) misfit_of_text("a tag is out of range");
  }
  if (!std::all_of(evidence_log.begin(), evidence_log.end(), [](double x) { return std::isfinite(x); })) {
    misfit_of_text("evidence is no number");
  }
}

std::span<const std::uint32_t> TaggedText::evidence_tags(std::size_t token) const {
  if (evidence_begin.empty() || tag[token] != NO_TAG) return {};
  const std::uint64_t first = evidence_begin[token];
  return std::span(evidence_tag).subspan(first, evidence_begin[token + 1] - first);
}

double TaggedText::log_evidence(std::size_t token, std::uint32_t t) const {
  if (tag[token] != NO_TAG) return t == tag[token] ? 0.0 : LOG_ZERO;
  const std::span<const std::uint32_t> tags = evidence_tags(token);
  if (tags.empty()) return 0.0;
  const auto found = std::find(tags.begin(), tags.end(), t);
  return found == tags.end() ? LOG_ZERO
                             : evidence_log[evidence_begin[token] + static_cast<std::size_t>(found - tags.begin())];
}

}  // namespace hiddenite::channel
