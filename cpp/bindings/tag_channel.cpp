#include "hiddenite/channel/tag_channel.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings.hpp"
#include "hiddenite/channel/word_features.hpp"

using namespace hiddenite::channel;
using namespace nb::literals;

namespace {

std::vector<double> guess_word(const Guesser& guesser, std::string_view word, bool is_first) {
  if (word.empty()) throw nb::value_error("the word is empty");
  std::vector<double> log_probs(guesser.num_tags());
  guesser.guess(word, is_first, log_probs);
  return log_probs;
}

using Example = std::tuple<std::string, bool, std::vector<std::pair<std::uint32_t, double>>>;

LogLinearGuesser train_log_linear(std::size_t num_tags, const std::vector<Example>& rows, int epochs, double rate,
                                  double penalty, std::uint64_t min_count, std::uint64_t seed) {
  std::vector<TagCounts> examples;
  for (const auto& [word, is_first, counts] : rows) {
    if (word.empty()) throw nb::value_error("a word is empty");
    for (const auto& [tag, count] : counts) {
      if (tag >= num_tags) throw nb::index_error("tag out of range");
    }
    examples.push_back({word, is_first, counts});
  }
  const WithoutGil release;
  return LogLinearGuesser::train(num_tags, examples, {epochs, rate, penalty, min_count, seed});
}

void bind_guessers(nb::module_& m) {
  nb::class_<Guesser>(m, "Guesser", "Which tag a word that was never seen may have; immutable.")
      .def_prop_ro("num_tags", &Guesser::num_tags)
      .def("guess", &guess_word, "word"_a, "is_first"_a, "ln p(tag | word), for every tag.");
  nb::class_<SuffixGuesser, Guesser>(m, "SuffixGuesser")
      .def("__init__", [](SuffixGuesser* self, std::size_t num_tags, const std::vector<std::string>& suffixes,
                          const Input<double>& log_probs, const Input<double>& prior, std::size_t max_length,
                          bool shapes) {
        new (self) SuffixGuesser(num_tags, suffixes, to_vector(log_probs), to_vector(prior), max_length,
                                 shapes ? SuffixGuesser::Classes::SHAPES : SuffixGuesser::Classes::CAPITALS);
      }, "num_tags"_a, "suffixes"_a, "log_probs"_a, "prior"_a, "max_length"_a, "shapes"_a)
      .def_static("class_of", [](std::string_view word, bool is_first, bool shapes) {
        if (word.empty()) throw nb::value_error("the word is empty");
        const auto classes = shapes ? SuffixGuesser::Classes::SHAPES : SuffixGuesser::Classes::CAPITALS;
        return std::string(1, SuffixGuesser::class_of(word, is_first, classes));
      }, "word"_a, "is_first"_a, "shapes"_a);
  nb::class_<LogLinearGuesser, Guesser>(m, "LogLinearGuesser")
      .def("__init__", [](LogLinearGuesser* self, std::size_t num_tags, std::vector<std::string> features,
                          const Input<float>& weights) {
        new (self) LogLinearGuesser(num_tags, std::move(features), to_vector(weights));
      }, "num_tags"_a, "features"_a, "weights"_a)
      .def_static("train", &train_log_linear, "num_tags"_a, "examples"_a, "epochs"_a, "rate"_a, "penalty"_a,
                  "min_count"_a, "seed"_a, "Examples are words, whether first in their sentence, (tag, count).")
      .def_prop_ro("features", &LogLinearGuesser::features)
      .def_prop_ro("weights", [](const LogLinearGuesser& self) { return to_array(self.weights()); },
                   nb::rv_policy::automatic);
  nb::class_<SpellingGuesser, Guesser>(m, "SpellingGuesser", "ln p(word | tag) by each tag's character bigrams.")
      .def("__init__", [](SpellingGuesser* self, std::vector<std::string> characters, const Input<double>& start,
                          const Input<double>& lower, const Input<double>& back_off, const Input<std::uint32_t>& before,
                          const Input<std::uint32_t>& after, const Input<double>& excess) {
        if (before.size() != after.size()) throw nb::value_error("the pairs' characters differ in number");
        SpellingTables tables{std::move(characters), to_vector(start), to_vector(lower), to_vector(back_off), {},
                              to_vector(excess)};
        for (std::size_t i = 0; i < before.size(); ++i) tables.pairs.emplace_back(before.data()[i], after.data()[i]);
        new (self) SpellingGuesser(std::move(tables));
      }, "characters"_a, "start"_a, "lower"_a, "back_off"_a, "before"_a, "after"_a, "excess"_a);
}

using SymbolRow = std::tuple<std::uint32_t, std::string, WordId, double>;

}  // namespace

void bind_tag_channel(nb::module_& m) {
  bind_guessers(m);
  nb::class_<TagChannel, Channel>(m, "TagChannel", "From words to the tags that each may have.")
      .def("__init__", [](TagChannel* self, const NgramTable& table, std::vector<std::string> words,
                          const Input<std::uint64_t>& begin, const Input<std::uint32_t>& tags,
                          const Input<std::uint32_t>& counts, const std::vector<SymbolRow>& symbols,
                          const Guesser& guesser, double guess_weight, double floor, bool seen_tags_only,
                          const ContextEmissions* context, std::vector<std::string> allowed_words,
                          const std::vector<std::uint64_t>& allowed_begin,
                          const std::vector<std::uint32_t>& allowed_tags) {
        WordTagCounts lexicon{std::move(words), to_vector(begin), to_vector(tags), to_vector(counts), {}};
        for (const auto& [tag, word, id, log_prior] : symbols) lexicon.symbols.push_back({tag, word, id, log_prior});
        const WithoutGil release;
        new (self) TagChannel(table, lexicon, guesser, {guess_weight, floor, seen_tags_only}, context,
                              {std::move(allowed_words), allowed_begin, allowed_tags});
      }, "table"_a, "words"_a, "begin"_a, "tags"_a, "counts"_a, "symbols"_a, "guesser"_a, "guess_weight"_a,
           "floor"_a, "seen_tags_only"_a, "context"_a.none() = nb::none(),
           "allowed_words"_a = std::vector<std::string>(), "allowed_begin"_a = std::vector<std::uint64_t>(),
           "allowed_tags"_a = std::vector<std::uint32_t>(), nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 8>(), nb::keep_alive<1, 12>())
      .def("__init__", [](TagChannel* self, const NgramTable& table, std::vector<std::string> words,
                          const Input<std::uint64_t>& begin, const Input<std::uint32_t>& tags,
                          const Input<double>& log_probs, const Input<WordId>& symbols, const Guesser& guesser) {
        const WordEmissions emissions{std::move(words), to_vector(begin), to_vector(tags), to_vector(log_probs),
                                     to_vector(symbols)};
        const WithoutGil release;
        new (self) TagChannel(table, emissions, guesser);
      }, "table"_a, "words"_a, "begin"_a, "tags"_a, "log_probs"_a, "symbols"_a, "guesser"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 8>())
      .def("knows", &TagChannel::knows, "word"_a)
      .def("known_words", [](const TagChannel& self, nb::bytes text) {
        return to_array(self.known_words({text.c_str(), text.size()}));
      }, "text"_a, "For each word of a text: 1 if it was seen in training.");
  m.def("lower_case", [](std::string_view text) { return to_lower(text); }, "text"_a);
}
