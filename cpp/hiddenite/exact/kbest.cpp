// The k best paths: runs of the decoder with a margin, and the paths in what they leave.
#include <cmath>
#include <queue>

#include "hiddenite/exact/dominance.hpp"

namespace hiddenite::exact {

namespace {

constexpr double SLACK = WalkDecoder::SLACK;
constexpr double MAX_MARGIN = 200.0;  // beyond, all paths are looked at

}  // namespace

// The paths within a margin of the best, from what a run left behind.
//
// From the last joint back: with the exact best completion of each state, an
// edge is made for each prefix state that uses an arc, if the best path over it
// is within the margin. Then best first: a partial path stands for its best
// completion; taken from the queue, it makes way for the same prefix with the
// next best edge, and for itself one edge longer.
class PathLattice {
 public:
  PathLattice(WalkDecoder& walk, const Candidates& candidates, double least)
      : walk_(walk), candidates_(candidates), least_(least), layers_(walk.layers_.size()) {
    layers_.back().after.assign(walk.layers_.back().size(), 0.0);
    for (std::size_t i = candidates.num_positions(); i-- > 0;) {
      // All that leads on from the joint has been seen: it leads further up.
      if (candidates.is_last_into(i)) group_edges(candidates.span(i).to);
      find_edges(i);
    }
    group_edges(0);
  }

  KBest best(std::size_t k) {
    KBest result;
    push(0.0, NONE, 0, 0, 0);
    while (!queue_.empty() && result.paths.size() < k) {
      const std::uint32_t top = queue_.top().partial;
      queue_.pop();
      const Partial partial = partials_[top];
      const Edge edge = *find(partial.joint, partial.state, partial.rank);
      push(partial.prefix, partial.parent, partial.state, partial.rank + 1, partial.joint);
      const std::uint32_t joint = candidates_.span(edge.position).to;
      if (joint + 1 < layers_.size()) {
        push(partial.prefix + edge.log_weight, top, edge.to, 0, joint);
      } else {
        add_path(top, result);
        result.log_weights.push_back(partial.prefix + edge.log_weight);
      }
    }
    return result;
  }

 private:
  struct Edge {
    double value;  // its weight and the best that can follow
    double log_weight;
    std::uint32_t position, from, to, candidate;
  };
  struct Layer {                       // of a joint: what leads on from it
    std::vector<double> after;         // [state]: its best completion
    std::vector<Edge> edges;           // by state
    std::vector<std::uint32_t> first;  // [state]
    std::vector<bool> sorted;          // [state]: best first
  };
  struct Partial {
    double prefix;          // weight of the edges before the last
    std::uint32_t parent;   // the partial path without the last edge
    std::uint32_t state, rank, joint;
  };
  struct Queued {
    double value;
    std::uint32_t partial;
    bool operator<(const Queued& o) const { return value != o.value ? value < o.value : partial > o.partial; }
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
                  Edge{after, 0.0, static_cast<std::uint32_t>(i), NONE, found.to, slot.candidate[c]});
      }
    }
  }

  // An edge for each prefix that uses the arc: those of entry e, and of its
  // extensions as long as they do not list the word; `weight` has what was
  // paid for backing off.
  void add_edges(std::uint32_t e, WordId w, double weight, Edge edge) {
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
    std::vector<Edge> grouped(layer.edges.size());
    layer.first.assign(num_states + 1, 0);
    layer.sorted.assign(num_states, false);
    for (const Edge& edge : layer.edges) ++layer.first[edge.from + 1];
    for (std::size_t s = 0; s < num_states; ++s) layer.first[s + 1] += layer.first[s];
    std::vector<std::uint32_t> fill(layer.first.begin(), layer.first.end() - 1);
    layer.after.assign(num_states, LOG_ZERO);
    for (const Edge& edge : layer.edges) {
      grouped[fill[edge.from]++] = edge;
      layer.after[edge.from] = std::max(layer.after[edge.from], edge.value);
    }
    layer.edges = std::move(grouped);
  }

  // The state's edge of that rank, or null; put in order when first asked for.
  const Edge* find(std::size_t joint, std::uint32_t state, std::uint32_t rank) {
    Layer& layer = layers_[joint];
    const auto first = layer.edges.begin() + layer.first[state], last = layer.edges.begin() + layer.first[state + 1];
    if (!layer.sorted[state]) {
      layer.sorted[state] = true;
      std::sort(first, last, [](const Edge& a, const Edge& b) { return a.value > b.value; });
    }
    return first + rank < last ? &*(first + rank) : nullptr;
  }

  void push(double prefix, std::uint32_t parent, std::uint32_t state, std::uint32_t rank, std::uint32_t joint) {
    if (layers_.size() == 1) return;
    const Edge* edge = find(joint, state, rank);
    if (!edge || prefix + edge->value < least_) return;
    queue_.push({prefix + edge->value, static_cast<std::uint32_t>(partials_.size())});
    partials_.push_back({prefix, parent, state, rank, joint});
  }

  void add_path(std::uint32_t last, KBest& result) {
    std::vector<std::uint32_t>& path = result.paths.emplace_back();
    Route route;
    for (std::uint32_t p = last; p != NONE; p = partials_[p].parent) {
      const Edge& edge = *find(partials_[p].joint, partials_[p].state, partials_[p].rank);
      if (edge.position == candidates_.length()) continue;  // </s>
      path.push_back(edge.candidate);
      route.push_back(edge.position);
    }
    std::reverse(path.begin(), path.end());
    std::reverse(route.begin(), route.end());
    if (!candidates_.is_chain()) result.routes.push_back(std::move(route));
  }

  WalkDecoder& walk_;
  const Candidates& candidates_;
  double least_;  // paths below this are of no interest
  std::vector<Layer> layers_;  // [joint]
  std::vector<Partial> partials_;
  std::priority_queue<Queued> queue_;
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

// A first run with a narrow margin tells how far apart the k best may be; a
// second one, most often the last, looks that far.
KBest WalkDecoder::kbest(const Candidates& candidates, std::size_t k, bool prune, const Budget& budget) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double usual = usual_span(k, candidates.length());
  double margin = !prune ? infinity : k > 1 ? 1.0 : 0.0;
  for (bool first = true;; first = false) {
    const bool bounded = margin < infinity;
    is_again_ = !first;
    if (!run(candidates, bounded, bounded ? margin : 0.0, true, budget)) {
      return only_path(candidates, stopped_early(candidates));
    }
    const double look = first ? std::max(usual, margin) : 1.2 * margin;
    const double best_value = layers_.back()[best_of(layers_.back())].value;
    KBest result = PathLattice(*this, candidates, best_value - look - SLACK).best(k);
    if (result.paths.empty()) result = only_path(candidates, {{}, 0.0, {}});  // no position at all
    const bool found_all = result.paths.size() == k;
    const double best = result.log_weights.front(), span = best - result.log_weights.back();
    // Nothing that was left out is worth best - margin.
    if (!bounded || (found_all && span <= margin)) {
      result.certificate = {true, best, best, prune ? Method::DOMINANCE : Method::FULL, 0, num_states_};
      return result;
    }
    if (first) {
      margin = std::max(second_margin(found_all ? span : infinity, usual), margin + SLACK);
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

KBest WalkDecoder::only_path(const Candidates& candidates, const Decoded& decoded) const {
  KBest result;
  result.paths.emplace_back();
  if (!candidates.is_chain()) result.routes.push_back(decoded.route);
  for (std::size_t i = 0; i < decoded.path.size(); ++i) {
    const Slot& slot = candidates.slots[slot_of_step(decoded.route, i)];
    result.paths.back().push_back(slot.candidate[slot.begin[decoded.path[i]]]);
  }
  result.log_weights.push_back(decoded.log_weight);
  result.certificate = decoded.certificate;
  result.certificate.exact = false;
  return result;
}

}  // namespace hiddenite::exact
