#include "hiddenite/induce/consensus.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "hiddenite/base/parallel.hpp"
#include "hiddenite/induce/information.hpp"
#include "hiddenite/induce/matching.hpp"
#include "hiddenite/induce/merging.hpp"

namespace hiddenite::induce {

namespace {

constexpr int VOTES = 3;             // rounds
constexpr double SMOOTHING = 0.01;   // added to each count of a label table
constexpr double DOUBT = 0.1;        // of the votes, in the first step
constexpr double LEAST_GAIN = 1e-7;  // of the objective, in a step, per unit of weight
constexpr double ROUNDING = 1e-9;    // of sums of some thousand terms, in nats
constexpr std::size_t BLOCK = 256;   // items that are looked at together; sums do not depend on threads

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::vector<double> joint_weights(std::span<const std::int32_t> left, std::span<const std::int32_t> right,
                                  std::span<const double> weights, std::size_t num_classes) {
  std::vector<double> table(num_classes * num_classes);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    table[static_cast<std::size_t>(left[i]) * num_classes + static_cast<std::size_t>(right[i])] += weights[i];
  }
  return table;
}

// The labels and their names, of all that occur.
Pairs counterparts(const std::vector<double>& table, std::size_t num_classes) {
  std::vector<std::uint32_t> rows, columns;
  for (std::size_t a = 0; a < num_classes; ++a) {
    bool in_row = false, in_column = false;
    for (std::size_t b = 0; b < num_classes; ++b) {
      in_row = in_row || table[a * num_classes + b] > 0.0;
      in_column = in_column || table[b * num_classes + a] > 0.0;
    }
    if (in_row) rows.push_back(static_cast<std::uint32_t>(a));
    if (in_column) columns.push_back(static_cast<std::uint32_t>(a));
  }
  std::vector<double> cells;
  for (const std::uint32_t r : rows) {
    for (const std::uint32_t c : columns) cells.push_back(table[r * num_classes + c]);
  }
  Pairs pairs = best_matching(cells, rows.size(), columns.size());
  for (auto& [r, c] : pairs) {
    r = rows[r];
    c = columns[c];
  }
  return pairs;
}

// Items of equal labels as one item of their weight.
struct Distinct {
  explicit Distinct(const Witnesses& all) : item_tuple(all.num_items()) {
    const std::size_t num_rows = all.num_rows();
    std::vector<std::int32_t> columns(all.labels.size());  // [item, row]
    for (std::size_t r = 0; r < num_rows; ++r) {
      for (std::size_t i = 0; i < all.num_items(); ++i) columns[i * num_rows + r] = all.row(r)[i];
    }
    const auto column = [&](std::size_t i) { return std::span(columns).subspan(i * num_rows, num_rows); };
    std::vector<std::size_t> order(all.num_items());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto left = column(a), right = column(b);
      const auto [x, y] = std::mismatch(left.begin(), left.end(), right.begin());
      return x == left.end() ? a < b : *x < *y;
    });
    std::vector<std::size_t> shown;  // an item of each tuple
    for (const std::size_t i : order) {
      if (shown.empty() || !std::ranges::equal(column(shown.back()), column(i))) {
        shown.push_back(i);
        weights.push_back(0.0);
      }
      weights.back() += all.weights[i];
      item_tuple[i] = shown.size() - 1;
    }
    labels.resize(num_rows * shown.size());
    for (std::size_t r = 0; r < num_rows; ++r) {
      for (std::size_t t = 0; t < shown.size(); ++t) labels[r * shown.size() + t] = all.row(r)[shown[t]];
    }
  }

  Witnesses witnesses(std::size_t num_classes) const { return {labels, weights, num_classes}; }

  std::vector<std::size_t> item_tuple;
  std::vector<std::int32_t> labels;  // [row, tuple]
  std::vector<double> weights;
};

// Expectation-maximisation, a step at a time.
class LatentClassModel {
 public:
  LatentClassModel(const Witnesses& witnesses, std::span<const std::int32_t> first, int threads)
      : w_(witnesses), threads_(threads),
        posterior_(w_.num_items() * w_.num_classes, DOUBT / static_cast<double>(w_.num_classes)),
        log_tables_(w_.num_rows() * w_.num_classes * w_.num_classes), log_shares_(w_.num_classes),
        priors_(w_.num_rows()), evidence_((w_.num_items() + BLOCK - 1) / BLOCK) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      posterior_[i * w_.num_classes + static_cast<std::size_t>(first[i])] += 1.0 - DOUBT;
    }
  }

  // Returns the objective.
  double step() {
    find_shares();
    base::parallel_for(w_.num_rows(), threads_, [&](std::size_t row, int) { find_table(row); });
    base::parallel_for(evidence_.size(), threads_, [&](std::size_t block, int) { find_posterior(block); });
    const double prior = std::accumulate(priors_.begin(), priors_.end(),
                                         SMOOTHING * std::accumulate(log_shares_.begin(), log_shares_.end(), 0.0));
    return std::accumulate(evidence_.begin(), evidence_.end(), prior);
  }

  std::vector<double> take() { return std::move(posterior_); }

 private:
  void find_shares() {
    const std::size_t k = w_.num_classes;
    std::vector<double> shares(k, SMOOTHING);
    for (std::size_t i = 0; i < w_.num_items(); ++i) {
      for (std::size_t c = 0; c < k; ++c) shares[c] += w_.weights[i] * posterior_[i * k + c];
    }
    const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (std::size_t c = 0; c < k; ++c) log_shares_[c] = std::log(shares[c] / total);
  }

  // ln p(label | class) of a row, given the posterior.
  void find_table(std::size_t row) {
    const std::size_t k = w_.num_classes;
    double* const table = log_tables_.data() + row * k * k;  // [label, class]
    std::fill(table, table + k * k, SMOOTHING);
    const auto labels = w_.row(row);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      double* const cells = table + static_cast<std::size_t>(labels[i]) * k;
      const double* const mass = posterior_.data() + i * k;
      const double weight = w_.weights[i];
      for (std::size_t c = 0; c < k; ++c) cells[c] += weight * mass[c];
    }
    std::vector<double> totals(k);
    for (std::size_t t = 0; t < k * k; ++t) totals[t % k] += table[t];
    double sum = 0.0;
    for (std::size_t t = 0; t < k * k; ++t) sum += table[t] = std::log(table[t] / totals[t % k]);
    priors_[row] = SMOOTHING * sum;
  }

  // The posterior of some items, given the tables.
  void find_posterior(std::size_t block) {
    const std::size_t k = w_.num_classes, end = std::min(w_.num_items(), (block + 1) * BLOCK);
    evidence_[block] = 0.0;
    for (std::size_t i = block * BLOCK; i < end; ++i) {
      double* const logs = posterior_.data() + i * k;
      std::copy(log_shares_.begin(), log_shares_.end(), logs);
      for (std::size_t row = 0; row < w_.num_rows(); ++row) {
        const double* const cells = log_tables_.data() + (row * k + static_cast<std::size_t>(w_.row(row)[i])) * k;
        for (std::size_t c = 0; c < k; ++c) logs[c] += cells[c];
      }
      const double top = *std::max_element(logs, logs + k);
      double total = 0.0;
      for (std::size_t c = 0; c < k; ++c) total += logs[c] = std::exp(logs[c] - top);
      for (std::size_t c = 0; c < k; ++c) logs[c] /= total;
      evidence_[block] += w_.weights[i] * (std::log(total) + top);
    }
  }

  Witnesses w_;
  int threads_;
  std::vector<double> posterior_;    // [item, class]
  std::vector<double> log_tables_;   // [row, label, class]
  std::vector<double> log_shares_, priors_, evidence_;  // of classes, rows, blocks
};

// What rows vote for once they are matched with `classes`, of equals the class before; and the weight on which they
// agree with `classes`.
Agreed vote_once(const Witnesses& witnesses, std::span<const std::int32_t> classes) {
  base::check_interrupt();
  const std::size_t k = witnesses.num_classes;
  std::vector<double> votes(witnesses.num_items() * k);
  Agreed found{std::vector<std::int32_t>(classes.begin(), classes.end()), 0.0};
  for (std::size_t row = 0; row < witnesses.num_rows(); ++row) {
    const auto matched = match_labels(witnesses.row(row), classes, witnesses.weights, k);
    for (std::size_t i = 0; i < matched.size(); ++i) {
      votes[i * k + static_cast<std::size_t>(matched[i])] += 1.0;
      if (matched[i] == classes[i]) found.weight += witnesses.weights[i];
    }
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    double* const own = votes.data() + i * k;
    own[classes[i]] += 0.5;
    found.classes[i] = static_cast<std::int32_t>(std::max_element(own, own + k) - own);
  }
  return found;
}

// Nats, see `Agreed`.
double told_by(std::span<const std::int32_t> classes, const Witnesses& witnesses, const ItemText& text) {
  const std::size_t k = witnesses.num_classes;
  double of_labels = 0.0;
  for (std::size_t row = 0; row < witnesses.num_rows(); ++row) {
    base::check_interrupt();
    of_labels += mutual_information(joint_weights(classes, witnesses.row(row), witnesses.weights, k), k);
  }
  std::vector<std::int32_t> of_token(text.tokens.size());
  for (std::size_t i = 0; i < of_token.size(); ++i) of_token[i] = classes[static_cast<std::size_t>(text.tokens[i])];
  return of_labels / static_cast<double>(witnesses.num_rows()) +
         neighbour_information(of_token, text.offsets, static_cast<unsigned>(k));
}

}  // namespace

std::vector<std::int32_t> match_labels(std::span<const std::int32_t> labels, std::span<const std::int32_t> target,
                                       std::span<const double> weights, std::size_t num_classes) {
  std::vector<std::int32_t> names(num_classes, -1);
  std::vector<char> is_taken(num_classes);
  for (const auto& [label, name] : counterparts(joint_weights(labels, target, weights, num_classes), num_classes)) {
    names[label] = static_cast<std::int32_t>(name);
    is_taken[name] = 1;
  }
  std::size_t next = 0;  // what has no counterpart takes the names that are left
  for (std::int32_t& name : names) {
    if (name >= 0) continue;
    while (is_taken[next]) ++next;
    name = static_cast<std::int32_t>(next++);
  }
  std::vector<std::int32_t> renamed;
  for (const std::int32_t label : labels) renamed.push_back(names[static_cast<std::size_t>(label)]);
  return renamed;
}

std::vector<double> shared_weights(const Witnesses& witnesses, int threads) {
  const std::size_t n = witnesses.num_rows();
  std::vector<double> shared(n * n);
  base::parallel_for(n, threads, [&](std::size_t i, int) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const auto table = joint_weights(witnesses.row(j), witnesses.row(i), witnesses.weights, witnesses.num_classes);
      for (const auto& [label, name] : counterparts(table, witnesses.num_classes)) {
        shared[i * n + j] += table[label * witnesses.num_classes + name];
      }
      shared[j * n + i] = shared[i * n + j];
    }
  });
  return shared;
}

std::size_t medoid(std::span<const double> shared, std::size_t num_rows) {
  std::vector<double> totals(num_rows);
  for (std::size_t t = 0; t < shared.size(); ++t) totals[t % num_rows] += shared[t];
  return static_cast<std::size_t>(std::max_element(totals.begin(), totals.end()) - totals.begin());
}

std::vector<std::int32_t> vote(const Witnesses& witnesses, std::size_t first) {
  const auto begun = witnesses.row(first);
  std::vector<std::int32_t> chosen(begun.begin(), begun.end());
  for (int round = 0; round < VOTES; ++round) chosen = vote_once(witnesses, chosen).classes;
  return chosen;
}

Agreed most_telling(const Witnesses& witnesses, const ItemText& text, std::span<const std::int32_t> beginnings,
                    int threads) {
  const std::size_t n = witnesses.num_items();
  std::vector<Agreed> ends(beginnings.size() / n);
  base::parallel_for(ends.size(), threads, [&](std::size_t b, int) {
    const auto begun = beginnings.subspan(b * n, n);
    std::vector<std::int32_t> classes(begun.begin(), begun.end());
    ends[b].weight = -1.0;
    while (true) {
      Agreed next = vote_once(witnesses, classes);  // its weight is that of `classes`
      if (next.weight <= ends[b].weight) break;
      ends[b] = {std::exchange(classes, std::move(next.classes)), next.weight};
    }
    ends[b].told = told_by(ends[b].classes, witnesses, text);
  });
  double best = 0.0;
  for (const Agreed& end : ends) best = std::max(best, end.told);
  return *std::ranges::find_if(ends, [&](const Agreed& end) { return end.told >= best - ROUNDING; });
}

LatentClasses fit_latent_classes(const Witnesses& witnesses, std::span<const std::int32_t> first,
                                 std::size_t most_steps, int threads) {
  LatentClassModel model(witnesses, first, threads);
  LatentClasses found;
  const double total = std::accumulate(witnesses.weights.begin(), witnesses.weights.end(), 0.0);
  while (found.objectives.size() < most_steps) {
    base::check_interrupt();
    const double before = found.objectives.empty() ? -HUGE_VAL : found.objectives.back();
    found.objectives.push_back(model.step());
    if (found.objectives.back() - before < LEAST_GAIN * total) break;
  }
  found.posterior = model.take();
  return found;
}

std::vector<double> agree(const Witnesses& witnesses, std::size_t first, std::size_t most_steps, int threads) {
  const std::size_t k = witnesses.num_classes;
  const Distinct distinct(witnesses);
  const Witnesses tuples = distinct.witnesses(k);
  const auto voted = vote(tuples, first);
  std::vector<double> of_tuple;
  if (witnesses.num_rows() == 1) {
    of_tuple.resize(voted.size() * k);
    for (std::size_t t = 0; t < voted.size(); ++t) of_tuple[t * k + static_cast<std::size_t>(voted[t])] = 1.0;
  } else {
    of_tuple = fit_latent_classes(tuples, voted, most_steps, threads).posterior;
  }
  std::vector<double> posterior(witnesses.num_items() * k);
  for (std::size_t i = 0; i < witnesses.num_items(); ++i) {
    std::copy_n(of_tuple.data() + distinct.item_tuple[i] * k, k, posterior.data() + i * k);
  }
  return posterior;
}

std::vector<std::int32_t> agree_in_groups(const Witnesses& witnesses,
                                          const std::vector<std::vector<std::uint32_t>>& groups,
                                          std::size_t most_steps, int threads) {
  const std::size_t n = witnesses.num_items(), k = witnesses.num_classes;
  const auto shared = shared_weights(witnesses, threads);
  std::vector<std::int32_t> said(groups.size() * n);
  base::parallel_for(groups.size(), threads, [&](std::size_t g, int) {
    const std::vector<std::uint32_t>& rows = groups[g];
    std::vector<std::int32_t> labels;
    std::vector<double> own;  // what these rows share
    for (const std::uint32_t r : rows) {
      const auto row = witnesses.row(r);
      labels.insert(labels.end(), row.begin(), row.end());
      for (const std::uint32_t c : rows) own.push_back(shared[r * witnesses.num_rows() + c]);
    }
    const auto posterior = agree({labels, witnesses.weights, k}, medoid(own, rows.size()), most_steps, 1);
    for (std::size_t i = 0; i < n; ++i) {
      const double* const of_class = posterior.data() + i * k;
      said[g * n + i] = static_cast<std::int32_t>(std::max_element(of_class, of_class + k) - of_class);
    }
  });
  return said;
}

}  // namespace hiddenite::induce
