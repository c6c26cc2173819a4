#include "hiddenite/lm/tools/sampler.hpp"

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/lm/tools/rebuild.hpp"

namespace hiddenite::lm {

SentenceSampler::SentenceSampler(const NgramTable& table) : table_(table) {
  double total = 0.0;
  for (WordId w = 0; w < table.vocabulary.size(); ++w) {
    const bool is_drawn = w != SENTENCE_BEGIN && (w != UNKNOWN || table.unknown_is_listed);
    if (is_drawn) total += std::exp(double{table.log_prob[1 + w]});
    cumulative_.push_back(total);
  }
  if (!(total > 0.0)) throw ModelError("no word of the model has a positive probability");
}

WordId SentenceSampler::draw_word(NodeId state, Random& random) const {
  if (state == ROOT) return static_cast<WordId>(random.draw(cumulative_));
  const FreeMass mass = free_mass(table_, state, [](NodeId) { return true; });
  const double listed = 1.0 - mass.own;
  const double others = std::exp(double{table_.log_backoff[state]}) * std::max(mass.suffix, 0.0);
  double x = random.uniform() * (listed + others);
  if (mass.suffix <= LEAST_MASS || x < listed) {
    WordId last = NO_WORD;
    if (x >= listed) x = random.uniform() * listed;
    for (NodeId a = table_.first_child[state]; a < table_.first_child[state + 1]; ++a) {
      const double prob = std::exp(double{table_.log_prob[a]});
      if (prob > 0.0) last = table_.word[a];
      x -= prob;
      if (x < 0.0 && prob > 0.0) return last;
    }
    if (last != NO_WORD) return last;
  }
  for (;;) {
    check_interrupt();
    const WordId w = draw_word(table_.suffix[state], random);
    if (table_.child(state, w) == NO_NODE) return w;
  }
}

SentenceSampler::Draw SentenceSampler::draw(std::string_view prefix, std::size_t most_words, Random& random) const {
  Draw result{{}, 0.0, false};
  NodeId state = table_.start();
  for (std::string_view word = next_word(prefix); !word.empty(); word = next_word(prefix)) {
    const WordId w = table_.vocabulary.id_or_unknown(word);
    if (w == SENTENCE_BEGIN || w == SENTENCE_END) throw ModelError("the beginning of a sentence holds no <s> or </s>");
    table_.step(state, w);
  }
  while (result.words.size() < most_words) {
    check_interrupt();
    const WordId w = draw_word(state, random);
    result.log_prob += table_.step(state, w);
    if (w == SENTENCE_END) {
      result.ended = true;
      break;
    }
    result.words.push_back(w);
  }
  return result;
}

}  // namespace hiddenite::lm
