// A traced function of Python, and calls of it on Python's objects.
#pragma once

#include <memory>
#include <vector>

#include "binding.hpp"

namespace smelt::python {

struct FunctionObject {
  detail::AnyFunction any;
  int results = -1;  // of a function from a file; else unknown
};

// What a call gives: arrays of smelt, of NumPy, or tensors of a library with an exchange API.
enum class Kind { Smelt, NumPy, Other, Tensors };

// numpy.ndarray, once NumPy is imported; null before.
PyTypeObject* ndarray_type();

// The results of a call on arrays and numbers, into `outputs` (Python objects) where there are
// some; of NumPy for Kind::NumPy. Releases the GIL while it compiles and runs.
std::vector<nb::object> run(const FunctionObject& function, PyObject* const* arguments, size_t count,
                            const std::vector<PyObject*>& outputs, Kind kind);

}  // namespace smelt::python
