#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "bindings.hpp"
#include "hiddenite/channel/context/context_training.hpp"

using namespace hiddenite::channel;
using namespace nb::literals;

namespace {

using SymbolIds = std::tuple<std::uint32_t, std::string, double, std::vector<WordId>>;

void set_transitions(ContextTrainer& self, const std::vector<const NgramTable*>& tables,
                     const Input<std::uint32_t>& fold, const std::vector<SymbolIds>& symbols) {
  FoldTransitions transitions{tables, to_vector(fold), {}};
  for (const auto& [tag, word, log_prior, ids] : symbols) transitions.symbols.push_back({tag, word, log_prior, ids});
  self.set_transitions(std::move(transitions));
}

void copy_floats(const Input<float>& from, std::vector<float>& to) {
  if (from.size() != to.size()) throw nb::value_error("the number of weights differs");
  std::copy_n(from.data(), from.size(), to.begin());
}

auto marginals_of(const NgramTable& table, const std::vector<std::vector<std::pair<WordId, double>>>& slots) {
  std::vector<std::size_t> begin{0};
  std::vector<WordId> ids;
  std::vector<double> scores;
  for (const auto& slot : slots) {
    for (const auto& [id, score] : slot) {
      if (id >= table.vocabulary.size()) throw nb::index_error("a symbol is out of range");
      ids.push_back(id);
      scores.push_back(score);
    }
    begin.push_back(ids.size());
  }
  std::vector<double> marginals(ids.size());
  StepMemory steps(table);
  const double log_total = TagLattice().sum(steps, begin, ids, scores, marginals);
  return std::pair(log_total, marginals);
}

void bind_trainer(nb::module_& m) {
  nb::class_<ContextTrainer>(m, "ContextTrainer", "Finds the weights of context emissions, an epoch at a time.")
      .def("__init__", [](ContextTrainer* self, const TagParts& parts, std::vector<std::string> words,
                          const Input<std::uint32_t>& word, const Input<std::uint32_t>& tag,
                          const Input<std::uint32_t>& counted, const Input<std::uint64_t>& begin,
                          const Input<std::uint64_t>& evidence_begin, const Input<std::uint32_t>& evidence_tag,
                          const Input<double>& evidence_log, const Guesser& guesser, double guess_weight,
                          double base_weight, double prior_weight, double penalty, double margin, bool drop_words,
                          std::uint64_t seed, const WordAttributes* attributes) {
        TaggedText text{std::move(words),         to_vector(word),         to_vector(tag),         to_vector(counted),
                        to_vector(begin), to_vector(evidence_begin), to_vector(evidence_tag), to_vector(evidence_log)};
        const ContextOptions options{guess_weight, base_weight, prior_weight, penalty, margin, drop_words, seed};
        const WithoutGil release;
        new (self) ContextTrainer(parts, std::move(text), guesser, options, attributes);
      }, "parts"_a, "words"_a, "word"_a, "tag"_a, "counted"_a, "begin"_a, "evidence_begin"_a, "evidence_tag"_a,
           "evidence_log"_a, "guesser"_a, "guess_weight"_a, "base_weight"_a, "prior_weight"_a, "penalty"_a,
           "margin"_a, "drop_words"_a, "seed"_a, "attributes"_a.none() = nb::none(), nb::keep_alive<1, 19>())
      .def("set_transitions", &set_transitions, "tables"_a, "fold"_a, "symbols"_a, nb::keep_alive<1, 2>(),
           "Symbols are tag, word, ln of the share, and the id in each fold's table.")
      .def("local_epoch", [](ContextTrainer& self, double rate) {
        const WithoutGil release;
        self.local_epoch(rate);
      }, "rate"_a)
      .def("structured_epoch", [](ContextTrainer& self, double rate) {
        const WithoutGil release;
        self.structured_epoch(rate);
      }, "rate"_a)
      .def("log_likelihood", [](ContextTrainer& self, bool structured) {
        const WithoutGil release;
        return self.log_likelihood(structured, nullptr);
      }, "structured"_a)
      .def("gradient", [](ContextTrainer& self, bool structured) {
        std::vector<double> gradient;
        self.log_likelihood(structured, &gradient);
        return to_array(std::move(gradient));
      }, "structured"_a, "Of the log likelihood, by each weight.")
      .def_prop_rw("weights", [](ContextTrainer& self) { return to_array(self.weights()); },
                   [](ContextTrainer& self, const Input<float>& values) { copy_floats(values, self.weights()); },
                   nb::for_getter(nb::rv_policy::automatic))
      .def_prop_rw("squares", [](ContextTrainer& self) { return to_array(self.squares()); },
                   [](ContextTrainer& self, const Input<float>& values) { copy_floats(values, self.squares()); },
                   nb::for_getter(nb::rv_policy::automatic))
      .def("finish", [](const ContextTrainer& self, double least) {
        ContextWeights found = self.finish(least);
        return nb::make_tuple(to_array(std::move(found.keys)), to_array(std::move(found.begin)),
                              to_array(std::move(found.parts)), to_array(std::move(found.weights)));
      }, "least"_a,
           nb::sig("def finish(self, least: float) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint64], "
                   "NDArray[numpy.uint32], NDArray[numpy.float32]]"),
           "Keys, begin, parts, weights; those of at least so much.");
}

}  // namespace

void bind_context(nb::module_& m) {
  nb::class_<WordAttributes>(m, "WordAttributes", "Numbers that are known of words; immutable.")
      .def("__init__", [](WordAttributes* self, const std::vector<std::string>& words,
                          const Input<std::uint64_t>& begin, const Input<std::uint32_t>& numbers) {
        new (self) WordAttributes(words, to_vector(begin), to_vector(numbers));
      }, "words"_a, "begin"_a, "numbers"_a)
      .def("of", [](const WordAttributes& self, std::string_view word) {
        const auto found = self.of(word);
        return std::vector<std::uint32_t>(found.begin(), found.end());
      }, "word"_a, "As it is listed, or in lower case.");
  nb::class_<TagParts>(m, "TagParts", "The parts that tags are made of; immutable.")
      .def(nb::init<std::size_t>(), "num_tags"_a, "Each tag is its own part.")
      .def("__init__", [](TagParts* self, const Input<std::uint64_t>& begin, const Input<std::uint32_t>& parts) {
        new (self) TagParts(to_vector(begin), to_vector(parts));
      }, "begin"_a, "parts"_a)
      .def_prop_ro("num_parts", &TagParts::num_parts);
  nb::class_<ContextEmissions>(m, "ContextEmissions", "What observed words add to the weights of tags; immutable.")
      .def("__init__", [](ContextEmissions* self, const TagParts& tag_parts, const Input<std::uint64_t>& keys,
                          const Input<std::uint64_t>& begin, const Input<std::uint32_t>& parts,
                          const Input<float>& weights, double base_weight, double prior_weight,
                          const WordAttributes* attributes) {
        ContextWeights table{to_vector(keys), to_vector(begin), to_vector(parts), to_vector(weights)};
        new (self) ContextEmissions(tag_parts, std::move(table), base_weight, prior_weight, attributes);
      }, "tag_parts"_a, "keys"_a, "begin"_a, "parts"_a, "weights"_a, "base_weight"_a, "prior_weight"_a,
           "attributes"_a.none() = nb::none(), nb::keep_alive<1, 9>());
  bind_trainer(m);
  m.def("tag_lattice_marginals", &marginals_of, "table"_a, "slots"_a,
        "Of slots of (symbol, score): ln of the sum over all paths, and the candidates' posterior probabilities.");
}
