// Memory that smelt holds: counted, up to a limit, from the system or from functions of the user.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "smelt/runtime.hpp"

namespace smelt {

// An account of one kind of memory: the host's, or that of one GPU.
class MemoryAccount {
 public:
  // Where memory came from, and where it goes back.
  using Source = std::shared_ptr<const Allocator>;
  struct Held {
    void* memory = nullptr;  // null: the source has none
    Source source;
  };

  explicit MemoryAccount(std::string name) : name_(std::move(name)) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // From the user's allocator, else from the system's. Throws UserError when it would pass the
  // limit, after what nobody uses was given up.
  Held take(int64_t bytes, size_t alignment, const Source& system);
  void give_back(const Held& held, int64_t bytes) noexcept;

  void set_allocator(Allocator allocator);  // an empty one: the system's
  bool has_allocator() const { return chosen_.load() != nullptr; }
  void set_limit(int64_t bytes) { limit_.store(bytes); }
  MemoryUse use() const { return {used_.load(), peak_.load(), limit_.load()}; }

 private:
  bool reserve(int64_t bytes);

  const std::string name_;
  std::atomic<Source> chosen_;  // the user's; null without one
  std::atomic<int64_t> used_{0}, peak_{0}, limit_{0};
};

// Never destroyed: arrays of static storage give their memory back at the end.
MemoryAccount& host_account();
// Memory of the host. Null if there is none; throws UserError when the limit would be exceeded.
std::shared_ptr<void> host_memory(int64_t bytes);

// An object that keeps memory of the host for later, and frees it when a limit is reached.
class KeepsMemory {
 public:
  KeepsMemory();
  KeepsMemory(const KeepsMemory&) = delete;
  KeepsMemory& operator=(const KeepsMemory&) = delete;
  virtual void give_up() = 0;

 protected:
  ~KeepsMemory() = default;
  void forget();  // first of all in the destructor of the class that gives up
};

}  // namespace smelt
