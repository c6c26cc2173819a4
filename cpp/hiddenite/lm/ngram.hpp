// The n-gram table: a back-off language model, immutable once built.
//
// A forward trie. Node = listed n-gram = arc that predicts the n-gram's last
// word from the others. Nodes are numbered level by level (node 0 is the empty
// n-gram, node 1 + w the unigram w) and in lexicographic order within a level,
// so the children of a node are a range and the ranges of consecutive nodes
// meet: first_child[node] .. first_child[node + 1], sorted by word.
//
// The table is closed: with an n-gram it lists the n-gram's context and its
// suffix (TableBuilder adds what a pruned file leaves out, with the probability
// that backing off gives anyway). So the suffix of arc (s, w) is arc (suf s, w).
//
// Which door to take:
//   score a sentence        start(), then step(state, word) per word
//   ln p(word | context)    conditional(word, context)
//   its bound               max_conditional(word, context)
//   walk the trie           child(), first_child, suffix
//
//   p(w | s) = p(s, w)                   if (s, w) is listed
//            = bow(s) p(w | suf s)       otherwise
//
// Max-backoff (Carter, Dymetman & Bouchard 2012, section 2.3), exact for every
// closed back-off table, weights above 1 included. The maxima run over s
// itself and all longer contexts that end in s; <s> only starts a context.
//   mb(s)    = bow(s) max(1, max over left extensions c of s of mb(c))
//   mf(s, w) = max( p(w | s) max(1, max over c that do not list w of mb(c)),
//                   max over c that list w of mf(c, w) )
// and for an unlisted (s, w) the maximum is mb(s) p(w | suf s).
#pragma once

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hiddenite/base/column.hpp"
#include "hiddenite/base/types.hpp"
#include "hiddenite/lm/vocabulary.hpp"

namespace hiddenite::base {
class Container;
}

namespace hiddenite::lm {

inline constexpr NodeId ROOT = 0;
inline constexpr NodeId NO_NODE = std::numeric_limits<NodeId>::max();

struct NgramTable {
  Vocabulary vocabulary;
  int order = 0;
  bool unknown_is_listed = true;      // else <unk> has probability zero
  double begin_log_prob = 0.0;        // the number the file gives <s>; only written back
  std::vector<NodeId> level_begin;    // [n]: first node of level n; [order + 1]: number of nodes
  // Per node.
  Column<WordId> word;                // the last word of the n-gram
  Column<float> log_prob;             // ln p(word | context)
  Column<float> log_max_prob;         // ln mf, rounded up
  Column<NodeId> suffix;              // the n-gram without its first word
  // Per node below the top order.
  Column<float> log_backoff;          // ln bow
  Column<float> log_max_backoff;      // ln mb, rounded up
  Column<NodeId> first_child;         // one more entry than nodes
  // The nodes that were inserted to close the table, in order.
  Column<NodeId> implied;
  // Where the columns lie if the table was compiled; else none.
  std::shared_ptr<const Container> container;

  NodeId num_nodes() const { return level_begin[order + 1]; }
  NodeId num_contexts() const { return level_begin[order]; }  // root included
  std::size_t num_ngrams(int n) const { return level_begin[n + 1] - level_begin[n]; }
  std::size_t bytes() const;

  NodeId child(NodeId context, WordId w) const;  // NO_NODE if unlisted

  // The context in which a sentence begins.
  NodeId start() const { return order > 1 ? 1 + SENTENCE_BEGIN : ROOT; }
  // The longest context that arc leaves behind.
  NodeId context_after(NodeId arc) const { return arc < num_contexts() ? arc : suffix[arc]; }
  // ln p(w | state), state moved on. <s> has probability zero everywhere.
  double step(NodeId& state, WordId w) const;

  double conditional(WordId w, std::span<const WordId> context) const;
  double max_conditional(WordId w, std::span<const WordId> context) const;

  // Calls visit(node, words) for the nodes begin .. end of level n in order.
  template <class Visit>
  void for_each_ngram(int n, NodeId begin, NodeId end, Visit visit) const;
  // The context that lists the node, which is on level 2 or above.
  NodeId parent(NodeId node) const;

 private:
  struct Place {
    NodeId node;    // of the longest listed suffix of the context
    bool complete;  // it is the whole context (the last order - 1 words)
  };
  Place locate(std::span<const WordId> context) const;
};

// The n-grams of one order as read or estimated: rows of n words.
struct NgramLevel {
  int n = 1;
  std::vector<WordId> words;       // n per row
  std::vector<float> log_prob;
  std::vector<float> log_backoff;  // empty: all zero
  std::size_t size() const { return log_prob.size(); }
};

// A row that repeats another; `row` counts from 0 in the order given.
struct DuplicateNgram {
  int n;
  std::size_t row;
};

// Sorts, closes and links levels; fills in the max columns.
class TableBuilder {
 public:
  explicit TableBuilder(Vocabulary vocabulary) { table_.vocabulary = std::move(vocabulary); }
  // Levels come in order: first the unigrams, one for each word in order of id.
  // A level is sorted in the background while the caller makes the next one.
  void add(NgramLevel level);
  // Throws DuplicateNgram. Call once.
  NgramTable finish();
  const Vocabulary& vocabulary() const { return table_.vocabulary; }

 private:
  NgramTable table_;
  std::vector<std::future<NgramLevel>> levels_;
};

// Makes log_max_prob and log_max_backoff from the other columns.
void fill_max_columns(NgramTable& table);

// The float nearest to x from above.
inline float round_up(double x) {
  const auto f = static_cast<float>(x);
  return f < x ? std::nextafterf(f, std::numeric_limits<float>::infinity()) : f;
}

// ---------------------------------------------------------------------------

inline NodeId NgramTable::child(NodeId context, WordId w) const {
  if (context == ROOT) return 1 + w;
  const NodeId begin = first_child[context];
  NodeId size = first_child[context + 1] - begin;
  if (size == 0) return NO_NODE;
  const WordId* base = word.data() + begin;
  while (size > 1) {
    const NodeId half = size / 2;
    base += base[half] <= w ? half : 0;
    size -= half;
  }
  return *base == w ? static_cast<NodeId>(base - word.data()) : NO_NODE;
}

inline double NgramTable::step(NodeId& state, WordId w) const {
  double log_weight = 0.0;
  NodeId arc = child(state, w);
  while (arc == NO_NODE) {
    log_weight += log_backoff[state];
    state = suffix[state];
    arc = child(state, w);
  }
  state = context_after(arc);
  return log_weight + log_prob[arc];
}

inline NodeId NgramTable::parent(NodeId node) const {
  const auto after = std::upper_bound(first_child.begin(), first_child.end() - 1, node);
  return static_cast<NodeId>(after - first_child.begin()) - 1;
}

template <class Visit>
void NgramTable::for_each_ngram(int n, NodeId begin, NodeId end, Visit visit) const {
  if (begin >= end) return;
  std::vector<WordId> words(n);
  std::vector<NodeId> path(n + 1);  // [k]: the ancestor on level k
  path[n] = begin;
  for (int k = n - 1; k >= 1; --k) path[k] = parent(path[k + 1]);
  for (int k = 1; k < n; ++k) words[k - 1] = word[path[k]];
  for (NodeId node = begin; node < end; ++node) {
    path[n] = node;
    for (int k = n - 1; k >= 1 && path[k + 1] >= first_child[path[k] + 1]; --k) {
      do ++path[k];
      while (path[k + 1] >= first_child[path[k] + 1]);
      words[k - 1] = word[path[k]];
    }
    words[n - 1] = word[node];
    visit(node, std::span<const WordId>(words));
  }
}

}  // namespace hiddenite::lm
