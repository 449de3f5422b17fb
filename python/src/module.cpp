// The module smelt._smelt. What users call is in the Python files of the package.
#include "binding.hpp"
#include "smelt/version.hpp"

NB_MODULE(_smelt, m) {
  using namespace smelt::python;
  nb::set_leak_warnings(false);  // dtypes and classes live as long as the process
  m.attr("version") = std::string(smelt::version()).c_str();
  bind_errors(m);
  bind_dtypes(m);
  bind_arrays(m);
  bind_calls(m);
  bind_functions(m);
  bind_dispatch(m);
  bind_reports(m);
  bind_kernels(m);
  bind_llvm(m);
  bind_linear(m);
  bind_decompositions(m);
  bind_torch(m);
  bind_jax(m);
}
