// A language model from an ARPA file.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "hiddenite/lm/arpa.hpp"

namespace hiddenite::bench {

using namespace lm;

inline NgramTable read_table(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file);
  std::vector<char> buffer(1 << 20);
  const auto next_chunk = [&]() -> std::string_view {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    return {buffer.data(), static_cast<std::size_t>(in.gcount())};
  };
  LineReader lines(next_chunk, file);
  return read_arpa(lines).table;
}

}  // namespace hiddenite::bench
