// A compiler in Python in place of libLLVM.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "binding.hpp"

namespace smelt::python {

namespace {

// Called from threads that may not hold the GIL.
template <class R, class... A>
R call(const std::shared_ptr<nb::object>& function, const A&... arguments) {
  const nb::gil_scoped_acquire gil;
  try {
    return nb::cast<R>((*function)(arguments...));
  } catch (nb::python_error& e) {
    const std::string message = nb::cast<std::string>(nb::str(e.value()));
    throw InternalError("the compiler in Python failed: " + message);
  }
}

}  // namespace

void bind_llvm(nb::module_& m) {
  // path() -> str; target() -> (major, minor, patch, triple, cpu, passes); compile(text, cpu,
  // assembly) -> bytes.
  m.def("set_llvm_compiler", [](const std::string& name, const std::string& install, nb::object path, nb::object target,
                                nb::object compile) {
    // As long as the process: nothing must run Python once it has ended.
    const auto kept = [](nb::object f) {
      return std::shared_ptr<nb::object>(new nb::object(std::move(f)), [](nb::object*) {});
    };
    LlvmCompiler compiler;
    compiler.name = name;
    compiler.install = install;
    compiler.path = [f = kept(std::move(path))] { return call<std::string>(f); };
    compiler.target = [f = kept(std::move(target))] {
      using Row = std::tuple<int, int, int, std::string, std::string, std::string>;
      auto [major, minor, patch, triple, cpu, passes] = call<Row>(f);
      return LlvmCompiler::Target{major, minor, patch, std::move(triple), std::move(cpu), std::move(passes)};
    };
    compiler.compile = [f = kept(std::move(compile))](const std::string& text, const std::string& cpu, bool assembly) {
      const nb::gil_scoped_acquire gil;
      const auto made = call<nb::bytes>(f, text, cpu, assembly);
      return std::string(made.c_str(), made.size());
    };
    set_llvm_compiler(std::move(compiler));
  });
}

}  // namespace smelt::python
