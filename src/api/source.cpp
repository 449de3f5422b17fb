#include "api/source.hpp"

#include <fmt/format.h>

#include "compile/standalone.hpp"

namespace smelt::detail {

// The machine to print for; null for a target of another name.
static std::optional<Machine> machine_for(const Special& special, const std::string& target) {
  const Machine& own = machine_of(special.device);
  if (target == "cpp") return own.is_gpu ? machine_of(Device::cpu()) : own;
  if (target == "cuda") return own.is_gpu && !own.opencl ? own : machine_of(Device::cuda());
  if (target == "opencl") return own.opencl ? own : machine_of(Device::opencl());
  const std::string digits = target.starts_with("sm_") ? target.substr(3) : "";
  if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return Machine::cuda_architecture(std::stoi(digits));
}

std::string source_of(const Special& special, const std::string& target, const SourceOptions& options) {
  check_function_name(options.name);
  const std::optional<Machine> machine = machine_for(special, target);
  if (!machine)
    throw UserError(fmt::format(
        "source(): there is no target \"{}\"\nhelp: cpp, cuda (for the GPU at hand), sm_90 and the like, or opencl",
        target));
  if (!machine->compiles()) throw UserError(fmt::format("source(): no kernels for {}: {}", target, machine->missing));
  if (!special.executable.device().identity.empty() && special.executable.device().is_gpu != machine->is_gpu)
    throw UserError("source(): a function that was loaded from a file prints for its own device alone");
  CompileOptions o;
  o.fuse = special.fuse;
  o.threads = machine->is_gpu ? 0 : special.threads;
  o.sizes = special.sizes;
  const bool own = machine->name == special.executable.device().name;
  const Executable executable = own ? special.executable : compile(special.program, *machine, o);
  const StandaloneOptions standalone{options.name};
  if (machine->opencl) return executable.dump("source");
  return machine->is_gpu ? standalone_cuda(executable, standalone) : standalone_cpp(executable, standalone);
}

}  // namespace smelt::detail
