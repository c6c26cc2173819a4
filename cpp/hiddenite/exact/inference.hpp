// What every exact method is asked and what it answers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hiddenite/channel/candidates.hpp"

namespace hiddenite::exact {

enum class Method { AUTO, REFINE, PAPER, FULL, DOMINANCE };

// When to stop before the proof is complete. The default never does.
struct Budget {
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t refinements = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t states = std::numeric_limits<std::uint64_t>::max();
};

// An answer and its proof: lower <= the optimum <= upper.
struct Certificate {
  bool exact = false;   // upper == lower: the path is an optimum
  double upper = 0.0;
  double lower = 0.0;   // the weight of the best path found
  Method method = Method::AUTO;
  std::uint64_t refinements = 0;
  std::uint64_t states = 0;  // states that were built
};

struct Decoded {
  WordPath path;
  double log_weight = LOG_ZERO;  // path_log_weight(path)
  Certificate certificate;
  Route route{};
};

}  // namespace hiddenite::exact
