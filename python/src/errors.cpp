// Exceptions of the library as those of Python, and of Python code that the library calls as those
// of the library.
#include <memory>

#include "binding.hpp"

namespace smelt::python {

namespace {

PyObject* error_type = nullptr;
PyObject* user_error_type = nullptr;
PyObject* internal_error_type = nullptr;

// A smelt.UserError that was raised inside of a traced function. It is a UserError for the library,
// which then may try again with all sizes known, and keeps its traceback for the user.
class RaisedInPython : public UserError {
 public:
  RaisedInPython(const std::string& message, std::shared_ptr<nb::python_error> raised)
      : UserError(message), raised_(std::move(raised)) {}
  void restore() const { nb::python_error(*raised_).restore(); }

 private:
  std::shared_ptr<nb::python_error> raised_;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// What messages of the library write in C++.
std::string in_python(std::string text) {
  for (int i = 0; i <= static_cast<int>(DType::F64); ++i) {
    const auto dtype = static_cast<DType>(i);
    std::string constant(name_of(dtype));
    std::erase(constant, '_');
    for (size_t c = 0; c < (is_bool(dtype) ? 1 : constant.size()); ++c)
      constant[c] = static_cast<char>(std::toupper(static_cast<unsigned char>(constant[c])));
    // The longest first: U16 begins no other name, but F16 ends BF16.
    replace_all(text, "DType::" + constant, std::string("smelt.") + python_name(dtype));
  }
  replace_all(text, "Device::cpu()", "'cpu'");
  replace_all(text, "x[0][{slice(), indices}]", "x[0][:, indices]");
  replace_all(text, "x[i][{slice(), j}]", "x[[0, 2]][:, [1, 3]]");
  replace_all(text, ", not an empty Array", ", not None");
  replace_all(text, "Options::threads: ", "threads: ");
  replace_all(text, "gradient(): ", "grad: ");
  if (text.starts_with("Options::fixed(")) text.replace(0, text.find(')') + 1, "fixed");
  replace_all(text, "x.mT() turns", "x.mT turns");
  replace_all(text, "call eval(x) first", "call smelt.eval(x) first");
  return text;
}

void set_error(PyObject* type, const char* message) { PyErr_SetString(type, in_python(message).c_str()); }

}  // namespace

void rethrow_for_library() {
  try {
    throw;
  } catch (nb::python_error& e) {
    if (!e.matches(user_error_type)) throw;
    const auto message = nb::cast<std::string>(nb::str(e.value()));
    throw RaisedInPython(message, std::make_shared<nb::python_error>(std::move(e)));
  }
}

void set_python_error(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const RaisedInPython& e) {
    e.restore();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const UserError& e) {
    set_error(user_error_type, e.what());
  } catch (const InternalError& e) {
    set_error(internal_error_type, e.what());
  } catch (const Error& e) {
    set_error(error_type, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void bind_errors(nb::module_& m) {
  const auto add = [&](const char* name, const char* doc, nb::handle bases) {
    PyObject* type = PyErr_NewExceptionWithDoc((std::string("smelt.") + name).c_str(), doc, bases.ptr(), nullptr);
    if (!type) throw nb::python_error();
    m.attr(name) = nb::handle(type);
    return type;  // as long as the process
  };
  error_type = add("Error", "Base of everything that smelt raises.", nb::handle(PyExc_Exception));
  const nb::tuple user = nb::make_tuple(nb::handle(error_type), nb::handle(PyExc_ValueError));
  user_error_type = add("UserError", "The program, the shapes, the data or the machine is at fault.", user);
  internal_error_type = add("InternalError", "A bug in smelt.", nb::handle(error_type));
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error&) {
      set_python_error(p);
    }
  });
}

}  // namespace smelt::python
