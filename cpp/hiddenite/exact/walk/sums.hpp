// Sums over all paths: the graph that a walk leaves behind, and the passes over it.
//
// Forward. V(s) is the mass of the prefixes that end in state s. As in `full`
// (dominance.hpp), with sums for maxima: the states before a position are closed
// under suffixes, and arc (s, w) carries
//   F(s, w) = V(s) + sum over extensions c of s that do not list w of M(c) bow(c),
//   M(s)    = V(s) + sum over extensions c of s of M(c) bow(c).
// What the extensions that list w bring is added up and subtracted; where that
// would cancel, the sum is taken directly. A state that lists no word that may
// follow is its suffix, times its back-off weight: it never becomes a state here.
//
// Backward. beta(s) is the mass of all that may follow s. With
// T(s, w) = p(w | s) weight(w) beta(next(s, w)),
//   beta(s) = sum over w listed by s of T(s, w)
//             + bow(s) [beta(suf s) - sum over w listed by s of T(suf s, w)].
//
// Leaving out. An arc may be left out of the forward pass: then what was kept is
// a lower bound of Z, and V, draws and marginals are those of the paths that
// were kept. The backward pass bounds what was left out from above. For every
// continuation, the ratio of its weights after `next` and after a suffix c of
// it is at most e^up(next -> c) (state_index.hpp), so
//   T(s, w) <= p(w | s) weight(w) e^up(next -> c) beta(c),
// c being the state after w alone, or the root where nothing is known of that
// one. A bound is put in the place of each T that was left out; the recursion
// makes upper bounds of upper bounds, and what it says of the first state is an
// upper bound of Z. Words that much was left out to keep a state, without
// mass, to be measured by. Nothing adds up along the sentence: what was kept
// is known as it is, and a bound weighs as little as what it stands for.
//
// Masses are doubles; those of a joint share a power of two. Weights so far apart
// that they leave the range of doubles make the same code run on logarithms,
// which leaves nothing out.
#pragma once

#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/base/semiring.hpp"
#include "hiddenite/exact/proof.hpp"
#include "hiddenite/exact/walk/walk.hpp"

namespace hiddenite::exact {

// Masses have left the range of doubles.
struct OutOfRange {};

struct DrawnPath {
  std::vector<std::uint32_t> candidates;  // by their places in the slots as given
  Route route;
  std::uint64_t count = 0;                // how often it was drawn
};

// ------------------------------------------------------------------- numbers

template <class Number>
inline constexpr bool IS_LINEAR = std::is_same_v<Number, Linear>;

// A difference below this share of what it was taken from has lost digits.
inline constexpr double CANCELS = 1e-6;
// Half a unit in the last place of a double.
inline constexpr double ROUNDING = std::numeric_limits<double>::epsilon() / 2;

// The factor from one power of two to another.
template <class Number>
Number in_unit(std::int64_t exponent, std::int64_t exponent_there) {
  constexpr std::int64_t far_apart = 400;
  if constexpr (!IS_LINEAR<Number>) return Number::one();
  const std::int64_t difference = exponent - exponent_there;
  if (difference > far_apart || difference < -far_apart) throw OutOfRange();
  return Number{std::ldexp(1.0, static_cast<int>(difference))};
}

// So that the most is about one.
template <class Number>
void rescale(std::vector<Number>& values, std::int64_t& exponent) {
  if constexpr (IS_LINEAR<Number>) {
    double most = 0.0;
    for (const Number value : values) most = std::max(most, value.value);
    if (most == 0.0) return;
    if (!std::isfinite(most)) throw OutOfRange();
    const int own = std::ilogb(most);
    const double factor = std::ldexp(1.0, -own);
    for (Number& value : values) value.value *= factor;
    exponent += own;
  }
}

// --------------------------------------------------------------------- graph

template <class Number>
struct SumGraph {
  struct Entry {  // a state before a position, or a suffix of one
    NodeId state = ROOT;
    std::uint32_t suffix = NONE;         // the entry of the next shorter state
    std::uint32_t place = NONE;          // among the joint's states; NONE: only a suffix
    std::uint32_t num_extensions = 0;    // entries whose suffix it is,
    std::uint32_t listing = NONE;        // the last of them that lists words of the slot;
    std::uint32_t next_listing = NONE;   // of its own suffix, before this one
    std::uint32_t first_listed = 0, num_listed = 0;
    std::uint32_t first_arc = 0, num_arcs = 0;
    Number value{};       // V
    Number extended{};    // what all extensions bring: M - V
    Number silent{};      // of that, from those that list no word of the slot
    Number reach{};       // M
    Number backoff{};     // bow
    Number backed_off{};  // M bow
  };
  // A word of the slot that an entry lists. e^log_bound beta(c) bounds T if the arc was left out; c is the state
  // after the word alone.
  struct Listed {
    std::uint32_t word;  // its place in the slot
    float log_bound;
  };
  struct Arc {
    std::uint32_t entry, word, to;  // word: its place in the slot; to: a state of the next joint
    Number factor;                  // p weight, and the back-off weights down to `to`
    Number inflow;                  // F
  };
  struct Joint {
    std::vector<NodeId> states;
    std::vector<Number> values;             // V; 0: only to measure by
    std::vector<Number> left_out;           // about what was left out and is measured by the state
    std::vector<Number> beta;               // an upper bound of what may follow; empty: nothing
    std::int64_t exponent_before = 0;       // the power of two of what the arcs bring,
    std::int64_t exponent = 0;              // of `values`, which are scaled anew once all is there,
    std::int64_t beta_exponent = 0;         // of `beta`
    std::uint32_t root = NONE;              // its place among the states
    std::uint32_t classes = 0;              // bit set of the classes of words that may follow

    void clear() {
      states.clear();
      values.clear();
      left_out.clear();
      beta.clear();
      exponent_before = exponent = beta_exponent = 0;
      root = NONE;
    }
  };
  struct Position {
    std::vector<Entry> entries;             // longest first; the last is the root
    std::vector<Listed> listed;             // by entry, then by word
    std::vector<Arc> arcs;                  // that were kept: by entry, then by word
    std::vector<std::uint32_t> reference;   // [word of the slot]: the state after it alone, at the next joint; NONE: it
                                            // has none, or nothing follows
    Number least{};                         // the bound of each arc that was left out, times F, is below this
    std::vector<std::uint32_t> first_extension, extensions;  // for draws: entries by suffix,
    std::vector<Number> extension_sums;                      // and running sums

    void clear() {
      entries.clear();
      listed.clear();
      arcs.clear();
      reference.clear();
      extension_sums.clear();
    }
    // Where entry e lists the slot's word k; NONE: it does not.
    std::uint32_t find_listed(std::uint32_t e, std::uint32_t k) const {
      const auto first = listed.begin() + entries[e].first_listed, last = first + entries[e].num_listed;
      const auto found = std::lower_bound(first, last, k, [](const Listed& l, std::uint32_t w) { return l.word < w; });
      return found != last && found->word == k ? static_cast<std::uint32_t>(found - listed.begin()) : NONE;
    }
    bool lists(std::uint32_t e, std::uint32_t k) const { return find_listed(e, k) != NONE; }
  };

  explicit SumGraph(const StateIndex& state_index) : index(state_index) {}
  const Slot& slot(std::size_t i) const { return i < candidates->length() ? candidates->slots[i] : end_slot; }

  const StateIndex& index;
  const Candidates* candidates = nullptr;
  const Slot end_slot = make_end_slot();
  std::vector<Position> positions;  // and joints: at least as many as the candidates have
  std::vector<Joint> joints;
  std::uint64_t num_states = 1;
  bool leaves_out = false;          // arcs may have been left out,
  double share = 0.0;               // those below this share, by a first look
  double log_kept = LOG_ZERO;       // ln of the mass of the paths that were kept
  double log_upper = LOG_ZERO;      // ln Z is at most this, but for rounding
  // For rounding: how many terms were added up one after another at most, the largest logarithm that was worked
  // with, and the share of the sum that may have come out of differences.
  double num_terms = 0.0, magnitude = 0.0, uncertain = 0.0;
};

// -------------------------------------------------------------------- faults

// Deliberate errors of the bounds, by which their tests are tested. Only a build with HIDDENITE_FAULTS can make them.
enum class SumFault { NONE, FORGETS, TRUSTS_ROOT, LOOKS_PAST };
#ifdef HIDDENITE_FAULTS
inline SumFault planted_sum_fault = SumFault::NONE;
inline bool is_planted(SumFault fault) { return fault == planted_sum_fault; }
#else
constexpr bool is_planted(SumFault) { return false; }
#endif

// ------------------------------------------------------------------- closure

// States and all their suffixes, longest first; the last is the root. Nodes are numbered by length, and the state
// of a word by the word, so little needs to be looked up.
class LevelClosure {
 public:
  explicit LevelClosure(const StateIndex& index)
      : index_(index), num_words_(static_cast<NodeId>(index.table().vocabulary.size())),
        levels_(static_cast<std::size_t>(index.table().order) + 1), entry_of_word_(num_words_ + 1, NONE) {}

  void build(const std::vector<NodeId>& states);
  std::size_t size() const { return states_.size(); }
  NodeId state(std::uint32_t e) const { return states_[e].first; }
  std::uint32_t place(std::uint32_t e) const { return states_[e].second; }  // among the states given, or NONE
  std::uint32_t suffix(std::uint32_t e) const { return suffix_[e]; }        // NONE: it is the root

 private:
  using Member = std::pair<NodeId, std::uint32_t>;
  void add(NodeId s, std::uint32_t place);

  const StateIndex& index_;
  const NodeId num_words_;
  std::vector<std::vector<Member>> levels_;
  std::vector<std::uint32_t> entry_of_word_;  // [node], NONE between calls
  NodeMap entry_of_;                          // of longer states
  std::vector<Member> states_;
  std::vector<std::uint32_t> suffix_;
};

// -------------------------------------------------------------------- passes

// Throws ModelError if the budget of seconds and states has ended: a sum that is not complete bounds nothing.
void check_budget(const Deadline& deadline, std::uint64_t states, std::size_t position, std::size_t length);

template <class Number>
class ForwardSum {
 public:
  explicit ForwardSum(const StateIndex& index);
  // Fills the graph; leaves out what is surely worth less than `share` of the sum before what follows is known.
  // False if what was kept leads nowhere. Throws EmptySupport if nothing was left out, OutOfRange.
  bool run(SumGraph<Number>& graph, const Candidates& candidates, double share, const Deadline& deadline);

 private:
  using Graph = SumGraph<Number>;
  using Entry = typename Graph::Entry;
  using Position = typename Graph::Position;
  using Joint = typename Graph::Joint;
  struct Found {
    NodeId arc;
    std::uint32_t listed;  // its place among the position's
  };
  // Where an arc leads, once states that list nothing that may follow are their suffixes.
  struct Target {
    NodeId next;
    double log_factor;
    double log_to_word;  // the same down to the state after the word alone, if it gets there
  };

  bool walk(const Deadline& deadline);
  void begin();
  void find_what_follows();
  void walk_position(std::size_t i);
  void set_words(std::size_t i);
  void close(Position& position, const Joint& joint, Number unit);
  double estimate_log_sum(const Position& position) const;
  void scan(Position& position, std::uint32_t e);
  void use_found(Position& position, Joint& to);
  void use_arc(Position& position, std::uint32_t e, const Found& found, Joint& to);
  void count_listed(const Position& position, std::uint32_t e, bool add);
  Number unlisted_mass(const Position& position, std::uint32_t e, std::uint32_t k) const;
  Target find_target(const StateIndex::Arc& arc, std::uint32_t k, const Joint& to) const;
  bool leave_out(typename Graph::Listed& listed, const Target& target, Number mass);
  std::uint32_t place_of(NodeId next, Joint& to);
  void add_references(std::size_t i, Joint& to);
  void note_references(std::size_t i);
  bool finish_joint(std::size_t i);

  const StateIndex& index_;
  const NodeId num_words_;
  Graph* graph_ = nullptr;
  const Candidates* candidates_ = nullptr;
  double share_ = 0.0;
  SlotWords words_, next_words_;              // of the position, and of what follows it
  static constexpr std::size_t NOWHERE = std::numeric_limits<std::size_t>::max(), SEVERAL = NOWHERE - 1;
  std::vector<std::size_t> only_from_;        // [joint]: the only position from there on, NOWHERE or SEVERAL
  bool is_last_ = false;                      // nothing follows the position
  double log_least_ = LOG_ZERO;               // masses below are left out
  Number least_{};
  LevelClosure closure_;
  std::vector<std::uint32_t> place_of_word_;  // [node of a word's state, or the root],
  NodeMap place_of_;                          // and of longer states
  std::vector<double> log_above_word_;        // [word of the slot]: its weight, less up_of_word
  std::vector<float> most_left_out_;          // [word of the slot]: log of the largest mass
  std::vector<Found> found_;
  std::vector<Number> listed_;                // [word of the slot]: what the extensions that list it bring,
  std::vector<std::uint32_t> times_listed_;   // and how many they are
  std::size_t first_into_ = 0;                // the first position that leads to the joint
};

template <class Number>
class BackwardSum {
 public:
  // Fills in what may follow each state, and the bounds.
  void run(SumGraph<Number>& graph, const Deadline& deadline);
  // [slot][candidate]: its posterior probability; slots as given.
  static std::vector<std::vector<double>> marginals(const SumGraph<Number>& graph,
                                                    const std::vector<std::size_t>& slot_sizes);

 private:
  using Graph = SumGraph<Number>;
  using Position = typename Graph::Position;

  void weigh_references(const Graph& graph, std::size_t i);
  void walk(Graph& graph, const Deadline& deadline);
  void weigh_listed(const Graph& graph, std::size_t i);
  void bound_left_out(const Graph& graph, std::size_t i);
  bool prepare_to_look_closer(const Graph& graph, std::size_t i);
  Number measured_by(const Graph& graph, std::size_t i, const typename Graph::Entry& entry) const;
  Number look_closer(const Graph& graph, std::size_t i, NodeId s, std::uint32_t k) const;
  Number bound_by_words(const Graph& graph, NodeId s) const;
  void add_beta(Graph& graph, std::size_t i);
  void take_from_extensions(const Position& position, std::uint32_t e);
  Number beta_by_backing_off(const Graph& graph, std::size_t i, std::uint32_t e) const;
  Number direct_beta(const Graph& graph, std::size_t i, std::uint32_t e) const;

  std::vector<Number> reference_;   // [word of the slot]: beta of the state after it alone,
  std::vector<Number> later_reference_;  // of the slot that follows,
  Number later_unit_{};                  // and its unit
  SlotWords following_;                  // that slot
  bool is_end_ = false;                  // nothing comes after it
  Number least_{};                       // what is worth a closer look
  std::vector<Number> value_;       // [listed]: T
  std::vector<Number> entry_beta_;  // [entry]
  std::vector<Number> taken_;       // [entry]: sum of T(suf s, w) over what it lists
  std::vector<Number> of_word_;     // [word of the slot]: T of the entry under way
  Number uncertain_{};              // what F may be off, added up over the position's arcs
};

template <class Number>
class SumDraws {
 public:
  // So many independent draws from the paths that were kept, as a multiset: equal ones together, in no order that
  // means anything. Throws OutOfRange.
  std::vector<DrawnPath> sample(SumGraph<Number>& graph, std::uint64_t count, Random& random);

 private:
  using Graph = SumGraph<Number>;
  using Position = typename Graph::Position;
  struct Bundle {             // draws that agree from a joint on
    std::uint32_t state;      // at the joint
    std::uint32_t position;   // that they take from there; NONE: all is said
    std::uint32_t candidate;  // of its slot; NONE: </s>
    std::uint32_t parent;     // the bundle after it
    std::uint64_t count;
  };
  struct Portion {            // draws of a bundle that take one arc
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

    void clear();
    void add(std::uint32_t item, Number mass);
    std::uint32_t draw(Random& random) const;
  };

  static void prepare(Position& position);
  void tabulate_arcs(std::size_t begin, std::size_t end, const std::vector<Bundle>& bundles);
  template <class Pick, class Visit>
  void tally(std::uint64_t count, std::size_t num_places, Pick pick, Visit visit);
  void draw_arcs(std::size_t begin, std::size_t end, const std::vector<Bundle>& bundles, Random& random);
  void draw_candidates(Random& random);
  void draw_origins(std::vector<std::vector<Bundle>>& bundles, Random& random);
  void draw_extensions(const Position& position, std::uint32_t e, std::uint64_t count, Random& random);
  void draw_extensions_without(const Position& position, std::uint32_t e, std::uint32_t k, Number inflow,
                               std::uint64_t count, Random& random);
  template <class Pick>
  void tally_extensions(const Position& position, std::uint32_t e, std::uint64_t count, Pick pick);
  std::vector<DrawnPath> read_off(const std::vector<std::vector<Bundle>>& bundles) const;

  Graph* graph_ = nullptr;
  const Candidates* candidates_ = nullptr;
  std::vector<std::uint32_t> table_of_;  // [state]
  std::vector<Table> tables_;
  std::vector<Portion> portions_;
  std::vector<std::uint64_t> times_;     // [place], zero between tallies
  std::vector<std::uint32_t> picked_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> extended_;  // entries and how many draws came by them
  Table unlisted_;
};

}  // namespace hiddenite::exact
