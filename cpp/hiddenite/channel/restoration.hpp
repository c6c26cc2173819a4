// What is missing put back: punctuation, capitals, accents, blanks, or any
// events of a list, as the edges of an acyclic graph.
//
// A lexicon says what each observed form can stand for: «smith» for «smith» or
// «Smith», «cote» for «côte» or «coté», «its» for «it's». A form stands for words
// of the model; a word that the model knows only as one of a kind has the kind's
// id, a weight and a spelling of its own. Events are words without any observed
// form: they may stand after each word, and before the first, at most
// `most_events` in a row.
//
//   J0 --word--> J1 --word--> J2        an edge per word,
//     \--word--> M1 --event--^          and a way round through the events
//
// So a word's candidates occur once for each number of events that follows it.
// Every path of the graph is one way to restore the line, and every way is one
// path. With `joins`, blanks are among what is missing: J are the places between
// characters, and a word leads from any place to any other whose characters
// between the two are one of its forms.
//
// What the lexicon lacks is spelled as it was seen, with the kinds of unknown
// words: [kind] its id, its weight and what is done to the letters.
#pragma once

#include <string>
#include <vector>

#include "hiddenite/channel/channel.hpp"
#include "hiddenite/channel/words/form_tree.hpp"

namespace hiddenite::channel {

struct RestorationOptions {
  int most_events = 1;        // in a row
  bool joins = false;         // blanks are missing too
  int longest_unknown = 12;   // with `joins`: characters of a word that the lexicon lacks
  double unknown_cost = DEFAULT_UNKNOWN_COST;  // with `joins`: of each of its characters
};

class RestorationChannel : public Channel {
 public:
  // A word that an observed form can stand for.
  struct Entry {
    std::string form;      // as observed; empty: an event
    std::string spelling;  // as it is written
    WordId word;           // of the model
    double log_weight;
  };
  // Unknown words of a kind: with small letters, the first letter large, all of them large.
  struct Kind {
    enum class Letters { AS_SEEN, TITLE, UPPER };
    WordId word;
    double log_weight;
    Letters letters;
  };

  RestorationChannel(const NgramTable& table, std::vector<Entry> entries, std::vector<Kind> kinds,
                     const RestorationOptions& options);

 private:
  struct Match {
    std::uint32_t begin, end;  // places between characters
    std::uint32_t form;
  };

  Reading read_text(std::string_view line) const override;
  Reading read_words(std::string_view line) const;
  Reading read_joined(std::string_view line) const;
  // All forms of the lexicon that stand anywhere in the text, by where they end and then by where they begin.
  std::vector<Match> find_forms(std::string_view text, const std::vector<std::uint32_t>& places) const;
  // Fills a slot with what the form can stand for.
  void add_entries(Reading& reading, std::uint32_t form) const;
  void add_unknown_kinds(Reading& reading, std::string_view seen, double log_weight) const;
  void add_events(Reading& reading) const;

  const NgramTable& table_;
  std::vector<Entry> entries_;  // by form, then by word
  std::vector<std::uint32_t> first_entry_;  // [form]; one more than there are
  FormTree forms_;
  std::vector<Entry> events_;
  std::vector<Kind> kinds_;
  RestorationOptions options_;
};

}  // namespace hiddenite::channel
