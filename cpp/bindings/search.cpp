#include "hiddenite/exact/search.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/exact/bound/paper.hpp"

using namespace hiddenite::exact;
using namespace nb::literals;

namespace {

using NodePair = std::pair<std::uint32_t, std::uint32_t>;

// The steppers refer to their candidates; here these live beside them.
struct Problem {
  Problem(const NgramTable& table, const Input<std::uint64_t>& begin, const Input<WordId>& words,
          const Input<double>& log_weights, bool ends, const std::vector<NodePair>& nodes = {})
      : table(table) {
    const std::span<const std::uint64_t> begins(begin.data(), begin.size());
    check(begins, words, log_weights);
    std::vector<Span> spans;
    for (const auto& [from, to] : nodes) spans.push_back({from, to});
    check_spans(spans, begins.size() - 1);
    candidates = std::make_unique<Candidates>(Candidates::from_csr(
        begins, {words.data(), words.size()}, {log_weights.data(), log_weights.size()}, ends, spans));
  }

  static void check_spans(const std::vector<Span>& spans, std::size_t num_slots) {
    bool fits = spans.empty() || spans.size() == num_slots;
    for (std::size_t i = 0; fits && i < spans.size(); ++i) {
      fits = spans[i].from < spans[i].to && (i == 0 || spans[i - 1].to <= spans[i].to);
    }
    if (!fits) throw nb::value_error("the nodes do not lead upwards, slot by slot");
  }

  void check(std::span<const std::uint64_t> begins, const Input<WordId>& words, const Input<double>& log_weights) {
    if (begins.empty() || begins.front() != 0 || !std::is_sorted(begins.begin(), begins.end()) ||
        begins.back() != words.size() || words.size() != log_weights.size()) {
      throw nb::value_error("begin does not divide words and log_weights into slots");
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words.data()[i] >= table.vocabulary.size()) throw nb::index_error("word id out of range");
    }
  }

  // Weights as they were given.
  Trial with_offset(Trial trial) const {
    trial.log_q += candidates->log_offset;
    trial.log_p += candidates->log_offset;
    return trial;
  }

  std::unique_ptr<Relaxation> relaxation(Weighting weighting, Strategy strategy, bool paper,
                                         std::size_t widest_row = BestPaths::WIDEST_ROW) const {
    if (!candidates->is_chain()) {
      return make_relaxation(table, *candidates, paper ? Method::PAPER : Method::REFINE, weighting, strategy);
    }
    if (paper) return std::make_unique<PaperRelaxation>(table, *candidates, weighting);
    return std::make_unique<Refinement>(table, *candidates, weighting, strategy, widest_row);
  }

  void check_path(const WordPath& path) const {
    bool fits = path.size() == candidates->length();
    for (std::size_t i = 0; fits && i < path.size(); ++i) fits = path[i] < candidates->slots[i].size();
    if (!fits) throw nb::index_error("the path does not fit the slots");
  }

  const NgramTable& table;
  std::unique_ptr<Candidates> candidates;
};

Budget budget_of(double seconds, std::uint64_t refinements, std::uint64_t states) {
  return {seconds, refinements, states};
}

SamplerOptions sampler_options(std::uint64_t batch, double target_rate, std::uint64_t rate_window) {
  return {.batch = batch, .target_rate = target_rate, .rate_window = rate_window};
}

constexpr double NO_SECONDS = std::numeric_limits<double>::infinity();
constexpr std::uint64_t NO_LIMIT = std::numeric_limits<std::uint64_t>::max();

using StateRow = std::tuple<std::vector<WordId>, bool>;

std::vector<StateRow> state_rows(const Problem& problem, const Relaxation& q, std::size_t position) {
  const Candidates& candidates = *problem.candidates;
  const std::size_t size = candidates.is_chain() ? candidates.num_positions() : candidates.num_joints();
  if (position >= size) throw nb::index_error("no such position");
  std::vector<StateRow> rows;
  for (StateView& view : q.states(position)) rows.emplace_back(std::move(view.words), view.closed);
  return rows;
}

struct BoundRelaxation : Problem {
  BoundRelaxation(Problem problem, bool total, Strategy strategy, bool paper, std::uint64_t seed,
                  std::size_t widest_row)
      : Problem(std::move(problem)),
        q(relaxation(total ? Weighting::TOTAL : Weighting::BEST, strategy, paper, widest_row)),
        random(seed) {}
  std::unique_ptr<Relaxation> q;
  Random random;
};

struct BoundDecoder : Problem {
  BoundDecoder(Problem problem, Strategy strategy, bool paper)
      : Problem(std::move(problem)),
        method(paper ? Method::PAPER : Method::REFINE),
        decoder(relaxation(Weighting::BEST, strategy, paper)) {}
  Method method;
  Decoder decoder;
};

struct BoundSampler : Problem {
  BoundSampler(Problem problem, SamplerOptions options, Strategy strategy, bool paper, std::uint64_t seed)
      : Problem(std::move(problem)),
        sampler(relaxation(Weighting::TOTAL, strategy, paper), options, Random(seed)) {}
  Sampler sampler;
};

// path, log weight, exact, upper, lower, refinements, states
using DecodedRow =
    std::tuple<std::vector<std::uint32_t>, double, bool, double, double, std::uint64_t, std::uint64_t>;
// paths, log weights, exact, upper, lower, refinements, states
using KBestRow = std::tuple<std::vector<std::vector<std::uint32_t>>, std::vector<double>, bool, double, double,
                            std::uint64_t, std::uint64_t>;

DecodedRow run_decoder(BoundDecoder& self, double seconds, std::uint64_t refinements, std::uint64_t states) {
  const WithoutGil release;
  Decoded decoded = self.decoder.run(Deadline(budget_of(seconds, refinements, states)), self.method);
  const Certificate& c = decoded.certificate;
  const double offset = self.candidates->log_offset;
  return {std::move(decoded.path), decoded.log_weight + offset, c.exact(), c.upper() + offset, c.lower() + offset,
          c.refinements(), c.states()};
}

KBestRow run_kbest(const NgramTable& table, Input<std::uint64_t> begin, Input<WordId> words,
                   Input<double> log_weights, bool ends, std::size_t k, Strategy strategy, double seconds,
                   std::uint64_t refinements, std::uint64_t states) {
  const Problem problem(table, begin, words, log_weights, ends);
  const WithoutGil release;
  KBest best = kbest_by_refining(table, *problem.candidates, k, Method::REFINE,
                                 Deadline(budget_of(seconds, refinements, states)), strategy);
  const Certificate& c = best.certificate;
  const double offset = problem.candidates->log_offset;
  for (double& log_weight : best.log_weights) log_weight += offset;
  return {std::move(best.paths), std::move(best.log_weights), c.exact(), c.upper() + offset, c.lower() + offset,
          c.refinements(), c.states()};
}

void bind_results(nb::module_& m) {
  nb::enum_<Strategy>(m, "Strategy", "Which contexts of a rejected path become finer.")
      .value("ALL_BY_ONE", Strategy::ALL_BY_ONE, "Each position's by one word.")
      .value("FULL_CONTEXT", Strategy::FULL_CONTEXT, "Each position's to the exact state.")
      .value("CULPRIT", Strategy::CULPRIT, "That of the position where q / p is largest, by one word.");
  nb::class_<Trial>(m, "Trial", "A path and what it is worth.")
      .def_ro("path", &Trial::path, "Places in the slots' distinct words.")
      .def_ro("log_q", &Trial::log_q)
      .def_ro("log_p", &Trial::log_p)
      .def_ro("log_ratio", &Trial::log_ratio, "ln p / q; 0 if and only if all terms are equal.")
      .def_prop_ro("is_tight", &Trial::is_tight);
  nb::class_<DecodeStep>(m, "DecodeStep", "One turn of the search.")
      .def_ro("trial", &DecodeStep::trial)
      .def_ro("upper", &DecodeStep::upper)
      .def_ro("lower", &DecodeStep::lower)
      .def_ro("done", &DecodeStep::done)
      .def_ro("refinements", &DecodeStep::refinements)
      .def_ro("states", &DecodeStep::states);
  nb::class_<Sampler::Batch>(m, "SampleStep", "A batch of draws from one bound.")
      .def_ro("trials", &Sampler::Batch::draws)
      .def_ro("accepted", &Sampler::Batch::accepted)
      .def_ro("log_total", &Sampler::Batch::log_total)
      .def_ro("is_fixed", &Sampler::Batch::is_fixed)
      .def_ro("states", &Sampler::Batch::num_states);
  nb::class_<PartitionEstimate>(m, "PartitionEstimate", "What is known of ln Z.")
      .def_ro("upper", &PartitionEstimate::upper)
      .def_ro("lower", &PartitionEstimate::lower)
      .def_ro("value", &PartitionEstimate::value, "None where draws that were not seen could decide.")
      .def_ro("error", &PartitionEstimate::error, "The standard error of the value.");
  nb::class_<Sampled>(m, "Sampled", "Accepted draws.")
      .def_ro("paths", &Sampled::paths, "Places in the slots as given.")
      .def_ro("complete", &Sampled::complete)
      .def_ro("trials", &Sampled::trials)
      .def_ro("refinements", &Sampled::refinements)
      .def_ro("states", &Sampled::states)
      .def_ro("log_partition", &Sampled::log_partition);
}

void bind_relaxation(nb::module_& m) {
  nb::class_<BoundRelaxation>(m, "Relaxation", "The bound q >= p and its operator, without the loop.")
      .def("__init__",
           [](BoundRelaxation* self, const NgramTable& table, Input<std::uint64_t> begin, Input<WordId> words,
              Input<double> log_weights, bool ends, bool total, Strategy strategy, bool paper, std::uint64_t seed,
              std::size_t widest_row) {
             new (self) BoundRelaxation(Problem(table, begin, words, log_weights, ends), total, strategy, paper, seed,
                                        widest_row);
           },
           nb::keep_alive<1, 2>(), "table"_a, "begin"_a, "words"_a, "log_weights"_a, "ends"_a = true,
           "total"_a = false, "strategy"_a = Strategy::ALL_BY_ONE, "paper"_a = false, "seed"_a = 0,
           "widest_row"_a = BestPaths::WIDEST_ROW)
      .def("best", [](BoundRelaxation& self) { return self.with_offset(self.q->best()); })
      .def("draw", [](BoundRelaxation& self) { return self.with_offset(self.q->draw(self.random)); })
      .def("score", [](const BoundRelaxation& self, const WordPath& path) {
        self.check_path(path);
        return self.with_offset(self.q->score(path));
      }, "path"_a)
      .def("tighten", [](BoundRelaxation& self, const WordPath& path) {
        self.check_path(path);
        self.q->tighten(path);
      }, "path"_a)
      .def_prop_ro("log_total", [](BoundRelaxation& self) {
        return self.q->log_total() + self.candidates->log_offset;
      })
      .def_prop_ro("is_exact", [](const BoundRelaxation& self) { return self.q->is_exact(); })
      .def_prop_ro("num_states", [](const BoundRelaxation& self) { return self.q->num_states(); })
      .def_prop_ro("num_edges", [](const BoundRelaxation& self) { return self.q->num_edges(); })
      .def_prop_ro("num_ngrams", [](const BoundRelaxation& self) -> std::vector<std::uint64_t> {
        const auto* paper = dynamic_cast<const PaperRelaxation*>(self.q.get());
        return paper ? paper->num_ngrams() : std::vector<std::uint64_t>();
      }, "Per order, the n-grams whose own weight q has; `paper` only.")
      .def("states", [](const BoundRelaxation& self, std::size_t position) {
        return state_rows(self, *self.q, position);
      }, "position"_a, "What the states before a position know: words, and whether nothing else matters.");
}

void bind_decoder(nb::module_& m) {
  nb::class_<BoundDecoder>(m, "Decoder", "Decoding by refinement, step by step.")
      .def("__init__",
           [](BoundDecoder* self, const NgramTable& table, Input<std::uint64_t> begin, Input<WordId> words,
              Input<double> log_weights, bool ends, Strategy strategy, bool paper,
              const std::vector<NodePair>& spans) {
             new (self) BoundDecoder(Problem(table, begin, words, log_weights, ends, spans), strategy, paper);
           },
           nb::keep_alive<1, 2>(), "table"_a, "begin"_a, "words"_a, "log_weights"_a, "ends"_a = true,
           "strategy"_a = Strategy::ALL_BY_ONE, "paper"_a = false, "spans"_a = std::vector<NodePair>())
      .def("step", [](BoundDecoder& self) {
        self.decoder.step();
        return self.decoder.last();
      }, nb::call_guard<WithoutGil>())
      .def("run", &run_decoder, "seconds"_a = NO_SECONDS, "refinements"_a = NO_LIMIT, "states"_a = NO_LIMIT,
           "path, log weight, exact, upper, lower, refinements, states")
      .def_prop_ro("best_path", [](const BoundDecoder& self) { return self.decoder.best_path(); })
      .def_prop_ro("edges", [](const BoundDecoder& self) {
        CandidateGraph graph = graph_of(*self.candidates);
        return std::pair(std::move(graph.slot), std::move(graph.candidate));
      }, "Of a lattice: the slot of each edge, and the candidate by its place in the slot; paths are edges then.")
      .def("states", [](const BoundDecoder& self, std::size_t position) {
        return state_rows(self, self.decoder.relaxation(), position);
      }, "position"_a, "What the states before a position know: words, and whether nothing else matters.");
  m.def("kbest_refine", &run_kbest, "table"_a, "begin"_a, "words"_a, "log_weights"_a, "ends"_a, "k"_a,
        "strategy"_a = Strategy::ALL_BY_ONE, "seconds"_a = NO_SECONDS, "refinements"_a = NO_LIMIT,
        "states"_a = NO_LIMIT, "paths, log weights, exact, upper, lower, refinements, states");
}

void bind_sampler(nb::module_& m) {
  nb::class_<BoundSampler>(m, "Sampler", "Sampling by refinement, batch by batch.")
      .def("__init__",
           [](BoundSampler* self, const NgramTable& table, Input<std::uint64_t> begin, Input<WordId> words,
              Input<double> log_weights, bool ends, std::uint64_t seed, std::uint64_t batch, double target_rate,
              std::uint64_t rate_window, Strategy strategy, bool paper) {
             if (batch == 0) throw nb::value_error("the batch is 0, expected 1 or more");
             new (self) BoundSampler(Problem(table, begin, words, log_weights, ends),
                                     sampler_options(batch, target_rate, rate_window), strategy, paper, seed);
           },
           nb::keep_alive<1, 2>(), "table"_a, "begin"_a, "words"_a, "log_weights"_a, "ends"_a = true, "seed"_a = 0,
           "batch"_a = SamplerOptions().batch, "target_rate"_a = SamplerOptions().target_rate,
           "rate_window"_a = SamplerOptions().rate_window, "strategy"_a = Strategy::ALL_BY_ONE, "paper"_a = false)
      .def("step", [](BoundSampler& self) { return self.sampler.step(); }, nb::call_guard<WithoutGil>())
      .def("run", [](BoundSampler& self, std::size_t count, double seconds, std::uint64_t refinements,
                     std::uint64_t states) {
        return self.sampler.run(count, Deadline(budget_of(seconds, refinements, states)));
      }, nb::call_guard<WithoutGil>(), "count"_a, "seconds"_a = NO_SECONDS, "refinements"_a = NO_LIMIT,
         "states"_a = NO_LIMIT);
}

}  // namespace

void bind_search(nb::module_& m) {
  m.attr("SAMPLER_BATCH") = SamplerOptions().batch;
  bind_results(m);
  bind_relaxation(m);
  bind_decoder(m);
  bind_sampler(m);
}
