// Many records at once: one workspace a thread, answers in the order of the records.
#include <deque>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/exact/engine.hpp"

namespace hiddenite::exact {

namespace {

// Calls work(i, workspace) for each record, one workspace a thread.
template <class Work>
std::vector<Answer> answer_all(const Engine& engine, std::size_t count, int threads, Work work) {
  std::vector<Answer> answers(count);
  const std::size_t num_threads = std::min(static_cast<std::size_t>(resolve_threads(threads)), count);
  std::deque<Engine::Loan> loans;
  for (std::size_t t = 0; t < num_threads; ++t) loans.emplace_back(engine);
  parallel_for(count, threads, [&](std::size_t i, int thread) {
    answers[i] = work(i, loans[static_cast<std::size_t>(thread)].workspace());
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

}  // namespace hiddenite::exact
