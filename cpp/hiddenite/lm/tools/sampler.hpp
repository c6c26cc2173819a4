// Sentences drawn from an n-gram model, one word after the other, exactly.
//
// In state s the next word is one that s lists, with probability
//   sum over listed w of p(w | s) / total,
// or else a word that it does not list, drawn by the same rule from its suffix
// again and again until it is such a word. The root draws from sums of the
// unigrams. A model whose contexts do not sum to one is drawn from as if each
// context were divided by its sum.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/base/random.hpp"
#include "hiddenite/lm/ngram.hpp"

namespace hiddenite::lm {

class SentenceSampler {
 public:
  explicit SentenceSampler(const NgramTable& table);

  // A word that follows `state`.
  WordId draw_word(NodeId state, Random& random) const;
  // The words after `prefix` until </s>, at most `most_words`; `ended` says whether </s> was drawn.
  struct Draw {
    std::vector<WordId> words;
    double log_prob;  // of the words drawn, given the prefix; </s> included if it was drawn
    bool ended;
  };
  Draw draw(std::string_view prefix, std::size_t most_words, Random& random) const;

 private:
  const NgramTable& table_;
  std::vector<double> cumulative_;  // of the unigrams
};

}  // namespace hiddenite::lm
