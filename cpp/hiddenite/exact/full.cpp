#include "hiddenite/exact/full.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/semiring.hpp"
#include "hiddenite/exact/empty_support.hpp"
#include "hiddenite/exact/walk.hpp"

namespace hiddenite::exact {

// What has been used of a budget.
class Meter {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Meter(const Budget& budget, Clock::time_point begin = Clock::now()) : budget_(budget), begin_(begin) {}
  void check(std::uint64_t states, std::size_t position, std::size_t length) const {
    const std::chrono::duration<double> spent = Clock::now() - begin_;
    if (states <= budget_.states && spent.count() <= budget_.seconds) return;
    throw ModelError("the budget ended at position " + std::to_string(std::min(position + 1, length)) + " of " +
                     std::to_string(length) + " with " + std::to_string(states) +
                     " states: no probability is known; raise --budget or --max-states, or --keep fewer candidates");
  }

 private:
  Budget budget_;
  Clock::time_point begin_;
};

// The two representations share this interface.
class FullPosterior::Filter {
 public:
  virtual ~Filter() = default;
  virtual void observe(const Candidates& candidates, const Meter& meter) = 0;
  virtual double log_partition() const = 0;
  virtual std::uint64_t num_states() const = 0;
  virtual std::vector<DrawnPath> sample(std::uint64_t count, Random& random) = 0;
  virtual std::vector<std::vector<double>> marginals(const std::vector<std::size_t>& slot_sizes) = 0;
};

namespace {

// A difference below this share of what it was taken from has lost digits.
constexpr double CANCELS = 1e-6;
// Linear masses below this are close to leaving the range of doubles.
constexpr double TINY = 1e-280;
// Units of masses that are further apart, in nats, leave it too.
constexpr double FAR_APART = 300.0;
// Arcs are asked for so many states ahead.
constexpr std::uint32_t PREFETCH = 6;

struct OutOfRange {};

template <class Number>
class SumFilter : public FullPosterior::Filter {
 public:
  explicit SumFilter(const StateIndex& index) : index_(index) {}

  void observe(const Candidates& candidates, const Meter& meter) override {
    candidates_ = &candidates;
    meter_ = meter;
    try {
      forward();
    } catch (...) {
      words_.clear();  // its slot will be gone
      throw;
    }
  }

  double log_partition() const override { return log_partition_; }
  std::uint64_t num_states() const override { return num_states_; }

  // All draws at once, last position first: those that have chosen the same words so far are one bundle. The
  // words behind a state decide how they go on, so bundles in one state share its table.
  std::vector<DrawnPath> sample(std::uint64_t count, Random& random) override {
    std::vector<std::vector<Bundle>> bundles(candidates_->num_joints());  // [joint]
    if (count > 0) bundles.back().push_back({0, NONE, NONE, NONE, count});  // the one state that sums up the last joint
    for (std::size_t end = candidates_->num_positions(); end > 0;) {
      std::size_t begin = end - 1;  // positions begin .. end lead to one joint
      while (!candidates_->is_first_into(begin)) --begin;
      const std::vector<Bundle>& after = bundles[candidates_->span(begin).to];
      tabulate_arcs(begin, end, after);
      draw_arcs(begin, end, after, random);
      draw_candidates(random);
      draw_origins(bundles, random);
      end = begin;
    }
    return read_off(bundles);
  }

  std::vector<std::vector<double>> marginals(const std::vector<std::size_t>& slot_sizes) override {
    std::vector<std::vector<double>> result(candidates_->length());
    std::vector<Completion> completions(candidates_->num_joints());
    completions.back().mass.assign(1, Number::one());
    for (std::size_t i = candidates_->num_positions(); i-- > 0;) {
      meter_.check(num_states_, i, candidates_->length());
      const Span span = candidates_->span(i);
      Completion& after = completions[span.to];
      if (candidates_->is_last_into(i)) rescale(after.mass, after.log_scale);  // all that leads on has been seen
      if (i < candidates_->length()) result[i].assign(slot_sizes[i], 0.0);
      if (positions_[i].arcs.empty() || after.mass.empty()) continue;
      backward(positions_[i], slot_at(i), after.mass);
      if (i < candidates_->length()) find_slot_marginals(i, after.log_scale, result[i]);
      add_completion(after.log_scale, joints_[span.from].states.size(), completions[span.from]);
    }
    return result;
  }

 private:
  struct Entry {
    std::uint32_t active = NONE;  // NONE: only a suffix
    std::uint32_t first_arc = 0, num_arcs = 0;
    std::uint32_t listing = NONE;       // the last of its extensions that has arcs
    std::uint32_t next_listing = NONE;  // of its suffix, before this one
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
  // What is kept of a SuffixClosure; its map is reused.
  struct Closure {
    std::vector<NodeId> state;
    std::vector<std::uint32_t> suffix, first_extension, extensions;
    std::size_t size() const { return state.size(); }
    void take(SuffixClosure& built) {
      state.swap(built.state);
      suffix.swap(built.suffix);
      first_extension.swap(built.first_extension);
      extensions.swap(built.extensions);
    }
    void clear() {
      state.clear();
      extensions.clear();
    }
  };
  // What the prefixes bring to a joint.
  struct Joint {
    std::vector<NodeId> states;
    std::vector<Number> values;
    double log_scale_before = 0.0;  // of what the arcs bring, and of
    double log_scale = 0.0;         // `values`, which are scaled anew once all is there
  };
  // What can follow the states of a joint; empty: nothing.
  struct Completion {
    std::vector<Number> mass;
    double log_scale = 0.0;
  };
  struct Position {
    Closure closure;
    std::vector<Entry> entries;   // of the closure
    std::vector<Arc> arcs;        // by entry, then by word
    std::vector<Number> extension_sums;     // for sampling: running sums

    void clear() {
      closure.clear();
      entries.clear();
      arcs.clear();
      extension_sums.clear();
    }
  };
  // Draws that agree from a joint on.
  struct Bundle {
    std::uint32_t state;      // at the joint
    std::uint32_t position;   // that they take from there; NONE: all is said
    std::uint32_t candidate;  // of its slot; NONE: </s>
    std::uint32_t parent;     // the bundle after it
    std::uint64_t count;
  };
  // Draws of a bundle that take one arc.
  struct Portion {
    std::uint32_t position;
    std::uint32_t arc;
    std::uint32_t candidate;
    std::uint32_t parent;
    std::uint64_t count;
  };
  // Items to draw from: arcs that lead to a state, or places of extensions.
  struct Table {
    std::vector<std::uint32_t> items;
    std::vector<Number> sums;  // running
    Number most{};
    std::uint32_t heaviest = 0;  // the place of the item of mass `most`

    void clear() {
      items.clear();
      sums.clear();
      most = {};
    }
    void add(std::uint32_t item, Number mass) {
      if (most < mass) {
        most = mass;
        heaviest = static_cast<std::uint32_t>(items.size());
      }
      items.push_back(item);
      sums.push_back(sums.empty() ? mass : sums.back() + mass);
    }
    // The place of an item, by its mass. Laws are sharp: most often it is the heaviest, and nothing is searched.
    std::uint32_t draw(Random& random) const {
      const Number target = sums.back() * random.uniform();
      if (target < sums[heaviest] && (heaviest == 0 || !(target < sums[heaviest - 1]))) return heaviest;
      return first_above(sums, 0, static_cast<std::uint32_t>(sums.size()), target);
    }
  };

  // ------------------------------------------------------------- forward

  void forward() {
    const std::size_t num_positions = candidates_->num_positions();
    if (positions_.size() < num_positions) positions_.resize(num_positions);
    if (joints_.size() < candidates_->num_joints()) joints_.resize(candidates_->num_joints());
    for (std::size_t j = 0; j < candidates_->num_joints(); ++j) joints_[j].states.clear(), joints_[j].values.clear();
    joints_[0].states.push_back(index_.start());
    joints_[0].values.push_back(Number::one());
    joints_[0].log_scale = 0.0;
    num_states_ = 1;
    for (std::size_t i = 0; i < num_positions; ++i) {
      walk_position(i);
      Joint& joint = joints_[candidates_->span(i).to];
      if (!candidates_->is_last_into(i)) continue;
      if (joint.states.empty() && candidates_->is_chain()) throw_no_path(*candidates_, i);
      num_states_ += joint.states.size();
      meter_.check(num_states_, i, candidates_->length());
      joint.log_scale = joint.log_scale_before;
      rescale(joint.values, joint.log_scale);
    }
    const Joint& last = joints_[candidates_->num_joints() - 1];
    if (last.states.empty()) throw_no_path(*candidates_, num_positions);
    Number total{};
    for (const Number value : last.values) total += value;
    log_partition_ = total.log() + last.log_scale;
  }

  // From the joint before the position to the one after it.
  void walk_position(std::size_t i) {
    const Span span = candidates_->span(i);
    const Joint& from = joints_[span.from];
    Joint& to = joints_[span.to];
    Position& position = positions_[i];
    const Slot& slot = slot_at(i);
    if (candidates_->is_first_into(i)) next_of_.clear();
    if (from.states.empty() || slot.size() == 0) return position.clear();  // of a graph
    if (to.states.empty()) to.log_scale_before = from.log_scale;
    enter_states(position, from, in_unit(from.log_scale, to.log_scale_before));
    words_.set(index_, slot, slot.log_sum);
    find_arcs(position, std::size_t{span.to} + 1 == candidates_->num_joints(), to);
    words_.clear();
  }

  // The factor from one unit to another.
  static Number in_unit(double log_scale, double log_scale_there) {
    const double log_factor = log_scale - log_scale_there;
    if constexpr (std::is_same_v<Number, Linear>) {
      if (std::fabs(log_factor) > FAR_APART) throw OutOfRange();
    }
    return log_factor == 0.0 ? Number::one() : Number::from_log(log_factor);
  }

  const Slot& slot_at(std::size_t i) const { return i < candidates_->length() ? candidates_->slots[i] : end_slot_; }

  void enter_states(Position& position, const Joint& joint, Number unit) {
    const std::vector<NodeId>& states = joint.states;
    for (const NodeId s : states) index_.prefetch_state(s);
    closure_.build(index_, states.size(), [&](std::size_t i) { return states[i]; });
    std::vector<Entry>& entries = position.entries;
    entries.assign(closure_.size(), {});
    for (std::uint32_t i = 0; i < states.size(); ++i) {
      Entry& entry = entries[closure_.entry(states[i])];
      entry.active = i;
      entry.value = joint.values[i] * unit;
      check_entry(entry.value, joint.values[i]);
    }
    position.closure.take(closure_);
    const Closure& closure = position.closure;
    for (std::size_t e = 0; e < entries.size(); ++e) {  // longest first
      Entry& entry = entries[e];
      entry.reach = entry.value + entry.extended;
      if (closure.suffix[e] == NONE) continue;
      entry.backed_off = entry.reach * Number::from_log(index_.state(closure.state[e]).log_backoff);
      entries[closure.suffix[e]].extended += entry.backed_off;
    }
  }

  // Arcs of all entries and what they carry to the joint.
  void find_arcs(Position& position, bool is_last, Joint& joint) {
    position.arcs.clear();
    position.extension_sums.clear();
    listed_.assign(words_.slot().size(), {});
    times_listed_.assign(words_.slot().size(), 0);
    for (std::uint32_t e = 0; e < position.entries.size(); ++e) {
      const std::vector<NodeId>& state = position.closure.state;
      if (e + 2 * PREFETCH < state.size()) words_.prefetch(index_, state[e + 2 * PREFETCH]);
      if (e + PREFETCH < state.size()) words_.prefetch_arcs(index_, state[e + PREFETCH], false);
      Entry& entry = position.entries[e];
      entry.first_arc = static_cast<std::uint32_t>(position.arcs.size());
      if (entry.reach.is_zero()) continue;
      count_listed(position, e, true);
      words_.for_each_arc(index_, position.closure.state[e], [&](NodeId, const StateIndex::Arc& arc, std::uint32_t k) {
        const Number inflow = unlisted_mass(position, e, k);
        const double log_factor = arc.log_prob + words_.log_weight(k);
        Arc found{e, k, 0, Number::from_log(log_factor), inflow};
        check_range(found, log_factor);
        if (!inflow.is_zero() && log_factor != LOG_ZERO) {
          found.to = place_of(is_last ? ROOT : arc.next, joint);
          joint.values[found.to] += inflow * found.factor;
        } else {
          found.to = NONE;
        }
        position.arcs.push_back(found);
      });
      entry.num_arcs = static_cast<std::uint32_t>(position.arcs.size()) - entry.first_arc;
      count_listed(position, e, false);
      if (entry.num_arcs > 0 && position.closure.suffix[e] != NONE) {
        entry.next_listing = std::exchange(position.entries[position.closure.suffix[e]].listing, e);
      }
    }
  }

  // What a prefix brings must not vanish in another unit.
  static void check_entry([[maybe_unused]] Number value, [[maybe_unused]] Number before) {
    if constexpr (std::is_same_v<Number, Linear>) {
      if (value.value < TINY && value.value < before.value) throw OutOfRange();
    }
  }

  static void check_range([[maybe_unused]] const Arc& arc, [[maybe_unused]] double log_factor) {
    if constexpr (std::is_same_v<Number, Linear>) {
      if (log_factor == LOG_ZERO || arc.inflow.is_zero()) return;
      const double mass = arc.inflow.value * arc.factor.value;
      if (!(mass >= TINY && mass <= 1 / TINY) || arc.factor.value > 1 / TINY) throw OutOfRange();
    }
  }

  // Adds up, or forgets, what the extensions that list a word would bring.
  void count_listed(const Position& position, std::uint32_t e, bool add) {
    for (std::uint32_t x = position.entries[e].listing; x != NONE; x = position.entries[x].next_listing) {
      const Entry& extension = position.entries[x];
      for (std::uint32_t a = 0; a < extension.num_arcs; ++a) {
        const std::uint32_t k = position.arcs[extension.first_arc + a].word;
        listed_[k] = add ? listed_[k] + extension.backed_off : Number{};
        times_listed_[k] = add ? times_listed_[k] + 1 : 0;
      }
    }
  }

  template <class Visit>
  static void for_each_extension(const Position& position, std::uint32_t e, Visit visit) {
    const Closure& closure = position.closure;
    for (std::uint32_t x = closure.first_extension[e]; x < closure.first_extension[e + 1]; ++x) {
      visit(closure.extensions[x]);
    }
  }

  // F: the entry's own mass and that of the extensions that do not list the word.
  Number unlisted_mass(const Position& position, std::uint32_t e, std::uint32_t k) const {
    const Entry& entry = position.entries[e];
    const std::uint32_t num_extensions =
        position.closure.first_extension[e + 1] - position.closure.first_extension[e];
    if (times_listed_[k] == num_extensions) return entry.value;
    const Number all = entry.value + entry.extended.minus(listed_[k]);
    if (!(all < entry.extended * CANCELS)) return all;
    Number direct = entry.value;
    for_each_extension(position, e, [&](std::uint32_t x) {
      if (!lists(position, x, k)) direct += position.entries[x].backed_off;
    });
    return direct;
  }

  // Entry e has an arc of the slot's word k. Asked of entries whose arcs were found; one without mass has none.
  static bool lists(const Position& position, std::uint32_t e, std::uint32_t k) {
    const Entry& entry = position.entries[e];
    const Arc* arc = position.arcs.data() + entry.first_arc;
    const Arc* const end = arc + entry.num_arcs;
    while (arc < end && arc->word < k) ++arc;
    return arc < end && arc->word == k;
  }

  std::uint32_t place_of(NodeId next, Joint& joint) {
    bool inserted;
    std::uint32_t& place = next_of_.at(next, inserted);
    if (inserted) {
      place = static_cast<std::uint32_t>(joint.states.size());
      joint.states.push_back(next);
      joint.values.push_back({});
    }
    return place;
  }

  // So that the most is one.
  static void rescale([[maybe_unused]] std::vector<Number>& values, [[maybe_unused]] double& log_scale) {
    if constexpr (std::is_same_v<Number, Linear>) {
      double most = 0.0;
      for (const Number value : values) most = std::max(most, value.value);
      if (most == 0.0) return;
      for (Number& value : values) value.value /= most;
      log_scale += std::log(most);
    }
  }

  // ------------------------------------------------------------ sampling

  static void prepare_to_sample(Position& position) {
    const Closure& closure = position.closure;
    if (position.extension_sums.size() == closure.extensions.size()) return;
    position.extension_sums.resize(closure.extensions.size());
    for (std::size_t e = 0; e < closure.size(); ++e) {
      Number sum{};
      for (std::uint32_t x = closure.first_extension[e]; x < closure.first_extension[e + 1]; ++x) {
        position.extension_sums[x] = sum += position.entries[closure.extensions[x]].backed_off;
      }
    }
  }

  // A table for each state of a joint that a bundle is in, by one look at all arcs of the positions begin .. end
  // that lead there. Arcs are numbered through.
  void tabulate_arcs(std::size_t begin, std::size_t end, const std::vector<Bundle>& bundles) {
    table_of_.assign(joints_[candidates_->span(begin).to].states.size(), NONE);
    std::uint32_t num_tables = 0;
    for (const Bundle& bundle : bundles) {
      if (table_of_[bundle.state] != NONE) continue;
      table_of_[bundle.state] = num_tables;
      if (tables_.size() == num_tables) tables_.emplace_back();
      tables_[num_tables++].clear();
    }
    std::uint32_t number = 0;
    for (std::size_t i = begin; i < end; ++i) {
      prepare_to_sample(positions_[i]);
      for (const Arc& arc : positions_[i].arcs) {
        const std::uint32_t a = number++;
        if (arc.to == NONE || table_of_[arc.to] == NONE) continue;
        tables_[table_of_[arc.to]].add(a, arc.inflow * arc.factor);
      }
    }
  }

  // Calls pick() `count` times and visit(place, number of times) for each place that came out.
  template <class Pick, class Visit>
  void tally(std::uint64_t count, std::size_t num_places, Pick pick, Visit visit) {
    if (num_places == 1) return visit(0, count);
    if (times_.size() < num_places) times_.resize(num_places, 0);
    for (std::uint64_t n = 0; n < count; ++n) {
      const std::uint32_t place = pick();
      if (times_[place]++ == 0) picked_.push_back(place);
    }
    for (const std::uint32_t place : picked_) visit(place, std::exchange(times_[place], 0));
    picked_.clear();
  }

  void draw_arcs(std::size_t begin, std::size_t end, const std::vector<Bundle>& bundles, Random& random) {
    portions_.clear();
    for (std::uint32_t b = 0; b < bundles.size(); ++b) {
      const Table& table = tables_[table_of_[bundles[b].state]];
      tally(bundles[b].count, table.items.size(), [&] { return table.draw(random); },
            [&](std::uint32_t j, std::uint64_t count) {
              portions_.push_back({static_cast<std::uint32_t>(begin), table.items[j], NONE, b, count});
            });
    }
    if (end - begin == 1) return;
    for (Portion& portion : portions_) {  // to its own position
      for (; portion.arc >= positions_[portion.position].arcs.size(); ++portion.position) {
        portion.arc -= static_cast<std::uint32_t>(positions_[portion.position].arcs.size());
      }
    }
  }

  // Splits the portions whose word stands for several candidates.
  void draw_candidates(Random& random) {
    const std::size_t num_portions = portions_.size();
    for (std::size_t p = 0; p < num_portions; ++p) {
      const Portion portion = portions_[p];
      if (portion.position == candidates_->length()) continue;  // </s>
      const Slot& slot = candidates_->slots[portion.position];
      const std::uint32_t k = positions_[portion.position].arcs[portion.arc].word;
      bool is_first = true;
      const auto add = [&](std::uint32_t c, std::uint64_t count) {
        Portion& part = std::exchange(is_first, false) ? portions_[p] : portions_.emplace_back();
        part = {portion.position, portion.arc, slot.candidate[c], portion.parent, count};
      };
      if (slot.begin[k + 1] - slot.begin[k] == 1) {
        add(slot.begin[k], portion.count);
      } else {
        tally(portion.count, slot.candidate.size(), [&] { return pick_candidate(slot, k, random); }, add);
      }
    }
  }

  // The states whose prefixes used the arcs: an arc's own, or those that backed off to it.
  void draw_origins(std::vector<std::vector<Bundle>>& bundles, Random& random) {
    for (const Portion& portion : portions_) {
      const Position& position = positions_[portion.position];
      std::vector<Bundle>& before = bundles[candidates_->span(portion.position).from];
      const Arc& arc = position.arcs[portion.arc];
      // Those of `count` draws that begin in an entry become a bundle; the number of the others is returned.
      const auto take = [&](std::uint32_t e, Number reach, std::uint64_t count) {
        const std::uint64_t own = count_below(position.entries[e].value.ratio(reach), count, random);
        if (own > 0) {
          before.push_back(
              {position.entries[e].active, portion.position, portion.candidate, portion.parent, own});
        }
        return count - own;
      };
      std::uint64_t rest = take(arc.entry, arc.inflow, portion.count);
      if (rest > 0) draw_extensions_without(position, arc.entry, arc.word, arc.inflow, rest, random);
      // What does not list the word is not extended by anything that does.
      while (!extended_.empty()) {
        const auto [e, count] = extended_.back();
        extended_.pop_back();
        rest = take(e, position.entries[e].reach, count);
        if (rest > 0) draw_extensions(position, e, rest, random);
      }
    }
  }

  // How many of `count` draws have an event of that probability.
  static std::uint64_t count_below(double prob, std::uint64_t count, Random& random) {
    if (prob >= 1.0) return count;
    if (prob <= 0.0) return 0;
    std::uint64_t result = 0;
    for (std::uint64_t n = 0; n < count; ++n) result += random.uniform() < prob;
    return result;
  }

  void draw_extensions(const Position& position, std::uint32_t e, std::uint64_t count, Random& random) {
    const auto [first, last] = extension_range(position, e);
    tally_extensions(position, e, count, [&, first = first, last = last] {
      return pick(position.extension_sums, first, last, random) - first;
    });
  }

  // Of those that do not list the word: many draws from a table, few by trying, if most tries will do.
  void draw_extensions_without(const Position& position, std::uint32_t e, std::uint32_t k, Number inflow,
                               std::uint64_t count, Random& random) {
    constexpr std::uint32_t num_tries = 16;
    const std::uint32_t first = extension_range(position, e).first, last = extension_range(position, e).second;
    const auto may_use = [&](std::uint32_t j) {
      const std::uint32_t x = position.closure.extensions[j];
      return !position.entries[x].backed_off.is_zero() && !lists(position, x, k);
    };
    const Entry& entry = position.entries[e];
    const double share = inflow.minus(entry.value).ratio(entry.extended);  // of what the extensions bring
    const bool is_few = 8.0 * static_cast<double>(count) < share * (last - first);
    unlisted_.clear();
    tally_extensions(position, e, count, [&] {
      for (std::uint32_t t = 0; is_few && t < num_tries; ++t) {
        const std::uint32_t j = pick(position.extension_sums, first, last, random);
        if (may_use(j)) return j - first;
      }
      if (unlisted_.items.empty()) tabulate_extensions(position, first, last, may_use);
      if (unlisted_.items.empty()) {  // by rounding alone
        return pick(position.extension_sums, first, last, random) - first;
      }
      return unlisted_.items[unlisted_.draw(random)] - first;
    });
  }

  static std::pair<std::uint32_t, std::uint32_t> extension_range(const Position& position, std::uint32_t e) {
    return {position.closure.first_extension[e], position.closure.first_extension[e + 1]};
  }

  template <class Pick>
  void tally_extensions(const Position& position, std::uint32_t e, std::uint64_t count, Pick pick_one) {
    const auto [first, last] = extension_range(position, e);
    const std::uint32_t* const extensions = position.closure.extensions.data() + first;
    tally(count, last - first, pick_one,
          [&](std::uint32_t j, std::uint64_t times) { extended_.emplace_back(extensions[j], times); });
  }

  template <class MayUse>
  void tabulate_extensions(const Position& position, std::uint32_t first, std::uint32_t last, MayUse may_use) {
    for (std::uint32_t j = first; j < last; ++j) {
      if (may_use(j)) unlisted_.add(j, position.entries[position.closure.extensions[j]].backed_off);
    }
  }

  // The bundles of the first joint are the paths.
  std::vector<DrawnPath> read_off(const std::vector<std::vector<Bundle>>& bundles) const {
    std::vector<DrawnPath> drawn;
    for (const Bundle& first : bundles.front()) {
      DrawnPath& path = drawn.emplace_back();
      path.count = first.count;
      for (const Bundle* bundle = &first; bundle->candidate != NONE;
           bundle = &bundles[candidates_->span(bundle->position).to][bundle->parent]) {
        path.candidates.push_back(bundle->candidate);
        if (!candidates_->is_chain()) path.route.push_back(bundle->position);
      }
    }
    return drawn;
  }

  // The first place of first .. last whose running sum exceeds a uniform share of the total.
  static std::uint32_t pick(const std::vector<Number>& sums, std::uint32_t first, std::uint32_t last, Random& random) {
    return first_above(sums, first, last, sums[last - 1] * random.uniform());
  }
  static std::uint32_t first_above(const std::vector<Number>& sums, std::uint32_t first, std::uint32_t last,
                                   Number target) {
    const auto found = std::upper_bound(sums.begin() + first, sums.begin() + last, target);
    return std::min(static_cast<std::uint32_t>(found - sums.begin()), last - 1);
  }

  // Its place in the slot's candidates.
  static std::uint32_t pick_candidate(const Slot& slot, std::uint32_t k, Random& random) {
    const std::uint32_t first = slot.begin[k], last = slot.begin[k + 1];
    const double u = random.uniform();
    double sum = 0.0;
    for (std::uint32_t c = first; c + 1 < last; ++c) {
      sum += std::exp(slot.log_weight[c] - slot.log_sum[k]);
      if (u < sum) return c;
    }
    return last - 1;
  }

  // ------------------------------------------------------------ backward

  // beta of the position's entries, from beta after it. An arc that carries nothing has no destination and counts
  // as zero; no prefix of positive mass asks for it.
  void backward(const Position& position, const Slot& slot, const std::vector<Number>& beta) {
    value_.assign(position.arcs.size(), {});
    for (std::size_t a = 0; a < position.arcs.size(); ++a) {
      const Arc& arc = position.arcs[a];
      if (arc.to != NONE) value_[a] = arc.factor * beta[arc.to];
    }
    entry_beta_.assign(position.entries.size(), {});
    beta_before_.clear();
    for (std::size_t e = position.entries.size(); e-- > 0;) {  // shortest first
      const Entry& entry = position.entries[e];
      for (std::uint32_t a = 0; a < entry.num_arcs; ++a) entry_beta_[e] += value_[entry.first_arc + a];
      if (position.closure.suffix[e] != NONE) entry_beta_[e] += beta_by_backing_off(position, slot, e);
      if (entry.active != NONE) beta_before_.emplace_back(entry.active, entry_beta_[e]);
    }
  }

  // What a position adds to the completions of the joint before it.
  void add_completion(double log_scale, std::size_t num_states, Completion& before) const {
    if (before.mass.empty()) {
      before.mass.assign(num_states, {});
      before.log_scale = log_scale;
    }
    const Number unit = in_unit(log_scale, before.log_scale);
    for (const auto& [state, beta] : beta_before_) before.mass[state] += beta * unit;
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

  // [candidate]: the share of the paths that take it; `log_scale` is that of what follows.
  void find_slot_marginals(std::size_t i, double log_scale, std::vector<double>& result) const {
    const Position& position = positions_[i];
    const Slot& slot = candidates_->slots[i];
    std::vector<Number> flow(slot.size());
    Number total{};
    for (std::size_t a = 0; a < position.arcs.size(); ++a) {
      const Arc& arc = position.arcs[a];
      if (arc.to == NONE) continue;
      flow[arc.word] += arc.inflow * value_[a];
      total += arc.inflow * value_[a];
    }
    if (total.is_zero()) return;
    const double log_scale_before = joints_[candidates_->span(i).to].log_scale_before;
    const double log_total = total.log() + log_scale_before + log_scale;
    const double share = candidates_->is_chain() ? 1.0 : std::min(std::exp(log_total - log_partition_), 1.0);
    for (std::size_t k = 0; k < slot.size(); ++k) {
      const double prob = share * flow[k].ratio(total);
      for (std::uint32_t c = slot.begin[k]; c < slot.begin[k + 1]; ++c) {
        result[slot.candidate[c]] = prob * std::exp(slot.log_weight[c] - slot.log_sum[k]);
      }
    }
  }

  const StateIndex& index_;
  const Candidates* candidates_ = nullptr;
  const Slot end_slot_ = make_end_slot();
  std::vector<Position> positions_;
  std::vector<Joint> joints_;
  SuffixClosure closure_;  // of the position under way
  SlotWords words_;
  NodeMap next_of_;
  std::vector<Number> listed_;
  std::vector<std::uint32_t> times_listed_;
  Meter meter_{Budget{}};
  std::vector<Number> value_, entry_beta_;
  std::vector<std::pair<std::uint32_t, Number>> beta_before_;  // of the states before a position
  double log_partition_ = 0.0;
  std::uint64_t num_states_ = 1;
  // Of sample().
  std::vector<std::uint32_t> table_of_;  // [state]
  std::vector<Table> tables_;
  std::vector<Portion> portions_;
  std::vector<std::uint64_t> times_;     // [place], zero between tallies
  std::vector<std::uint32_t> picked_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> extended_;  // entries and how many draws came by them
  Table unlisted_;
};

}  // namespace

FullPosterior::FullPosterior(const StateIndex& index) : index_(index) {}
FullPosterior::~FullPosterior() = default;

void FullPosterior::observe(const Candidates& candidates, const Budget& budget) {
  candidates_ = &candidates;
  budget_ = budget;
  begin_ = Meter::Clock::now();
  try {
    if (!linear_) linear_ = std::make_unique<SumFilter<Linear>>(index_);
    current_ = linear_.get();
    current_->observe(candidates, Meter(budget, begin_));
  } catch (const OutOfRange&) {
    observe_by_logarithms();
  }
}

void FullPosterior::observe_by_logarithms() {
  if (!logarithmic_) logarithmic_ = std::make_unique<SumFilter<Logarithmic>>(index_);
  current_ = logarithmic_.get();
  current_->observe(*candidates_, Meter(budget_, begin_));
}

double FullPosterior::log_partition() const { return current_->log_partition(); }
std::uint64_t FullPosterior::num_states() const { return current_->num_states(); }
std::vector<DrawnPath> FullPosterior::sample(std::uint64_t count, Random& random) {
  return current_->sample(count, random);
}
std::vector<std::vector<double>> FullPosterior::marginals(const std::vector<std::size_t>& slot_sizes) {
  try {
    return current_->marginals(slot_sizes);
  } catch (const OutOfRange&) {
    observe_by_logarithms();
    return current_->marginals(slot_sizes);
  }
}

}  // namespace hiddenite::exact
