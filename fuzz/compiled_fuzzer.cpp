// Throws damaged files at the reader of compiled models and questions at what it accepts.
//
// A file is refused with a FormatError of one line, or every look-up is safe: it
// stays within the file, which ends at the end of its own memory here, and comes
// to an end. Damage that leaves the structure whole must be found by the
// checksums. Mutations hit the numbers of the file, and most of them are given a
// header whose checksum fits, so that they get past it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "hiddenite/compiled.hpp"
#include "hiddenite/error.hpp"
#include "hiddenite/score.hpp"
#include "hiddenite/text.hpp"

using namespace hiddenite;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
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

std::string text_of_all_words(const NgramTable& table) {
  std::string text = "\nno-such-word\n";
  for (int repeat = 0; repeat < 12; ++repeat) {  // enough lines to be scored side by side
    for (WordId w = NUM_SPECIAL_WORDS; w < table.vocabulary.size(); ++w) {
      for (const char c : table.vocabulary.word(w)) text += is_space(c) ? '_' : c;
      text += (w + repeat) % 5 == 0 ? '\n' : ' ';
    }
    text += '\n';
  }
  return text;
}

void ask_everything(const NgramTable& table) {
  const std::string text = text_of_all_words(table);
  try {
    score_text(table, text, 1, "fuzz", 2);
  } catch (const FormatError&) {  // a word may have become </s>
  }
  const WordId words = std::min<WordId>(table.vocabulary.size(), 24);
  for (WordId a = 0; a < words; ++a) {
    require(table.vocabulary.find(table.vocabulary.word(a)) != table.vocabulary.size(), "an id exists");
    for (WordId b = 0; b < words; ++b) {
      const WordId context[] = {a, b, a};
      table.conditional(b, context);
      table.max_conditional(a, context);
    }
  }
  for (NodeId node = table.order > 1 ? table.level_begin[2] : table.num_nodes(); node < table.num_nodes(); ++node) {
    require(table.parent(node) < node, "a parent is shorter");
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Mapped file(data, size);
  try {
    const NgramTable table = open_compiled(file.view(), "fuzz");
    ask_everything(table);
    verify(table);  // what comes after relies on the checksums
    compiled_index(table, true);
  } catch (const FormatError& error) {
    const std::string_view message = error.what();
    require(!message.empty() && message.find('\n') == message.npos, "a refusal is one line");
  }
  return 0;
}
