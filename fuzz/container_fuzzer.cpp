// Throws damaged files at the reader of containers, the form of tagger, aligner, induction and HMM model files.
//
// A file is refused with a FormatError of one line, or every array lies within
// the file, which ends at the end of its own memory here, none overlaps another,
// and verify() finds out whether their bytes are those that were written. As
// with compiled models, most damaged headers are given a checksum that fits.
#include <algorithm>
#include <string>
#include <vector>

#include "damage.hpp"
#include "hiddenite/base/container.hpp"
#include "hiddenite/base/error.hpp"

using namespace hiddenite::lm;

namespace {

constexpr std::string_view KIND = "archive";

// Array n of an archive is called n, after the index that says what each of them is.
std::vector<std::string> names_of(const Container& container) {
  std::vector<std::string> names{"index"};
  for (int n = 0; container.has(std::to_string(n)); ++n) names.push_back(std::to_string(n));
  return names;
}

void check_places(std::string_view file, const Container& container) {
  std::vector<std::string_view> places;
  for (const auto& name : names_of(container)) {
    const auto content = container.array<char>(name);
    require(content.data() >= file.data() && content.data() + content.size() <= file.data() + file.size(),
            "an array lies within the file");
    places.emplace_back(content.data(), content.size());
  }
  std::ranges::sort(places, {}, [](std::string_view place) { return place.data() + place.size(); });
  for (std::size_t i = 1; i < places.size(); ++i) {
    require(places[i].empty() || places[i - 1].data() + places[i - 1].size() <= places[i].data(),
            "arrays do not overlap");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Mapped file(data, size);
  try {
    const Container container(file.view(), KIND, "fuzz", {"model", "train it again"});
    check_places(file.view(), container);
    container.verify();
  } catch (const FormatError& error) {
    require_one_line(error);
  }
  return 0;
}
