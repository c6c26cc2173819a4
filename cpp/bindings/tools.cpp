#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/lm/compiled.hpp"
#include "hiddenite/lm/tools/compact.hpp"
#include "hiddenite/lm/tools/mixture.hpp"
#include "hiddenite/lm/tools/pruning.hpp"
#include "hiddenite/lm/tools/rebuild.hpp"
#include "hiddenite/lm/tools/sampler.hpp"

using namespace hiddenite::lm;
using namespace nb::literals;

namespace {

using Tables = std::vector<const NgramTable*>;

std::vector<Array<double>> mixture_log_probs_of(const Tables& tables, nb::bytes text, const std::string& name) {
  std::vector<std::vector<double>> columns;
  const std::string_view view(text.c_str(), text.size());
  {
    const WithoutGil release;
    columns = mixture_log_probs(tables, view, name);
  }
  std::vector<Array<double>> result;
  for (std::vector<double>& column : columns) result.push_back(to_array(std::move(column)));
  return result;
}

std::vector<std::tuple<std::vector<std::string>, double, bool>> sample_sentences(
    const NgramTable& table, std::uint64_t count, const std::string& prefix, std::uint64_t most_words,
    std::uint64_t seed, std::uint64_t first_stream) {
  std::vector<std::tuple<std::vector<std::string>, double, bool>> result;
  const WithoutGil release;
  const SentenceSampler sampler(table);
  for (std::uint64_t i = 0; i < count; ++i) {
    hiddenite::base::Random random(seed, first_stream + i);
    const SentenceSampler::Draw draw = sampler.draw(prefix, most_words, random);
    std::vector<std::string> words;
    for (const WordId w : draw.words) words.emplace_back(table.vocabulary.word(w));
    result.emplace_back(std::move(words), draw.log_prob, draw.ended);
  }
  return result;
}

void write_compact_to(const NgramTable& table, WriteCallable write) {
  const WithoutGil release;
  verify(table);
  write_compact(table, [&](std::string_view bytes) {
    const nb::gil_scoped_acquire gil;
    write(nb::bytes(bytes.data(), bytes.size()));
  });
}

}  // namespace

void bind_tools(nb::module_& m) {
  nb::enum_<Histories>(m, "Histories", "How often pruning thinks that contexts occur.")
      .value("TEXT", Histories::TEXT)
      .value("EXACT", Histories::EXACT)
      .value("STOLCKE", Histories::STOLCKE);
  m.def("mix_tables", [](const Tables& tables, const std::vector<double>& weights) {
    const WithoutGil release;
    for (const NgramTable* table : tables) verify(*table);
    return mix_tables(tables, weights);
  }, "tables"_a, "weights"_a);
  m.def("mixture_log_probs", &mixture_log_probs_of, "tables"_a, "text"_a, "name"_a,
        "ln p of each word and </s> under each table; words of other tables have probability zero.");
  m.def("prune_by_entropy", [](const NgramTable& table, double threshold, Histories histories) {
    const WithoutGil release;
    verify(table);
    return prune_by_entropy(table, threshold, histories);
  }, "table"_a, "threshold"_a, "histories"_a);
  m.def("prune_to_size", [](const NgramTable& table, std::size_t keep, Histories histories) {
    const WithoutGil release;
    verify(table);
    PrunedToSize pruned = prune_to_size(table, keep, histories);
    return std::tuple(std::move(pruned.table), pruned.threshold);
  }, "table"_a, "keep"_a, "histories"_a, "The table, and the threshold that leaves so many n-grams.");
  m.def("relative_entropies", [](const NgramTable& table, Histories histories) {
    std::vector<double> costs;
    {
      const WithoutGil release;
      costs = relative_entropies(table, histories);
    }
    std::vector<std::tuple<std::vector<WordId>, double>> result;
    for (int n = 2; n <= table.order; ++n) {
      table.for_each_ngram(n, table.level_begin[n], table.level_begin[n + 1],
                           [&](NodeId node, std::span<const WordId> words) {
        result.emplace_back(std::vector<WordId>(words.begin(), words.end()), costs[node]);
      });
    }
    return result;
  }, "table"_a, "histories"_a,
     "N-grams of order 2 and above, and what each costs if it alone goes; NaN: it must stay.");
  m.def("weigh_table", [](const NgramTable& table, double weight, bool begins) {
    const WithoutGil release;
    verify(table);
    return weigh_table(table, weight, begins);
  }, "table"_a, "weight"_a, "begins"_a);
  m.def("limit_order", [](const NgramTable& table, int order) {
    const WithoutGil release;
    verify(table);
    return limit_order(table, order);
  }, "table"_a, "order"_a);
  m.def("filter_words", [](const NgramTable& table, const std::vector<std::string>& words, bool with_renormalization) {
    const WithoutGil release;
    verify(table);
    return filter_words(table, words, with_renormalization);
  }, "table"_a, "words"_a, "with_renormalization"_a);
  m.def("quantize", [](const NgramTable& table, int bits) {
    const WithoutGil release;
    verify(table);
    return quantize(table, bits);
  }, "table"_a, "bits"_a);
  m.def("write_compact", &write_compact_to, "table"_a, "write"_a);
  m.def("sample_sentences", &sample_sentences, "table"_a, "count"_a, "prefix"_a, "most_words"_a, "seed"_a,
        "first_stream"_a, "Words, ln p and whether </s> was drawn, of sentences that begin with the prefix.");
}
