// What can go wrong on bad input. Asserts are for our own bugs; these are not.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

// A file that cannot be used: the place, what was found, what was expected,
// what to do. `line` is 1-based; 0 means that no line is to blame.
class FormatError : public std::runtime_error {
 public:
  FormatError(std::string file, std::uint64_t line, const std::string& message)
      : std::runtime_error(message), file(std::move(file)), line(line) {}
  std::string file;
  std::uint64_t line;
};

// A request that the model cannot serve.
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hiddenite::base
