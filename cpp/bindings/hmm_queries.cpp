#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/hmm/product.hpp"
#include "hiddenite/hmm/states.hpp"

using namespace nb::literals;
using namespace hiddenite::hmm;

namespace {

using Words = Input<WordId>;
using Numbers = std::tuple<Array<std::uint64_t>, Array<HiddenState>, Array<double>, double>;

std::span<const WordId> span_of(const Words& words) { return {words.data(), words.size()}; }

template <class Work>
auto without_gil(Work work) {
  const WithoutGil release;
  return work();
}

Numbers to_tuple(StateNumbers numbers) {
  return {to_array(std::move(numbers.begin)), to_array(std::move(numbers.states)), to_array(std::move(numbers.values)),
          numbers.log_prob};
}

std::vector<Numbers> to_tuples(std::vector<StateNumbers> sentences) {
  std::vector<Numbers> result;
  for (StateNumbers& numbers : sentences) result.push_back(to_tuple(std::move(numbers)));
  return result;
}

void bind_sentences(nb::module_& m) {
  m.def("filter_sentences",
        [](const SparseHmm& chain, const TokenText& text, int threads) {
          const auto query = [&](std::span<const WordId> words) { return filter_states(chain, words, false); };
          return to_tuples(without_gil([&] { return for_sentences(text, threads, query); }));
        },
        "chain"_a, "text"_a, "threads"_a, "filter_states of each sentence, without its end.");
  m.def("posterior_sentences",
        [](const SparseHmm& chain, const TokenText& text, int threads) {
          const auto query = [&](std::span<const WordId> words) { return posterior_states(chain, words, true); };
          return to_tuples(without_gil([&] { return for_sentences(text, threads, query); }));
        },
        "chain"_a, "text"_a, "threads"_a, "posterior_states of each sentence, with its end.");
  m.def("log_prob_gradient",
        [](const SparseHmm& chain, const TokenText& text, const Input<double>& weights, int threads) {
          const std::span<const double> given(weights.data(), weights.size());
          LogProbGradient found = without_gil([&] { return log_prob_gradient(chain, text, given, threads); });
          return std::tuple(to_array(std::move(found.initial)), to_array(std::move(found.transition)),
                            to_array(std::move(found.emission)));
        },
        "chain"_a, "text"_a, "weights"_a, "threads"_a,
        "Of the weighted sum of ln p(sentence), by ln initial, ln transition and ln emission.");
}

}  // namespace

void bind_hmm_queries(nb::module_& m) {
  bind_sentences(m);
  m.def("filter_states",
        [](const SparseHmm& chain, const Words& words, bool complete) {
          return to_tuple(without_gil([&] { return filter_states(chain, span_of(words), complete); }));
        },
        "chain"_a, "words"_a, "complete"_a, "Begin of each position, states, p(state | words so far), ln p.");
  m.def("posterior_states",
        [](const SparseHmm& chain, const Words& words, bool complete) {
          return to_tuple(without_gil([&] { return posterior_states(chain, span_of(words), complete); }));
        },
        "chain"_a, "words"_a, "complete"_a, "Begin of each position, states, p(state | all words), ln p.");
  m.def("best_states",
        [](const SparseHmm& chain, const Words& words, bool complete) {
          BestStates best = without_gil([&] { return best_states(chain, span_of(words), complete); });
          return std::tuple(to_array(std::move(best.states)), best.log_prob);
        },
        "chain"_a, "words"_a, "complete"_a);
  m.def("next_words",
        [](const SparseHmm& chain, const Words& words) {
          return to_array(without_gil([&] { return next_words(chain, span_of(words)); }));
        },
        "chain"_a, "words"_a, "p(word | words) of each word.");
  m.def("state_visits",
        [](const SparseHmm& chain, const TokenText& text, int threads) {
          std::vector<double> visits;
          {
            const WithoutGil release;
            visits = state_visits(chain, text, threads);
          }
          return to_array(std::move(visits));
        },
        "chain"_a, "text"_a, "threads"_a);
  nb::class_<Automaton>(m, "Automaton", "A deterministic finite automaton over word ids.")
      .def("__init__",
           [](Automaton* self, std::uint32_t start, const Input<bool>& accepts, const Input<std::uint32_t>& class_of,
              const Input<std::uint32_t>& target) {
             new (self) Automaton{start, std::vector<bool>(accepts.data(), accepts.data() + accepts.size()),
                                  to_vector(class_of), to_vector(target)};
           },
           "start"_a, "accepts"_a, "class_of"_a, "target"_a);
  nb::class_<Walk>(m, "Walk", "Words and the states behind them.")
      .def_prop_ro("words", [](const Walk& walk) { return to_array(walk.words); }, nb::rv_policy::move)
      .def_prop_ro("states", [](const Walk& walk) { return to_array(walk.states); }, nb::rv_policy::move);
  nb::class_<HmmProduct>(m, "HmmProduct", "Sentences of a chain that an automaton accepts.")
      .def("__init__",
           [](HmmProduct* self, const SparseHmm& chain, const Automaton& automaton, const std::vector<WordId>& fixed,
              std::uint32_t shortest, std::uint32_t longest, bool best, int threads) {
             const WithoutGil release;
             new (self) HmmProduct(chain, automaton, fixed, shortest, longest, best, threads);
           },
           "chain"_a, "automaton"_a, "fixed"_a, "shortest"_a, "longest"_a, "best"_a, "threads"_a,
           nb::keep_alive<1, 2>())
      .def_prop_ro("log_prob", &HmmProduct::log_prob)
      .def("draw",
           [](const HmmProduct& product, std::uint64_t seed, std::uint64_t stream) {
             Random random(seed, stream);
             return product.draw(random);
           },
           "seed"_a, "stream"_a, nb::call_guard<WithoutGil>())
      .def("best_walk", &HmmProduct::best_walk, nb::call_guard<WithoutGil>())
      .def("word_probabilities",
           [](const HmmProduct& product, const std::vector<std::uint32_t>& positions) {
             std::vector<std::vector<double>> rows;
             {
               const WithoutGil release;
               rows = product.word_probabilities(positions);
             }
             std::vector<Array<double>> result;
             for (auto& row : rows) result.push_back(to_array(std::move(row)));
             return result;
           },
           "positions"_a, "p(word at a position | constraint), for each position.");
}
