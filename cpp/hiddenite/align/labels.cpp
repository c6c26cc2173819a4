#include "hiddenite/align/labels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <queue>

#include "hiddenite/base/random.hpp"

namespace hiddenite::align {

namespace {
constexpr std::uint32_t EMPTY = std::numeric_limits<std::uint32_t>::max();

std::uint64_t key_of(std::size_t row, std::size_t count) {
  return count == 0 ? 0 : splitmix64(row << 8 | count);
}
}  // namespace

LabelSearch::LabelSearch(const FertilityHmm& hmm, FertilityBound& bound)
    : hmm_(hmm), bound_(bound), chain_(hmm), live_(hmm.emission.values.size()) {
  for (std::size_t cell = 0; cell < live_.size(); ++cell) live_[cell] = hmm.emission.values[cell] > LOG_ZERO;
}

std::size_t LabelSearch::num_live_cells() const {
  return static_cast<std::size_t>(std::count(live_.begin(), live_.end(), 1));
}

void LabelSearch::fix_cells(double lower) {
  const std::size_t width = hmm_.num_sources + 1;
  tilted_ = bound_.tilted_emission();
  for (std::size_t cell = 0; cell < live_.size(); ++cell) {
    if (!live_[cell]) tilted_.values[cell] = LOG_ZERO;
  }
  chain_.best_log_weight(tilted_);
  chain_.fill_backward(tilted_);
  CellMatrix reach(hmm_.num_targets, hmm_.num_sources, LOG_ZERO);
  chain_.max_marginals(tilted_, reach);
  double rows = 0.0;
  std::vector<double> row(width, 0.0);
  for (std::size_t i = 1; i < width; ++i) rows += row[i] = bound_.row_maximum(i);
  if (rows == LOG_ZERO) return std::fill(live_.begin(), live_.end(), 0);
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    for (std::size_t i = 0; i < width; ++i) {
      std::uint8_t& live = live_[j * width + i];
      if (!live) continue;
      live = reach[j][i] + rows > lower + FERTILITY_TOLERANCE;
      if (live && i > 0) {
        live = reach[j][i] + rows - row[i] + bound_.row_maximum_with(i, j) > lower + FERTILITY_TOLERANCE;
      }
    }
  }
}

// T of the source word's live columns, from none left to all.
void LabelSearch::make_row(std::size_t i) {
  const std::size_t width = hmm_.num_sources + 1;
  Row row;
  row.source = i;
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    if (live_[j * width + i]) row.columns.push_back(static_cast<std::uint32_t>(j));
  }
  const std::size_t num_columns = row.columns.size();
  row.remaining = num_columns;
  row.table.assign((num_columns + 1) * (num_columns + 1), LOG_ZERO);
  std::vector<double> costs;  // u of the columns left, ascending
  for (std::size_t left = 0; left <= num_columns; ++left) {
    if (left > 0) {
      const double u = bound_.multipliers()[row.columns[num_columns - left]][i];
      costs.insert(std::upper_bound(costs.begin(), costs.end(), u), u);
    }
    for (std::size_t count = 0; count <= num_columns - left; ++count) {
      double best = hmm_.fertility_of(i, count), paid = 0.0;
      for (std::size_t k = 1; k <= left && count + k <= hmm_.max_fertility; ++k) {
        paid += costs[k - 1];
        best = std::max(best, hmm_.fertilities(i)[count + k] - paid);
      }
      row.table[left * (num_columns + 1) + count] = best;
    }
  }
  for (const std::uint32_t j : row.columns) rows_at_[j].push_back(static_cast<std::uint32_t>(rows_.size()));
  rows_.push_back(std::move(row));
}

// The chain's rest over live cells, the rows, and the one label to begin with.
void LabelSearch::prepare() {
  const std::size_t width = hmm_.num_sources + 1;
  tilted_ = bound_.tilted_emission();
  for (std::size_t cell = 0; cell < live_.size(); ++cell) {
    if (!live_[cell]) tilted_.values[cell] = LOG_ZERO;
  }
  chain_.fill_backward(tilted_);
  rows_.clear();
  rows_at_.assign(hmm_.num_targets, {});
  Label start{0.0, 0.0, 0, 0, 0};
  for (std::size_t i = 1; i < width; ++i) {
    bool any = false;
    for (std::size_t j = 0; j < hmm_.num_targets && !any; ++j) any = live_[j * width + i];
    if (any) {
      make_row(i);
      start.rest += rows_.back().reach(rows_.back().columns.size(), 0);
    } else {
      start.log_weight += hmm_.fertility_of(i, 0);
    }
  }
  frontier_.clear();
  if (start.log_weight > LOG_ZERO && start.rest > LOG_ZERO) frontier_.push_back(start);
  counts_.assign(rows_.size(), 0);
  nodes_ = {{EMPTY, 0}};
  edges_.clear();
  dropped_ = false;
}

void LabelSearch::add(const Label& label, const std::uint8_t* counts, std::uint32_t parent, std::uint32_t link) {
  if (4 * (next_.size() + 1) > slots_.size()) {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), EMPTY);
    for (std::size_t k = 0; k < next_.size(); ++k) {
      std::size_t place = splitmix64(next_[k].hash ^ next_[k].last) & (slots_.size() - 1);
      while (slots_[place] != EMPTY) place = (place + 1) & (slots_.size() - 1);
      slots_[place] = static_cast<std::uint32_t>(k);
    }
  }
  std::size_t place = splitmix64(label.hash ^ label.last) & (slots_.size() - 1);
  for (; slots_[place] != EMPTY; place = (place + 1) & (slots_.size() - 1)) {
    Label& same = next_[slots_[place]];
    if (same.hash != label.hash || same.last != label.last ||
        std::memcmp(next_counts_.data() + slots_[place] * rows_.size(), counts, rows_.size()) != 0) {
      continue;
    }
    if (keeps_edges_) edges_.push_back({same.node, parent, link, label.log_weight});
    if (label.log_weight > same.log_weight) {
      same.log_weight = label.log_weight;
      nodes_[same.node] = {parent, link};
    }
    return;
  }
  slots_[place] = static_cast<std::uint32_t>(next_.size());
  next_.push_back(label);
  next_.back().node = static_cast<std::uint32_t>(nodes_.size());
  next_counts_.insert(next_counts_.end(), counts, counts + rows_.size());
  nodes_.push_back({parent, link});
  if (keeps_edges_) edges_.push_back({next_.back().node, parent, link, label.log_weight});
}

// What a row's T changes by in a column that passes it over; LOG_ZERO if that cannot be.
double LabelSearch::change_unlinked(const Row& row, std::size_t count) {
  const double reach = row.reach(row.remaining, count);
  return reach == LOG_ZERO ? LOG_ZERO : reach - row.reach(row.remaining + 1, count);
}

void LabelSearch::expand(std::size_t j, double lower) {
  const std::size_t width = hmm_.num_sources + 1;
  const double* const after = chain_.after(j + 1);
  const double* const emission = hmm_.emission[j];
  next_.clear();
  next_counts_.clear();
  std::fill(slots_.begin(), slots_.end(), EMPTY);
  for (const std::uint32_t r : rows_at_[j]) --rows_[r].remaining;
  std::vector<std::uint8_t> counts(rows_.size());
  for (std::size_t k = 0; k < frontier_.size(); ++k) {
    const Label& label = frontier_[k];
    const std::uint8_t* const old = counts_.data() + k * rows_.size();
    // Without a link to any of the rows of this column; a row that needs one makes that impossible.
    double unlinked = label.rest;
    std::size_t needy = 0;
    for (const std::uint32_t r : rows_at_[j]) {
      const double change = change_unlinked(rows_[r], old[r]);
      if (change == LOG_ZERO) ++needy; else unlinked += change;
    }
    const auto finish = [&](Label next, std::uint32_t linked_row, std::uint32_t link) {
      if (!(next.bound(after) > lower + FERTILITY_TOLERANCE)) return;
      std::copy(old, old + rows_.size(), counts.begin());
      if (linked_row != EMPTY) {
        next.hash ^= key_of(linked_row, old[linked_row]) ^ key_of(linked_row, old[linked_row] + 1u);
        ++counts[linked_row];
      }
      for (const std::uint32_t r : rows_at_[j]) {
        if (rows_[r].remaining > 0) continue;
        const double fertility = rows_[r].reach(0, counts[r]);
        next.log_weight += fertility;
        next.rest -= fertility;
        next.hash ^= key_of(r, counts[r]);
        counts[r] = 0;
      }
      add(next, counts.data(), label.node, link);
    };
    if (live_[j * width] && needy == 0) {
      finish({label.log_weight + emission[0], unlinked, label.hash, label.last, 0}, EMPTY, 0);
    }
    const double* const jump = hmm_.jumps_from(label.last);
    for (const std::uint32_t r : rows_at_[j]) {
      const Row& row = rows_[r];
      const double reach = row.reach(row.remaining, old[r] + 1u);
      const double change = change_unlinked(row, old[r]);
      const bool needs = change == LOG_ZERO;
      if (reach == LOG_ZERO || needy > needs) continue;
      const auto source = static_cast<std::uint32_t>(row.source);
      const double rest = unlinked - (needs ? 0.0 : change) + reach - row.reach(row.remaining + 1, old[r]);
      finish({label.log_weight + jump[source] + emission[source], rest, label.hash, source, 0}, r, source);
    }
  }
  frontier_.swap(next_);
  counts_.swap(next_counts_);
}

void LabelSearch::keep_best(std::size_t beam, const double* after) {
  if (frontier_.size() <= beam) return;
  dropped_ = true;
  std::vector<std::uint32_t> order(frontier_.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::uint32_t>(k);
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(beam), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return frontier_[a].bound(after) > frontier_[b].bound(after);
                   });
  order.resize(beam);
  next_.clear();
  next_counts_.clear();
  for (const std::uint32_t k : order) {
    next_.push_back(frontier_[k]);
    const std::uint8_t* const counts = counts_.data() + k * rows_.size();
    next_counts_.insert(next_counts_.end(), counts, counts + rows_.size());
  }
  frontier_.swap(next_);
  counts_.swap(next_counts_);
}

Links LabelSearch::links_to(std::uint32_t node) const {
  Links links;
  for (; nodes_[node].parent != EMPTY; node = nodes_[node].parent) links.push_back(nodes_[node].link);
  std::reverse(links.begin(), links.end());
  return links;
}

// Returns whether the last column was reached within `max_labels`.
bool LabelSearch::search(double lower, std::size_t beam, std::size_t max_labels) {
  prepare();
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    expand(j, lower);
    keep_best(beam, chain_.after(j + 1));
    if (nodes_.size() > max_labels) return false;
  }
  return true;
}

LabelSearch::Outcome LabelSearch::run(double lower, std::size_t beam, std::size_t max_labels) {
  keeps_edges_ = false;
  const bool reached = search(lower, beam, max_labels);
  Outcome outcome{reached && !dropped_, nodes_.size(), {}};
  if (!reached || frontier_.empty()) return outcome;
  const auto best = std::max_element(frontier_.begin(), frontier_.end(), [&](const Label& a, const Label& b) {
    return a.log_weight + hmm_.end[a.last] < b.log_weight + hmm_.end[b.last];
  });
  outcome.links = links_to(best->node);
  return outcome;
}

// Best-first through the labels' ways, from the end: a partial alignment's rest is
// exact, since a node's own weight is the best way to it.
LabelSearch::Ranked LabelSearch::ranked(std::size_t k, double lower, std::size_t max_labels) {
  keeps_edges_ = true;
  Ranked result;
  result.complete = search(lower, EMPTY, max_labels);
  if (!result.complete) return result;
  std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.node < b.node; });
  std::vector<std::size_t> first(nodes_.size() + 1, 0);
  std::vector<double> best(nodes_.size(), LOG_ZERO);
  best[0] = 0.0;
  for (const Edge& e : edges_) ++first[e.node + 1], best[e.node] = std::max(best[e.node], e.log_weight);
  for (std::size_t n = 0; n < nodes_.size(); ++n) first[n + 1] += first[n];
  struct Partial {
    double total;         // of the best alignment that ends like this
    double ahead;         // what follows the node
    std::uint32_t node, tail;
    bool operator<(const Partial& o) const { return total < o.total; }
  };
  std::vector<Node> tails;  // chosen links, last one first
  std::priority_queue<Partial> queue;
  for (const Label& label : frontier_) {
    queue.push({label.log_weight + hmm_.end[label.last], hmm_.end[label.last], label.node, EMPTY});
  }
  while (!queue.empty() && result.links.size() < k) {
    const Partial top = queue.top();
    queue.pop();
    if (top.node == 0) {
      Links& links = result.links.emplace_back();
      for (std::uint32_t t = top.tail; t != EMPTY; t = tails[t].parent) links.push_back(tails[t].link);
      result.log_weights.push_back(log_weight(hmm_, links));
      continue;
    }
    for (std::size_t e = first[top.node]; e < first[top.node + 1]; ++e) {
      const Edge& edge = edges_[e];
      tails.push_back({top.tail, edge.link});
      const double start = edge.parent == 0 ? 0.0 : best[edge.parent];
      queue.push({edge.log_weight + top.ahead, edge.log_weight - start + top.ahead, edge.parent,
                  static_cast<std::uint32_t>(tails.size() - 1)});
    }
  }
  return result;
}

}  // namespace hiddenite::align
