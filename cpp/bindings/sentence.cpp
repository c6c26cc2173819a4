#include <cstring>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/lm/sentence.hpp"

using namespace hiddenite::lm;
using namespace nb::literals;

namespace {

constexpr std::size_t LONG_TEXT = std::size_t{1} << 16;  // shorter ones are scored before another thread could begin

// The memory of a str or of bytes, which must be text. No copy: that of an ASCII str is its own.
std::string_view text_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = nullptr;
  bool is_text = false;
  if (PyUnicode_Check(text.ptr())) {  // whose UTF-8 is valid
    data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    is_text = std::memchr(data, 0, static_cast<std::size_t>(size)) == nullptr;
  } else if (PyBytes_Check(text.ptr())) {
    char* bytes = nullptr;
    if (PyBytes_AsStringAndSize(text.ptr(), &bytes, &size) != 0) throw nb::python_error();
    data = bytes;
  } else {
    throw nb::type_error("expected a str or bytes");
  }
  const std::string_view view(data, static_cast<std::size_t>(size));
  if (!is_text && hiddenite::base::find_invalid_utf8(view) != view.npos) {
    throw hiddenite::base::ModelError("the sentence holds a NUL character or bytes that are not UTF-8, expected text");
  }
  return view;
}

// Calls work(text); a long text lets other threads run.
template <class Work>
auto with_text(nb::handle sentence, Work work) {
  const std::string_view text = text_of(sentence);
  if (text.size() < LONG_TEXT) return work(text);
  const WithoutGil release;
  return work(text);
}

constexpr double LOG10_E = 1.0 / hiddenite::base::LN_10;

double score(const Scorer& scorer, nb::handle sentence, bool bos, bool eos, bool log10) {
  const double log_prob = with_text(sentence, [&](std::string_view text) { return scorer.score(text, bos, eos); });
  return log10 ? LOG10_E * log_prob : log_prob;
}

std::vector<std::tuple<double, std::uint32_t, bool>> full_scores(const Scorer& scorer, nb::handle sentence, bool bos,
                                                                 bool eos, bool log10) {
  const auto scores = with_text(sentence, [&](std::string_view text) { return scorer.word_scores(text, bos, eos); });
  std::vector<std::tuple<double, std::uint32_t, bool>> result;
  for (const WordScore& word : scores) {
    result.emplace_back((log10 ? LOG10_E : 1.0) * word.log_prob, word.ngram_length, word.oov);
  }
  return result;
}

template <bool log10>
double fill_state(const Scorer& scorer, const State& in, nb::handle word, State& out) {
  State state = in;
  const double log_prob = scorer.next(state, scorer.table().vocabulary.id_or_unknown(text_of(word)));
  out = state;
  return log10 ? LOG10_E * log_prob : log_prob;
}

template <bool log10>
std::pair<double, State> next_state(const Scorer& scorer, const State& in, nb::handle word) {
  State state;
  const double log_prob = fill_state<log10>(scorer, in, word, state);
  return {log_prob, state};
}

}  // namespace

void bind_sentence(nb::module_& m) {
  nb::class_<State>(m, "State", "What a model remembers of the words so far; a new one is empty.")
      .def(nb::init<>())
      .def("assign", [](State& state, const State& other) { state = other; }, "other"_a, "Become another state.")
      .def("__eq__", [](const State& a, const State& b) { return a == b; }, nb::is_operator(),
           nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", [](const State& state) { return state.node; })
      .def("__copy__", [](const State& state) { return state; })
      .def("__deepcopy__", [](const State& state, nb::handle) { return state; }, "memo"_a);
  // The arguments of what is called for each word have no names, which would cost as much as the score.
  nb::class_<Scorer>(m, "Scorer", "A table that scores one sentence or one word a call.")
      .def(nb::init<const NgramTable&>(), "table"_a, nb::keep_alive<1, 2>())
      .def("begin_state", &Scorer::begin_state, "The state after <s>.")
      .def("score", &score,
           nb::sig("def score(self, sentence: str | bytes, bos: bool, eos: bool, log10: bool, /) -> float"),
           "ln p of a sentence, or log10: sentence, bos, eos, log10.")
      .def("full_scores", &full_scores,
           nb::sig("def full_scores(self, sentence: str | bytes, bos: bool, eos: bool, log10: bool, /)"
                   " -> list[tuple[float, int, bool]]"),
           "(ln p, length of the n-gram, unknown) per word: sentence, bos, eos, log10.")
      .def("base_score", &fill_state<false>,
           nb::sig("def base_score(self, state: State, word: str | bytes, out: State, /) -> float"),
           "ln p(word | state); the third argument becomes the state after it.")
      .def("base_score", &next_state<false>,
           nb::sig("def base_score(self, state: State, word: str | bytes, /) -> tuple[float, State]"),
           "(ln p(word | state), the state after it)")
      .def("base_log10_score", &fill_state<true>,
           nb::sig("def base_log10_score(self, state: State, word: str | bytes, out: State, /) -> float"))
      .def("base_log10_score", &next_state<true>,
           nb::sig("def base_log10_score(self, state: State, word: str | bytes, /) -> tuple[float, State]"),
           "The same in log10.");
}
