// smelt devices: what is found on this machine, and what is missing.
#include <fmt/format.h>

#include <algorithm>

#include "arguments.hpp"
#include "progress.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

constexpr int64_t kCopyBytes = 256 << 20;
constexpr const char* kNoCuda = "there is no CUDA engine in this version";

// Bytes read and written per second by a copy that is far larger than the caches, where the memory allows that.
double measure_copy_gbs(const Device& device, int threads) {
  const int64_t bytes = std::min(std::max(kCopyBytes, 4 * device.facts.l3_bytes),
                                 std::max<int64_t>(device.facts.memory_bytes / 8, 1 << 20));
  const double seconds = runtime::measure_copy_seconds(bytes, threads, 7);
  return seconds > 0 ? 2 * static_cast<double>(bytes) / seconds * 1e-9 : 0;
}

std::string text_of(const Device& device, int threads, double copy_gbs, const report::Style& style) {
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
  if (device.llvm) {
    table.add({"LLVM", fmt::format("{}, {}", device.llvm->version_text(), device.llvm->path())});
    table.add({"target", fmt::format("{}, {}", device.llvm->triple(), device.llvm->cpu_name())});
  }
  std::string out = style.bold("cpu") + "\n" + table.str(2);
  if (!device.llvm) out += fmt::format("  {} {}\n", style.bad("LLVM is missing:"), device.missing);
  return out + style.bold("cuda") + fmt::format("\n  {}\n", kNoCuda);
}

nlohmann::ordered_json json_of(const Device& device, int threads, double copy_gbs) {
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
                            {"llvm", llvm}};
  const ordered_json cuda = {{"name", "cuda"}, {"available", false}, {"missing", kNoCuda}};
  return {{"version", SMELT_VERSION}, {"devices", ordered_json::array({cpu, cuda})}};
}

}  // namespace

int run_devices(const CommonOptions& options) {
  const Output output(options);
  const Device device = find_device(options);
  const int threads = thread_count(options, device);
  auto progress = std::make_unique<Progress>();
  progress->stage("measuring the copy bandwidth");
  const double copy_gbs = measure_copy_gbs(device, threads);
  progress.reset();
  output.text(text_of(device, threads, copy_gbs, output.style()));
  output.json(json_of(device, threads, copy_gbs));
  return kFine;
}

}  // namespace smelt::tool
