#include "hiddenite/exact/tagging.hpp"

#include <algorithm>
#include <memory>

#include "hiddenite/base/parallel.hpp"

namespace hiddenite::exact {

// Adds the states of the next position, reached from those from `first` on. After
// a word w all states end in w, so equal ones are found among those of w.
bool SparseViterbi::advance(const Reading& reading, std::size_t slot, std::size_t first) {
  const std::size_t last = states_.size();
  const auto size = static_cast<std::uint32_t>(reading.begin[slot + 1] - reading.begin[slot]);
  if (size * (last - first) > MAX_STEPS) return false;
  for (std::uint32_t k = 0; k < size; ++k) {
    const std::size_t candidate = reading.begin[slot] + k;
    const std::size_t of_word = states_.size();
    for (std::size_t i = first; i < last; ++i) {
      NodeId node = states_[i].node;
      double log_weight = states_[i].log_weight;
      log_weight += table_.step(node, reading.words[candidate]);
      log_weight += reading.log_weights[candidate];
      if (log_weight == LOG_ZERO) continue;
      const auto same = std::find_if(states_.begin() + static_cast<std::ptrdiff_t>(of_word), states_.end(),
                                     [&](const State& s) { return s.node == node; });
      const State reached{node, static_cast<std::uint32_t>(i), k, log_weight};
      if (same == states_.end()) {
        states_.push_back(reached);
      } else if (log_weight > same->log_weight) {
        *same = reached;
      }
    }
  }
  return states_.size() > last;
}

bool SparseViterbi::decode(const Reading& reading, bool ends, std::vector<std::uint32_t>& path,
                           double& log_weight) {
  states_.clear();
  states_.push_back({table_.start(), 0, 0, 0.0});
  std::size_t first = 0;
  for (std::size_t slot = 0; slot < reading.length(); ++slot) {
    const std::size_t next = states_.size();
    if (!advance(reading, slot, first)) return false;
    first = next;
  }
  std::size_t best = first;
  log_weight = LOG_ZERO;
  for (std::size_t i = first; i < states_.size(); ++i) {
    NodeId node = states_[i].node;
    const double total = states_[i].log_weight + (ends ? table_.step(node, SENTENCE_END) : 0.0);
    if (total > log_weight) {
      log_weight = total;
      best = i;
    }
  }
  follow(best, reading.length(), path);
  return log_weight != LOG_ZERO;
}

void SparseViterbi::follow(std::size_t last, std::size_t length, std::vector<std::uint32_t>& path) const {
  path.resize(length);
  for (std::size_t slot = length; slot-- > 0; last = states_[last].before) path[slot] = states_[last].choice;
}

namespace {

// One thread's part of the work.
class SentenceTagger {
 public:
  SentenceTagger(const Engine& engine, const TagChannel& channel)
      : channel_(channel), viterbi_(engine.table()), workspace_(engine) {
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
    if (viterbi_.decode(reading, true, path_, result.log_weight)) {
      result.certificate = {.exact = true,
                            .upper = result.log_weight,
                            .lower = result.log_weight,
                            .method = Method::FULL,
                            .refinements = 0,
                            .states = viterbi_.num_states()};
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
    if (!tagger) tagger = std::make_unique<SentenceTagger>(engine, channel);
    results[i] = tagger->tag(sentences, i);
  });
  return results;
}

}  // namespace hiddenite::exact
