#include "base/memory.hpp"

#include <fmt/format.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>

#include "smelt/error.hpp"

namespace smelt {

namespace {

struct Keepers {
  std::mutex mutex;
  std::set<KeepsMemory*> all;
};
Keepers& keepers() {
  static auto* one = new Keepers;
  return *one;
}

constexpr size_t kAlignment = 64, kLargePage = size_t{2} << 20;

// Memory fresh from the system costs a fault a page, and each page a place in the TLB, which
// products above all run out of; so a large array requests large pages. Where there are none,
// nothing is lost.
void* allocate(size_t bytes, size_t alignment) {
  const bool large = bytes >= kLargePage / 2;
  const size_t unit = large ? kLargePage : alignment, whole = (bytes + unit - 1) / unit * unit;
  void* memory = std::aligned_alloc(unit, whole);
#if defined(__linux__)
  if (memory && large) ::madvise(memory, whole, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace

bool MemoryAccount::reserve(int64_t bytes) {
  const int64_t now = used_.fetch_add(bytes) + bytes, limit = limit_.load();
  if (limit > 0 && now > limit) {
    used_.fetch_sub(bytes);
    return false;
  }
  int64_t peak = peak_.load();
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
  return true;
}

MemoryAccount::Held MemoryAccount::take(int64_t bytes, size_t alignment, const Source& system) {
  if (!reserve(bytes)) {
    if (this == &host_account()) {
      Keepers& all = keepers();
      const std::lock_guard lock(all.mutex);
      for (KeepsMemory* keeper : all.all) keeper->give_up();
    }
    if (!reserve(bytes))
      throw UserError(
          fmt::format("{} more bytes would pass the limit of {} bytes for memory of {}, of which {} are in use\n"
                      "help: use smaller arrays, free some, or raise set_memory_limit()",
                      bytes, limit_.load(), name_, used_.load()));
  }
  Held held{nullptr, chosen_.load()};
  if (!held.source) held.source = system;
  try {
    held.memory = held.source->allocate(static_cast<size_t>(bytes), alignment);
  } catch (...) {
    used_.fetch_sub(bytes);
    throw;
  }
  if (!held.memory) used_.fetch_sub(bytes);
  return held;
}

void MemoryAccount::give_back(const Held& held, int64_t bytes) noexcept {
  held.source->deallocate(held.memory, static_cast<size_t>(bytes));
  used_.fetch_sub(bytes);
}

void MemoryAccount::set_allocator(Allocator allocator) {
  if (!allocator.allocate != !allocator.deallocate)
    throw UserError(
        "set_allocator(): an allocator has both functions, allocate and deallocate\nhelp: give both, or none");
  chosen_.store(allocator.allocate ? std::make_shared<const Allocator>(std::move(allocator)) : nullptr);
}

MemoryAccount& host_account() {
  static auto* account = new MemoryAccount("the host");
  return *account;
}

std::shared_ptr<void> host_memory(int64_t bytes) {
  static const auto* system =
      new MemoryAccount::Source(new Allocator{allocate, [](void* memory, size_t) { std::free(memory); }});
  const int64_t rounded = std::max<int64_t>(bytes, 1);
  MemoryAccount::Held held = host_account().take(rounded, kAlignment, *system);
  if (!held.memory) return nullptr;
  void* memory = held.memory;
  return {memory, [held = std::move(held), rounded](void*) { host_account().give_back(held, rounded); }};
}

KeepsMemory::KeepsMemory() {
  Keepers& all = keepers();
  const std::lock_guard lock(all.mutex);
  all.all.insert(this);
}

void KeepsMemory::forget() {
  Keepers& all = keepers();
  const std::lock_guard lock(all.mutex);
  all.all.erase(this);
}

}  // namespace smelt
