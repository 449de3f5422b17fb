// Measures a program: fused, unfused (the same program through the same engine, one kernel per
// primitive operation), and a parallel copy of as many bytes, all in one run, with the results
// checked against the reference.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "report/accuracy.hpp"
#include "report/statistics.hpp"

namespace smelt::report {

inline std::vector<TensorView> views_of(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

struct BenchOptions {
  int threads = 1;
  double noise = 0.02;      // measure until the median is known this well, relative to itself ...
  double time_limit_s = 2;  // ... or for this long, per measurement
  bool check = true;        // compare with the reference
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// Milliseconds of one call.
struct Timing {
  Summary hot;    // back to back, into outputs that exist already
  Summary cold;   // the same, caches flushed before every call
  Summary fresh;  // back to back, into outputs allocated by every call
};

struct Side {
  int kernels = 0;
  int64_t bytes = 0;         // that the kernels read and write
  Timing time_ms;            // on a GPU by the clock of the device; without `fresh`
  double bandwidth_gbs = 0;  // bytes over the median of hot; on a GPU of cold
  double copy_gbs = 0;       // the same of a copy that moves as many bytes
  double of_copy() const { return copy_gbs > 0 ? bandwidth_gbs / copy_gbs : 0; }
  // GPU
  Summary call_ms;  // wall time per call, back to back
  Timing copy_ms;
  std::vector<BuiltFunction> functions;
};

struct BenchResult {
  SizeBinding sizes;
  std::vector<std::string> inputs;  // "x: f32[4096,1024]"
  Side fused;
  std::optional<Side> unfused;
  double speedup = 0;  // medians of hot: unfused over fused; 0 without the latter
  double cold_speedup = 0;
  bool checked = false;
  Accuracy accuracy;
  double compile_ms = 0;  // of the fused executable
  bool on_gpu = false;
  CacheUse cache;  // of the fused executable
  double copy_gbs() const { return fused.copy_gbs; }
  // What tables of several sizes and pictures show: hot on a CPU, cold on a GPU.
  const Summary& shown(const Side& side) const { return on_gpu ? side.time_ms.cold : side.time_ms.hot; }
  double shown_speedup() const { return on_gpu ? cold_speedup : speedup; }
};

// Calls `measured` until the options are content. `prepare` runs before every call, outside the
// clock. Calls shorter than some microseconds are timed several at a time, unless they must be
// prepared.
Summary measure(const BenchOptions& options, const std::function<void()>& measured,
                const std::function<void()>& prepare = {});

// Measures both executables of one program on these inputs, or the fused one alone; then nothing is
// checked.
BenchResult bench(const Executable& fused, const Executable* unfused, const Machine& device,
                  const std::vector<Tensor>& inputs, const BenchOptions& options);

// What the results are of, for the first line and for the picture.
struct BenchTitle {
  std::string program;
  std::string device, isa;
  int threads = 1;                 // or multiprocessors
  std::string gpu, driver, nvrtc;  // "NVIDIA H200", "13.0", "13.0"; empty for the CPU
};
BenchTitle title_of(const std::string& program, const Machine& device, int threads);
std::string describe_machine(const BenchTitle& title);  // "cpu: 2 threads, avx2", "cuda: NVIDIA H200, sm_90"

nlohmann::ordered_json to_json(const BenchTitle& title, const std::vector<BenchResult>& results);

}  // namespace smelt::report
