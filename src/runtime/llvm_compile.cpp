#include "runtime/llvm_compile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"

namespace smelt::runtime::llvm {

// The text arrives with vectors explicit, loops in shape and invariants hoisted. What remains is to
// make registers of stack slots, to fold constants and patterns of the target, and to clean up.
static constexpr const char* kPipeline = "function(sroa,early-cse,instcombine,simplifycfg)";
// From LLVM 18 on, a pipeline given as text makes instcombine end the process when one round does
// not simplify everything, unless told not to.
static constexpr const char* kPipeline18 = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

const char* passes(unsigned major) { return major >= 18 ? kPipeline18 : kPipeline; }

static std::string take_text(const Api& api, char* text) {
  std::string copy = text ? text : "";
  if (text) api.dispose_message(text);
  return copy;
}

static std::string take_message(const Api& api, Error error) {
  char* text = api.get_error_message(error);
  std::string copy = text ? text : "unknown error";
  if (text) api.dispose_error_message(text);
  return copy;
}

std::string default_triple(const Api& api) { return take_text(api, api.default_triple()); }

HostTarget find_host_target(const Api& api, const std::string& chosen_cpu) {
  HostTarget host;
  host.triple = default_triple(api);
  if (!chosen_cpu.empty()) {
    host.cpu = chosen_cpu;
  } else {
    host.cpu = take_text(api, api.host_cpu_name());
    host.features = take_text(api, api.host_cpu_features());
  }
  char* message = nullptr;
  if (api.target_from_triple(host.triple.c_str(), &host.target, &message))
    throw UserError(fmt::format("this libLLVM cannot compile for {}: {}", host.triple, take_text(api, message)));
  return host;
}

namespace {

// Everything that one compilation holds, released in the right order.
struct Compilation {
  const Api& api;
  Context context = nullptr;
  IrModule module = nullptr;
  TargetMachine machine = nullptr;
  std::string diagnostics;

  explicit Compilation(const Api& a) : api(a), context(a.create_context()) {
    api.set_diagnostic_handler(context, &Compilation::on_diagnostic, this);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() {
    if (machine) api.dispose_target_machine(machine);
    if (module) api.dispose_module(module);
    api.dispose_context(context);
  }

  // Without a handler LLVM prints errors and ends the process.
  static void on_diagnostic(Diagnostic diagnostic, void* self) {
    auto& c = *static_cast<Compilation*>(self);
    constexpr int error = 0;
    if (c.api.get_diagnostic_severity(diagnostic) == error)
      c.diagnostics += take_text(c.api, c.api.get_diagnostic_text(diagnostic)) + "\n";
  }
};

// The line of the text that is in a message of the verifier, which quotes instructions but counts
// no lines.
std::string quoted_line(const std::string& message, const std::string& text) {
  size_t start = 0;
  while (start < message.size()) {
    size_t end = message.find('\n', start);
    if (end == std::string::npos) end = message.size();
    std::string line = message.substr(start, end - start);
    start = end + 1;
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || line.find(" = ") == std::string::npos) continue;
    line = line.substr(first, line.find(" = ") + 3 - first);
    const size_t at = text.find(line);
    if (at == std::string::npos) continue;
    const auto number = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return fmt::format("\nline {}: {}", number, text.substr(at, text.find('\n', at) - at));
  }
  return "";
}

void parse(Compilation& c, const std::string& text) {
  MemoryBuffer buffer = c.api.copy_to_buffer(text.data(), text.size(), "kernel");
  char* message = nullptr;
  // The parser owns the buffer, also when it fails.
  if (c.api.parse(c.context, buffer, &c.module, &message)) {
    c.module = nullptr;
    throw InternalError("LLVM cannot read the text of a kernel: " + take_text(c.api, message));
  }
  message = nullptr;
  const bool broken = c.api.verify(c.module, kReturnStatus, &message);
  const std::string complaint = take_text(c.api, message);
  if (broken) throw InternalError("LLVM rejects the text of a kernel: " + complaint + quoted_line(complaint, text));
}

void optimise(Compilation& c) {
  PassOptions options = c.api.create_pass_options();
  unsigned major = 0, minor = 0, patch = 0;
  c.api.get_version(&major, &minor, &patch);
  Error error = c.api.run_passes(c.module, passes(major), c.machine, options);
  c.api.dispose_pass_options(options);
  if (error) throw InternalError("LLVM cannot optimise a kernel: " + take_message(c.api, error));
}

}  // namespace

std::string compile_text(const Api& api, const HostTarget& host, const std::string& text, int file_type) {
  Compilation c(api);
  parse(c, text);
  c.machine = api.create_target_machine(host.target, host.triple.c_str(), host.cpu.c_str(), host.features.c_str(),
                                        kLevelDefault, kRelocPic, kCodeModelSmall);
  SMELT_CHECK(c.machine, "LLVM has no target machine for {} {}", host.triple, host.cpu);
  api.set_target(c.module, host.triple.c_str());
  TargetData layout = api.create_target_data(c.machine);
  api.set_data_layout(c.module, layout);
  api.dispose_target_data(layout);
  optimise(c);
  char* message = nullptr;
  MemoryBuffer buffer = nullptr;
  const bool failed = api.emit_to_memory(c.machine, c.module, file_type, &message, &buffer);
  std::string code;
  if (!failed) {
    code.assign(api.buffer_start(buffer), api.buffer_size(buffer));
    api.dispose_buffer(buffer);
  }
  const std::string complaint = take_text(api, failed ? message : nullptr);
  if (failed || !c.diagnostics.empty())
    throw InternalError("LLVM cannot compile a kernel: " + complaint + c.diagnostics);
  return code;
}

}  // namespace smelt::runtime::llvm
