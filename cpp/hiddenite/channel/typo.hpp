// The typo channel: words typed on a keyboard, with slips.
//
// The writer types the characters x_1 .. x_n of a word in turn. Before each of
// them, one of these events; e is the error rate, the shares s + i + d + t = 1:
//
//   substitution   e s      x_t is typed as another character: with
//                           probability v as one of its neighbours N(x_t), all
//                           alike, else as any other key of the keyboard
//   insertion      e i      any of the A = 47 keys is hit first; then again an
//                           event for x_t
//   deletion       e d      x_t is left out
//   transposition  e t      x_(t+1) x_t is typed, if x_(t+1) is another character
//   none           the rest x_t is typed: 1 - e, or 1 - e + e t where no
//                           transposition is possible
// and at the end insertions again, each e i, then the end, 1 - e i.
//
// N(c): the keys that touch c's on a US QWERTY keyboard, with c's shift state,
// and c's own key with the other shift state. A character that is not on the
// keyboard has no neighbours: substituted, it becomes any key, 1 / A each, and
// where it is seen it counts as one of the "any other".
//
// The weight of a pair is that of its best script of at most `distance` events
// (optimal string alignment: what an event has typed stays). Candidates are all
// words within that distance, found by walking the vocabulary's trie with the
// bits of edit_bands.hpp; only the words found are weighed. A word outside the
// vocabulary can stand for itself (UnknownWords).
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "hiddenite/channel/channel.hpp"
#include "hiddenite/channel/edit_bands.hpp"
#include "hiddenite/channel/encoder.hpp"
#include "hiddenite/channel/trie.hpp"

namespace hiddenite::channel {

struct TypoRates {
  double error_rate = 0.02;
  double substitution = 0.4;   // shares of the errors: they add up to one
  double insertion = 0.2;
  double deletion = 0.3;
  double transposition = 0.1;
  double neighbour = 0.8;      // share of the substitutions
};

class TypoModel final : public Encoder {
 public:
  // Throws ModelError for rates that are no probabilities.
  explicit TypoModel(const TypoRates& rates);

  // ln p of the best script of at most `distance` events; LOG_ZERO if none.
  double log_weight(std::u32string_view intended, std::u32string_view seen, int distance) const;
  // Draws any number of events; a word of which nothing is left is typed again.
  void encode_word(std::string_view word, Random* random, std::string& out) const override;

 private:
  double log_keep(std::u32string_view word, std::size_t t) const;
  double log_substitute(char32_t intended, char32_t seen) const;
  char32_t draw_substitute(char32_t c, Random& random) const;
  std::u32string draw(std::u32string_view word, Random& random) const;

  struct Key {
    std::vector<char32_t> neighbours;
    double log_neighbour = LOG_ZERO;  // each of them
    double log_other = LOG_ZERO;      // each other character
    std::bitset<128> is_neighbour;
  };
  const Key& key(char32_t c) const { return keys_[c < 128 ? c : 0]; }

  TypoRates rates_;
  std::array<Key, 128> keys_;  // by character; 0 stands for all that is not on the keyboard
  double log_keep_, log_keep_untransposable_, log_insert_, log_delete_, log_transpose_, log_end_;
};

struct TypoOptions {
  int distance = 2;  // at most this many events
  UnknownWords unknown;
  std::size_t keep = KEEP_ALL;
};

class TypoChannel final : public Channel {
 public:
  // The table stays the caller's and must outlive the channel.
  TypoChannel(const NgramTable& table, const TypoModel& model, const TypoOptions& options);

 private:
  Reading read_text(std::string_view line) const override;
  void read_word(std::string_view word, Reading& reading) const;

  const NgramTable& table_;
  TypoModel model_;
  TypoOptions options_;
  Trie trie_;
};

}  // namespace hiddenite::channel
