#include "hiddenite/hmm/model.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/hmm/em.hpp"
#include "hiddenite/hmm/log_bilinear.hpp"
#include "hiddenite/hmm/score.hpp"

using namespace nb::literals;
using namespace hiddenite::hmm;

namespace {

template <class T>
std::vector<T> copied(const Input<T>& values) {
  return {values.data(), values.data() + values.size()};
}

void bind_shape(nb::module_& m) {
  nb::class_<HmmShape>(m, "HmmShape", "Groups of states and the words' sets.")
      .def("__init__",
           [](HmmShape* self, const Input<std::uint32_t>& group_begin, const Input<std::uint32_t>& word_group,
              const Input<std::uint64_t>& set_begin, const Input<std::uint32_t>& members, bool has_end) {
             HmmShape shape{copied(group_begin), copied(word_group), copied(set_begin), copied(members), has_end};
             shape.check();
             new (self) HmmShape(std::move(shape));
           },
           "group_begin"_a, "word_group"_a, "set_begin"_a, "members"_a, "has_end"_a)
      .def_prop_ro("num_states", &HmmShape::num_states)
      .def_prop_ro("num_words", &HmmShape::num_words)
      .def_ro("has_end", &HmmShape::has_end)
      .def_prop_ro("group_begin", [](const HmmShape& s) { return to_array(s.group_begin); }, nb::rv_policy::move)
      .def_prop_ro("word_group", [](const HmmShape& s) { return to_array(s.word_group); }, nb::rv_policy::move)
      .def_prop_ro("set_begin", [](const HmmShape& s) { return to_array(s.set_begin); }, nb::rv_policy::move)
      .def_prop_ro("members", [](const HmmShape& s) { return to_array(s.members); }, nb::rv_policy::move);
  nb::class_<SparseHmm, HmmShape>(m, "SparseHmm", "A hidden Markov model with sparse emissions; immutable.")
      .def("__init__",
           [](SparseHmm* self, const HmmShape& shape, const Input<double>& initial, const Input<float>& transition,
              const Input<double>& emission) {
             SparseHmm chain{shape, copied(initial), copied(transition), copied(emission)};
             chain.check();
             new (self) SparseHmm(std::move(chain));
           },
           "shape"_a, "initial"_a, "transition"_a, "emission"_a)
      .def_prop_ro("initial", [](const SparseHmm& c) { return to_array(c.initial); }, nb::rv_policy::move)
      .def_prop_ro("transition", [](const SparseHmm& c) { return to_array(c.transition); }, nb::rv_policy::move)
      .def_prop_ro("emission", [](const SparseHmm& c) { return to_array(c.emission); }, nb::rv_policy::move)
      .def("token_log_probs",
           [](const SparseHmm& chain, const TokenText& text, int threads) {
             std::vector<double> result;
             {
               const WithoutGil release;
               result = token_log_probs(chain, text, threads);
             }
             return to_array(std::move(result));
           },
           "text"_a, "threads"_a, "ln p of each word and </s> given the words before it.");
}

void bind_em(nb::module_& m) {
  nb::class_<Smoothing>(m, "Smoothing", "Pseudo-counts; see counts.hpp.")
      .def(nb::init<>())
      .def_rw("cluster", &Smoothing::cluster)
      .def_rw("state", &Smoothing::state)
      .def_rw("group", &Smoothing::group)
      .def_rw("emission", &Smoothing::emission);
  nb::class_<EmOptions>(m, "EmOptions")
      .def(nb::init<>())
      .def_rw("folds", &EmOptions::folds)
      .def_rw("cross_validated", &EmOptions::cross_validated)
      .def_rw("noise", &EmOptions::noise)
      .def_rw("smoothing", &EmOptions::smoothing);
  nb::class_<SoftTargets>(m, "SoftTargets", "Words that may stand at each token, with probabilities.")
      .def("__init__",
           [](SoftTargets* self, const Input<std::uint64_t>& begin, const Input<WordId>& words,
              const Input<float>& probability) {
             new (self) SoftTargets{to_vector(begin), to_vector(words), to_vector(probability)};
           },
           "begin"_a, "words"_a, "probability"_a);
  nb::class_<HmmEm>(m, "HmmEm", "Training of a chain by incremental expectation-maximisation.")
      .def("__init__",
           [](HmmEm* self, const TokenText& text, const HmmShape& shape, const EmOptions& options, std::uint64_t seed,
              const SoftTargets* targets) {
             const WithoutGil release;
             new (self) HmmEm(text, shape, options, seed, targets);
           },
           "text"_a, "shape"_a, "options"_a, "seed"_a, "targets"_a.none() = nb::none())
      .def("iterate", &HmmEm::iterate, "threads"_a, nb::call_guard<WithoutGil>())
      .def("iterate_under", &HmmEm::iterate_under, "chain"_a, "threads"_a,
           nb::call_guard<WithoutGil>())
      .def("chain", &HmmEm::chain, "smoothing"_a, "threads"_a, nb::call_guard<WithoutGil>())
      .def_prop_ro("iterations_done", &HmmEm::iterations_done)
      .def_prop_ro("num_tokens", &HmmEm::num_tokens)
      .def_prop_ro("num_folds", &HmmEm::num_folds)
      .def("fold",
           [](const HmmEm& em, std::size_t f) {
             if (f >= em.num_folds()) throw nb::index_error("no such fold");
             const HmmCounts& counts = em.fold(f);
             return std::tuple(to_array(counts.pairs), to_array(counts.first), to_array(counts.emissions));
           },
           "f"_a, "The counts of a fold: pairs, first, emissions.")
      .def("restore",
           [](HmmEm& em, std::uint32_t done, const std::vector<Input<float>>& pairs,
              const std::vector<Input<float>>& first, const std::vector<Input<float>>& emissions) {
             const auto all = [](const std::vector<Input<float>>& arrays) {
               std::vector<std::vector<float>> result;
               for (const auto& values : arrays) result.push_back(copied(values));
               return result;
             };
             em.restore(done, all(pairs), all(first), all(emissions));
           },
           "done"_a, "pairs"_a, "first"_a, "emissions"_a);
}

void bind_log_bilinear(nb::module_& m) {
  nb::class_<BilinearOptions>(m, "BilinearOptions")
      .def(nb::init<>())
      .def_rw("rate", &BilinearOptions::rate)
      .def_rw("dropout", &BilinearOptions::dropout);
  nb::class_<LogBilinear>(m, "LogBilinear", "Log-bilinear transitions fitted to a training's counts.")
      .def("__init__",
           [](LogBilinear* self, const HmmEm& em, const BilinearOptions& options, std::uint64_t seed) {
             new (self) LogBilinear(em.shape(), options, seed);
           },
           "em"_a, "options"_a, "seed"_a)
      .def("fit",
           [](LogBilinear& model, const HmmEm& em, std::uint32_t passes, int threads) {
             return model.fit(em.total(), em.prior(), passes, threads);
           },
           "em"_a, "passes"_a, "threads"_a, nb::call_guard<WithoutGil>())
      .def("chain",
           [](const LogBilinear& model, const HmmEm& em, const Smoothing& smoothing, double weight, int threads) {
             return model.chain(em.total(), em.prior(), smoothing, weight, -1.0, threads);
           },
           "em"_a, "smoothing"_a, "weight"_a, "threads"_a, nb::call_guard<WithoutGil>());
}

}  // namespace

void bind_hmm(nb::module_& m) {
  bind_shape(m);
  bind_em(m);
  bind_log_bilinear(m);
}
