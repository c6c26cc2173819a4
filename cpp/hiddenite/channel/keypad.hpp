// The keypad channel: words typed on the number keys of a phone, one press a
// character, with slips (Carter, Dymetman & Bouchard 2012, section 3.1).
//
// A character has one key: letters 2 to 9 as printed on the keys, a digit its
// own, everything else (punctuation) 0. Latin letters with marks have the key of
// their base letter (é as e, ø as o; æ as a, ß as s, þ as t); other scripts are
// "everything else". Text is read as it stands: a mark that is a character of
// its own (NFD) is typed as 0.
//
// The paper's equation 9, normalised over the ten keys so that it is a
// probability of the observation given the word:
//
//   p(o | x) = product over t of [ 1 / (k d(o_t, num(x_t)) + 1) ] / Z(num(x_t))
//   Z(b)     = sum over keys a of 1 / (k d(a, b) + 1)
//
// d is the distance of the keys' centres on the pad 1 2 3 / 4 5 6 / 7 8 9 / * 0 #
// in units of the distance of neighbouring keys; k is the `ambiguity`: 0 makes
// all keys equally likely, 64 puts 90 to 93 % on the right one.
//
// The candidates of an observed word are all words with as many characters, a
// range of ids. Weights take a third of a table look-up a character: a word's
// keys are stored in threes, and for each three observed keys the sums for all
// 1000 intended ones are made first. Storage is two bytes per three characters.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hiddenite/channel/channel.hpp"
#include "hiddenite/channel/encoder.hpp"

namespace hiddenite::channel {

inline constexpr int NUM_KEYS = 10;
inline constexpr double DEFAULT_AMBIGUITY = 64.0;  // the paper's k

// The key that types c.
int key_of(char32_t c);

class KeypadNoise final : public Encoder {
 public:
  // Throws ModelError unless 0 <= ambiguity < infinity.
  explicit KeypadNoise(double ambiguity);

  // ln p(observed | intended), one key.
  double log_prob(int observed, int intended) const { return log_prob_[observed][intended]; }
  const std::array<double, NUM_KEYS>& log_probs(int observed) const { return log_prob_[observed]; }
  void encode_word(std::string_view word, Random* random, std::string& out) const override;

 private:
  std::array<std::array<double, NUM_KEYS>, NUM_KEYS> log_prob_;    // [observed][intended]
  std::array<std::array<double, NUM_KEYS>, NUM_KEYS> cumulative_;  // [intended][observed]
};

class KeypadChannel final : public Channel {
 public:
  // The table stays the caller's and must outlive the channel.
  KeypadChannel(const NgramTable& table, const KeypadNoise& noise, std::size_t keep);

 private:
  // The words begin .. end, all of one length. The codes of their characters
  // 3 g .. 3 g + 2 are codes_[first_code + g (end - begin) + word - begin].
  struct LengthClass {
    WordId begin = NUM_SPECIAL_WORDS;
    WordId end = NUM_SPECIAL_WORDS;
    std::size_t first_code = 0;
    WordId size() const { return end - begin; }
  };

  Reading read_text(std::string_view line) const override;
  void add_codes(LengthClass& words, std::size_t length);
  void read_word(const std::vector<int>& keys, Reading& reading) const;

  const NgramTable& table_;
  KeypadNoise noise_;
  std::size_t keep_;
  std::vector<LengthClass> classes_;  // [length]
  std::vector<std::uint16_t> codes_;
};

}  // namespace hiddenite::channel
