// Functions that are traced, compiled, and called on arrays of Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "api/dlpack.hpp"
#include "exchange.hpp"
#include "function.hpp"
#include "smelt/gradient.hpp"
#include "smelt/saved.hpp"

namespace smelt::python {

namespace {

// A callable that the library keeps, and may copy and drop where the GIL is not held.
using Callable = std::shared_ptr<nb::object>;
Callable kept(nb::object callable) {
  return Callable(new nb::object(std::move(callable)), [](nb::object* object) {
    const nb::gil_scoped_acquire gil;
    delete object;
  });
}

std::vector<Array> call_python(const Callable& callable, std::span<const Array> arrays) {
  nb::list arguments;
  for (const Array& array : arrays) arguments.append(wrap(array));
  const nb::object results = (*callable)(arguments);
  std::vector<Array> traced;
  for (const nb::handle result : results) traced.push_back(to_array(result));
  return traced;
}

FunctionObject make_function(nb::object trace, const std::string& name, std::vector<std::string> parameters,
                             size_t count, int threads, bool tune, const std::vector<std::pair<int, int>>& fixed) {
  Options options;
  options.name = name;
  options.parameters = std::move(parameters);
  options.threads = threads;
  options.tune = tune;
  options.captures = false;
  for (const auto& [argument, axis] : fixed) options.fixed(argument, axis);
  const Callable callable = kept(std::move(trace));
  return {detail::AnyFunction(
      [callable](std::span<const Array> arrays, std::span<const int>) {
        const nb::gil_scoped_acquire gil;
        const Tracing tracing;
        try {
          return call_python(callable, arrays);
        } catch (...) {
          rethrow_for_library();
        }
      },
      std::move(options), std::string(count, 'a'))};
}

nb::handle numpy_dtype(DType dtype) {
  static constinit std::array<Once, static_cast<size_t>(DType::F64) + 1> known{};
  return known[static_cast<size_t>(dtype)].get(
      [&] { return nb::module_::import_("numpy").attr("dtype")(python_name(dtype)); });
}

nb::object numpy_empty(DType dtype, const Dims& dims) {
  static constinit Once known;
  PyObject* const empty = known.get([] { return nb::module_::import_("numpy").attr("empty"); });
  nb::object shape = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(dims.size())));
  for (size_t d = 0; d < dims.size(); ++d)
    PyTuple_SetItem(shape.ptr(), static_cast<Py_ssize_t>(d), PyLong_FromLongLong(dims[d]));
  nb::object arguments = nb::steal(PyTuple_New(2));
  PyTuple_SetItem(arguments.ptr(), 0, shape.release().ptr());
  PyTuple_SetItem(arguments.ptr(), 1, nb::borrow(numpy_dtype(dtype)).release().ptr());
  nb::object made = nb::steal(PyObject_Call(empty, arguments.ptr(), nullptr));
  if (!made.ptr()) throw nb::python_error();
  return made;
}

// The memory of a tensor whose library has the exchange API; none where foreign_array() says what
// is wrong with it, or makes its library wait: on a GPU, where the call is not in its stream.
std::optional<Array> exchanged_output(PyObject* object, bool in_its_stream) {
  const ExchangeApi* const api = exchange_of_object(object);
  if (!api || needs_gradient(object)) return std::nullopt;
  dlpack::ManagedTensorVersioned* managed = nullptr;
  if (api->managed_from_object(object, &managed) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  Array array = from_dlpack(managed);
  return array.device().is_gpu() && !in_its_stream ? std::nullopt : std::optional(std::move(array));
}

// The memory that a call writes to. Throws UserError.
Array output_array(PyObject* object, Buffer& buffer, bool in_its_stream) {
  if (const Array* array = find_array(object)) return *array;
  if (Py_TYPE(object) != ndarray_type()) {
    if (auto array = exchanged_output(object, in_its_stream)) return *array;
    if (auto array = foreign_array(object)) return *array;
    throw UserError("out= is " + nb::cast<std::string>(nb::repr(nb::handle(object).type())) + ", which is no array");
  }
  switch (buffer.open(object, true)) {
    case Buffer::State::Fine: return buffer.array();
    case Buffer::State::Strides:
      throw UserError("out= has strides that are no multiple of its elements\nhelp: give an array of one dtype alone");
    case Buffer::State::Type:
    case Buffer::State::Missing: break;
  }
  if (!nb::cast<bool>(nb::handle(object).attr("flags").attr("writeable")))
    throw UserError("out= is read-only\nhelp: numpy.empty(shape, dtype) makes an array that can be written");
  throw UserError(
      "out= is an array of " + nb::cast<std::string>(nb::str(nb::handle(object).attr("dtype"))) +
      ", which smelt does not write\nhelp: numpy.empty(shape, dtype) of the result's dtype makes one that fits");
}

}  // namespace

namespace {

// The buffers of a call: those of a few arrays are on the stack. They do not move.
class Buffers {
 public:
  Buffer& add() {
    if (used_ < kFew) return few_[used_++];
    return *more_.emplace_back(std::make_unique<Buffer>());
  }
  Buffer& back() { return more_.empty() ? few_[used_ - 1] : *more_.back(); }

 private:
  static constexpr size_t kFew = 6;
  Buffer few_[kFew];
  size_t used_ = 0;
  std::vector<std::unique_ptr<Buffer>> more_;
};

}  // namespace

PyTypeObject* ndarray_type() {
  static constinit Once known;
  PyObject* const type = known.get([] {
    PyObject* numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    if (!numpy) return nb::object();
    nb::object found = nb::steal(PyObject_GetAttrString(numpy, "ndarray"));
    if (!found.ptr()) PyErr_Clear();
    return found;
  });
  return reinterpret_cast<PyTypeObject*>(type);
}

bool needs_gradient(PyObject* tensor) {
  const nb::object asked = nb::steal(PyObject_GetAttrString(tensor, "requires_grad"));
  if (!asked.ptr()) PyErr_Clear();
  return asked.ptr() == Py_True;
}

const ExchangeApi* exchange_of_object(PyObject* object) {
  // Types that have one, the latest first; of those that threads find at the same time, each is
  // there.
  struct Known {
    nb::object type;
    const ExchangeApi* api;
    const Known* next;
  };
  static constinit std::atomic<const Known*> known{nullptr};
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  for (const Known* k = known.load(std::memory_order_acquire); k; k = k->next)
    if (k->type.ptr() == type) return k->api;
  const ExchangeApi* const api = find_exchange(type);
  if (api) {
    auto* const made = new Known{nb::borrow(type), api, known.load(std::memory_order_relaxed)};
    while (!known.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  return api;
}

namespace {

// An argument whose library has the exchange API.
struct Exchanged {
  size_t argument;
  const ExchangeApi* api;
  std::optional<dlpack::Tensor>
      tensor;  // its memory; nothing: the library refuses, and to_array() says what is wrong with it
};

// Those of a call in order, each looked up once. None of a call on NumPy's arrays and numbers,
// which allocates nothing.
std::vector<Exchanged> exchanged_of(PyObject* const* arguments, size_t count) {
  std::vector<Exchanged> found;
  for (size_t i = 0; i < count; ++i) {
    if (Py_TYPE(arguments[i]) == ndarray_type() || PyFloat_Check(arguments[i]) || PyLong_Check(arguments[i]) ||
        find_array(arguments[i]))
      continue;
    const ExchangeApi* const api = exchange_of_object(arguments[i]);
    if (!api) continue;
    dlpack::Tensor tensor{};
    const bool given = api->tensor_from_object(arguments[i], &tensor) == 0;
    if (!given) PyErr_Clear();
    found.push_back({i, api, given ? std::optional(tensor) : std::nullopt});
  }
  return found;
}

// The stream that the library of an argument works in on its GPU, while this lives: nothing has to
// wait then, and memory that is dropped is used again after the call.
std::optional<StreamScope> scope_of(const std::vector<Exchanged>& exchanged) {
  for (const auto& [argument, api, tensor] : exchanged) {
    if (!tensor || tensor->device.type != dlpack::DeviceType::Cuda) continue;
    const Device device = Device::cuda(tensor->device.id);
    void* stream = nullptr;
    if (api->current_stream(dlpack::DeviceType::Cuda, tensor->device.id, &stream) != 0) throw nb::python_error();
    if (device.usable()) return std::optional<StreamScope>(std::in_place, Stream(device, stream));
  }
  return std::nullopt;
}

// A result as a tensor of the library that the first such argument is of.
nb::object tensor_from(const Array& array, const std::vector<Exchanged>& exchanged) {
  if (exchanged.empty()) throw InternalError("a call on tensors without a tensor");
  dlpack::ManagedTensorVersioned* const managed =
      array.device().is_gpu() ? detail::to_dlpack_in(array, Stream::current(array.device()).handle())
                              : to_dlpack(array);
  void* made = nullptr;
  if (exchanged.front().api->managed_to_object(managed, &made) == 0) return nb::steal(static_cast<PyObject*>(made));
  managed->deleter(managed);
  throw nb::python_error();
}

}  // namespace

std::vector<nb::object> run(const FunctionObject& function, PyObject* const* arguments, size_t count,
                            const std::vector<PyObject*>& outputs, Kind kind) {
  const std::vector<Exchanged> exchanged = exchanged_of(arguments, count);
  const std::optional<StreamScope> scope = scope_of(exchanged);
  auto next = exchanged.begin();
  Buffers buffers;
  std::vector<Array> arrays, unevaluated;
  arrays.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (Py_TYPE(arguments[i]) == ndarray_type() && buffers.add().open(arguments[i], false) == Buffer::State::Fine) {
      arrays.push_back(buffers.back().array());
      continue;
    }
    const auto here = next != exchanged.end() && next->argument == i ? next++ : exchanged.end();
    if (kind == Kind::Tensors && here != exchanged.end() && here->tensor) {
      arrays.push_back(detail::array_from(*here->tensor, false, kept(nb::borrow(arguments[i]))));
      continue;
    }
    arrays.push_back(to_array(arguments[i]));
    if (find_array(arguments[i]) && !arrays.back().evaluated()) unevaluated.push_back(arrays.back());
  }
  if (!unevaluated.empty()) {
    const nb::gil_scoped_release unlocked;
    eval(unevaluated);
  }
  std::vector<nb::object> results;
  if (!outputs.empty()) {
    std::vector<Array> targets;
    targets.reserve(outputs.size());
    for (PyObject* output : outputs) targets.push_back(output_array(output, buffers.add(), scope.has_value()));
    {
      const nb::gil_scoped_release unlocked;
      function.any.call_into(targets, arrays, {});
    }
    for (PyObject* output : outputs) results.push_back(nb::borrow(output));
    return results;
  }
  if (kind == Kind::NumPy) {
    const nb::gil_scoped_release unlocked;
    function.any.call(arrays, {}, [&](DType dtype, const Dims& dims) {
      const nb::gil_scoped_acquire locked;
      results.push_back(numpy_empty(dtype, dims));
      Buffer& buffer = buffers.add();
      if (buffer.open(results.back().ptr(), true) != Buffer::State::Fine)
        throw InternalError("an array of numpy.empty() that has no buffer");
      return buffer.array();
    });
    return results;
  }
  std::vector<Array> made;
  {
    const nb::gil_scoped_release unlocked;
    made = function.any.call(arrays, {});
  }
  for (Array& array : made)
    results.push_back(kind == Kind::Tensors ? tensor_from(array, exchanged) : wrap(std::move(array)));
  return results;
}

// The arguments of a call as arrays with data; numbers stay numbers.
static std::vector<Array> evaluated(const nb::list& arguments) {
  std::vector<Array> arrays, missing;
  for (const nb::handle leaf : arguments) {
    arrays.push_back(to_array(leaf));
    if (find_array(leaf) && !arrays.back().evaluated()) missing.push_back(arrays.back());
  }
  const nb::gil_scoped_release unlocked;
  eval(missing);
  return arrays;
}

void bind_functions(nb::module_& m) {
  const nb::call_guard<nb::gil_scoped_release> unlocked;  // these may compile, and run what they compiled
  nb::class_<Explanation>(m, "Explanation", "What became one kernel, what did not, and why.")
      .def_prop_ro("kernels", [](const Explanation& e) { return e.kernels.size(); })
      .def_prop_ro("unfused_bytes", [](const Explanation& e) { return e.unfused_bytes; })
      .def_prop_ro("fused_bytes", [](const Explanation& e) { return e.fused_bytes; })
      .def("json", &Explanation::json, unlocked)
      .def("html", &Explanation::html, unlocked)
      .def("dump", &Explanation::dump, nb::arg("stage"), unlocked)
      .def("__str__", &Explanation::text)
      .def("__repr__", &Explanation::text);
  nb::class_<FunctionObject>(m, "Function", "A function that is traced and compiled for the arguments of its calls.")
      .def(
          "run",
          [](const FunctionObject& f, const nb::list& arguments, nb::handle outputs, int kind) {
            std::vector<PyObject*> leaves, targets;
            for (const nb::handle leaf : arguments) leaves.push_back(leaf.ptr());
            if (!outputs.is_none())
              for (const nb::handle output : outputs) targets.push_back(output.ptr());
            nb::list results;
            for (nb::object& result : run(f, leaves.data(), leaves.size(), targets, static_cast<Kind>(kind)))
              results.append(std::move(result));
            return results;
          },
          nb::arg("arguments"), nb::arg("outputs").none(), nb::arg("kind"))
      .def("explain",
           [](const FunctionObject& f, const nb::list& arguments) {
             const std::vector<Array> arrays = evaluated(arguments);
             const nb::gil_scoped_release unlocked;
             return f.any.explain(arrays, {});
           })
      .def("explain_last", [](const FunctionObject& f) { return f.any.explain_last(); })
      .def("source",
           [](const FunctionObject& f, const std::string& target, const nb::list& arguments, const std::string& name) {
             const std::vector<Array> arrays = evaluated(arguments);
             const nb::gil_scoped_release unlocked;
             return f.any.source(target, arrays, {}, SourceOptions{name});
           })
      .def("expect_kernels", [](const FunctionObject& f, int count) { f.any.expect_kernels(count); })
      .def_prop_ro("compile_count", [](const FunctionObject& f) { return f.any.compile_count(); })
      .def_prop_ro("results", [](const FunctionObject& f) { return f.results; })
      .def("specializations",
           [](const FunctionObject& f) {
             nb::list rows;
             for (const Specialization& s : f.any.specializations()) {
               nb::dict row;
               row["types"] = s.types;
               row["reason"] = s.reason;
               row["exact"] = s.exact;
               row["kernels"] = s.kernels;
               row["compile_ms"] = s.compile_ms;
               rows.append(row);
             }
             return rows;
           })
      .def("save", [](const FunctionObject& f, const std::string& path, const std::vector<std::string>& targets,
                      const std::vector<std::string>& parameters, int results) {
        std::vector<detail::SavedParameter> saved;
        for (const std::string& name : parameters) saved.push_back({name, false});
        const nb::gil_scoped_release unlocked;
        f.any.save(path, targets, saved, results);
      });
  m.def("make_function", &make_function);
  m.def("load_function", [](const std::string& path) {
    std::vector<detail::SavedParameter> parameters;
    int results = 0;
    detail::AnyFunction any = detail::AnyFunction::load(path, {}, &parameters, &results);
    std::vector<std::string> names;
    for (const detail::SavedParameter& parameter : parameters) names.push_back(parameter.name);
    return std::pair(FunctionObject{std::move(any), results}, names);
  });
  // An argument of these sizes for a compiler: all elements are one, so that it takes no memory.
  m.def("stand_in", [](const Dims& dims, nb::handle dtype) {
    static const double zero = 0;
    return wrap(Array::adopt(static_cast<const void*>(&zero), dtype_from(dtype), dims, Dims(dims.size(), 0), nullptr));
  });
  // The value of a function of arrays, and its gradients by those that `by` names.
  m.def("differentiate", [](nb::object function, const std::vector<Array>& arrays, const std::vector<bool>& by) {
    const Callable callable = kept(std::move(function));
    const detail::Differentiated made = detail::differentiate(
        [&](const std::vector<Array>& parameters) { return call_python(callable, parameters).at(0); }, arrays, by);
    nb::list gradients;
    for (const Array& gradient : made.gradients) gradients.append(wrap(gradient));
    return nb::make_tuple(wrap(made.value), gradients);
  });
}

}  // namespace smelt::python
