// Shared by the bindings: one function per bound header, and the crossing of
// text and arrays. No mathematics here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include "../hiddenite/text.hpp"

namespace nb = nanobind;

void bind_ngram(nb::module_& m);
void bind_kneser_ney(nb::module_& m);

// Chunks from a Python callable that returns bytes, empty at the end. The GIL
// is taken for each call. ValueError means unusable input and gets file and
// line; any other exception (an interrupt) passes as it is.
hiddenite::ChunkSource python_source(nb::callable read);

// A NumPy array that owns the vector's memory.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_array(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}
