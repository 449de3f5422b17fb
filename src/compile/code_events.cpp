#include "compile/code_events.hpp"

#include <fmt/format.h>

#include "smelt/error.hpp"

namespace smelt {

std::string name_of_code(const Executable::State& state, size_t kernel) {
  return fmt::format("{}{}{}", state.program, state.program.empty() ? "" : ".", describe_kernel(state, kernel));
}

void CodeEvents::say(Event::Kind kind, double ms, size_t bytes) const {
  if (!runtime::has_listener()) return;
  if (!state_.device.identity.empty() && kind == Event::Kind::CacheHit) return;  // of a saved function, from its file
  runtime::emit({kind, state_.program, describe_kernel(state_, kernel_), state_.device.name, ms,
                 static_cast<int64_t>(bytes), ""});
}

void fall_back(const Machine& device, const CompileOptions& options) {
  const std::string name = options.program.empty() ? "the program" : options.program;
  switch (options.fallback.value_or(fallback())) {
    case Fallback::Allow: return;
    case Fallback::Warn:
      return runtime::emit({Event::Kind::FellBack, options.program, "", device.name, 0, 0,
                            fmt::format("the reference interpreter runs {}, slowly: {}", name, device.missing)});
    case Fallback::Error: break;
  }
  throw UserError(
      fmt::format("{} cannot be compiled: {}\nhelp: or let the reference interpreter run it, which takes a hundred "
                  "times as long and more: --fallback warn; from C++ Options::fallback or set_fallback()",
                  name, device.missing));
}

}  // namespace smelt
