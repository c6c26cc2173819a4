// Pruning by relative entropy (Stolcke 1998): an n-gram goes if the model hardly
// changes without it.
//
// Let f(s, w) be how often per word the model, left to itself, predicts w by
// the n-gram (s, w), and u(s) how often it backs off from s. Without (s, w) the
// context's back-off weight a becomes a', w gets a' p(w | suf s), and the
// relative entropy of the two models, per word, is
//   D(s, w) = f(s, w) [ln p(w | s) - ln a' - ln p(w | suf s)] + u(s) [ln a - ln a'].
// An n-gram goes if exp(D) - 1 < threshold: the relative rise of perplexity.
//
// Where f and u come from:
//   TEXT     how often new text of the same kind is in each state of the model. The
//            text that the model was trained on is won back from it: where
//              p(w | s) = u(w | s) + bow(s) p(w | suf s)
//            is interpolated, u is a discounted relative frequency and bow(s) the sum of
//            the discounts, so c(s, w) / c(s) = u(w | s) + bow(s) / (number of successors). The
//            stationary distribution of these frequencies has the contexts as often as
//            the text has them. In new text only the share u / (u + bow / number) of a context's
//            occurrences comes again; the others are in the state of its suffix.
//            D is an estimate then, and an n-gram is kept for what it seems to gain: those that
//            were seen once gain less than they seem to, those seen often gain more. So D is
//            multiplied by the third power of what discounting has left of the count,
//            u / (u + bow / number), which is a rule of thumb.
//   EXACT    the stationary distribution of the model's own states. Contexts that
//            are reached by backing off count as often as they are; so D is the true
//            relative entropy, whatever the smoothing (tests enumerate it). But discounts
//            multiply along a path: left to itself, a model seldom says what it has seen
//            often, so long n-grams are thought less of than text would have it.
//   STOLCKE  f(s, w) = p(s) p(w | s) with p(s) by the chain rule, as published and
//            as in SRILM. Lower orders of a Kneser-Ney model are no marginals of it:
//            there this p(s) misleads (Chelba et al. 2010).
//
// Orders are pruned from the highest down, each with the distribution of what is
// left of those above it. An n-gram stays if one that stays has it as its context
// or as its suffix: so the table stays closed, and no other context changes.
//
// Cost: some 20 passes over the table, EXACT for each order; eight bytes a node twice.
#pragma once

#include <vector>

#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

enum class Histories { TEXT, EXACT, STOLCKE };

// D of each node of order 2 and above if it alone went; NaN where it must stay.
std::vector<double> relative_entropies(const NgramTable& table, Histories histories);

NgramTable prune_by_entropy(const NgramTable& table, double threshold, Histories histories);

// At most `keep` n-grams, by a threshold that leaves half a per cent fewer at the most, if there is one.
struct PrunedToSize {
  NgramTable table;
  double threshold;
};
PrunedToSize prune_to_size(const NgramTable& table, std::size_t keep, Histories histories);

}  // namespace hiddenite::lm
