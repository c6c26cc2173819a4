// Writes small containers as model files are: container_seeds DIRECTORY.
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "hiddenite/base/container.hpp"

using namespace hiddenite::lm;

using Members = std::vector<std::pair<std::string, std::string>>;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path directory(argv[1]);
  std::filesystem::create_directories(directory);
  const std::string header = R"({"format": "hiddenite tagger", "version": 1})";
  const std::pair<std::string, Members> seeds[] = {
      {"empty", {}},
      {"index", {{"index", "[]"}}},
      {"one", {{"index", R"([["header.json", null]])"}, {"0", header}}},
      {"nothing-in-it", {{"index", R"([["a", null], ["b", null]])"}, {"0", ""}, {"1", ""}}},
      {"three", {{"index", R"([["header.json", null], ["words.txt", null], ["begin.npy", 640]])"},
                 {"0", header},
                 {"1", "the\ndog\nbarks\n"},
                 {"2", std::string(200, '\x01')}}},
      {"aligned", {{"index", std::string(64, ' ')}, {"0", std::string(128, 'x')}}},
      {"twelve", {{"index", ""}, {"0", "a"}, {"1", "b"}, {"2", "c"}, {"3", "d"}, {"4", "e"}, {"5", "f"},
                  {"6", "g"}, {"7", "h"}, {"8", "i"}, {"9", "j"}, {"10", "k"}}},
      {"same-name", {{"index", ""}, {"0", "a"}, {"0", "b"}}},
      {"long-name", {{"index", ""}, {"a name of more than eight bytes", "a"}}},
  };
  for (const auto& [name, members] : seeds) {
    ContainerWriter writer("archive");
    for (const auto& [array, content] : members) writer.add(array, std::span<const char>(content));
    std::ofstream out(directory / (name + ".model"), std::ios::binary);
    writer.write([&](std::string_view bytes) { out << bytes; });
  }
  ContainerWriter other("ngram");
  std::ofstream out(directory / "other-kind.model", std::ios::binary);
  other.write([&](std::string_view bytes) { out << bytes; });
}
