// The map channel: a list says which words an observed word may stand for, in
// the format of SRILM's disambig.
//
//   observed  word [number]  word [number] ...      one observed word a line
//
// A number after a word is p(observed | word), or its logarithm; without one it
// is 1. As in SRILM nothing depends on what they add up to. Blank lines and
// lines that begin with ## are skipped, and so are those of <s> and </s>, which
// are added to every sentence anyway. An observed word that has no line stands
// for itself, or, if there is a line of <unk>, for what that says; there <unk>
// means the observed word itself.
//
// With a joiner, say _, the alternative ice_cream stands for two words. A line
// with such a word makes a lattice: each alternative of several words has a way
// of its own past those of one word. A line without makes positions in a row,
// which all methods take.
//
// Which door to take:
//   a map from a file           read_word_map
//   candidates                  MapChannel
//   from words to observations  MapEncoder
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hiddenite/base/text.hpp"
#include "hiddenite/channel/channel.hpp"
#include "hiddenite/channel/encoder.hpp"

namespace hiddenite::channel {

enum class MapNumbers { PROBABILITIES, LOG10, LN };

struct WordMap {
  struct Alternative {
    std::vector<std::string> words;  // at least one
    double log_weight = 0.0;
  };
  struct Line {
    std::string observed;
    std::vector<Alternative> alternatives;
  };
  std::vector<Line> lines;  // in the order of the file
};

// Throws FormatError with file and line.
WordMap read_word_map(LineReader& lines, MapNumbers numbers, const std::string& joiner);

class MapChannel final : public Channel {
 public:
  // `table` must outlive this. The `keep` best alternatives of a word stay; among equals the first of the line.
  MapChannel(const NgramTable& table, const WordMap& map, std::size_t keep);

 protected:
  Reading read_text(std::string_view line) const override;

 private:
  struct Word {
    WordId id;
    std::string spelling;  // of one outside the vocabulary; empty: the observed word, or none is needed
  };
  struct Alternative {
    std::vector<Word> words;
    double log_weight;
  };
  using Alternatives = std::vector<Alternative>;

  Alternatives prepare(const WordMap::Line& line, std::size_t keep) const;
  const Alternatives& find(std::string_view observed) const;
  void add(Reading& reading, const Word& word, std::string_view observed, double log_weight) const;
  // A slot of all alternatives that are one word; false: there is none.
  bool add_single_words(Reading& reading, const Alternatives& alternatives, std::string_view observed) const;
  void add_way(Reading& reading, const Alternative& alternative, std::string_view observed, std::uint32_t from,
               std::uint32_t first_inner) const;

  const NgramTable& table_;
  std::unordered_map<std::string, Alternatives> alternatives_;
  Alternatives otherwise_;  // of words without a line
};

// A word as some observed one that may stand for it: without noise the most probable one, with noise one in
// proportion to the numbers. Alternatives of several words are left out; a word without any is seen as it is.
class MapEncoder final : public Encoder {
 public:
  explicit MapEncoder(const WordMap& map);
  void encode_word(std::string_view word, Random* random, std::string& out) const override;

 private:
  struct Observations {
    std::vector<std::string> observed;
    std::vector<double> cumulative;  // sums of the probabilities
    std::size_t best = 0;
    double best_log_weight = LOG_ZERO;
  };
  std::unordered_map<std::string, Observations> observations_;
};

}  // namespace hiddenite::channel
