#include "bindings.hpp"

#include <memory>

#include "hiddenite/base/error.hpp"
#include "hiddenite/channel/candidates.hpp"

namespace {

void raise(const char* type, nb::tuple args) {
  nb::object cls = nb::module_::import_("hiddenite.errors").attr(type);
  PyErr_SetObject(cls.ptr(), nb::object(cls(*args)).ptr());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const hiddenite::base::Interrupted&) {
    if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);  // the signal's handler may have set its own
  } catch (const hiddenite::base::FormatError& e) {
    nb::object line = e.line == 0 ? nb::none() : nb::cast(e.line);
    raise("FormatError", nb::make_tuple(e.file.c_str(), line, e.what()));
  } catch (const hiddenite::channel::EmptySupport& e) {
    raise("EmptySupportError", nb::make_tuple(e.position + 1, e.what()));  // Python counts as the message does
  } catch (const hiddenite::base::ModelError& e) {
    raise("ModelError", nb::make_tuple(e.what()));
  }
}

}  // namespace

hiddenite::base::ChunkSource python_source(ReadCallable read) {
  // The bytes object stays alive until the next call asks for more.
  auto held = std::make_shared<nb::object>();
  return [read = std::move(read), held]() -> std::string_view {
    const nb::gil_scoped_acquire gil;
    try {
      *held = read();
    } catch (nb::python_error& e) {
      if (!e.matches(PyExc_ValueError)) throw;
      throw std::runtime_error(nb::str(e.value()).c_str());
    }
    const nb::bytes chunk = nb::cast<nb::bytes>(*held);
    return {chunk.c_str(), chunk.size()};
  };
}

NB_MODULE(_core, m) {
  m.doc() = "The C++ core of hiddenite. Use the package's own names; these may change.";
  nb::register_exception_translator(translate);
  m.def("cancel_calls", hiddenite::base::cancel_calls, "End all work that is under way: KeyboardInterrupt there.");
  bind_container(m);
  bind_ngram(m);
  bind_kneser_ney(m);
  bind_channel(m);
  bind_search(m);
  bind_engine(m);
  bind_align(m);
  bind_tag_channel(m);
  bind_tagging(m);
  bind_induce(m);
  bind_token_text(m);
  bind_clusters(m);
  bind_hmm(m);
  bind_hmm_queries(m);
}
