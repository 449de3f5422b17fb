#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

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
  const size_t rounded = (static_cast<size_t>(bytes) + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, rounded);
  if (!memory)
    throw UserError(
        fmt::format("cannot allocate {} bytes for values between kernels: use smaller arrays or free memory", bytes));
  return {{static_cast<char*>(memory), std::free}, static_cast<int64_t>(rounded)};
}

void MemoryPool::give_back(Block block) {
  if (!block.first) return;
  const std::lock_guard lock(mutex_);
  if (blocks_.size() < kMaxBlocks) blocks_.push_back(std::move(block));
}

}  // namespace smelt
