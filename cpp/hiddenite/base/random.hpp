// Random numbers: a seed and a stream in, the same numbers out on every machine.
//
// xoshiro256++ (Blackman & Vigna 2019), its state filled by splitmix64 from
// (seed, stream). Work that is cut into pieces gives each piece a stream of its
// own (the record's number), so that results depend neither on the number of
// threads nor on how the input was cut. Nothing in the library seeds itself.
//
// Which door to take:
//   a uniform double in [0, 1)     uniform()
//   ... in (0, 1], for logarithms  positive_uniform()
//   a uniform integer below n      below(n)
//   an index by weights            draw(cumulative)
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

// A bijection of 64-bit words that leaves no pattern behind (Steele et al. 2014).
inline std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

class Random {
 public:
  // What the standard library's algorithms ask of a generator.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return next(); }

  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
    // The streams of one seed start at unrelated places, so that neighbouring
    // seeds and streams (1, 2, 3 ...) share no state word.
    std::uint64_t x = splitmix64(seed) ^ splitmix64(~splitmix64(stream));
    for (std::uint64_t& word : state_) word = splitmix64(x++);
    if ((state_[0] | state_[1] | state_[2] | state_[3]) == 0) state_[0] = 1;  // the one forbidden state
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform on the multiples of 2^-53 in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Uniform on the multiples of 2^-53 in (0, 1]: its logarithm is finite.
  double positive_uniform() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

  // Uniform on 0 .. n - 1, n > 0, without bias: a draw from the incomplete last
  // round of 2^64 mod n is thrown away.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t excess = (max() % n + 1) % n;
    std::uint64_t x = next();
    while (x > max() - excess) x = next();
    return x % n;
  }

  // Index i with probability proportional to cumulative[i] - cumulative[i - 1];
  // the sums need not end at one. Entries of weight zero are never drawn.
  std::size_t draw(std::span<const double> cumulative) {
    const double x = uniform() * cumulative.back();
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), x);
    // Rounding can make x reach the total; the last entry that has weight is meant.
    if (found == cumulative.end()) {
      return static_cast<std::size_t>(
          std::lower_bound(cumulative.begin(), cumulative.end(), cumulative.back()) - cumulative.begin());
    }
    return static_cast<std::size_t>(found - cumulative.begin());
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace hiddenite::base
