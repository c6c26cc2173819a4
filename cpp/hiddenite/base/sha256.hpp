// SHA-256 (FIPS 180-4), for names of contents that other programs can compute too.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

// Eight words, the most significant first.
using Sha256 = std::array<std::uint32_t, 8>;

Sha256 sha256(std::string_view bytes);

}  // namespace hiddenite::base
