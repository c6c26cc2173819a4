#include "hiddenite/channel/context/tag_parts.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

namespace {

[[noreturn]] void misfit_of_parts(const std::string& what) {
  throw ModelError("the parts of the tags do not fit together: " + what);
}

}  // namespace

TagParts::TagParts(std::span<const std::uint64_t> begin, std::span<const std::uint32_t> parts)
    : num_tags_(begin.empty() ? 0 : begin.size() - 1), num_parts_(0), begin_(begin.begin(), begin.end()),
      parts_(parts.begin(), parts.end()) {
  if (begin.empty() || begin.front() != 0 || begin.back() != parts.size()) misfit_of_parts("sizes");
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
  for (std::uint32_t tag = 0; tag < num_tags_; ++tag) {
    if (begin[tag] >= begin[tag + 1]) misfit_of_parts("a tag has none");
    std::uint32_t at = 0;
    for (std::uint64_t k = begin[tag]; k < begin[tag + 1]; ++k) {
      num_parts_ = std::max(num_parts_, std::size_t{parts[k]} + 1);
      const auto [place, is_new] =
          numbers.try_emplace({at, parts[k]}, static_cast<std::uint32_t>(steps_.size()) + 1);
      if (is_new) steps_.push_back({at, parts[k], NO_END});
      at = place->second;
    }
    if (steps_[at - 1].tag != NO_END) misfit_of_parts("two tags have the same");
    steps_[at - 1].tag = tag;
  }
}

std::span<const std::uint32_t> TagParts::of(std::uint32_t tag) const {
  return std::span(parts_).subspan(begin_[tag], begin_[tag + 1] - begin_[tag]);
}

void TagParts::add_to_tags(std::span<const float> part_scores, std::span<float> tag_scores,
                           std::vector<float>& work) const {
  work.resize(steps_.size() + 1);
  work[0] = 0.0f;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    work[i + 1] = work[step.parent] + part_scores[step.part];
    if (step.tag != NO_END) tag_scores[step.tag] += work[i + 1];
  }
}

void TagParts::sum_by_part(std::span<const double> tags, std::vector<double>& parts,
                           std::vector<double>& work) const {
  parts.assign(num_parts_, 0.0);
  work.assign(steps_.size() + 1, 0.0);
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const Step& step = steps_[i];
    if (step.tag != NO_END) work[i + 1] += tags[step.tag];
    parts[step.part] += work[i + 1];
    work[step.parent] += work[i + 1];
  }
}

}  // namespace hiddenite::channel
