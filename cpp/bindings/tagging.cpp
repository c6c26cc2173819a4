#include "hiddenite/exact/tagging.hpp"

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "hiddenite/base/error.hpp"

using namespace hiddenite::exact;
using namespace nb::literals;

namespace {

// The words of all sentences, copied, so that other threads may run meanwhile.
SentenceWords copy_words(const nb::list& sentences) {
  SentenceWords result;
  for (const nb::handle sentence : sentences) {
    for (const nb::handle word : sentence) {
      Py_ssize_t size = 0;
      const char* text = PyUnicode_AsUTF8AndSize(word.ptr(), &size);
      if (text == nullptr) throw nb::python_error();
      if (size == 0 || find_space(text, text + size) != text + size) {
        throw ModelError("the word '" + std::string(text) + "' is empty or contains white space");
      }
      result.text.append(text, static_cast<std::size_t>(size));
      result.word_begin.push_back(result.text.size());
    }
    result.begin.push_back(result.word_begin.size() - 1);
  }
  return result;
}

// A tuple of the symbols' names; made in place, for this is done for every word.
nb::object name_symbols(const std::vector<WordId>& symbols, const nb::list& names) {
  nb::object result = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(symbols.size())));
  if (!result.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    PyObject* name = PyList_GET_ITEM(names.ptr(), static_cast<Py_ssize_t>(symbols[i]));
    PyTuple_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(name));
  }
  return result;
}

const char* name_of(Method method) {
  switch (method) {
    case Method::AUTO: return "auto";
    case Method::REFINE: return "refine";
    case Method::PAPER: return "paper";
    case Method::FULL: return "full";
    case Method::DOMINANCE: return "dominance";
    case Method::SPARSE: return "sparse";
  }
  return "";
}

// One tuple a sentence, because a batch has many: names of the tags, log weight,
// the certificate's fields, and for one that cannot be tagged error and position.
nb::list tag_words(const Engine& engine, const TagChannel& channel, const nb::list& sentences, const nb::list& names,
                   int threads) {
  if (names.size() < engine.table().vocabulary.size()) throw nb::index_error("a symbol has no name");
  const SentenceWords words = copy_words(sentences);
  std::vector<TaggedSentence> tagged;
  {
    const WithoutGil release;
    tagged = tag_sentences(engine, channel, words, threads);
  }
  nb::list result;
  for (const TaggedSentence& sentence : tagged) {
    const bool is_done = sentence.status == Answer::Status::DONE;
    const bool is_empty = sentence.status == Answer::Status::EMPTY_SUPPORT;
    const Certificate c = sentence.certificate.value_or(Certificate(Bounds(), Method::AUTO, 0, 0));
    result.append(nb::make_tuple(
        name_symbols(sentence.symbols, names), sentence.log_weight,
        nb::make_tuple(c.exact(), c.upper(), c.lower(), name_of(c.method()), c.refinements(), c.states()),
        is_done ? nb::none() : nb::cast(sentence.error), is_empty ? nb::cast(sentence.position + 1) : nb::none()));
  }
  return result;
}

}  // namespace

void bind_tagging(nb::module_& m) {
  m.def("tag_words", &tag_words, "engine"_a, "channel"_a, "sentences"_a, "names"_a, "threads"_a,
        nb::sig("def tag_words(engine: Engine, channel: TagChannel, sentences: list[Sequence[str]], names: list[str], "
                "threads: int) -> list[tuple[tuple[str, ...], float, tuple[bool, float, float, str, int, int], "
                "str | None, int | None]]"),
        "The best tags of each sentence; `names` has the tag of each symbol.");
}
