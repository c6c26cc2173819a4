#include "hiddenite/base/container.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

using namespace hiddenite::base;
using namespace nb::literals;

namespace {

void write_members(const std::string& kind, const std::vector<std::pair<std::string, nb::bytes>>& members,
                   WriteCallable write) {
  ContainerWriter writer(kind);
  for (const auto& [name, content] : members) {
    writer.add(name, std::span<const char>(content.c_str(), content.size()));
  }
  writer.write([&](std::string_view bytes) { write(nb::bytes(bytes.data(), bytes.size())); });
}

}  // namespace

void bind_container(nb::module_& m) {
  nb::class_<Container>(m, "Container", "An open container of bytes, which must not change.")
      .def("__init__",
           [](Container* self, FileBytes file, const std::string& kind, std::string name, std::string noun,
              std::string advice) {
             new (self) Container(bytes_of(file), kind, std::move(name), {std::move(noun), std::move(advice)});
           },
           "file"_a, "kind"_a, "name"_a, "noun"_a, "advice"_a, nb::keep_alive<1, 2>(),
           nb::sig("def __init__(self, file: mmap.mmap, kind: str, name: str, noun: str, advice: str) -> None"))
      .def("verify", &Container::verify, nb::call_guard<WithoutGil>(), "Compare all checksums.")
      .def("member",
           [](const Container& c, const std::string& name) {
             const auto content = c.array<char>(name);
             return nb::bytes(content.data(), content.size());
           },
           "name"_a);
  m.def("write_container", &write_members, "kind"_a, "members"_a, "write"_a,
        "Write named bytes; names have eight characters at most.");
}
