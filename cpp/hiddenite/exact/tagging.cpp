#include "hiddenite/exact/tagging.hpp"

#include <memory>

#include "hiddenite/base/parallel.hpp"

namespace hiddenite::exact {

namespace {

constexpr std::size_t MANY = 64;        // sentences
constexpr std::size_t CHEAP_STEPS = 4;  // steps that are remembered cost so much less

// One thread's part of the work.
class SentenceTagger {
 public:
  SentenceTagger(const Engine& engine, const TagChannel& channel, bool has_many)
      : channel_(channel), viterbi_(engine.table(), has_many),
        max_steps_(SparseViterbi::MAX_STEPS), workspace_(engine) {
    const std::size_t num_steps = std::size_t{engine.table().num_contexts()} * engine.table().vocabulary.size();
    if (has_many && num_steps <= StepMemory::MOST) max_steps_ *= CHEAP_STEPS;
    // Many candidates and short histories are what dominance is best at.
    if (engine.table().order <= 3) task_.method = Method::DOMINANCE;
  }

  TaggedSentence tag(const SentenceWords& sentences, std::size_t i) {
    words_.clear();
    for (std::size_t j = sentences.begin[i]; j < sentences.begin[i + 1]; ++j) {
      const std::size_t begin = sentences.word_begin[j], end = sentences.word_begin[j + 1];
      words_.emplace_back(sentences.text.data() + begin, end - begin);
    }
    const Reading reading = channel_.read_words(words_);
    TaggedSentence result;
    if (viterbi_.decode(reading, true, max_steps_, path_, result.log_weight)) {
      result.certificate = proved(result.log_weight, Method::SPARSE, viterbi_.num_states());
      add_symbols(reading, path_, result);
      return result;
    }
    const Answer answer = workspace_.answer(reading, task_, i);
    result.status = answer.status;
    result.error = answer.error;
    result.position = answer.position;
    if (answer.status == Answer::Status::DONE) {
      result.log_weight = answer.log_weights.front();
      result.certificate = answer.certificate;
      add_symbols(reading, answer.paths.front(), result);
    }
    return result;
  }

 private:
  static void add_symbols(const Reading& reading, const std::vector<std::uint32_t>& path, TaggedSentence& result) {
    result.symbols.resize(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) result.symbols[i] = reading.words[reading.begin[i] + path[i]];
  }

  const TagChannel& channel_;
  std::vector<std::string_view> words_;
  SparseViterbi viterbi_;
  std::size_t max_steps_;
  Workspace workspace_;
  Task task_;
  std::vector<std::uint32_t> path_;
};

}  // namespace

std::vector<TaggedSentence> tag_sentences(const Engine& engine, const TagChannel& channel,
                                          const SentenceWords& sentences, int threads) {
  std::vector<TaggedSentence> results(sentences.size());
  std::vector<std::unique_ptr<SentenceTagger>> taggers(static_cast<std::size_t>(resolve_threads(threads)));
  parallel_for(sentences.size(), threads, [&](std::size_t i, int thread) {
    auto& tagger = taggers[static_cast<std::size_t>(thread)];
    if (!tagger) tagger = std::make_unique<SentenceTagger>(engine, channel, sentences.size() >= MANY);
    results[i] = tagger->tag(sentences, i);
  });
  return results;
}

}  // namespace hiddenite::exact
