#include "hiddenite/lm/interpolate.hpp"

#include <cmath>

#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/lm/tools/rebuild.hpp"

namespace hiddenite::lm {

namespace {

// Turns counted levels into probabilities and back-off weights, from below.
class Interpolator {
 public:
  Interpolator(std::vector<CountedLevel>& counted, const std::vector<OrderRule>& rules,
               const std::vector<std::uint64_t>& prune)
      : counted_(counted), rules_(rules), prune_(prune) {}

  void run(TableBuilder& builder) {
    interpolate_unigrams();
    for (std::size_t n = 2; n <= counted_.size(); ++n) {
      find_contexts(n);
      interpolate(n);
      builder.add(emit(n - 1));
      release(n);
      lower_prob_ = std::move(prob_);
    }
    gamma_.assign(counted_.back().size(), 1.0);
    builder.add(emit(counted_.size()));
  }

 private:
  bool is_pruned(std::size_t n, std::size_t i) const {
    if (prune_.empty() || n == 1) return false;
    const std::uint64_t threshold = prune_[std::min(n, prune_.size()) - 1];
    return threshold > 0 && counted_[n - 1].raw[i] <= threshold;
  }

  void interpolate_unigrams() {
    const CountedLevel& level = counted_[0];
    const OrderRule& rule = rules_[0];
    double total = 0, held = 0, types = 0, kept = 0;
    for (const std::uint32_t c : level.count) {
      total += c;
      held += rule.held(c);
      types += c > 0;
      kept += rule.kept(c);
    }
    const double denominator = rule.denominator(total, types, held);
    const double others = static_cast<double>(level.size() - 1);
    lower_prob_.resize(level.size());
    for (std::size_t w = 0; w < level.size(); ++w) lower_prob_[w] = rule.kept(level.count[w]) / denominator;
    if (rule.interpolates()) {
      const double uniform = held / denominator / others;
      for (double& prob : lower_prob_) prob += uniform;
    } else if (rule.smoothing == NgramSmoothing::GOOD_TURING) {
      share_out((denominator - kept) / denominator, types);
    }
  }

  // Among the words that do not occur, or among all if there is none; <s> is never predicted.
  void share_out(double mass, double num_types) {
    const double others = static_cast<double>(lower_prob_.size() - 1);
    const bool to_all = num_types == others;
    for (std::size_t w = 0; w < lower_prob_.size(); ++w) {
      if (to_all || counted_[0].count[w] == 0) lower_prob_[w] += mass / (to_all ? others : others - num_types);
    }
  }

  // context_[i]: the n-gram i of level n without its last word, on level n - 1.
  // It begins with the same word as i, and without that word it is the context
  // of i's suffix: one of the left extensions of that context, which stand
  // together and in order.
  void find_contexts(std::size_t n) {
    const CountedLevel& level = counted_[n - 1];
    if (n == 2) {
      context_ = level.first;
      return;
    }
    const CountedLevel& below = counted_[n - 2];
    std::vector<std::uint32_t> extensions(counted_[n - 3].size() + 1, 0);
    for (const std::uint32_t s : below.suffix) ++extensions[s + 1];
    for (std::size_t s = 1; s < extensions.size(); ++s) extensions[s] += extensions[s - 1];
    std::vector<std::uint32_t> context(level.size());
    std::size_t place = 0;
    for (std::size_t i = 0; i < level.size(); ++i) {
      check_interrupt_at(i);
      const std::uint32_t shared = context_[level.suffix[i]];
      if (i == 0 || level.suffix[i] != level.suffix[i - 1]) place = extensions[shared];
      const auto end = below.first.begin() + extensions[shared + 1];
      const auto found = std::lower_bound(below.first.begin() + static_cast<std::ptrdiff_t>(place),
                                          end, level.first[i]);
      place = static_cast<std::size_t>(found - below.first.begin());
      context[i] = static_cast<std::uint32_t>(place);
    }
    context_ = std::move(context);
  }

  void interpolate(std::size_t n) {
    const CountedLevel& level = counted_[n - 1];
    const OrderRule& rule = rules_[n - 1];
    const std::size_t num_contexts = counted_[n - 2].size();
    std::vector<double> denominator(num_contexts, 0.0);
    std::vector<std::uint32_t> types(num_contexts, 0);
    gamma_.assign(num_contexts, 0.0);
    for (std::size_t i = 0; i < level.size(); ++i) {
      check_interrupt_at(i);
      const std::uint32_t s = context_[i];
      denominator[s] += level.count[i];
      ++types[s];
      gamma_[s] += is_pruned(n, i) ? rule.whole(level.count[i]) : rule.held(level.count[i]);
    }
    for (std::size_t s = 0; s < num_contexts; ++s) {
      if (types[s] > 0) denominator[s] = rule.denominator(denominator[s], types[s], gamma_[s]);
      gamma_[s] = types[s] > 0 ? gamma_[s] / denominator[s] : 1.0;
    }
    prob_.resize(level.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
      check_interrupt_at(i);
      prob_[i] = rule.kept(level.count[i]) / denominator[context_[i]];
      if (rule.interpolates()) prob_[i] += gamma_[context_[i]] * lower_prob_[level.suffix[i]];
    }
    if (!rule.interpolates()) normalize_backoffs(n, types);
  }

  // Back-off weights that make the contexts sum to one.
  void normalize_backoffs(std::size_t n, const std::vector<std::uint32_t>& types) {
    const CountedLevel& level = counted_[n - 1];
    std::vector<FreeMass> mass(gamma_.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
      check_interrupt_at(i);
      if (is_pruned(n, i)) continue;
      mass[context_[i]].own -= prob_[i];
      mass[context_[i]].suffix -= lower_prob_[level.suffix[i]];
    }
    for (std::size_t s = 0; s < gamma_.size(); ++s) {
      gamma_[s] = types[s] > 0 ? std::exp(log_backoff_of(mass[s])) : 1.0;
    }
  }

  // Level n, whose probabilities are in lower_prob_ and back-off weights in gamma_.
  NgramLevel emit(std::size_t n) const {
    NgramLevel result;
    result.n = static_cast<int>(n);
    const bool top = n == counted_.size();
    const std::size_t size = counted_[n - 1].size();
    result.words.reserve(size * n);
    result.log_prob.reserve(size);
    if (!top) result.log_backoff.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
      check_interrupt_at(i);
      if (is_pruned(n, i)) continue;
      std::size_t j = i;
      for (std::size_t k = n; k >= 1; --k) {
        result.words.push_back(counted_[k - 1].first[j]);
        j = counted_[k - 1].suffix[j];
      }
      // A sum that is 1 on paper may come out above it.
      result.log_prob.push_back(static_cast<float>(std::log(std::min(lower_prob_[i], 1.0))));
      if (!top) result.log_backoff.push_back(static_cast<float>(std::log(gamma_[i])));
    }
    return result;
  }

  // The counts of level n are no longer needed; its words are.
  void release(std::size_t n) { std::vector<std::uint32_t>().swap(counted_[n - 1].count); }

  std::vector<CountedLevel>& counted_;
  const std::vector<OrderRule>& rules_;
  const std::vector<std::uint64_t>& prune_;
  std::vector<std::uint32_t> context_;
  std::vector<double> lower_prob_, prob_;
  std::vector<double> gamma_;  // per context of the level being interpolated
};

}  // namespace

void interpolate(std::vector<CountedLevel>& counted, const std::vector<OrderRule>& rules,
                 const std::vector<std::uint64_t>& prune, TableBuilder& builder) {
  Interpolator(counted, rules, prune).run(builder);
}

}  // namespace hiddenite::lm
