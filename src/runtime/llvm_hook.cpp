#include "runtime/llvm_hook.hpp"

#include <mutex>

#include "smelt/error.hpp"

namespace smelt {

namespace {

struct Chosen {
  std::mutex mutex;
  std::shared_ptr<const LlvmCompiler> compiler;
};

Chosen& chosen() {
  static auto* const found = new Chosen;  // for calls from destructors of other statics
  return *found;
}

}  // namespace

void set_llvm_compiler(LlvmCompiler compiler) {
  std::shared_ptr<const LlvmCompiler> kept;
  if (!compiler.name.empty()) {
    if (!compiler.path || !compiler.target || !compiler.compile)
      throw UserError("set_llvm_compiler(): " + compiler.name +
                      " lacks a function\nhelp: path, target and compile are needed");
    kept = std::make_shared<const LlvmCompiler>(std::move(compiler));
  }
  const std::lock_guard lock(chosen().mutex);
  chosen().compiler.swap(kept);
}

std::shared_ptr<const LlvmCompiler> runtime::llvm::compiler_of_user() {
  const std::lock_guard lock(chosen().mutex);
  return chosen().compiler;
}

}  // namespace smelt
