// What is believed about slips before any pair has been seen.
//
// Typing: neighbouring keys, sounds that are alike, letters doubled, dropped and
// exchanged. OCR: letters of like shapes, one for two and two for one. A share
// ERROR_MASS of a character's probability goes to all slips together.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hiddenite/rooms.hpp"

namespace hiddenite::channel {

using Letter = std::uint8_t;  // a character's number in an alphabet

// The characters that a model tells apart; all others are one.
class Alphabet {
 public:
  static constexpr Letter NOTHING = 0, BEGIN = 1, END = 2, OTHER = 3, FIRST = 4;
  // Throws ModelError for a repeated character or more than 250.
  explicit Alphabet(std::u32string characters);
  Letter letter(char32_t c) const;
  char32_t character(Letter letter) const { return letter < FIRST ? U'\0' : characters_[letter - FIRST]; }
  std::size_t size() const { return characters_.size() + FIRST; }
  const std::u32string& characters() const { return characters_; }
  std::vector<Letter> letters(std::u32string_view word) const;

 private:
  std::u32string characters_;
  std::array<Letter, 128> ascii_{};
  std::unordered_map<char32_t, Letter> others_;
};

// One piece: the intended a and b (NOTHING: one character only) are seen as x and y.
struct Edit {
  Letter a, b, x, y;
  std::uint32_t key() const {
    return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b) << 8 | static_cast<std::uint32_t>(x) << 16 |
           static_cast<std::uint32_t>(y) << 24;
  }
  static Edit from_key(std::uint32_t key) {
    return {static_cast<Letter>(key), static_cast<Letter>(key >> 8), static_cast<Letter>(key >> 16),
            static_cast<Letter>(key >> 24)};
  }
};

enum class SlipKind { TYPING, OCR };

class EditPrior {
 public:
  static constexpr double ERROR_MASS = 0.12;
  EditPrior(const Alphabet& alphabet, SlipKind kind);
  SlipKind kind() const { return kind_; }
  // For each place of a word, what the pieces that can begin there have together is at most one.
  double prob(Edit edit) const;
  // The same without what is listed by name.
  double prob_of_form(Edit edit) const;
  // Of two characters that are seen as two others.
  double prob_of_two_others() const;
  std::vector<std::uint32_t> listed_pieces() const;  // keys

 private:
  struct Shares;
  static Shares shares_of(SlipKind kind);
  void add_pieces(const Alphabet& alphabet);
  double prob_of_one(Edit edit, const Shares& shares) const;
  double prob_of_two(Edit edit, const Shares& shares) const;
  double prob_of_end(Edit edit, const Shares& shares) const;
  static double prob_of_two_others(const Shares& shares);

  SlipKind kind_;
  std::size_t num_letters_;
  std::vector<double> substitution_;                    // [a, x]: share of a's substitutions
  std::unordered_map<std::uint32_t, double> listed_;    // pieces that are likelier than others of their form
};

}  // namespace hiddenite::channel
