#include "full.hpp"

#include <cmath>

#include "semiring.hpp"
#include "walk.hpp"

namespace hiddenite {

// The two representations share this interface.
class FullPosterior::Filter {
 public:
  virtual ~Filter() = default;
  virtual double log_partition() const = 0;
  virtual std::uint64_t num_states() const = 0;
  virtual void sample(Random& random, std::vector<std::uint32_t>& path) = 0;
  virtual std::vector<std::vector<double>> marginals(const std::vector<std::size_t>& slot_sizes) = 0;
};

namespace {

// A difference below this share of what it was taken from has lost digits.
constexpr double CANCELS = 1e-6;
// Linear masses below this are close to leaving the range of doubles.
constexpr double TINY = 1e-280;

struct Underflow {};

template <class Number>
class SumFilter : public FullPosterior::Filter {
 public:
  SumFilter(const StateIndex& index, const Candidates& candidates) : index_(index), candidates_(candidates) {
    forward();
  }

  double log_partition() const override { return log_partition_; }
  std::uint64_t num_states() const override { return num_states_; }

  void sample(Random& random, std::vector<std::uint32_t>& path) override {
    if (!ready_to_sample_) prepare_to_sample();
    path.resize(candidates_.length());
    std::uint32_t state = 0;  // all paths end in the one state that sums up the last layer
    for (std::size_t i = positions_.size(); i-- > 0;) {
      const Position& position = positions_[i];
      const Arc& arc = position.arcs[pick_arc(position, state, random)];
      if (i < candidates_.length()) path[i] = pick_candidate(candidates_.slots[i], arc.word, random);
      state = pick_origin(position, arc, slot_at(i).word[arc.word], random);
    }
  }

  std::vector<std::vector<double>> marginals(const std::vector<std::size_t>& slot_sizes) override {
    std::vector<std::vector<double>> result(candidates_.length());
    std::vector<Number> beta(1, Number::one()), beta_before;
    for (std::size_t i = positions_.size(); i-- > 0;) {
      backward(positions_[i], slot_at(i), beta, beta_before);
      if (i < candidates_.length()) result[i] = slot_marginals(i, slot_sizes[i]);
      beta.swap(beta_before);
    }
    return result;
  }

 private:
  struct Entry {
    std::uint32_t active = NONE;  // NONE: only a suffix
    std::uint32_t first_arc = 0, num_arcs = 0;
    Number value{};       // V
    Number extended{};    // what all extensions bring: M - V
    Number reach{};       // M
    Number backed_off{};  // M bow
  };
  struct Arc {
    std::uint32_t entry, word, to;  // word: its place in the slot
    Number factor;                  // p weight
    Number inflow;                  // F
  };
  struct Position {
    SuffixClosure closure;
    std::vector<Entry> entries;   // of the closure
    std::vector<Arc> arcs;        // by entry, then by word
    std::uint32_t num_active = 0;           // states before and
    std::uint32_t num_next = 0;             // after the position
    // For sampling: arcs by the state they lead to; running sums of these and of extensions.
    std::vector<std::uint32_t> arcs_into, first_into;
    std::vector<Number> sums_into, extension_sums;
  };

  // ------------------------------------------------------------- forward

  void forward() {
    std::vector<NodeId> states{index_.start()};
    std::vector<Number> values{Number::one()};
    const std::size_t num_positions = candidates_.length() + candidates_.ends;
    positions_.resize(num_positions);
    for (std::size_t i = 0; i < num_positions; ++i) {
      Position& position = positions_[i];
      position.num_active = static_cast<std::uint32_t>(states.size());
      enter_states(position, states, values);
      const Slot& slot = slot_at(i);
      words_.set(index_, slot, slot.log_sum);
      find_arcs(position, i + 1 == num_positions, states, values);
      words_.clear();
      if (states.empty()) throw_no_path(candidates_, i);
      position.num_next = static_cast<std::uint32_t>(states.size());
      num_states_ += states.size();
      rescale(values);
    }
    Number total{};
    for (const Number value : values) total += value;
    log_partition_ = total.log() + log_scale_;
  }

  const Slot& slot_at(std::size_t i) const { return i < candidates_.length() ? candidates_.slots[i] : end_slot_; }

  void enter_states(Position& position, const std::vector<NodeId>& states, const std::vector<Number>& values) {
    SuffixClosure& closure = position.closure;
    closure.build(index_, states.size(), [&](std::size_t i) { return states[i]; });
    std::vector<Entry>& entries = position.entries;
    entries.resize(closure.size());
    for (std::uint32_t i = 0; i < states.size(); ++i) {
      Entry& entry = entries[closure.entry(states[i])];
      entry.active = i;
      entry.value = values[i];
    }
    for (std::size_t e = 0; e < entries.size(); ++e) {  // longest first
      Entry& entry = entries[e];
      entry.reach = entry.value + entry.extended;
      if (closure.suffix[e] == NONE) continue;
      entry.backed_off = entry.reach * Number::from_log(index_.state(closure.state[e]).log_backoff);
      entries[closure.suffix[e]].extended += entry.backed_off;
    }
  }

  // Arcs of all entries and what they carry; the states and masses after the position.
  void find_arcs(Position& position, bool is_last, std::vector<NodeId>& states, std::vector<Number>& values) {
    states.clear();
    values.clear();
    next_of_.clear();
    listed_.assign(words_.slot().size(), {});
    times_listed_.assign(words_.slot().size(), 0);
    for (std::uint32_t e = 0; e < position.entries.size(); ++e) {
      Entry& entry = position.entries[e];
      entry.first_arc = static_cast<std::uint32_t>(position.arcs.size());
      if (entry.reach.is_zero()) continue;
      count_listed(position, e, true);
      words_.for_each_arc(index_, position.closure.state[e], [&](NodeId, const StateIndex::Arc& arc, std::uint32_t k) {
        const Number inflow = unlisted_mass(position, e, arc.word, k);
        const double log_factor = arc.log_prob + words_.log_weight(k);
        Arc found{e, k, 0, Number::from_log(log_factor), inflow};
        check_range(found, log_factor);
        if (!inflow.is_zero() && log_factor != LOG_ZERO) {
          found.to = place_of(is_last ? ROOT : arc.next, states, values);
          values[found.to] += inflow * found.factor;
        } else {
          found.to = NONE;
        }
        position.arcs.push_back(found);
      });
      entry.num_arcs = static_cast<std::uint32_t>(position.arcs.size()) - entry.first_arc;
      count_listed(position, e, false);
    }
  }

  static void check_range([[maybe_unused]] const Arc& arc, [[maybe_unused]] double log_factor) {
    if constexpr (std::is_same_v<Number, Linear>) {
      if (log_factor == LOG_ZERO || arc.inflow.is_zero()) return;
      if (arc.inflow.value * arc.factor.value < TINY || arc.factor.value > 1 / TINY) throw Underflow();
    }
  }

  // Adds up, or forgets, what the extensions that list a word would bring.
  void count_listed(const Position& position, std::uint32_t e, bool add) {
    for_each_extension(position, e, [&](std::uint32_t x) {
      const Entry& extension = position.entries[x];
      for (std::uint32_t a = 0; a < extension.num_arcs; ++a) {
        const std::uint32_t k = position.arcs[extension.first_arc + a].word;
        listed_[k] = add ? listed_[k] + extension.backed_off : Number{};
        times_listed_[k] = add ? times_listed_[k] + 1 : 0;
      }
    });
  }

  template <class Visit>
  static void for_each_extension(const Position& position, std::uint32_t e, Visit visit) {
    const SuffixClosure& closure = position.closure;
    for (std::uint32_t x = closure.first_extension[e]; x < closure.first_extension[e + 1]; ++x) {
      visit(closure.extensions[x]);
    }
  }

  // F: the entry's own mass and that of the extensions that do not list the word.
  Number unlisted_mass(const Position& position, std::uint32_t e, WordId w, std::uint32_t k) const {
    const Entry& entry = position.entries[e];
    const std::uint32_t num_extensions =
        position.closure.first_extension[e + 1] - position.closure.first_extension[e];
    if (times_listed_[k] == num_extensions) return entry.value;
    const Number all = entry.value + entry.extended.minus(listed_[k]);
    if (!(all < entry.extended * CANCELS)) return all;
    Number direct = entry.value;
    for_each_extension(position, e, [&](std::uint32_t x) {
      if (index_.find_arc(position.closure.state[x], w) == NO_NODE) direct += position.entries[x].backed_off;
    });
    return direct;
  }

  std::uint32_t place_of(NodeId next, std::vector<NodeId>& states, std::vector<Number>& values) {
    bool inserted;
    std::uint32_t& place = next_of_.at(next, inserted);
    if (inserted) {
      place = static_cast<std::uint32_t>(states.size());
      states.push_back(next);
      values.push_back({});
    }
    return place;
  }

  void rescale(std::vector<Number>& values) {
    if constexpr (std::is_same_v<Number, Linear>) {
      const double most = std::max_element(values.begin(), values.end())->value;
      for (Number& value : values) value.value /= most;
      log_scale_ += std::log(most);
    }
  }

  // ------------------------------------------------------------ sampling

  void prepare_to_sample() {
    ready_to_sample_ = true;
    for (Position& position : positions_) {
      const SuffixClosure& closure = position.closure;
      position.extension_sums.resize(closure.extensions.size());
      for (std::size_t e = 0; e < closure.size(); ++e) {
        Number sum{};
        for (std::uint32_t x = closure.first_extension[e]; x < closure.first_extension[e + 1]; ++x) {
          position.extension_sums[x] = sum += position.entries[closure.extensions[x]].backed_off;
        }
      }
      position.first_into.assign(position.num_next + std::size_t{1}, 0);
      for (const Arc& arc : position.arcs) {
        if (arc.to != NONE) ++position.first_into[arc.to + 1];
      }
      for (std::size_t s = 0; s < position.num_next; ++s) position.first_into[s + 1] += position.first_into[s];
      position.arcs_into.resize(position.first_into.back());
      std::vector<std::uint32_t> fill(position.first_into.begin(), position.first_into.end() - 1);
      for (std::uint32_t a = 0; a < position.arcs.size(); ++a) {
        if (position.arcs[a].to != NONE) position.arcs_into[fill[position.arcs[a].to]++] = a;
      }
      position.sums_into.resize(position.arcs_into.size());
      for (std::size_t s = 0; s < position.num_next; ++s) {
        Number sum{};
        for (std::uint32_t j = position.first_into[s]; j < position.first_into[s + 1]; ++j) {
          const Arc& arc = position.arcs[position.arcs_into[j]];
          position.sums_into[j] = sum += arc.inflow * arc.factor;
        }
      }
    }
  }

  // The first place of first .. last whose running sum exceeds a uniform share of the total.
  static std::uint32_t pick(const std::vector<Number>& sums, std::uint32_t first, std::uint32_t last, Random& random) {
    const Number target = sums[last - 1] * random.uniform();
    const auto found = std::upper_bound(sums.begin() + first, sums.begin() + last, target);
    return std::min(static_cast<std::uint32_t>(found - sums.begin()), last - 1);
  }

  static std::uint32_t pick_arc(const Position& position, std::uint32_t state, Random& random) {
    return position.arcs_into[pick(position.sums_into, position.first_into[state], position.first_into[state + 1],
                                   random)];
  }

  static std::uint32_t pick_candidate(const Slot& slot, std::uint32_t k, Random& random) {
    const std::uint32_t first = slot.begin[k], last = slot.begin[k + 1];
    if (last - first == 1) return slot.candidate[first];
    const double u = random.uniform();
    double sum = 0.0;
    for (std::uint32_t c = first; c + 1 < last; ++c) {
      sum += std::exp(slot.log_weight[c] - slot.log_sum[k]);
      if (u < sum) return slot.candidate[c];
    }
    return slot.candidate[last - 1];
  }

  // The state whose prefix used the arc: the arc's own, or one that backed off to it.
  std::uint32_t pick_origin(const Position& position, const Arc& arc, WordId w, Random& random) const {
    std::uint32_t e = arc.entry;
    if (random.uniform() < position.entries[e].value.ratio(arc.inflow)) return position.entries[e].active;
    e = pick_extension_without(position, e, w, random);
    // What does not list the word is not extended by anything that does.
    while (random.uniform() >= position.entries[e].value.ratio(position.entries[e].reach)) {
      e = pick_extension(position, e, random);
    }
    return position.entries[e].active;
  }

  static std::uint32_t pick_extension(const Position& position, std::uint32_t e, Random& random) {
    const SuffixClosure& closure = position.closure;
    return closure.extensions[pick(position.extension_sums, closure.first_extension[e],
                                   closure.first_extension[e + 1], random)];
  }

  std::uint32_t pick_extension_without(const Position& position, std::uint32_t e, WordId w, Random& random) const {
    constexpr int num_tries = 16;
    const auto may_use = [&](std::uint32_t x) {
      return !position.entries[x].backed_off.is_zero() &&
             index_.find_arc(position.closure.state[x], w) == NO_NODE;
    };
    for (int t = 0; t < num_tries; ++t) {
      const std::uint32_t x = pick_extension(position, e, random);
      if (may_use(x)) return x;
    }
    std::vector<Number> sums;
    std::vector<std::uint32_t> unlisted;
    Number sum{};
    for_each_extension(position, e, [&](std::uint32_t x) {
      if (!may_use(x)) return;
      unlisted.push_back(x);
      sums.push_back(sum += position.entries[x].backed_off);
    });
    return unlisted[pick(sums, 0, static_cast<std::uint32_t>(sums.size()), random)];
  }

  // ------------------------------------------------------------ backward

  // beta_before[s] for the states before the position, from beta after it. An arc that carries nothing
  // has no destination and counts as zero; no prefix of positive mass asks for it.
  void backward(const Position& position, const Slot& slot, const std::vector<Number>& beta,
                std::vector<Number>& beta_before) {
    value_.assign(position.arcs.size(), {});
    for (std::size_t a = 0; a < position.arcs.size(); ++a) {
      const Arc& arc = position.arcs[a];
      if (arc.to != NONE) value_[a] = arc.factor * beta[arc.to];
    }
    entry_beta_.assign(position.entries.size(), {});
    beta_before.assign(position.num_active, {});
    for (std::size_t e = position.entries.size(); e-- > 0;) {  // shortest first
      const Entry& entry = position.entries[e];
      for (std::uint32_t a = 0; a < entry.num_arcs; ++a) entry_beta_[e] += value_[entry.first_arc + a];
      if (position.closure.suffix[e] != NONE) entry_beta_[e] += beta_by_backing_off(position, slot, e);
      if (entry.active != NONE) beta_before[entry.active] = entry_beta_[e];
    }
    rescale_beta(beta_before);
  }

  Number beta_by_backing_off(const Position& position, const Slot& slot, std::size_t e) const {
    const Entry& entry = position.entries[e];
    if (entry.backed_off.is_zero()) return {};
    const Number backoff = Number::from_log(index_.state(position.closure.state[e]).log_backoff);
    const Number all = entry_beta_[position.closure.suffix[e]];
    const Entry& suffix = position.entries[position.closure.suffix[e]];
    Number taken{};
    std::uint32_t b = suffix.first_arc;
    for (std::uint32_t a = 0; a < entry.num_arcs; ++a) {
      const std::uint32_t k = position.arcs[entry.first_arc + a].word;
      while (position.arcs[b].word != k) ++b;
      taken += value_[b];
    }
    const Number rest = all.minus(taken);
    if (!(rest < all * CANCELS)) return backoff * rest;
    return backoff * direct_beta(position, slot, e);
  }

  // The sum over the slot's words that entry e does not list of what they are worth from its suffix on.
  Number direct_beta(const Position& position, const Slot& slot, std::size_t e) const {
    Number sum{};
    const Entry& entry = position.entries[e];
    std::uint32_t own = 0;
    for (std::uint32_t k = 0; k < slot.size(); ++k) {
      if (own < entry.num_arcs && position.arcs[entry.first_arc + own].word == k) {
        ++own;
        continue;
      }
      Number weight = Number::one();
      for (std::uint32_t s = position.closure.suffix[e]; s != NONE; s = position.closure.suffix[s]) {
        const Entry& shorter = position.entries[s];
        const auto first = position.arcs.begin() + shorter.first_arc, last = first + shorter.num_arcs;
        const auto found =
            std::lower_bound(first, last, k, [](const Arc& arc, std::uint32_t w) { return arc.word < w; });
        if (found != last && found->word == k) {
          sum += weight * value_[static_cast<std::size_t>(found - position.arcs.begin())];
          break;
        }
        weight = weight * Number::from_log(index_.state(position.closure.state[s]).log_backoff);
      }
    }
    return sum;
  }

  void rescale_beta(std::vector<Number>& beta) {
    if constexpr (std::is_same_v<Number, Linear>) {
      double most = 0.0;
      for (const Number value : beta) most = std::max(most, value.value);
      if (most > 0.0) {
        for (Number& value : beta) value.value /= most;
      }
    }
  }

  std::vector<double> slot_marginals(std::size_t i, std::size_t size) const {
    const Position& position = positions_[i];
    const Slot& slot = candidates_.slots[i];
    std::vector<Number> flow(slot.size());
    Number total{};
    for (std::size_t a = 0; a < position.arcs.size(); ++a) {
      const Arc& arc = position.arcs[a];
      if (arc.to == NONE) continue;
      flow[arc.word] += arc.inflow * value_[a];
      total += arc.inflow * value_[a];
    }
    std::vector<double> result(size, 0.0);
    for (std::size_t k = 0; k < slot.size(); ++k) {
      const double prob = flow[k].ratio(total);
      for (std::uint32_t c = slot.begin[k]; c < slot.begin[k + 1]; ++c) {
        result[slot.candidate[c]] = prob * std::exp(slot.log_weight[c] - slot.log_sum[k]);
      }
    }
    return result;
  }

  const StateIndex& index_;
  const Candidates& candidates_;
  const Slot end_slot_ = make_end_slot();
  std::vector<Position> positions_;
  SlotWords words_;
  NodeMap next_of_;
  std::vector<Number> listed_;
  std::vector<std::uint32_t> times_listed_;
  std::vector<Number> value_, entry_beta_;
  double log_scale_ = 0.0;
  double log_partition_ = 0.0;
  std::uint64_t num_states_ = 1;
  bool ready_to_sample_ = false;
};

std::unique_ptr<FullPosterior::Filter> make_filter(const StateIndex& index, const Candidates& candidates) {
  try {
    return std::make_unique<SumFilter<Linear>>(index, candidates);
  } catch (const Underflow&) {
    return std::make_unique<SumFilter<Logarithmic>>(index, candidates);
  }
}

}  // namespace

FullPosterior::FullPosterior(const StateIndex& index, const Candidates& candidates)
    : filter_(make_filter(index, candidates)) {}
FullPosterior::~FullPosterior() = default;
FullPosterior::FullPosterior(FullPosterior&&) noexcept = default;

double FullPosterior::log_partition() const { return filter_->log_partition(); }
std::uint64_t FullPosterior::num_states() const { return filter_->num_states(); }
void FullPosterior::sample(Random& random, std::vector<std::uint32_t>& path) { filter_->sample(random, path); }
std::vector<std::vector<double>> FullPosterior::marginals(const std::vector<std::size_t>& slot_sizes) {
  return filter_->marginals(slot_sizes);
}

}  // namespace hiddenite
