// Exact decoding by walking the model's states: `full` and `dominance`.
//
// Per position, the active states (longest listed contexts of the prefixes so
// far) are closed under suffixes. An arc (s, w) is used by a prefix whose state
// is s, or whose state backs off to s because nothing on the way lists w. With
// V(s) the best prefix that ends in state s,
//   M(s)    = max(V(s), max over states c with suffix s of M(c) + ln bow(c)),
//   B(s, w) = max(V(s), max over c that do not list w of M(c) + ln bow(c)),
// and V(next(s, w)) is at least B(s, w) + ln p(s, w) + weight(w). The first c in
// descending order of M(c) + ln bow(c) that does not list w decides, since a
// table closed under suffixes lists w at c if a longer context does. That is
// `full`: every listed arc whose word is a candidate is met once.
//
// `dominance` leaves out what cannot win. If for states s, t and a common
// suffix c
//   V(s) + sum of up from s to c  <  V(t) + sum of down from t to c,
// then for every continuation y the prefix of s scores less than that of t, the
// channel's terms being the same: no optimal path goes through s (state_index
// has the bounds). It does not matter whether t itself stays, only that its
// prefix is real. So the run is the proof, at the cost of a narrow beam. With a
// margin g, every completion of what was left out scores less than best - g:
// then the states and arcs that remain hold the k best paths, as soon as the
// k-th is no further than g from the best.
//
// Values are sums of doubles. A prefix's is off by no more than a share of the
// largest partial sum that led to it, one rounding for each term; so tests
// leave that much room (`slack`), whatever the size of the weights.
//
// All of this is said of prefixes that end at one joint of the graph, and of one
// slot that leads on from there. The slots that lead to one joint are walked one
// after another; the states behind it are theirs together.
#pragma once

#include <cmath>
#include <vector>

#include "hiddenite/exact/inference.hpp"
#include "hiddenite/exact/walk/walk.hpp"

namespace hiddenite::exact {

class PathLattice;

// One thread's workspace; decodes any number of sentences.
class WalkDecoder {
 public:
  // `index` must treat sentence ends as the candidates do.
  explicit WalkDecoder(const StateIndex& index) : index_(index) {}

  // Throws EmptySupport.
  Decoded decode(const Candidates& candidates, bool prune, const Deadline& deadline);
  // The k best distinct candidate sequences, fewer if there are fewer.
  KBest kbest(const Candidates& candidates, std::size_t k, bool prune, const Deadline& deadline);

 private:
  friend class PathLattice;  // reads what a run left behind

  struct Prefix {  // the path to a state, by words
    WordPath path;
    Route route;
  };

  struct Active {            // a state reached at some joint
    NodeId state;
    std::uint32_t position;  // how it was reached: the slot,
    double value;            // V
    std::uint32_t previous;  // the active state before it, and the word in between
    std::uint32_t word;
  };
  struct Entry {                   // a state or suffix of one, at the current position
    std::uint32_t active = NONE;   // NONE: only a suffix, or dominated
    std::uint32_t origin = NONE;   // active state whose prefix M is
    double value = LOG_ZERO;       // V
    double reach = LOG_ZERO;       // M
    double backed_off = LOG_ZERO;  // M + ln bow
    double need = LOG_ZERO;        // what V must not be below
    double up = 0.0;               // bound restricted to the slot
    std::uint32_t num_extensions = 0;  // those that lead somewhere, once sorted
    bool sorted = false;               // the extensions are in descending order of backed_off
  };
  struct FoundArc {
    std::uint32_t entry;
    NodeId arc;
    std::uint32_t word;  // its place in the slot
    std::uint32_t to;    // the active state it leads to, once used
    NodeId next;
  };
  struct Passed {        // k-best: a position as it was passed
    SuffixClosure closure;
    std::vector<Entry> entries;
    std::vector<FoundArc> arcs;
    double threshold = LOG_ZERO;         // in the end; real prefixes gave them,
    std::vector<double> word_threshold;  // so another run of the same candidates can begin with them
  };

  bool run(const Candidates& candidates, bool prune, double margin, bool keep, const Deadline& deadline);
  bool walk(const Candidates& candidates, bool prune, double margin, bool keep, const Deadline& deadline);
  void walk_position(const Candidates& candidates, std::size_t position, bool prune, double margin, Passed* passed);
  void set_slots(const Candidates& candidates, std::size_t position);
  void find_only_positions(const Candidates& candidates);
  std::size_t next_position(const Candidates& candidates, std::size_t position) const;
  const Slot& slot_at(const Candidates& candidates, std::size_t position) const;
  void enter_states(const std::vector<Active>& layer);
  void drop_dominated(double margin);
  void find_reach();
  void expand(bool prune, double margin, Passed* passed);
  void find_arcs(std::uint32_t e, bool prune, double margin);
  template <class Find>
  void find_unigrams(double least, Find find);
  void drop_late(double margin, Passed* passed);
  void use_found(bool prune, double margin, Passed* passed);
  std::pair<double, std::uint32_t> best_prefix(std::uint32_t e, WordId w);
  std::uint32_t relax(NodeId next, double value, std::uint32_t origin, std::uint32_t word);
  void sort_extensions(std::uint32_t e);
  ChainBounds::Bound bound_after(NodeId next);
  double most_above_word(double value, double up_to_root, WordId w) const;
  void bound_words();
  template <class Fall>
  void bound_words(Fall fall);
  void seed_threshold();
  void begin_thresholds(Passed* passed);
  void seed_from(std::uint32_t e);
  static std::uint32_t best_of(const std::vector<Active>& layer);
  Prefix backtrack(const Candidates& candidates, std::size_t joint, std::uint32_t active) const;
  std::vector<double> most_from_joints(const Candidates& candidates) const;
  double most_of_slot(const Slot& slot) const;
  void complete(const Candidates& candidates, const std::vector<double>& most, std::size_t joint, NodeId state,
                Prefix& prefix) const;
  KBest paths_above(const Candidates& candidates, std::size_t k, double least, bool prune);
  KBest only_path(const Candidates& candidates, const Decoded& decoded) const;
  Decoded stopped_early(const Candidates& candidates, bool prune) const;
  [[noreturn]] void throw_promise_nothing(const Candidates& candidates) const;
  static Method method_of(bool prune) { return prune ? Method::DOMINANCE : Method::FULL; }

  // What a sum that is compared with `threshold` can have lost, both taken together.
  double slack(double threshold) const { return unit_ * (magnitude_ + std::fabs(threshold)); }
  void begin_magnitude(std::size_t position);

  const StateIndex& index_;
  std::vector<std::vector<Active>> layers_;  // [joint]: the states reached there
  std::vector<Passed> passed_;               // [position], for k-best
  std::vector<Active>* next_ = nullptr;
  std::uint32_t position_ = 0;        // under way
  bool is_alone_ = true;              // no other leads to its joint
  std::size_t last_joint_ = 0;        // that the run has come to
  SuffixClosure closure_;
  std::vector<Entry> entries_;  // of the closure
  std::vector<FoundArc> found_;
  std::vector<std::uint32_t> seeds_;
  std::vector<std::uint32_t> far_;      // entries that are looked at last
  std::vector<std::uint32_t> kept_as_;  // [state reached]: its place among those that stay
  NodeMap next_of_;
  SlotWords words_, next_words_;
  ChainBounds bounds_, next_bounds_;  // of states before and after the position
  bool has_next_ = false;             // something follows the position
  std::size_t prepared_ = NOWHERE;    // the position that next_words_ are of
  static constexpr std::size_t NOWHERE = std::numeric_limits<std::size_t>::max(), SEVERAL = NOWHERE - 1;
  std::vector<std::size_t> only_from_;  // [joint] of a graph: the only position from there on, NOWHERE or SEVERAL
  Slot end_slot_ = make_end_slot();
  std::vector<double> word_threshold_;  // [word of the slot]: the same above that word's
  std::vector<double> most_with_word_;  // [word of the slot]: its weight, less what the next slot takes from up_of_word
  std::vector<double> best_unigram_;    // [block of a range's words]: the most that a unigram can be worth
  bool is_again_ = false;        // the same candidates as in the last run, which was complete
  double magnitude_ = 1.0;       // of the largest value that a prefix has had
  double unit_ = 0.0;            // the relative rounding of a prefix's value, and of a test's
  double threshold_ = LOG_ZERO;  // some completion of a real prefix is worth this above the root's
  std::uint64_t num_states_ = 0;
};

}  // namespace hiddenite::exact
