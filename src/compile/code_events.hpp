// Events about the code of one kernel. Internal to this folder.
#pragma once

#include <string>

#include "compile/state.hpp"
#include "runtime/events.hpp"

namespace smelt {

// What a profiler shows: "relu_layernorm.kernel 1 (relu, layernorm)".
std::string name_of_code(const Executable::State& state, size_t kernel);

class CodeEvents {
 public:
  CodeEvents(const Executable::State& state, size_t kernel) : state_(state), kernel_(kernel) {}
  void say(Event::Kind kind, double ms, size_t bytes) const;
  template <class Make>
  std::string compiled(const Make& make) const {
    const runtime::Stopwatch time;
    std::string code = make();
    say(Event::Kind::Compiled, time.ms(), code.size());
    return code;
  }

 private:
  const Executable::State& state_;
  size_t kernel_;
};

// The program is to run by the reference interpreter: throws UserError where that is not allowed.
void fall_back(const Machine& device, const CompileOptions& options);

}  // namespace smelt
