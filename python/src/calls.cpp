// Calls of the language's functions and operators from Python, with the place in the user's source.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <atomic>

#include "binding.hpp"
#include "frontends/function_table.hpp"
#include "smelt/call.hpp"

namespace smelt::python {

namespace {

using detail::Argument;

// Where a step comes from when it is another compiler's, whose user is not on the stack; without a
// file: not set.
thread_local Where place = Where::here("", 0);

// The folder of this package.
const std::string& package() {
  static constinit std::atomic<const std::string*> known{nullptr};
  if (const std::string* found = known.load(std::memory_order_acquire)) return *found;
  const auto file = nb::cast<std::string>(nb::module_::import_("smelt").attr("__file__"));
  const auto* const found = new std::string(file.substr(0, file.rfind('/') + 1));
  known.store(found, std::memory_order_release);
  return *found;
}

// The innermost frame that is not of this package.
Where caller() {
  if (place.file()[0] != '\0') return place;
  static constinit Once get_frame;
  nb::object frame =
      nb::steal(PyObject_CallNoArgs(get_frame.get([] { return nb::module_::import_("sys").attr("_getframe"); })));
  if (!frame.ptr()) {
    PyErr_Clear();
    return Where::here("python", 0);
  }
  while (true) {
    const auto file = nb::cast<std::string>(frame.attr("f_code").attr("co_filename"));
    const nb::object back = frame.attr("f_back");
    if (!file.starts_with(package()) || back.is_none())
      return Where::here(interned(file), nb::cast<int>(frame.attr("f_lineno")));
    frame = back;
  }
}

Argument to_argument(nb::handle object);

Argument tuple_of(nb::handle items) {
  Argument tuple;
  tuple.kind = Argument::Kind::Tuple;
  for (const nb::handle item : items) tuple.items.push_back(to_argument(item));
  return tuple;
}

// While a function is traced, data from outside of it would become a part of the program.
void check_captured(nb::handle object, bool evaluated) {
  if (tracing_depth() == 0 || !evaluated) return;
  const nb::object told = nb::module_::import_("smelt._jit").attr("captured")(object);
  throw UserError(nb::cast<std::string>(told));
}

// What a number of NumPy (numpy.float64(2), not an array of rank 0) is in Python.
std::optional<nb::object> number_of_numpy(nb::handle object) {
  const nb::object numpy = nb::steal(PyImport_GetModule(nb::str("numpy").ptr()));
  if (!numpy.ptr() || !nb::isinstance(object, numpy.attr("generic"))) return std::nullopt;
  nb::object number = object.attr("item")();
  if (!PyBool_Check(number.ptr()) && !PyLong_Check(number.ptr()) && !PyFloat_CheckExact(number.ptr()))
    return std::nullopt;
  return number;
}

// The same as a constant of the program that is traced, of NumPy's dtype.
Array constant_of_numpy(nb::handle object, const nb::object& number) {
  const auto dtype = find_dtype(object.attr("dtype"));
  if (!dtype) throw UserError("no element type of smelt is " + nb::cast<std::string>(nb::repr(object)));
  return detail::call("astype", {Argument(to_array(number)), Argument(*dtype)}, caller());
}

// Whole numbers of NumPy are those of Python here, where they may be axes and sizes.
Argument to_argument(nb::handle object) {
  PyObject* const o = object.ptr();
  if (const Array* array = find_array(object)) {
    check_captured(object, array->evaluated());
    return Argument(*array);
  }
  if (object.is_none()) return Argument();
  if (PyBool_Check(o)) return Argument(o == Py_True);
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow == 0) return Argument(static_cast<int64_t>(value));
    return Argument(to_array(object));
  }
  if (PyFloat_CheckExact(o)) return Argument(PyFloat_AsDouble(o));
  if (PyUnicode_Check(o)) {
    const auto text = nb::cast<std::string>(object);
    return Argument(std::string_view(interned(text)));
  }
  if (PyTuple_Check(o) || PyList_Check(o)) return tuple_of(object);
  if (nb::isinstance<Size>(object)) return Argument(nb::cast<Size&>(object));
  if (PySlice_Check(o)) {
    Argument slice;
    slice.kind = Argument::Kind::Slice;
    for (const char* bound : {"start", "stop", "step"}) {
      Argument part = to_argument(object.attr(bound));
      if (bound[2] == 'e' && part.kind == Argument::Kind::None) part = Argument(int64_t{1});
      slice.items.push_back(std::move(part));
    }
    return slice;
  }
  if (o == Py_Ellipsis) {
    Argument dots;
    dots.kind = Argument::Kind::Ellipsis;
    return dots;
  }
  if (const auto number = number_of_numpy(object)) {
    if (!PyFloat_Check(number->ptr())) return to_argument(*number);
    if (tracing_depth() > 0) return Argument(constant_of_numpy(object, *number));
  }
  if (auto array = foreign_array(object)) {
    check_captured(object, true);
    return Argument(*array);
  }
  if (const auto dtype = find_dtype(object)) return Argument(*dtype);
  // NumPy's numbers have the buffer protocol; others at least are integers.
  if (PyIndex_Check(o)) {
    const nb::object number = nb::steal(PyNumber_Index(o));
    if (!number.ptr()) throw nb::python_error();
    return to_argument(number);
  }
  if (PyType_Check(o) || PyObject_HasAttrString(o, "itemsize") == 1) return Argument(dtype_from(object));
  throw UserError("no argument for a function of arrays: " + nb::cast<std::string>(nb::repr(object)) +
                  "\nhelp: arrays, numbers, dtypes, texts, and tuples of them are");
}

nb::object call(const std::string& function, const nb::args& arguments) {
  std::vector<Argument> converted;
  converted.reserve(arguments.size());
  for (const nb::handle argument : arguments) converted.push_back(to_argument(argument));
  return wrap(detail::call(interned(function), std::move(converted), caller()));
}

Located located(nb::handle object, Where where) {
  if (tracing_depth() > 0)
    if (const auto number = number_of_numpy(object)) return Located(constant_of_numpy(object, *number), where);
  const Argument argument = to_argument(object);
  if (argument.kind == Argument::Kind::Node) return Located(Array(argument.node), where);
  if (argument.kind == Argument::Kind::None || argument.kind == Argument::Kind::Tuple)
    throw UserError("no operand: " + nb::cast<std::string>(nb::repr(object)) + "\nhelp: arrays and numbers are");
  return Located(to_array(object), where);
}

// A number of Python as data of the dtype that it takes from the other operand, so that an
// expression with another number is the same program. Nothing where the number stays a part of the
// program: while a function is traced, and where it does not fit.
std::optional<Array> number_as_data(nb::handle object, nb::handle other) {
  const Array* array = find_array(other);
  if (!array || tracing_depth() > 0) return std::nullopt;
  const DType dtype = array->dtype();
  if (is_float(dtype) && (PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr()))) {
    const double value = PyFloat_AsDouble(object.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return std::nullopt;
    }
    if (dtype == DType::F64) return Array::scalar(value);
    if (dtype == DType::F32) return Array::scalar(static_cast<float>(value));
    return std::nullopt;
  }
  if (!is_int(dtype) || !PyLong_CheckExact(object.ptr())) return std::nullopt;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  const auto as = [&]<Element T>(T) -> std::optional<Array> {
    if (static_cast<long long>(static_cast<T>(value)) != value || (value < 0) != (static_cast<T>(value) < T{0}))
      return std::nullopt;
    return Array::scalar(static_cast<T>(value));
  };
  switch (dtype) {
    case DType::I8: return as(int8_t{});
    case DType::I16: return as(int16_t{});
    case DType::I32: return as(int32_t{});
    case DType::I64: return as(int64_t{});
    case DType::U8: return as(uint8_t{});
    case DType::U16: return as(uint16_t{});
    case DType::U32: return as(uint32_t{});
    default: return std::nullopt;
  }
}

Located operand(nb::handle object, nb::handle other, Where where) {
  if (auto data = number_as_data(object, other)) return Located(*data, where);
  return located(object, where);
}

Array apply(std::string_view op, const Located& a, const Located& b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "%") return a % b;
  if (op == "&") return a & b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "<<") return a << b;
  if (op == ">>") return a >> b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  const auto as_argument = [](const Located& l) { return Argument(l.array()); };
  if (op == "//") return detail::call("floor_divide", {as_argument(a), as_argument(b)}, a.where());
  if (op == "**") return detail::call("pow", {as_argument(a), as_argument(b)}, a.where());
  throw InternalError("an operator that is none: " + std::string(op));
}

Indices indices_from(nb::handle key) {
  std::vector<Index> items;
  const Where where = caller();
  const auto add = [&](nb::handle item) {
    const Argument a = to_argument(item);
    switch (a.kind) {
      case Argument::Kind::None: items.emplace_back(newaxis, where); return;
      case Argument::Kind::Integer: items.emplace_back(a.integer, where); return;
      case Argument::Kind::Ellipsis: items.emplace_back(ellipsis, where); return;
      case Argument::Kind::Slice: {
        const auto bound = [](const Argument& b) -> std::optional<Size> {
          if (b.kind == Argument::Kind::None) return std::nullopt;
          if (b.kind == Argument::Kind::Node) return Size(b.node);
          return Size(b.integer);
        };
        if (a.items[2].kind != Argument::Kind::Integer)
          throw UserError("a step of a slice is an integer that is known");
        items.emplace_back(Slice{bound(a.items[0]), bound(a.items[1]), a.items[2].integer}, where);
        return;
      }
      case Argument::Kind::Node:
        if (nb::isinstance<Size>(item))
          items.emplace_back(nb::cast<Size&>(item), where);
        else
          items.emplace_back(Array(a.node), where);
        return;
      default:
        throw UserError("no index: " + nb::cast<std::string>(nb::repr(item)) +
                        "\nhelp: integers, slices, ..., None, and one array of integers are");
    }
  };
  if (PyTuple_Check(key.ptr()))
    for (const nb::handle item : key) add(item);
  else
    add(key);
  return Indices(std::move(items));
}

nb::list function_table() {
  nb::list rows;
  for (const lang::Function& f : lang::functions()) {
    nb::dict row;
    nb::list parameters, names;
    for (const lang::Parameter& p : f.parameters) parameters.append(nb::make_tuple(p.name, p.default_text, p.rest));
    for (const std::string_view name : f.names) names.append(name);
    row["names"] = names;
    row["parameters"] = parameters;
    row["doc"] = f.row.doc;
    row["group"] = f.group;
    row["signature"] = lang::signature_of(f);
    rows.append(row);
  }
  return rows;
}

}  // namespace

void bind_calls(nb::module_& m) {
  m.def("set_place", [](const std::string& file, int line) { place = Where::here(interned(file), line); });
  m.def("call", &call);
  m.def("unary", [](const std::string& op, const Array& x) {
    const Located a(x, caller());
    if (op == "-") return wrap(-a);
    if (op == "+") return wrap(+a);
    return wrap(~a);
  });
  m.def("binary", [](const std::string& op, nb::handle a, nb::handle b) {
    const Where where = caller();
    // Exponents and shifts stay numbers: x ** 2 is a square.
    if (op == "**" || op == "<<" || op == ">>") return wrap(apply(op, located(a, where), located(b, where)));
    return wrap(apply(op, operand(a, b, where), operand(b, a, where)));
  });
  m.def(
      "subscript", [](const Array& x, nb::handle key) { return wrap(x[indices_from(key)]); }, nb::arg("x"),
      nb::arg("key").none());
  m.def(
      "slice_update",
      [](const Array& x, nb::handle key, nb::handle value) {
        return wrap(slice_update(x, indices_from(key), located(value, caller()).array(), caller()));
      },
      nb::arg("x"), nb::arg("key").none(), nb::arg("value"));
  m.def("function_table", &function_table);
}

}  // namespace smelt::python
