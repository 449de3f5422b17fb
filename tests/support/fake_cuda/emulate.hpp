// Runs the CUDA C++ that smelt prints, on the CPU: compiled by the compiler that built the tests,
// after cuda_on_host.hpp. With the driver of this folder, a machine on which whole programs run as
// they would on a GPU without clusters, slowly.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "support/fake_cuda/fake_cuda.hpp"

namespace smelt::testing {

// A library made of such a text; functions of the text are reached through what `more` adds after
// it. Throws std::runtime_error with what the compiler says.
class HostLibrary {
 public:
  // `flags` are the compiler's, not the linker's.
  explicit HostLibrary(const std::string& cuda, const std::string& more = "", int compute = 80,
                       const std::string& flags = "");
  // Runs a kernel of the text; `arguments` are the addresses of their values. Empty, or what went
  // wrong.
  using Sizes = std::array<unsigned, 3>;
  std::string launch(const std::string& name, std::vector<void*> arguments, const Sizes& grid, const Sizes& block,
                     unsigned shared_bytes) const;
  void* find(const std::string& name) const;  // nullptr: there is none
  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(find(name));
  }

 private:
  std::shared_ptr<void> handle_;
};

// Whether there is a compiler.
bool can_emulate();

// The fake GPU, as new; its kernels do what their text says. What goes
// wrong in one is in `fault` of the driver's state.
struct EmulatedMachine {
  fake_cuda::State* driver = nullptr;
  Machine machine;
};
// More of the libraries that its kernels become: text and flags, and what is called with each.
struct EmulatedCode {
  std::string more, flags;
  std::function<void(const HostLibrary&)> opened;
  int major = 8;  // of the GPU's compute capability
  int processors = 4;
};
EmulatedMachine emulated_gpu(const EmulatedCode& code = {});

}  // namespace smelt::testing
