#include "hiddenite/align/alignment.hpp"
#include "hiddenite/align/em.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/align/sampler.hpp"
#include "hiddenite/align/symmetrize.hpp"
#include "hiddenite/base/error.hpp"

using namespace hiddenite::align;
using namespace nb::literals;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t LARGEST_FERTILITY = 250;  // labels count in bytes

FertilityHmm make_hmm(const Matrix& emission, const Matrix& jump, const Column& end, const Matrix& fertility) {
  const std::size_t width = emission.shape(1);
  if (width == 0 || jump.shape(0) != width || jump.shape(1) != width || end.shape(0) != width ||
      fertility.shape(0) != width || fertility.shape(1) == 0 || fertility.shape(1) > LARGEST_FERTILITY + 1) {
    throw nb::value_error("expected emission [J, I + 1], jump [I + 1, I + 1], end [I + 1], fertility [I + 1, F + 1]");
  }
  FertilityHmm hmm(width - 1, emission.shape(0), fertility.shape(1) - 1);
  const auto copy = [](const double* from, std::vector<double>& to) {
    for (std::size_t k = 0; k < to.size(); ++k) {
      if (!(from[k] < -LOG_ZERO)) throw nb::value_error("a log weight is NaN or infinite");
      to[k] = from[k];
    }
  };
  copy(emission.data(), hmm.emission.values);
  copy(jump.data(), hmm.jump);
  copy(end.data(), hmm.end);
  copy(fertility.data(), hmm.fertility);
  return hmm;
}

void bind_fertility_hmm(nb::module_& m) {
  nb::class_<FertilityHmm>(m, "FertilityHmm", "One sentence pair in one direction: natural-log weights.")
      .def("__init__",
           [](FertilityHmm* self, const Matrix& emission, const Matrix& jump, const Column& end,
              const Matrix& fertility) { new (self) FertilityHmm(make_hmm(emission, jump, end, fertility)); },
           "emission"_a, "jump"_a, "end"_a, "fertility"_a)
      .def_ro("num_sources", &FertilityHmm::num_sources)
      .def_ro("num_targets", &FertilityHmm::num_targets)
      .def_ro("max_fertility", &FertilityHmm::max_fertility)
      .def("weights",
           [](const FertilityHmm& hmm) {
             return std::tuple(to_array(hmm.emission.values), to_array(hmm.jump), to_array(hmm.end),
                               to_array(hmm.fertility));
           },
           "Emission, jump, end and fertility, row by row; the inverse of the constructor.")
      .def("log_weight",
           [](const FertilityHmm& hmm, const Links& links) {
             bool fits = links.size() == hmm.num_targets;
             for (const std::uint32_t i : links) fits &= i <= hmm.num_sources;
             if (!fits) throw nb::index_error("the links do not fit the sentence pair");
             return log_weight(hmm, links);
           },
           "links"_a)
      .def("align",
           [](const FertilityHmm& hmm, const AlignTask& task, std::uint64_t stream) {
             const WithoutGil release;
             return align_hmm(hmm, task, Random(task.seed, stream));
           },
           "task"_a, "stream"_a = 0);
}

void bind_task(nb::module_& m) {
  nb::enum_<AlignTask::Method>(m, "AlignMethod")
      .value("EXACT", AlignTask::Method::EXACT)
      .value("PAPER", AlignTask::Method::PAPER)
      .value("VITERBI", AlignTask::Method::VITERBI);
  nb::enum_<PaperOptions::Step>(m, "PaperStep")
      .value("CONSTANT", PaperOptions::Step::CONSTANT)
      .value("HARMONIC", PaperOptions::Step::HARMONIC)
      .value("ROOT", PaperOptions::Step::ROOT);
  nb::class_<PaperOptions>(m, "PaperOptions")
      .def(nb::init<>())
      .def_rw("iterations", &PaperOptions::iterations)
      .def_rw("step", &PaperOptions::step)
      .def_rw("scale", &PaperOptions::scale)
      .def_rw("exactly_all", &PaperOptions::exactly_all);
  nb::class_<AlignTask>(m, "AlignTask", "What to ask of each sentence pair.")
      .def(nb::init<>())
      .def_rw("method", &AlignTask::method)
      .def_rw("directions", &AlignTask::directions)
      .def_rw("paper", &AlignTask::paper)
      .def_rw("num_best", &AlignTask::num_best)
      .def_rw("num_samples", &AlignTask::num_samples)
      .def_rw("chain_probabilities", &AlignTask::chain_probabilities)
      .def_rw("seed", &AlignTask::seed)
      .def_prop_rw("seconds", [](const AlignTask& t) { return t.budget.seconds; },
                   [](AlignTask& t, double seconds) { t.budget.seconds = seconds; })
      .def_prop_rw("labels", [](const AlignTask& t) { return t.budget.labels; },
                   [](AlignTask& t, std::uint64_t labels) { t.budget.labels = labels; });
  nb::class_<DirectionAnswer>(m, "DirectionAnswer")
      .def_ro("links", &DirectionAnswer::links)
      .def_ro("log_weights", &DirectionAnswer::log_weights)
      .def_ro("exact", &DirectionAnswer::exact)
      .def_ro("upper", &DirectionAnswer::upper)
      .def_ro("iterations", &DirectionAnswer::iterations)
      .def_ro("labels", &DirectionAnswer::labels)
      .def_ro("trials", &DirectionAnswer::trials)
      .def_ro("samples", &DirectionAnswer::samples)
      .def_prop_ro("probabilities", [](const DirectionAnswer& a) { return to_array(a.probabilities); },
                   nb::rv_policy::move);
  nb::class_<AlignAnswer>(m, "AlignAnswer", "What became of one sentence pair.")
      .def_ro("error", &AlignAnswer::error)
      .def_ro("source_length", &AlignAnswer::source_length)
      .def_ro("target_length", &AlignAnswer::target_length)
      .def("direction", [](const AlignAnswer& a, std::size_t d) { return a.directions.at(d); }, "d"_a);
}

void bind_training(nb::module_& m) {
  nb::class_<GibbsOptions>(m, "GibbsOptions")
      .def(nb::init<>())
      .def_rw("model1_sweeps", &GibbsOptions::model1_sweeps)
      .def_rw("hmm_sweeps", &GibbsOptions::hmm_sweeps)
      .def_rw("fertility_sweeps", &GibbsOptions::fertility_sweeps)
      .def_rw("coupling", &GibbsOptions::coupling)
      .def_rw("lexicon_prior", &GibbsOptions::lexicon_prior)
      .def_rw("stem_weight", &GibbsOptions::stem_weight)
      .def_rw("stem_prior", &GibbsOptions::stem_prior)
      .def_rw("null_probability", &GibbsOptions::null_probability)
      .def_rw("null_prior", &GibbsOptions::null_prior)
      .def_rw("fertility_weight", &GibbsOptions::fertility_weight)
      .def_rw("max_fertility", &GibbsOptions::max_fertility)
      .def_rw("max_jump", &GibbsOptions::max_jump)
      .def_rw("uniform_jump", &GibbsOptions::uniform_jump)
      .def_rw("diagonal", &GibbsOptions::diagonal);
  nb::class_<GibbsDirection>(m, "GibbsDirection", "One direction of a chain, as a checkpoint keeps it.")
      .def("__init__",
           [](GibbsDirection* self, const Values<std::uint32_t>& links, const Values<std::uint16_t>& cell_sums,
              std::array<std::vector<double>, 3> jump_sums, const Values<float>& fertility_sums) {
             new (self) GibbsDirection();
             self->links.assign(links.data(), links.data() + links.size());
             self->cell_sums.assign(cell_sums.data(), cell_sums.data() + cell_sums.size());
             self->jump_sums = {std::move(jump_sums[0]), std::move(jump_sums[1]), std::move(jump_sums[2])};
             self->fertility_sums.assign(fertility_sums.data(), fertility_sums.data() + fertility_sums.size());
           },
           "links"_a, "cell_sums"_a, "jump_sums"_a, "fertility_sums"_a)
      .def_prop_ro("links", [](const GibbsDirection& d) { return to_array(d.links); },
                   nb::rv_policy::move)
      .def_prop_ro("cell_sums", [](const GibbsDirection& d) { return to_array(d.cell_sums); },
                   nb::rv_policy::move)
      .def_prop_ro("jump_sums",
                   [](const GibbsDirection& d) {
                     return std::array{d.jump_sums.start, d.jump_sums.inner, d.jump_sums.end};
                   })
      .def_prop_ro("fertility_sums", [](const GibbsDirection& d) { return to_array(d.fertility_sums); },
                   nb::rv_policy::move);
  nb::class_<AlignmentTrainer>(m, "AlignmentTrainer", "Gibbs chains over a parallel text.")
      .def("__init__",
           [](AlignmentTrainer* self, nb::bytes source, nb::bytes target, const std::string& source_name,
              const std::string& target_name, const GibbsOptions& options, bool string_prior, std::uint64_t seed,
              std::uint32_t chains, const AlignmentModel* earlier) {
             const std::string_view e(source.c_str(), source.size()), f(target.c_str(), target.size());
             const WithoutGil release;
             new (self) AlignmentTrainer(e, f, source_name, target_name, options, string_prior, seed, chains,
                                         earlier ? std::optional(earlier->tables()) : std::nullopt);
           },
           "source"_a, "target"_a, "source_name"_a, "target_name"_a, "options"_a, "string_prior"_a, "seed"_a,
           "chains"_a, "earlier"_a.none() = nb::none())
      .def("sweep", &AlignmentTrainer::sweep, "threads"_a, nb::call_guard<WithoutGil>())
      .def("sweep_shard",
           [](AlignmentTrainer& t, std::size_t chain, std::size_t begin, std::size_t end, std::uint64_t shard) {
             if (chain >= t.num_chains()) throw nb::index_error("no such chain");
             const WithoutGil release;
             return t.sweep_shard(chain, begin, end, shard);
           },
           "chain"_a, "begin"_a, "end"_a, "shard"_a)
      .def_prop_ro("cells_before", [](const AlignmentTrainer& t) { return to_array(t.cells_before()); },
                   nb::rv_policy::move, "Of each sentence, and all: cells of the link matrices before it.")
      .def_prop_ro("tokens_before",
                   [](const AlignmentTrainer& t) {
                     return std::pair(to_array(t.bitext().source.begin), to_array(t.bitext().target.begin));
                   },
                   nb::rv_policy::move, "Of each sentence, and all: source and target words before it.")
      .def_prop_ro("num_sweeps_done", &AlignmentTrainer::num_sweeps_done)
      .def_prop_ro("num_sentences", &AlignmentTrainer::num_sentences)
      .def_prop_ro("num_chains", &AlignmentTrainer::num_chains)
      .def_prop_ro("bytes", &AlignmentTrainer::bytes)
      .def("lengths",
           [](const AlignmentTrainer& t, std::size_t s) {
             if (s >= t.num_sentences()) throw nb::index_error("no such sentence");
             return std::pair(t.bitext().source.sentence(s).size(), t.bitext().target.sentence(s).size());
           },
           "sentence"_a)
      .def("probabilities",
           [](const AlignmentTrainer& t, std::size_t s, int d) {
             if (s >= t.num_sentences() || d < 0 || d > 1) throw nb::index_error("no such sentence or direction");
             return to_array(t.probabilities(s, d));
           },
           "sentence"_a, "d"_a)
      .def("direction",
           [](const AlignmentTrainer& t, std::size_t chain, std::size_t d) {
             if (chain >= t.num_chains() || d > 1) throw nb::index_error("no such chain or direction");
             return t.chain(chain).direction(static_cast<int>(d));
           },
           "chain"_a, "d"_a)
      .def("restore",
           [](AlignmentTrainer& t, std::size_t chain, std::uint32_t done, const GibbsDirection& forward,
              const GibbsDirection& reverse) {
             if (chain >= t.num_chains()) throw nb::index_error("no such chain");
             t.restore(chain, done, {forward, reverse});
           },
           "chain"_a, "sweeps_done"_a, "forward"_a, "reverse"_a)
      .def("tables", &AlignmentTrainer::tables, nb::call_guard<WithoutGil>());
}

void bind_em(nb::module_& m) {
  nb::class_<AlignmentEm>(m, "AlignmentEm", "Model 1 and the HMM over a parallel text.")
      .def("__init__",
           [](AlignmentEm* self, nb::bytes source, nb::bytes target, const std::string& source_name,
              const std::string& target_name, const GibbsOptions& options) {
             const std::string_view e(source.c_str(), source.size()), f(target.c_str(), target.size());
             const WithoutGil release;
             new (self) AlignmentEm(e, f, source_name, target_name, options);
           },
           "source"_a, "target"_a, "source_name"_a, "target_name"_a, "options"_a)
      .def("iterate",
           [](AlignmentEm& em, bool hmm, int threads) {
             return em.iterate(hmm ? AlignmentEm::Model::HMM : AlignmentEm::Model::MODEL1, threads);
           },
           "hmm"_a, "threads"_a, nb::call_guard<WithoutGil>())
      .def("expect",
           [](AlignmentEm& em, bool hmm, std::size_t begin, std::size_t end, int threads) {
             return em.expect(hmm ? AlignmentEm::Model::HMM : AlignmentEm::Model::MODEL1, begin, end, threads);
           },
           "hmm"_a, "begin"_a, "end"_a, "threads"_a, nb::call_guard<WithoutGil>())
      .def("maximise",
           [](AlignmentEm& em, bool hmm) {
             em.maximise(hmm ? AlignmentEm::Model::HMM : AlignmentEm::Model::MODEL1);
           },
           "hmm"_a, nb::call_guard<WithoutGil>())
      .def("counts",
           [](const AlignmentEm& em, int d) {
             if (d < 0 || d > 1) throw nb::index_error("direction is 0 or 1");
             return to_array(em.counts(d));
           },
           "d"_a)
      .def("set_counts",
           [](AlignmentEm& em, int d, const Values<std::uint64_t>& counts) {
             if (d < 0 || d > 1) throw nb::index_error("direction is 0 or 1");
             em.set_counts(d, {counts.data(), counts.size()});
           },
           "d"_a, "counts"_a)
      .def_prop_ro("num_sentences", &AlignmentEm::num_sentences)
      .def("tables", &AlignmentEm::tables, nb::call_guard<WithoutGil>());
}

void bind_model(nb::module_& m) {
  nb::class_<AlignmentTables>(m, "AlignmentTables", "The arrays of an alignment model.")
      .def(nb::init<>())
      .def_rw("words", &AlignmentTables::words)
      .def_rw("word_count", &AlignmentTables::word_count)
      .def_rw("partners", &AlignmentTables::partners)
      .def_rw("likeness", &AlignmentTables::likeness)
      .def_rw("pair_source", &AlignmentTables::pair_source)
      .def_rw("pair_target", &AlignmentTables::pair_target)
      .def_rw("pair_count", &AlignmentTables::pair_count)
      .def_rw("null_count", &AlignmentTables::null_count)
      .def_rw("fertility", &AlignmentTables::fertility)
      .def_rw("jumps", &AlignmentTables::jumps);
  nb::class_<AlignmentModel>(m, "AlignmentModel", "A trained alignment model, immutable.")
      .def("__init__",
           [](AlignmentModel* self, const AlignmentTables& tables, const GibbsOptions& options, bool string_prior) {
             const WithoutGil release;
             new (self) AlignmentModel(tables, options, string_prior);
           },
           "tables"_a, "options"_a, "string_prior"_a)
      .def_prop_ro("tables", &AlignmentModel::tables, nb::rv_policy::reference_internal)
      .def_prop_ro("options", &AlignmentModel::options, nb::rv_policy::reference_internal)
      .def_prop_ro("string_prior", &AlignmentModel::has_string_prior)
      .def_prop_ro("has_fertilities", &AlignmentModel::has_fertilities)
      .def("hmm",
           [](const AlignmentModel& model, int d, const std::vector<std::string>& source,
              const std::vector<std::string>& target) {
             if (d < 0 || d > 1) throw nb::index_error("direction is 0 or 1");
             return model.hmm(d, {std::vector<std::string_view>(source.begin(), source.end()),
                                  std::vector<std::string_view>(target.begin(), target.end())});
           },
           "d"_a, "source"_a, "target"_a)
      .def("align_lines",
           [](const AlignmentModel& model, nb::bytes source, nb::bytes target, const AlignTask& task,
              std::uint64_t first_record, int threads) {
             const std::string_view e(source.c_str(), source.size()), f(target.c_str(), target.size());
             const WithoutGil release;
             return align_lines(model, e, f, task, first_record, threads);
           },
           "source"_a, "target"_a, "task"_a, "first_record"_a, "threads"_a);
}

}  // namespace

void bind_align(nb::module_& m) {
  bind_fertility_hmm(m);
  bind_task(m);
  bind_training(m);
  bind_em(m);
  bind_model(m);
  nb::enum_<Symmetrization>(m, "Symmetrization")
      .value("INTERSECTION", Symmetrization::INTERSECTION)
      .value("UNION", Symmetrization::UNION)
      .value("GROW_DIAG", Symmetrization::GROW_DIAG)
      .value("GROW_DIAG_FINAL", Symmetrization::GROW_DIAG_FINAL)
      .value("GROW_DIAG_FINAL_AND", Symmetrization::GROW_DIAG_FINAL_AND);
  m.def("symmetrize", &symmetrize, "forward"_a, "reverse"_a, "method"_a);
  m.def("spelling_likeness", [](const std::string& a, const std::string& b) { return spelling_likeness(a, b); },
        "a"_a, "b"_a);
}
