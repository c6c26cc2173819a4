#include "tagging.hpp"

#include <algorithm>
#include <memory>

#include "error.hpp"
#include "parallel.hpp"

namespace hiddenite {

// Adds the states of the next position, reached from those from `first` on. After
// a word w all states end in w, so equal ones are found among those of w.
bool SparseViterbi::advance(const Reading& reading, std::size_t slot, std::size_t first) {
  const std::size_t last = states_.size();
  const auto size = static_cast<std::uint32_t>(reading.begin[slot + 1] - reading.begin[slot]);
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
    if (states_.size() - last > MAX_STATES) return false;
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
class LineTagger {
 public:
  explicit LineTagger(const Engine& engine) : engine_(engine), viterbi_(engine.table()), workspace_(engine) {}

  TaggedLine tag(const Reading& reading, std::uint64_t stream) {
    TaggedLine result;
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
    const Answer answer = workspace_.answer(reading, Task{}, stream);
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
  static void add_symbols(const Reading& reading, const std::vector<std::uint32_t>& path, TaggedLine& result) {
    result.symbols.resize(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) result.symbols[i] = reading.words[reading.begin[i] + path[i]];
  }

  const Engine& engine_;
  SparseViterbi viterbi_;
  Workspace workspace_;
  std::vector<std::uint32_t> path_;
};

}  // namespace

std::vector<TaggedLine> tag_lines(const Engine& engine, const Channel& channel,
                                  const std::vector<std::string_view>& lines, int threads) {
  std::vector<TaggedLine> results(lines.size());
  std::vector<std::unique_ptr<LineTagger>> taggers(static_cast<std::size_t>(resolve_threads(threads)));
  parallel_for(lines.size(), threads, [&](std::size_t i, int thread) {
    auto& tagger = taggers[static_cast<std::size_t>(thread)];
    if (!tagger) tagger = std::make_unique<LineTagger>(engine);
    try {
      results[i] = tagger->tag(channel.read(lines[i]), i);
    } catch (const ModelError& e) {
      results[i].status = Answer::Status::BAD_RECORD;
      results[i].error = e.what();
    }
  });
  return results;
}

}  // namespace hiddenite
