#include "../hiddenite/chain.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "../hiddenite/chain_em.hpp"
#include "../hiddenite/chain_score.hpp"
#include "../hiddenite/log_bilinear.hpp"
#include "bindings.hpp"

using namespace nb::literals;
using namespace hiddenite;

namespace {

template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copied(const Values<T>& values) {
  return {values.data(), values.data() + values.size()};
}

void bind_shape(nb::module_& m) {
  nb::class_<ChainShape>(m, "ChainShape", "Groups of states and the words' sets.")
      .def("__init__",
           [](ChainShape* self, const Values<std::uint32_t>& group_begin, const Values<std::uint32_t>& word_group,
              const Values<std::uint64_t>& set_begin, const Values<std::uint32_t>& members, bool has_end) {
             ChainShape shape{copied(group_begin), copied(word_group), copied(set_begin), copied(members), has_end};
             shape.check();
             new (self) ChainShape(std::move(shape));
           },
           "group_begin"_a, "word_group"_a, "set_begin"_a, "members"_a, "has_end"_a)
      .def_prop_ro("num_states", &ChainShape::num_states)
      .def_prop_ro("num_groups", &ChainShape::num_groups)
      .def_prop_ro("num_words", &ChainShape::num_words)
      .def_ro("has_end", &ChainShape::has_end)
      .def_prop_ro("group_begin", [](const ChainShape& s) { return to_array(s.group_begin); }, nb::rv_policy::move)
      .def_prop_ro("word_group", [](const ChainShape& s) { return to_array(s.word_group); }, nb::rv_policy::move)
      .def_prop_ro("set_begin", [](const ChainShape& s) { return to_array(s.set_begin); }, nb::rv_policy::move)
      .def_prop_ro("members", [](const ChainShape& s) { return to_array(s.members); }, nb::rv_policy::move);
  nb::class_<Chain, ChainShape>(m, "Chain", "A hidden Markov model with sparse emissions; immutable.")
      .def("__init__",
           [](Chain* self, const ChainShape& shape, const Values<double>& initial, const Values<float>& transition,
              const Values<double>& emission) {
             Chain chain{shape, copied(initial), copied(transition), copied(emission)};
             chain.check();
             new (self) Chain(std::move(chain));
           },
           "shape"_a, "initial"_a, "transition"_a, "emission"_a)
      .def_prop_ro("initial", [](const Chain& c) { return to_array(c.initial); }, nb::rv_policy::move)
      .def_prop_ro("transition", [](const Chain& c) { return to_array(c.transition); }, nb::rv_policy::move)
      .def_prop_ro("emission", [](const Chain& c) { return to_array(c.emission); }, nb::rv_policy::move)
      .def("token_log_probs",
           [](const Chain& chain, const TokenText& text, int threads) {
             std::vector<double> result;
             {
               const nb::gil_scoped_release release;
               result = token_log_probs(chain, text, threads);
             }
             return to_array(std::move(result));
           },
           "text"_a, "threads"_a, "ln p of each word and </s> given the words before it.");
}

void bind_em(nb::module_& m) {
  nb::class_<Smoothing>(m, "Smoothing", "Pseudo-counts; see chain_counts.hpp.")
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
  nb::class_<ChainEm>(m, "ChainEm", "Training of a chain by incremental expectation-maximisation.")
      .def("__init__",
           [](ChainEm* self, const TokenText& text, const ChainShape& shape, const EmOptions& options,
              std::uint64_t seed) {
             const nb::gil_scoped_release release;
             new (self) ChainEm(text, shape, options, seed);
           },
           "text"_a, "shape"_a, "options"_a, "seed"_a)
      .def("iterate", &ChainEm::iterate, "threads"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("iterate_under", &ChainEm::iterate_under, "chain"_a, "threads"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def("chain", &ChainEm::chain, "smoothing"_a, "threads"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("iterations_done", &ChainEm::iterations_done)
      .def_prop_ro("num_tokens", &ChainEm::num_tokens)
      .def_prop_ro("num_folds", &ChainEm::num_folds)
      .def("fold",
           [](const ChainEm& em, std::size_t f) {
             if (f >= em.num_folds()) throw nb::index_error("no such fold");
             const ChainCounts& counts = em.fold(f);
             return std::tuple(to_array(counts.pairs), to_array(counts.first), to_array(counts.emissions));
           },
           "f"_a, "The counts of a fold: pairs, first, emissions.")
      .def("restore",
           [](ChainEm& em, std::uint32_t done, const std::vector<Values<float>>& pairs,
              const std::vector<Values<float>>& first, const std::vector<Values<float>>& emissions) {
             const auto all = [](const std::vector<Values<float>>& arrays) {
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
      .def_rw("dimensions", &BilinearOptions::dimensions)
      .def_rw("rate", &BilinearOptions::rate)
      .def_rw("dropout", &BilinearOptions::dropout)
      .def_rw("decay", &BilinearOptions::decay);
  nb::class_<LogBilinear>(m, "LogBilinear", "Log-bilinear transitions fitted to a training's counts.")
      .def("__init__",
           [](LogBilinear* self, const ChainEm& em, const BilinearOptions& options, std::uint64_t seed) {
             new (self) LogBilinear(em.shape(), options, seed);
           },
           "em"_a, "options"_a, "seed"_a)
      .def("fit",
           [](LogBilinear& model, const ChainEm& em, std::uint32_t passes, int threads) {
             return model.fit(em.total(), em.prior(), passes, threads);
           },
           "em"_a, "passes"_a, "threads"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("chain",
           [](const LogBilinear& model, const ChainEm& em, const Smoothing& smoothing, double weight, int threads) {
             return model.chain(em.total(), em.prior(), smoothing, weight, threads);
           },
           "em"_a, "smoothing"_a, "weight"_a, "threads"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_chain(nb::module_& m) {
  bind_shape(m);
  bind_em(m);
  bind_log_bilinear(m);
}
