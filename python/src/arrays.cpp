// Arrays: from Python objects and back.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "api/dlpack.hpp"
#include "binding.hpp"
#include "smelt/dlpack.hpp"

#ifdef Py_LIMITED_API
// In every CPython, but in the limited API only since 3.11.
extern "C" {
int PyObject_GetBuffer(PyObject* object, void* view, int flags);
void PyBuffer_Release(void* view);
int PyObject_CheckBuffer(PyObject* object);
}
#endif

namespace smelt::python {

namespace {

PyObject* array_class = nullptr;
thread_local int depth = 0;

// Elements of the format of a buffer, in the byte order of this machine.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t itemsize) {
  if (!format) return DType::U8;
  if (*format == '@' || *format == '=' || *format == (std::endian::native == std::endian::little ? '<' : '>')) ++format;
  if (format[0] == '\0' || format[1] != '\0') return std::nullopt;
  const auto integer = [&](bool is_signed) -> std::optional<DType> {
    switch (itemsize) {
      case 1: return is_signed ? DType::I8 : DType::U8;
      case 2: return is_signed ? DType::I16 : DType::U16;
      case 4: return is_signed ? DType::I32 : DType::U32;
      case 8: return is_signed ? DType::I64 : DType::U64;
      default: return std::nullopt;
    }
  };
  switch (*format) {
    case '?': return DType::Bool;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return integer(true);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return integer(false);
    case 'e': return DType::F16;
    case 'f': return DType::F32;
    case 'd': return DType::F64;
    default: return std::nullopt;
  }
}

// Keeps a Python object alive from threads that may not hold the GIL.
template <class T>
std::shared_ptr<void> kept(T* object) {
  return std::shared_ptr<void>(object, [](void* p) {
    const nb::gil_scoped_acquire gil;
    delete static_cast<T*>(p);
  });
}

Array from_capsule(const nb::object& capsule) {
  const auto take = [&]<class Managed>(const char* name, const char* used, Managed*) {
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (!managed) throw nb::python_error();
    if (PyCapsule_SetName(capsule.ptr(), used) != 0) throw nb::python_error();
    return from_dlpack(managed);
  };
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned"))
    return take("dltensor_versioned", "used_dltensor_versioned", static_cast<dlpack::ManagedTensorVersioned*>(nullptr));
  return take("dltensor", "used_dltensor", static_cast<dlpack::ManagedTensor*>(nullptr));
}

// Where what another library has on a GPU is made ready: the stream that smelt reads it in, which
// that library then lets wait.
nb::object stream_of_import(nb::handle object) {
  if (PyObject_HasAttrString(object.ptr(), "__dlpack_device__") != 1) return nb::none();
  // The first is an enumeration, which is a number.
  const nb::tuple where = nb::cast<nb::tuple>(object.attr("__dlpack_device__")());
  const auto type = static_cast<int>(nb::int_(nb::object(where[0])));
  if (type != static_cast<int>(dlpack::DeviceType::Cuda)) return nb::none();
  const Device device = Device::cuda(static_cast<int>(nb::int_(nb::object(where[1]))));
  if (!device.usable()) return nb::none();
  const auto handle = reinterpret_cast<uintptr_t>(Stream::current(device).handle());
  return nb::int_(handle ? handle : 1);  // DLPack's number of the default stream
}

Array from_dlpack_object(nb::handle object) {
  nb::dict how;
  if (const nb::object stream = stream_of_import(object); !stream.is_none()) how["stream"] = stream;
  const auto call = [&] {
    nb::object capsule =
        nb::steal(PyObject_Call(nb::object(object.attr("__dlpack__")).ptr(), nb::tuple().ptr(), how.ptr()));
    if (!capsule.ptr()) throw nb::python_error();
    return capsule;
  };
  how["max_version"] = nb::make_tuple(1, 1);
  nb::object capsule;
  try {
    capsule = call();
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;  // from before DLPack 1.0
    nb::del(how["max_version"]);
    capsule = call();
  }
  return from_capsule(capsule);
}

// `stream`: the consumer's, as DLPack numbers it; nothing: it does not say, or it waits on its own.
nb::object to_dlpack_capsule(const Array& array, bool versioned, std::optional<uintptr_t> stream) {
  const auto handle = [&] { return reinterpret_cast<void*>(*stream); };
  if (versioned) {
    auto* const made = stream ? detail::to_dlpack_in(array, handle()) : to_dlpack(array);
    return nb::steal(PyCapsule_New(made, "dltensor_versioned", [](PyObject* capsule) {
      if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return;
      auto* m = static_cast<dlpack::ManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
      m->deleter(m);
    }));
  }
  auto* const made = stream ? detail::to_dlpack_legacy_in(array, handle()) : to_dlpack_legacy(array);
  return nb::steal(PyCapsule_New(made, "dltensor", [](PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    auto* m = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    m->deleter(m);
  }));
}

// Elements in row-major order; a kernel may do it.
Array copied(const Array& array) {
  const nb::gil_scoped_release unlocked;
  return array.copy();
}

// The element at an index for each axis, of an array with data.
nb::object item_of(const Array& array, const Dims& index) {
  const Array x = array.to(Device::cpu());
  const Dims shape = x.shape(), strides = x.strides();
  if (index.size() != shape.size())
    throw UserError("item(): " + std::to_string(index.size()) + " indices for " + x.str() +
                    "\nhelp: give one for each axis");
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    if (index[d] < -shape[d] || index[d] >= shape[d])
      throw UserError("item(): index " + std::to_string(index[d]) + " is out of range for axis " + std::to_string(d) +
                      " of " + x.str());
    offset += (index[d] < 0 ? index[d] + shape[d] : index[d]) * strides[d];
  }
  const char* const at = static_cast<const char*>(x.data()) + offset * size_of(x.dtype());
  const auto read = [&]<Element T>(T value) {
    std::memcpy(static_cast<void*>(&value), at, sizeof(T));
    return value;
  };
  switch (x.dtype()) {
    case DType::Bool: return nb::bool_(read(bool{}));
    case DType::I8: return nb::int_(read(int8_t{}));
    case DType::I16: return nb::int_(read(int16_t{}));
    case DType::I32: return nb::int_(read(int32_t{}));
    case DType::I64: return nb::int_(read(int64_t{}));
    case DType::U8: return nb::int_(read(uint8_t{}));
    case DType::U16: return nb::int_(read(uint16_t{}));
    case DType::U32: return nb::int_(read(uint32_t{}));
    case DType::U64: return nb::int_(read(uint64_t{}));
    case DType::F8E4M3: return nb::float_(static_cast<double>(static_cast<float>(read(f8_e4m3{}))));
    case DType::F8E5M2: return nb::float_(static_cast<double>(static_cast<float>(read(f8_e5m2{}))));
    case DType::F16: return nb::float_(static_cast<double>(static_cast<float>(read(f16{}))));
    case DType::BF16: return nb::float_(static_cast<double>(static_cast<float>(read(bf16{}))));
    case DType::F32: return nb::float_(static_cast<double>(read(float{})));
    case DType::F64: return nb::float_(read(double{}));
  }
  throw InternalError("a dtype that is none");
}

// Elements of nested lists, which Python has checked to be numbers of one kind.
Array from_numbers(const nb::list& flat, const Dims& dims, DType dtype) {
  Array made = Array::empty(dims, dtype);
  const auto fill = [&]<Element T>(T) {
    T* to = made.mutable_span<T>().data();
    for (const nb::handle item : flat) {
      if constexpr (std::is_same_v<T, bool>) {
        *to++ = PyObject_IsTrue(item.ptr()) == 1;
      } else if constexpr (std::is_same_v<T, uint64_t>) {
        const nb::object number = nb::steal(PyNumber_Index(item.ptr()));
        if (!number.ptr()) throw nb::python_error();
        *to = PyLong_AsUnsignedLongLong(number.ptr());
        if (PyErr_Occurred()) throw nb::python_error();
        ++to;
      } else if constexpr (std::is_integral_v<T>) {
        const nb::object number = nb::steal(PyNumber_Index(item.ptr()));
        if (!number.ptr()) throw nb::python_error();
        const long long value = PyLong_AsLongLong(number.ptr());
        if (PyErr_Occurred()) throw nb::python_error();
        *to = static_cast<T>(value);
        if (static_cast<long long>(*to) != value)
          throw UserError(std::to_string(value) + " does not fit into " + python_name(dtype_of<T>));
        ++to;
      } else {
        const double value = PyFloat_AsDouble(item.ptr());
        if (PyErr_Occurred()) throw nb::python_error();
        if constexpr (std::is_same_v<T, double>)
          *to++ = value;
        else
          *to++ = T(static_cast<float>(value));
      }
    }
  };
  switch (dtype) {
    case DType::Bool: fill(bool{}); break;
    case DType::I8: fill(int8_t{}); break;
    case DType::I16: fill(int16_t{}); break;
    case DType::I32: fill(int32_t{}); break;
    case DType::I64: fill(int64_t{}); break;
    case DType::U8: fill(uint8_t{}); break;
    case DType::U16: fill(uint16_t{}); break;
    case DType::U32: fill(uint32_t{}); break;
    case DType::U64: fill(uint64_t{}); break;
    case DType::F8E4M3: fill(f8_e4m3{}); break;
    case DType::F8E5M2: fill(f8_e5m2{}); break;
    case DType::F16: fill(f16{}); break;
    case DType::BF16: fill(bf16{}); break;
    case DType::F32: fill(float{}); break;
    case DType::F64: fill(double{}); break;
  }
  return made;
}

void check_eager(const char* what) {
  if (depth > 0)
    throw UserError(
        std::string(what) +
        ": an array of a function that is being traced has no value yet\nhelp: smelt.where(condition, a, b) "
        "chooses by elements; a Python number that chooses between programs is named in static=");
}

}  // namespace

nb::object wrap(Array array) {
  nb::object made = nb::inst_alloc(array_class);
  new (nb::inst_ptr<Array>(made)) Array(std::move(array));
  nb::inst_mark_ready(made);
  return made;
}

const Array* find_array(nb::handle object) {
  return nb::isinstance<Array>(object) ? nb::inst_ptr<Array>(object) : nullptr;
}

int gpu_number(const std::string& name) { return name.size() > 5 ? std::stoi(name.substr(5)) : 0; }

const char* interned(const std::string& text) {
  static auto* names = new std::unordered_set<std::string>;
  static auto* mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  return names->insert(text).first->c_str();
}

int tracing_depth() { return depth; }
Tracing::Tracing() { ++depth; }
Tracing::~Tracing() { --depth; }

Buffer::~Buffer() {
  if (open_) PyBuffer_Release(&view_);
}

Buffer::State Buffer::open(PyObject* object, bool writable) {
  constexpr int kFormat = 4, kStrides = 0x10 | 8, kWritable = 1;
  if (!PyObject_CheckBuffer(object)) return State::Missing;
  if (PyObject_GetBuffer(object, &view_, kFormat | kStrides | (writable ? kWritable : 0)) != 0) {
    PyErr_Clear();
    return State::Type;
  }
  open_ = true;
  const auto dtype = dtype_of_format(view_.format, view_.itemsize);
  if (!dtype || size_of(*dtype) != view_.itemsize) return State::Type;
  dtype_ = *dtype;
  for (int d = 0; d < view_.ndim; ++d)
    if (view_.strides[d] % view_.itemsize != 0) return State::Strides;
  return State::Fine;
}

Array Buffer::array(std::shared_ptr<void> owner) const {
  Dims dims(static_cast<size_t>(view_.ndim)), strides(dims.size());
  bool empty = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    dims[d] = view_.shape[d];
    strides[d] = view_.strides[d] / view_.itemsize;
    empty |= dims[d] == 0;
  }
  void* data = empty ? nullptr : view_.buf;
  if (view_.readonly)
    return Array::adopt(static_cast<const void*>(data), dtype_, std::move(dims), std::move(strides), std::move(owner));
  return Array::adopt(data, dtype_, std::move(dims), std::move(strides), std::move(owner));
}

static constexpr const char* kConvert =
    "\nhelp: convert it first, as in x.astype('float32'); bool, integers of 8 to 64 bits and floats are supported";

static std::string text_of(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  if (!text.ptr()) throw nb::python_error();
  return nb::cast<std::string>(text);
}

// What arrays of NumPy may have and arrays of smelt may not, by the letter of their dtype's kind.
static const char* foreign_kind(nb::handle dtype) {
  if (PyObject_HasAttrString(dtype.ptr(), "kind") != 1) return nullptr;
  const nb::object kind = dtype.attr("kind");
  if (!PyUnicode_Check(kind.ptr())) return nullptr;
  switch (nb::cast<std::string>(kind)[0]) {
    case 'S':
    case 'U': return "texts";
    case 'O': return "objects of Python";
    case 'M': return "dates";
    case 'm': return "time spans";
    case 'V': return dtype.attr("names").is_none() ? nullptr : "records";
    case 'f':
    case 'i':
    case 'u': return "numbers in another byte order, or of another size";
    default: return nullptr;
  }
}

// Throws UserError where the dtype of an array that DLPack does not take says why.
static void check_elements(nb::handle object) {
  if (PyObject_HasAttrString(object.ptr(), "dtype") != 1) return;
  const nb::object dtype = object.attr("dtype");
  if (const char* kind = foreign_kind(dtype))
    throw UserError("an array of " + text_of(dtype) + " cannot be read, since it has " + kind + kConvert);
}

std::optional<Array> foreign_array(nb::handle object) {
  auto buffer = std::make_unique<Buffer>();
  switch (buffer->open(object.ptr(), false)) {
    case Buffer::State::Fine: {
      const Buffer& opened = *buffer;
      return opened.array(kept(buffer.release()));
    }
    case Buffer::State::Strides:
      // Elements between those of others, as a field of records has them.
      return foreign_array(nb::object(object.attr("copy")()));
    case Buffer::State::Type:
    case Buffer::State::Missing: break;
  }
  if (PyObject_HasAttrString(object.ptr(), "__dlpack__") != 1) return std::nullopt;
  try {
    return from_dlpack_object(object);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_BufferError)) throw;
    check_elements(object);
    const bool typed = PyObject_HasAttrString(object.ptr(), "dtype") == 1;
    throw UserError("an array" + (typed ? " of " + text_of(object.attr("dtype")) : "") +
                    " cannot be read: " + text_of(e.value()) + kConvert);
  }
}

Array to_array(nb::handle object) {
  if (const Array* array = find_array(object)) return *array;
  if (PyBool_Check(object.ptr())) return Array(object.ptr() == Py_True);
  if (PyLong_Check(object.ptr())) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (overflow == 0) return Array(static_cast<int64_t>(value));
    const unsigned long long large = PyLong_AsUnsignedLongLong(object.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw UserError("an integer of " + text_of(object.attr("bit_length")()) +
                      " bits is too large\nhelp: integers have at most 64 bits; a float may be larger: 1e20");
    }
    return Array::scalar(static_cast<uint64_t>(large));
  }
  if (PyFloat_CheckExact(object.ptr())) return Array(PyFloat_AsDouble(object.ptr()));
  if (nb::isinstance<Size>(object)) return Array(nb::cast<Size&>(object));
  if (auto array = foreign_array(object)) return *array;
  throw UserError("no array: " + nb::cast<std::string>(nb::repr(object.type())) +
                  "\nhelp: arrays of smelt or NumPy, numbers, and whatever has __dlpack__ are");
}

void bind_arrays(nb::module_& m) {
  nb::class_<Array>(m, "Array", nb::is_weak_referenceable(),
                    "A multidimensional array, or a value that is not calculated yet.")
      .def_prop_ro("dtype", [](const Array& x) { return dtype_object(x.dtype()); })
      .def_prop_ro("ndim", &Array::ndim)
      .def_prop_ro("shape",
                   [](const Array& x) {
                     nb::list sizes;
                     for (int d = 0; d < x.ndim(); ++d) sizes.append(size_object(x.extent(d)));
                     return nb::tuple(sizes);
                   })
      .def_prop_ro("device_name", [](const Array& x) { return x.device().name(); })
      .def_prop_ro("evaluated", &Array::evaluated)
      .def_prop_ro("strides", &Array::strides)
      .def("describe", &Array::str)
      .def("to_device_named",
           [](const Array& x, const std::string& name) {
             const Device device = name == "cpu" ? Device::cpu() : Device::cuda(gpu_number(name));
             return wrap([&] {
               const nb::gil_scoped_release unlocked;
               return x.to(device);
             }());
           })
      .def("contiguous", [](const Array& x) { return wrap(copied(x)); })
      .def("to_bytes",
           [](const Array& x) {
             const Array rows = copied(x);
             return nb::bytes(static_cast<const char*>(rows.data()),
                              static_cast<size_t>(rows.size() * size_of(rows.dtype())));
           })
      .def("read_item", [](const Array& x, const Dims& index) { return item_of(x, index); })
      .def("dlpack_capsule", &to_dlpack_capsule, nb::arg("versioned"), nb::arg("stream") = nb::none())
      .def("dlpack_device", [](const Array& x) {
        const std::string name = x.device().name();
        if (name == "cpu") return nb::make_tuple(1, 0);
        return nb::make_tuple(2, gpu_number(name));
      });
  bind_sizes(m);
  m.def("set_array_class", [](nb::object type) { array_class = type.release().ptr(); });
  m.def("to_array", [](nb::handle object) { return wrap(to_array(object)); });
  m.def("foreign_array", [](nb::handle object) -> nb::object {
    auto made = foreign_array(object);
    return made ? wrap(std::move(*made)) : nb::none();
  });
  m.def("from_numbers", [](const nb::list& flat, const Dims& dims, nb::handle dtype) {
    return wrap(from_numbers(flat, dims, dtype_from(dtype)));
  });
  m.def("empty",
        [](nb::handle shape, nb::handle dtype) { return wrap(Array::empty(dims_from(shape), dtype_from(dtype))); });
  m.def("from_bytes", [](const nb::bytes& bytes, nb::handle dtype, const Dims& dims) {
    Array made = Array::empty(dims, dtype_from(dtype));
    if (static_cast<size_t>(made.size() * size_of(made.dtype())) != bytes.size())
      throw UserError("from_bytes(): " + made.str() + " has another number of bytes than the " +
                      std::to_string(bytes.size()) + " that were given");
    if (bytes.size() > 0) std::memcpy(const_cast<void*>(made.data()), bytes.data(), bytes.size());
    return wrap(std::move(made));
  });
  m.def("alias", [](const Array& x) { return wrap(x); });
  m.def("assign", [](Array& x, const Array& value) { x = value; });
  m.def("tracing", &tracing_depth);
  m.def("eval", [](const std::vector<Array>& values) {
    bool all = true;
    for (const Array& value : values) all &= value.evaluated();
    if (all) return;
    check_eager("eval()");
    const nb::gil_scoped_release unlocked;
    eval(values);
  });
}

}  // namespace smelt::python
