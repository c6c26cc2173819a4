#include "bindings.hpp"

#include <memory>

#include "hiddenite/base/error.hpp"
#include "hiddenite/channel/candidates.hpp"

void bind_lattice(nb::module_& m);

using hiddenite::base::CallDeadline;
using namespace nanobind::literals;

namespace {

constexpr const char* TIME_IS_OVER = "the time is over";

void raise(const char* type, nb::tuple args) {
  nb::object cls = nb::module_::import_("hiddenite.errors").attr(type);
  PyErr_SetObject(cls.ptr(), nb::object(cls(*args)).ptr());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const hiddenite::base::Interrupted&) {
    const CallDeadline* const deadline = CallDeadline::current();
    if (deadline && deadline->is_over()) {
      PyErr_SetString(PyExc_TimeoutError, TIME_IS_OVER);
      return;
    }
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
  nb::class_<CallDeadline>(m, "Deadline",
                       "Calls that a thread makes in a `with` of it end with TimeoutError when it is over.")
      .def(nb::init<double>(), "seconds"_a)
      .def("cancel", &CallDeadline::cancel, "It is over now. From any thread.")
      .def_prop_ro("is_over", &CallDeadline::is_over)
      .def("check", [](const CallDeadline& self) {
        if (!self.is_over()) return;
        PyErr_SetString(PyExc_TimeoutError, TIME_IS_OVER);
        throw nb::python_error();
      }, "Raise TimeoutError if it is over.")
      .def("__enter__", [](CallDeadline& self) { self.enter(); })
      .def("__exit__", [](CallDeadline&, nb::handle, nb::handle, nb::handle) { CallDeadline::leave(); },
           "kind"_a.none(), "error"_a.none(), "trace"_a.none());
  bind_container(m);
  bind_ngram(m);
  bind_sentence(m);
  bind_kneser_ney(m);
  bind_tools(m);
  bind_channel(m);
  bind_search(m);
  bind_engine(m);
  bind_align(m);
  bind_context(m);
  bind_tag_channel(m);
  bind_tagging(m);
  bind_induce(m);
  bind_consensus(m);
  bind_token_text(m);
  bind_clusters(m);
  bind_hmm(m);
  bind_hmm_queries(m);
  bind_guide(m);
  bind_hmm_lexical(m);
  bind_witness(m);
  bind_correct(m);
  bind_lattice(m);
}
