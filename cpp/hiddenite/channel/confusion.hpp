// The confusion channel: words read by a machine (OCR) that takes some
// characters for others, drops some and invents some.
//
// A confusion table lists pieces: `intended`, `seen` and p(seen | intended), up
// to three characters a side, one side possibly empty. A word is read piece by
// piece from the left, and at each place exactly one thing happens:
//   an inserted piece is seen (its intended side is empty); the place stays;
//   the next one to three characters are seen as a listed piece;
//   the next character c is seen as itself, with its own entry's probability or,
//   without one, with what remains:
//     r(c) = 1 - sum of p over inserted pieces - sum of p over pieces that begin with c
// At the end of the word, pieces may be inserted; ending has 1 - (their sum).
//
// The weight of a pair is that of its best alignment. (A piece `rn` also counts
// against r(r) where no n follows: a weight is never too high, and too low by
// what the table itself calls rare.)
//
// Candidates are the words within `beam` of the best one, found by walking the
// vocabulary's trie with one row of the alignment a node. A prefix is given up
// when its best cell j, plus the best that any text could make of seen[j ..],
// is out of the beam: the cost follows the number of plausible prefixes, not the
// size of the vocabulary.
//
// Which door to take:
//   a table from a file     read_confusions (confusion_table.hpp), then ConfusionModel
//   one pair's weight       ConfusionModel::log_weight
//   candidates              ConfusionChannel
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "hiddenite/channel/channel.hpp"
#include "hiddenite/channel/confusion_table.hpp"
#include "hiddenite/channel/encoder.hpp"
#include "hiddenite/channel/trie.hpp"

namespace hiddenite::channel {

class ConfusionModel final : public Encoder {
 public:
  // Throws FormatError with `file` if some probabilities add up to more than one.
  ConfusionModel(const std::vector<Confusion>& confusions, const std::string& file);

  // ln p of the best alignment; LOG_ZERO if there is none.
  double log_weight(std::u32string_view intended, std::u32string_view seen) const;
  void encode_word(std::string_view word, Random* random, std::string& out) const override;

 private:
  friend class AlignmentRows;

  // Up to three characters as one number; zero is the empty piece.
  using Key = std::uint64_t;
  static Key key(std::u32string_view piece);

  // What can become of an intended piece. Proper prefixes of pieces have a node
  // too, so that a walk knows whether a piece may still be completed.
  struct Intended {
    std::vector<std::uint32_t> pieces;  // indices into pieces_
    std::vector<std::uint32_t> prefixes;  // its proper prefixes, indices into intended_
  };
  struct Piece {
    std::u32string seen;
    std::uint32_t intended;  // index into intended_
    std::uint32_t intended_size;
    double prob, log_prob;
  };

  std::uint32_t intended_index(std::u32string_view piece);
  std::uint32_t find_intended(std::u32string_view piece) const;  // NONE if the table has none
  // The same for the last `size` characters of a path, most of which end no piece.
  std::uint32_t find_ending(std::u32string_view path, std::size_t size) const;
  const std::vector<std::uint32_t>& seen_as(std::u32string_view piece) const;
  double log_identity(char32_t c) const;
  void add_piece(const Confusion& confusion);
  std::u32string draw(std::u32string_view word, Random& random) const;

  static constexpr std::uint32_t NONE = 0xFFFFFFFF;
  static constexpr std::uint32_t INSERTED = 0;  // the empty piece

  std::vector<Piece> pieces_;
  std::vector<Intended> intended_;
  std::unordered_map<Key, std::uint32_t> index_of_intended_;
  std::array<std::uint32_t, 128> index_of_single_;  // the same for one ASCII character
  std::bitset<128> continues_;                      // it is the second or third of some piece
  std::unordered_map<Key, std::vector<std::uint32_t>> pieces_by_seen_;
  std::unordered_map<char32_t, double> log_identity_;  // of characters that begin a piece
  double log_identity_of_others_ = 0.0;
  double log_end_ = 0.0;
};

struct ConfusionOptions {
  double beam = 12.0;  // candidates weigh at least the best one's weight minus this; may be infinite
  UnknownWords unknown;
  std::size_t keep = KEEP_ALL;
};

class ConfusionChannel final : public Channel {
 public:
  // The table stays the caller's and must outlive the channel. Throws ModelError.
  ConfusionChannel(const NgramTable& table, ConfusionModel model, const ConfusionOptions& options);

 private:
  Reading read_text(std::string_view line) const override;

  const NgramTable& table_;
  ConfusionModel model_;
  ConfusionOptions options_;
  Trie trie_;
};

}  // namespace hiddenite::channel
