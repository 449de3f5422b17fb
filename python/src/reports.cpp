// What the library reports: savings of a chain of operations, devices, events.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>

#include "api/node.hpp"
#include "binding.hpp"
#include "report/savings.hpp"

namespace smelt::python {

void bind_reports(nb::module_& m) {
  // `operations` is the text of a file that `smelt savings` takes; gives the text of its JSON.
  m.def("fusion_savings", [](const std::string& operations, int64_t dtype_bytes) {
    const auto chain = report::parse_chain(operations, "operations");
    return report::to_json(report::chain_savings(chain, dtype_bytes)).dump();
  });
  m.def("missing", [](const std::string& device) {
    const nb::gil_scoped_release unlocked;  // opening a device may call set_llvm_compiler()'s functions
    return (device == "cuda" ? Device::cuda() : Device::cpu()).missing();
  });
  // The version of LLVM for the CPU and the file it is in; empty where there is none.
  m.def("llvm", []() -> std::pair<std::string, std::string> {
    const nb::gil_scoped_release unlocked;
    const auto& llvm = detail::machine_of(Device::cpu()).llvm;
    if (!llvm) return {};
    return {llvm->version_text(), llvm->path()};
  });
  m.def("set_cache", [](const std::string& folder) { set_cache({folder, std::nullopt}); });
  m.def("set_threads", &set_threads);
  m.def(
      "on_event",
      [](nb::object callback) {
        if (callback.is_none()) {
          on_event({});
          return;
        }
        auto shared = std::shared_ptr<nb::object>(new nb::object(std::move(callback)), [](nb::object* object) {
          const nb::gil_scoped_acquire gil;
          delete object;
        });
        on_event([shared](const Event& event) {
          const nb::gil_scoped_acquire gil;
          try {
            (*shared)(name_of(event.kind), event.program, event.kernel, event.device, event.ms, event.bytes,
                      event.message);
          } catch (nb::python_error& e) {
            e.discard_as_unraisable("smelt.on_event");
          }
        });
      },
      nb::arg("callback").none());
}

}  // namespace smelt::python
