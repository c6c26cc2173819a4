#include "hiddenite/align/bitext.hpp"

#include <algorithm>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/letters.hpp"
#include "hiddenite/base/random.hpp"
#include "hiddenite/base/text.hpp"

namespace hiddenite::align {

namespace {

std::size_t longest_common_subsequence(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const char x : a) {
    std::size_t diagonal = 0;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t above = row[k];
      row[k] = x == b[k - 1] ? diagonal + 1 : std::max(row[k], row[k - 1]);
      diagonal = above;
    }
  }
  return row[b.size()];
}

constexpr std::size_t LONGEST_COMPARED = 64;  // bytes; longer spellings are alike only if equal

// Ids of pairs of ids, in order of appearance.
class PairIds {
 public:
  PairIds() : keys_(1024, EMPTY), ids_(1024) {}
  std::uint32_t id(std::uint32_t a, std::uint32_t b) {
    const std::uint64_t key = std::uint64_t{a} << 32 | b;
    std::size_t place = splitmix64(key) & (keys_.size() - 1);
    for (; keys_[place] != EMPTY; place = (place + 1) & (keys_.size() - 1)) {
      if (keys_[place] == key) return ids_[place];
    }
    if (size_ == NO_WORD - 1) throw ModelError("the text has more than 4 billion word pairs");
    keys_[place] = key;
    ids_[place] = size_++;
    if (2 * std::size_t{size_} > keys_.size()) grow();
    return size_ - 1;
  }
  std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint64_t EMPTY = std::numeric_limits<std::uint64_t>::max();
  void grow() {
    std::vector<std::uint64_t> keys(2 * keys_.size(), EMPTY);
    std::vector<std::uint32_t> ids(keys.size());
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      if (keys_[k] == EMPTY) continue;
      std::size_t place = splitmix64(keys_[k]) & (keys.size() - 1);
      while (keys[place] != EMPTY) place = (place + 1) & (keys.size() - 1);
      keys[place] = keys_[k];
      ids[place] = ids_[k];
    }
    keys_.swap(keys);
    ids_.swap(ids);
  }
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> ids_;
  std::uint32_t size_ = 0;
};

}  // namespace

std::string stem_of(std::string_view word) {
  std::string stem;
  std::size_t room = STEM_LETTERS;
  for (std::string_view rest = word; !rest.empty() && room > 0;) {
    const char32_t c = next_character(rest);
    if (is_combining_mark(c)) continue;
    append_utf8(stem, base_letter(c));
    room -= is_ideograph(c) ? room : 1;
  }
  return stem.empty() ? std::string(word) : stem;
}

std::string ending_of(std::string_view word) {
  std::vector<std::size_t> letters;  // where each begins
  for (std::string_view rest = word; !rest.empty();) {
    const std::size_t begin = word.size() - rest.size();
    if (!is_combining_mark(next_character(rest))) letters.push_back(begin);
  }
  if (letters.size() < 2 * ENDING_LETTERS) return {};
  return std::string(word.substr(letters[letters.size() - ENDING_LETTERS]));
}

double spelling_likeness(std::string_view a, std::string_view b) {
  if (a == b) return 1.0;
  if (a.empty() || b.empty() || a[0] != b[0] || std::max(a.size(), b.size()) > LONGEST_COMPARED) return 0.0;
  const auto longer = static_cast<double>(std::max(a.size(), b.size()));
  const auto shorter = static_cast<double>(std::min(a.size(), b.size()));
  if (shorter < 3.0) return 0.0;
  const auto common = static_cast<double>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  if (common >= 3.0 && common >= 0.5 * longer) return 0.5 * common / longer;
  if (shorter < 0.6 * longer) return 0.0;
  const double ratio = static_cast<double>(longest_common_subsequence(a, b)) / longer;
  return ratio >= 0.6 ? 0.5 * ratio : 0.0;
}

void TextSide::read(std::string_view text, const std::string& name) {
  const std::vector<std::string_view> lines = split_lines(text);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    if (n % 1024 == 0) check_interrupt();
    std::string_view line = n == 0 ? without_bom(lines[n]) : lines[n];
    check_text(line, name, n + 1);
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const WordId w = words.add(word);
      if (w >= stem_of_word.size()) {
        stem_of_word.resize(words.size(), 0);
        count.resize(words.size(), 0);
        stem_of_word[w] = stems.add(stem_of(word));
        ending_of_word.resize(words.size(), NO_WORD);
        const std::string ending = ending_of(word);
        if (!ending.empty()) ending_of_word[w] = endings.add(ending);
        stem_count.resize(stems.size(), 0);
      }
      ++count[w];
      ++stem_count[stem_of_word[w]];
      tokens.push_back(w);
    }
    begin.push_back(tokens.size());
  }
  // Words that no text brought: <unk>, <s> and </s> have ids of their own.
  stem_of_word.resize(words.size(), 0);
  ending_of_word.resize(words.size(), NO_WORD);
  count.resize(words.size(), 0);
  stem_count.resize(stems.size(), 0);
}

Bitext::Bitext(std::string_view source_text, std::string_view target_text, const std::string& source_name,
               const std::string& target_name) {
  source.read(source_text, source_name);
  target.read(target_text, target_name);
  if (source.num_sentences() != target.num_sentences()) {
    throw FormatError(target_name, 0,
                      "found " + std::to_string(target.num_sentences()) + " lines, expected " +
                          std::to_string(source.num_sentences()) + ", as many as " + source_name +
                          " has: line n of one translates line n of the other");
  }
}

PairTable::PairTable(const Bitext& bitext, bool string_prior) {
  cell_begin.push_back(0);
  PairIds ids;
  for (std::size_t s = 0; s < bitext.num_sentences(); ++s) {
    check_interrupt();
    const auto e = bitext.source.sentence(s), f = bitext.target.sentence(s);
    for (const WordId target_word : f) {
      for (const WordId source_word : e) {
        const std::uint32_t pair = ids.id(source_word, target_word);
        if (pair == source.size()) {
          source.push_back(source_word);
          target.push_back(target_word);
          meetings.push_back(0);
        }
        ++meetings[pair];
        cell.push_back(pair);
      }
    }
    cell_begin.push_back(cell.size());
  }
  const std::size_t source_words = bitext.source.words.size(), target_words = bitext.target.words.size();
  source_partners.assign(source_words, 0);
  target_partners.assign(target_words, 0);
  source_likeness.assign(source_words, 0.0f);
  target_likeness.assign(target_words, 0.0f);
  source_stem_partners.assign(bitext.source.stems.size(), 0);
  target_stem_partners.assign(bitext.target.stems.size(), 0);
  if (string_prior) likeness.resize(num_pairs());
  PairIds stem_ids;
  stem_pair.resize(num_pairs());
  for (std::size_t p = 0; p < num_pairs(); ++p) {
    if (p % 1024 == 0) check_interrupt();
    const WordId e = source[p], f = target[p];
    ++source_partners[e];
    ++target_partners[f];
    const WordId e_stem = bitext.source.stem_of_word[e], f_stem = bitext.target.stem_of_word[f];
    const std::uint32_t before = stem_ids.size();
    stem_pair[p] = stem_ids.id(e_stem, f_stem);
    if (stem_ids.size() > before) ++source_stem_partners[e_stem], ++target_stem_partners[f_stem];
    if (!string_prior) continue;
    likeness[p] = static_cast<float>(spelling_likeness(bitext.source.words.word(e), bitext.target.words.word(f)));
    source_likeness[e] += likeness[p];
    target_likeness[f] += likeness[p];
  }
  num_stem_pairs = stem_ids.size();
}

std::size_t PairTable::bytes() const {
  return cell.capacity() * sizeof(std::uint32_t) +
         num_pairs() * (4 * sizeof(std::uint32_t) + (likeness.empty() ? 0 : sizeof(float)));
}

}  // namespace hiddenite::align
