// Many sentences tagged at once: the fast door to the engine for a tagger.
//
// Most words have one or two tags, so the method `sparse` wins. A sentence that
// would take too many steps at one position (unseen words in a row) goes to the
// engine's choice of methods.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hiddenite/channel/tag_channel.hpp"
#include "hiddenite/exact/engine.hpp"
#include "hiddenite/exact/sparse_viterbi.hpp"

namespace hiddenite::exact {

struct TaggedSentence {
  Answer::Status status = Answer::Status::DONE;
  std::string error;
  std::size_t position = 0;
  std::vector<WordId> symbols;
  double log_weight = 0.0;
  std::optional<Certificate> certificate;  // where status is DONE
};

// Words of many sentences in a row: sentence i has those from begin[i] to
// begin[i + 1]; word j is text[word_begin[j] .. word_begin[j + 1]].
struct SentenceWords {
  std::string text;
  std::vector<std::size_t> word_begin{0};
  std::vector<std::size_t> begin{0};
  std::size_t size() const { return begin.size() - 1; }
};

// The best tags of each sentence, in order, the same for any number of threads.
std::vector<TaggedSentence> tag_sentences(const Engine& engine, const TagChannel& channel,
                                      const SentenceWords& sentences, int threads);

}  // namespace hiddenite::exact
