// Tags that are made of parts: NOUN|Case=Nom|Number=Sing has three.
//
// With hundreds of tags most are rare, and what is learnt of one should serve the
// others that share its parts. So weights belong to features and parts, and
//
//   score(tag) = sum of score(part) over the parts of the tag.
//
// The tags are the ends of the paths of a tree whose steps are parts; tags that
// begin alike share their first steps, so both directions cost the tree's size,
// not the sum of all tags' lengths. Without parts each tag is its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiddenite/rooms.hpp"

namespace hiddenite::channel {

class TagParts {
 public:
  // Each tag is its own part.
  explicit TagParts(std::size_t num_tags) : num_tags_(num_tags), num_parts_(num_tags) {}
  // Tag t has parts[begin[t]] .. parts[begin[t + 1]], at least one. Throws ModelError for what does not fit.
  TagParts(std::span<const std::uint64_t> begin, std::span<const std::uint32_t> parts);

  bool is_trivial() const { return steps_.empty(); }
  std::size_t num_tags() const { return num_tags_; }
  std::size_t num_parts() const { return num_parts_; }
  // The parts of a tag.
  std::span<const std::uint32_t> of(std::uint32_t tag) const;

  // Adds to each tag's score those of its parts. `work` is scratch memory.
  void add_to_tags(std::span<const float> part_scores, std::span<float> tag_scores, std::vector<float>& work) const;
  // Writes for each part the sum over the tags that have it.
  void sum_by_part(std::span<const double> tags, std::vector<double>& parts, std::vector<double>& work) const;

 private:
  static constexpr std::uint32_t NO_END = 0xFFFFFFFF;
  struct Step {
    std::uint32_t parent;  // number + 1 of the step before, 0 at the root
    std::uint32_t part;
    std::uint32_t tag;     // that ends here, or NO_END
  };

  std::size_t num_tags_, num_parts_;
  std::vector<Step> steps_;  // parents first
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint32_t> parts_;
};

}  // namespace hiddenite::channel
