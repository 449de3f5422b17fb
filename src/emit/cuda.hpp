// Prints a Kernel as CUDA C++ for NVRTC: no header, nothing but the language and its built-in functions.
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::emit {

struct CudaTarget {
  int compute = 90;    // compute capability: 75, 80, 90, 100
  int nvrtc = 999999;  // its version: 12010
  // Stores into the shared memory of other workgroups that count themselves at a barrier there (PTX 8.1).
  bool counted_stores() const { return compute >= 90 && nvrtc >= 12010; }
};

// One __global__ function. Its parameters are the kernel's params in their order: a pointer into device memory for every array, the
// value itself for a Scalar, a 64-bit integer for a Size.
struct CudaFunction {
  std::string name;
  int threads = 1;           // of a workgroup
  int iterations = 1;        // of the phase's Grid loop that one workgroup runs
  int cluster = 1;           // workgroups that run one iteration together
  IntExpr shared_bytes = 0;  // dynamic shared memory of a workgroup, over the Size params
};

// The one argument of a batch's function: a table with a row for each part, in this order and without gaps.
//
//   u64 common[commons]             what all parts have in common
//   u64 words[capacity * words]     per part: addresses, numbers and sizes
//   u32 first[capacity]             per part: workgroups before it; ascending, every part has one or more
//   u32 count, shift                parts; `near` has an entry for each 2^shift workgroups
//   u16 near[kNear + 1]             the part with workgroup n << shift; behind the last workgroup, the last part
//   u8 body[capacity]               per part
struct CudaTable {
  static constexpr int kNear = 64;
  int capacity = 0, words = 0, commons = 0;
  int64_t words_at() const { return int64_t{8} * commons; }
  int64_t first_at() const { return words_at() + int64_t{8} * capacity * words; }
  int64_t count_at() const { return first_at() + int64_t{4} * capacity; }
  int64_t near_at() const { return count_at() + 8; }
  int64_t body_at() const { return near_at() + 2 * (kNear + 1); }
  int64_t bytes() const { return (body_at() + capacity + 7) / 8 * 8; }
  // Per body and param: its word, or -1 - its common word; kNowhere for what the function does not need.
  static constexpr int kNowhere = 1 << 30;
  std::vector<std::vector<int>> place;
};

// May be launched when every expression of `when` is >= 0 for the sizes of the call, and the address of every array is a multiple of
// its entry in `alignment` (per param; 0 for what is no array).
struct CudaVariant {
  CudaFunction function;
  std::vector<IntExpr> when;
  std::vector<int> alignment;
  // A batch: none of the above but the function, and for every body what this variant asks of a part.
  std::vector<CudaVariant> bodies = {};
};

// The best first; the last takes every size and address.
struct CudaPhase {
  std::vector<CudaVariant> variants;
};

struct CudaSource {
  std::string text;
  std::vector<CudaPhase> phases;
  CudaTable table;  // of a batch
};

CudaSource emit_cuda(const kernel::Kernel& kernel, const CudaTarget& target);
// Of a batch; the variants take parts, not sizes: which one a part may run in, `bodies` says. `table_bytes`: that an argument may have.
CudaSource emit_cuda_batch(const kernel::Kernel& batch, const CudaTarget& target, int64_t table_bytes);

}  // namespace smelt::emit
