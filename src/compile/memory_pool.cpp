#include <fmt/format.h>

#include <algorithm>

#include "compile/state.hpp"
#include "smelt/error.hpp"

namespace smelt {

MemoryPool::Block MemoryPool::take(int64_t bytes) {
  if (bytes == 0) return {};
  {
    const std::lock_guard lock(mutex_);
    const auto fits = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.second >= bytes; });
    if (fits != blocks_.end()) {
      Block block = std::move(*fits);
      blocks_.erase(fits);
      return block;
    }
    // Calls have grown: the smaller blocks would never be used again.
    blocks_.clear();
  }
  const std::shared_ptr<void> memory = host_memory(bytes);
  if (!memory)
    throw UserError(
        fmt::format("cannot allocate {} bytes for values between kernels: use smaller arrays or free memory", bytes));
  return {std::shared_ptr<char>(memory, static_cast<char*>(memory.get())), bytes};
}

void MemoryPool::give_up() {
  const std::lock_guard lock(mutex_);
  blocks_.clear();
}

void MemoryPool::give_back(Block block) {
  if (!block.first) return;
  const std::lock_guard lock(mutex_);
  if (blocks_.size() < kMaxBlocks) blocks_.push_back(std::move(block));
}

// The system's allocator serves smaller ones as fast.
static constexpr int64_t kLeastKept = 256 << 10;

Tensor OutputPool::take(DType dtype, const Dims& dims, int64_t call_bytes) {
  Tensor tensor{{dtype, dims, contiguous_strides(dims), nullptr}, nullptr};
  const int64_t bytes = tensor.bytes();
  if (bytes < kLeastKept) return Tensor::empty(dtype, dims);
  std::shared_ptr<void> memory;
  int64_t length = bytes;
  {
    const std::lock_guard lock(mutex_);
    call_bytes_ = call_bytes;
    auto best = free_.end();  // the smallest that is large enough, and not twice as large
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->second >= bytes && it->second < 2 * bytes && (best == free_.end() || it->second < best->second))
        best = it;
    if (best != free_.end()) {
      memory = std::move(best->first);
      length = best->second;
      free_bytes_ -= length;
      free_.erase(best);
    } else if (free_bytes_ + bytes > call_bytes) {
      // Sizes have changed, and what is kept would not be used again.
      free_.clear();
      free_bytes_ = 0;
    }
  }
  if (!memory) memory = Tensor::empty(dtype, dims).memory;
  tensor.data = memory.get();
  // The last owner gives it back, as long as the executable is there.
  tensor.memory = std::shared_ptr<void>(tensor.data, [pool = weak_from_this(), memory, length](void*) mutable {
    if (const std::shared_ptr<OutputPool> there = pool.lock()) there->give_back(std::move(memory), length);
  });
  return tensor;
}

void OutputPool::give_up() {
  const std::lock_guard lock(mutex_);
  free_.clear();
  free_bytes_ = 0;
}

void OutputPool::give_back(std::shared_ptr<void> memory, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (free_bytes_ + bytes > call_bytes_) return;
  free_.emplace_back(std::move(memory), bytes);
  free_bytes_ += bytes;
}

}  // namespace smelt
