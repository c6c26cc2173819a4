#include "hiddenite/align/labels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hiddenite/base/random.hpp"
#include "hiddenite/exact/best_first.hpp"

namespace hiddenite::align {

namespace {
constexpr std::uint32_t EMPTY = std::numeric_limits<std::uint32_t>::max();
constexpr double ROUNDING = 0x1p-51;  // of one operation, with room for the sum of such terms

std::uint64_t key_of(std::size_t row, std::size_t count) {
  return count == 0 ? 0 : splitmix64(row << 16 | count);
}
}  // namespace

LabelSearch::LabelSearch(const FertilityHmm& hmm, FertilityBound& bound, Pace& pace)
    : hmm_(hmm), bound_(bound), pace_(pace), chain_(hmm), live_(hmm.emission.values.size()) {
  for (std::size_t cell = 0; cell < live_.size(); ++cell) live_[cell] = hmm.emission.values[cell] > LOG_ZERO;
}

void LabelSearch::mask_emission() {
  tilted_ = bound_.tilted_emission();
  for (std::size_t cell = 0; cell < live_.size(); ++cell) {
    if (!live_[cell]) tilted_.values[cell] = LOG_ZERO;
  }
}

void LabelSearch::fix_cells(double least) {
  const std::size_t width = hmm_.num_sources + 1;
  mask_emission();
  CellMatrix reach(hmm_.num_targets, hmm_.num_sources, LOG_ZERO);
  if (chain_.best_log_weight(tilted_, pace_) == -LOG_ZERO || !chain_.fill_backward(tilted_, pace_) ||
      !chain_.max_marginals(tilted_, reach, pace_)) {
    return;
  }
  std::vector<std::vector<double>> with_link(width);
  std::vector<double> row(width, 0.0);
  double rows = 0.0;
  for (std::size_t i = 1; i < width; ++i) {
    rows = rounded_up(rows + (row[i] = bound_.row_maximum(i, with_link[i])));
    if (pace_.is_over(hmm_.num_targets * (hmm_.max_fertility + 8))) return;
  }
  if (rows == LOG_ZERO) return std::fill(live_.begin(), live_.end(), 0);
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    for (std::size_t i = 0; i < width; ++i) {
      std::uint8_t& live = live_[j * width + i];
      if (!live) continue;
      const double all = rounded_up(reach[j][i] + rows);
      live = all > least;
      if (live && i > 0) {
        const double change = with_link[i][j] - row[i];
        live = change > LOG_ZERO && rounded_up(all + change) + ROUNDING * std::fabs(change) > least;
      }
    }
  }
}

// T of the source word's live columns, from none left to all.
bool LabelSearch::make_row(std::size_t i) {
  const std::size_t all_sources = hmm_.num_sources + 1;
  Row row;
  row.source = i;
  for (std::size_t j = 0; j < hmm_.num_targets; ++j) {
    if (live_[j * all_sources + i]) row.columns.push_back(static_cast<std::uint32_t>(j));
  }
  const std::size_t num_columns = row.columns.size();
  row.remaining = num_columns;
  row.width = std::min(num_columns, hmm_.max_fertility) + 1;
  row.table.assign((num_columns + 1) * row.width, LOG_ZERO);
  std::vector<double> prices;  // u of the columns left, ascending
  for (std::size_t left = 0; left <= num_columns; ++left) {
    if (pace_.is_over(row.width * row.width)) return false;
    if (left > 0) {
      const double u = bound_.multipliers()[row.columns[num_columns - left]][i];
      prices.insert(std::upper_bound(prices.begin(), prices.end(), u), u);
    }
    for (std::size_t count = 0; count < row.width && count <= num_columns - left; ++count) {
      double best = hmm_.fertility_of(i, count), paid = 0.0, size = 0.0;
      for (std::size_t k = 1; k <= left && count + k <= hmm_.max_fertility; ++k) {
        paid += prices[k - 1];
        size += std::fabs(prices[k - 1]);
        best = std::max(best, row_value(hmm_.fertilities(i)[count + k], paid, size, k));
      }
      row.table[left * row.width + count] = best;
    }
  }
  for (const std::uint32_t j : row.columns) rows_at_[j].push_back(static_cast<std::uint32_t>(rows_.size()));
  rows_.push_back(std::move(row));
  return true;
}

// The chain's rest over live cells, the rows, and the one label to begin with. Returns whether there was time.
bool LabelSearch::prepare() {
  const std::size_t width = hmm_.num_sources + 1;
  mask_emission();
  frontier_.clear();
  nodes_ = {{EMPTY, 0}};
  ways_.clear();
  rows_.clear();
  rows_at_.assign(hmm_.num_targets, {});
  if (!chain_.fill_backward(tilted_, pace_)) return false;
  Label start{0.0, 0.0, 0, 0, 0};
  double size = 0.0;
  for (std::size_t i = 1; i < width; ++i) {
    bool any = false;
    for (std::size_t j = 0; j < hmm_.num_targets && !any; ++j) any = live_[j * width + i];
    if (any) {
      if (!make_row(i)) return false;
      start.rest += rows_.back().reach(rows_.back().columns.size(), 0);
    } else {
      start.log_weight += hmm_.fertility_of(i, 0);
    }
    size += std::fabs(start.rest) + std::fabs(start.log_weight);
  }
  counts_.assign(rows_.size(), 0);
  scratch_.resize(rows_.size());
  if (start.log_weight == LOG_ZERO || start.rest == LOG_ZERO) return true;
  start.rest += ROUNDING * size;
  frontier_.push_back(start);
  return true;
}

void LabelSearch::add(const Label& label, const std::uint16_t* counts, std::uint32_t parent, std::uint32_t link) {
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
        std::memcmp(next_counts_.data() + slots_[place] * rows_.size(), counts, rows_.size() * sizeof(*counts)) != 0) {
      continue;
    }
    if (keeps_ways_) ways_.push_back({same.node, parent, link, label.log_weight});
    same.rest = std::max(same.rest, label.rest);
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
  if (keeps_ways_) ways_.push_back({next_.back().node, parent, link, label.log_weight});
}

// What a row's T changes by in a column that passes it over; LOG_ZERO if that cannot be.
double LabelSearch::change_unlinked(const Row& row, std::size_t count) {
  const double reach = row.reach(row.remaining, count);
  return reach == LOG_ZERO ? LOG_ZERO : reach - row.reach(row.remaining + 1, count);
}

// Returns whether there was time and room.
bool LabelSearch::expand(std::size_t j, double least, std::size_t max_labels) {
  next_.clear();
  next_counts_.clear();
  std::fill(slots_.begin(), slots_.end(), EMPTY);
  for (const std::uint32_t r : rows_at_[j]) --rows_[r].remaining;
  for (std::size_t k = 0; k < frontier_.size(); ++k) {
    if (nodes_.size() + ways_.size() > max_labels || pace_.is_over(16 * rows_at_[j].size() + 16)) return false;
    expand_label(j, k, least);
  }
  frontier_.swap(next_);
  counts_.swap(next_counts_);
  return true;
}

void LabelSearch::expand_label(std::size_t j, std::size_t k, double least) {
  const double* const after = chain_.after(j + 1);
  const double* const emission = hmm_.emission[j];
  const Label label = frontier_[k];
  const std::uint16_t* const old = counts_.data() + k * rows_.size();
  // Without a link to any of the rows of this column; a row that needs one makes that impossible.
  double unlinked = label.rest, size = std::fabs(label.rest) + std::fabs(label.log_weight);
  std::size_t needy = 0;
  for (const std::uint32_t r : rows_at_[j]) {
    const double change = change_unlinked(rows_[r], old[r]);
    if (change == LOG_ZERO) ++needy; else unlinked += change, size += std::fabs(change) + std::fabs(unlinked);
  }
  const auto finish = [&](Label next, std::uint32_t linked_row, std::uint32_t link, double operands) {
    next.rest += ROUNDING * (size + operands + std::fabs(next.log_weight) + std::fabs(next.rest));
    if (!(next.bound(after) > least)) return;
    std::copy(old, old + rows_.size(), scratch_.begin());
    if (linked_row != EMPTY) {
      next.hash ^= key_of(linked_row, old[linked_row]) ^ key_of(linked_row, old[linked_row] + 1u);
      ++scratch_[linked_row];
    }
    for (const std::uint32_t r : rows_at_[j]) {
      if (rows_[r].remaining > 0) continue;
      const double fertility = rows_[r].reach(0, scratch_[r]);
      next.log_weight += fertility;
      next.rest -= fertility;
      next.rest += ROUNDING * (std::fabs(next.log_weight) + std::fabs(next.rest));
      next.hash ^= key_of(r, scratch_[r]);
      scratch_[r] = 0;
    }
    add(next, scratch_.data(), label.node, link);
  };
  if (live_[j * (hmm_.num_sources + 1)] && needy == 0) {
    finish({label.log_weight + emission[0], unlinked, label.hash, label.last, 0}, EMPTY, 0, std::fabs(emission[0]));
  }
  const double* const jump = hmm_.jumps_from(label.last);
  for (const std::uint32_t r : rows_at_[j]) {
    const Row& row = rows_[r];
    const double reach = row.reach(row.remaining, old[r] + 1u), before = row.reach(row.remaining + 1, old[r]);
    const double change = change_unlinked(row, old[r]);
    const bool needs = change == LOG_ZERO;
    const auto source = static_cast<std::uint32_t>(row.source);
    if (reach == LOG_ZERO || needy > needs || jump[source] == LOG_ZERO) continue;
    const double without = unlinked - (needs ? 0.0 : change);
    const double operands = 2.0 * (std::fabs(without) + std::fabs(reach) + std::fabs(before)) +
                            std::fabs(jump[source]) + std::fabs(emission[source]);
    finish({label.log_weight + jump[source] + emission[source], without + reach - before, label.hash, source, 0}, r,
           source, operands);
  }
}

void LabelSearch::keep_best(std::size_t beam, const double* after) {
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
    const std::uint16_t* const counts = counts_.data() + k * rows_.size();
    next_counts_.insert(next_counts_.end(), counts, counts + rows_.size());
  }
  frontier_.swap(next_);
  counts_.swap(next_counts_);
}

bool LabelSearch::run(double least, std::size_t beam, std::size_t max_labels) {
  reached_ = prepare();
  bool dropped = false;
  for (std::size_t j = 0; reached_ && j < hmm_.num_targets; ++j) {
    reached_ = expand(j, least, max_labels);
    if (!reached_ || frontier_.size() <= beam) continue;
    keep_best(beam, chain_.after(j + 1));
    dropped = true;
  }
  num_labels_ = nodes_.size() + ways_.size();
  return reached_ && !dropped;
}

Links LabelSearch::best_links() const {
  Links links;
  if (!reached_ || frontier_.empty()) return links;
  const auto best = std::max_element(frontier_.begin(), frontier_.end(), [&](const Label& a, const Label& b) {
    return a.log_weight + hmm_.end[a.last] < b.log_weight + hmm_.end[b.last];
  });
  for (std::uint32_t n = best->node; nodes_[n].parent != EMPTY; n = nodes_[n].parent) links.push_back(nodes_[n].link);
  std::reverse(links.begin(), links.end());
  return links;
}

// The labels' ways from the end: what is before a label weighs what its best way does.
class LabelSearch::WayGraph {
 public:
  using Node = std::uint32_t;  // of LabelSearch; EMPTY: behind the last column
  struct Choice {
    double value, log_weight;
    std::uint32_t from, link;
  };

  WayGraph(const std::vector<Way>& ways, std::size_t num_nodes, const std::vector<Label>& last,
           const std::vector<double>& end)
      : first_(num_nodes + 1, 0), sorted_(num_nodes, false), choices_(ways.size()) {
    std::vector<double> best(num_nodes, LOG_ZERO);
    best[0] = 0.0;
    for (const Way& w : ways) ++first_[w.node + 1], best[w.node] = std::max(best[w.node], w.log_weight);
    for (std::size_t n = 0; n < num_nodes; ++n) first_[n + 1] += first_[n];
    std::vector<std::uint32_t> place(first_.begin(), first_.end() - 1);
    for (const Way& w : ways) {
      choices_[place[w.node]++] = {w.log_weight, w.log_weight - best[w.parent], w.parent, w.link};
    }
    for (const Label& label : last) {
      ends_.push_back({label.log_weight + end[label.last], end[label.last], label.node, 0});
    }
    sort(ends_.begin(), ends_.end());
  }

  const Choice* choice(Node node, std::uint32_t rank) {
    if (node == EMPTY) return rank < ends_.size() ? &ends_[rank] : nullptr;
    if (first_[node] + rank >= first_[node + 1]) return nullptr;
    if (!sorted_[node]) sort(choices_.begin() + first_[node], choices_.begin() + first_[node + 1]);
    sorted_[node] = true;
    return &choices_[first_[node] + rank];
  }
  bool is_last(const Choice& choice) const { return choice.from == 0; }
  Node target(const Choice& choice) const { return choice.from; }

 private:
  template <class Iterator>
  static void sort(Iterator begin, Iterator end) {
    std::stable_sort(begin, end, [](const Choice& a, const Choice& b) { return a.value > b.value; });
  }

  std::vector<std::uint32_t> first_;  // [node]: in choices_
  std::vector<bool> sorted_;          // [node]: few are ever asked for
  std::vector<Choice> choices_, ends_;
};

std::vector<Links> LabelSearch::ranked(std::size_t k) {
  std::vector<Links> result;
  if (!reached_) return result;
  WayGraph graph(ways_, nodes_.size(), frontier_, hmm_.end);
  BestFirst<WayGraph> paths(graph, EMPTY);
  while (!paths.is_empty() && result.size() < k && !pace_.is_over(16 * hmm_.num_targets)) {
    const std::vector<WayGraph::Choice>& path = paths.next();  // behind the last column, then from there on
    Links& links = result.emplace_back();
    for (std::size_t n = path.size(); n-- > 1;) links.push_back(path[n].link);
  }
  return result;
}

}  // namespace hiddenite::align
