#include "hiddenite/induce/consensus.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "hiddenite/induce/matching.hpp"

using namespace hiddenite::induce;
using namespace nb::literals;

namespace {

using LabelRows = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using WeightTable = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t MOST_CLASSES = 4096;  // tables have their square

void check_classes(std::size_t num_classes) {
  if (num_classes > MOST_CLASSES) throw nb::value_error("expected at most 4096 classes");
}

bool are_labels(std::span<const std::int32_t> labels, std::size_t num_classes) {
  return std::all_of(labels.begin(), labels.end(),
                     [&](std::int32_t label) { return label >= 0 && static_cast<std::size_t>(label) < num_classes; });
}

bool are_weights(std::span<const double> weights) {
  return std::all_of(weights.begin(), weights.end(),
                     [](double weight) { return weight >= 0.0 && std::isfinite(weight); });
}

std::span<const std::int32_t> classes_of(const Input<std::int32_t>& labels, std::size_t num_items,
                                         std::size_t num_classes) {
  const std::span<const std::int32_t> classes{labels.data(), labels.size()};
  if (classes.size() != num_items || !are_labels(classes, num_classes)) {
    throw nb::value_error("expected a class for each item");
  }
  return classes;
}

Witnesses witnesses_of(const LabelRows& labels, const Input<double>& weights, std::size_t num_classes) {
  check_classes(num_classes);
  const Witnesses witnesses{{labels.data(), labels.size()}, {weights.data(), weights.size()}, num_classes};
  if (labels.shape(0) == 0 || labels.shape(1) == 0 || labels.shape(1) != weights.size()) {
    throw nb::value_error("expected rows of labels, one for each weight");
  }
  if (!are_labels(witnesses.labels, num_classes)) throw nb::value_error("a label is out of range");
  if (!are_weights(witnesses.weights)) throw nb::value_error("expected finite weights of zero or more");
  return witnesses;
}

void check_row(std::size_t row, const Witnesses& witnesses) {
  if (row >= witnesses.num_rows()) throw nb::value_error("there is no such row");
}

}  // namespace

void bind_consensus(nb::module_& m) {
  m.def("best_matching",
        [](const WeightTable& weights) {
          const std::span<const double> cells{weights.data(), weights.size()};
          if (!std::all_of(cells.begin(), cells.end(), [](double cell) { return std::isfinite(cell); })) {
            throw nb::value_error("expected finite weights");
          }
          const WithoutGil release;
          return best_matching(cells, weights.shape(0), weights.shape(1));
        },
        "weights"_a, "Pairs (row, column), each used at most once, of the largest total weight.");
  m.def("match_labels",
        [](const Input<std::int32_t>& labels, const Input<std::int32_t>& target, const Input<double>& weights,
           std::size_t num_classes) {
          check_classes(num_classes);
          const std::span<const double> of_item{weights.data(), weights.size()};
          if (!are_weights(of_item)) throw nb::value_error("expected finite weights of zero or more");
          const auto from = classes_of(labels, of_item.size(), num_classes);
          const auto to = classes_of(target, of_item.size(), num_classes);
          std::vector<std::int32_t> renamed;
          {
            const WithoutGil release;
            renamed = match_labels(from, to, of_item, num_classes);
          }
          return to_array(std::move(renamed));
        },
        "labels"_a, "target"_a, "weights"_a, "num_classes"_a,
        "Labels renamed one to one, so that the weight of those that equal the target is greatest.");
  m.def("shared_weights",
        [](const LabelRows& labels, const Input<double>& weights, std::size_t num_classes, int threads) {
          const Witnesses witnesses = witnesses_of(labels, weights, num_classes);
          const WithoutGil release;
          return shared_weights(witnesses, threads);
        },
        "labels"_a, "weights"_a, "num_classes"_a, "threads"_a = 0,
        "[row, row], flat: the weight of the items on which two rows agree once they are matched.");
  m.def("vote",
        [](const LabelRows& labels, const Input<double>& weights, std::size_t num_classes, std::size_t first) {
          const Witnesses witnesses = witnesses_of(labels, weights, num_classes);
          check_row(first, witnesses);
          std::vector<std::int32_t> voted;
          {
            const WithoutGil release;
            voted = vote(witnesses, first);
          }
          return to_array(std::move(voted));
        },
        "labels"_a, "weights"_a, "num_classes"_a, "first"_a,
        "The label that most rows vote for, in the names of the row first.");
  m.def("most_telling",
        [](const LabelRows& labels, const Input<double>& weights, std::size_t num_classes, const LabelRows& beginnings,
           const Input<std::int32_t>& tokens, const Input<std::int64_t>& offsets, int threads) {
          const Witnesses witnesses = witnesses_of(labels, weights, num_classes);
          const Witnesses begun = witnesses_of(beginnings, weights, num_classes);
          const ItemText text{{tokens.data(), tokens.size()}, {offsets.data(), offsets.size()}};
          if (!are_labels(text.tokens, weights.size())) throw nb::value_error("a token is no item");
          if (!are_bounds(text.offsets, text.tokens.size())) throw nb::value_error("expected the bounds of sentences");
          Agreed found;
          {
            const WithoutGil release;
            found = most_telling(witnesses, text, begun.labels, threads);
          }
          return std::tuple(to_array(std::move(found.classes)), found.weight, found.told);
        },
        "labels"_a, "weights"_a, "num_classes"_a, "beginnings"_a, "tokens"_a, "offsets"_a, "threads"_a = 0,
        "(classes, the weight on which rows agree with them, nats that they tell), of the ends of voting that which "
        "tells most of the labels and of the next class.");
  m.def("latent_classes",
        [](const LabelRows& labels, const Input<double>& weights, std::size_t num_classes,
           const Input<std::int32_t>& first, std::size_t most_steps, int threads) {
          const Witnesses witnesses = witnesses_of(labels, weights, num_classes);
          const auto classes = classes_of(first, weights.size(), num_classes);
          LatentClasses found;
          {
            const WithoutGil release;
            found = fit_latent_classes(witnesses, classes, most_steps, threads);
          }
          return std::pair(to_array(std::move(found.posterior)), std::move(found.objectives));
        },
        "labels"_a, "weights"_a, "num_classes"_a, "first"_a, "most_steps"_a, "threads"_a = 0,
        "(posterior [item, class], flat; the objective after each step).");
  m.def("agree",
        [](const LabelRows& labels, const Input<double>& weights, std::size_t num_classes, std::size_t first,
           std::size_t most_steps, int threads) {
          const Witnesses witnesses = witnesses_of(labels, weights, num_classes);
          check_row(first, witnesses);
          std::vector<double> posterior;
          {
            const WithoutGil release;
            posterior = agree(witnesses, first, most_steps, threads);
          }
          return to_array(std::move(posterior));
        },
        "labels"_a, "weights"_a, "num_classes"_a, "first"_a, "most_steps"_a, "threads"_a = 0,
        "[item, class], flat: how probable the classes are by votes and latent classes.");
  m.def("agree_in_groups",
        [](const LabelRows& labels, const Input<double>& weights, std::size_t num_classes,
           const std::vector<std::vector<std::uint32_t>>& groups, std::size_t most_steps, int threads) {
          const Witnesses witnesses = witnesses_of(labels, weights, num_classes);
          for (const std::vector<std::uint32_t>& group : groups) {
            if (group.empty()) throw nb::value_error("a group is empty");
            for (const std::uint32_t row : group) check_row(row, witnesses);
          }
          std::vector<std::int32_t> said;
          {
            const WithoutGil release;
            said = agree_in_groups(witnesses, groups, most_steps, threads);
          }
          return to_array(std::move(said));
        },
        "labels"_a, "weights"_a, "num_classes"_a, "groups"_a, "most_steps"_a, "threads"_a = 0,
        "[group, item], flat: the class that each group of rows agrees on.");
}
