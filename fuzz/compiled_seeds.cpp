// Compiles the ARPA seeds: compiled_seeds ARPA-DIRECTORY DIRECTORY.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "hiddenite/base/error.hpp"
#include "hiddenite/lm/arpa.hpp"
#include "hiddenite/lm/compiled.hpp"

using namespace hiddenite::lm;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::filesystem::create_directories(argv[2]);
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    bool given = false;
    LineReader lines([&]() -> std::string_view { return std::exchange(given, true) ? std::string_view() : std::string_view(text); }, "seed");
    try {
      const ReadArpa read = read_arpa(lines);
      for (const bool with_index : {false, true}) {
        const auto name = entry.path().stem().string() + (with_index ? "-index.hlm" : ".hlm");
        std::ofstream out(std::filesystem::path(argv[2]) / name, std::ios::binary);
        write_compiled(read.table, with_index, [&](std::string_view bytes) { out << bytes; });
      }
    } catch (const FormatError&) {  // many seeds are no models
    }
  }
}
