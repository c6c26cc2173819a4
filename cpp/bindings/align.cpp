#include "hiddenite/align/alignment.hpp"
#include "hiddenite/align/em.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
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
using Table = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

template <class T>
Table<T> to_table(std::vector<T> values, std::size_t num_rows) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Table<T>(owned->data(), {num_rows, num_rows == 0 ? 0 : owned->size() / num_rows}, owner);
}

Table<std::uint32_t> to_rows(const std::vector<Links>& alignments) {
  std::vector<std::uint32_t> values;
  for (const Links& links : alignments) values.insert(values.end(), links.begin(), links.end());
  return to_table(std::move(values), alignments.size());
}

Table<std::uint32_t> nodes_of(const ProofTree& tree) {
  std::vector<std::uint32_t> values;
  for (const ProofTree::Node& node : tree.nodes) {
    values.insert(values.end(), {static_cast<std::uint32_t>(node.kind), node.word, node.value});
  }
  return to_table(std::move(values), tree.nodes.size());
}

Table<double> multipliers_of(const ProofTree& tree) {
  std::vector<double> values;
  for (const CellMatrix& leaf : tree.multipliers) values.insert(values.end(), leaf.values.begin(), leaf.values.end());
  return to_table(std::move(values), tree.multipliers.size());
}

FertilityHmm make_hmm(const Matrix& emission, const Matrix& jump, const Input<double>& end, const Matrix& fertility) {
  const std::size_t width = emission.shape(1);
  if (width == 0 || jump.shape(0) != width || jump.shape(1) != width || end.shape(0) != width ||
      fertility.shape(0) != width || fertility.shape(1) == 0) {
    throw nb::value_error("expected emission [J, I + 1], jump [I + 1, I + 1], end [I + 1], fertility [I + 1, F + 1]");
  }
  FertilityHmm hmm(width - 1, emission.shape(0), fertility.shape(1) - 1);
  hmm.emission.values.assign(emission.data(), emission.data() + emission.size());
  hmm.jump.assign(jump.data(), jump.data() + jump.size());
  hmm.end.assign(end.data(), end.data() + end.size());
  hmm.fertility.assign(fertility.data(), fertility.data() + fertility.size());
  hmm.check();
  return hmm;
}

void bind_fertility_hmm(nb::module_& m) {
  nb::class_<FertilityHmm>(m, "FertilityHmm", "One sentence pair in one direction: natural-log weights.")
      .def("__init__",
           [](FertilityHmm* self, const Matrix& emission, const Matrix& jump, const Input<double>& end,
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
           [](const FertilityHmm& hmm, const Input<std::uint32_t>& links) {
             return checked_log_weight(hmm, to_vector(links));
           },
           "links"_a)
      .def("align",
           [](const FertilityHmm& hmm, const AlignTask& task, std::uint64_t stream) {
             const WithoutGil release;
             return align_hmm(hmm, task, Deadline(task.budget), Random(task.seed, stream));
           },
           "task"_a, "stream"_a = 0);
}

void bind_pair_task(nb::module_& m) {
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
      .def_rw("proves", &AlignTask::proves)
      .def_rw("num_samples", &AlignTask::num_samples)
      .def_rw("gibbs_probabilities", &AlignTask::gibbs_probabilities)
      .def_rw("chain_probabilities", &AlignTask::chain_probabilities)
      .def_rw("seed", &AlignTask::seed)
      .def_prop_rw("seconds", [](const AlignTask& t) { return t.budget.seconds; },
                   [](AlignTask& t, double seconds) { t.budget.seconds = seconds; })
      .def_prop_rw("labels", [](const AlignTask& t) { return t.budget.states; },
                   [](AlignTask& t, std::uint64_t labels) { t.budget.states = labels; });
}

void bind_answers(nb::module_& m) {
  nb::class_<Aligned>(m, "CoreAligned", "Best alignments of one direction, and what is proved of the first.")
      .def_prop_ro("links",
                   [](const Aligned& a) { return to_rows(a.links); }, nb::rv_policy::move,
                   "[k, generated word]: 0 is NULL.")
      .def_prop_ro("log_weights", [](const Aligned& a) { return to_array(a.log_weights); }, nb::rv_policy::move)
      .def_prop_ro("exact", [](const Aligned& a) { return a.certificate.exact(); })
      .def_prop_ro("lower", [](const Aligned& a) { return a.certificate.lower(); })
      .def_prop_ro("upper", [](const Aligned& a) { return a.certificate.upper(); })
      .def_prop_ro("iterations", [](const Aligned& a) { return a.certificate.refinements(); })
      .def_prop_ro("labels", [](const Aligned& a) { return a.certificate.states(); });
  nb::class_<LinkDraws>(m, "LinkDraws", "Independent draws of alignments.")
      .def_prop_ro("links",
                   [](const LinkDraws& d) { return to_rows(d.draws); }, nb::rv_policy::move,
                   "[draw, generated word]: 0 is NULL.")
      .def("__len__", [](const LinkDraws& d) { return d.draws.size(); })
      .def_ro("is_complete", &LinkDraws::is_complete)
      .def_ro("gibbs_sweeps", &LinkDraws::gibbs_sweeps, "Above 0: probabilities are averages of so many Gibbs sweeps.")
      .def_ro("gibbs_error", &LinkDraws::gibbs_error)
      .def_ro("trials", &LinkDraws::trials)
      .def_prop_ro("log_partition_upper", [](const LinkDraws& d) { return d.log_partition.upper; })
      .def_prop_ro("log_partition", [](const LinkDraws& d) { return d.log_partition.value; })
      .def_prop_ro("log_partition_error", [](const LinkDraws& d) { return d.log_partition.error; });
  nb::class_<ProofTree>(m, "ProofTree", "Why no alignment weighs more: cases, and multipliers for each.")
      .def_prop_ro("nodes", &nodes_of, nb::rv_policy::move,
                   "[node, 3]: kind (0 leaf, 1 count, 2 link), word and value, each before its two cases.")
      .def_prop_ro("multipliers", &multipliers_of, nb::rv_policy::move,
                   "[leaf, generated word * (generating words + 1) + generating word]: column 0 is NULL's, all 0.");
  nb::class_<DirectionAnswer>(m, "DirectionAnswer", "What became of one direction of a sentence pair.")
      .def_ro("best", &DirectionAnswer::best)
      .def_ro("sampled", &DirectionAnswer::sampled)
      .def_ro("proof", &DirectionAnswer::proof)
      .def_prop_ro("probabilities", [](const DirectionAnswer& a) { return to_array(a.probabilities); },
                   nb::rv_policy::move, "[target * source], empty if they are not known.");
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
      .def_rw("chains", &GibbsOptions::chains)
      .def_rw("coupling", &GibbsOptions::coupling)
      .def_rw("lexicon_prior", &GibbsOptions::lexicon_prior)
      .def_rw("stem_weight", &GibbsOptions::stem_weight)
      .def_rw("stem_prior", &GibbsOptions::stem_prior)
      .def_rw("jump_words", &GibbsOptions::jump_words)
      .def_rw("jump_weight", &GibbsOptions::jump_weight)
      .def_rw("ending_weight", &GibbsOptions::ending_weight)
      .def_rw("ending_prior", &GibbsOptions::ending_prior)
      .def_rw("null_probability", &GibbsOptions::null_probability)
      .def_rw("null_prior", &GibbsOptions::null_prior)
      .def_rw("fertility_weight", &GibbsOptions::fertility_weight)
      .def_rw("max_fertility", &GibbsOptions::max_fertility)
      .def_rw("max_jump", &GibbsOptions::max_jump)
      .def_rw("uniform_jump", &GibbsOptions::uniform_jump)
      .def_rw("diagonal", &GibbsOptions::diagonal);
  nb::class_<GibbsDirection>(m, "GibbsDirection", "One direction of a chain, as a checkpoint keeps it.")
      .def("__init__",
           [](GibbsDirection* self, const Input<std::uint32_t>& links, const Input<std::uint8_t>& cell_sums,
              const std::array<Input<double>, 3>& jump_sums, const Input<float>& fertility_sums) {
             new (self) GibbsDirection();
             self->links = to_vector(links);
             self->cell_sums = to_vector(cell_sums);
             self->jump_sums = {to_vector(jump_sums[0]), to_vector(jump_sums[1]), to_vector(jump_sums[2])};
             self->fertility_sums = to_vector(fertility_sums);
           },
           "links"_a, "cell_sums"_a, "jump_sums"_a, "fertility_sums"_a)
      .def_prop_ro("links", [](const GibbsDirection& d) { return to_array(d.links); },
                   nb::rv_policy::move)
      .def_prop_ro("cell_sums", [](const GibbsDirection& d) { return to_array(d.cell_sums); },
                   nb::rv_policy::move)
      .def_prop_ro("jump_sums",
                   [](const GibbsDirection& d) {
                     const JumpHistograms& sums = d.jump_sums;
                     return std::tuple(to_array(sums.start), to_array(sums.inner), to_array(sums.end));
                   },
                   nb::rv_policy::move)
      .def_prop_ro("fertility_sums", [](const GibbsDirection& d) { return to_array(d.fertility_sums); },
                   nb::rv_policy::move);
  nb::class_<AlignmentTrainer>(m, "AlignmentTrainer", "Gibbs chains over a parallel text.")
      .def("__init__",
           [](AlignmentTrainer* self, nb::bytes source, nb::bytes target, const std::string& source_name,
              const std::string& target_name, const GibbsOptions& options, bool string_prior, std::uint64_t seed,
              std::uint32_t lanes, const AlignmentModel* earlier) {
             const std::string_view e(source.c_str(), source.size()), f(target.c_str(), target.size());
             const WithoutGil release;
             new (self) AlignmentTrainer(e, f, source_name, target_name, options, string_prior, seed, lanes,
                                         earlier ? std::optional(earlier->tables()) : std::nullopt);
           },
           "source"_a, "target"_a, "source_name"_a, "target_name"_a, "options"_a, "string_prior"_a, "seed"_a,
           "lanes"_a, "earlier"_a.none() = nb::none())
      .def("sweep", &AlignmentTrainer::sweep, "threads"_a, nb::call_guard<WithoutGil>())
      .def("sweep_shard",
           [](AlignmentTrainer& t, std::size_t lane, std::size_t begin, std::size_t end, std::uint64_t shard) {
             const WithoutGil release;
             return t.sweep_shard(lane, begin, end, shard);
           },
           "lane"_a, "begin"_a, "end"_a, "shard"_a)
      .def_prop_ro("cells_before", [](const AlignmentTrainer& t) { return to_array(t.cells_before()); },
                   nb::rv_policy::move, "Of each sentence, and all: cells of the link matrices before it.")
      .def_prop_ro("tokens_before",
                   [](const AlignmentTrainer& t) {
                     return std::pair(to_array(t.bitext().source.begin), to_array(t.bitext().target.begin));
                   },
                   nb::rv_policy::move, "Of each sentence, and all: source and target words before it.")
      .def_prop_ro("num_sweeps_done", &AlignmentTrainer::num_sweeps_done)
      .def_prop_ro("num_sentences", &AlignmentTrainer::num_sentences)
      .def_prop_ro("num_sweeps", &AlignmentTrainer::num_sweeps)
      .def_prop_ro("num_lanes", &AlignmentTrainer::num_lanes)
      .def_prop_ro("cell_width", [](const AlignmentTrainer& t) { return t.lane(0).cell_format().width; },
                   "Bytes of a cell in cell_sums.")
      .def("links_text",
           [](const AlignmentTrainer& t, std::size_t begin, std::size_t end, int d, double single, double threshold) {
             std::string text;
             {
               const WithoutGil release;
               text = t.links_text(begin, end, d, single, threshold);
             }
             return nb::bytes(text.data(), text.size());
           },
           "begin"_a, "end"_a, "d"_a, "single"_a, "threshold"_a)
      .def("best_threshold", &AlignmentTrainer::best_threshold, "d"_a, "single"_a, nb::call_guard<WithoutGil>(),
           "The threshold of the greatest expected F over the text; d is a direction, -1 both.")
      .def_prop_ro("bytes", &AlignmentTrainer::bytes)
      .def("lengths", &AlignmentTrainer::lengths, "sentence"_a)
      .def("probabilities",
           [](const AlignmentTrainer& t, std::size_t s, std::size_t d) { return to_array(t.probabilities(s, d)); },
           "sentence"_a, "d"_a)
      .def("direction",
           [](const AlignmentTrainer& t, std::size_t lane, std::size_t d) { return t.lane(lane).direction(d); },
           "lane"_a, "d"_a)
      .def("restore",
           [](AlignmentTrainer& t, std::size_t lane, std::uint32_t done, const GibbsDirection& forward,
              const GibbsDirection& reverse) {
             t.restore(lane, done, {forward, reverse});
           },
           "lane"_a, "sweeps_done"_a, "forward"_a, "reverse"_a)
      .def("tables", &AlignmentTrainer::tables, nb::call_guard<WithoutGil>());
}

void bind_link_em(nb::module_& m) {
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
           [](const AlignmentEm& em, std::size_t d) { return to_array(em.counts(d)); }, "d"_a)
      .def("set_counts",
           [](AlignmentEm& em, std::size_t d, const Input<std::uint64_t>& counts) {
             em.set_counts(d, {counts.data(), counts.size()});
           },
           "d"_a, "counts"_a)
      .def_prop_ro("num_sentences", &AlignmentEm::num_sentences)
      .def("tables", &AlignmentEm::tables, nb::call_guard<WithoutGil>());
}

template <class T>
void bind_array(nb::class_<AlignmentTables>& bound, const char* name, std::vector<T> AlignmentTables::* member) {
  bound.def_prop_rw(
      name, [member](const AlignmentTables& t) { return to_array(t.*member); },
      [member](AlignmentTables& t, const Input<T>& values) { t.*member = to_vector(values); }, nb::rv_policy::move);
}

// Of both sides or directions.
template <class T>
void bind_arrays(nb::class_<AlignmentTables>& bound, const char* name,
                 std::array<std::vector<T>, 2> AlignmentTables::* member) {
  bound.def_prop_rw(
      name,
      [member](const AlignmentTables& t) { return std::pair(to_array((t.*member)[0]), to_array((t.*member)[1])); },
      [member](AlignmentTables& t, const std::pair<Input<T>, Input<T>>& values) {
        t.*member = {to_vector(values.first), to_vector(values.second)};
      },
      nb::rv_policy::move);
}

void bind_model(nb::module_& m) {
  nb::class_<AlignmentTables> tables(m, "AlignmentTables", "The arrays of an alignment model.");
  tables.def(nb::init<>()).def_rw("words", &AlignmentTables::words);
  bind_array(tables, "pair_source", &AlignmentTables::pair_source);
  bind_array(tables, "pair_target", &AlignmentTables::pair_target);
  bind_arrays(tables, "word_count", &AlignmentTables::word_count);
  bind_arrays(tables, "partners", &AlignmentTables::partners);
  bind_arrays(tables, "likeness", &AlignmentTables::likeness);
  bind_arrays(tables, "pair_count", &AlignmentTables::pair_count);
  bind_arrays(tables, "null_count", &AlignmentTables::null_count);
  bind_arrays(tables, "fertility", &AlignmentTables::fertility);
  tables
      .def("jumps",
           [](const AlignmentTables& t, std::size_t d) {
             const auto& h = t.jumps.at(d);
             return std::tuple(to_array(h[0]), to_array(h[1]), to_array(h[2]));
           },
           "d"_a, "Of direction d: counts of distances from the start, inside, and to the end.")
      .def("set_jumps",
           [](AlignmentTables& t, std::size_t d, const Input<double>& start, const Input<double>& inner,
              const Input<double>& end) { t.jumps.at(d) = {to_vector(start), to_vector(inner), to_vector(end)}; },
           "d"_a, "start"_a, "inner"_a, "end"_a);
  nb::class_<AlignmentModel>(m, "AlignmentModel", "A trained alignment model; learn() alone changes it.")
      .def("__init__",
           [](AlignmentModel* self, const AlignmentTables& arrays, const GibbsOptions& options, bool string_prior) {
             const WithoutGil release;
             new (self) AlignmentModel(arrays, options, string_prior);
           },
           "tables"_a, "options"_a, "string_prior"_a)
      .def_prop_ro("tables", &AlignmentModel::tables, nb::rv_policy::reference_internal)
      .def_prop_ro("options", &AlignmentModel::options, nb::rv_policy::reference_internal)
      .def_prop_ro("string_prior", &AlignmentModel::has_string_prior)
      .def_prop_ro("has_fertilities", &AlignmentModel::has_fertilities)
      .def("hmm",
           [](const AlignmentModel& model, std::size_t d, const std::vector<std::string>& source,
              const std::vector<std::string>& target) {
             return model.hmm(d, {std::vector<std::string_view>(source.begin(), source.end()),
                                  std::vector<std::string_view>(target.begin(), target.end())});
           },
           "d"_a, "source"_a, "target"_a)
      .def("copy", [](const AlignmentModel& model) { return AlignmentModel(model); }, "For learn().")
      .def("learn",
           [](AlignmentModel& model, const std::vector<std::string>& source, const std::vector<std::string>& target,
              const Input<std::uint32_t>& forward, const Input<std::uint32_t>& reverse) {
             model.learn({std::vector<std::string_view>(source.begin(), source.end()),
                          std::vector<std::string_view>(target.begin(), target.end())},
                         {to_vector(forward), to_vector(reverse)});
           },
           "source"_a, "target"_a, "forward"_a, "reverse"_a,
           "Count one more sentence pair; links are of generated words, 0 is NULL.")
      .def("align_lines",
           [](const AlignmentModel& model, nb::bytes source, nb::bytes target, const AlignTask& task,
              std::uint64_t first_record, int threads) {
             const std::string_view e(source.c_str(), source.size()), f(target.c_str(), target.size());
             const WithoutGil release;
             return align_lines(model, e, f, task, first_record, threads);
           },
           "source"_a, "target"_a, "task"_a, "first_record"_a, "threads"_a)
      .def("align_trained", &align_trained, "trainer"_a, "task"_a, "begin"_a, "end"_a, "threads"_a,
           nb::call_guard<WithoutGil>(), "The same of sentence pairs that a trainer has read.");
}

}  // namespace

void bind_align(nb::module_& m) {
  bind_fertility_hmm(m);
  bind_pair_task(m);
  bind_answers(m);
  bind_training(m);
  bind_link_em(m);
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
