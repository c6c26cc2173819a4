// Tables made from tables: what mixing, pruning, filtering and limiting share.
//
// A new table is made of rows (n-grams with probabilities) that are closed, as
// those of a finished table are: with an n-gram its context and its suffix are
// listed. Then the back-off weight that makes a context sum to one needs only
// numbers that stand beside each other:
//   bow(s) = (1 - sum over listed w of p(w | s)) / (1 - sum over listed w of p(w | suf s))
#pragma once

#include <functional>
#include <vector>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

// The same words, in memory of their own.
Vocabulary copy_words(const Vocabulary& words);

// One minus the listed probabilities of context s, and one minus those of its suffix for the same words; `keeps`
// says which arcs are there.
struct FreeMass {
  double own = 1.0, suffix = 1.0;
};
template <class Keeps>
FreeMass free_mass(const NgramTable& table, NodeId s, Keeps keeps) {
  FreeMass mass;
  for (NodeId a = table.first_child[s]; a < table.first_child[s + 1]; ++a) {
    if (!keeps(a)) continue;
    mass.own -= std::exp(double{table.log_prob[a]});
    mass.suffix -= std::exp(double{table.log_prob[table.suffix[a]]});
  }
  return mass;
}

// ln of the weight that makes the context sum to one. What is left over after rounding is no mass: a weight of
// zero would make words impossible that are only rare, so at least LEAST_MASS is left to them.
inline constexpr double LEAST_MASS = 1e-9;
double log_backoff_of(const FreeMass& mass);

// Gives all contexts the weights that make them sum to one, and makes the max columns anew. The table owns its columns.
void renormalize(NgramTable& table);

// The n-grams that `keeps` says, with the numbers that the functions give; words and order from the table.
using NodeNumber = std::function<float(NodeId)>;
NgramTable rebuild(const NgramTable& table, const std::function<bool(NodeId)>& keeps, const NodeNumber& log_prob,
                   const NodeNumber& log_backoff);

// A model whose logarithms are multiplied: ln p'(w | s) = weight ln p(w | s), back-off weights likewise, each rounded
// to a float as those of a file are. It is a back-off table with bounds of its own, so that every exact method takes
// it; its contexts do not sum to one. Impossible words stay impossible, with a weight of 0 too. Without `begins`,
// sentences begin in the middle of a text: <s> says nothing about what follows.
NgramTable weigh_table(const NgramTable& table, double weight, bool begins);

// The model of the n-grams up to `order`.
NgramTable limit_order(const NgramTable& table, int order);

// The n-grams of some words (<unk>, <s> and </s> stay). Without renormalisation the others' mass is lost. With it
// the model is the conditional one, given that every word is one of them:
//   p'(w | s) = p(w | s) / Z(s),   bow'(s) = bow(s) Z(suf s) / Z(s),   Z(s) = sum over the words of p(w | s).
NgramTable filter_words(const NgramTable& table, const std::vector<std::string>& words, bool with_renormalization);

}  // namespace hiddenite::lm
