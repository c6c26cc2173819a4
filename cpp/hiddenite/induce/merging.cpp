#include "hiddenite/induce/merging.hpp"

#include <limits>
#include <numeric>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/induce/information.hpp"

namespace hiddenite::induce {

namespace {

// What is lost when two cells become one.
double loss_of_adding(double a, double b) { return information(a) + information(b) - information(a + b); }

// [tag, next tag], flat; the sentence's end is the tag `num_tags`.
std::vector<double> count_bigrams(std::span<const std::int32_t> tags, std::span<const std::int64_t> offsets,
                                  unsigned num_tags) {
  const std::size_t width = num_tags + std::size_t{1};
  std::vector<double> counts(width * width);
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    std::size_t before = num_tags;
    for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i) {
      const auto tag = static_cast<std::size_t>(tags[i]);
      counts[before * width + tag] += 1.0;
      before = tag;
    }
    counts[before * width + num_tags] += 1.0;
  }
  return counts;
}

class TagBigrams {
 public:
  TagBigrams(std::span<const std::int32_t> tags, std::span<const std::int64_t> offsets, unsigned num_tags)
      : width_(num_tags + 1), count_(count_bigrams(tags, offsets, num_tags)), total_(width_),
        losses_(num_tags * num_tags) {
    for (std::size_t t = 0; t < count_.size(); ++t) total_[t % width_] += count_[t];
    left_.resize(num_tags);
    std::iota(left_.begin(), left_.end(), std::size_t{0});
    for (const std::size_t s : left_) {
      for (const std::size_t t : left_) {
        if (s < t) loss(s, t) = full_loss(s, t);
      }
    }
  }

  const std::vector<std::size_t>& left() const { return left_; }

  // Of the pairs of one kind, if there is any and kinds are given; else of all.
  TagMerge cheapest(std::span<const std::int32_t> kinds) {
    TagMerge best{-1, -1, std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < left_.size(); ++i) {
      for (std::size_t j = i + 1; j < left_.size(); ++j) {
        if (!kinds.empty() && kinds[left_[i]] != kinds[left_[j]]) continue;
        const double here = loss(left_[i], left_[j]);
        if (here < best.loss) best = {static_cast<std::int32_t>(left_[i]), static_cast<std::int32_t>(left_[j]), here};
      }
    }
    return best.kept < 0 && !kinds.empty() ? cheapest({}) : best;
  }

  void merge(std::size_t kept, std::size_t gone) {
    for_other_pairs(kept, gone, [&](std::size_t s, std::size_t t) {
      loss(s, t) -= cell_loss(s, t, kept) + cell_loss(s, t, gone);
    });
    for (std::size_t u = 0; u < width_; ++u) {
      count(kept, u) += count(gone, u);
      count(gone, u) = 0.0;
    }
    for (std::size_t u = 0; u < width_; ++u) {
      count(u, kept) += count(u, gone);
      count(u, gone) = 0.0;
    }
    total_[kept] += total_[gone];
    total_[gone] = 0.0;
    std::erase(left_, gone);
    for_other_pairs(kept, gone, [&](std::size_t s, std::size_t t) { loss(s, t) += cell_loss(s, t, kept); });
    for (const std::size_t t : left_) {
      if (t < kept) loss(t, kept) = full_loss(t, kept);
      if (t > kept) loss(kept, t) = full_loss(kept, t);
    }
  }

 private:
  double& count(std::size_t s, std::size_t t) { return count_[s * width_ + t]; }
  double& loss(std::size_t s, std::size_t t) { return losses_[s * (width_ - 1) + t]; }

  template <class Do>
  void for_other_pairs(std::size_t kept, std::size_t gone, const Do& change) {
    for (const std::size_t s : left_) {
      for (const std::size_t t : left_) {
        if (s < t && s != kept && s != gone && t != kept && t != gone) change(s, t);
      }
    }
  }

  double cell_loss(std::size_t s, std::size_t t, std::size_t u) {
    return loss_of_adding(count(s, u), count(t, u)) + loss_of_adding(count(u, s), count(u, t));
  }

  double full_loss(std::size_t s, std::size_t t) {
    const double inside[4] = {count(s, s), count(s, t), count(t, s), count(t, t)};
    double sum = -information(inside[0] + inside[1] + inside[2] + inside[3]);
    for (const double cell : inside) sum += information(cell);
    for (const std::size_t u : left_) {
      if (u != s && u != t) sum += cell_loss(s, t, u);
    }
    return sum + cell_loss(s, t, width_ - 1) - 2.0 * loss_of_adding(total_[s], total_[t]);
  }

  std::size_t width_;                // tags and the sentence's end
  std::vector<double> count_, total_, losses_;
  std::vector<std::size_t> left_;    // tags that are not merged into another, in order
};

}  // namespace

double neighbour_information(std::span<const std::int32_t> tags, std::span<const std::int64_t> offsets,
                             unsigned num_tags) {
  return mutual_information(count_bigrams(tags, offsets, num_tags), num_tags + std::size_t{1});
}

MergedTags merge_tags(std::span<const std::int32_t> tags, std::span<const std::int64_t> offsets, unsigned num_tags,
                      unsigned target, std::span<const std::int32_t> kinds) {
  if (target == 0) throw ModelError("expected at least one tag to be left");
  for (const std::int32_t tag : tags) {
    if (tag < 0 || static_cast<unsigned>(tag) >= num_tags) throw ModelError("a tag is out of range");
  }
  if (!kinds.empty() && kinds.size() != num_tags) throw ModelError("expected a kind for each tag");
  TagBigrams bigrams(tags, offsets, num_tags);
  MergedTags found;
  std::vector<std::int32_t> into(num_tags);
  std::iota(into.begin(), into.end(), 0);
  while (bigrams.left().size() > target) {
    check_interrupt();
    const TagMerge merge = bigrams.cheapest(kinds);
    bigrams.merge(static_cast<std::size_t>(merge.kept), static_cast<std::size_t>(merge.gone));
    for (std::int32_t& tag : into) {
      if (tag == merge.gone) tag = merge.kept;
    }
    found.merges.push_back(merge);
  }
  std::vector<std::int32_t> number(num_tags, -1);
  for (std::size_t i = 0; i < bigrams.left().size(); ++i) number[bigrams.left()[i]] = static_cast<std::int32_t>(i);
  for (const std::int32_t tag : into) found.of_tag.push_back(number[static_cast<std::size_t>(tag)]);
  return found;
}

}  // namespace hiddenite::induce
