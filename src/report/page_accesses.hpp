// Which addresses the lanes of a warp, or of a vector, access together, worked out from the index
// expressions of a kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.hpp"

namespace smelt::report {

enum class AccessPattern : uint8_t { Contiguous, Broadcast, Strided, Irregular, Unknown };
std::string_view name_of(AccessPattern pattern);

// One access of a kernel: all lanes at once, of a GPU a warp of 32, of a CPU the lanes of one
// vector.
struct AccessRow {
  size_t phase = 0;
  std::string array;  // "in0"
  NodeId value = -1;  // that it holds; -1: memory between phases
  bool stored = false;
  std::string index;  // "in0[%g, %i]"
  AccessPattern pattern = AccessPattern::Unknown;
  int element_bytes = 0;         // of the array
  int lane_bytes = 0;            // that one lane moves at once
  int64_t stride_bytes = 0;      // Strided: from a lane to the next
  std::vector<int64_t> offsets;  // bytes from the start of the array, per lane; -1: the lane does nothing
  int64_t sectors = 0, ideal_sectors = 0, lines = 0;  // of the lanes shown
  double executions = 0;     // of all warps, or vectors, of the launch, that have a lane that does something
  double total_sectors = 0;  // of these
  bool sampled = false;      // some were looked at for all, and they differ
  bool conditional = false;  // under a condition that is not known: the executions are the most that there can be
  bool atomic = false;
};

// An element of an input, for indices that the data gives; nothing where it is not known.
using ElementOf = std::function<std::optional<Scalar>(NodeId value, const Dims& index)>;

inline constexpr int kWarp = 32;
inline constexpr int64_t kSectorBytes = 32, kGpuLineBytes = 128, kCpuLineBytes = 64;

// The accesses of a launch of this kernel. On a CPU a sector is a cache line. A few executions are
// all counted, many are sampled; fewer with a larger `saved_effort`.
std::vector<AccessRow> accesses_of(const kernel::Kernel& kernel, const KernelLaunch& launch, bool gpu,
                                   const ElementOf& element, int saved_effort = 1);

}  // namespace smelt::report
