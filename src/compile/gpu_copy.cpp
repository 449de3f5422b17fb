#include "compile/gpu_copy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/disk_cache.hpp"
#include "runtime/opencl.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

constexpr size_t kMostDims = 32;
constexpr int kThreads = 256;

// One thread an element; neighbours in the order of the destination. Not tuned: the way round it is
// to give row-major arrays.
constexpr const char* kSource = R"(
struct Layout { long long count, rank, dims[32], to[32], from[32]; };
template <class T>
__device__ void copy_elements(T* to, const T* from, const Layout& l) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < l.count; i += step) {
    long long rest = i, out = 0, in = 0;
    for (int d = (int)l.rank - 1; d >= 0; --d) {
      const long long index = rest % l.dims[d];
      rest /= l.dims[d];
      out += index * l.to[d];
      in += index * l.from[d];
    }
    to[out] = from[in];
  }
}
extern "C" __global__ void copy_1(unsigned char* to, const unsigned char* from, Layout l) { copy_elements(to, from, l); }
extern "C" __global__ void copy_2(unsigned short* to, const unsigned short* from, Layout l) { copy_elements(to, from, l); }
extern "C" __global__ void copy_4(unsigned int* to, const unsigned int* from, Layout l) { copy_elements(to, from, l); }
extern "C" __global__ void copy_8(unsigned long long* to, const unsigned long long* from, Layout l) { copy_elements(to, from, l); }
)";

// The same for OpenCL.
constexpr const char* kOpenClSource = R"(
typedef struct { long count, rank, dims[32], to[32], from[32]; } Layout;
#define COPY(name, T)                                                                                           \
  __kernel void name(__global T* to_, long to_at, __global const T* from_, long from_at, const Layout l,        \
                     __local uchar* scratch) {                                                                  \
    __global T* to = (__global T*)((__global uchar*)to_ + to_at);                                               \
    __global const T* from = (__global const T*)((__global const uchar*)from_ + from_at);                       \
    for (long i = get_global_id(0); i < l.count; i += get_global_size(0)) {                                     \
      long rest = i, out = 0, in = 0;                                                                           \
      for (int d = (int)l.rank - 1; d >= 0; --d) {                                                              \
        const long index = rest % l.dims[d];                                                                    \
        rest /= l.dims[d];                                                                                      \
        out += index * l.to[d];                                                                                 \
        in += index * l.from[d];                                                                                \
      }                                                                                                         \
      to[out] = from[in];                                                                                       \
    }                                                                                                           \
  }
COPY(copy_1, uchar)
COPY(copy_2, ushort)
COPY(copy_4, uint)
COPY(copy_8, ulong)
)";

// Dimensions that both arrays step through as one become one; those of size 1 go.
struct Layout {
  std::vector<int64_t> dims, to, from;
};
Layout merge(const TensorView& from, const TensorView& to) {
  Layout layout;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const int64_t size = from.dims[d];
    if (size == 1) continue;
    if (!layout.dims.empty() && layout.to.back() == to.strides[d] * size &&
        layout.from.back() == from.strides[d] * size) {
      layout.dims.back() *= size;
      layout.to.back() = to.strides[d];
      layout.from.back() = from.strides[d];
      continue;
    }
    layout.dims.push_back(size);
    layout.to.push_back(to.strides[d]);
    layout.from.push_back(from.strides[d]);
  }
  return layout;
}

}  // namespace

std::string GpuCopier::code(const Machine& device, int compute) {
  const auto make = [&] {
    return device.opencl ? device.opencl->build(kOpenClSource) : device.nvrtc->compile(kSource, compute);
  };
  const std::string key = gpu_cache_key(device, {}, device.opencl ? kOpenClSource : kSource);
  return device.cache ? device.cache->get(key, make) : make();
}

runtime::FunctionHandle GpuCopier::function(const Machine& device, int element_bytes) {
  const std::lock_guard lock(mutex_);
  if (!module_) module_ = device.gpu->load(code(device, compute_));
  return module_->function(fmt::format("copy_{}", element_bytes), {0, 0, (2 + 3 * static_cast<int>(kMostDims)) * 8});
}

GpuStep GpuCopier::step(const Machine& device, const TensorView& from, const TensorView& to) {
  const Layout layout = merge(from, to);
  if (layout.dims.size() > kMostDims)
    throw UserError(
        fmt::format("an array with strides has {} dimensions that do not run together, and at most {} can be "
                    "copied on a GPU\nhelp: make it row-major",
                    layout.dims.size(), kMostDims));
  const int64_t count = from.count();
  GpuStep step;
  step.function = function(device, size_of(from.dtype));
  step.shape.threads = kThreads;
  step.shape.workgroups = std::clamp<int64_t>((count + kThreads - 1) / kThreads, 1, 1 << 20);
  step.values.assign(2 + 2 + 3 * kMostDims, 0);
  step.values[0] = reinterpret_cast<uint64_t>(to.data);
  step.values[1] = reinterpret_cast<uint64_t>(from.data);
  step.values[2] = static_cast<uint64_t>(count);
  step.values[3] = layout.dims.size();
  for (size_t d = 0; d < layout.dims.size(); ++d) {
    step.values[4 + d] = static_cast<uint64_t>(layout.dims[d]);
    step.values[4 + kMostDims + d] = static_cast<uint64_t>(layout.to[d]);
    step.values[4 + 2 * kMostDims + d] = static_cast<uint64_t>(layout.from[d]);
  }
  step.arguments = {&step.values[0], &step.values[1], &step.values[2]};
  return step;
}

}  // namespace smelt
