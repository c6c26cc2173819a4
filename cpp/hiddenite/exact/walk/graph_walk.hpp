// The best path of a graph of small slots: `dominance`, joint by joint.
//
// WalkDecoder meets the arcs of all states at once with the words of a slot,
// which pays where a slot offers many words. A text without blanks is another
// thing: a dozen edges lead to each character, with a word or two each, and
// whatever is prepared for a slot costs more than its words. So here a state
// takes the words of an edge one by one, and only what belongs to a joint is
// prepared:
//   V(next(s, w)) = max over states s at the joint before, words w of the edge,
//                   of V(s) + ln p(w | s) + weight(w).
// What cannot win is left out at three places, in order of what they cost; the
// bounds are those of state_index.hpp.
//   an edge    whose best state with the best word that any state lists is worth
//              less than some prefix at the joint is sure to be, above the root
//   an arrival the same for its own state
//   a state    if another prefix at the joint is worth more on every continuation,
//              measured above any suffix that the two share; here the next word is
//              known to be one of those that leave the joint
//
// Weights are taken as given, so this door is for those of ordinary size: `decode`
// says by `nothing` that it is not for the record, that the budget has ended, or that
// no path is left. WalkDecoder answers those.
#pragma once

#include <optional>
#include <vector>

#include "hiddenite/channel/channel.hpp"
#include "hiddenite/exact/inference.hpp"
#include "hiddenite/exact/walk/walk.hpp"

namespace hiddenite::exact {

// One thread's workspace; decodes any number of graphs.
class GraphWalk {
 public:
  // `index` must treat sentence ends as the question does.
  explicit GraphWalk(const StateIndex& index);

  struct Best {
    std::vector<std::uint32_t> path;  // candidates by their place in the slots
    Route route;
    std::uint64_t states;
  };
  std::optional<Best> decode(const Reading& reading, const Deadline& deadline);

 private:
  struct Active {            // a state reached at some joint
    NodeId state;
    std::uint32_t slot;      // how: by this slot's
    std::uint32_t candidate; // word, by its place in the reading,
    std::uint32_t previous;  // from this state
    double value;            // V
  };
  struct Joint {
    std::uint32_t begin = 0, end = 0;        // of actives_
    std::uint32_t first_out = 0;             // its slots are leaving_[first_out .. that of the next joint]
    double best_with_word = LOG_ZERO;        // no word of weight 0 is worth more, whatever follows
  };
  struct Chain {  // what can follow a state, against the next shorter one
    double up, down;
  };

  static bool is_small(const Reading& reading);
  void begin(const Reading& reading);
  void enter(const Reading& reading, std::uint32_t joint, std::size_t first, std::size_t last);
  void take(const Reading& reading, std::uint32_t slot);
  void relax(const Active& reached);
  void thin(const Reading& reading, std::uint32_t joint);
  void drop_below_threshold(std::uint32_t begin);
  void drop_dominated(const Reading& reading, std::uint32_t joint);
  void find_next_words(const Reading& reading, std::uint32_t joint);
  void bound_joint(Joint& joint) const;
  Chain chain_of(NodeId s);
  Chain bound_by_next_words(NodeId s) const;
  double slack(double threshold) const { return unit_ * (magnitude_ + std::fabs(threshold)); }
  std::optional<Best> finish(const Reading& reading) const;

  const StateIndex& index_;
  std::vector<Joint> joints_;           // one more than there are
  std::vector<std::uint32_t> leaving_;  // slots, by the joint they leave
  std::vector<double> best_weight_;     // [slot]
  std::vector<Active> actives_;
  NodeMap place_of_;                    // of a state among actives_, at the joint under way
  NodeMap need_of_, chain_place_;
  std::vector<double> need_;            // [place]: the surest value that a prefix at the joint brings to the state
  std::vector<Chain> chains_;
  std::vector<WordId> next_words_;
  std::vector<std::uint32_t> marked_;   // [word]: the last joint, counted over all records, that it leaves
  std::uint32_t mark_ = 0;
  std::uint32_t next_classes_ = 0;
  double threshold_ = LOG_ZERO;         // a real prefix at the joint under way is sure to be worth this above the root
  double magnitude_ = 1.0, unit_ = 0.0;
  std::uint64_t num_states_ = 0;
};

}  // namespace hiddenite::exact
