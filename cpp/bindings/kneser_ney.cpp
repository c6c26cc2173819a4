#include "../hiddenite/kneser_ney.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

using namespace hiddenite;
using namespace nb::literals;

namespace {

void construct(KneserNeyTrainer* self, int order, std::vector<std::uint64_t> prune,
               std::uint64_t unknown_below, std::optional<std::vector<std::string>> vocabulary,
               std::size_t memory_bytes, std::string temporary_directory) {
  new (self) KneserNeyTrainer(TrainOptions{order, std::move(prune), unknown_below, std::move(vocabulary),
                                           memory_bytes, std::move(temporary_directory)});
}

void add(KneserNeyTrainer& self, ReadCallable read, std::string name) {
  LineReader lines(python_source(std::move(read)), std::move(name));
  const nb::gil_scoped_release release;
  self.add(lines);
}

using DiscountRow = std::tuple<double, double, double, bool>;

std::tuple<NgramTable, std::vector<DiscountRow>, std::uint64_t, std::uint64_t> finish(
    KneserNeyTrainer& self) {
  Estimate estimate;
  {
    const nb::gil_scoped_release release;
    estimate = self.finish();
  }
  std::vector<DiscountRow> rows;
  for (const Discounts& d : estimate.discounts) rows.emplace_back(d.d[0], d.d[1], d.d[2], d.closed_form);
  return {std::move(estimate.table), std::move(rows), estimate.num_sentences, estimate.num_tokens};
}

}  // namespace

void bind_kneser_ney(nb::module_& m) {
  nb::class_<KneserNeyTrainer>(m, "KneserNeyTrainer", "Interpolated modified Kneser-Ney estimation.")
      .def("__init__", &construct, "order"_a, "prune"_a, "unknown_below"_a, "vocabulary"_a.none(),
           "memory_bytes"_a, "temporary_directory"_a)
      .def("add", &add, "read"_a, "name"_a, "Text from a callable that gives bytes, empty at the end.")
      .def("finish", &finish,
           "Table, (D1, D2, D3+, closed form) per order, sentences, tokens. Call once.");
}
