// From the tokens of a sentence to a lattice of what can have been meant.
//
// Node i stands before token i. Each token leads from its node to the next,
// with the candidates of seen_words.hpp; what is protected has one, itself.
// Beside these there are edges over several tokens, and chains of edges:
//   split       one token, several words («alot»): a chain through nodes of its own
//   merge       two tokens, one word («to gether»); the gap could have been anywhere: - ln(length - 1)
//   compound    word hyphen word as the model's one word; nothing changes
// and for what a machine has read:
//   hyphen      word - word over white space, one word («pro- perty»)
//   glue        a mark inside a word («U~nited»)
//   spurious    a short token or a mark that stands for nothing, together with its neighbour
// Where the recogniser is not sure, it shows the word o_1 with share s_1 and other
// readings o_r with shares s_r; what is meant then weighs
//   sum_r s_r p(o_r | w)
// over the readings whose search has found w.
// A path of the lattice is a reading of the sentence; its weight is that of the
// language model and of the edges.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hiddenite/channel/channel.hpp"
#include "hiddenite/correct/seen_words.hpp"

namespace hiddenite::correct {

// A token of the text, lower-cased.
struct NoisyToken {
  enum Flag : std::uint8_t {
    WORD = 1,     // it may change
    SPACE = 2,    // white space before it
    CAPITAL = 4,  // capitalised inside a sentence
    LINE = 8,     // a line end before it
  };
  std::string text;
  std::uint8_t flags = 0;
  std::vector<std::pair<std::string, double>> others = {};  // other readings of a recogniser, and their shares
  bool has(Flag flag) const { return flags & flag; }
};

// What a slot of the lattice stands for.
struct NoisySlot {
  std::uint32_t first, end;  // tokens
  std::uint32_t chain;       // chains have a number from 1 on; 0: the slot is a reading by itself
};

struct NoisyLattice {
  Reading reading;
  std::vector<NoisySlot> slots;  // [slot of the reading]
  double left_out = LOG_ZERO;    // the most of the seen words' left_out
};

struct LatticeOptions {
  bool is_scanned = false;     // hyphen, glue and spurious edges
  std::size_t max_merged = 6;  // candidates of a merge
};

class NoisyLatticeBuilder {
 public:
  NoisyLatticeBuilder(const SeenWords& words, const LatticeOptions& options) : words_(words), options_(options) {}
  NoisyLattice build(const std::vector<NoisyToken>& tokens, EditSearch& search) const;

 private:
  struct Draft;
  void add_token(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const;
  void add_others(const NoisyToken& token, std::uint32_t i, Draft& draft) const;
  void add_merges(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const;
  void add_across_mark(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const;
  void add_spurious(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const;
  void add_stray_mark(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const;
  void add_joined(const std::string& joined, std::uint32_t first, std::uint32_t end, double log_rate, bool wide,
                  Draft& draft) const;
  bool is_known(const NoisyToken& token) const;

  const SeenWords& words_;
  LatticeOptions options_;
};

}  // namespace hiddenite::correct
