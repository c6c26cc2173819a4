// Throws damaged files at the reader of compiled models and questions at what it accepts.
//
// A file is refused with a FormatError of one line, or every look-up is safe: it
// stays within the file, which ends at the end of its own memory here, and comes
// to an end. Damage that leaves the structure whole must be found by the
// checksums. Mutations hit the numbers of the file, and most of them are given a
// header whose checksum fits, so that they get past it.
#include <cstdint>
#include <string>

#include "damage.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/lm/compiled.hpp"
#include "hiddenite/lm/score.hpp"

using namespace hiddenite::lm;

namespace {

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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Mapped file(data, size);
  try {
    const NgramTable table = open_compiled(file.view(), "fuzz");
    ask_everything(table);
    verify(table);  // what comes after relies on the checksums
    compiled_index(table, true);
  } catch (const FormatError& error) {
    require_one_line(error);
  }
  return 0;
}
