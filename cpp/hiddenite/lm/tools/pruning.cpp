#include "hiddenite/lm/tools/pruning.hpp"

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/lm/tools/rebuild.hpp"

namespace hiddenite::lm {

namespace {

constexpr int MOST_ITERATIONS = 200;
constexpr int SIZE_STEPS = 40;  // of the search for a threshold
constexpr double SIZE_TOLERANCE = 0.005;  // fewer n-grams than were asked for
constexpr double CAUTION = 3.0;      // chosen on the valid text of the Penn Treebank

class Pruner {
 public:
  // `tolerance`: the sum of absolute changes at which the distribution of states is done.
  Pruner(const NgramTable& table, Histories histories, double tolerance)
      : t_(table), histories_(histories), tolerance_(tolerance), kept_(table.num_nodes(), 1),
        backoff_(table.num_contexts()), prob_(table.num_nodes()), visits_(table.num_contexts(), 0.0) {
    for (NodeId s = 0; s < t_.num_contexts(); ++s) backoff_[s] = std::exp(double{t_.log_backoff[s]});
    for (NodeId a = 1; a < t_.num_nodes(); ++a) prob_[a] = std::exp(double{t_.log_prob[a]});
    visits_[t_.start()] = 1.0;
    if (histories_ == Histories::TEXT) find_text_visits();
  }

  void run(double threshold) {
    for (int n = t_.order; n >= 2; --n) prune_level(n, threshold);
  }

  std::vector<double> costs() {
    find_needed();
    find_flows();
    std::vector<double> result(t_.num_nodes(), std::numeric_limits<double>::quiet_NaN());
    for (NodeId s = t_.level_begin[1]; s < t_.num_contexts(); ++s) {
      costs_of(s, [&](NodeId a, double cost) { result[a] = cost; });
    }
    return result;
  }

  std::size_t num_kept() const {
    std::size_t count = 0;
    for (NodeId a = 1; a < t_.num_nodes(); ++a) count += kept_[a];
    return count;
  }

  NgramTable table() const {
    return rebuild(
        t_, [&](NodeId a) { return kept_[a] != 0; }, [&](NodeId a) { return t_.log_prob[a]; },
        [&](NodeId s) {
          if (changed_.empty() || !changed_[s]) return t_.log_backoff[s];
          return static_cast<float>(std::log(backoff_[s]));
        });
  }

  // What stays, so that it can be taken up again.
  struct Choice {
    std::vector<char> kept, changed;
    std::vector<double> backoff;
    std::size_t size = 0;
  };
  Choice choice(std::size_t size) const { return {kept_, changed_, backoff_, size}; }
  void choose(Choice choice) {
    kept_ = std::move(choice.kept);
    changed_ = std::move(choice.changed);
    backoff_ = std::move(choice.backoff);
  }

  // Starts again with all n-grams; the distribution of states is a good first guess.
  void reset() {
    std::fill(kept_.begin(), kept_.end(), char{1});
    changed_.clear();
    for (NodeId s = 0; s < t_.num_contexts(); ++s) backoff_[s] = std::exp(double{t_.log_backoff[s]});
  }

 private:
  void prune_level(int n, double threshold) {
    find_needed();
    find_flows();
    if (changed_.empty()) changed_.assign(t_.num_contexts(), 0);
    std::vector<NodeId> gone;
    for (NodeId s = t_.level_begin[n - 1]; s < t_.level_begin[n]; ++s) {
      check_interrupt_at(s);
      gone.clear();
      costs_of(s, [&](NodeId a, double cost) {
        if (std::expm1(cost) < threshold) gone.push_back(a);
      });
      for (const NodeId a : gone) kept_[a] = 0;
      if (gone.empty()) continue;
      changed_[s] = 1;
      backoff_[s] = std::exp(log_backoff_of(mass_of(s)));
    }
  }

  FreeMass mass_of(NodeId s) const {
    FreeMass mass;
    for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1]; ++a) {
      if (!kept_[a]) continue;
      mass.own -= prob_[a];
      mass.suffix -= prob_[t_.suffix[a]];
    }
    return mass;
  }

  // The n-grams that a kept one has as context or suffix.
  void find_needed() {
    needed_.assign(t_.num_nodes(), 0);
    for (NodeId s = 1; s < t_.num_contexts(); ++s) {
      check_interrupt_at(s);
      for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1]; ++a) {
        if (!kept_[a]) continue;
        needed_[s] = 1;
        needed_[t_.suffix[a]] = 1;
      }
    }
  }

  // --------------------------------------------------- how often what is used

  void find_flows() {
    switch (histories_) {
      case Histories::EXACT: return find_stationary_flows();
      case Histories::STOLCKE: return find_chain_flows();
      case Histories::TEXT:
        next_.assign(t_.num_contexts(), 0.0);
        return pass();
    }
  }

  // ------------------------------------------------------ the text won back

  // u(w | s) of an arc, and the discount of each of the context's arcs; shares of c(s). Of the whole model.
  double discounted(NodeId s, NodeId a) const {
    if (s == ROOT) return prob_[a];
    return std::max(prob_[a] - std::exp(double{t_.log_backoff[s]}) * prob_[t_.suffix[a]], 0.0);
  }
  double discount(NodeId s) const {
    const NodeId count = t_.first_child[s + 1] - t_.first_child[s];
    return s == ROOT || count == 0 ? 0.0 : std::exp(double{t_.log_backoff[s]}) / count;
  }
  // What discounting has left of the count, as a share of it.
  double certainty(NodeId s, NodeId a) const {
    const double own = discounted(s, a);
    return own > 0.0 ? own / (own + discount(s)) : 0.0;
  }

  void find_text_visits() {
    for (int i = 0; i < MOST_ITERATIONS && move_text() >= tolerance_; ++i) {}
    keep_what_comes_again();
  }

  // One word of the text, wherever it stands; returns how much has changed. Contexts that nothing follows are
  // not states: their suffix is.
  double move_text() {
    next_.assign(t_.num_contexts(), 0.0);
    reach_ = visits_;
    for (int k = t_.order - 1; k >= 0; --k) {
      for (NodeId s = t_.level_begin[k]; s < t_.level_begin[k + 1]; ++s) {
        check_interrupt_at(s);
        if (reach_[s] == 0.0) continue;
        const double each = discount(s);
        double total = 0.0;
        for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1]; ++a) total += discounted(s, a) + each;
        if (!(total > 0.0)) {
          if (k > 0) reach_[t_.suffix[s]] += reach_[s];
          continue;
        }
        for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1]; ++a) {
          const NodeId to = t_.word[a] == SENTENCE_END ? t_.start() : t_.context_after(a);
          next_[to] += reach_[s] * (discounted(s, a) + each) / total;
        }
      }
    }
    return take_next();
  }

  // The distribution that was made becomes the one that is; returns the sum of absolute changes.
  double take_next() {
    double total = 0.0, change = 0.0;
    for (const double v : next_) total += v;
    if (!(total > 0.0)) throw ModelError("the model ends nowhere: no sentence has a positive probability");
    for (NodeId s = 0; s < t_.num_contexts(); ++s) {
      next_[s] /= total;
      change += std::abs(next_[s] - visits_[s]);
    }
    visits_.swap(next_);
    return change;
  }

  void keep_what_comes_again() {
    std::vector<double> share(t_.num_contexts(), 1.0);
    for (NodeId s = t_.level_begin[1]; s < t_.num_contexts(); ++s) {
      for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1] && a < t_.num_contexts(); ++a) {
        share[a] = certainty(s, a);
      }
    }
    for (int k = t_.order - 1; k >= 2; --k) {
      for (NodeId s = t_.level_begin[k]; s < t_.level_begin[k + 1]; ++s) {
        visits_[t_.suffix[s]] += visits_[s] * (1.0 - share[s]);
        visits_[s] *= share[s];
      }
    }
  }

  // ------------------------------------------------- the model left to itself

  // p(s) by the chain rule: that of <s> as often as </s>.
  void find_chain_flows() {
    reach_.assign(t_.num_contexts(), 0.0);
    flow_.assign(t_.num_nodes(), 0.0);
    reach_[ROOT] = 1.0;
    for (NodeId s = 0; s < t_.num_contexts(); ++s) {
      for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1]; ++a) {
        const bool begins = s == ROOT && t_.word[a] == SENTENCE_BEGIN;
        flow_[a] = reach_[s] * (begins ? prob_[1 + SENTENCE_END] : prob_[a]);
        if (a < t_.num_contexts()) reach_[a] = flow_[a];
      }
    }
  }

  // Power iteration: how often a word is predicted in each state, a new sentence following each </s>.
  void find_stationary_flows() {
    for (int i = 0; i < MOST_ITERATIONS; ++i) {
      next_.assign(t_.num_contexts(), 0.0);
      pass();
      if (take_next() < tolerance_) break;
    }
    next_.assign(t_.num_contexts(), 0.0);
    pass();
  }

  // reach_[s]: how often s is asked, its share of the back-off weights on the way included; flow_[a]: how often the
  // word is predicted by arc a. taken_[a]: what longer contexts, which list the word themselves, have passed on.
  void pass() {
    reach_ = visits_;
    taken_.assign(t_.num_contexts(), 0.0);
    flow_.assign(t_.num_nodes(), 0.0);
    for (int k = t_.order - 1; k >= 0; --k) {
      for (NodeId s = t_.level_begin[k]; s < t_.level_begin[k + 1]; ++s) {
        check_interrupt_at(s);
        const double passed = k == 0 ? 0.0 : reach_[s] * backoff_[s];
        if (reach_[s] == 0.0) continue;
        if (k > 0) reach_[t_.suffix[s]] += passed;
        for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1]; ++a) {
          if (!kept_[a]) continue;
          const double taken = a < t_.num_contexts() ? taken_[a] : 0.0;
          const double flow = prob_[a] * std::max(reach_[s] - taken, 0.0);
          flow_[a] = flow;
          if (k > 0) taken_[t_.suffix[a]] += passed;
          next_[t_.word[a] == SENTENCE_END ? t_.start() : t_.context_after(a)] += flow;
        }
      }
    }
  }

  // Calls cost(arc, D) for the arcs of s that are kept and not needed.
  template <class Cost>
  void costs_of(NodeId s, Cost cost) const {
    if (t_.first_child[s] == t_.first_child[s + 1]) return;
    const FreeMass mass = mass_of(s);
    const double backs_off = reach_[s] * backoff_[s] * std::max(mass.suffix, 0.0);
    for (NodeId a = t_.first_child[s]; a < t_.first_child[s + 1]; ++a) {
      if (!kept_[a] || needed_[a]) continue;
      const double lower = prob_[t_.suffix[a]];
      const double after = std::exp(log_backoff_of({mass.own + prob_[a], mass.suffix + lower}));
      double loss = 0.0;
      if (prob_[a] > 0.0) loss += flow_[a] * (t_.log_prob[a] - std::log(after * lower));
      if (backs_off > 0.0) loss += backs_off * (std::log(backoff_[s]) - std::log(after));
      if (histories_ == Histories::TEXT && loss > 0.0) loss *= std::pow(certainty(s, a), CAUTION);
      cost(a, loss);
    }
  }

  const NgramTable& t_;
  Histories histories_;
  double tolerance_;
  std::vector<char> kept_, needed_, changed_;
  std::vector<double> backoff_, prob_;  // [context], [node]
  std::vector<double> visits_, next_, reach_, taken_;
  std::vector<double> flow_;
};

}  // namespace

std::vector<double> relative_entropies(const NgramTable& table, Histories histories) {
  return Pruner(table, histories, 1e-13).costs();
}

NgramTable prune_by_entropy(const NgramTable& table, double threshold, Histories histories) {
  Pruner pruner(table, histories, 1e-4);
  pruner.run(threshold);
  return pruner.table();
}

PrunedToSize prune_to_size(const NgramTable& table, std::size_t keep, Histories histories) {
  if (keep < table.num_ngrams(1)) {
    throw ModelError("the model has " + std::to_string(table.num_ngrams(1)) +
                     " words, which all stay: it cannot be pruned to " + std::to_string(keep) + " n-grams");
  }
  if (keep >= table.num_nodes() - 1u) return {prune_by_entropy(table, 0.0, histories), 0.0};
  // Where a search begins moves the distribution by less than its tolerance, but that can be an n-gram: the best
  // choice is kept as it was found.
  Pruner pruner(table, histories, 1e-3);
  Pruner::Choice best;
  double best_threshold = 0.0;
  const auto size_at = [&](double log_threshold) {
    pruner.reset();
    pruner.run(std::exp(log_threshold));
    const std::size_t size = pruner.num_kept();
    if (size <= keep && (best.kept.empty() || size > best.size)) {
      best = pruner.choice(size);
      best_threshold = std::exp(log_threshold);
    }
    return static_cast<double>(size);
  };
  // The logarithm of the size falls nearly linearly with that of the threshold: interpolate, but not too close to
  // an end of the interval.
  double low = std::log(1e-14), high = std::log(1e-4);
  double low_size = static_cast<double>(table.num_nodes()), high_size = size_at(high);
  for (; high_size > static_cast<double>(keep); high_size = size_at(high)) {
    if (high > std::log(1e15)) throw ModelError("no threshold leaves so few n-grams");
    low = high;
    low_size = high_size;
    high += std::log(1e4);
  }
  const double wanted = std::log(static_cast<double>(keep) * (1.0 - SIZE_TOLERANCE / 2));
  for (int i = 0; i < SIZE_STEPS && high - low > 1e-6; ++i) {
    if (static_cast<double>(best.size) >= static_cast<double>(keep) * (1.0 - SIZE_TOLERANCE)) break;
    const double share = (std::log(low_size) - wanted) / (std::log(low_size) - std::log(high_size));
    const double middle = low + std::clamp(share, 0.1, 0.9) * (high - low);
    const double size = size_at(middle);
    (size <= static_cast<double>(keep) ? high : low) = middle;
    (size <= static_cast<double>(keep) ? high_size : low_size) = size;
  }
  pruner.choose(std::move(best));
  return {pruner.table(), best_threshold};
}

}  // namespace hiddenite::lm
