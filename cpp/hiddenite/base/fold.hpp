// The product of two numbers of 64 bits, folded: its upper half xor its lower
// one. Hashes and checksums mix by it.
//
// The branch for Microsoft's compiler is written by its documentation and has not run yet.
#pragma once

#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace hiddenite::base {

inline std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) {
#if defined(_MSC_VER) && !defined(__clang__)
  return (a * b) ^ __umulh(a, b);
#else
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#endif
}

}  // namespace hiddenite::base
