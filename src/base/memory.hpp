// Memory that smelt holds: counted, up to a limit, from the system or from functions of the user.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "smelt/runtime.hpp"

namespace smelt {

// Of one kind of memory: the host's, or that of one GPU.
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
// Of the host. Null where there is none; throws UserError when the limit would be passed.
std::shared_ptr<void> host_memory(int64_t bytes);

// Something that keeps memory of the host for later: asked to give it up when a limit is met.
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
