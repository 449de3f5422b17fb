// smelt devices: what is found on this machine, and what is missing.
#include <fmt/format.h>

#include <algorithm>

#include "arguments.hpp"
#include "compile/calibration_file.hpp"
#include "progress.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

constexpr int64_t kCopyBytes = 256 << 20, kGpuCopyBytes = 1 << 30;

// Bytes read and written per second by a copy that is far larger than the caches, where the memory
// allows that.
double measure_copy_gbs(const Machine& device, int threads) {
  const int64_t bytes = std::min(std::max(kCopyBytes, 4 * device.facts.l3_bytes),
                                 std::max<int64_t>(device.facts.memory_bytes / 8, 1 << 20));
  const double seconds = runtime::measure_copy_seconds(bytes, threads, 7);
  return seconds > 0 ? 2 * static_cast<double>(bytes) / seconds * 1e-9 : 0;
}

// Whether the cost model knows more of a device than what is built in.
std::string calibrated_text(const Machine& device) {
  const KeptCalibration kept = kept_calibration(device);
  if (kept.calibration) return kept.measured;
  return kept.ignored.empty() ? "no" : fmt::format("no: what was measured is not used, {}", kept.ignored);
}

nlohmann::ordered_json calibrated_json(const Machine& device) {
  const KeptCalibration kept = kept_calibration(device);
  nlohmann::ordered_json json = {{"used", kept.calibration != nullptr}};
  if (kept.calibration) json["measured"] = kept.measured;
  if (!kept.ignored.empty()) json["ignored"] = kept.ignored;
  return json;
}

std::string text_of(const Machine& device, int threads, double copy_gbs, const report::Style& style) {
  const runtime::CpuFacts& f = device.facts;
  report::Table table({{"", report::Align::Left}, {"", report::Align::Left}});
  table.add({"processor", f.name});
  table.add({"vectors", fmt::format("{} ({} bits)", f.isa, f.vector_bits)});
  table.add({"threads", fmt::format("{}", f.threads)});
  table.add({"caches", fmt::format("L1 {}, L2 {} per core, L3 {}", report::format_memory(f.l1_bytes),
                                   report::format_memory(f.l2_bytes), report::format_memory(f.l3_bytes))});
  table.add({"memory", report::format_memory(f.memory_bytes)});
  table.add({"copy", fmt::format("{} GB/s read and written, {} thread{}", report::format_significant(copy_gbs), threads,
                                 threads == 1 ? "" : "s")});
  table.add({"calibrated", calibrated_text(device)});
  if (device.llvm) {
    table.add({"LLVM", fmt::format("{}, {}", device.llvm->version_text(), device.llvm->path())});
    table.add({"target", fmt::format("{}, {}", device.llvm->triple(), device.llvm->cpu_name())});
  }
  std::string out = style.bold("cpu") + "\n" + table.str(2);
  if (!device.llvm) out += fmt::format("  {} {}\n", style.bad("LLVM is missing:"), device.missing);
  return out;
}

struct GpuView {
  Machine device;
  double copy_gbs = 0;
};

// All GPUs of a kind, or one device that says what is missing.
std::vector<GpuView> look_at_gpus(Machine (*device)(int)) {
  std::vector<GpuView> gpus;
  for (int ordinal = 0;; ++ordinal) {
    GpuView view{device(ordinal)};
    if (!view.device.gpu && ordinal > 0) return gpus;
    if (view.device.gpu) {
      runtime::Gpu& gpu = *view.device.gpu;
      const int64_t wanted = gpu.facts().is_processor ? kCopyBytes : kGpuCopyBytes;
      const int64_t bytes = std::min(std::max<int64_t>(wanted, 8 * gpu.facts().l2_bytes), gpu.free_bytes() / 4);
      const double seconds = runtime::measure_copy_seconds(gpu, bytes / 256 * 256, 15);
      view.copy_gbs = seconds > 0 ? 2 * static_cast<double>(bytes) / seconds * 1e-9 : 0;
    }
    gpus.push_back(view);
    if (!view.device.gpu) return gpus;
  }
}

std::string version_text(int cuda) { return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10); }

std::string text_of(const GpuView& view, const report::Style& style) {
  const Machine& device = view.device;
  std::string out = style.bold(device.name) + "\n";
  if (device.opencl) {
    const runtime::GpuFacts& f = device.gpu_facts;
    report::Table table({{"", report::Align::Left}, {"", report::Align::Left}});
    table.add({"device", f.name});
    table.add({"compute units", fmt::format("{}, workgroups of up to {}", f.processors, f.threads_per_workgroup)});
    table.add({"caches", fmt::format("{}, local memory {} per workgroup", report::format_memory(f.l2_bytes),
                                     report::format_memory(f.shared_bytes_per_workgroup))});
    table.add({"memory", report::format_memory(f.memory_bytes)});
    table.add({"copy", fmt::format("{} GB/s read and written", report::format_significant(view.copy_gbs))});
    table.add({"lacks", f.f64 && f.atomics64 ? "nothing that programs need"
                        : f.f64              ? "atomic operations on 64 bits"
                                             : "f64"});
    if (!f.is_processor) table.add({"calibrated", calibrated_text(device)});
    table.add({"library", device.gpu->driver_path()});
    return out + table.str(2);
  }
  if (device.gpu) {
    const runtime::GpuFacts& f = device.gpu_facts;
    report::Table table({{"", report::Align::Left}, {"", report::Align::Left}});
    table.add({"GPU", fmt::format("{}, compute capability {}.{}", f.name, f.compute / 10, f.compute % 10)});
    table.add({"multiprocessors", fmt::format("{}", f.processors)});
    table.add({"caches", fmt::format("L2 {}, shared memory {} per workgroup", report::format_memory(f.l2_bytes),
                                     report::format_memory(f.shared_bytes_per_workgroup))});
    table.add({"memory", report::format_memory(f.memory_bytes)});
    table.add({"copy", fmt::format("{} GB/s read and written", report::format_significant(view.copy_gbs))});
    table.add({"calibrated", calibrated_text(device)});
    table.add({"driver", fmt::format("CUDA {}, {}", version_text(f.driver), device.gpu->driver_path())});
    if (device.nvrtc) table.add({"NVRTC", fmt::format("{}, {}", device.nvrtc->version_text(), device.nvrtc->path())});
    out += table.str(2);
    if (!device.nvrtc) out += fmt::format("  {} {}\n", style.bad("NVRTC is missing:"), device.missing);
    return out;
  }
  return out + fmt::format("  {}\n", device.missing);
}

nlohmann::ordered_json json_of(const GpuView& view) {
  const Machine& device = view.device;
  nlohmann::ordered_json out = {{"name", device.name}, {"available", device.compiles()}};
  if (!device.missing.empty()) out["missing"] = device.missing;
  if (!device.gpu) return out;
  const runtime::GpuFacts& f = device.gpu_facts;
  out["gpu"] = f.name;
  if (!f.is_processor) out["calibration"] = calibrated_json(device);
  if (device.opencl) {
    out["compute_units"] = f.processors;
    out["local_bytes"] = f.shared_bytes_per_workgroup;
    out["memory_bytes"] = f.memory_bytes;
    out["copy_gbs"] = view.copy_gbs;
    out["f64"] = f.f64;
    out["driver"] = {{"path", device.gpu->driver_path()}};
    return out;
  }
  out["compute"] = fmt::format("{}.{}", f.compute / 10, f.compute % 10);
  out["multiprocessors"] = f.processors;
  out["l2_bytes"] = f.l2_bytes;
  out["shared_bytes"] = f.shared_bytes_per_workgroup;
  out["memory_bytes"] = f.memory_bytes;
  out["copy_gbs"] = view.copy_gbs;
  out["driver"] = {{"version", version_text(f.driver)}, {"path", device.gpu->driver_path()}};
  nlohmann::ordered_json nvrtc = {{"available", device.nvrtc != nullptr}};
  if (device.nvrtc) {
    nvrtc["version"] = device.nvrtc->version_text();
    nvrtc["path"] = device.nvrtc->path();
  }
  out["nvrtc"] = nvrtc;
  return out;
}

nlohmann::ordered_json json_of(const Machine& device, int threads, double copy_gbs) {
  using nlohmann::ordered_json;
  const runtime::CpuFacts& f = device.facts;
  ordered_json llvm = {{"available", device.llvm != nullptr}};
  if (device.llvm) {
    llvm["version"] = device.llvm->version_text();
    llvm["path"] = device.llvm->path();
    llvm["triple"] = device.llvm->triple();
    llvm["cpu"] = device.llvm->cpu_name();
  } else {
    llvm["missing"] = device.missing;
  }
  const ordered_json cpu = {{"name", device.name},
                            {"available", true},
                            {"processor", f.name},
                            {"isa", f.isa},
                            {"vector_bits", f.vector_bits},
                            {"threads", f.threads},
                            {"l1_bytes", f.l1_bytes},
                            {"l2_bytes", f.l2_bytes},
                            {"l3_bytes", f.l3_bytes},
                            {"memory_bytes", f.memory_bytes},
                            {"copy_gbs", copy_gbs},
                            {"copy_threads", threads},
                            {"calibration", calibrated_json(device)},
                            {"llvm", llvm}};
  return cpu;
}

}  // namespace

int run_devices(const DevicesOptions& devices_options) {
  if (devices_options.calibrate && devices_options.forget)
    throw UserError("--calibrate and --forget exclude each other\nhelp: leave one of them out");
  if (devices_options.calibrate || devices_options.forget) return run_calibrate(devices_options);
  if (!devices_options.named.empty())
    throw UserError(
        fmt::format("\"{}\": a device is named for --calibrate or --forget alone\n"
                    "help: smelt devices --calibrate {}",
                    report::printable(devices_options.named, 40), "cpu"));
  const CommonOptions& options = devices_options.common;
  const Output output(options);
  const Machine device = Machine::cpu();
  const int threads = thread_count(options, device);
  auto progress = std::make_unique<Progress>(options);
  progress->stage("measuring the copy bandwidth");
  const double copy_gbs = measure_copy_gbs(device, threads);
  std::vector<GpuView> gpus = look_at_gpus(Machine::cuda);
  for (GpuView& device : look_at_gpus(Machine::opencl_device)) gpus.push_back(std::move(device));
  progress.reset();
  std::string text = text_of(device, threads, copy_gbs, output.style());
  nlohmann::ordered_json devices = nlohmann::ordered_json::array({json_of(device, threads, copy_gbs)});
  for (const GpuView& gpu : gpus) {
    text += text_of(gpu, output.style());
    devices.push_back(json_of(gpu));
  }
  output.text(text);
  output.json({{"version", SMELT_VERSION}, {"devices", devices}});
  return kFine;
}

}  // namespace smelt::tool
