// One labelling of items from several whose labels have nothing to do with each other:
// labels are matched, vote, and a latent class behind each item is fitted.
//
// Rows are witnesses (chains of a sampler, or what groups of them said), columns are items
// (words), a label is below the number of classes K; `weights` are of items. A label of one
// row is matched with one of another so that the weight of the items on which they agree
// is greatest. Votes begin with the names of one row; latent classes begin with the votes
// and climb by expectation-maximisation (Dawid & Skene 1979) in
//   p(t_1, .., t_C) = sum_k p(k) prod_c p_c(t_c | k).
// Tables have Dirichlet priors whose mode is taken, so no probability is zero and every step
// climbs. `agree` takes items of equal labels for one item of their weight.
//
// Votes that begin elsewhere end elsewhere. Of many ends `most_telling` takes the one whose
// classes carry most information on the rows' labels and, in a text of the items, on the
// class of the next token.
//
// A step costs items x witnesses x classes, an end besides its votes witnesses x (items +
// classes^2) + tokens. Everything is the same for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hiddenite::induce {

struct Witnesses {
  std::span<const std::int32_t> labels;  // [row, item]
  std::span<const double> weights;       // [item]
  std::size_t num_classes;

  std::size_t num_items() const { return weights.size(); }
  std::size_t num_rows() const { return labels.size() / weights.size(); }
  std::span<const std::int32_t> row(std::size_t i) const { return labels.subspan(i * num_items(), num_items()); }
};

// Labels renamed one to one, so that the weight of those that equal `target` is greatest.
std::vector<std::int32_t> match_labels(std::span<const std::int32_t> labels, std::span<const std::int32_t> target,
                                       std::span<const double> weights, std::size_t num_classes);

// [row, row]: the weight of the items on which two rows agree once they are matched; 0 with itself.
std::vector<double> shared_weights(const Witnesses& witnesses, int threads);

// The row that agrees most with the others; of equals the first.
std::size_t medoid(std::span<const double> shared, std::size_t num_rows);

// The label that most rows vote for; its name is that of the row `first`. Of equal ones that which had it before.
std::vector<std::int32_t> vote(const Witnesses& witnesses, std::size_t first);

// A text whose tokens are items.
struct ItemText {
  std::span<const std::int32_t> tokens;
  std::span<const std::int64_t> offsets;  // of sentences
};

struct Agreed {
  std::vector<std::int32_t> classes;  // [item]
  double weight;  // of the items, over all rows, whose label is their class once the row is matched
  double told = 0.0;  // nats: I(class; label), mean over rows, and I(class; class of the next token)
};

// From each of the `beginnings`, [number, item]: rows are matched with the classes and vote anew for as long as the
// weight on which they agree rises. Returns the end that tells most; of those that differ by rounding alone, as the
// same classes under other names may, the first.
Agreed most_telling(const Witnesses& witnesses, const ItemText& text, std::span<const std::int32_t> beginnings,
                    int threads);

struct LatentClasses {
  std::vector<double> posterior;   // [item, class]
  std::vector<double> objectives;  // after each step: ln p(labels) + ln of the prior
};

// Climbs from the classes `first` until a step gains too little, or for so many steps.
LatentClasses fit_latent_classes(const Witnesses& witnesses, std::span<const std::int32_t> first,
                                 std::size_t most_steps, int threads);

// [item, class]: votes that begin with the names of the row `first`, then latent classes. One row answers alone.
std::vector<double> agree(const Witnesses& witnesses, std::size_t first, std::size_t most_steps, int threads);

// [group, item]: the class that each group of rows agrees on, begun with the names of its medoid.
std::vector<std::int32_t> agree_in_groups(const Witnesses& witnesses,
                                          const std::vector<std::vector<std::uint32_t>>& groups,
                                          std::size_t most_steps, int threads);

}  // namespace hiddenite::induce
