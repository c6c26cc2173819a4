#include "hiddenite/correct/corrections.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/channel/edit_training.hpp"
#include "hiddenite/correct/line_alignment.hpp"

using namespace hiddenite::correct;
using namespace nb::literals;

namespace {

using Keys = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

EditModel make_model(const std::string& alphabet, SlipKind kind, const Keys& keys, const Input<double>& counts) {
  return EditModel(Alphabet(to_characters(alphabet)), kind, {keys.data(), keys.size()}, {counts.data(), counts.size()});
}

using PairTuple = std::tuple<std::string, std::string, double>;

std::vector<EditPair> to_edit_pairs(const std::vector<PairTuple>& pairs) {
  std::vector<EditPair> result;
  for (const auto& [intended, seen, weight] : pairs) {
    result.push_back({to_characters(intended), to_characters(seen), weight});
  }
  return result;
}

using CountsTuple = std::tuple<Array<std::uint64_t>, Array<double>, double>;

CountsTuple to_tuple(EditCounts counts) {
  return {to_array(std::move(counts.keys)), to_array(std::move(counts.counts)), counts.log_likelihood};
}

CountsTuple train(const std::string& alphabet, SlipKind kind, const std::vector<PairTuple>& pairs, int iterations,
                  const Keys& keys, const Input<double>& counts) {
  EditCounts given;
  given.keys.assign(keys.data(), keys.data() + keys.size());
  given.counts.assign(counts.data(), counts.data() + counts.size());
  EditCounts result;
  {
    const WithoutGil release;
    result = train_edits(Alphabet(to_characters(alphabet)), kind, to_edit_pairs(pairs), iterations, given);
  }
  return to_tuple(std::move(result));
}

CountsTuple expected(const EditModel& model, const std::vector<PairTuple>& pairs) {
  EditCounts result;
  {
    const WithoutGil release;
    result = expected_edits(model, to_edit_pairs(pairs));
  }
  return to_tuple(std::move(result));
}

void bind_edits(nb::module_& m) {
  nb::enum_<SlipKind>(m, "SlipKind").value("TYPING", SlipKind::TYPING).value("OCR", SlipKind::OCR);
  nb::class_<EditModel>(m, "EditModel", "p(seen | intended), summed over alignments.")
      .def("__init__", [](EditModel* self, const std::string& alphabet, SlipKind kind, const Keys& keys,
                          const Input<double>& counts) {
        new (self) EditModel(make_model(alphabet, kind, keys, counts));
      },
           "alphabet"_a, "kind"_a, "keys"_a, "counts"_a)
      .def("log_prob", [](const EditModel& model, const std::string& intended, const std::string& seen) {
        return model.log_prob(to_characters(intended), to_characters(seen));
      }, "intended"_a, "seen"_a)
      .def("piece_prob", [](const EditModel& model, const std::string& left, const std::string& intended,
                            const std::string& seen) {
        const Alphabet& alphabet = model.alphabet();
        const auto letter = [&](const std::u32string& piece, std::size_t i) {
          if (i >= piece.size()) return Alphabet::NOTHING;
          return piece[i] == U'$' ? Alphabet::END : piece[i] == U'^' ? Alphabet::BEGIN : alphabet.letter(piece[i]);
        };
        const std::u32string l = to_characters(left), w = to_characters(intended), o = to_characters(seen);
        return model.prob(letter(l, 0), {letter(w, 0), letter(w, 1), letter(o, 0), letter(o, 1)});
      }, "left"_a, "intended"_a, "seen"_a, "p(piece | left neighbour); ^ is the beginning, $ the end.");
  m.def("train_edits", &train, "alphabet"_a, "kind"_a, "pairs"_a, "iterations"_a, "keys"_a, "counts"_a,
        "Counts by expectation-maximisation from (intended, seen, weight).");
  m.def("expected_edits", &expected, "model"_a, "pairs"_a);
  m.def("find_words", [](const EditModel& model, const std::vector<std::string>& words,
                         const std::vector<double>& log_prior, const std::string& seen, std::size_t keep,
                         double least_log_edit, double beam, std::uint64_t max_prefixes, std::size_t num_alike) {
    std::vector<std::u32string> characters;
    for (const std::string& word : words) characters.push_back(to_characters(word));
    const WordTree tree(model.alphabet(), characters, log_prior);
    EditSearch search;
    const FoundWords found = search.find(model, tree, log_prior, model.alphabet().letters(to_characters(seen)),
                                         {keep, least_log_edit, beam, max_prefixes, num_alike});
    std::vector<std::tuple<std::uint32_t, double, double>> rows;
    for (const FoundWord& word : found.words) rows.emplace_back(word.word, word.log_edit, word.score);
    return std::tuple(rows, found.left_out, found.num_prefixes, found.is_complete);
  }, "model"_a, "words"_a, "log_prior"_a, "seen"_a, "keep"_a, "least_log_edit"_a, "beam"_a, "max_prefixes"_a,
     "num_alike"_a,
     "The best words of a list for a seen one: (place, ln p_edit, score); left_out, prefixes, all done.");
#ifdef HIDDENITE_FAULTS
  m.def("plant_edit_fault", [](double factor) { planted_edit_fault = factor; }, "factor"_a,
        "Deliberately too low bounds; tests of tests only.");
#endif
}

// -------------------------------------------------------------------- words

std::shared_ptr<SeenWords> make_words(const WordLexicon& lexicon, const EditModel& model,
                                      const std::vector<double>& rates,
                                      double memory_weight, double map_power, std::size_t keep, double least_unknown,
                                      double least_known, double beam, std::uint64_t max_prefixes,
                                      std::size_t num_alike, const std::vector<PairTuple>& pairs,
                                      const std::vector<std::pair<std::string, double>>& totals) {
  if (rates.size() != 7) throw ModelError("expected seven rates");
  CandidateOptions options;
  options.unknown = {keep, least_unknown, beam, max_prefixes, num_alike};
  options.known = {keep, least_known, beam, max_prefixes / 2, num_alike / 4};
  options.memory_weight = memory_weight;
  options.map_power = map_power;
  PairMemory memory;
  for (const auto& [seen, meant, count] : pairs) {
    memory.seen.push_back(seen);
    memory.meant.push_back(meant);
    memory.counts.push_back(count);
  }
  for (const auto& [word, total] : totals) {
    memory.meant_words.push_back(word);
    memory.meant_totals.push_back(total);
  }
  const WithoutGil release;
  return std::make_shared<SeenWords>(
      lexicon, model, SlipRates{rates[0], rates[1], rates[2], rates[3], rates[4], rates[5], rates[6]}, options, memory);
}

void bind_words(nb::module_& m) {
  nb::class_<WordLexicon>(m, "WordLexicon", "The words that can have been meant.")
      .def("__init__", [](WordLexicon* self, const NgramTable& table, const NgramTable& letters,
                          std::vector<std::string> words, std::vector<double> weights, bool trusts_list,
                          std::uint32_t rare_below) {
        const ListedWords listed{std::move(words), std::move(weights), trusts_list, rare_below};
        const WithoutGil release;
        new (self) WordLexicon(table, letters, listed);
      }, "table"_a, "letters"_a, "words"_a, "weights"_a, "trusts_list"_a, "rare_below"_a, nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>())
      .def("__len__", [](const WordLexicon& lexicon) { return lexicon.words().size(); })
      .def("__contains__", [](const WordLexicon& lexicon, const std::string& word) {
        return lexicon.find(word) != WordLexicon::ABSENT;
      }, "word"_a)
      .def("log_spell", [](const WordLexicon& lexicon, const std::string& word) { return lexicon.log_spell(word); },
           "word"_a)
      .def_prop_ro("lists_language", &WordLexicon::lists_language,
                   "Whether the list has at least half of the model's frequent words.")
      .def("characters", [](const WordLexicon& lexicon) { return to_utf8(lexicon.frequent_characters()); },
           "All characters of its words, the most frequent first.");
  m.def("rare_words", [](const NgramTable& table, std::uint32_t most) {
    std::vector<std::string> words;
    const std::vector<std::uint32_t> neighbours = count_left_neighbours(table);
    for (WordId w = hiddenite::base::NUM_SPECIAL_WORDS; w < table.vocabulary.size(); ++w) {
      const std::string_view word = table.vocabulary.word(w);
      if (neighbours[w] <= most && is_wordlike(word)) words.emplace_back(word);
    }
    return words;
  }, "table"_a, "most"_a, "Words that at most so many different words precede.");
  nb::class_<SeenWords>(m, "SeenWords", "What a seen word can have been meant as.")
      .def(nb::new_(&make_words), "lexicon"_a, "model"_a, "rates"_a, "memory_weight"_a, "map_power"_a, "keep"_a,
           "least_unknown"_a, "least_known"_a, "beam"_a, "max_prefixes"_a, "num_alike"_a, "pairs"_a, "totals"_a,
           nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>())  // the first is the class
      .def("meant", [](const SeenWords& words, const std::string& seen) {
        EditSearch search;
        const std::shared_ptr<const MeantWords> meant = words.meant(seen, search);
        std::vector<std::pair<std::vector<std::string>, double>> rows;
        for (const MeantWord& word : meant->words) rows.emplace_back(std::vector{word.text}, word.log_weight[0]);
        for (const MeantPhrase& phrase : meant->phrases) rows.emplace_back(phrase.words, phrase.log_weight);
        return std::tuple(rows, meant->is_known, meant->left_out);
      }, "seen"_a, "(words, log weight) of each reading, the word as seen first; whether it is known; left_out.")
      .def_prop_ro("num_cached", &SeenWords::num_cached)
      .def("clear_cache", &SeenWords::clear_cache);
}

// -------------------------------------------------------------- corrections

using TokenList = std::vector<std::string>;
// Tokens, a byte of flags each, and (token, other readings with their shares).
using OtherReadings = std::vector<std::pair<std::uint32_t, std::vector<std::pair<std::string, double>>>>;
using TokenRow = std::tuple<TokenList, nb::bytes, OtherReadings>;

std::vector<Corrections::Sentence> to_sentences(const std::vector<TokenRow>& given) {
  std::vector<Corrections::Sentence> sentences;
  for (const auto& [tokens, flags, others] : given) {
    if (tokens.size() != flags.size()) throw ModelError("a sentence has other numbers of tokens and of flags");
    Corrections::Sentence& sentence = sentences.emplace_back();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      sentence.push_back({tokens[i], static_cast<std::uint8_t>(flags.c_str()[i])});
    }
    for (const auto& [token, readings] : others) {
      if (token >= sentence.size()) throw ModelError("a reading belongs to no token");
      sentence[token].others = readings;
    }
  }
  return sentences;
}

void bind_corrections(nb::module_& m) {
  nb::class_<ReadingChoice>(m, "ReadingChoice")
      .def_ro("words", &ReadingChoice::words)
      .def_ro("prob", &ReadingChoice::prob);
  nb::class_<SentenceChange>(m, "SentenceChange")
      .def_ro("first", &SentenceChange::first)
      .def_ro("end", &SentenceChange::end)
      .def_ro("choice", &SentenceChange::choice)
      .def_ro("alternatives", &SentenceChange::alternatives)
      .def_ro("was_known", &SentenceChange::was_known);
  nb::class_<SentenceCorrection>(m, "SentenceCorrection")
      .def_ro("changes", &SentenceCorrection::changes)
      .def_ro("upper", &SentenceCorrection::upper)
      .def_ro("lower", &SentenceCorrection::lower)
      .def_ro("exact", &SentenceCorrection::exact)
      .def_ro("states", &SentenceCorrection::states)
      .def_ro("error_bound", &SentenceCorrection::error_bound)
      .def_ro("left_out", &SentenceCorrection::left_out);
  nb::class_<SentenceDraw>(m, "SentenceDraw")
      .def_ro("parts", &SentenceDraw::parts)
      .def_ro("count", &SentenceDraw::count);
  nb::class_<Corrections>(m, "Corrections", "Changes of sentences with their probabilities; shared by threads.")
      .def("__init__", [](Corrections* self, const Engine& engine, const SeenWords& words, bool is_scanned) {
        new (self) Corrections(engine, words, LatticeOptions{is_scanned});
      }, "engine"_a, "words"_a, "is_scanned"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("correct", [](const Corrections& corrections, const std::vector<TokenRow>& given,
                         int threads) {
        const std::vector<Corrections::Sentence> sentences = to_sentences(given);
        const WithoutGil release;
        return corrections.correct(sentences, threads);
      }, "sentences"_a, "threads"_a)
      .def("expect", [](const Corrections& corrections, const std::vector<TokenRow>& given,
                        double least, int threads) {
        const std::vector<Corrections::Sentence> sentences = to_sentences(given);
        std::vector<MeantPair> pairs;
        {
          const WithoutGil release;
          pairs = corrections.expect(sentences, least, threads);
        }
        std::vector<PairTuple> rows;
        for (MeantPair& pair : pairs) rows.emplace_back(std::move(pair.seen), std::move(pair.meant), pair.prob);
        return rows;
      }, "sentences"_a, "least"_a, "threads"_a, "(seen, meant, probability) of all tokens that may change.")
      .def("sample", [](const Corrections& corrections, const TokenRow& row, std::uint64_t count, std::uint64_t seed,
                        std::uint64_t stream) {
        const std::vector<Corrections::Sentence> sentences = to_sentences({row});
        const WithoutGil release;
        return corrections.sample(sentences[0], count, seed, stream);
      }, "sentence"_a, "count"_a, "seed"_a, "stream"_a)
      .def("lattice", [](const Corrections& corrections, const TokenRow& row) {
        const std::vector<Corrections::Sentence> sentences = to_sentences({row});
        return corrections.lattice(sentences[0]).reading;
      }, "sentence"_a);
}

}  // namespace

void bind_correct(nb::module_& m) {
  m.def("align_lines", [](const std::string& noisy, const std::vector<std::uint32_t>& noisy_begins,
                          const std::string& clean, const std::vector<std::uint32_t>& clean_begins) {
    const WithoutGil release;
    return align_lines(to_characters(noisy), noisy_begins, to_characters(clean), clean_begins);
  }, "noisy"_a, "noisy_begins"_a, "clean"_a, "clean_begins"_a,
     "(noisy token, clean token) of each place where tokens begin on both sides of the best alignment.");
  m.def("edit_distance", [](const std::string& a, const std::string& b) {
    const WithoutGil release;
    return edit_distance(to_characters(a), to_characters(b));
  }, "a"_a, "b"_a, "The fewest characters to insert, delete or replace.");
  bind_edits(m);
  bind_words(m);
  bind_corrections(m);
}
