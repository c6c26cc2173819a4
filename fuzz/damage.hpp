// What the fuzzers of mapped files share: promises, a file at its place in memory, damage that gets past the header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string_view>

#include "hiddenite/base/container.hpp"
#include "hiddenite/base/error.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace hiddenite::base {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

inline void require_one_line(const FormatError& error) {
  const std::string_view message = error.what();
  require(!message.empty() && message.find('\n') == message.npos, "a refusal is one line");
}

// The bytes at an address as a mapping would have it, and not one byte more.
class Mapped {
 public:
  Mapped(const std::uint8_t* data, std::size_t size) : size_(size) {
    void* memory = nullptr;
    if (posix_memalign(&memory, CONTAINER_ALIGNMENT, std::max<std::size_t>(size, 1)) != 0) std::abort();
    bytes_.reset(static_cast<char*>(memory));
    std::memcpy(bytes_.get(), data, size);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> bytes_;
  std::size_t size_;
};

// Changes some numbers of a container, those of header and directory above all, and mostly makes the header fit.
inline std::size_t damage_container(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned int seed) {
  std::minstd_rand random(seed);
  if (random() % 4 == 0 || size < 128) {
    size = LLVMFuzzerMutate(data, size, max_size);
  } else {
    for (unsigned n = 1 + random() % 3; n > 0; --n) {
      const std::size_t reach = random() % 2 ? size : std::min<std::size_t>(size, 768);  // header and directory
      const std::size_t at = random() % (reach / 4) * 4;
      std::uint32_t value;
      std::memcpy(&value, data + at, 4);
      switch (random() % 6) {
        case 0: value = 0; break;
        case 1: value = ~0u; break;
        case 2: value += 1; break;
        case 3: value -= 1; break;
        case 4: value ^= 1u << random() % 32; break;
        default: value = random() % 64; break;
      }
      std::memcpy(data + at, &value, 4);
    }
  }
  if (random() % 8 != 0) {
    if (size >= 64) std::memcpy(data, CONTAINER_MAGIC.data(), CONTAINER_MAGIC.size());
    repair_header_checksum({reinterpret_cast<char*>(data), size});
  }
  return size;
}

}  // namespace hiddenite::base

// Every target that includes this is given such files.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  return hiddenite::base::damage_container(data, size, max_size, seed);
}
