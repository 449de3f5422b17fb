// smelt emit: a program as a source file that users build into their own.
#include <fmt/format.h>

#include "arguments.hpp"
#include "compile/standalone.hpp"
#include "report/file.hpp"
#include "report/json.hpp"
#include "report/units.hpp"

namespace smelt::tool {
namespace {

Machine device_for(const EmitOptions& options) {
  if (options.as == "cpp") {
    check_device_name(options.common);
    if (options.common.device == "auto" || options.common.device == "cpu") return Machine::cpu();
    throw UserError("smelt emit --as cpp prints loops of a CPU\nhelp: leave --device out, or --as cuda");
  }
  if (options.as == "opencl") {
    CommonOptions common = options.common;
    check_device_name(common);
    if (common.device == "auto") common.device = "opencl";
    const Machine device = find_device(common);
    if (device.opencl) return device;
    throw UserError(
        "smelt emit --as opencl prints kernels for an OpenCL device\nhelp: leave --device out, or name one");
  }
  if (options.as != "cuda")
    throw UserError(fmt::format("there is no way to emit a program as \"{}\"\nhelp: --as cuda, --as cpp or --as opencl",
                                report::printable(options.as, 40)));
  const Machine device = find_device(options.common);
  if (device.is_gpu && !device.opencl) return device;
  throw UserError(
      "smelt emit --as cuda prints kernels for one architecture\nhelp: say which, for example --device sm_90");
}

}  // namespace

int run_emit(const EmitOptions& options) {
  check_function_name(report::printable(options.name, 61));
  const Machine device = device_for(options);
  const Program program(options.program, true);
  CompileOptions compile_options;
  compile_options.threads = device.is_gpu ? 0 : options.common.threads;
  compile_options.sizes = program.sizes();
  compile_options.fallback = Fallback::Allow;  // what emits says what it needs
  const Executable executable = compile(program.graph(), device, compile_options);
  StandaloneOptions standalone;
  standalone.name = options.name;
  const std::string text = device.opencl   ? executable.dump("source")
                           : device.is_gpu ? standalone_cuda(executable, standalone)
                                           : standalone_cpp(executable, standalone);
  const Output output(options.common);
  if (options.output.empty() || options.output == "-")
    output.text(text);
  else
    report::write_text(options.output, text);
  output.json({{"as", options.as}, {"name", options.name}, {"source", text}});
  return kFine;
}

}  // namespace smelt::tool
