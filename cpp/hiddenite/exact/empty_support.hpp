// Where all paths have come to an end: the error that names the position.
#pragma once

#include "hiddenite/channel/candidates.hpp"

namespace hiddenite::exact {

// After the position no path has a positive probability.
[[noreturn]] void throw_no_path(const Candidates& candidates, std::size_t position);

// No path has; finds the first position after which none has.
[[noreturn]] void throw_empty_support(const NgramTable& table, const Candidates& candidates);

}  // namespace hiddenite::exact
