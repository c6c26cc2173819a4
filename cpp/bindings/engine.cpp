#include "hiddenite/exact/engine.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/base/error.hpp"

using namespace hiddenite::exact;
using namespace nb::literals;

namespace {

std::vector<Answer> ask_readings(const Engine& engine, const std::vector<const Reading*>& readings, const Task& task,
                                 std::uint64_t first_stream, int threads) {
  for (const Reading* reading : readings) {
    for (const WordId w : reading->words) {
      if (w >= engine.table().vocabulary.size()) {
        throw ModelError("the candidates have a word number that the model does not have; make them with the model's "
                         "vocabulary");
      }
    }
  }
  const WithoutGil release;
  return answer_readings(engine, readings, task, first_stream, threads);
}

std::vector<Answer> ask_lines(const Engine& engine, const Channel& channel, nb::bytes text, const Task& task,
                              std::uint64_t first_stream, int threads) {
  const std::string_view view(text.c_str(), text.size());
  const WithoutGil release;
  return answer_lines(engine, channel, split_lines(view), task, first_stream, threads);
}

void bind_task(nb::module_& m) {
  nb::enum_<Method>(m, "Method")
      .value("AUTO", Method::AUTO)
      .value("REFINE", Method::REFINE)
      .value("PAPER", Method::PAPER)
      .value("FULL", Method::FULL)
      .value("DOMINANCE", Method::DOMINANCE)
      .value("SPARSE", Method::SPARSE);
  nb::enum_<Task::Kind>(m, "TaskKind")
      .value("DECODE", Task::Kind::DECODE)
      .value("KBEST", Task::Kind::KBEST)
      .value("SAMPLE", Task::Kind::SAMPLE)
      .value("MARGINALS", Task::Kind::MARGINALS)
      .value("MBR", Task::Kind::MBR);
  nb::class_<Task>(m, "Task", "What to ask of each record.")
      .def("__init__",
           [](Task* self, Task::Kind kind, Method method, std::uint64_t count, std::uint64_t seed, double seconds,
              std::uint64_t refinements, std::uint64_t states, bool ends, Strategy strategy, std::uint64_t batch,
              double target_rate, std::uint64_t rate_window, double epsilon) {
             new (self) Task{kind, method, count, seed, Budget{seconds, refinements, states}, ends, strategy,
                             SamplerOptions{.batch = batch, .target_rate = target_rate, .rate_window = rate_window},
                             epsilon};
           },
           "kind"_a, "method"_a, "count"_a, "seed"_a, "seconds"_a, "refinements"_a, "states"_a, "ends"_a,
           "strategy"_a, "batch"_a, "target_rate"_a, "rate_window"_a, "epsilon"_a);
}

void bind_answer(nb::module_& m) {
  nb::enum_<Answer::Status>(m, "Status")
      .value("DONE", Answer::Status::DONE)
      .value("BAD_RECORD", Answer::Status::BAD_RECORD)
      .value("EMPTY_SUPPORT", Answer::Status::EMPTY_SUPPORT);
  nb::class_<Certificate>(m, "CoreCertificate")
      .def_prop_ro("exact", &Certificate::exact)
      .def_prop_ro("upper", &Certificate::upper)
      .def_prop_ro("lower", &Certificate::lower)
      .def_prop_ro("method", &Certificate::method)
      .def_prop_ro("refinements", &Certificate::refinements)
      .def_prop_ro("states", &Certificate::states);
  nb::class_<Answer>(m, "Answer", "What became of one record.")
      .def_ro("status", &Answer::status)
      .def_ro("error", &Answer::error)
      .def_ro("position", &Answer::position)
      .def_ro("id", &Answer::id)
      .def_ro("id_is_integer", &Answer::id_is_integer)
      .def_ro("paths", &Answer::paths)
      .def_ro("routes", &Answer::routes, "The slots of each path, in a lattice.")
      .def_ro("words", &Answer::words)
      .def_ro("log_weights", &Answer::log_weights)
      .def_ro("counts", &Answer::counts)
      .def_ro("draws", &Answer::draws)
      .def_ro("marginals", &Answer::marginals)
      .def_ro("slot_words", &Answer::slot_words)
      .def_prop_ro("spans", [](const Answer& answer) { return to_pairs(answer.spans); },
                   "The nodes that each slot of a lattice leads from and to.")
      .def_ro("certificate", &Answer::certificate, "Of the best path or the k best; None of other questions.")
      .def_ro("method", &Answer::method)
      .def_ro("refinements", &Answer::refinements)
      .def_ro("states", &Answer::states)
      .def_ro("complete", &Answer::complete, "As many samples as were asked for.")
      .def_ro("log_partition", &Answer::log_partition)
      .def_ro("error_bound", &Answer::error_bound, "No probability of a sum is further off; samples: total variation.")
      .def_ro("expected_errors", &Answer::expected_errors)
      .def_ro("least_errors", &Answer::least_errors)
      .def_ro("most_errors", &Answer::most_errors)
      .def_ro("trials", &Answer::trials);
}

}  // namespace

void bind_engine(nb::module_& m) {
#ifdef HIDDENITE_FAULTS
  nb::enum_<SumFault>(m, "SumFault", "Deliberate errors of the bounds of sums; tests of tests only.")
      .value("NONE", SumFault::NONE)
      .value("FORGETS", SumFault::FORGETS)
      .value("TRUSTS_ROOT", SumFault::TRUSTS_ROOT)
      .value("LOOKS_PAST", SumFault::LOOKS_PAST);
  m.def("plant_sum_fault", [](SumFault fault) { planted_sum_fault = fault; }, "fault"_a);
#endif
  bind_task(m);
  bind_answer(m);
  nb::class_<Engine>(m, "Engine", "Exact inference under one language model; shared by threads.")
      .def(nb::init<const NgramTable&>(), "table"_a, nb::keep_alive<1, 2>())
      .def_prop_ro("table", &Engine::table, nb::rv_policy::reference_internal)
      .def("answer_readings", &ask_readings, "readings"_a, "task"_a, "first_stream"_a, "threads"_a)
      .def("answer_lines", &ask_lines, "channel"_a, "text"_a, "task"_a, "first_stream"_a, "threads"_a,
           "Each line of the text as the channel reads it.");
}
