#include "smelt/handle.hpp"

#include <atomic>

#include "smelt/callable.hpp"
#include "smelt/error.hpp"

namespace smelt::detail {

Shared::~Shared() = default;

void retain(Shared* shared) noexcept { std::atomic_ref(shared->handles).fetch_add(1, std::memory_order_relaxed); }

void release(Shared* shared) noexcept {
  if (std::atomic_ref(shared->handles).fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared;
}

void throw_empty_call() {
  throw UserError("a Callable without a function was called\nhelp: test it first: if (f) f()");
}

}  // namespace smelt::detail
