// Allocators and limits, by device.
#include "base/memory.hpp"

#include <fmt/format.h>

#include "api/node.hpp"
#include "runtime/gpu_pool.hpp"

namespace smelt {

static MemoryAccount& account_of(const Device& device, const char* what) {
  const Machine& machine = detail::machine_of(device);
  if (!machine.is_gpu) return host_account();
  if (machine.opencl || !machine.gpu)
    throw UserError(
        fmt::format("{}: smelt does not count the memory of {}{}{}\nhelp: of Device::cpu() and of CUDA GPUs", what,
                    device.name(), machine.gpu ? "" : ", which cannot be used: ", device.missing()));
  return runtime::gpu_account(machine.gpu_facts.ordinal);
}

void set_allocator(const Device& device, Allocator allocator) {
  MemoryAccount& account = account_of(device, "set_allocator()");
  if (const auto& pool = detail::machine_of(device).pool) pool->give_up();  // memory of the allocator before
  account.set_allocator(std::move(allocator));
}

void set_memory_limit(const Device& device, int64_t bytes) {
  if (bytes < 0)
    throw UserError(fmt::format("set_memory_limit(): {} bytes are less than none\nhelp: 0 is no limit", bytes));
  account_of(device, "set_memory_limit()").set_limit(bytes);
}

MemoryUse memory_use(const Device& device) { return account_of(device, "memory_use()").use(); }

}  // namespace smelt
