#include "hiddenite/exact/witness.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/channel/channel.hpp"
#include "hiddenite/lm/compiled.hpp"
#include "hiddenite/lm/fingerprint.hpp"

using namespace hiddenite::exact;
using namespace nb::literals;

namespace {

// words, closed, upper
using WeighedStateRow = std::tuple<std::vector<WordId>, bool, double>;
// complete, states of each position, refinements, states of the automaton
using WitnessRow = std::tuple<bool, std::vector<std::vector<WeighedStateRow>>, std::uint64_t, std::uint64_t>;

WitnessRow prove_reading(const NgramTable& table, const Reading& reading, const std::vector<WordId>& path, bool ends,
                         double seconds, std::uint64_t refinements, std::uint64_t states) {
  for (const WordId w : reading.words) {
    if (w >= table.vocabulary.size()) throw nb::index_error("word id out of range");
  }
  WitnessRow row;
  auto& [complete, positions, num_refinements, num_states] = row;
  const WithoutGil released;
  verify(table);
  const Candidates candidates =
      Candidates::from_csr(reading.begin, reading.words, reading.log_weights, ends, reading.spans);
  const Witness witness = prove(table, candidates, path, Deadline(Budget{seconds, refinements, states}));
  for (const auto& listed : witness.positions) {
    auto& rows = positions.emplace_back();
    for (const auto& [context, upper] : listed) {
      rows.emplace_back(context_words(table, context.node), context.closed, upper);
    }
  }
  complete = witness.complete;
  num_refinements = witness.refinements;
  num_states = witness.num_states;
  return row;
}

}  // namespace

void bind_witness(nb::module_& m) {
  m.def("prove", &prove_reading, "table"_a, "reading"_a, "path"_a, "ends"_a, "seconds"_a, "refinements"_a, "states"_a,
        "Complete, states of each position (words, closed, upper weight), refinements, states of the automaton.");
  m.def("fingerprint", [](const NgramTable& table) {
    verify(table);
    return hiddenite::lm::fingerprint(table);
  }, "table"_a, nb::call_guard<WithoutGil>(), "The name of what the model says.");
}
