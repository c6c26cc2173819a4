// What one seen word can have been meant as: candidates with ln p(seen | meant).
//
//   p_c(o | w) = 1 - e                                   if o = w
//              = e p_edit(o | w) / (1 - p_edit(w | w))   otherwise
//   p(o | w)   = (n(w, o) + K p_c(o | w)) / (n(w) + K)
// e is how often a word is wrong; n counts the pairs that were learnt, so that
// a slip that somebody makes all the time is remembered as such (K = 0: never).
// Words outside the model cost their spelling as well (lexicon.hpp).
//
// Phrases are readings by several words: those that were learnt, and splits of
// an unknown word into known ones («alot», «cametothe»), at the rate of words
// that are written as one.
//
// Normalisation (`map_power` > 0): where the seen word was learnt, its readings
// are those that were learnt, weighing map_power ln p(w | o) - ln p_1(w).
//
// What was found for a word is kept: a text repeats itself.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "hiddenite/correct/lexicon.hpp"

namespace hiddenite::correct {

struct SlipRates {
  double word = 0.03;       // e
  double capital = 0.006;   // e of a capitalised word inside a sentence
  double split = 2e-3;      // two words are written as one
  double merge = 2e-3;      // a word is written as two
  double hyphen = 0.5;      // a hyphen before white space is no part of the word
  double glue = 1e-3;       // punctuation stands inside a word
  double spurious = 1e-3;   // a short token comes from nowhere
};

struct CandidateOptions {
  EditLimits unknown{17, -16.0, 1e9};  // for seen words outside the lexicon
  EditLimits known{17, -10.0, 1e9};
  double memory_weight = 5.0;          // K; 0: pairs are not remembered
  double map_power = 0.0;
};

// Pairs that were learnt. A meant phrase has its words separated by single spaces.
struct PairMemory {
  std::vector<std::string> seen, meant;
  std::vector<double> counts;              // n(meant, seen), also where they are equal
  std::vector<std::string> meant_words;
  std::vector<double> meant_totals;        // n(meant)
};

struct MeantWord {
  WordId id;
  std::string text;
  double log_weight[2];  // ln p(seen | text), spelling included; [1]: of a capitalised word inside a sentence
  double score = LOG_ZERO;  // ln p_edit + ln p of what was looked for
};

struct MeantPhrase {
  std::vector<std::string> words;
  double log_weight;
};

struct MeantWords {
  std::vector<MeantWord> words;  // the first is the word as it was seen
  std::vector<MeantPhrase> phrases;
  bool is_known = false;         // the word as seen is in the lexicon
  double left_out = LOG_ZERO;    // ln of p_edit times prior is no more for any other word

  // The same if only the first `count` words are used.
  double left_out_of(std::size_t count) const;
};

class SeenWords {
 public:
  // The lexicon and the model stay the caller's.
  SeenWords(const WordLexicon& lexicon, const EditModel& model, const SlipRates& rates, const CandidateOptions& options,
            const PairMemory& memory);

  const WordLexicon& lexicon() const { return lexicon_; }
  const EditModel& model() const { return model_; }
  const SlipRates& rates() const { return rates_; }
  // From the cache, or found now.
  std::shared_ptr<const MeantWords> meant(const std::string& seen, EditSearch& search) const;
  MeantWords find_meant(const std::string& seen, EditSearch& search) const;
  std::size_t num_cached() const;
  void clear_cache() const;

 private:
  struct Remembered {
    std::string meant;
    double count;
  };
  double log_identity(std::uint32_t word) const;
  double remembered(const std::string& seen, const std::string& meant) const;
  void add_word(const std::string& seen, std::uint32_t word, double log_edit, MeantWords& out) const;
  void add_seen(const std::string& seen, MeantWords& out) const;
  void add_remembered(const std::string& seen, MeantWords& out) const;
  void add_mapped(const std::string& seen, MeantWords& out) const;
  void add_splits(const std::string& seen, MeantWords& out) const;
  double log_channel(double log_p, double count, const std::string& meant) const;

  const WordLexicon& lexicon_;
  const EditModel& model_;
  SlipRates rates_;
  CandidateOptions options_;
  WordTree tree_;
  std::unordered_map<std::string, std::vector<Remembered>> memory_;  // by seen
  std::unordered_map<std::string, double> meant_totals_;
  mutable std::vector<float> identity_;  // [word]: p_edit(w | w), NaN until asked for
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const MeantWords>> cache_;
};

}  // namespace hiddenite::correct
