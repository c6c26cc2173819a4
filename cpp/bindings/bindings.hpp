// Shared by the bindings: one function per bound header, and the crossing of
// text and arrays. No mathematics here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/text.hpp"
#include "hiddenite/channel/candidates.hpp"

namespace nb = nanobind;

void bind_container(nb::module_& m);
void bind_ngram(nb::module_& m);
void bind_sentence(nb::module_& m);
void bind_kneser_ney(nb::module_& m);
void bind_tools(nb::module_& m);
void bind_channel(nb::module_& m);
void bind_search(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_align(nb::module_& m);
void bind_tag_channel(nb::module_& m);
void bind_context(nb::module_& m);
void bind_tagging(nb::module_& m);
void bind_induce(nb::module_& m);
void bind_consensus(nb::module_& m);
void bind_token_text(nb::module_& m);
void bind_clusters(nb::module_& m);
void bind_hmm(nb::module_& m);
void bind_hmm_queries(nb::module_& m);
void bind_guide(nb::module_& m);
void bind_hmm_lexical(nb::module_& m);
void bind_witness(nb::module_& m);
void bind_correct(nb::module_& m);

// While this lives the interpreter's lock is free, and Ctrl-C ends the work with KeyboardInterrupt.
class WithoutGil {
 public:
  WithoutGil() : call_(has_signal) {}

 private:
  static bool has_signal() {
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  }
  nb::gil_scoped_release release_;
  hiddenite::base::Call call_;
};

// Chunks from a Python callable that returns bytes, empty at the end. The GIL
// is taken for each call. ValueError means unusable input and gets file and
// line; any other exception (an interrupt) passes as it is.
using ReadCallable = nb::typed<nb::callable, nb::bytes()>;
hiddenite::base::ChunkSource python_source(ReadCallable read);
using WriteCallable = nb::typed<nb::callable, nb::object(nb::bytes)>;

// A mapped file: any object that gives its bytes. It must outlive what is made of them, and must not change.
using FileBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline std::string_view bytes_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

// An array that is only read, and a copy of it.
template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Whether these can be the bounds of sentences of so many tokens, or of words of so many characters.
inline bool are_bounds(std::span<const std::int64_t> offsets, std::size_t end) {
  return !offsets.empty() && offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(end) &&
         std::is_sorted(offsets.begin(), offsets.end());
}

template <class T>
std::vector<T> to_vector(const Input<T>& values) {
  return {values.data(), values.data() + values.size()};
}

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
// The same as a memoryview: for what is asked by programs that need no NumPy, which takes ten megabytes.
template <class T>
using PlainColumn = nb::ndarray<nb::memview, T, nb::ndim<1>>;

// An array, or whatever else shows memory, that owns the vector's.
template <class Result, class T>
Result owning(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Result(owned->data(), {owned->size()}, owner);
}

template <class T>
Array<T> to_array(std::vector<T> values) {
  return owning<Array<T>>(std::move(values));
}

template <class T>
PlainColumn<T> to_plain_column(std::vector<T> values) {
  return owning<PlainColumn<T>>(std::move(values));
}

// Nodes that slots lead from and to, as Python has them.
inline std::vector<std::pair<std::uint32_t, std::uint32_t>> to_pairs(
    const std::vector<hiddenite::channel::Span>& spans) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const hiddenite::channel::Span span : spans) pairs.emplace_back(span.from, span.to);
  return pairs;
}
