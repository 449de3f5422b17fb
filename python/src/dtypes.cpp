// Dtypes and sizes: from Python objects and back.
#include <nanobind/stl/string.h>

#include <array>

#include "binding.hpp"

namespace smelt::python {

namespace {

constexpr int kDTypes = static_cast<int>(DType::F64) + 1;
constexpr const char* kNames[kDTypes] = {"bool",        "int8",    "int16",    "int32",   "int64",
                                         "uint8",       "uint16",  "uint32",   "uint64",  "float8_e4m3fn",
                                         "float8_e5m2", "float16", "bfloat16", "float32", "float64"};
std::array<PyObject*, kDTypes> dtype_objects{};
PyObject* size_class = nullptr;

}  // namespace

const char* python_name(DType dtype) { return kNames[static_cast<int>(dtype)]; }
nb::object dtype_object(DType dtype) { return nb::borrow(dtype_objects[static_cast<size_t>(dtype)]); }

std::optional<DType> find_dtype(nb::handle object) {
  if (nb::isinstance<DTypeObject>(object)) return nb::cast<DTypeObject&>(object).dtype;
  if (object.is(nb::handle(reinterpret_cast<PyObject*>(&PyFloat_Type)))) return DType::F64;
  if (object.is(nb::handle(reinterpret_cast<PyObject*>(&PyLong_Type)))) return DType::I64;
  if (object.is(nb::handle(reinterpret_cast<PyObject*>(&PyBool_Type)))) return DType::Bool;
  nb::object name = nb::borrow(object);
  if (!PyUnicode_Check(object.ptr())) {
    const char* attribute = PyType_Check(object.ptr()) ? "__name__" : "name";
    if (PyObject_HasAttrString(object.ptr(), attribute) != 1) {
      // torch.float32 has no name but its text.
      name = nb::str(object);
      const auto text = nb::cast<std::string>(name);
      const size_t dot = text.rfind('.');
      if (dot == std::string::npos || text.find(' ') != std::string::npos) return std::nullopt;
      name = nb::str(text.substr(dot + 1).c_str());
    } else {
      name = object.attr(attribute);
    }
  }
  if (!PyUnicode_Check(name.ptr())) return std::nullopt;
  const auto text = nb::cast<std::string>(name);
  for (int i = 0; i < kDTypes; ++i)
    if (text == kNames[i]) return static_cast<DType>(i);
  return dtype_from_name(text);
}

DType dtype_from(nb::handle object) {
  if (const auto found = find_dtype(object)) return *found;
  throw UserError("smelt has no dtype " + nb::cast<std::string>(nb::repr(object)) +
                  "\nhelp: smelt.float32, smelt.int64, smelt.bool and the others, or their names");
}

nb::object size_object(const Size& size) {
  if (!size.node()) return nb::int_(size.number());
  nb::object made = nb::inst_alloc(size_class);
  new (nb::inst_ptr<Size>(made)) Size(size);
  nb::inst_mark_ready(made);
  return made;
}

Dims dims_from(nb::handle object) {
  Dims dims;
  if (PyLong_Check(object.ptr())) return {nb::cast<int64_t>(object)};
  for (const nb::handle item : object) {
    const nb::object number = nb::steal(PyNumber_Index(item.ptr()));
    if (!number.ptr()) throw nb::python_error();
    dims.push_back(nb::cast<int64_t>(number));
  }
  return dims;
}

void bind_dtypes(nb::module_& m) {
  nb::class_<DTypeObject>(m, "DType", "The type of the elements of an array.")
      .def_prop_ro("name", [](const DTypeObject& d) { return python_name(d.dtype); })
      .def_prop_ro("itemsize", [](const DTypeObject& d) { return size_of(d.dtype); })
      .def_prop_ro("kind",
                   [](const DTypeObject& d) {
                     return is_bool(d.dtype)           ? "bool"
                            : is_signed_int(d.dtype)   ? "signed"
                            : is_unsigned_int(d.dtype) ? "unsigned"
                                                       : "float";
                   })
      .def("__repr__", [](const DTypeObject& d) { return std::string("smelt.") + python_name(d.dtype); })
      .def("__str__", [](const DTypeObject& d) { return python_name(d.dtype); })
      .def("__reduce__", [](const DTypeObject& d) { return python_name(d.dtype); })
      .def("__hash__", [](const DTypeObject& d) { return static_cast<int>(d.dtype); })
      .def(
          "__eq__",
          [](const DTypeObject& d, nb::handle other) {
            const auto found = find_dtype(other);
            return found && *found == d.dtype;
          },
          nb::arg("other").none());
  for (int i = 0; i < kDTypes; ++i) {
    const nb::object made = nb::cast(DTypeObject{static_cast<DType>(i)});
    dtype_objects[static_cast<size_t>(i)] = made.ptr();
    m.attr(kNames[i]) = made;
    made.inc_ref();  // as long as the process
  }
  m.def("dtype", [](nb::handle object) { return dtype_object(dtype_from(object)); });
  m.def("promote", [](nb::handle a, nb::handle b) -> nb::object {
    const auto common = promote(dtype_from(a), dtype_from(b));
    return common ? dtype_object(*common) : nb::none();
  });
}

// Arithmetic of sizes stays symbolic; whatever needs the number has the function compiled for the
// sizes at hand.
void bind_sizes(nb::module_& m) {
  nb::class_<Size> type(m, "Size", "A size that is not known while a function is traced.");
  type.def("__index__", &Size::value)
      .def("__int__", &Size::value)
      .def("__float__", [](const Size& a) { return static_cast<double>(a.value()); })
      .def("__bool__", [](const Size& a) { return a.value() != 0; })
      .def("__hash__", [](const Size& a) { return a.value(); })
      .def("__repr__", [](const Size& a) { return Array(a).str(); });
  const auto arithmetic = [&](const char* name, const char* reflected, auto apply) {
    type.def(
        name, [apply](const Size& a, const Size& b) { return size_object(apply(a, b)); }, nb::is_operator());
    type.def(
        name, [apply](const Size& a, int64_t b) { return size_object(apply(a, Size(b))); }, nb::is_operator());
    type.def(
        reflected, [apply](const Size& a, int64_t b) { return size_object(apply(Size(b), a)); }, nb::is_operator());
  };
  arithmetic("__add__", "__radd__", [](const Size& a, const Size& b) { return a + b; });
  arithmetic("__sub__", "__rsub__", [](const Size& a, const Size& b) { return a - b; });
  arithmetic("__mul__", "__rmul__", [](const Size& a, const Size& b) { return a * b; });
  arithmetic("__floordiv__", "__rfloordiv__", [](const Size& a, const Size& b) { return a / b; });
  arithmetic("__mod__", "__rmod__", [](const Size& a, const Size& b) { return a % b; });
  const auto comparison = [&](const char* name, auto apply) {
    type.def(
        name, [apply](const Size& a, const Size& b) { return apply(a.value(), b.value()); }, nb::is_operator());
    type.def(
        name, [apply](const Size& a, int64_t b) { return apply(a.value(), b); }, nb::is_operator());
  };
  comparison("__eq__", [](int64_t a, int64_t b) { return a == b; });
  comparison("__ne__", [](int64_t a, int64_t b) { return a != b; });
  comparison("__lt__", [](int64_t a, int64_t b) { return a < b; });
  comparison("__le__", [](int64_t a, int64_t b) { return a <= b; });
  comparison("__gt__", [](int64_t a, int64_t b) { return a > b; });
  comparison("__ge__", [](int64_t a, int64_t b) { return a >= b; });
  size_class = nb::object(m.attr("Size")).release().ptr();
}

}  // namespace smelt::python
