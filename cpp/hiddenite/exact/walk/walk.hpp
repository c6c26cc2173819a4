// Shared by the methods that walk the states the model lists: a set of states
// with their suffixes, and a slot's words as the arcs of a state meet them.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "hiddenite/channel/candidates.hpp"
#include "hiddenite/lm/state_index.hpp"

namespace hiddenite::exact {

inline constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();
inline constexpr float NO_PROB = -std::numeric_limits<float>::infinity();

// A map from nodes to small integers that is emptied in constant time.
class NodeMap {
 public:
  NodeMap() : slots_(64), mask_(63) {}
  void clear() {
    ++generation_;
    size_ = 0;
  }
  // The place of the node's value; `inserted` tells whether it is new.
  std::uint32_t& at(NodeId node, bool& inserted) {
    if (2 * size_ > mask_) grow();
    Slot& slot = slots_[find(node)];
    inserted = slot.generation != generation_;
    if (inserted) {
      slot = {node, generation_, NONE};
      ++size_;
    }
    return slot.value;
  }
  std::uint32_t get(NodeId node) const {
    const Slot& slot = slots_[find(node)];
    return slot.generation == generation_ ? slot.value : NONE;
  }
  void set(NodeId node, std::uint32_t value) {
    bool inserted;
    at(node, inserted) = value;
  }

 private:
  struct Slot {
    NodeId node = 0;
    std::uint32_t generation = 0;
    std::uint32_t value = NONE;
  };
  std::size_t find(NodeId node) const {
    std::size_t i = (node * 0x9E3779B97F4A7C15u >> 32) & mask_;
    while (slots_[i].generation == generation_ && slots_[i].node != node) i = (i + 1) & mask_;
    return i;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.generation == generation_) slots_[find(slot.node)] = slot;
    }
  }
  std::vector<Slot> slots_;
  std::size_t mask_;
  std::size_t size_ = 0;
  std::uint32_t generation_ = 1;
};

// States and all their suffixes, longest first; one entry each.
class SuffixClosure {
 public:
  // Calls node(i) for the state of each i below `count`; the states are distinct.
  template <class Node>
  void build(const StateIndex& index, std::size_t count, Node node) {
    place_of_.clear();
    added_.clear();
    first_of_depth_.assign(1, 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + PREFETCH < count) index.prefetch_state(node(i + PREFETCH));
      if (i + PREFETCH / 2 < count) index.prefetch_state(index.state(node(i + PREFETCH / 2)).suffix);
      add(index, node(i));
    }
    order_by_depth();
    link();
  }

  std::size_t size() const { return state.size(); }
  std::uint32_t entry(NodeId s) const { return added_[place_of_.get(s)].entry; }

  std::vector<NodeId> state;
  std::vector<std::uint32_t> suffix;           // entry of the next shorter state; NONE for the root
  std::vector<std::uint32_t> first_extension;  // entries whose suffix is e are
  std::vector<std::uint32_t> extensions;       // extensions[first_extension[e] .. first_extension[e + 1]]

 private:
  struct Added {
    NodeId state;
    std::uint32_t suffix;  // its place in the order of adding
    std::uint32_t depth;   // the number of its suffixes
    std::uint32_t entry;
  };

  // Adds a state after its suffixes; returns its place in the order of adding.
  std::uint32_t add(const StateIndex& index, NodeId s) {
    if (const std::uint32_t known = place_of_.get(s); known != NONE) return known;
    const std::uint32_t shorter = s == ROOT ? NONE : add(index, index.state(s).suffix);
    const std::uint32_t depth = s == ROOT ? 0 : added_[shorter].depth + 1;
    const auto place = static_cast<std::uint32_t>(added_.size());
    place_of_.set(s, place);
    added_.push_back({s, shorter, depth, NONE});
    if (depth == first_of_depth_.size()) first_of_depth_.push_back(0);
    ++first_of_depth_[depth];
    return place;
  }

  // Deepest first, by counting.
  void order_by_depth() {
    std::uint32_t first = 0;
    for (std::size_t d = first_of_depth_.size(); d-- > 0;) {
      const std::uint32_t count = first_of_depth_[d];
      first_of_depth_[d] = first;
      first += count;
    }
    state.resize(added_.size());
    suffix.resize(added_.size());
    for (Added& added : added_) {
      added.entry = first_of_depth_[added.depth]++;
      state[added.entry] = added.state;
    }
    for (const Added& added : added_) {
      suffix[added.entry] = added.suffix == NONE ? NONE : added_[added.suffix].entry;
    }
  }

  void link() {
    first_extension.assign(size() + 1, 0);
    for (const std::uint32_t e : suffix) {
      if (e != NONE) ++first_extension[e + 1];
    }
    for (std::size_t e = 0; e < size(); ++e) first_extension[e + 1] += first_extension[e];
    extensions.resize(first_extension.back());
    fill_.assign(first_extension.begin(), first_extension.end() - 1);
    for (std::uint32_t e = 0; e < size(); ++e) {
      if (suffix[e] != NONE) extensions[fill_[suffix[e]]++] = e;
    }
  }

  static constexpr std::size_t PREFETCH = 8;  // so many items ahead

  NodeMap place_of_;
  std::vector<Added> added_;
  std::vector<std::uint32_t> first_of_depth_;
  std::vector<std::uint32_t> fill_;
};

// A slot with the one word </s>.
inline Slot make_end_slot() { return Slot{{SENTENCE_END}, {0.0}, {0.0}, {0, 1}, {0}, {0.0}}; }

// The words of a slot, ready to be met with arcs.
class SlotWords {
 public:
  // `log_weight` is the slot's log_max or log_sum.
  void set(const StateIndex& index, const Slot& slot, const std::vector<double>& log_weight) {
    clear();
    slot_ = &slot;
    log_weight_ = log_weight.data();
    is_range_ = slot.is_range();
    best_ = best_of(log_weight);
    is_most_ = 2 * slot.size() > index.table().vocabulary.size();
    classes_ = index.class_bit(slot.word.front()) | index.class_bit(slot.word.back());
    // Words are numbered by length: where the first and the last agree, all between do.
    is_one_class_ = std::has_single_bit(classes_);
    if (!is_one_class_) {
      for (const WordId w : slot.word) classes_ |= index.class_bit(w);
    }
    if (is_range_) return;
    place_.resize(index.table().vocabulary.size(), NONE);
    for (std::uint32_t k = 0; k < slot.size(); ++k) place_[slot.word[k]] = k;
  }
  // Any word may come: only what bounds() says of all words holds.
  void set_any() {
    clear();
    classes_ = 0;
    is_one_class_ = false;
    is_most_ = true;
  }
  // Forgets the slot; must come before the slot dies.
  void clear() {
    if (slot_ && !is_range_) {
      for (const WordId w : slot_->word) place_[w] = NONE;
    }
    slot_ = nullptr;
  }

  const Slot& slot() const { return *slot_; }
  double log_weight(std::uint32_t k) const { return log_weight_[k]; }
  double best_log_weight() const { return best_; }
  const double* log_weights() const { return log_weight_; }
  bool is_range() const { return is_range_; }

  // The class that all words share, as a bit; 0 if they do not, or are so many that only the bounds of all words do.
  std::uint32_t one_class() const { return is_one_class_ && !is_most_ ? classes_ : 0; }

  // Asks for what bounds(s) will read, if s itself is there.
  void prefetch(const StateIndex& index, NodeId s) const {
    const StateIndex::State& state = index.state(s);
    index.prefetch_state(state.suffix);
    if (is_one_class_ && state.classes & classes_) index.prefetch_bounds(s, classes_);
  }
  // Asks for what tells where the arcs of s to words of the slot are, if s itself is there.
  void prefetch_table(const StateIndex& index, NodeId s) const {
    const std::uint32_t classes = index.state(s).classes;
    if (is_one_class_ && (classes & classes_) && (classes & StateIndex::HAS_CLASS_TABLE)) {
      index.prefetch_bounds(s, classes_);
    }
  }
  // Asks for the first of the arcs of s to a word of the slot, or for its head.
  void prefetch_arcs(const StateIndex& index, NodeId s, bool heads) const {
    if (s == ROOT || (index.state(s).classes & classes_) == 0) return;
    const NodeId a = is_one_class_ ? first_arc(index, s) : index.state(s).first_arc;
    heads ? index.prefetch_head(a) : index.prefetch_arc(a);
  }
  // No arc of s to a word of the slot has a greater up_to_root.
  float best_arc(const StateIndex& index, NodeId s) const {
    const StateIndex::State& state = index.state(s);
    if (!is_one_class_ || s == ROOT) return index.best_arc(s);
    if ((state.classes & classes_) == 0) return -std::numeric_limits<float>::infinity();
    if ((state.classes & StateIndex::HAS_CLASS_TABLE) == 0) return state.best_arc;
    return index.class_of_arcs(s, classes_).best_arc;
  }

  // Calls visit(arc id, arc, k) for the arcs of s that predict a word of the slot.
  template <class Visit>
  void for_each_arc(const StateIndex& index, NodeId s, Visit visit) const {
    for_each(index, s, &index.arc(0), visit);
  }
  // The same with the arcs' heads.
  template <class Visit>
  void for_each_head(const StateIndex& index, NodeId s, Visit visit) const {
    for_each(index, s, &index.head(0), visit);
  }

  // The most and the least that the next word and all after it can add to s
  // against its suffix, the next word being one of the slot.
  std::pair<double, double> bounds(const StateIndex& index, NodeId s) const {
    const StateIndex::State& state = index.state(s);
    double up = state.log_backoff, down = state.log_backoff;
    if (is_most_) return {state.up, state.down};
    if ((state.classes & classes_) == 0) return {up, down};
    if (is_one_class_ && (state.classes & StateIndex::HAS_CLASS_TABLE)) {
      const StateIndex::ClassOfArcs& arcs = index.class_of_arcs(s, classes_);
      return {arcs.up, arcs.down};
    }
    const NodeId end = index.end_arc(s);
    if (end - state.first_arc > MAX_ARCS_FOR_BOUNDS) return {state.up, state.down};
    for (NodeId a = state.first_arc; a < end; ++a) {
      const StateIndex::Arc& arc = index.arc(a);
      if (is_range_ ? arc.word - slot_->word.front() >= slot_->size() : place_[arc.word] == NONE) continue;
      up = std::max(up, double{arc.up});
      down = std::min(down, double{arc.down});
    }
    return {up, down};
  }

 private:
  template <class Item, class Visit>
  void for_each(const StateIndex& index, NodeId s, const Item* items, Visit visit) const {
    const auto size = static_cast<NodeId>(slot_->size());
    if (s == ROOT) {
      for (NodeId k = 0; k < size; ++k) visit(1 + slot_->word[k], items[1 + slot_->word[k]], k);
      return;
    }
    const StateIndex::State& state = index.state(s);
    if ((state.classes & classes_) == 0) return;
    const NodeId end = index.end_arc(s);
    if (is_range_) {
      const WordId low = slot_->word.front();
      NodeId a = first_arc(index, s);
      if (end - a <= StateIndex::FEW_ARCS) {  // fewer than it takes to foresee where the range begins and ends
        for (; a < end; ++a) {
          if (items[a].word - low < size) visit(a, items[a], items[a].word - low);
        }
        return;
      }
      while (a < end && items[a].word < low) ++a;
      for (; a < end && items[a].word - low < size; ++a) visit(a, items[a], items[a].word - low);
    } else if (const auto [first, last] = arcs_of_classes(index, s, end); last - first <= 8 * size) {
      const WordId high = slot_->word.back();
      for (NodeId a = first; a < last && items[a].word <= high; ++a) {
        const std::uint32_t k = place_[items[a].word];
        if (k != NONE) visit(a, items[a], k);
      }
    } else {
      for (NodeId k = 0; k < size; ++k) {
        const NodeId a = index.find_arc(s, slot_->word[k]);
        if (a != NO_NODE) visit(a, items[a], k);
      }
    }
  }
  // A range that holds the arcs of s to words of the slot.
  std::pair<NodeId, NodeId> arcs_of_classes(const StateIndex& index, NodeId s, NodeId end) const {
    const StateIndex::State& state = index.state(s);
    if (!is_one_class_ || (state.classes & StateIndex::HAS_CLASS_TABLE) == 0) return {state.first_arc, end};
    return {index.class_of_arcs(s, classes_).first_arc, index.end_of_class(s, classes_)};
  }
  // Four at a time: std::max_element waits for each comparison.
  static double best_of(const std::vector<double>& values) {
    double best[4] = {LOG_ZERO, LOG_ZERO, LOG_ZERO, LOG_ZERO};
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4) {
      for (std::size_t j = 0; j < 4; ++j) best[j] = values[i + j] > best[j] ? values[i + j] : best[j];
    }
    for (; i < values.size(); ++i) best[0] = std::max(best[0], values[i]);
    return std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
  }
  // Not beyond the first arc of s to a word of the slot.
  NodeId first_arc(const StateIndex& index, NodeId s) const {
    const StateIndex::State& state = index.state(s);
    if (!is_one_class_) return index.lower_arc(s, slot_->word.front());
    return state.classes & StateIndex::HAS_CLASS_TABLE ? index.class_of_arcs(s, classes_).first_arc : state.first_arc;
  }

  static constexpr NodeId MAX_ARCS_FOR_BOUNDS = 32;  // beyond, a bound over all words must do

  const Slot* slot_ = nullptr;
  const double* log_weight_ = nullptr;
  double best_ = 0.0;
  std::uint32_t classes_ = 0;  // bit set of the words' classes
  bool is_one_class_ = false;  // all words are of one class
  bool is_most_ = false;  // of the vocabulary: what bounds all words will do
  bool is_range_ = false;
  std::vector<std::uint32_t> place_;  // [word]: its place in the slot
};

// What can follow a state, the next word being one of a slot: bounds summed down
// the whole suffix chain. Each state is looked at once.
class ChainBounds {
 public:
  struct Bound {
    double up = 0.0, down = 0.0;                  // against the next shorter state
    double up_to_word = 0.0, down_to_word = 0.0;  // against the state after the last word alone
    double up_to_root = 0.0, down_to_root = 0.0;
  };
  void clear() {
    place_of_.clear();
    bounds_.clear();
  }
  Bound get(const StateIndex& index, const SlotWords& words, NodeId s) {
    if (s == ROOT) return {};
    const bool is_word = s <= index.table().vocabulary.size();
    if (is_word && words.one_class() != 0) return after_word(index, words.one_class(), s - 1);
    bool inserted;
    std::uint32_t& place = place_of_.at(s, inserted);
    if (!inserted) return bounds_[place];
    const auto own = static_cast<std::uint32_t>(bounds_.size());
    place = own;
    bounds_.push_back({});
    const auto [up, down] = words.bounds(index, s);
    const Bound shorter = get(index, words, index.state(s).suffix);
    return bounds_[own] = {up, down,
                           is_word ? 0.0 : up + shorter.up_to_word, is_word ? 0.0 : down + shorter.down_to_word,
                           up + shorter.up_to_root, down + shorter.down_to_root};
  }

 private:
  static Bound after_word(const StateIndex& index, std::uint32_t class_bit, WordId w) {
    const double up = double{index.up_of_word(w)} + index.fall_after_word(class_bit)[w];
    const double down = index.down_after_word(class_bit)[w];
    return {up, down, 0.0, 0.0, up, down};
  }

  NodeMap place_of_;
  std::vector<Bound> bounds_;
};

}  // namespace hiddenite::exact
