// Graphs of torch: programs for them, and calls on tensors, which come and go by DLPack's C
// exchange API. Nothing of torch is needed to build this, and no Python runs between the kernels of
// a call.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "api/dlpack.hpp"
#include "api/program.hpp"
#include "api/specialize.hpp"
#include "exchange.hpp"
#include "function.hpp"
#include "smelt/stream.hpp"

namespace smelt::python {

namespace {

const ExchangeApi* exchange_of(nb::handle type) {
  const ExchangeApi* api = find_exchange(type);
  if (!api) throw UserError("tensors of this torch have no DLPack exchange API 1.x\nhelp: torch 2.11 or later");
  return api;
}

DType dtype_of_tensor(const dlpack::DataType& type) {
  if (const auto dtype = detail::dtype_from(type)) return *dtype;
  throw UserError("a tensor whose elements smelt does not have\nhelp: complex and quantised tensors stay in torch");
}

// A device of torch: one handle for each, since a new one looks for its driver.
Device device_of(int32_t id) {
  static std::mutex mutex;  // calls have no GIL in a free-threaded Python
  static std::vector<Device> known;
  const std::lock_guard lock(mutex);
  while (known.size() <= static_cast<size_t>(id)) known.push_back(Device::cuda(static_cast<int>(known.size())));
  return known[static_cast<size_t>(id)];
}

Array array_of(void* data, DType dtype, Dims dims, Dims strides, const Device& device) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.strides = std::move(strides);
  tensor.data = static_cast<char*>(data);
  return Array(detail::make_node(detail::Data{std::move(tensor), device, false}));
}

// An array that nobody reads: its sizes are what a program takes from it. Row-major, or a GPU would
// copy it from memory that is not its own.
Array sizes_only(Dims dims, DType dtype, const Device& device) {
  static double zero = 0;
  Dims strides = contiguous_strides(dims);
  return array_of(&zero, dtype, std::move(dims), std::move(strides), device);
}

// ---- programs

// A number, the name of a symbol, or (operator, a, b).
IntExpr size_from(nb::handle size) {
  if (PyLong_Check(size.ptr())) return IntExpr(nb::cast<int64_t>(size));
  if (PyUnicode_Check(size.ptr())) return IntExpr::symbol(Symbol::size(nb::cast<std::string>(size)));
  const auto op = nb::cast<std::string>(size[0]);
  const IntExpr a = size_from(size[1]), b = size_from(size[2]);
  if (op == "+") return a + b;
  if (op == "*") return a * b;
  if (op == "//") return floordiv(a, b);
  if (op == "%") return mod(a, b);
  throw InternalError("a size with the operator " + op);
}

detail::Traced traced(const std::shared_ptr<nb::object>& trace, const std::vector<detail::InputType>& types) {
  const std::vector<Array> placeholders = detail::placeholders_for(types);
  std::vector<Array> results;
  const nb::gil_scoped_acquire gil;
  const Tracing tracing;
  try {
    nb::list arguments;
    for (const Array& placeholder : placeholders) arguments.append(wrap(placeholder));
    for (const nb::handle result : (*trace)(arguments)) results.push_back(to_array(result));
  } catch (...) {
    rethrow_for_library();
  }
  const detail::Needed needed = detail::needed_by(results);
  if (!needed.data.empty()) throw InternalError("a graph of torch uses an array that is no input");
  return {build_graph(needed, results, placeholders, types, {}), {}};
}

// `shapes` has the sizes of every input, or is None: then they are those of the call.
FunctionObject make_graph_function(nb::object trace, const std::string& name, nb::handle shapes, size_t count,
                                   int threads, const std::string& device, bool tune) {
  Options options;
  options.name = name;
  options.threads = threads;
  options.tune = tune;
  if (device != "cpu") options.device = device_of(gpu_number(device));
  std::vector<Shape> declared;
  if (!shapes.is_none()) {
    for (const nb::handle shape : shapes) {
      Shape& sizes = declared.emplace_back();
      for (const nb::handle size : shape) sizes.push_back(size_from(size));
    }
  }
  const auto kept = std::shared_ptr<nb::object>(new nb::object(std::move(trace)), [](nb::object* object) {
    const nb::gil_scoped_acquire gil;
    delete object;
  });
  auto build = [kept, declared](const std::vector<detail::InputType>& exact, const std::vector<int>&) {
    std::vector<detail::InputType> types = exact;
    for (size_t i = 0; i < declared.size(); ++i) types[i].shape = declared[i];
    return traced(kept, types);
  };
  return {detail::AnyFunction(std::move(build), true, std::move(options), std::string(count, 'a'))};
}

// ---- calls

struct Result {
  int slot;         // where it goes
  int target;       // the slot of the tensor that it is written to, or -1
  nb::object size;  // of a new tensor: tuples; None where they follow from the call
  nb::object stride;
  std::vector<int> order;  // axes, the outermost in memory first: of strides that follow from the call; none: as in C
};

struct Step {
  nb::object function;  // a FunctionObject, or what torch calls
  bool native = false;
  std::vector<int> inputs;
  std::vector<Result> results;
  std::vector<int> dead;  // slots that nobody reads from here on
  int gpu = -1;           // the number of the device, or the CPU
};

// A graph as steps over slots. Tensors are owned by the slots from their making to their last use.
class GraphCall {
 public:
  GraphCall(nb::handle tensor_type, int slots, const nb::list& constants, const nb::list& steps,
            std::vector<int> outputs, nb::object dtypes, nb::object empty_cpu, nb::object empty_cuda)
      : api_(exchange_of(tensor_type)),
        slots_(static_cast<size_t>(slots)),
        outputs_(std::move(outputs)),
        empty_cpu_(std::move(empty_cpu)),
        empty_cuda_(std::move(empty_cuda)) {
    for (const nb::handle constant : constants) constants_.push_back(nb::borrow(constant));
    for (const nb::handle dtype : dtypes) dtypes_.push_back(nb::borrow(dtype));
    for (const nb::handle given : steps) {
      Step& step = steps_.emplace_back();
      step.function = nb::borrow(given["function"]);
      step.native = nb::isinstance<FunctionObject>(step.function);
      step.inputs = nb::cast<std::vector<int>>(given["inputs"]);
      step.dead = nb::cast<std::vector<int>>(given["dead"]);
      step.gpu = nb::cast<int>(given["gpu"]);
      for (const nb::handle r : given["results"])
        step.results.push_back({nb::cast<int>(r[0]), nb::cast<int>(r[1]), nb::borrow(r[2]), nb::borrow(r[3]),
                                nb::cast<std::vector<int>>(r[4])});
    }
  }

  // The inputs leave the list, so that they live no longer than they are used.
  nb::object call(nb::list inputs) const {
    std::vector<nb::object> slots(slots_);
    size_t next = 0;
    for (const nb::handle input : inputs) slots[next++] = nb::borrow(input);
    if (PyList_SetSlice(inputs.ptr(), 0, PyList_Size(inputs.ptr()), nullptr) != 0) throw nb::python_error();
    for (const nb::object& constant : constants_) slots[next++] = constant;
    for (const Step& step : steps_) {
      if (step.native)
        run_native(step, slots);
      else
        run_torch(step, slots);
      for (const int slot : step.dead) slots[static_cast<size_t>(slot)].reset();
    }
    nb::object results = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(outputs_.size())));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      nb::object out = outputs_[i] < 0 ? nb::none() : slots[static_cast<size_t>(outputs_[i])];
      PyTuple_SetItem(results.ptr(), static_cast<Py_ssize_t>(i), out.release().ptr());
    }
    return results;
  }

 private:
  Array view_of(const nb::object& object, const Device& device) const {
    if (PyLong_Check(object.ptr())) return sizes_only({nb::cast<int64_t>(object)}, DType::Bool, device);
    dlpack::Tensor tensor{};
    if (api_->tensor_from_object(object.ptr(), &tensor) != 0) throw nb::python_error();
    return array_of(static_cast<char*>(tensor.data) + (tensor.data ? tensor.byte_offset : 0),
                    dtype_of_tensor(tensor.dtype), Dims(tensor.shape, tensor.shape + tensor.ndim),
                    Dims(tensor.strides, tensor.strides + tensor.ndim),
                    tensor.device.type == dlpack::DeviceType::Cuda ? device_of(tensor.device.id) : Device::cpu());
  }

  nb::object allocate(const Step& step, const Result& result, DType dtype, const Dims& dims) const {
    nb::object size = result.size, stride = result.stride;
    if (size.is_none()) {
      std::vector<int64_t> strides(dims.size());
      int64_t next = 1;
      for (size_t k = dims.size(); k-- > 0;) {
        const auto axis = result.order.empty() ? k : static_cast<size_t>(result.order[k]);
        strides[axis] = next;
        next *= std::max<int64_t>(dims[axis], 1);
      }
      size = nb::tuple(nb::cast(dims));
      stride = nb::tuple(nb::cast(strides));
    }
    const nb::object& empty = step.gpu < 0 ? empty_cpu_ : empty_cuda_;
    const nb::object& element = dtypes_.at(static_cast<size_t>(dtype));
    return step.gpu > 0 ? empty(size, stride, element, step.gpu) : empty(size, stride, element);
  }

  void run_native(const Step& step, std::vector<nb::object>& slots) const {
    const Device device = step.gpu < 0 ? Device::cpu() : device_of(step.gpu);
    std::vector<Array> arrays;
    arrays.reserve(step.inputs.size() + 1);
    for (const int slot : step.inputs) arrays.push_back(view_of(slots[static_cast<size_t>(slot)], device));
    if (arrays.empty()) arrays.push_back(sizes_only({1}, DType::Bool, device));
    std::unique_ptr<StreamScope> scope;
    if (step.gpu >= 0) {
      void* stream = nullptr;
      if (api_->current_stream(dlpack::DeviceType::Cuda, step.gpu, &stream) != 0) throw nb::python_error();
      scope = std::make_unique<StreamScope>(Stream(device, stream));
    }
    const FunctionObject& function = *nb::inst_ptr<FunctionObject>(step.function);
    size_t next = 0;
    const nb::gil_scoped_release unlocked;
    function.any.call(arrays, {}, [&](DType dtype, const Dims& dims) {
      const nb::gil_scoped_acquire locked;
      const Result& result = step.results[next++];
      nb::object& made = slots[static_cast<size_t>(result.slot)];
      made = result.target >= 0 ? slots[static_cast<size_t>(result.target)] : allocate(step, result, dtype, dims);
      return view_of(made, device);
    });
  }

  void run_torch(const Step& step, std::vector<nb::object>& slots) const {
    nb::object arguments = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(step.inputs.size())));
    for (size_t i = 0; i < step.inputs.size(); ++i)
      PyTuple_SetItem(arguments.ptr(), static_cast<Py_ssize_t>(i),
                      nb::object(slots[static_cast<size_t>(step.inputs[i])]).release().ptr());
    const nb::object made = nb::steal(PyObject_Call(step.function.ptr(), arguments.ptr(), nullptr));
    if (!made.ptr()) throw nb::python_error();
    size_t next = 0;
    for (const nb::handle result : made) slots[static_cast<size_t>(step.results.at(next++).slot)] = nb::borrow(result);
  }

  const ExchangeApi* api_;
  size_t slots_;
  std::vector<nb::object> constants_, dtypes_;
  std::vector<Step> steps_;
  std::vector<int> outputs_;
  nb::object empty_cpu_, empty_cuda_;
};

}  // namespace

void bind_torch(nb::module_& m) {
  m.def("make_graph_function", &make_graph_function, nb::arg("trace"), nb::arg("name"), nb::arg("shapes").none(),
        nb::arg("count"), nb::arg("threads"), nb::arg("device"), nb::arg("tune"));
  m.def("dtype_number", [](nb::handle dtype) { return static_cast<int>(dtype_from(dtype)); });
  // Compiles it for inputs of these sizes, (dims, dtype) each, and explains what was compiled.
  m.def("prepare", [](const FunctionObject& f, const nb::list& inputs, const std::string& device) {
    const Device on = device == "cpu" ? Device::cpu() : device_of(gpu_number(device));
    std::vector<Array> arrays;
    for (const nb::handle input : inputs)
      arrays.push_back(sizes_only(dims_from(input[0]), dtype_from(nb::object(input[1])), on));
    const nb::gil_scoped_release unlocked;
    return f.any.explain(arrays, {});
  });
  nb::class_<GraphCall>(m, "GraphCall", nb::dynamic_attr(),
                        "A compiled graph of torch: takes a list of its inputs and empties it.")
      .def(nb::init<nb::handle, int, const nb::list&, const nb::list&, std::vector<int>, nb::object, nb::object,
                    nb::object>())
      .def("__call__", &GraphCall::call);
}

}  // namespace smelt::python
