// The k best paths by refining a bound.
#include <iterator>
#include <map>

#include "hiddenite/exact/best_first.hpp"
#include "hiddenite/exact/bound/paper.hpp"
#include "hiddenite/exact/search.hpp"

namespace hiddenite::exact {

namespace {

// The best paths met, each once; `key` says which are one.
template <class Key>
class Pool {
 public:
  Pool(std::size_t k, Key key) : k_(k), key_(std::move(key)) {}
  void add(const Trial& trial) {
    if (trial.log_p == LOG_ZERO || trial.log_p <= kth()) return;
    const auto [known, is_new] = place_.try_emplace(key_(trial.path), ranked_.end());
    if (!is_new && -known->second->first >= trial.log_p) return;
    if (!is_new) ranked_.erase(known->second);
    known->second = ranked_.emplace(-trial.log_p, trial.path);
    if (ranked_.size() <= k_) return;
    place_.erase(key_(std::prev(ranked_.end())->second));
    ranked_.erase(std::prev(ranked_.end()));
  }
  // The weight of the k-th best, zero if there are fewer.
  double kth() const { return ranked_.size() < k_ ? LOG_ZERO : -ranked_.rbegin()->first; }
  const std::multimap<double, WordPath>& ranked() const { return ranked_; }  // by -log_p

 private:
  std::size_t k_;
  Key key_;
  std::multimap<double, WordPath> ranked_;
  std::map<WordPath, std::multimap<double, WordPath>::iterator> place_;
};

struct WholePath {
  const WordPath& operator()(const WordPath& path) const { return path; }
};

// The candidate sequences of word paths, as a graph: which word path, then a candidate for each word.
class Spellings {
 public:
  struct Node {
    const WordPath* words;  // null: not yet chosen
    std::uint32_t position;
  };
  struct Choice {
    double value, log_weight;
    Node to;
    std::uint32_t candidate;
  };

  Spellings(const Candidates& candidates, const std::multimap<double, WordPath>& ranked) : candidates_(candidates) {
    for (const auto& [cost, words] : ranked) paths_.push_back({-cost, -cost, {&words, 0}, 0});
  }
  bool is_last(const Choice& choice) const { return choice.to.position == candidates_.length(); }
  Node target(const Choice& choice) const { return choice.to; }
  const Choice* choice(Node node, std::uint32_t rank) {
    if (!node.words) return rank < paths_.size() ? &paths_[rank] : nullptr;
    const Slot& slot = candidates_.slots[node.position];
    const std::uint32_t word = (*node.words)[node.position], place = slot.begin[word] + rank;
    if (place >= slot.begin[word + 1]) return nullptr;
    const double less = slot.log_weight[place] - slot.log_max[word];
    choice_ = {less, less, {node.words, node.position + 1}, slot.candidate[place]};
    return &choice_;
  }

 private:
  const Candidates& candidates_;
  std::vector<Choice> paths_;
  Choice choice_{};
};

// Tightens q by up to k of its best paths at a time.
template <class Bound, class Key = WholePath>
class KBestSearch {
 public:
  KBestSearch(Bound& q, std::size_t k, Key key = {}) : q_(q), k_(k), pool_(k, std::move(key)) {}

  void step() {
    for (const Trial& trial : rejected_) q_.tighten(trial);
    refinements_ += rejected_.size();
    rejected_.clear();
    best_ = q_.best();
    if (best_.log_q == LOG_ZERO) q_.throw_empty();
    pool_.add(best_);
    bounds_.none_above(q_.upper_of(best_.log_q));
    const bool complete = fill_pool();
    if (!pool_.ranked().empty()) bounds_.found(-pool_.ranked().begin()->first);
    if (complete && pool_.ranked().empty()) q_.throw_empty();
    if (complete) bounds_.close();
  }
  const Bounds& bounds() const { return bounds_; }
  std::uint64_t refinements() const { return refinements_; }
  std::uint64_t num_states() const { return q_.num_states(); }

  // By -log_p. Where nothing possible was met before the budget ended, q's best path, of weight zero.
  std::multimap<double, WordPath> ranked() const {
    std::multimap<double, WordPath> result = pool_.ranked();
    if (result.empty()) result.emplace(-LOG_ZERO, best_.path);
    return result;
  }

 private:
  // Looks at q's best paths in order until the pool is complete (true) or enough are to be refined first.
  bool fill_pool() {
    auto graph = q_.ranked_edges();
    BestFirst paths(graph, graph.start());
    while (!paths.is_empty()) {
      check_interrupt();
      if (pool_.kth() >= paths.next_log_weight()) return true;
      words_.clear();
      for (const auto& choice : paths.next()) words_.push_back(choice.k);
      const Trial trial = q_.score(words_);
      pool_.add(trial);
      if (!trial.is_tight()) rejected_.push_back(trial);
      if (rejected_.size() == k_) return false;
    }
    return true;  // every path of positive weight
  }

  Bound& q_;
  std::size_t k_;
  Pool<Key> pool_;
  Bounds bounds_;
  Trial best_;
  std::vector<Trial> rejected_;
  std::uint64_t refinements_ = 0;
  WordPath words_;
};

template <class Bound>
KBest kbest_by(Bound q, Method method, const Candidates& candidates, std::size_t k, const Deadline& deadline) {
  KBestSearch search(q, k);
  KBest result{{}, {}, run_search(search, deadline, method), {}};
  const std::multimap<double, WordPath> ranked = search.ranked();
  Spellings spellings(candidates, ranked);
  BestFirst<Spellings> sequences(spellings, {nullptr, 0});
  while (!sequences.is_empty() && result.paths.size() < k) {
    WordPath& path = result.paths.emplace_back();
    for (const Spellings::Choice& choice : sequences.next()) {
      if (choice.to.position > 0) path.push_back(choice.candidate);
    }
    result.log_weights.push_back(sequences.log_weight());
  }
  return result;
}

// The labels of a path of edges.
struct LabelsOf {
  const std::vector<std::uint32_t>& label;
  WordPath operator()(const WordPath& edges) const {
    if (label.empty()) return edges;
    WordPath labels;
    for (const std::uint32_t e : edges) {
      if (label[e] != NO_LABEL) labels.push_back(label[e]);
    }
    return labels;
  }
};

// Each candidate has an edge of its own, so paths need no spelling.
KBest kbest_of_candidate_graph(const NgramTable& table, const Candidates& candidates, std::size_t k, Method method,
                               const Deadline& deadline, Strategy strategy) {
  const CandidateGraph made = graph_of(candidates);
  const GraphOptions options{1.0, true, candidates.ends, candidates.log_offset};
  const auto q = make_graph_relaxation(table, made.graph, method, options, strategy);
  KBest best = kbest_of_graph(*q, k, {}, method, deadline);
  for (std::vector<std::uint32_t>& path : best.paths) {
    best.routes.push_back(made.route(path));
    path = CandidateGraph::column(made.candidate, path);
  }
  return best;
}

}  // namespace

KBest kbest_of_graph(GraphRelaxation& q, std::size_t k, const std::vector<std::uint32_t>& label, Method method,
                     const Deadline& deadline) {
  KBestSearch<GraphRelaxation, LabelsOf> search(q, k, {label});
  KBest result{{}, {}, run_search(search, deadline, method), {}};
  for (const auto& [cost, path] : search.ranked()) {
    result.paths.push_back(path);
    result.log_weights.push_back(-cost);
  }
  return result;
}

KBest kbest_by_refining(const NgramTable& table, const Candidates& candidates, std::size_t k, Method method,
                        const Deadline& deadline, Strategy strategy) {
  k = std::max<std::size_t>(k, 1);
  if (candidates.num_positions() == 0) return {{{}}, {0.0}, proved(0.0, method), {}};
  if (!candidates.is_chain()) return kbest_of_candidate_graph(table, candidates, k, method, deadline, strategy);
  if (method == Method::PAPER) {
    return kbest_by(PaperRelaxation(table, candidates, Weighting::BEST), method, candidates, k, deadline);
  }
  return kbest_by(Refinement(table, candidates, Weighting::BEST, strategy), method, candidates, k, deadline);
}

}  // namespace hiddenite::exact
