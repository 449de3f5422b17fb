#include <fmt/format.h>

#include <cstdlib>

#include "compile/calibration_file.hpp"
#include "compile/gpu_copy.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/gpu_pool.hpp"
#include "runtime/opencl.hpp"

namespace smelt {
namespace {

// By the vendor's data sheets: of H200, A100, RTX 3090, RTX 4090, T4, B200, RTX 5090.
double typical_memory_gbs(int compute) {
  switch (compute) {
    case 90: return 4917;
    case 80: return 2039;
    case 86: return 936;
    case 89: return 1008;
    case 75: return 320;
    case 100: return 8000;
    case 120: return 1792;
    default: return 0;
  }
}

// What GPUs of an architecture have where there is none to ask. A kernel built for them runs on
// every member of the family.
runtime::GpuFacts typical_facts(int compute) {
  runtime::GpuFacts facts;
  facts.name = fmt::format("a GPU of compute capability {}.{}", compute / 10, compute % 10);
  facts.compute = compute;
  facts.processors = compute >= 90 ? 132 : compute >= 80 ? 108 : 72;
  facts.threads_per_processor = compute >= 90 || compute == 80 ? 2048 : compute == 75 ? 1024 : 1536;
  facts.registers_per_processor = 65536;
  const bool large = compute == 90 || compute == 100 || compute == 103;  // data centres; the others have less
  const int64_t shared_kb = large ? 227 : compute == 80 || compute == 87 ? 163 : compute == 75 ? 64 : 99;
  facts.shared_bytes_per_workgroup = shared_kb << 10;
  facts.shared_bytes_per_processor = (compute == 75 ? shared_kb : shared_kb + 1) << 10;
  facts.l2_bytes = 40 << 20;
  facts.memory_gbs = typical_memory_gbs(compute);
  facts.memory_bytes = int64_t{40} << 30;
  facts.clusters = compute >= 90;
  return facts;
}

// Adds the caches of programs, memory, copies and what was measured to an opened device.
void add_memory(Machine& device) {
  device.cache = runtime::DiskCache::of_user();
  device.pool = std::make_shared<runtime::GpuPool>(device.gpu);
  device.copier = std::make_shared<GpuCopier>(device.gpu_facts.compute);
  device.measured = kept_calibration(device).calibration;
}

}  // namespace

Machine Machine::cpu() {
  Machine device;
  device.facts = runtime::read_cpu_facts();
  device.cache = runtime::DiskCache::of_user();
  device.llvm = runtime::Llvm::open(device.missing, device.cache.get());
#if defined(__x86_64__)
  if (const char* chosen = std::getenv("SMELT_CPU")) device.level = chosen;
#endif
  device.measured = kept_calibration(device).calibration;
  return device;
}

Machine Machine::cpu_level(const std::string& level) {
  Machine device;
  device.level = level;
  device.facts = runtime::cpu_facts_for(level);
  device.cache = runtime::DiskCache::of_user();
  device.llvm = runtime::Llvm::open_for(level, device.missing, device.cache.get());
  return device;
}

Machine Machine::cuda(int ordinal) {
  Machine device;
  device.name = ordinal == 0 ? "cuda" : fmt::format("cuda:{}", ordinal);
  device.is_gpu = true;
  device.facts = runtime::read_cpu_facts();
  device.gpu = runtime::Gpu::open(ordinal, device.missing);
  if (!device.gpu) return device;
  device.gpu_facts = device.gpu->facts();
  std::string why;
  device.nvrtc = runtime::Nvrtc::open(why, device.gpu_facts.driver / 1000);
  if (device.gpu_facts.compute < 75) {
    why = fmt::format("{} has compute capability {}.{}; smelt supports 7.5 and newer", device.gpu_facts.name,
                      device.gpu_facts.compute / 10, device.gpu_facts.compute % 10);
    device.nvrtc = nullptr;
  } else if (device.nvrtc && !device.nvrtc->supports(device.gpu_facts.compute, why)) {
    device.nvrtc = nullptr;
  }
  if (!device.nvrtc) device.missing = why;
  add_memory(device);
  return device;
}

Machine Machine::cuda_architecture(int compute) {
  Machine device;
  device.name = fmt::format("sm_{}", compute);
  device.is_gpu = true;
  device.facts = runtime::read_cpu_facts();
  device.gpu_facts = typical_facts(compute);
  device.nvrtc = runtime::Nvrtc::open(device.missing);
  if (device.nvrtc && !device.nvrtc->supports(compute, device.missing)) device.nvrtc = nullptr;
  device.cache = runtime::DiskCache::of_user();
  return device;
}

Machine Machine::opencl_device(int ordinal) {
  Machine device;
  device.name = ordinal == 0 ? "opencl" : fmt::format("opencl:{}", ordinal);
  device.is_gpu = true;
  device.facts = runtime::read_cpu_facts();
  device.opencl = runtime::OpenCl::open(ordinal, device.missing);
  if (!device.opencl) return device;
  device.gpu = device.opencl;
  device.gpu_facts = device.gpu->facts();
  add_memory(device);
  return device;
}

Machine Machine::best() {
  Machine device = cuda();
  return device.gpu && device.nvrtc ? device : cpu();
}

}  // namespace smelt
