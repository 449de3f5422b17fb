#include "runtime/gpu_pool.hpp"

#include <algorithm>

#include "smelt/error.hpp"

namespace smelt::runtime {

namespace {

constexpr int64_t kGranularity = 2 << 20;

// Blocks are not much larger than asked for, so that none lies idle while memory runs out.
bool fits(const GpuPool::Block& block, int64_t bytes) {
  return block.bytes >= bytes && block.bytes <= 2 * bytes + kGranularity;
}

}  // namespace

GpuPool::~GpuPool() { discard_all(); }

// Memory is not freed while work on it is queued.
void GpuPool::discard(const Block& block) noexcept {
  try {
    if (block.done) gpu_->synchronize_event(block.done);
  } catch (const std::exception&) {
    // The GPU is lost; so is the work.
  }
  gpu_->release(block.address);
  if (block.done) gpu_->destroy_event(block.done);
}

uint64_t GpuPool::allocate(int64_t bytes) {
  try {
    return gpu_->allocate(bytes);
  } catch (const UserError&) {
    if (blocks_.empty()) throw;
  }
  discard_all();
  return gpu_->allocate(bytes);
}

void GpuPool::discard_all() noexcept {
  for (const Block& block : blocks_) discard(block);
  blocks_.clear();
}

void GpuPool::give_up() {
  const std::lock_guard lock(mutex_);
  discard_all();
}

uint64_t GpuPool::allocate_array(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  return allocate(bytes);
}

GpuPool::Block GpuPool::take(int64_t bytes, StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  auto best = blocks_.end();
  for (auto it = blocks_.begin(); it != blocks_.end(); ++it) {
    if (!fits(*it, bytes)) continue;
    const bool better = best == blocks_.end() || (it->stream == stream) > (best->stream == stream) ||
                        ((it->stream == stream) == (best->stream == stream) && it->bytes < best->bytes);
    if (better) best = it;
  }
  if (best != blocks_.end()) {
    const Block block = *best;
    blocks_.erase(best);
    // Another stream may have the name of one that is gone; smelt's own stays.
    if (block.stream != stream || stream != gpu_->stream()) gpu_->wait(stream, block.done);
    return block;
  }
  Block block;
  block.bytes = (bytes + 255) / 256 * 256;
  if (block.bytes > kGranularity) block.bytes = (bytes + kGranularity - 1) / kGranularity * kGranularity;
  block.address = allocate(block.bytes);
  return block;
}

void GpuPool::give_back(Block block, StreamHandle stream, std::span<const StreamHandle> others) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    block.stream = stream;
    if (!block.done) block.done = gpu_->create_event(false);
    for (const StreamHandle other : others) {
      gpu_->record(block.done, other);
      gpu_->wait(stream, block.done);
    }
    gpu_->record(block.done, stream);
    blocks_.push_back(block);
    while (blocks_.size() > kMostBlocks || (blocks_.size() > 1 && unused() > kMostUnused)) {
      discard(blocks_.front());
      blocks_.erase(blocks_.begin());
    }
  } catch (const std::exception&) {
    discard(block);
  }
}

void GpuPool::order(StreamHandle stream, StreamHandle other) const {
  const EventHandle made = gpu_->create_event(false);
  gpu_->record(made, other);
  gpu_->wait(stream, made);
  gpu_->destroy_event(made);
}

void GpuPool::free(const Block& block) noexcept {
  const std::lock_guard lock(mutex_);
  discard(block);
}

int64_t GpuPool::unused_bytes() const {
  const std::lock_guard lock(mutex_);
  return unused();
}

int64_t GpuPool::unused() const {
  int64_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes;
  return bytes;
}

}  // namespace smelt::runtime
