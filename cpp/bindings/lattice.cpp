#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>

#include "bindings.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/exact/search.hpp"
#include "hiddenite/lattice/best_path.hpp"
#include "hiddenite/lattice/path_shares.hpp"

using namespace nb::literals;
using namespace hiddenite::lattice;

namespace {

void check_labels(const WordGraph& graph, const Labels& label) {
  if (label.size() != graph.num_edges()) throw nb::value_error("a lattice needs one label for each edge");
}

// A composition and the lattice that it was made of.
struct BoundComposition {
  WordGraph graph;
  Composition composition;

  BoundComposition(const NgramTable* table, WordGraph given, const CompositionOptions& options)
      : graph(std::move(given)), composition(table, graph, options) {}
  BoundComposition(const ModelMixture& mixture, WordGraph given, const CompositionOptions& options)
      : graph(std::move(given)), composition(mixture, graph, options) {}
  const Composition& with_path() const {
    if (!composition.has_path()) throw nb::value_error("the lattice has no path");
    return composition;
  }
};

void check_words(const NgramTable* table, const WordGraph& graph) {
  for (const WordId w : graph.word) {
    if (table && w != NO_WORD && (w >= table->vocabulary.size() || w == SENTENCE_BEGIN || w == SENTENCE_END)) {
      throw nb::index_error("a lattice has a word number that the model does not have");
    }
  }
}

std::vector<std::tuple<Labels, Labels, double>> rows_of(RankedSequences ranked) {
  std::vector<std::tuple<Labels, Labels, double>> rows;
  for (LabelSequence& s : ranked.found) rows.emplace_back(std::move(s.labels), std::move(s.edges), s.log_weight);
  return rows;
}

std::tuple<Labels, double, bool, double, std::uint64_t> row_of(BestPath best) {
  const Certificate& c = best.certificate;
  return {std::move(best.path.edges), best.path.log_weight, c.exact(), c.upper(), c.states()};
}

// A search by refinement, and the language model's table that it refers to.
struct LatticeSearch {
  LatticeSearch(const NgramTable& table, const WordGraph& graph, const GraphOptions& options, Strategy strategy,
                bool paper)
      : method(paper ? Method::PAPER : Method::REFINE), num_nodes(graph.num_nodes), num_edges(graph.num_edges()),
        make([&table, graph, options, strategy, this] {
          return make_graph_relaxation(table, graph, method, options, strategy);
        }),
        decoder(make()) {}
  Method method;
  std::uint32_t num_nodes;
  std::size_t num_edges;
  std::function<std::unique_ptr<GraphRelaxation>()> make;
  Decoder decoder;
};

Deadline deadline_of(double seconds, std::uint64_t refinements, std::uint64_t states) {
  return Deadline(Budget{seconds, refinements, states});
}

// exact, upper, refinements, states
using ProofRow = std::tuple<bool, double, std::uint64_t, std::uint64_t>;
ProofRow proof_row(const Certificate& c) { return {c.exact(), c.upper(), c.refinements(), c.states()}; }

void bind_lattice_search(nb::module_& m) {
  nb::class_<LatticeSearch>(m, "LatticeSearch", "The best paths of a lattice by refinement of a bound.")
      .def("__init__",
           [](LatticeSearch* self, const NgramTable& table, const WordGraph& graph, double lm_weight, bool begins,
              bool ends, Strategy strategy, bool paper) {
             check_words(&table, graph);
             if (!(lm_weight >= 0.0)) throw nb::value_error("the weight of the model is below 0");
             new (self) LatticeSearch(table, graph, {lm_weight, begins, ends, 0.0}, strategy, paper);
           },
           nb::keep_alive<1, 2>(), "table"_a, "graph"_a, "lm_weight"_a, "begins"_a, "ends"_a,
           "strategy"_a = Strategy::ALL_BY_ONE, "paper"_a = false)
      .def("step", [](LatticeSearch& self) {
        self.decoder.step();
        return self.decoder.last();
      }, nb::call_guard<WithoutGil>())
      .def("run", [](LatticeSearch& self, double seconds, std::uint64_t refinements, std::uint64_t states) {
        const WithoutGil release;
        Decoded decoded = self.decoder.run(deadline_of(seconds, refinements, states), self.method);
        return std::tuple(std::move(decoded.path), decoded.log_weight, proof_row(decoded.certificate));
      }, "seconds"_a, "refinements"_a, "states"_a, "edges, log weight, (exact, upper, refinements, states)")
      .def("kbest", [](const LatticeSearch& self, std::size_t k, const Labels& label, double seconds,
                       std::uint64_t refinements, std::uint64_t states) {
        if (!label.empty() && label.size() != self.num_edges) throw nb::value_error("one label for each edge");
        const WithoutGil release;
        const auto q = self.make();
        KBest best = kbest_of_graph(*q, k, label, self.method, deadline_of(seconds, refinements, states));
        return std::tuple(std::move(best.paths), std::move(best.log_weights), proof_row(best.certificate));
      }, "k"_a, "label"_a, "seconds"_a, "refinements"_a, "states"_a,
         "The k best paths, of those with equal labels the best: edges, log weights, (exact, upper, refinements, "
         "states).")
      .def("states", [](const LatticeSearch& self, std::uint32_t node) {
        if (node > self.num_nodes) throw nb::index_error("no such node");
        std::vector<std::tuple<std::vector<WordId>, bool>> rows;
        for (StateView& view : self.decoder.relaxation().states(node)) rows.emplace_back(view.words, view.closed);
        return rows;
      }, "node"_a, "What the states at a node know: words, and whether nothing else matters.");
}

std::pair<Labels, double> as_pair(GraphPath path) { return {std::move(path.edges), path.log_weight}; }

}  // namespace

void bind_lattice(nb::module_& m) {
  m.attr("SILENT") = SILENT;
  m.attr("NO_WORD") = NO_WORD;
  nb::class_<WordGraph>(m, "WordGraph", "A word lattice: nodes in order, edges by the node that they leave.")
      .def("__init__",
           [](WordGraph* self, std::uint32_t start, std::vector<std::uint32_t> from, std::vector<std::uint32_t> to,
              std::vector<WordId> word, std::vector<double> log_weight, std::vector<double> log_final) {
             new (self) WordGraph{static_cast<std::uint32_t>(log_final.size()), start, std::move(from), std::move(to),
                                  std::move(word), std::move(log_weight), std::move(log_final)};
             self->check();
           },
           "start"_a, "start_of"_a, "end_of"_a, "word"_a, "log_weight"_a, "log_final"_a)
      .def_prop_ro("num_edges", &WordGraph::num_edges)
      .def("nearest_path",
           [](const WordGraph& graph, const Labels& label, const Labels& sequence) {
             check_labels(graph, label);
             const WithoutGil release;
             NearestPath nearest = nearest_path(graph, label, sequence);
             return std::pair(nearest.errors, std::move(nearest.words_before));
           },
           "label"_a, "sequence"_a, "The least word errors of a path, and where the sequence stands at each node.");
  nb::class_<BoundComposition>(m, "Composition", "A word lattice times a language model.")
      .def("__init__",
           [](BoundComposition* self, const NgramTable* table, const WordGraph& graph, double lm_weight, bool begins,
              bool ends, std::uint64_t max_states, double seconds) {
             check_words(table, graph);
             const WithoutGil release;
             new (self) BoundComposition(table, graph, {lm_weight, begins, ends, max_states, Deadline(seconds)});
           },
           "table"_a.none(), "graph"_a, "lm_weight"_a, "begins"_a, "ends"_a, "max_states"_a, "seconds"_a)
      .def_static("mixture",
                  [](const std::vector<const NgramTable*>& tables, const std::vector<double>& log_share,
                     const std::vector<std::vector<WordId>>& ids, const WordGraph& graph, double lm_weight, bool begins,
                     bool ends, std::uint64_t max_states, double seconds) {
                    const WithoutGil release;
                    return BoundComposition({tables, log_share, ids}, graph,
                                            {lm_weight, begins, ends, max_states, Deadline(seconds)});
                  },
                  "tables"_a, "log_share"_a, "ids"_a, "graph"_a, "lm_weight"_a, "begins"_a, "ends"_a, "max_states"_a,
                  "seconds"_a, "A word lattice times a mixture of models, words numbered for all of them together.")
      .def_prop_ro("num_states", [](const BoundComposition& self) { return self.composition.num_states(); })
      .def_prop_ro("num_arcs", [](const BoundComposition& self) { return self.composition.num_arcs(); })
      .def_prop_ro("rounding", [](const BoundComposition& self) { return self.with_path().rounding(); })
      .def_prop_ro("has_path",
                   [](const BoundComposition& self) {
                     const WithoutGil release;
                     return self.composition.has_path();
                   })
      .def_prop_ro("log_partition",
                   [](const BoundComposition& self) {
                     const WithoutGil release;
                     return self.with_path().log_partition();
                   })
      .def("best", [](const BoundComposition& self) { return as_pair(self.with_path().best()); },
           nb::call_guard<WithoutGil>(), "The edges of the best path, and its weight.")
      .def("posteriors", [](const BoundComposition& self) { return self.with_path().posteriors(); },
           nb::call_guard<WithoutGil>(), "Of each edge: the share of all weight that goes through it.")
      .def("length_shares",
           [](const BoundComposition& self, const Labels& label) {
             check_labels(self.graph, label);
             const Composition& composition = self.with_path();
             std::vector<bool> counts(label.size());
             for (std::size_t e = 0; e < label.size(); ++e) counts[e] = label[e] != SILENT;
             const WithoutGil release;
             return composition.length_shares(counts);
           },
           "label"_a, "Of each number of words: the share of all weight that paths with so many have.")
      .def("best_through", [](const BoundComposition& self) { return self.with_path().best_through(); },
           nb::call_guard<WithoutGil>(), "Of each edge: the weight of the best path through it.")
      .def("sample",
           [](const BoundComposition& self, std::uint64_t count, std::uint64_t seed, std::uint64_t stream) {
             const Composition& composition = self.with_path();
             std::vector<std::pair<Labels, double>> draws;
             const WithoutGil release;
             Random random(seed, stream);
             for (std::uint64_t i = 0; i < count; ++i) {
               draws.push_back(as_pair(composition.draw(random)));
               check_interrupt_at(i * 64);
             }
             return draws;
           },
           "count"_a, "seed"_a, "stream"_a, "Independent paths with their weights.")
      .def("rank",
           [](const BoundComposition& self, const Labels& label, std::size_t count, bool sums,
              std::uint64_t max_prefixes) {
             check_labels(self.graph, label);
             const Composition& composition = self.with_path();
             const WithoutGil release;
             RankedSequences ranked = rank_sequences(composition, label, {count, sums, max_prefixes});
             const bool complete = ranked.complete;
             const double upper = ranked.upper;
             return std::tuple(rows_of(std::move(ranked)), complete, upper);
           },
           "label"_a, "count"_a, "sums"_a, "max_prefixes"_a,
           "Label sequences best first: labels, edges of the best path, weight; whether they are the best; what a "
           "missing one can weigh.")
      .def("total_of",
           [](const BoundComposition& self, const Labels& label, const Labels& sequence) {
             check_labels(self.graph, label);
             const WithoutGil release;
             return total_of(self.composition, label, sequence);
           },
           "label"_a, "sequence"_a, "ln of the total weight of the paths with these labels.");
  m.def("expected_errors",
        [](const BoundComposition& composition, const Labels& label, const Labels& sequence, std::uint64_t max_rows,
           double least_share) {
          check_labels(composition.graph, label);
          const Composition& made = composition.with_path();
          const WithoutGil release;
          const std::optional<ExpectedErrors> found = expected_errors(made, label, sequence, {max_rows, least_share});
          return found ? std::optional(std::pair(found->errors, found->left_out)) : std::nullopt;
        },
        "composition"_a, "label"_a, "sequence"_a, "max_rows"_a, "least_share"_a,
        "The expected word errors of a sequence, and the share of paths that they leave out; None beyond max_rows.");
  nb::class_<PathShares>(m, "PathShares", "Counts, orders and distances of words over the paths of a lattice.")
      .def("__init__",
           [](PathShares* self, const BoundComposition& composition, const Labels& label, double least_share) {
             check_labels(composition.graph, label);
             const Composition& made = composition.with_path();
             const WithoutGil release;
             new (self) PathShares(made, label, least_share);
           },
           "composition"_a, "label"_a, "least_share"_a)
      .def("counts", &PathShares::counts, "word"_a, nb::call_guard<WithoutGil>(),
           "Of each number: the share of paths in which the word stands so often.")
      .def("around",
           [](const PathShares& self, std::uint32_t x, std::uint32_t y, std::size_t size) {
             if (size == 0 || size > 16 || x == y) throw nb::value_error("expected two words and a size of 1 to 16");
             const WithoutGil release;
             return self.around(x, y, size);
           },
           "x"_a, "y"_a, "size"_a, "The shares of paths with y once, by how often x stands before and after it.")
      .def("errors",
           [](const PathShares& self, const Labels& sequence, double least_share, double enough,
              std::uint64_t max_rows) {
             if (sequence.size() > 64) return std::tuple(0.0, 1.0, std::uint64_t{0});
             const WithoutGil release;
             const PathShares::Errors found = self.errors(sequence, least_share, enough, max_rows);
             return std::tuple(found.sum, found.left_out, found.rows);
           },
           "sequence"_a, "least_share"_a, "enough"_a, "max_rows"_a,
           "No more than the expected errors of the sequence, the share of paths left out, and the work that it took.");
  m.def("best_lattice_path",
        [](const NgramTable* table, const WordGraph& graph, double lm_weight, bool begins, bool ends,
           std::uint64_t max_states, double seconds) {
          check_words(table, graph);
          const WithoutGil release;
          const CompositionOptions options{lm_weight, begins, ends, max_states, Deadline()};
          return row_of(find_best_path(table, graph, options, Deadline(seconds)));
        },
        "table"_a.none(), "graph"_a, "lm_weight"_a, "begins"_a, "ends"_a, "max_states"_a, "seconds"_a,
        "The edges of the best path, its weight (-inf: there is none), whether it is proved, what no path exceeds, and "
        "how many states the search made.");
  m.def("best_mixture_path",
        [](const std::vector<const NgramTable*>& tables, const std::vector<double>& log_share,
           const std::vector<std::vector<WordId>>& ids, const WordGraph& graph, double lm_weight, bool begins,
           bool ends, std::uint64_t max_states, double seconds) {
          const WithoutGil release;
          const CompositionOptions options{lm_weight, begins, ends, max_states, Deadline()};
          return row_of(find_best_path({tables, log_share, ids}, graph, options, Deadline(seconds)));
        },
        "tables"_a, "log_share"_a, "ids"_a, "graph"_a, "lm_weight"_a, "begins"_a, "ends"_a, "max_states"_a,
        "seconds"_a, "The same under a mixture of models.");
  bind_lattice_search(m);
  m.def("word_errors", [](const Labels& a, const Labels& b) { return word_errors(a, b); }, "a"_a, "b"_a,
        "Levenshtein's distance.");
  m.def("error_matrix", &error_matrix, "sequences"_a, nb::call_guard<WithoutGil>(),
        "Levenshtein's distance of each to each, row after row.");
}
