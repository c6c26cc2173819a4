#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/base/container.hpp"
#include "hiddenite/lm/arpa.hpp"
#include "hiddenite/lm/compiled.hpp"
#include "hiddenite/lm/log10_text.hpp"
#include "hiddenite/lm/ngram.hpp"
#include "hiddenite/lm/score.hpp"

using namespace hiddenite::lm;
using namespace nb::literals;

namespace {

std::vector<std::size_t> ngram_counts(const NgramTable& table) {
  std::vector<std::size_t> counts;
  for (int n = 1; n <= table.order; ++n) counts.push_back(table.num_ngrams(n));
  return counts;
}

void check_ids(const NgramTable& table, const std::vector<WordId>& ids) {
  for (const WordId id : ids) {
    if (id >= table.vocabulary.size()) throw nb::index_error("word id out of range");
  }
}

std::tuple<NgramTable, std::vector<std::string>, std::size_t> read_arpa_from(
    ReadCallable read, std::string name, std::optional<double> unknown_log10) {
  LineReader lines(python_source(std::move(read)), std::move(name));
  ReadArpa result;
  {
    const WithoutGil release;
    result = read_arpa(lines, ArpaOptions{unknown_log10});
  }
  return {std::move(result.table), std::move(result.warnings), result.implied};
}


void write_arpa_to(const NgramTable& table, WriteCallable write, bool with_max_columns) {
  const TextSink sink = [&](std::string_view text) {
    const nb::gil_scoped_acquire gil;
    write(nb::bytes(text.data(), text.size()));
  };
  const WithoutGil release;
  verify(table);
  write_arpa(table, with_max_columns, sink);
}

NgramTable open_compiled_at(FileBytes file, std::string name) {
  const WithoutGil release;
  return open_compiled(bytes_of(file), std::move(name));
}

NgramTable open_compiled_member(const hiddenite::base::Container& container, const std::string& member,
                                std::string name) {
  const WithoutGil release;
  const auto bytes = container.array<char>(member);
  return open_compiled({bytes.data(), bytes.size()}, std::move(name));
}

void write_compiled_to(const NgramTable& table, WriteCallable write, bool with_index) {
  const WithoutGil release;
  write_compiled(table, with_index, [&](std::string_view bytes) {
    const nb::gil_scoped_acquire gil;
    write(nb::bytes(bytes.data(), bytes.size()));
  });
}

using Totals = PlainColumn<double>;
using Counts = PlainColumn<std::uint32_t>;

std::tuple<Totals, Totals, Counts, Counts> score_text_columns(const NgramTable& table, nb::bytes text, int threads,
                                                              const std::string& name, std::uint64_t first_line,
                                                              bool plain) {
  SentenceScores scores;
  const std::string_view view(text.c_str(), text.size());
  {
    const WithoutGil release;
    scores = score_text(table, view, threads, name, first_line, plain);
  }
  return {to_plain_column(std::move(scores.log_prob)), to_plain_column(std::move(scores.log_prob_known)),
          to_plain_column(std::move(scores.tokens)), to_plain_column(std::move(scores.oov))};
}

}  // namespace

void bind_ngram(nb::module_& m) {
  nb::class_<NgramTable>(m, "NgramTable", "A back-off language model; immutable.")
      .def_ro("order", &NgramTable::order)
      .def_ro("unknown_is_listed", &NgramTable::unknown_is_listed)
      .def_prop_ro("ngram_counts", &ngram_counts, "Number of n-grams per order.")
      .def_prop_ro("num_bytes", &NgramTable::bytes)
      .def_prop_ro("is_compiled", [](const NgramTable& t) { return t.container != nullptr; })
      .def("verify", [](const NgramTable& t) { verify(t); }, nb::call_guard<WithoutGil>(),
           "Compare the checksums of a compiled table.")
      .def_prop_ro("num_words", [](const NgramTable& t) { return t.vocabulary.size(); })
      .def("word", [](const NgramTable& t, WordId id) {
        check_ids(t, {id});
        return t.vocabulary.word(id);
      }, "id"_a)
      .def("find", [](const NgramTable& t, std::string_view word) -> std::optional<WordId> {
        const WordId id = t.vocabulary.find(word);
        return id == NO_WORD ? std::nullopt : std::optional(id);
      }, "word"_a)
      .def("conditional", [](const NgramTable& t, WordId word, const std::vector<WordId>& context) {
        check_ids(t, {word});
        check_ids(t, context);
        return t.conditional(word, context);
      }, "word"_a, "context"_a, "ln p(word | context)")
      .def("max_conditional", [](const NgramTable& t, WordId word, const std::vector<WordId>& context) {
        check_ids(t, {word});
        check_ids(t, context);
        return t.max_conditional(word, context);
      }, "word"_a, "context"_a, "Its maximum over all contexts that end in `context`.")
      .def("score_text", &score_text_columns, "text"_a, "threads"_a, "name"_a, "first_line"_a, "plain"_a = false,
           "Per line: log_prob, log_prob_known, tokens, oov.")
      .def("token_log_probs", [](const NgramTable& table, nb::bytes text, const std::string& name,
                                 std::uint64_t first_line) {
        std::vector<double> result;
        const std::string_view view(text.c_str(), text.size());
        {
          const WithoutGil release;
          result = token_log_probs(table, view, name, first_line);
        }
        return to_array(std::move(result));
      }, "text"_a, "name"_a, "first_line"_a, "ln p of each word and </s>, line after line.");
  m.def("read_arpa", &read_arpa_from, "read"_a, "name"_a, "unknown_log10"_a.none(),
        "Table, warnings and number of implied n-grams from a callable that gives bytes.");
  m.def("write_arpa", &write_arpa_to, "table"_a, "write"_a, "with_max_columns"_a);
  m.def("open_compiled", &open_compiled_at, "file"_a, "name"_a, nb::keep_alive<0, 1>(),
        nb::sig("def open_compiled(file: mmap.mmap, name: str) -> NgramTable"),
        "The table in the bytes of a compiled model, which must not change.");
  m.def("open_compiled_member", &open_compiled_member, "container"_a, "member"_a, "name"_a, nb::keep_alive<0, 1>(),
        "The table of a compiled model that is a member of a container.");
  m.def("write_compiled", &write_compiled_to, "table"_a, "write"_a, "with_index"_a);
  m.attr("LEAST_LOG10") = LEAST_LOG10;
  m.attr("COMPILED_MAGIC") = nb::bytes(CONTAINER_MAGIC.data(), CONTAINER_MAGIC.size());
}
