#include "hiddenite/lm/token_text.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/lm/vocabulary.hpp"

using namespace nb::literals;
using namespace hiddenite::lm;

void bind_token_text(nb::module_& m) {
  nb::class_<Vocabulary>(m, "WordTable", "Words and their ids; <unk>, <s> and </s> are 0, 1 and 2.")
      .def(nb::init<>())
      .def("add", &Vocabulary::add, "word"_a, "The id of the word, which is added if it is new.")
      .def("words",
           [](const Vocabulary& v) {
             std::vector<std::string> words;
             for (WordId w = 0; w < v.size(); ++w) words.emplace_back(v.word(w));
             return words;
           })
      .def("__len__", &Vocabulary::size);
  nb::class_<TokenText>(m, "TokenText", "Sentences of word ids.")
      .def_prop_ro("num_sentences", &TokenText::num_sentences)
      .def_prop_ro("tokens", [](const TokenText& t) { return to_array(t.tokens); }, nb::rv_policy::move)
      .def_prop_ro("begin", [](const TokenText& t) { return to_array(t.begin); }, nb::rv_policy::move)
      .def_prop_ro("unknown", [](const TokenText& t) { return to_array(t.unknown); }, nb::rv_policy::move)
      .def("counts", [](const TokenText& t, WordId num_words) { return to_array(t.counts(num_words)); },
           "num_words"_a, "Occurrences of each word, one </s> a sentence among them.");
  m.def("read_tokens",
        [](nb::bytes text, const std::string& name, std::uint64_t first_line, Vocabulary& words, bool grow) {
          const std::string_view view(text.c_str(), text.size());
          const WithoutGil release;
          return grow ? TokenText::read(view, name, first_line, words)
                      : TokenText::read_known(view, name, first_line, words);
        },
        "text"_a, "name"_a, "first_line"_a, "words"_a, "grow"_a,
        "Lines as word ids; new words are added to the table if it may grow, and are <unk> if not.");
}
