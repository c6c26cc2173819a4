// The k best paths: runs of the decoder with a margin, and the paths in what they leave.
#include <cmath>

#include "hiddenite/exact/best_first.hpp"
#include "hiddenite/exact/walk/dominance.hpp"

namespace hiddenite::exact {

namespace {

constexpr double MAX_MARGIN = 200.0;  // beyond, all paths are looked at

}  // namespace

// The paths within a margin of the best, from what a run left behind, as a graph for BestFirst.
//
// From the last joint back: with the exact best completion of each state, an
// edge is made for each prefix state that uses an arc, if the best path over it
// is within the margin.
class PathLattice {
 public:
  struct Node {
    std::uint32_t joint, state;
  };
  struct Choice {
    double value;  // its weight and the best that can follow
    double log_weight;
    std::uint32_t position, from, to, candidate;
  };

  PathLattice(WalkDecoder& walk, const Candidates& candidates, double least)
      : walk_(walk), candidates_(candidates), least_(least), layers_(walk.layers_.size()) {
    layers_.back().after.assign(walk.layers_.back().size(), 0.0);
    for (std::size_t i = candidates.num_positions(); i-- > 0;) {
      // All that leads on from the joint has been seen: it leads further up.
      if (candidates.is_last_into(i)) group_edges(candidates.span(i).to);
      check_interrupt();
      find_edges(i);
    }
    group_edges(0);
  }

  bool is_last(const Choice& choice) const { return target(choice).joint + 1 == layers_.size(); }
  Node target(const Choice& choice) const { return {candidates_.span(choice.position).to, choice.to}; }
  // The state's edge of that rank, or null; put in order when first asked for.
  const Choice* choice(Node node, std::uint32_t rank) {
    Layer& layer = layers_[node.joint];
    if (layer.first.empty()) return nullptr;  // there is no position at all
    const auto first = layer.edges.begin() + layer.first[node.state];
    const auto last = layer.edges.begin() + layer.first[node.state + 1];
    if (!layer.sorted[node.state]) {
      layer.sorted[node.state] = true;
      std::sort(first, last, [](const Choice& a, const Choice& b) { return a.value > b.value; });
    }
    return first + rank < last ? &*(first + rank) : nullptr;
  }

 private:
  struct Layer {                       // of a joint: what leads on from it
    std::vector<double> after;         // [state]: its best completion
    std::vector<Choice> edges;         // by state
    std::vector<std::uint32_t> first;  // [state]
    std::vector<bool> sorted;          // [state]: best first
  };

  void find_edges(std::size_t i) {
    const Slot& slot = walk_.slot_at(candidates_, i);
    const std::vector<double>& after_all = layers_[candidates_.span(i).to].after;
    for (const WalkDecoder::FoundArc& found : walk_.passed_[i].arcs) {
      const double after = after_all[found.to];
      if (after == LOG_ZERO) continue;
      const StateIndex::Arc& arc = walk_.index_.arc(found.arc);
      for (std::uint32_t c = slot.begin[found.word]; c < slot.begin[found.word + 1]; ++c) {
        const double weight = arc.log_prob + slot.log_weight[c];
        add_edges(found.entry, arc.word, weight,
                  Choice{after, 0.0, static_cast<std::uint32_t>(i), NONE, found.to, slot.candidate[c]});
      }
    }
  }

  // An edge for each prefix that uses the arc: those of entry e, and of its
  // extensions as long as they do not list the word; `weight` has what was
  // paid for backing off.
  void add_edges(std::uint32_t e, WordId w, double weight, Choice edge) {
    WalkDecoder::Passed& passed = walk_.passed_[edge.position];
    const WalkDecoder::Entry& entry = passed.entries[e];
    const double least = least_ - weight - edge.value;
    if (entry.reach < least) return;
    if (entry.active != NONE && entry.value >= least) {
      layers_[candidates_.span(edge.position).from].edges.push_back(
          {weight + edge.value, weight, edge.position, entry.active, edge.to, edge.candidate});
    }
    const SuffixClosure& closure = passed.closure;
    const std::uint32_t first = closure.first_extension[e];
    const std::uint32_t last = entry.sorted ? first + entry.num_extensions : closure.first_extension[e + 1];
    for (std::uint32_t j = first; j < last; ++j) {
      const std::uint32_t x = closure.extensions[j];
      if (passed.entries[x].backed_off < least) {
        if (entry.sorted) break;
        continue;
      }
      if (walk_.index_.find_arc(closure.state[x], w) != NO_NODE) continue;
      add_edges(x, w, weight + walk_.index_.state(closure.state[x]).log_backoff, edge);
    }
  }

  void group_edges(std::size_t joint) {
    if (joint + 1 == layers_.size()) return;
    Layer& layer = layers_[joint];
    const std::size_t num_states = walk_.layers_[joint].size();
    std::vector<Choice> grouped(layer.edges.size());
    layer.first.assign(num_states + 1, 0);
    layer.sorted.assign(num_states, false);
    for (const Choice& edge : layer.edges) ++layer.first[edge.from + 1];
    for (std::size_t s = 0; s < num_states; ++s) layer.first[s + 1] += layer.first[s];
    std::vector<std::uint32_t> fill(layer.first.begin(), layer.first.end() - 1);
    layer.after.assign(num_states, LOG_ZERO);
    for (const Choice& edge : layer.edges) {
      grouped[fill[edge.from]++] = edge;
      layer.after[edge.from] = std::max(layer.after[edge.from], edge.value);
    }
    layer.edges = std::move(grouped);
  }

  WalkDecoder& walk_;
  const Candidates& candidates_;
  double least_;  // paths below this are of no interest
  std::vector<Layer> layers_;  // [joint]
};

namespace {

// What to look for among the paths of a run of margin 1, in nats below the best: most often the k best are not
// further apart, and short messages spread them more.
double usual_span(std::size_t k, std::size_t length) {
  return 4.0 + 2.0 * std::log10(static_cast<double>(k)) + 12.0 / static_cast<double>(std::max<std::size_t>(length, 1));
}

// The margin of the second run, where the first has found k paths that span `span` or more than `usual`. They
// are real, so `span` is enough; the further they are, the more likely are better ones that the first run left out.
double second_margin(double span, double usual) {
  constexpr double trusted = 3.0, doubt = 0.7;
  return std::min(std::min(span, usual), trusted + doubt * std::max(span - trusted, 0.0));
}

// The margin after one within which `found` paths of k lie. Their number grows about as exp(c margin^1.25), and
// a little more costs less than another run.
double larger_margin(double margin, std::size_t found, std::size_t k) {
  if (found < 2) return 1.5 * margin + 1.0;
  const double growth = std::log(static_cast<double>(k)) / std::log(static_cast<double>(found));
  return margin * std::min(std::pow(growth, 0.8), 1.5) + 0.75;
}

}  // namespace

// Up to k paths of at least that weight; the certificate is that of a run which left out nothing as heavy.
KBest WalkDecoder::paths_above(const Candidates& candidates, std::size_t k, double least, bool prune) {
  if (candidates.num_positions() == 0) return {{{}}, {0.0}, proved(0.0, method_of(prune), num_states_), {}};
  std::vector<std::vector<std::uint32_t>> found;
  std::vector<double> log_weights;
  std::vector<Route> routes;
  PathLattice lattice(*this, candidates, least);
  BestFirst<PathLattice> paths(lattice, {0, 0}, least);
  while (!paths.is_empty() && found.size() < k) {
    check_interrupt();
    std::vector<std::uint32_t>& path = found.emplace_back();
    Route route;
    for (const PathLattice::Choice& edge : paths.next()) {
      if (edge.position == candidates.length()) continue;  // </s>
      path.push_back(edge.candidate);
      if (!candidates.is_chain()) route.push_back(edge.position);
    }
    if (!candidates.is_chain()) routes.push_back(std::move(route));
    log_weights.push_back(paths.log_weight());
  }
  const Certificate certificate = proved(log_weights.front(), method_of(prune), num_states_);
  return {std::move(found), std::move(log_weights), certificate, std::move(routes)};
}

// A first run with a narrow margin tells how far apart the k best may be; a
// second one, most often the last, looks that far.
KBest WalkDecoder::kbest(const Candidates& candidates, std::size_t k, bool prune, const Deadline& deadline) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double usual = usual_span(k, candidates.length());
  double margin = !prune ? infinity : k > 1 ? 1.0 : 0.0;
  for (bool first = true;; first = false) {
    const bool bounded = margin < infinity;
    is_again_ = !first;
    if (!run(candidates, bounded, bounded ? margin : 0.0, true, deadline)) {
      return only_path(candidates, stopped_early(candidates, prune));
    }
    const double look = first ? std::max(usual, margin) : 1.2 * margin;
    const double best_value = layers_.back()[best_of(layers_.back())].value;
    KBest result = paths_above(candidates, k, best_value - look - slack(best_value), prune);
    const bool found_all = result.paths.size() == k;
    const double best = result.log_weights.front(), span = best - result.log_weights.back();
    // Nothing that was left out is worth best - margin.
    if (!bounded || (found_all && span <= margin)) return result;
    if (first) {
      margin = std::max(second_margin(found_all ? span : infinity, usual), margin + slack(best_value));
    } else if (found_all) {
      margin = span;
    } else {
      const auto within = std::count_if(result.log_weights.begin(), result.log_weights.end(),
                                        [&](double log_weight) { return log_weight >= best - margin; });
      margin = larger_margin(margin, static_cast<std::size_t>(within), k);
    }
    if (margin > MAX_MARGIN) margin = infinity;
  }
}

// The one path that a run which was stopped has to show: not the k best.
KBest WalkDecoder::only_path(const Candidates& candidates, const Decoded& decoded) const {
  KBest result{{{}}, {decoded.log_weight}, decoded.certificate, {}};
  if (!candidates.is_chain()) result.routes.push_back(decoded.route);
  for (std::size_t i = 0; i < decoded.path.size(); ++i) {
    const Slot& slot = candidates.slots[slot_of_step(decoded.route, i)];
    result.paths.back().push_back(slot.candidate[slot.begin[decoded.path[i]]]);
  }
  return result;
}

}  // namespace hiddenite::exact
