#include "hiddenite/hmm/lexical/model.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/hmm/em.hpp"
#include "hiddenite/hmm/lexical/joint_filter.hpp"
#include "hiddenite/hmm/lexical/product.hpp"
#include "hiddenite/hmm/log_bilinear.hpp"
#include "hiddenite/hmm/lexical/residual.hpp"

using namespace nb::literals;
using namespace hiddenite::hmm;

namespace {

using Words = Input<WordId>;
using Numbers = std::tuple<Array<std::uint64_t>, Array<HiddenState>, Array<double>, double>;
using ChainList = std::vector<const SparseHmm*>;

template <class T>
std::span<const T> view_of(const Input<T>& values) {
  return {values.data(), values.size()};
}

template <class Work>
auto released(Work work) {
  const WithoutGil release;
  return work();
}

std::vector<bool> to_flags(const Input<bool>& values) {
  return std::vector<bool>(values.data(), values.data() + values.size());
}

Array<bool> to_flags(const std::vector<bool>& values) {
  auto* owned = new bool[values.size()];
  std::copy(values.begin(), values.end(), owned);
  return {owned, {values.size()}, nb::capsule(owned, [](void* p) noexcept { delete[] static_cast<bool*>(p); })};
}

std::tuple<Array<float>, Array<float>> shares(const std::vector<LexicalShare>& values) {
  std::vector<float> listed, left;
  for (const LexicalShare& share : values) {
    listed.push_back(static_cast<float>(share.listed));
    left.push_back(static_cast<float>(share.left));
  }
  return {to_array(std::move(listed)), to_array(std::move(left))};
}

void bind_contexts(nb::module_& m) {
  nb::class_<ContextTree>(m, "ContextTree", "Word contexts, closed under prefixes; single words have their ids.")
      .def("__init__",
           [](ContextTree* self, WordId num_words, const Input<std::uint32_t>& parent, const Input<WordId>& word) {
             new (self) ContextTree(num_words, to_vector(parent), to_vector(word));
           },
           "num_words"_a, "parent"_a, "word"_a)
      .def_prop_ro("size", &ContextTree::size)
      .def_prop_ro("num_words", &ContextTree::num_words)
      .def("next", &ContextTree::next, "context"_a, "word"_a)
      .def("words", &ContextTree::words, "context"_a)
      .def_prop_ro("lengths",
                   [](const ContextTree& tree) {
                     std::vector<std::uint8_t> lengths;
                     for (ContextId x = 0; x < tree.size(); ++x) {
                       lengths.push_back(static_cast<std::uint8_t>(tree.length(x)));
                     }
                     return to_array(std::move(lengths));
                   },
                   nb::rv_policy::move)
      .def("longer",
           [](const ContextTree& tree) {
             std::vector<ContextId> parent;
             std::vector<WordId> word;
             for (ContextId x = tree.num_words(); x < tree.size(); ++x) {
               parent.push_back(tree.prefix(x));
               word.push_back(tree.last(x));
             }
             return std::tuple(to_array(std::move(parent)), to_array(std::move(word)));
           },
           "Prefix and last word of each context of several words.")
      .def("token_contexts",
           [](const ContextTree& tree, const TokenText& text) { return to_array(token_contexts(tree, text)); },
           "text"_a, "The context before each token, </s> included.");
  nb::class_<LexicalTable>(m, "LexicalTable", "What contexts say of the next word.")
      .def("__init__",
           [](LexicalTable* self, const Input<std::uint64_t>& begin, const Input<WordId>& word,
              const Input<float>& probability, const Input<float>& back_off) {
             new (self) LexicalTable{to_vector(begin), to_vector(word), to_vector(probability), to_vector(back_off)};
           },
           "begin"_a, "word"_a, "probability"_a, "back_off"_a)
      .def_prop_ro("begin", [](const LexicalTable& t) { return to_array(t.begin); }, nb::rv_policy::move)
      .def_prop_ro("word", [](const LexicalTable& t) { return to_array(t.word); }, nb::rv_policy::move)
      .def_prop_ro("probability", [](const LexicalTable& t) { return to_array(t.probability); }, nb::rv_policy::move)
      .def_prop_ro("back_off", [](const LexicalTable& t) { return to_array(t.back_off); }, nb::rv_policy::move)
      .def("shares",
           [](const LexicalTable& table, const ContextTree& tree, const TokenText& text) {
             std::vector<LexicalShare> result;
             const std::vector<ContextId> contexts = token_contexts(tree, text);
             for (std::size_t s = 0, t = 0; s < text.num_sentences(); ++s) {
               for (const WordId w : text.sentence(s)) result.push_back(table.share(tree, contexts[t++], w));
               result.push_back(table.share(tree, contexts[t++], SENTENCE_END));
             }
             return shares(result);
           },
           "tree"_a, "text"_a, "l and g of each token, </s> included.");
  nb::class_<LexicalCounts>(m, "LexicalCounts", "Counts of the words after listed contexts.")
      .def("__init__",
           [](LexicalCounts* self, const ContextTree& tree, const Input<bool>& listed, const TokenText& text,
              const ContextDiscounts& discounts) {
             const std::vector<bool> given = to_flags(listed);
             const WithoutGil release;
             new (self) LexicalCounts(tree, given, text, discounts);
           },
           "tree"_a, "listed"_a, "text"_a, "discounts"_a, nb::keep_alive<1, 2>())
      .def("table", &LexicalCounts::table)
      .def("leave_one_out",
           [](const LexicalCounts& counts, const TokenText& text) {
             return shares(released([&] { return counts.leave_one_out(text); }));
           },
           "text"_a, "l and g of each token of the text that was counted, without the token itself.")
      .def_prop_ro("totals", [](const LexicalCounts& counts) { return to_array(counts.totals()); },
                   nb::rv_policy::move);
  nb::class_<SelectionOptions>(m, "SelectionOptions")
      .def(nb::init<>())
      .def_rw("most", &SelectionOptions::most)
      .def_rw("least_gain", &SelectionOptions::least_gain)
      .def_rw("discounts", &SelectionOptions::discounts)
      .def_rw("lexical_weight", &SelectionOptions::lexical_weight)
      .def_rw("optimism", &SelectionOptions::optimism);
  m.def("select_contexts",
        [](const TokenText& text, WordId num_words, const Input<double>& log_prob, const SelectionOptions& options) {
          SelectedContexts chosen =
              released([&] { return select_contexts(text, num_words, view_of(log_prob), options); });
          return std::tuple(std::move(chosen.tree), to_flags(chosen.listed));
        },
        "text"_a, "num_words"_a, "log_prob"_a, "options"_a, "Contexts, and which of them are listed.");
}

void bind_residual(nb::module_& m) {
  nb::class_<ResidualEm>(m, "ResidualEm", "Counts of hidden states beside a lexical route.")
      .def("__init__",
           [](ResidualEm* self, const TokenText& text, const HmmShape& shape) {
             const WithoutGil release;
             new (self) ResidualEm(text, shape);
           },
           "text"_a, "shape"_a)
      .def("iterate",
           [](ResidualEm& em, const SparseHmm& chain, const Input<float>& lexical, const Input<float>& gamma,
              int threads) {
             return released([&] { return em.iterate(chain, view_of(lexical), view_of(gamma), threads); });
           },
           "chain"_a, "lexical"_a, "gamma"_a, "threads"_a)
      .def("fit",
           [](const ResidualEm& em, LogBilinear& model, std::uint32_t passes, int threads) {
             return model.fit(em.total(), em.prior(), passes, threads);
           },
           "model"_a, "passes"_a, "threads"_a, nb::call_guard<WithoutGil>())
      .def("chain",
           [](const ResidualEm& em, const LogBilinear& model, const Smoothing& smoothing, double weight, double within,
              int threads) { return model.chain(em.total(), em.prior(), smoothing, weight, within, threads); },
           "model"_a, "smoothing"_a, "weight"_a, "within"_a, "threads"_a, nb::call_guard<WithoutGil>());
  nb::class_<KeptStates>(m, "KeptStates", "States of contexts: where each context's begin, and their places.")
      .def_prop_ro("begin", [](const KeptStates& kept) { return to_array(kept.begin); }, nb::rv_policy::move)
      .def_prop_ro("places", [](const KeptStates& kept) { return to_array(kept.places); }, nb::rv_policy::move);
  nb::class_<JointFilter>(m, "JointFilter", "All states of several chains together.")
      .def("__init__",
           [](JointFilter* self, const ChainList& chains, const std::vector<double>& weights, const TokenText& text,
              const Input<float>& lexical, const Input<float>& gamma, const ContextTree* tree, int threads) {
             const LexicalRoute route{view_of(lexical), view_of(gamma)};
             const WithoutGil release;
             new (self) JointFilter(joint_filter(chains, weights, text, route, tree, threads));
           },
           "chains"_a, "weights"_a, "text"_a, "lexical"_a, "gamma"_a, "tree"_a.none(), "threads"_a)
      .def_prop_ro("hidden", [](const JointFilter& filter) { return to_array(filter.hidden); }, nb::rv_policy::move)
      .def_prop_ro("log_prob", [](const JointFilter& filter) { return to_array(filter.log_prob); },
                   nb::rv_policy::move)
      .def("keep",
           [](const JointFilter& filter, const ChainList& chains, const ContextTree& tree, std::uint64_t most) {
             return released([&] { return keep_states(chains, tree, filter, most); });
           },
           "chains"_a, "tree"_a, "most"_a);
  m.def("keep_all", &keep_all, "chains"_a, "tree"_a);
}

Numbers as_tuple(StateNumbers numbers) {
  return {to_array(std::move(numbers.begin)), to_array(std::move(numbers.states)), to_array(std::move(numbers.values)),
          numbers.log_prob};
}

std::vector<Numbers> as_tuples(std::vector<StateNumbers> sentences) {
  std::vector<Numbers> result;
  for (StateNumbers& numbers : sentences) result.push_back(as_tuple(std::move(numbers)));
  return result;
}

void bind_model(nb::module_& m) {
  nb::class_<LexicalHmm>(m, "LexicalHmm", "A lexicalised hidden Markov model; immutable.")
      .def("__init__",
           [](LexicalHmm* self, const ContextTree& contexts, const LexicalTable& table,
              const Input<float>& lexical_weight, const ChainList& chains, const std::vector<double>& chain_weight,
              const Input<std::uint64_t>& state_begin, const Input<std::uint16_t>& places) {
             LexicalHmm model{contexts, table, to_vector(lexical_weight), {}, chain_weight, to_vector(state_begin),
                              to_vector(places), {}, {}};
             for (const SparseHmm* chain : chains) model.chains.push_back(*chain);
             model.prepare();
             new (self) LexicalHmm(std::move(model));
           },
           "contexts"_a, "table"_a, "lexical_weight"_a, "chains"_a, "chain_weight"_a, "state_begin"_a, "places"_a)
      .def_prop_ro("num_states", &LexicalHmm::num_states)
      .def_prop_ro("num_words", &LexicalHmm::num_words)
      .def_prop_ro("num_chains", &LexicalHmm::num_chains)
      .def_prop_ro("has_end", [](const LexicalHmm&) { return true; })
      .def_ro("contexts", &LexicalHmm::contexts)
      .def_ro("table", &LexicalHmm::table)
      .def("chain", [](const LexicalHmm& model, std::size_t i) { return model.chains.at(i); }, "i"_a)
      .def_ro("chain_weight", &LexicalHmm::chain_weight)
      .def_prop_ro("lexical_weight", [](const LexicalHmm& h) { return to_array(h.lexical_weight); },
                   nb::rv_policy::move)
      .def_prop_ro("state_begin", [](const LexicalHmm& h) { return to_array(h.state_begin); }, nb::rv_policy::move)
      .def_prop_ro("places", [](const LexicalHmm& h) { return to_array(h.places); }, nb::rv_policy::move)
      .def("token_log_probs",
           [](const LexicalHmm& model, const TokenText& text, int threads) {
             return to_array(released([&] { return token_log_probs(model, text, threads); }));
           },
           "text"_a, "threads"_a, "ln p of each word and </s> given the words before it.")
      .def("step",
           [](const LexicalHmm& model, ContextId x, const Input<double>& from, WordId w) {
             if (x >= model.contexts.size() || w >= model.num_words() || from.size() != model.states_of(x)) {
               throw nb::value_error("a context, a word or numbers of states that the model does not have");
             }
             std::vector<double> to;
             if (!model.emits(w)) return std::tuple(ContextId{w}, to_array(std::move(to)));
             LexicalMove move(model);
             move.open(x, w);
             to.assign(move.to_size(), 0.0);
             move.add_forward(from.data(), to.data());
             return std::tuple(move.to(), to_array(std::move(to)));
           },
           "context"_a, "weights"_a, "word"_a,
           "The next context, and weights of its states: the given ones times p(word, state' | state).");
  m.def("filter_states",
        [](const LexicalHmm& model, const Words& words, bool complete) {
          return as_tuple(released([&] { return filter_states(model, view_of(words), complete); }));
        },
        "chain"_a, "words"_a, "complete"_a);
  m.def("posterior_states",
        [](const LexicalHmm& model, const Words& words, bool complete) {
          return as_tuple(released([&] { return posterior_states(model, view_of(words), complete); }));
        },
        "chain"_a, "words"_a, "complete"_a);
  m.def("filter_sentences",
        [](const LexicalHmm& model, const TokenText& text, int threads) {
          const auto query = [&](std::span<const WordId> words) { return filter_states(model, words, false); };
          return as_tuples(released([&] { return for_sentences(text, threads, query); }));
        },
        "chain"_a, "text"_a, "threads"_a);
  m.def("posterior_sentences",
        [](const LexicalHmm& model, const TokenText& text, int threads) {
          const auto query = [&](std::span<const WordId> words) { return posterior_states(model, words, true); };
          return as_tuples(released([&] { return for_sentences(text, threads, query); }));
        },
        "chain"_a, "text"_a, "threads"_a);
  m.def("best_states",
        [](const LexicalHmm& model, const Words& words, bool complete) {
          BestStates best = released([&] { return best_states(model, view_of(words), complete); });
          return std::tuple(to_array(std::move(best.states)), best.log_prob);
        },
        "chain"_a, "words"_a, "complete"_a);
  m.def("next_words",
        [](const LexicalHmm& model, const Words& words) {
          return to_array(released([&] { return next_words(model, view_of(words)); }));
        },
        "chain"_a, "words"_a);
  m.def("state_visits",
        [](const LexicalHmm& model, const TokenText& text, int threads) {
          return to_array(released([&] { return state_visits(model, text, threads); }));
        },
        "chain"_a, "text"_a, "threads"_a);
}

void bind_product(nb::module_& m) {
  nb::class_<LexicalProduct>(m, "LexicalProduct", "Sentences of a lexicalised model that an automaton accepts.")
      .def("__init__",
           [](LexicalProduct* self, const LexicalHmm& model, const Automaton& automaton,
              const std::vector<WordId>& fixed, std::uint32_t shortest, std::uint32_t longest, bool best,
              int threads) {
             const WithoutGil release;
             new (self) LexicalProduct(model, automaton, fixed, shortest, longest, best, threads);
           },
           "model"_a, "automaton"_a, "fixed"_a, "shortest"_a, "longest"_a, "best"_a, "threads"_a,
           nb::keep_alive<1, 2>())
      .def_prop_ro("log_prob", &LexicalProduct::log_prob)
      .def("draw",
           [](const LexicalProduct& product, std::uint64_t seed, std::uint64_t stream) {
             Random random(seed, stream);
             return product.draw(random);
           },
           "seed"_a, "stream"_a, nb::call_guard<WithoutGil>())
      .def("best_walk", &LexicalProduct::best_walk, nb::call_guard<WithoutGil>(), "The most probable words and states.")
      .def("word_probabilities",
           [](const LexicalProduct& product, const std::vector<std::uint32_t>& positions) {
             auto rows = released([&] { return product.word_probabilities(positions); });
             std::vector<Array<double>> result;
             for (auto& row : rows) result.push_back(to_array(std::move(row)));
             return result;
           },
           "positions"_a, "p(word at a position | constraint), for each position.");
}

}  // namespace

void bind_hmm_lexical(nb::module_& m) {
  bind_contexts(m);
  bind_residual(m);
  bind_model(m);
  bind_product(m);
}
