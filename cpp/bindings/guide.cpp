#include "hiddenite/hmm/guide/guide.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/hmm/guide/hmm_ahead.hpp"
#include "hiddenite/hmm/lexical/guided.hpp"

using namespace nb::literals;
using namespace hiddenite::hmm;

namespace {

template <class Chain, class Guided = GuidedHmm<Chain>>
void make_guide(Guide* self, const Chain& chain, const Automaton& automaton, const std::vector<WordId>& fixed,
                std::uint32_t shortest, std::uint32_t longest, int threads) {
  const WithoutGil release;
  new (self) Guide(std::make_unique<Guided>(chain), automaton, {fixed, shortest, longest}, threads);
}

template <auto move>
std::tuple<GuidePrefix, double> moved(const Guide& guide, const GuidePrefix& prefix, WordId word) {
  const WithoutGil release;
  GuidePrefix next = prefix;
  const double probability = (guide.*move)(next, word);
  return {std::move(next), probability};
}

void bind_dense(nb::module_& m) {
  nb::class_<DenseHmm>(m, "DenseHmm", "A hidden Markov model whose states emit every word; reads the given arrays.")
      .def("__init__",
           [](DenseHmm* self, const Input<double>& initial, const Input<float>& transition,
              const Input<float>& emission, WordId num_words, WordId end_word) {
             const auto states = static_cast<HiddenState>(initial.size());
             if (states == 0 || transition.size() != initial.size() * initial.size() || num_words == 0 ||
                 emission.size() != initial.size() * num_words ||
                 (end_word != hiddenite::base::NO_WORD && end_word >= num_words)) {
               throw nb::value_error("the arrays of a dense model do not fit");
             }
             DenseHmm chain{{0, states}, num_words, end_word, to_vector(initial), transition.data(), emission.data()};
             const WithoutGil release;
             chain.check();
             new (self) DenseHmm(std::move(chain));
           },
           "initial"_a, "transition"_a, "emission"_a, "num_words"_a, "end_word"_a, nb::keep_alive<1, 3>(),
           nb::keep_alive<1, 4>())
      .def_prop_ro("num_states", &DenseHmm::num_states)
      .def_prop_ro("num_words", &DenseHmm::num_words);
}

}  // namespace

void bind_guide(nb::module_& m) {
  bind_dense(m);
  nb::class_<GuidePrefix>(m, "GuidePrefix", "What a guide knows of the words so far; immutable.")
      .def_ro("length", &GuidePrefix::length)
      .def_ro("ended", &GuidePrefix::ended)
      .def_prop_ro("alive", [](const GuidePrefix& prefix) { return prefix.state != DEAD; });
  nb::class_<Guide>(m, "HmmGuide", "p(constraint | prefix, next word) for every next word.")
      .def("__init__", &make_guide<SparseHmm>, "chain"_a, "automaton"_a, "fixed"_a, "shortest"_a, "longest"_a,
           "threads"_a, nb::keep_alive<1, 2>())
      .def("__init__", &make_guide<DenseHmm>, "chain"_a, "automaton"_a, "fixed"_a, "shortest"_a, "longest"_a,
           "threads"_a, nb::keep_alive<1, 2>())
      .def("__init__", &make_guide<LexicalHmm, GuidedLexical>, "chain"_a, "automaton"_a, "fixed"_a, "shortest"_a,
           "longest"_a, "threads"_a, nb::keep_alive<1, 2>())
      .def("begin", &Guide::begin)
      .def("follow", &moved<&Guide::follow>, "prefix"_a, "word"_a, "Words before the constraint; p(word | before).")
      .def("advance", &moved<&Guide::advance>, "prefix"_a, "word"_a, "The prefix with the word, and p(word | prefix).")
      .def("advance_unknown",
           [](const Guide& guide, const GuidePrefix& prefix, std::uint32_t class_id) {
             GuidePrefix next = prefix;
             guide.advance_unknown(next, class_id);
             return next;
           },
           "prefix"_a, "class_id"_a, nb::call_guard<WithoutGil>())
      .def("next_words",
           [](const Guide& guide, const GuidePrefix& prefix, const std::vector<WordId>& words) {
             NextWords next;
             {
               const WithoutGil release;
               next = guide.next_words(prefix, words);
             }
             return std::tuple(to_array(std::move(next.probability)), to_array(std::move(next.joint)),
                               to_array(std::move(next.unknown)), next.log_scale);
           },
           "prefix"_a, "words"_a = std::vector<WordId>(),
           "p(word); p(word and constraint); p(constraint | unknown word) by class; ln of the scale. All words if none "
           "is given.")
      .def("next_bounds",
           [](const Guide& guide, const GuidePrefix& prefix) {
             NextBounds bounds;
             {
               const WithoutGil release;
               bounds = guide.next_bounds(prefix);
             }
             return std::tuple(to_array(std::move(bounds.least)), to_array(std::move(bounds.most)),
                               to_array(std::move(bounds.mean)), bounds.log_scale);
           },
           "prefix"_a, "By class: least, most and mean of p(constraint | prefix, word); ln of their scale.")
      .def("log_prob", &Guide::log_prob, "prefix"_a, nb::call_guard<WithoutGil>(), "ln p(constraint | prefix).")
      .def("allowed_classes",
           [](const Guide& guide, const GuidePrefix& prefix) {
             const std::vector<bool> allowed = guide.allowed_classes(prefix);
             return to_array(std::vector<std::uint8_t>(allowed.begin(), allowed.end()));
           },
           "prefix"_a, "Classes whose words leave a way to an accepting end.")
      .def("is_satisfied", &Guide::is_satisfied, "prefix"_a);
}
