#include "hiddenite/lm/token_text.hpp"

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::lm {

namespace {

template <class IdOf>
TokenText read_lines(std::string_view text, const std::string& name, std::uint64_t first_line, IdOf id_of) {
  TokenText result;
  const std::vector<std::string_view> lines = split_lines(text);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    check_interrupt_at(n * 16);
    std::string_view line = first_line + n == 1 ? without_bom(lines[n]) : lines[n];
    check_text(line, name, first_line + n);
    std::uint32_t unknown = 0;
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const WordId w = id_of(word);
      if (w == SENTENCE_BEGIN || w == SENTENCE_END) {
        throw FormatError(name, first_line + n,
                          "found the word " + std::string(word) +
                              ", expected none: sentence boundaries are added to each line; remove it");
      }
      unknown += w == UNKNOWN;
      result.tokens.push_back(w);
    }
    result.begin.push_back(result.tokens.size());
    result.unknown.push_back(unknown);
  }
  return result;
}

}  // namespace

std::vector<std::uint64_t> TokenText::counts(WordId num_words) const {
  std::vector<std::uint64_t> count(num_words, 0);
  for (const WordId w : tokens) ++count[w];
  count[SENTENCE_END] = num_sentences();
  return count;
}

TokenText TokenText::read(std::string_view text, const std::string& name, std::uint64_t first_line,
                          Vocabulary& words) {
  return read_lines(text, name, first_line, [&](std::string_view word) { return words.add(word); });
}

TokenText TokenText::read_known(std::string_view text, const std::string& name, std::uint64_t first_line,
                                const Vocabulary& words) {
  return read_lines(text, name, first_line, [&](std::string_view word) { return words.id_or_unknown(word); });
}

}  // namespace hiddenite::lm
