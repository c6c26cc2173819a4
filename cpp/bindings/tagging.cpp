#include "../hiddenite/tagging.hpp"

#include <nanobind/stl/string.h>

#include "bindings.hpp"

using namespace hiddenite;
using namespace nb::literals;

namespace {

// One tuple a line, because a batch has many: names of the tags, log weight,
// certificate, and for a line that cannot be tagged the error and its position.
nb::list tag_text(const Engine& engine, const Channel& channel, nb::bytes text, nb::list names, int threads) {
  const std::string_view view(text.c_str(), text.size());
  std::vector<TaggedLine> lines;
  {
    const nb::gil_scoped_release release;
    lines = tag_lines(engine, channel, split_lines(view), threads);
  }
  if (names.size() < engine.table().vocabulary.size()) throw nb::index_error("a symbol has no name");
  nb::list result;
  for (const TaggedLine& line : lines) {
    nb::list tags;
    for (const WordId symbol : line.symbols) tags.append(names[symbol]);
    const bool is_empty = line.status == Answer::Status::EMPTY_SUPPORT;
    result.append(nb::make_tuple(nb::tuple(tags), line.log_weight, line.certificate,
                                 line.status == Answer::Status::DONE ? nb::none() : nb::cast(line.error),
                                 is_empty ? nb::cast(line.position) : nb::none()));
  }
  return result;
}

}  // namespace

void bind_tagging(nb::module_& m) {
  m.def("tag_text", &tag_text, "engine"_a, "channel"_a, "text"_a, "names"_a, "threads"_a,
        nb::sig("def tag_text(engine: Engine, channel: Channel, text: bytes, names: list[str], threads: int) -> "
                "list[tuple[tuple[str, ...], float, CoreCertificate, str | None, int | None]]"),
        "The best tags of each line; `names` has the tag of each symbol.");
}
