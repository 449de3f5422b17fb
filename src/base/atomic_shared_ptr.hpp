// A shared pointer that threads read and replace. Not std::atomic<std::shared_ptr>: in libstdc++ 12
// its load() releases the lock in it with relaxed order, so that on weakly ordered processors a
// store() may overtake the read.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace smelt {

template <class T>
class AtomicSharedPtr {
 public:
  std::shared_ptr<T> load() const {
    const std::lock_guard lock(mutex_);
    return pointer_;
  }
  // What it pointed to may be destroyed here, after the lock is released.
  void store(std::shared_ptr<T> pointer) {
    const std::lock_guard lock(mutex_);
    pointer_.swap(pointer);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<T> pointer_;
};

}  // namespace smelt
