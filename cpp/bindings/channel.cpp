#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/base/characters.hpp"
#include "hiddenite/channel/channel.hpp"
#include "hiddenite/channel/confusion.hpp"
#include "hiddenite/channel/encoder.hpp"
#include "hiddenite/channel/keypad.hpp"
#include "hiddenite/channel/restoration.hpp"
#include "hiddenite/channel/slots_json.hpp"
#include "hiddenite/channel/typo.hpp"
#include "hiddenite/channel/words/class_channel.hpp"
#include "hiddenite/channel/words/weighted.hpp"
#include "hiddenite/channel/words/word_map.hpp"

using namespace hiddenite::channel;
using namespace nb::literals;

namespace {

Reading read_line(const Channel& channel, std::string_view line) {
  const WithoutGil release;
  return channel.read(line);
}

template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

// A read-only array of what the reading holds; it keeps the reading alive.
template <class T, std::vector<T> Reading::*member>
View<T> view(nb::handle_t<Reading> self) {
  const std::vector<T>& values = nb::cast<const Reading&>(self).*member;
  return View<T>(values.data(), {values.size()}, self);
}

Reading named(Reading reading, std::string id, bool id_is_integer) {
  reading.id = std::move(id);
  reading.id_is_integer = id_is_integer;
  return reading;
}

using EdgeTuple = std::tuple<std::uint32_t, std::uint32_t, std::string, double>;

void bind_reading(nb::module_& m) {
  nb::class_<Reading>(m, "Reading", "What a channel makes of one line; immutable.")
      .def_static("from_slots", [](const NgramTable& table, const std::vector<WeightedWords>& slots, std::string id,
                                   bool id_is_integer) {
        return named(reading_from_slots(table.vocabulary, slots), std::move(id), id_is_integer);
      }, "table"_a, "slots"_a, "id"_a, "id_is_integer"_a)
      .def_static("from_lattice", [](const NgramTable& table, const std::vector<EdgeTuple>& edges, std::string id,
                                     bool id_is_integer) {
        std::vector<LatticeEdge> given;
        for (const auto& [from, to, word, log_weight] : edges) given.push_back({from, to, word, log_weight});
        return named(reading_from_lattice(table, given, KEEP_ALL), std::move(id), id_is_integer);
      }, "table"_a, "edges"_a, "id"_a, "id_is_integer"_a)
      .def_prop_ro("spans", [](const Reading& reading) { return to_pairs(reading.spans); },
                   "The nodes that each slot of a lattice leads from and to; none: the slots stand in a row.")
      .def_ro("id", &Reading::id, "The record's own name; empty if it has none.")
      .def_ro("id_is_integer", &Reading::id_is_integer)
      .def_prop_ro("num_positions", &Reading::length)
      .def_prop_ro("begin", &view<std::uint64_t, &Reading::begin>)
      .def_prop_ro("words", &view<WordId, &Reading::words>)
      .def_prop_ro("log_weights", &view<double, &Reading::log_weights>)
      .def_ro("spellings", &Reading::spellings, "(candidate, spelling) of those outside the vocabulary.");
}

nb::bytes encode_bytes(const Encoder& encoder, nb::bytes text, std::optional<std::uint64_t> seed,
                       const std::string& name, std::uint64_t first_line) {
  const std::string_view view(text.c_str(), text.size());
  std::string result;
  {
    const WithoutGil release;
    result = encode_text(encoder, view, seed, name, first_line);
  }
  return nb::bytes(result.data(), result.size());
}

ConfusionModel read_confusion_model(ReadCallable read, const std::string& name) {
  LineReader lines(python_source(std::move(read)), name);
  const WithoutGil release;
  return ConfusionModel(read_confusions(lines), name);
}

WordMap read_map(ReadCallable read, const std::string& name, MapNumbers numbers, const std::string& joiner) {
  LineReader lines(python_source(std::move(read)), name);
  const WithoutGil release;
  return read_word_map(lines, numbers, joiner);
}

void make_class_channel(ClassChannel* self, const NgramTable& table, ReadCallable read, const std::string& name) {
  LineReader lines(python_source(std::move(read)), name);
  const WithoutGil release;
  new (self) ClassChannel(table, read_classes(lines));
}

std::size_t to_keep(std::optional<std::size_t> keep) { return keep.value_or(KEEP_ALL); }

void bind_encoders(nb::module_& m) {
  nb::class_<Encoder>(m, "Encoder", "From what was meant to what a channel shows; immutable.")
      .def("encode_text", &encode_bytes, "text"_a, "seed"_a.none(), "name"_a, "first_line"_a,
           "Each line's observation, with noise if there is a seed.");
  nb::class_<KeypadNoise, Encoder>(m, "KeypadNoise", "Key presses with slips.")
      .def(nb::init<double>(), "ambiguity"_a)
      .def("log_prob", [](const KeypadNoise& noise, std::uint8_t observed, std::uint8_t intended) {
        if (observed >= NUM_KEYS || intended >= NUM_KEYS) throw nb::index_error("keys are 0 to 9");
        return noise.log_prob(observed, intended);
      }, "observed"_a, "intended"_a, "ln p(observed | intended), one key.");
  nb::class_<TypoModel, Encoder>(m, "TypoModel", "A keyboard and its slips.")
      .def("__init__", [](TypoModel* self, double error_rate, double substitution, double insertion, double deletion,
                          double transposition, double neighbour) {
        new (self) TypoModel({error_rate, substitution, insertion, deletion, transposition, neighbour});
      }, "error_rate"_a, "substitution"_a, "insertion"_a, "deletion"_a, "transposition"_a, "neighbour"_a)
      .def("log_weight", [](const TypoModel& model, std::string_view intended, std::string_view seen, int distance) {
        return model.log_weight(to_characters(intended), to_characters(seen), distance);
      }, "intended"_a, "seen"_a, "distance"_a, "ln p of the best script of at most `distance` events.");
  nb::class_<ConfusionModel, Encoder>(m, "ConfusionModel", "Characters and what they are taken for.")
      .def("log_weight", [](const ConfusionModel& model, std::string_view intended, std::string_view seen) {
        return model.log_weight(to_characters(intended), to_characters(seen));
      }, "intended"_a, "seen"_a, "ln p of the best alignment.");
  m.def("read_confusion_model", &read_confusion_model, "read"_a, "name"_a,
        "A confusion table from a callable that gives bytes.");
  nb::enum_<MapNumbers>(m, "MapNumbers", "What the numbers of a map are.")
      .value("PROBABILITIES", MapNumbers::PROBABILITIES)
      .value("LOG10", MapNumbers::LOG10)
      .value("LN", MapNumbers::LN);
  nb::class_<WordMap>(m, "WordMap", "Observed words and what they may stand for.");
  m.def("read_word_map", &read_map, "read"_a, "name"_a, "numbers"_a, "joiner"_a,
        "A map from a callable that gives bytes.");
  nb::class_<MapEncoder, Encoder>(m, "MapEncoder", "Words as the map says that they are observed.")
      .def(nb::init<const WordMap&>(), "map"_a);
  m.def("key_of", [](std::string_view character) {
    if (character.empty()) throw nb::value_error("expected one character");
    return key_of(next_character(character));
  }, "character"_a, "The key that types the character.");
}

}  // namespace

// A channel refers to the table that it was made with: keep_alive<1, 2>.
void bind_channel(nb::module_& m) {
  bind_reading(m);
  bind_encoders(m);
  nb::class_<Channel>(m, "Channel", "From one line of observation to the candidates of each position; immutable.")
      .def("read", &read_line, "line"_a, "Throws ModelError.");
  nb::class_<KeypadChannel, Channel>(m, "KeypadChannel")
      .def("__init__", [](KeypadChannel* self, const NgramTable& table, const KeypadNoise& noise,
                          std::optional<std::size_t> keep) {
        new (self) KeypadChannel(table, noise, to_keep(keep));
      }, "table"_a, "noise"_a, "keep"_a.none(), nb::keep_alive<1, 2>());
  nb::class_<TypoChannel, Channel>(m, "TypoChannel")
      .def("__init__", [](TypoChannel* self, const NgramTable& table, const TypoModel& model, int distance,
                          bool unknown, double unknown_cost, std::optional<std::size_t> keep) {
        new (self) TypoChannel(table, model, {distance, {unknown, unknown_cost}, to_keep(keep)});
      }, "table"_a, "model"_a, "distance"_a, "unknown"_a, "unknown_cost"_a, "keep"_a.none(),
           nb::keep_alive<1, 2>());
  nb::class_<ConfusionChannel, Channel>(m, "ConfusionChannel")
      .def("__init__", [](ConfusionChannel* self, const NgramTable& table, const ConfusionModel& model, double beam,
                          bool unknown, double unknown_cost, std::optional<std::size_t> keep) {
        new (self) ConfusionChannel(table, model, {beam, {unknown, unknown_cost}, to_keep(keep)});
      }, "table"_a, "model"_a, "beam"_a, "unknown"_a, "unknown_cost"_a, "keep"_a.none(),
           nb::keep_alive<1, 2>());
  nb::class_<RestorationChannel, Channel>(m, "RestorationChannel")
      .def("__init__", [](RestorationChannel* self, const NgramTable& table, const std::vector<std::string>& forms,
                          const std::vector<std::string>& spellings, const Input<WordId>& words,
                          const Input<double>& log_weights, const std::vector<std::tuple<WordId, double, int>>& kinds,
                          int most_events, bool joins, int longest_unknown, double unknown_cost) {
        if (spellings.size() != forms.size() || words.size() != forms.size() || log_weights.size() != forms.size()) {
          throw nb::value_error("expected as many spellings, words and weights as forms");
        }
        std::vector<RestorationChannel::Entry> entries;
        for (std::size_t i = 0; i < forms.size(); ++i) {
          entries.push_back({forms[i], spellings[i], words.data()[i], log_weights.data()[i]});
        }
        std::vector<RestorationChannel::Kind> known;
        for (const auto& [word, log_weight, letters] : kinds) {
          known.push_back({word, log_weight, static_cast<RestorationChannel::Kind::Letters>(letters)});
        }
        new (self) RestorationChannel(table, std::move(entries), std::move(known),
                                      {most_events, joins, longest_unknown, unknown_cost});
      }, "table"_a, "forms"_a, "spellings"_a, "words"_a, "log_weights"_a, "kinds"_a, "most_events"_a, "joins"_a,
           "longest_unknown"_a, "unknown_cost"_a, nb::keep_alive<1, 2>());
  nb::class_<MapChannel, Channel>(m, "MapChannel")
      .def("__init__", [](MapChannel* self, const NgramTable& table, const WordMap& map,
                          std::optional<std::size_t> keep) {
        new (self) MapChannel(table, map, to_keep(keep));
      }, "table"_a, "map"_a, "keep"_a.none(), nb::keep_alive<1, 2>());
  nb::class_<ClassChannel, Channel>(m, "ClassChannel")
      .def("__init__", &make_class_channel, "table"_a, "read"_a, "name"_a, nb::keep_alive<1, 2>());
  nb::class_<WeightedChannel, Channel>(m, "WeightedChannel")
      .def(nb::init<const Channel&, double, double>(), "channel"_a, "channel_weight"_a, "word_penalty"_a,
           nb::keep_alive<1, 2>());
  nb::class_<SlotsChannel, Channel>(m, "SlotsChannel")
      .def("__init__", [](SlotsChannel* self, const NgramTable& table, std::optional<std::size_t> keep) {
        new (self) SlotsChannel(table, to_keep(keep));
      }, "table"_a, "keep"_a.none(), nb::keep_alive<1, 2>());
}
