#include "engine.hpp"

#include <algorithm>
#include <map>

#include "error.hpp"
#include "parallel.hpp"

namespace hiddenite {

const StateIndex& Engine::index(bool ends) const {
  std::call_once(built_[ends], [&] { index_[ends] = std::make_unique<StateIndex>(table_, ends); });
  return *index_[ends];
}

double path_log_weight(const NgramTable& table, const Reading& reading,
                       const std::vector<std::uint32_t>& path, bool ends) {
  NodeId state = table.start();
  double log_weight = 0.0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t c = reading.begin[i] + path[i];
    log_weight += table.step(state, reading.words[c]);
    log_weight += reading.log_weights[c];
  }
  if (ends) log_weight += table.step(state, SENTENCE_END);
  return log_weight;
}

WalkDecoder& Workspace::walker(bool ends) {
  if (!walkers_[ends]) walkers_[ends] = std::make_unique<WalkDecoder>(engine_.index(ends));
  return *walkers_[ends];
}

namespace {

// One task on one record; the answer is filled in by the function of its kind.
class Solver {
 public:
  Solver(const Engine& engine, WalkDecoder& walker, const Reading& reading, const Task& task,
         std::uint64_t stream, Answer& answer)
      : engine_(engine), walker_(walker), reading_(reading), task_(task), stream_(stream), answer_(answer),
        candidates_(Candidates::from_csr(reading.begin, reading.words, reading.log_weights, task.ends)) {}

  void run() {
    switch (task_.kind) {
      case Task::Kind::DECODE: return decode();
      case Task::Kind::KBEST: return kbest();
      case Task::Kind::SAMPLE: return sample();
      case Task::Kind::MARGINALS: return marginals();
      case Task::Kind::MBR: return mbr();
    }
  }

 private:
  void add_path(std::vector<std::uint32_t> path) {
    answer_.log_weights.push_back(path_log_weight(engine_.table(), reading_, path, task_.ends));
    answer_.words.emplace_back();
    for (std::size_t i = 0; i < path.size(); ++i) {
      answer_.words.back().emplace_back(reading_.word(engine_.table().vocabulary, i, path[i]));
    }
    answer_.paths.push_back(std::move(path));
  }

  std::vector<std::uint32_t> best_candidates(const WordPath& path) const {
    std::vector<std::uint32_t> result(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) {
      const Slot& slot = candidates_.slots[i];
      result[i] = slot.candidate[slot.begin[path[i]]];
    }
    return result;
  }

  void decode() {
    const Decoded decoded = walker_.decode(candidates_, task_.method != Method::FULL, task_.budget);
    add_path(best_candidates(decoded.path));
    answer_.certificate = decoded.certificate;
  }

  void kbest() {
    KBest best = walker_.kbest(candidates_, task_.count, task_.method != Method::FULL, task_.budget);
    for (auto& path : best.paths) add_path(std::move(path));
    answer_.certificate = best.certificate;
  }

  FullPosterior posterior() {
    FullPosterior result(engine_.index(task_.ends), candidates_);
    answer_.log_partition = result.log_partition();
    answer_.certificate.exact = true;
    answer_.certificate.method = Method::FULL;
    answer_.certificate.states = result.num_states();
    return result;
  }

  void sample() {
    FullPosterior full = posterior();
    Random random(task_.seed, stream_);
    std::map<std::vector<std::uint32_t>, std::uint32_t> seen;
    std::vector<std::uint32_t> path;
    for (std::uint64_t i = 0; i < task_.count; ++i) {
      full.sample(random, path);
      const auto [place, is_new] = seen.try_emplace(path, static_cast<std::uint32_t>(answer_.paths.size()));
      if (is_new) {
        add_path(path);
        answer_.counts.push_back(0);
      }
      ++answer_.counts[place->second];
      answer_.draws.push_back(place->second);
    }
    answer_.trials = task_.count;
  }

  std::vector<std::vector<double>> slot_marginals() {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < reading_.length(); ++i) sizes.push_back(reading_.begin[i + 1] - reading_.begin[i]);
    return posterior().marginals(sizes);
  }

  void marginals() {
    answer_.marginals = slot_marginals();
    for (std::size_t i = 0; i < reading_.length(); ++i) {
      answer_.slot_words.emplace_back();
      for (std::size_t c = 0; c < answer_.marginals[i].size(); ++c) {
        answer_.slot_words.back().emplace_back(reading_.word(engine_.table().vocabulary, i, c));
      }
    }
  }

  // Positions are fixed, so the least expected number of wrong words is had slot by slot.
  void mbr() {
    std::vector<std::uint32_t> path;
    for (const std::vector<double>& slot : slot_marginals()) {
      const auto best = std::max_element(slot.begin(), slot.end());
      path.push_back(static_cast<std::uint32_t>(best - slot.begin()));
      answer_.expected_errors += 1.0 - *best;
    }
    add_path(std::move(path));
    answer_.certificate.upper = answer_.certificate.lower = answer_.log_weights.front();
  }

  const Engine& engine_;
  WalkDecoder& walker_;
  const Reading& reading_;
  const Task& task_;
  std::uint64_t stream_;
  Answer& answer_;
  Candidates candidates_;
};

}  // namespace

Answer Workspace::answer(const Reading& reading, const Task& task, std::uint64_t stream) {
  Answer answer;
  answer.id = reading.id;
  answer.id_is_integer = reading.id_is_integer;
  try {
    Solver(engine_, walker(task.ends), reading, task, stream, answer).run();
  } catch (const EmptySupport& e) {
    answer.status = Answer::Status::EMPTY_SUPPORT;
    answer.error = e.what();
    answer.position = e.position;
  } catch (const ModelError& e) {
    answer.status = Answer::Status::BAD_RECORD;
    answer.error = e.what();
  }
  return answer;
}

namespace {

// Calls work(i, workspace) for each record, one workspace a thread.
template <class Work>
std::vector<Answer> answer_all(const Engine& engine, std::size_t count, int threads, Work work) {
  std::vector<Answer> answers(count);
  std::vector<std::unique_ptr<Workspace>> workspaces(static_cast<std::size_t>(resolve_threads(threads)));
  parallel_for(count, threads, [&](std::size_t i, int thread) {
    auto& workspace = workspaces[static_cast<std::size_t>(thread)];
    if (!workspace) workspace = std::make_unique<Workspace>(engine);
    answers[i] = work(i, *workspace);
  });
  return answers;
}

}  // namespace

std::vector<Answer> answer_readings(const Engine& engine, const std::vector<const Reading*>& readings,
                                    const Task& task, std::uint64_t first_stream, int threads) {
  return answer_all(engine, readings.size(), threads, [&](std::size_t i, Workspace& workspace) {
    return workspace.answer(*readings[i], task, first_stream + i);
  });
}

std::vector<Answer> answer_lines(const Engine& engine, const Channel& channel,
                                 const std::vector<std::string_view>& lines, const Task& task,
                                 std::uint64_t first_stream, int threads) {
  return answer_all(engine, lines.size(), threads, [&](std::size_t i, Workspace& workspace) {
    Reading reading;
    try {
      reading = channel.read(lines[i]);
    } catch (const ModelError& e) {
      Answer answer;
      answer.status = Answer::Status::BAD_RECORD;
      answer.error = e.what();
      return answer;
    }
    return workspace.answer(reading, task, first_stream + i);
  });
}

}  // namespace hiddenite
