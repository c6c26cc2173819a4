#include "hiddenite/lattice/sequences.hpp"

#include <algorithm>
#include <map>
#include <queue>

#include "hiddenite/base/interrupt.hpp"

namespace hiddenite::lattice {

namespace {

constexpr std::uint32_t NO_PREFIX = std::numeric_limits<std::uint32_t>::max();

double combined(double a, double b, bool sums) { return sums ? log_add(a, b) : std::max(a, b); }

// States with the weight of the ways to them, in order of number.
using WeightedStates = std::map<std::uint32_t, double>;

void add(WeightedStates& states, std::uint32_t state, double log_weight, bool sums) {
  const auto [place, is_new] = states.try_emplace(state, log_weight);
  if (!is_new) place->second = combined(place->second, log_weight, sums);
}

struct Prefix {
  std::uint32_t before;  // the prefix without its last label
  std::uint32_t label;
  std::vector<std::pair<std::uint32_t, double>> states;
};

struct Entry {
  double priority;
  std::uint32_t prefix;
  bool is_whole;  // no word follows
};

// The best first; among equals what ends, then what came first: the answer is the same on every machine.
struct ComesLater {
  bool operator()(const Entry& a, const Entry& b) const {
    if (a.priority != b.priority) return a.priority < b.priority;
    if (a.is_whole != b.is_whole) return b.is_whole;
    return a.prefix > b.prefix;
  }
};

class SequenceRanking {
 public:
  SequenceRanking(const Composition& composition, const std::vector<std::uint32_t>& label, bool sums)
      : composition_(composition), label_(label), sums_(sums),
        after_(sums ? composition.sum_after() : composition.best_after()) {
    prefixes_.push_back({NO_PREFIX, SILENT, {{0, 0.0}}});
    queue_.push({after_[0], 0, false});
  }

  RankedSequences run(const RankOptions& options) {
    RankedSequences result;
    std::uint64_t opened = 0;
    while (!queue_.empty() && result.found.size() < options.count && opened < options.max_prefixes) {
      const Entry entry = queue_.top();
      queue_.pop();
      if (entry.is_whole) {
        result.found.push_back({labels_of(entry.prefix), {}, entry.priority});
      } else {
        open(entry.prefix);
        ++opened;
        check_interrupt_at(opened * 64);
      }
    }
    result.complete = queue_.empty() || result.found.size() == options.count;
    result.upper = queue_.empty() ? LOG_ZERO : queue_.top().priority;
    return result;
  }

 private:
  // Follows silent edges, then parts what comes next by its label.
  void open(std::uint32_t prefix) {
    WeightedStates states(prefixes_[prefix].states.begin(), prefixes_[prefix].states.end());
    prefixes_[prefix].states = {};
    std::map<std::uint32_t, WeightedStates> next;
    double whole = LOG_ZERO;
    for (auto state = states.begin(); state != states.end(); ++state) {  // what is added comes after it
      whole = combined(whole, state->second + composition_.log_final(state->first), sums_);
      for (const GraphArc& arc : composition_.arcs(state->first)) {
        if (after_[arc.to] == LOG_ZERO) continue;
        const std::uint32_t label = label_[arc.edge];
        add(label == SILENT ? states : next[label], arc.to, state->second + arc.log_weight, sums_);
      }
    }
    if (whole > LOG_ZERO) queue_.push({whole, prefix, true});
    for (const auto& [label, reached] : next) {
      double priority = LOG_ZERO;
      for (const auto& [state, weight] : reached) priority = combined(priority, weight + after_[state], sums_);
      queue_.push({priority, static_cast<std::uint32_t>(prefixes_.size()), false});
      prefixes_.push_back({prefix, label, {reached.begin(), reached.end()}});
    }
  }

  std::vector<std::uint32_t> labels_of(std::uint32_t prefix) const {
    std::vector<std::uint32_t> labels;
    for (; prefixes_[prefix].before != NO_PREFIX; prefix = prefixes_[prefix].before) {
      labels.push_back(prefixes_[prefix].label);
    }
    std::reverse(labels.begin(), labels.end());
    return labels;
  }

  const Composition& composition_;
  const std::vector<std::uint32_t>& label_;
  const bool sums_;
  const std::vector<double>& after_;
  std::vector<Prefix> prefixes_;
  std::priority_queue<Entry, std::vector<Entry>, ComesLater> queue_;
};

// A way to a state after some labels.
struct SequenceStep {
  double log_weight;
  std::uint32_t before;  // step; NO_PREFIX at the beginning
  std::uint32_t edge;
};

}  // namespace

RankedSequences rank_sequences(const Composition& composition, const std::vector<std::uint32_t>& label,
                               const RankOptions& options) {
  RankedSequences ranked = SequenceRanking(composition, label, options.sums).run(options);
  for (LabelSequence& sequence : ranked.found) {
    sequence.edges = std::move(best_path_of(composition, label, sequence.labels)->edges);
  }
  return ranked;
}

std::optional<GraphPath> best_path_of(const Composition& composition, const std::vector<std::uint32_t>& label,
                                      const std::vector<std::uint32_t>& sequence) {
  std::vector<SequenceStep> steps{{0.0, NO_PREFIX, 0}};
  using Reached = std::map<std::uint32_t, std::uint32_t>;  // state to step
  const auto add_step = [&](Reached& reached, std::uint32_t state, const SequenceStep& step) {
    const auto [place, is_new] = reached.try_emplace(state, static_cast<std::uint32_t>(steps.size()));
    if (!is_new && steps[place->second].log_weight >= step.log_weight) return;
    place->second = static_cast<std::uint32_t>(steps.size());
    steps.push_back(step);
  };
  Reached reached{{0, 0}};
  GraphPath best;
  std::uint32_t last = NO_PREFIX;
  for (std::size_t i = 0; i <= sequence.size(); ++i) {
    Reached next;
    for (auto at = reached.begin(); at != reached.end(); ++at) {
      const SequenceStep step = steps[at->second];
      const double whole = step.log_weight + composition.log_final(at->first);
      if (i == sequence.size() && whole > best.log_weight) {
        best.log_weight = whole;
        last = at->second;
      }
      for (const GraphArc& arc : composition.arcs(at->first)) {
        const SequenceStep further{step.log_weight + arc.log_weight, at->second, arc.edge};
        if (label[arc.edge] == SILENT) {
          add_step(reached, arc.to, further);
        } else if (i < sequence.size() && label[arc.edge] == sequence[i]) {
          add_step(next, arc.to, further);
        }
      }
    }
    if (i < sequence.size()) reached = std::move(next);
  }
  if (last == NO_PREFIX) return std::nullopt;
  for (; steps[last].before != NO_PREFIX; last = steps[last].before) best.edges.push_back(steps[last].edge);
  std::reverse(best.edges.begin(), best.edges.end());
  return best;
}

double total_of(const Composition& composition, const std::vector<std::uint32_t>& label,
                const std::vector<std::uint32_t>& sequence) {
  WeightedStates states{{0, 0.0}};
  double total = LOG_ZERO;
  for (std::size_t i = 0; i <= sequence.size(); ++i) {
    WeightedStates next;
    for (auto state = states.begin(); state != states.end(); ++state) {
      if (i == sequence.size()) total = log_add(total, state->second + composition.log_final(state->first));
      for (const GraphArc& arc : composition.arcs(state->first)) {
        const bool is_silent = label[arc.edge] == SILENT;
        if (!is_silent && (i == sequence.size() || label[arc.edge] != sequence[i])) continue;
        add(is_silent ? states : next, arc.to, state->second + arc.log_weight, true);
      }
    }
    states = std::move(next);
  }
  return total;
}

}  // namespace hiddenite::lattice
