#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/hmm/cluster_tree.hpp"
#include "hiddenite/hmm/clusters.hpp"

using namespace nb::literals;
using namespace hiddenite::hmm;

void bind_clusters(nb::module_& m) {
  nb::class_<ExchangeClustering>(m, "ExchangeClustering", "Word classes by exchange.")
      .def("__init__",
           [](ExchangeClustering* self, const TokenText& text, WordId num_words, ClassId num_classes,
              nb::ndarray<const ClassId, nb::ndim<1>, nb::c_contig, nb::device::cpu> start) {
             std::vector<ClassId> first(start.data(), start.data() + start.size());
             const WithoutGil release;
             new (self) ExchangeClustering(text, num_words, num_classes, std::move(first));
           },
           "text"_a, "num_words"_a, "num_classes"_a, "start"_a)
      .def("exchange", &ExchangeClustering::pass, "threads"_a, nb::call_guard<WithoutGil>(),
           "One pass over the words; how many changed their class.")
      .def_prop_ro("average_mutual_information", &ExchangeClustering::average_mutual_information)
      .def_prop_ro("num_classes", &ExchangeClustering::num_classes)
      .def_prop_ro("classes", [](const ExchangeClustering& c) { return to_array(c.classes()); }, nb::rv_policy::move)
      .def_prop_ro("counts", [](const ExchangeClustering& c) { return to_array(c.counts()); }, nb::rv_policy::move)
      .def("paths",
           [](const ExchangeClustering& c) {
             return cluster_paths(c.bigrams(), std::size_t{c.num_classes()} + 1, c.num_classes());
           },
           nb::call_guard<WithoutGil>(), "The bit string of each class.");
}
