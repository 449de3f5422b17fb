// What the files of the Python module share.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smelt/smelt.hpp"

namespace smelt::python {

namespace nb = nanobind;

// A dtype as Python sees it; one object for each.
struct DTypeObject {
  DType dtype;
};
nb::object dtype_object(DType dtype);
const char* python_name(DType dtype);  // "float32"
// From a dtype of smelt or NumPy, its name, or a type of Python; nothing for another object.
std::optional<DType> find_dtype(nb::handle object);
DType dtype_from(nb::handle object);  // throws UserError

// An array as Python sees it: an instance of the class that Python registered.
nb::object wrap(Array array);
const Array* find_array(nb::handle object);  // null: it is something else
// From an array of smelt, a number, or anything with the buffer protocol or DLPack; the array keeps
// the memory alive.
Array to_array(nb::handle object);
// What `object` is as an array, without a number's weakness; nothing when it is no array.
std::optional<Array> foreign_array(nb::handle object);
// An object of Python that is looked up once, and lives as long as the process. Threads that look
// it up at the same time find the same one: no lock is held while Python runs, which may wait for
// them.
class Once {
 public:
  template <class Find>
  PyObject* get(Find find) {
    PyObject* found = object_.load(std::memory_order_acquire);
    if (found) return found;
    found = nb::object(find()).release().ptr();
    object_.store(found, std::memory_order_release);
    return found;
  }

 private:
  std::atomic<PyObject*> object_{nullptr};
};

// Names as the C++ library wants them: of static storage.
const char* interned(const std::string& text);

// The number in a GPU's name: "cuda" is 0, "cuda:1" is 1.
int gpu_number(const std::string& name);

// A size as Python sees it: an int where it is known.
nb::object size_object(const Size& size);
Dims dims_from(nb::handle object);

// Whether this thread runs a function that is being traced.
int tracing_depth();
class Tracing {
 public:
  Tracing();
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
};

// The memory of an object that has the buffer protocol, while this lives.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  // Why it cannot be an array: empty text when it can, or when there is no buffer at all
  // (`found()`).
  enum class State { Missing, Fine, Strides, Type };
  State open(PyObject* object, bool writable);
  Array array(std::shared_ptr<void> owner = nullptr) const;  // without an owner: valid while this lives
  DType dtype() const { return dtype_; }

 private:
#ifdef Py_LIMITED_API
  // Py_buffer, which the limited API of Python 3.10 lacks.
  struct View {
    void* buf;
    PyObject* obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char* format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void* internal;
  };
#else
  using View = Py_buffer;
#endif
  View view_{};
  DType dtype_{};
  bool open_ = false;
};

// Turns exceptions of the library into those of Python, and back where Python runs inside of the
// library.
[[noreturn]] void rethrow_for_library();
void set_python_error(const std::exception_ptr& thrown);

void bind_errors(nb::module_& m);
void bind_dtypes(nb::module_& m);
void bind_sizes(nb::module_& m);
void bind_arrays(nb::module_& m);
void bind_calls(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_dispatch(nb::module_& m);
void bind_reports(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_llvm(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_decompositions(nb::module_& m);
void bind_torch(nb::module_& m);
void bind_jax(nb::module_& m);

}  // namespace smelt::python
