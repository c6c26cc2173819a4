#include "dominance.hpp"

#include <chrono>
#include <cmath>
#include <queue>

namespace hiddenite {

namespace {

// Bounds are rounded outwards; this covers the sums of doubles made from them.
constexpr double SLACK = 1e-9;
constexpr double FLOAT_SLACK = 8 * std::numeric_limits<float>::epsilon();
constexpr float NO_PROB = -std::numeric_limits<float>::infinity();
constexpr std::size_t PREFETCH = 6;  // so many items ahead
constexpr std::size_t FOUND_AT_ONCE = 24;  // enough to fetch ahead, few enough to learn from
constexpr std::size_t NUM_SEEDS = 4;  // prefixes tried for a first threshold
constexpr double MAX_MARGIN = 200.0;  // of k-best; beyond, all paths are looked at

using Clock = std::chrono::steady_clock;

}  // namespace

const Slot& WalkDecoder::slot_at(const Candidates& candidates, std::size_t position) const {
  return position < candidates.length() ? candidates.slots[position] : end_slot_;
}

void WalkDecoder::set_slots(const Candidates& candidates, std::size_t position) {
  const std::size_t num_positions = candidates.length() + candidates.ends;
  const Slot& slot = slot_at(candidates, position);
  if (has_next_) {
    std::swap(words_, next_words_);
  } else {
    words_.set(index_, slot, slot.log_max);
  }
  has_next_ = position + 1 < num_positions;
  if (has_next_) {
    const Slot& next = slot_at(candidates, position + 1);
    next_words_.set(index_, next, next.log_max);
  }
}

// False if the budget ended first.
bool WalkDecoder::run(const Candidates& candidates, bool prune, double margin, bool keep,
                      const Budget& budget) {
  const auto begin = Clock::now();
  const std::size_t num_positions = candidates.length() + candidates.ends;
  layers_.resize(num_positions + 1);
  passed_.clear();
  if (keep) passed_.resize(num_positions);
  layers_[0].assign(1, Active{index_.start(), 0.0, NONE, NONE});
  num_states_ = 1;
  has_next_ = false;
  bool complete = true;
  std::size_t position = 0;
  for (; position < num_positions; ++position) {
    set_slots(candidates, position);
    next_ = &layers_[position + 1];
    enter_states(layers_[position]);
    if (prune) drop_dominated(margin);
    find_reach();
    expand(prune, margin, keep ? &passed_[position] : nullptr);
    if (next_->empty()) break;
    num_states_ += next_->size();
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    if (position + 1 < num_positions && (elapsed.count() > budget.seconds || num_states_ > budget.states)) {
      complete = false;
      layers_.resize(position + 2);
      break;
    }
  }
  words_.clear();
  next_words_.clear();
  if (complete && position < num_positions) throw_no_path(candidates, position);
  return complete;
}

void WalkDecoder::enter_states(const std::vector<Active>& layer) {
  closure_.build(index_, layer.size(), [&](std::size_t i) { return layer[i].state; });
  entries_.assign(closure_.size(), Entry{});
  for (std::uint32_t i = 0; i < layer.size(); ++i) {
    Entry& entry = entries_[closure_.entry(layer[i].state)];
    entry.active = i;
    entry.value = layer[i].value;
  }
}

// need(c): what a prefix in state c must be worth, lest another one beat it on
// every continuation. Bottom up, the surest value that any prefix brings to c;
// top down, the same seen from the longer states.
void WalkDecoder::drop_dominated(double margin) {
  for (std::size_t e = 0; e < entries_.size(); ++e) {  // longest first
    Entry& entry = entries_[e];
    entry.need = std::max(entry.need, entry.value);
    if (closure_.suffix[e] == NONE) continue;
    const auto [up, down] = words_.bounds(index_, closure_.state[e]);
    entry.up = up;
    Entry& suffix = entries_[closure_.suffix[e]];
    suffix.need = std::max(suffix.need, entry.need + down);
  }
  for (std::size_t e = entries_.size(); e-- > 0;) {
    Entry& entry = entries_[e];
    if (closure_.suffix[e] != NONE) {
      const double need = entries_[closure_.suffix[e]].need;
      if (need > LOG_ZERO) entry.need = std::max(entry.need, need - entry.up);
    }
    if (entry.active != NONE && entry.value < entry.need - margin - SLACK) {
      entry.active = NONE;
      entry.value = LOG_ZERO;
    }
  }
}

void WalkDecoder::find_reach() {
  for (std::size_t e = 0; e < entries_.size(); ++e) {  // longest first
    Entry& entry = entries_[e];
    if (entry.value > entry.reach) {
      entry.reach = entry.value;
      entry.origin = entry.active;
    }
    if (closure_.suffix[e] == NONE || entry.reach == LOG_ZERO) continue;
    entry.backed_off = entry.reach + index_.state(closure_.state[e]).log_backoff;
    Entry& suffix = entries_[closure_.suffix[e]];
    if (entry.backed_off > suffix.reach) {
      suffix.reach = entry.backed_off;
      suffix.origin = entry.origin;
    }
  }
}

void WalkDecoder::sort_extensions(std::uint32_t e) {
  const auto first = closure_.extensions.begin() + closure_.first_extension[e];
  const auto last = closure_.extensions.begin() + closure_.first_extension[e + 1];
  const auto leads_on = [&](std::uint32_t x) { return entries_[x].backed_off > LOG_ZERO; };
  const auto kept = std::partition(first, last, leads_on);
  std::sort(first, kept, [&](std::uint32_t a, std::uint32_t b) {
    return entries_[a].backed_off > entries_[b].backed_off;
  });
  entries_[e].num_extensions = static_cast<std::uint32_t>(kept - first);
  entries_[e].sorted = true;
}

// A first threshold from a few of the best prefixes: each by the arcs of the
// longest state that it comes by and that has any of the slot's words.
void WalkDecoder::seed_threshold() {
  seeds_.clear();
  for (std::uint32_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].active != NONE) seeds_.push_back(e);
  }
  const auto num_seeds = std::min<std::size_t>(seeds_.size(), NUM_SEEDS);
  std::partial_sort(seeds_.begin(), seeds_.begin() + static_cast<std::ptrdiff_t>(num_seeds), seeds_.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return entries_[a].value > entries_[b].value; });
  for (std::size_t i = 0; i < num_seeds; ++i) seed_from(seeds_[i]);
}

void WalkDecoder::seed_from(std::uint32_t e) {
  double value = entries_[e].value, found = LOG_ZERO;
  NodeId longer = NO_NODE;
  for (NodeId s = closure_.state[e];; s = index_.state(s).suffix) {
    if (s == ROOT && threshold_ > LOG_ZERO) return;  // too many arcs for a guess
    words_.for_each_arc(index_, s, [&](NodeId, const StateIndex::Arc& arc, std::uint32_t k) {
      // A word that the longer state lists does not come by here.
      if (longer != NO_NODE && index_.find_arc(longer, arc.word) != NO_NODE) return;
      found = std::max(found, value + words_.log_weight(k) + arc.down_to_root);
    });
    threshold_ = std::max(threshold_, found);
    if (found > LOG_ZERO || s == ROOT) return;
    value += index_.state(s).log_backoff;
    longer = s;
  }
}

void WalkDecoder::expand(bool prune, double margin, Passed* passed) {
  next_->clear();
  next_of_.clear();
  threshold_ = LOG_ZERO;
  word_threshold_.assign(prune ? words_.slot().size() : 0, LOG_ZERO);
  if (prune) seed_threshold();
  found_.clear();
  for (std::uint32_t e = 0; e < entries_.size(); ++e) {
    if (e + PREFETCH < entries_.size()) index_.prefetch_arcs(closure_.state[e + PREFETCH]);
    const Entry& entry = entries_[e];
    if (entry.reach == LOG_ZERO) continue;
    if (prune && entry.reach + index_.state(closure_.state[e]).best_arc + words_.best_log_weight() <
                     threshold_ - margin - SLACK) continue;
    find_arcs(e, prune, margin);
    if (found_.size() >= FOUND_AT_ONCE) use_found(prune, margin, passed);
  }
  use_found(prune, margin, passed);
  if (passed) {
    passed->closure = closure_;
    passed->entries = entries_;
    return;
  }
  if (!prune) return;
  // The thresholds have risen since the first states were reached. A state's value has the weight of its word,
  // which the word's threshold has not.
  std::erase_if(*next_, [&](const Active& active) {
    const double up_to_root = index_.state(active.state).up_to_root;
    if (active.value + up_to_root < threshold_ - margin - SLACK) return true;
    const double value = active.value - words_.log_weight(active.word);
    return most_above_word(value, up_to_root, words_.slot().word[active.word]) < word_threshold_[active.word] - margin;
  });
}

// The entry's arcs that may be worth their while.
void WalkDecoder::find_arcs(std::uint32_t e, bool prune, double margin) {
  const Entry& entry = entries_[e];
  const bool own = entry.value == entry.reach;  // then no longer state uses these arcs to more effect
  const double least = (prune ? threshold_ : LOG_ZERO) - margin - SLACK - entry.reach;
  words_.for_each_arc(index_, closure_.state[e], [&](NodeId a, const StateIndex::Arc& arc, std::uint32_t k) {
    const double weight = words_.log_weight(k);
    if (arc.up_to_root + weight < least || arc.log_prob == NO_PROB) return;
    if (prune && most_above_word(entry.reach, arc.up_to_root, arc.word) < word_threshold_[k] - margin) return;
    index_.prefetch_state(arc.next);
    found_.push_back({e, a, k, NONE});
    if (own && prune) threshold_ = std::max(threshold_, entry.value + weight + arc.down_to_root);
  });
}

void WalkDecoder::use_found(bool prune, double margin, Passed* passed) {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (prune && i + PREFETCH < found_.size()) index_.prefetch_arcs(index_.arc(found_[i + PREFETCH].arc).next);
    const auto [e, a, k, unused] = found_[i];
    const StateIndex::Arc& arc = index_.arc(a);
    const double weight = words_.log_weight(k);
    const double least = threshold_ - margin - SLACK;
    double value = entries_[e].reach;
    if (prune && (value + arc.up_to_root + weight < least || value + next_up(arc) + weight < least)) continue;
    std::uint32_t origin = NONE;
    std::tie(value, origin) = best_prefix(e, arc.word);
    if (value == LOG_ZERO) continue;  // all prefixes list the word further up
    if (prune && value + arc.up_to_root + weight < least) continue;
    if (prune) {
      // Prefixes that take the same word share at least the state after it alone.
      if (most_above_word(value, arc.up_to_root, arc.word) < word_threshold_[k] - margin) continue;
      word_threshold_[k] = std::max(word_threshold_[k], least_above_word(value, arc.down_to_root, arc.word));
    }
    const std::uint32_t to = relax(arc.next, value + arc.log_prob + weight, origin, k);
    if (passed) passed->arcs.push_back({e, a, k, to});
    if (prune) threshold_ = std::max(threshold_, value + weight + arc.down_to_root);
  }
  found_.clear();
}

// The most that a prefix of this value can be worth above the state after the
// word alone; `up_to_root` is that of the state it reaches, the arc's term included.
double WalkDecoder::most_above_word(double value, double up_to_root, WordId w) const {
  const double up = index_.up_of_word(w);
  // A difference of floats that were rounded outwards is off by a few units in their last place.
  return value + (up_to_root - up) + SLACK + FLOAT_SLACK * (std::fabs(up) + std::fabs(up_to_root));
}

double WalkDecoder::least_above_word(double value, double down_to_root, WordId w) const {
  const double down = index_.down_of_word(w);
  return value + (down_to_root - down) - FLOAT_SLACK * (std::fabs(down) + std::fabs(down_to_root));
}

// up_to_root of an arc, its next state's share restricted to the next slot.
double WalkDecoder::next_up(const StateIndex::Arc& arc) const {
  if (!has_next_ || arc.next == ROOT) return arc.up_to_root;
  const StateIndex::State& next = index_.state(arc.next);
  const double above = index_.state(next.suffix).up_to_root;
  return arc.log_prob + next_words_.bounds(index_, arc.next).first + above;
}

// B(e, w) and the active state it comes from.
std::pair<double, std::uint32_t> WalkDecoder::best_prefix(std::uint32_t e, WordId w) {
  const Entry& entry = entries_[e];
  if (entry.value == entry.reach) return {entry.value, entry.active};
  if (!entry.sorted) sort_extensions(e);
  for (std::uint32_t i = 0; i < entry.num_extensions; ++i) {
    const std::uint32_t x = closure_.extensions[closure_.first_extension[e] + i];
    if (entries_[x].backed_off <= entry.value) break;
    if (index_.find_arc(closure_.state[x], w) == NO_NODE) return {entries_[x].backed_off, entries_[x].origin};
  }
  return {entry.value, entry.active};
}

std::uint32_t WalkDecoder::relax(NodeId next, double value, std::uint32_t origin, std::uint32_t word) {
  bool inserted;
  std::uint32_t& place = next_of_.at(next, inserted);
  if (inserted) {
    place = static_cast<std::uint32_t>(next_->size());
    next_->push_back({next, value, origin, word});
  } else if (value > (*next_)[place].value) {
    (*next_)[place] = {next, value, origin, word};
  }
  return place;
}

std::vector<WalkDecoder::Active>::const_iterator WalkDecoder::best_final() const {
  return std::max_element(layers_.back().begin(), layers_.back().end(),
                          [](const Active& a, const Active& b) { return a.value < b.value; });
}

WordPath WalkDecoder::backtrack(std::uint32_t active) const {
  WordPath path;
  for (std::size_t i = layers_.size() - 1; i > 0; --i) {
    path.push_back(layers_[i][active].word);
    active = layers_[i][active].previous;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Decoded WalkDecoder::decode(const Candidates& candidates, bool prune, const Budget& budget) {
  if (!run(candidates, prune, 0.0, false, budget)) return stopped_early(candidates);
  const auto best = best_final();
  Decoded result;
  result.path = backtrack(static_cast<std::uint32_t>(best - layers_.back().begin()));
  result.path.resize(candidates.length());
  result.log_weight = path_log_weight(index_.table(), candidates, result.path);
  result.certificate = {true, result.log_weight, result.log_weight,
                        prune ? Method::DOMINANCE : Method::FULL, 0, num_states_};
  return result;
}

// The best prefix completed word by word, and the most that any completion of
// any prefix can reach: each later word at its best after any context.
Decoded WalkDecoder::stopped_early(const Candidates& candidates) const {
  const NgramTable& table = index_.table();
  const auto best = best_final();
  Decoded result;
  result.path = backtrack(static_cast<std::uint32_t>(best - layers_.back().begin()));
  double upper = best->value;
  NodeId state = best->state;
  for (std::size_t i = result.path.size(); i < candidates.length(); ++i) {
    const Slot& slot = candidates.slots[i];
    double most = LOG_ZERO, step_best = LOG_ZERO;
    std::uint32_t chosen = 0;
    NodeId chosen_state = state;
    for (std::uint32_t k = 0; k < slot.size(); ++k) {
      most = std::max(most, table.log_max_prob[1 + slot.word[k]] + slot.log_max[k]);
      NodeId next = state;
      const double value = table.step(next, slot.word[k]) + slot.log_max[k];
      if (value > step_best) step_best = value, chosen = k, chosen_state = next;
    }
    result.path.push_back(chosen);
    state = chosen_state;
    upper += most;
  }
  if (candidates.ends) upper += table.log_max_prob[1 + SENTENCE_END];
  result.log_weight = path_log_weight(table, candidates, result.path);
  const bool exact = upper <= result.log_weight;
  result.certificate = {exact, std::max(upper, result.log_weight), result.log_weight,
                        Method::AUTO, 0, num_states_};
  return result;
}

// ------------------------------------------------------------------ k best

// The paths within a margin of the best, from what a run left behind.
//
// From the last position back: with the exact best completion of each state,
// an edge is made for each prefix state that uses an arc, if the best path
// over it is within the margin. Then best first: a partial path stands for its
// best completion; taken from the queue, it makes way for the same prefix with
// the next best edge, and for itself one edge longer.
class PathLattice {
 public:
  PathLattice(WalkDecoder& walk, const Candidates& candidates, double least)
      : walk_(walk), candidates_(candidates), least_(least), layers_(walk.passed_.size()) {
    after_.assign(walk.layers_.back().size(), 0.0);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      find_edges(i);
      group_edges(i);
    }
  }

  KBest best(std::size_t k) {
    KBest result;
    push(0.0, NONE, 0, 0, 0);
    while (!queue_.empty() && result.paths.size() < k) {
      const std::uint32_t top = queue_.top().partial;
      queue_.pop();
      const Partial partial = partials_[top];
      const Edge& edge = *find(partial.length, partial.state, partial.rank);
      push(partial.prefix, partial.parent, partial.state, partial.rank + 1, partial.length);
      if (partial.length + 1 < layers_.size()) {
        push(partial.prefix + edge.log_weight, top, edge.to, 0, partial.length + 1);
      } else {
        result.paths.push_back(path_to(top));
        result.log_weights.push_back(partial.prefix + edge.log_weight);
      }
    }
    return result;
  }

 private:
  struct Edge {
    double value;  // its weight and the best that can follow
    double log_weight;
    std::uint32_t from, to, candidate;
  };
  struct Layer {
    std::vector<Edge> edges;           // by state
    std::vector<std::uint32_t> first;  // [state]
    std::vector<bool> sorted;          // [state]: best first
  };
  struct Partial {
    double prefix;          // weight of the edges before the last
    std::uint32_t parent;   // the partial path without the last edge
    std::uint32_t state, rank, length;
  };
  struct Queued {
    double value;
    std::uint32_t partial;
    bool operator<(const Queued& o) const { return value != o.value ? value < o.value : partial > o.partial; }
  };

  void find_edges(std::size_t i) {
    const Slot& slot = walk_.slot_at(candidates_, i);
    for (const WalkDecoder::FoundArc& found : walk_.passed_[i].arcs) {
      const double after = after_[found.to];
      if (after == LOG_ZERO) continue;
      const StateIndex::Arc& arc = walk_.index_.arc(found.arc);
      for (std::uint32_t c = slot.begin[found.word]; c < slot.begin[found.word + 1]; ++c) {
        const double weight = arc.log_prob + slot.log_weight[c];
        add_edges(i, found.entry, arc.word, weight, Edge{after, 0.0, NONE, found.to, slot.candidate[c]});
      }
    }
  }

  // An edge for each prefix that uses the arc: those of entry e, and of its
  // extensions as long as they do not list the word; `weight` has what was
  // paid for backing off.
  void add_edges(std::size_t i, std::uint32_t e, WordId w, double weight, Edge edge) {
    WalkDecoder::Passed& passed = walk_.passed_[i];
    const WalkDecoder::Entry& entry = passed.entries[e];
    const double least = least_ - weight - edge.value;
    if (entry.reach < least) return;
    if (entry.active != NONE && entry.value >= least) {
      layers_[i].edges.push_back({weight + edge.value, weight, entry.active, edge.to, edge.candidate});
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
      add_edges(i, x, w, weight + walk_.index_.state(closure.state[x]).log_backoff, edge);
    }
  }

  void group_edges(std::size_t i) {
    Layer& layer = layers_[i];
    const std::size_t num_states = walk_.layers_[i].size();
    std::vector<Edge> grouped(layer.edges.size());
    layer.first.assign(num_states + 1, 0);
    layer.sorted.assign(num_states, false);
    for (const Edge& edge : layer.edges) ++layer.first[edge.from + 1];
    for (std::size_t s = 0; s < num_states; ++s) layer.first[s + 1] += layer.first[s];
    std::vector<std::uint32_t> fill(layer.first.begin(), layer.first.end() - 1);
    after_.assign(num_states, LOG_ZERO);
    for (const Edge& edge : layer.edges) {
      grouped[fill[edge.from]++] = edge;
      after_[edge.from] = std::max(after_[edge.from], edge.value);
    }
    layer.edges = std::move(grouped);
  }

  // The state's edge of that rank, or null; put in order when first asked for.
  const Edge* find(std::size_t i, std::uint32_t state, std::uint32_t rank) {
    Layer& layer = layers_[i];
    const auto first = layer.edges.begin() + layer.first[state], last = layer.edges.begin() + layer.first[state + 1];
    if (!layer.sorted[state]) {
      layer.sorted[state] = true;
      std::sort(first, last, [](const Edge& a, const Edge& b) { return a.value > b.value; });
    }
    return first + rank < last ? &*(first + rank) : nullptr;
  }

  void push(double prefix, std::uint32_t parent, std::uint32_t state, std::uint32_t rank, std::uint32_t length) {
    if (layers_.empty()) return;
    const Edge* edge = find(length, state, rank);
    if (!edge || prefix + edge->value < least_) return;
    queue_.push({prefix + edge->value, static_cast<std::uint32_t>(partials_.size())});
    partials_.push_back({prefix, parent, state, rank, length});
  }

  std::vector<std::uint32_t> path_to(std::uint32_t last) {
    std::vector<std::uint32_t> path(layers_.size());
    for (std::uint32_t p = last; p != NONE; p = partials_[p].parent) {
      path[partials_[p].length] = find(partials_[p].length, partials_[p].state, partials_[p].rank)->candidate;
    }
    path.resize(candidates_.length());
    return path;
  }

  WalkDecoder& walk_;
  const Candidates& candidates_;
  double least_;  // paths below this are of no interest
  std::vector<Layer> layers_;
  std::vector<double> after_;  // best completion of each state of the layer last seen
  std::vector<Partial> partials_;
  std::priority_queue<Queued> queue_;
};

KBest WalkDecoder::kbest(const Candidates& candidates, std::size_t k, bool prune, const Budget& budget) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double margin = prune ? 2.0 * std::log10(static_cast<double>(std::max<std::size_t>(k, 1))) : infinity;
  for (;;) {
    const bool bounded = margin < infinity;
    if (!run(candidates, bounded, bounded ? margin : 0.0, true, budget)) {
      return only_path(candidates, stopped_early(candidates));
    }
    const double best = best_final()->value;
    KBest result = PathLattice(*this, candidates, best - margin - SLACK).best(k);
    if (result.paths.empty()) result = only_path(candidates, Decoded{});  // no position at all
    const bool found_all = result.paths.size() == k;
    const double span = result.log_weights.front() - result.log_weights.back();
    // Nothing that was left out is worth best - margin.
    if (!bounded || (found_all && span <= margin)) {
      result.certificate = {true, result.log_weights.front(), result.log_weights.front(),
                            prune ? Method::DOMINANCE : Method::FULL, 0, num_states_};
      return result;
    }
    margin = 1.5 * margin + 1.0;
    if (margin > MAX_MARGIN) margin = infinity;
  }
}

KBest WalkDecoder::only_path(const Candidates& candidates, const Decoded& decoded) const {
  KBest result;
  result.paths.emplace_back();
  for (std::size_t i = 0; i < decoded.path.size(); ++i) {
    const Slot& slot = candidates.slots[i];
    result.paths.back().push_back(slot.candidate[slot.begin[decoded.path[i]]]);
  }
  result.log_weights.push_back(decoded.log_weight);
  result.certificate = decoded.certificate;
  result.certificate.exact = false;
  return result;
}

}  // namespace hiddenite
