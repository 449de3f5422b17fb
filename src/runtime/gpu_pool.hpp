// Memory of a GPU between calls: a call takes a block that is large enough and gives it back when
// its work is queued, not done. The next one in the same stream uses it at once; another stream is
// made to wait.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/gpu.hpp"

namespace smelt::runtime {

class GpuPool {
 public:
  struct Block {
    uint64_t address = 0;
    int64_t bytes = 0;  // 0: no block
    StreamHandle stream = nullptr;
    EventHandle done = nullptr;  // its last use
  };

  explicit GpuPool(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  GpuPool(const GpuPool&) = delete;
  GpuPool& operator=(const GpuPool&) = delete;
  ~GpuPool();

  // 256-byte aligned. Throws UserError when the GPU has not so much, all unused blocks given up.
  Block take(int64_t bytes, StreamHandle stream);
  // `others`: streams besides that may still have work on it queued.
  void give_back(Block block, StreamHandle stream, std::span<const StreamHandle> others = {}) noexcept;
  // What is queued in `stream` from now on waits for what is queued in `other`.
  void order(StreamHandle stream, StreamHandle other) const;
  // Frees it, once nothing on the GPU is under way any more.
  void free(const Block& block) noexcept;
  int64_t unused_bytes() const;
  void give_up();  // all unused blocks
  // Memory for an array of its own, outside of the pool; unused blocks are given up for it.
  uint64_t allocate_array(int64_t bytes);

 private:
  void discard(const Block& block) noexcept;
  void discard_all() noexcept;
  uint64_t allocate(int64_t bytes);
  int64_t unused() const;

  static constexpr size_t kMostBlocks = 64;
  static constexpr int64_t kMostUnused = int64_t{2} << 30;  // bytes, besides the last block
  std::shared_ptr<Gpu> gpu_;
  mutable std::mutex mutex_;
  std::vector<Block> blocks_;
};

// A block that goes back by itself.
class PooledBlock {
 public:
  PooledBlock() = default;
  PooledBlock(std::shared_ptr<GpuPool> pool, int64_t bytes, StreamHandle stream)
      : pool_(std::move(pool)), stream_(stream), block_(bytes > 0 ? pool_->take(bytes, stream) : GpuPool::Block()) {}
  PooledBlock(const PooledBlock&) = delete;
  PooledBlock& operator=(const PooledBlock&) = delete;
  ~PooledBlock() {
    if (block_.bytes > 0) pool_->give_back(block_, stream_);
  }
  uint64_t address() const { return block_.address; }

 private:
  std::shared_ptr<GpuPool> pool_;
  StreamHandle stream_ = nullptr;
  GpuPool::Block block_;
};

}  // namespace smelt::runtime
