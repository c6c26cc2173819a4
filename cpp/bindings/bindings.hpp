// Shared by the bindings: one function per bound header, and the crossing of
// text and arrays. No mathematics here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include "../hiddenite/text.hpp"

namespace nb = nanobind;

void bind_container(nb::module_& m);
void bind_ngram(nb::module_& m);
void bind_kneser_ney(nb::module_& m);
void bind_channel(nb::module_& m);
void bind_search(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_alignment(nb::module_& m);
void bind_tag_channel(nb::module_& m);
void bind_tagging(nb::module_& m);
void bind_induction(nb::module_& m);
void bind_token_text(nb::module_& m);
void bind_clusters(nb::module_& m);
void bind_chain(nb::module_& m);
void bind_chain_queries(nb::module_& m);

// Chunks from a Python callable that returns bytes, empty at the end. The GIL
// is taken for each call. ValueError means unusable input and gets file and
// line; any other exception (an interrupt) passes as it is.
using ReadCallable = nb::typed<nb::callable, nb::bytes()>;
hiddenite::ChunkSource python_source(ReadCallable read);
using WriteCallable = nb::typed<nb::callable, nb::object(nb::bytes)>;

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// A NumPy array that owns the vector's memory.
template <class T>
Array<T> to_array(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Array<T>(owned->data(), {owned->size()}, owner);
}
