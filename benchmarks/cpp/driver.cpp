// Times methods on one language model, without an interpreter in between.
//
//   engine_driver LM.arpa
//
// Commands on standard input, words separated by spaces; answers on standard
// output, a line `end` after each:
//
//   keypad AMBIGUITY KEEP FILE   read observations; KEEP 0 keeps all candidates
//   slots FILE                   the same from JSON lines
//   time REPEATS CAP ASK...      ask every record, by every ASK in turn, REPEATS
//                                times over; a line per record and ASK
//   batch REPEATS THREADS ASK    all records at once; a line with the seconds
//
// An ASK is LEVEL:KIND:METHOD[:COUNT[:BATCH]][:epsilon=SHARE]:
//   engine:decode:auto      as users ask: candidates in, answer with words out
//   direct:decode:full      the method alone, on candidates made ready before
//   direct:beam:sparse:10   beam search (beam.hpp), on the same
//   engine:kbest:dominance:100   engine:sample:paper:1000:100   direct:marginals:full:epsilon=0
// CAP is a budget in seconds (0: none). Times are of the thread's processor, so
// that what else the machine does costs little; the best of the repeats counts.
// Repeats go over all records, so that no record finds its own data in cache.
//
// A result: record, ask, best seconds, median seconds, log weight, exact,
// method, states, refinements, trials.
#include <ctime>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "beam.hpp"
#include "hiddenite/channel/keypad.hpp"
#include "hiddenite/channel/slots_json.hpp"
#include "hiddenite/exact/engine.hpp"
#include "read_table.hpp"

using namespace hiddenite::exact;

namespace {

constexpr const char* METHOD_NAMES[] = {"auto", "refine", "paper", "full", "dominance", "sparse"};

struct Result {
  double log_weight = LOG_ZERO;
  bool exact = false;
  Method method = Method::AUTO;
  std::uint64_t states = 0, refinements = 0, trials = 0;
};

Result result_of(double log_weight, const Certificate& c) {
  return {log_weight, c.exact(), c.method(), c.states(), c.refinements(), 0};
}

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

Method method_named(const std::string& name) {
  for (int m = 0; m < 5; ++m) {
    if (name == METHOD_NAMES[m]) return static_cast<Method>(m);
  }
  throw std::runtime_error("no method " + name);
}

Task make_task(std::vector<std::string> parts, double cap) {
  static const std::map<std::string, Task::Kind> kinds{{"decode", Task::Kind::DECODE},
                                                       {"kbest", Task::Kind::KBEST},
                                                       {"sample", Task::Kind::SAMPLE},
                                                       {"marginals", Task::Kind::MARGINALS}};
  Task task;
  task.kind = kinds.at(parts.at(1));
  task.method = method_named(parts.at(2));
  if (const std::string prefix = "epsilon="; parts.back().starts_with(prefix)) {
    task.epsilon = std::stod(parts.back().substr(prefix.size()));
    parts.pop_back();
  }
  if (parts.size() > 3) task.count = std::stoull(parts[3]);
  if (parts.size() > 4) task.sampler.batch = std::stoull(parts[4]);
  if (cap > 0.0) task.budget.seconds = cap;
  return task;
}

class Driver {
 public:
  explicit Driver(NgramTable table) : table_(std::move(table)), engine_(table_), workspace_(engine_) {
    engine_.index(true);  // building it is no part of any time
  }

  void read(const Channel& channel, const std::string& file) {
    readings_.clear();
    candidates_.clear();
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file);
    for (std::string line; std::getline(in, line);) readings_.push_back(channel.read(line));
    std::size_t num_words = 0, num_slots = 0;
    for (const Reading& r : readings_) {
      candidates_.push_back(Candidates::from_csr(r.begin, r.words, r.log_weights, true));
      num_words += r.words.size();
      num_slots += r.length();
    }
    std::printf("%zu %zu %zu\n", readings_.size(), num_slots, num_words);
  }

  void read_keypad(double ambiguity, std::size_t keep, const std::string& file) {
    read(KeypadChannel(table_, KeypadNoise(ambiguity), keep ? keep : KEEP_ALL), file);
  }
  void read_slots(const std::string& file) { read(SlotsChannel(table_, KEEP_ALL), file); }

  void time(int repeats, double cap, const std::vector<std::string>& asks) {
    std::vector<std::vector<std::vector<double>>> seconds(
        asks.size(), std::vector<std::vector<double>>(readings_.size()));
    std::vector<std::vector<Result>> results(asks.size(), std::vector<Result>(readings_.size()));
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (std::size_t a = 0; a < asks.size(); ++a) {
        const auto ask = make_ask(asks[a], cap);
        for (std::size_t i = 0; i < readings_.size(); ++i) {
          const double begin = processor_seconds();
          results[a][i] = ask(i);
          seconds[a][i].push_back(processor_seconds() - begin);
        }
      }
    }
    for (std::size_t i = 0; i < readings_.size(); ++i) {
      for (std::size_t a = 0; a < asks.size(); ++a) print(i, asks[a], seconds[a][i], results[a][i]);
    }
  }

  void batch(int repeats, int threads, const std::string& ask) {
    const Task task = make_task(split(ask, ':'), 0.0);
    std::vector<const Reading*> readings;
    for (const Reading& reading : readings_) readings.push_back(&reading);
    double best = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const auto begin = std::chrono::steady_clock::now();
      answer_readings(engine_, readings, task, 0, threads);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::printf("%.9g\n", best);
  }

 private:
  using Ask = std::function<Result(std::size_t)>;

  Ask make_ask(const std::string& text, double cap) {
    const std::vector<std::string> parts = split(text, ':');
    if (parts.at(0) == "engine") return ask_engine(make_task(parts, cap));
    if (parts.at(1) == "beam") return ask_beam(parts.at(2), std::stoul(parts.at(3)));
    return ask_method(make_task(parts, cap));
  }

  Ask ask_engine(const Task& task) {
    return [this, task](std::size_t i) {
      const Answer answer = workspace_.answer(readings_[i], task, i);
      if (answer.status != Answer::Status::DONE) throw std::runtime_error(answer.error);
      const double log_weight =
          answer.log_weights.empty() ? answer.log_partition.upper : answer.log_weights.front();
      const bool exact = answer.certificate ? answer.certificate->exact() : true;
      return Result{log_weight, exact, answer.method, answer.states, answer.refinements, answer.trials};
    };
  }

  Ask ask_method(const Task& task) {
    if (task.kind == Task::Kind::SAMPLE || task.kind == Task::Kind::MARGINALS) return ask_sum(task);
    if (task.kind == Task::Kind::KBEST) {
      return [this, task](std::size_t i) {
        const KBest best = workspace_.walker(true).kbest(candidates_[i], task.count,
                                                         task.method == Method::DOMINANCE,
                                                         Deadline(task.budget));
        return result_of(best.log_weights.front() + candidates_[i].log_offset, best.certificate);
      };
    }
    return [this, task](std::size_t i) {
      const Decoded decoded = decode(candidates_[i], task);
      return result_of(decoded.log_weight + candidates_[i].log_offset, decoded.certificate);
    };
  }

  Ask ask_sum(const Task& task) {
    return [this, task](std::size_t i) {
      FullPosterior& posterior = workspace_.posterior(true);
      posterior.observe(candidates_[i], Deadline(task.budget), task.epsilon);
      if (task.kind == Task::Kind::SAMPLE) {
        Random random(1, i);
        posterior.sample(task.count, random);
      } else {
        std::vector<std::size_t> sizes;
        for (const Slot& slot : candidates_[i].slots) sizes.push_back(slot.candidate.size());
        posterior.marginals(sizes);
      }
      return Result{posterior.log_partition() + candidates_[i].log_offset, true, Method::FULL,
                    posterior.num_states()};
    };
  }

  Decoded decode(const Candidates& candidates, const Task& task) {
    const Deadline deadline(task.budget);
    if (task.method == Method::REFINE || task.method == Method::PAPER) {
      return decode_by_refining(table_, candidates, task.method, deadline);
    }
    return workspace_.walker(true).decode(candidates, task.method == Method::DOMINANCE, deadline);
  }

  Ask ask_beam(const std::string& kind, std::size_t width) {
    using hiddenite::bench::BeamKind;
    const auto beam = std::make_shared<hiddenite::bench::Beam>(
        engine_.index(true), width, kind == "sparse" ? BeamKind::SPARSE : BeamKind::DENSE);
    return [this, beam](std::size_t i) {
      const Decoded decoded = beam->decode(candidates_[i]);
      return result_of(decoded.log_weight + candidates_[i].log_offset, decoded.certificate);
    };
  }

  static void print(std::size_t i, const std::string& ask, std::vector<double>& seconds, const Result& result) {
    std::sort(seconds.begin(), seconds.end());
    std::printf("%zu %s %.9g %.9g %.17g %d %s %llu %llu %llu\n", i, ask.c_str(), seconds.front(),
                seconds[seconds.size() / 2], result.log_weight, result.exact,
                METHOD_NAMES[static_cast<int>(result.method)], static_cast<unsigned long long>(result.states),
                static_cast<unsigned long long>(result.refinements),
                static_cast<unsigned long long>(result.trials));
  }

  NgramTable table_;
  Engine engine_;
  Workspace workspace_;
  std::vector<Reading> readings_;
  std::vector<Candidates> candidates_;
};

void obey(Driver& driver, const std::string& line) {
  std::istringstream stream(line);
  std::string command;
  stream >> command;
  const std::vector<std::string> rest{std::istream_iterator<std::string>(stream), {}};
  if (command == "keypad") return driver.read_keypad(std::stod(rest.at(0)), std::stoul(rest.at(1)), rest.at(2));
  if (command == "slots") return driver.read_slots(rest.at(0));
  if (command == "time") {
    return driver.time(std::stoi(rest.at(0)), std::stod(rest.at(1)), {rest.begin() + 2, rest.end()});
  }
  if (command == "batch") return driver.batch(std::stoi(rest.at(0)), std::stoi(rest.at(1)), rest.at(2));
  throw std::runtime_error("no command " + command);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: engine_driver LM.arpa");
  Driver driver(hiddenite::bench::read_table(argv[1]));
  for (std::string line; std::getline(std::cin, line);) {
    obey(driver, line);
    std::puts("end");
    std::fflush(stdout);
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "engine_driver: %s\n", e.what());
  return 1;
}
