// The k best paths by refining a bound.
#include <iterator>
#include <map>
#include <set>

#include "hiddenite/exact/best_first.hpp"
#include "hiddenite/exact/bound/paper.hpp"
#include "hiddenite/exact/empty_support.hpp"
#include "hiddenite/exact/search.hpp"

namespace hiddenite::exact {

namespace {

// The best word paths met, each once.
class Pool {
 public:
  explicit Pool(std::size_t k) : k_(k) {}
  void add(const Trial& trial) {
    if (trial.log_p == LOG_ZERO || trial.log_p <= kth() || !known_.insert(trial.path).second) return;
    ranked_.emplace(-trial.log_p, trial.path);
    if (ranked_.size() > k_) ranked_.erase(std::prev(ranked_.end()));
  }
  // The weight of the k-th best, zero if there are fewer.
  double kth() const { return ranked_.size() < k_ ? LOG_ZERO : -ranked_.rbegin()->first; }
  const std::multimap<double, WordPath>& ranked() const { return ranked_; }  // by -log_p

 private:
  std::size_t k_;
  std::set<WordPath> known_;
  std::multimap<double, WordPath> ranked_;
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
template <class Bound>
class KBestSearch {
 public:
  KBestSearch(Bound& q, const NgramTable& table, const Candidates& candidates, std::size_t k)
      : q_(q), table_(table), candidates_(candidates), k_(k), pool_(k) {}

  void step() {
    for (const Trial& trial : rejected_) q_.tighten(trial);
    refinements_ += rejected_.size();
    rejected_.clear();
    best_ = q_.best();
    if (best_.log_q == LOG_ZERO) throw_empty_support(table_, candidates_);
    pool_.add(best_);
    bounds_.none_above(outward(best_.log_q, num_terms(table_, candidates_)));
    const bool complete = fill_pool();
    if (!pool_.ranked().empty()) bounds_.found(-pool_.ranked().begin()->first);
    if (complete && pool_.ranked().empty()) throw_empty_support(table_, candidates_);
    if (complete) bounds_.close();
  }
  const Bounds& bounds() const { return bounds_; }
  std::uint64_t refinements() const { return refinements_; }
  std::uint64_t num_states() const { return q_.num_states(); }

  // Where nothing possible was met before the budget ended, q's best path, of weight zero.
  KBest result(const Certificate& certificate) const {
    KBest result{{}, {}, certificate, {}};
    std::multimap<double, WordPath> ranked = pool_.ranked();
    if (ranked.empty()) ranked.emplace(-LOG_ZERO, best_.path);
    Spellings spellings(candidates_, ranked);
    BestFirst<Spellings> sequences(spellings, {nullptr, 0});
    while (!sequences.is_empty() && result.paths.size() < k_) {
      WordPath& path = result.paths.emplace_back();
      for (const Spellings::Choice& choice : sequences.next()) {
        if (choice.to.position > 0) path.push_back(choice.candidate);
      }
      result.log_weights.push_back(sequences.log_weight());
    }
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
  const NgramTable& table_;
  const Candidates& candidates_;
  std::size_t k_;
  Pool pool_;
  Bounds bounds_;
  Trial best_;
  std::vector<Trial> rejected_;
  std::uint64_t refinements_ = 0;
  WordPath words_;
};

template <class Bound>
KBest kbest_by(Bound q, Method method, const NgramTable& table, const Candidates& candidates, std::size_t k,
               const Deadline& deadline) {
  KBestSearch search(q, table, candidates, k);
  const Certificate certificate = run_search(search, deadline, method);
  return search.result(certificate);
}

}  // namespace

KBest kbest_by_refining(const NgramTable& table, const Candidates& candidates, std::size_t k, Method method,
                        const Deadline& deadline, Strategy strategy) {
  k = std::max<std::size_t>(k, 1);
  if (candidates.num_positions() == 0) return {{{}}, {0.0}, proved(0.0, method), {}};
  if (method == Method::PAPER) {
    return kbest_by(PaperRelaxation(table, candidates, Weighting::BEST), method, table, candidates, k, deadline);
  }
  return kbest_by(Refinement(table, candidates, Weighting::BEST, strategy), method, table, candidates, k, deadline);
}

}  // namespace hiddenite::exact
