#include "hiddenite/lm/kneser_ney.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

using namespace hiddenite::lm;
using namespace nb::literals;

namespace {

void construct(KneserNeyTrainer* self, int order, std::vector<std::uint64_t> prune,
               std::uint64_t unknown_below, std::optional<std::vector<std::string>> vocabulary,
               std::size_t memory_bytes, std::string temporary_directory, NgramSmoothing smoothing, double added) {
  new (self) KneserNeyTrainer(TrainOptions{order, std::move(prune), unknown_below, std::move(vocabulary),
                                           memory_bytes, std::move(temporary_directory), smoothing, added});
}

void add(KneserNeyTrainer& self, ReadCallable read, std::string name) {
  LineReader lines(python_source(std::move(read)), std::move(name));
  const WithoutGil release;
  self.add(lines);
}

void add_counts(KneserNeyTrainer& self, ReadCallable read, std::string name) {
  LineReader lines(python_source(std::move(read)), std::move(name));
  const WithoutGil release;
  self.add_counts(lines);
}

void finish_counts(KneserNeyTrainer& self, WriteCallable write) {
  const WithoutGil release;
  self.finish_counts([&](std::string_view bytes) {
    const nb::gil_scoped_acquire gil;
    write(nb::bytes(bytes.data(), bytes.size()));
  });
}

using DiscountRow = std::tuple<double, double, double, bool>;

std::tuple<NgramTable, std::vector<DiscountRow>, std::uint64_t, std::uint64_t> finish(
    KneserNeyTrainer& self, const std::optional<std::vector<std::string>>& runs) {
  Estimate estimate;
  {
    const WithoutGil release;
    estimate = runs ? self.finish(*runs) : self.finish();
  }
  std::vector<DiscountRow> rows;
  for (const Discounts& d : estimate.discounts) rows.emplace_back(d.d[0], d.d[1], d.d[2], d.closed_form);
  return {std::move(estimate.table), std::move(rows), estimate.num_sentences, estimate.num_tokens};
}

using CountedWords = std::tuple<std::vector<std::string>, Array<std::uint64_t>, std::uint64_t, std::uint64_t>;

CountedWords word_counts(const KneserNeyTrainer& self) {
  WordCounts counts = self.word_counts();
  return {std::move(counts.words), to_array(std::move(counts.occurrences)), counts.num_sentences, counts.num_tokens};
}

void add_words(KneserNeyTrainer& self, std::vector<std::string> words,
               nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> occurrences,
               std::uint64_t sentences, std::uint64_t tokens) {
  if (occurrences.size() != words.size()) throw nb::value_error("expected a count for each word");
  const std::uint64_t* const first = occurrences.data();
  self.add_words({std::move(words), {first, first + occurrences.size()}, sentences, tokens});
}

nb::bytes count_windows_of(ReadCallable read, std::string name, const std::vector<std::string>& words, int order) {
  LineReader lines(python_source(std::move(read)), std::move(name));
  std::string run;
  {
    const WithoutGil release;
    run = count_windows(lines, words, order);
  }
  return nb::bytes(run.data(), run.size());
}

}  // namespace

void bind_kneser_ney(nb::module_& m) {
  nb::enum_<NgramSmoothing>(m, "NgramSmoothing", "How counts become probabilities.")
      .value("KNESER_NEY", NgramSmoothing::KNESER_NEY)
      .value("ABSOLUTE", NgramSmoothing::ABSOLUTE)
      .value("WITTEN_BELL", NgramSmoothing::WITTEN_BELL)
      .value("GOOD_TURING", NgramSmoothing::GOOD_TURING)
      .value("ADD_K", NgramSmoothing::ADD_K);
  nb::class_<KneserNeyTrainer>(m, "KneserNeyTrainer", "Estimation, modified Kneser-Ney if nothing else is said.")
      .def("__init__", &construct, "order"_a, "prune"_a, "unknown_below"_a, "vocabulary"_a.none(),
           "memory_bytes"_a, "temporary_directory"_a, "smoothing"_a = NgramSmoothing::KNESER_NEY, "added"_a = 1.0)
      .def("add_counts", &add_counts, "read"_a, "name"_a, "Counts of n-grams, a file, instead of text.")
      .def("finish_counts", &finish_counts, "write"_a, "Instead of finish: the counts of the text. Call once.")
      .def("add", &add, "read"_a, "name"_a, "Text from a callable that gives bytes, empty at the end.")
      .def("finish", &finish, "runs"_a.none() = nb::none(),
           "Table, (D1, D2, D3+, closed form) per order, sentences, tokens. Call once. `runs` are files of shards.")
      .def("word_counts", &word_counts, "Words by appearance, their occurrences, sentences, tokens.")
      .def("add_words", &add_words, "words"_a, "occurrences"_a, "sentences"_a, "tokens"_a)
      .def("fix_vocabulary", &KneserNeyTrainer::fix_vocabulary, "The final words, without the special ones.");
  m.def("count_windows", &count_windows_of, "read"_a, "name"_a, "words"_a, "order"_a,
        "The sorted run of a shard's windows over the final words.");
}
