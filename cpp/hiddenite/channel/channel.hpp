// Channels: from one line of observation to the candidates of each position.
//
// A channel says how likely an observation is under each word that may have
// been meant; a language model says which words are likely to follow each
// other; inference multiplies the two. A channel reads a whole line in C++ and
// is immutable, so that many threads can read many lines with one object.
//
//   keypad.hpp      words typed on a phone's number keys
//   typo.hpp        words typed on a keyboard, with slips
//   confusion.hpp   words read by a machine that confuses characters (OCR)
//   restoration.hpp words without their punctuation, capitals, accents or blanks
//   words/word_map.hpp  words that stand for listed others (SRILM's disambig)
//   words/class_channel.hpp  text under a class-based model
//   words/weighted.hpp  another channel, its weights multiplied
//   slots_json.hpp  candidates and weights given by the user
// What was meant is turned into what a channel shows by encoder.hpp.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hiddenite/channel/candidates.hpp"
#include "hiddenite/lm/vocabulary.hpp"

namespace hiddenite::channel {

// What a channel makes of one line: slot i holds the candidates
// begin[i] .. begin[i + 1].
struct Reading {
  std::string id;              // the record's own name; empty: none was given
  bool id_is_integer = false;  // it was written without quotes
  std::vector<std::uint64_t> begin{0};
  std::vector<WordId> words;
  std::vector<double> log_weights;
  std::vector<Span> spans;     // [slot], where they are the edges of a graph; none: a chain
  // (candidate, spelling) of candidates outside the vocabulary, and of those that a kind of words stands for.
  std::vector<std::pair<std::uint64_t, std::string>> spellings;

  std::size_t length() const { return begin.size() - 1; }
  // The word that candidate `index` of slot i stands for.
  std::string_view word(const Vocabulary& vocabulary, std::size_t slot, std::size_t index) const;

  // Building: candidates are added to the open slot until it is closed.
  void add(WordId word, double log_weight) {
    words.push_back(word);
    log_weights.push_back(log_weight);
  }
  void add_unknown(std::string_view spelling, double log_weight) {
    spellings.emplace_back(words.size(), spelling);
    add(UNKNOWN, log_weight);
  }
  // As whichever of the two it is.
  void add(const Vocabulary& vocabulary, std::string_view word, double log_weight) {
    const WordId id = vocabulary.find(word);
    if (id == NO_WORD) {
      add_unknown(word, log_weight);
    } else {
      add(id, log_weight);
    }
  }
  void close_slot() { begin.push_back(words.size()); }
};

class Channel {
 public:
  virtual ~Channel() = default;
  // Throws ModelError with one line that says what is wrong with the observation.
  Reading read(std::string_view line) const;

 protected:
  // `line` is UTF-8.
  virtual Reading read_text(std::string_view line) const = 0;
};

// A reading from words and their log weights, one list a slot: the channel of
// those who have their own. Throws ModelError for what check_candidate refuses
// and for a word given twice.
using WeightedWords = std::vector<std::pair<std::string, double>>;
Reading reading_from_slots(const Vocabulary& vocabulary, const std::vector<WeightedWords>& slots);

// A reading from the edges of a word lattice, each with a word. Nodes are
// numbered so that edges lead upwards; paths begin at node 0 and end at the
// highest. Edges between the same nodes make a slot, of which the `keep` best
// stay; slots are in ascending order of the nodes they lead to and from. Throws
// ModelError.
struct LatticeEdge {
  std::uint32_t from, to;
  std::string word;
  double log_weight;
};
Reading reading_from_lattice(const NgramTable& table, const std::vector<LatticeEdge>& edges, std::size_t keep);

// What is wrong with a candidate, as one line without its place; empty: nothing.
std::string check_candidate(std::string_view word, double log_weight);
// A candidate of the open slot, counted from its first, that repeats the word of
// an earlier one, if there is any. Takes a sort.
std::optional<std::size_t> find_repeated_word(const Reading& reading, const Vocabulary& vocabulary);

// No limit to the candidates of a slot.
inline constexpr std::size_t KEEP_ALL = std::numeric_limits<std::size_t>::max();

// Leaves the `keep` best candidates of the open slot, in the order they have:
// those of the highest channel weight; among equals, of the highest unigram
// probability, then of the lowest id. Linear in the size of the slot.
void keep_best(Reading& reading, std::size_t keep, const NgramTable& table);

// Words that the vocabulary lacks can be candidates, spelled as they were seen.
// <unk> says that some unknown word was meant, not which one: the spelling costs
// `cost` a character, so that a model that likes <unk> does not take every slip
// for a new word. At ln 26 all spellings of one length are alike.
inline constexpr double DEFAULT_UNKNOWN_COST = 3.2580965380214821;  // ln 26
struct UnknownWords {
  bool allowed = true;
  double cost = DEFAULT_UNKNOWN_COST;
  void check() const;  // throws ModelError
  // Adds `seen` to the open slot if it is allowed and not in the vocabulary.
  // `log_weight` is that of seeing it as it was meant.
  void add(Reading& reading, const Vocabulary& vocabulary, std::string_view seen, double log_weight) const;
};

// "column N: ", counted in characters from 1, of a byte of the line.
std::string column(std::string_view line, std::size_t offset);

}  // namespace hiddenite::channel
