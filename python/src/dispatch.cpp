// The type whose calls are short: positional arrays and numbers go to the compiled function without
// a line of Python.
#include "exchange.hpp"
#include "function.hpp"

#include <structmember.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

// In every CPython, but in the limited API only since 3.12.
extern "C" PyObject* PyVectorcall_Call(PyObject* callable, PyObject* tuple, PyObject* dict);

namespace smelt::python {

namespace {

using VectorCall = PyObject* (*)(PyObject*, PyObject* const*, size_t, PyObject*);
constexpr unsigned long kHaveVectorCall = 1UL << 11;
constexpr size_t kOffset = size_t{1} << (8 * sizeof(size_t) - 1);

// How the results of a call become what the function returns.
enum class Shape { Slow, One, Tuple };

std::atomic<bool> disabled = false;

struct Dispatcher {
  PyObject_HEAD VectorCall vectorcall;
  PyObject* function;  // a FunctionObject, or null: calls take the slow path
  size_t count;        // of its arguments
  Shape shape;
};

// What a dispatcher has at a moment: other threads may change it.
struct Target {
  nb::object function;
  size_t count;
  Shape shape;
};

Target target_of(Dispatcher* self) {
  const nb::ft_object_guard guard(reinterpret_cast<PyObject*>(self));
  return {nb::borrow(self->function), self->count, self->shape};
}

PyObject* slow_call(PyObject* self, const char* method, PyObject* const* args, size_t count, PyObject* names) {
  const nb::object bound = nb::steal(PyObject_GetAttrString(self, method));
  if (!bound.ptr()) return nullptr;
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    Py_INCREF(args[i]);
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), args[i]);
  }
  nb::object named;
  if (names) {
    named = nb::steal(PyDict_New());
    for (Py_ssize_t k = 0; k < PyTuple_Size(names); ++k)
      if (PyDict_SetItem(named.ptr(), PyTuple_GetItem(names, k), args[count + static_cast<size_t>(k)]) != 0)
        return nullptr;
  }
  return PyObject_Call(bound.ptr(), tuple.ptr(), named.ptr());
}

// Whether these arguments can go to the function as they are, and what its results are to be.
bool plain(PyObject* const* args, size_t count, Kind* kind) {
  PyTypeObject* const ndarray = ndarray_type();
  bool known = false;
  for (size_t i = 0; i < count; ++i) {
    PyObject* const a = args[i];
    const PyTypeObject* const type = Py_TYPE(a);
    if (ndarray && type == ndarray) {
      if (!known) *kind = Kind::NumPy, known = true;
    } else if (find_array(a)) {
      if (!known) *kind = Kind::Smelt, known = true;
    } else if (!PyFloat_CheckExact(a) && !PyLong_CheckExact(a) && !PyBool_Check(a)) {
      if ((known && *kind != Kind::Tensors) || !exchange_of_object(a) || needs_gradient(a)) return false;
      *kind = Kind::Tensors, known = true;
    }
  }
  return true;
}

bool can_be_written(PyObject* array) {
  return Py_TYPE(array) == ndarray_type() || find_array(array) || (exchange_of_object(array) && !needs_gradient(array));
}

// The arrays of out=, which is one of them or a tuple; none: it is something else.
std::vector<PyObject*> outputs_of(PyObject* out, Shape shape) {
  std::vector<PyObject*> outputs;
  if (shape == Shape::One) {
    outputs.push_back(out);
  } else if (PyTuple_CheckExact(out)) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(out); ++i) outputs.push_back(PyTuple_GetItem(out, i));
  }
  if (!std::all_of(outputs.begin(), outputs.end(), can_be_written)) outputs.clear();
  return outputs;
}

PyObject* fast_call(Dispatcher* self, const Target& target, PyObject* const* args, size_t count, PyObject* names,
                    bool* taken) {
  Kind kind = Kind::Smelt;
  if (!plain(args, count, &kind)) return nullptr;
  std::vector<PyObject*> outputs;
  if (names) {
    // One keyword, and it is out=.
    PyObject* const out = args[count];
    if (PyTuple_Size(names) != 1 || PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "out") != 0)
      return nullptr;
    outputs = outputs_of(out, target.shape);
    if (outputs.empty()) return nullptr;
  }
  *taken = true;
  std::vector<nb::object> results = run(*nb::inst_ptr<FunctionObject>(target.function), args, count, outputs, kind);
  // The function may have been traced meanwhile, and have returned something else.
  const Shape shape = target_of(self).shape;
  if (shape == Shape::Slow) {
    nb::list list, leaves;
    for (nb::object& result : results) list.append(std::move(result));
    for (size_t i = 0; i < count; ++i) leaves.append(nb::handle(args[i]));
    PyObject* const given[] = {list.ptr(), leaves.ptr()};
    PyObject* const made = slow_call(reinterpret_cast<PyObject*>(self), "_assemble", given, 2, nullptr);
    if (!names || !made) return made;
    Py_DECREF(made);
  }
  if (names) {
    Py_INCREF(args[count]);
    return args[count];
  }
  if (shape == Shape::One) return results.at(0).release().ptr();
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
  for (size_t i = 0; i < results.size(); ++i)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), results[i].release().ptr());
  return tuple.release().ptr();
}

PyObject* call(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) {
  auto* self = reinterpret_cast<Dispatcher*>(object);
  const size_t count = flags & ~kOffset;
  const Target target = target_of(self);
  if (target.function.ptr() && target.shape != Shape::Slow && count == target.count &&
      !disabled.load(std::memory_order_relaxed) && tracing_depth() == 0) {
    bool taken = false;
    try {
      PyObject* const result = fast_call(self, target, args, count, names, &taken);
      if (taken) return result;
    } catch (...) {
      set_python_error(std::current_exception());
      return nullptr;
    }
  }
  return slow_call(object, "_slow", args, count, names);
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  auto* self = reinterpret_cast<Dispatcher*>(allocate(type, 0));
  if (!self) return nullptr;
  self->vectorcall = &call;
  self->function = nullptr;
  self->count = 0;
  self->shape = Shape::Slow;
  return reinterpret_cast<PyObject*>(self);
}

void drop(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  Py_CLEAR(reinterpret_cast<Dispatcher*>(object)->function);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

// _use(function, count, shape): calls of so many plain arguments go to this function; shape 0, 1,
// 2: slow, one, a tuple.
PyObject* use(PyObject* object, PyObject* arguments) {
  auto* self = reinterpret_cast<Dispatcher*>(object);
  PyObject* function = nullptr;
  Py_ssize_t count = 0;
  int shape = 0;
  if (!PyArg_ParseTuple(arguments, "Oni", &function, &count, &shape)) return nullptr;
  if (function != Py_None && !nb::isinstance<FunctionObject>(function)) {
    PyErr_SetString(PyExc_TypeError, "_use() takes a Function");
    return nullptr;
  }
  nb::object given = function == Py_None ? nb::object() : nb::borrow(function);
  {
    const nb::ft_object_guard guard(object);
    PyObject* const before = self->function;
    self->function = given.release().ptr();
    self->count = static_cast<size_t>(count);
    self->shape = static_cast<Shape>(shape);
    given = nb::steal(before);  // dropped after the guard
  }
  Py_RETURN_NONE;
}

}  // namespace

void bind_dispatch(nb::module_& m) {
  static PyMethodDef methods[] = {{"_use", &use, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
  static PyMemberDef members[] = {
      {const_cast<char*>("__vectorcalloffset__"), T_PYSSIZET, offsetof(Dispatcher, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(&make)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(&drop)},
                                {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                {Py_tp_methods, methods},
                                {Py_tp_members, members},
                                {0, nullptr}};
  static PyType_Spec spec = {"smelt._smelt.Dispatcher", sizeof(Dispatcher), 0,
                             static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | kHaveVectorCall), slots};
  const nb::object type = nb::steal(PyType_FromSpec(&spec));
  if (!type.ptr()) throw nb::python_error();
  m.attr("Dispatcher") = type;
  m.def("set_disabled", [](bool off) { return disabled.exchange(off); });
}

}  // namespace smelt::python
