// The whole compiler as one function, and its result.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "kernel/kernel.hpp"
#include "plan/predict.hpp"
#include "plan/replay.hpp"
#include "runtime/cpu.hpp"
#include "runtime/gpu.hpp"
#include "schedule/candidates.hpp"
#include "smelt/events.hpp"

namespace smelt {

namespace runtime {
class DiskCache;
class GpuPool;
class OpenCl;
}  // namespace runtime
class GpuCopier;

// The machine to compile for: the CPU, an NVIDIA GPU, or a device of OpenCL.
struct Machine {
  std::string name = "cpu";  // "cpu", "cuda", "cuda:1", "sm_90", "opencl"
  runtime::CpuFacts facts;   // of the host
  std::string missing;       // when it cannot compile: what was tried, and the command that installs it

  // CPU. Without it, programs run by the reference interpreter.
  std::shared_ptr<runtime::Llvm> llvm;

  std::shared_ptr<runtime::DiskCache> cache;  // of what LLVM or NVRTC made
  std::string level;                          // of the CPU: an older processor, "x86-64-v3"; empty: the one at hand
  std::string identity;                       // what code depends on besides its source; empty: of the compilers above

  // GPU
  bool is_gpu = false;
  runtime::GpuFacts gpu_facts;
  std::shared_ptr<runtime::Gpu> gpu;  // empty: kernels are built for it, but cannot run here
  std::shared_ptr<runtime::Nvrtc> nvrtc;
  std::shared_ptr<runtime::OpenCl> opencl;  // then it is `gpu` too, and there is no NVRTC
  std::shared_ptr<runtime::GpuPool> pool;   // memory between calls
  std::shared_ptr<GpuCopier> copier;        // for arrays that are not row-major

  static Machine cpu();
  // With the instructions of an older processor, to compile for others. Throws UserError for
  // another name.
  static Machine cpu_level(const std::string& level);
  // Without a usable GPU or NVRTC, `missing` says so, and programs cannot be compiled for it.
  static Machine cuda(int ordinal = 0);
  // Chosen only by name. Without such a device `missing` says so.
  static Machine opencl_device(int ordinal = 0);
  // A GPU of this architecture that this machine need not have: to look at kernels, and to check
  // that they compile.
  static Machine cuda_architecture(int compute);
  // The first GPU when it is usable, else the CPU.
  static Machine best();

  std::shared_ptr<const schedule::Calibration> measured;  // of this device, where it was calibrated

  bool compiles() const { return is_gpu ? nvrtc || opencl : llvm != nullptr; }
};

// Decisions about a program after planning, from built code and measurements, which a program that
// is compiled again takes over.
struct Settled {
  std::vector<plan::Split> splits;
  std::vector<plan::Tuning> tunings;  // per group
};

struct CompileOptions {
  std::string program;               // its name, for events
  std::optional<Fallback> fallback;  // when nothing compiles; else what the process does
  std::shared_ptr<const Settled> settled;
  int run_threads = 0;  // of the CPU that runs it, where it is planned for another
  bool fuse = true;
  int depth = 0;        // operations that one kernel may have; 0: no limit
  int threads = 0;      // 0: all that the device has
  bool tune = false;    // times other schedules, with arrays of the sizes at hand, and keeps the fastest on disk
  plan::Tuning tuning;  // that every schedule is made with, in place of the family's own choice: for tests
  SizeBinding sizes;    // the sizes at hand, for estimates
  runtime::NvrtcOptions nvrtc;
};

// Milliseconds of each stage, in order.
struct StageTime {
  std::string stage;  // "simplify", "plan", "lower", "emit", "compile", "load"
  double ms;
};

// A function of a kernel as it was built for a GPU.
struct BuiltFunction {
  std::string name;  // "k0_p0_fast"
  int kernel = 0;    // of the plan
  int threads = 1, cluster = 1;
  runtime::FunctionFacts facts;
  int64_t shared_bytes = 0;          // dynamic, for the sizes at hand
  int workgroups_per_processor = 0;  // that are resident at a time; 0: not known, the GPU is not here
  double occupancy = 0;              // resident threads, of those that a multiprocessor can hold
};

// A launch of one phase of a kernel, as it is for the sizes at hand.
struct KernelLaunch {
  size_t kernel = 0, phase = 0;  // of the plan, of that kernel
  std::optional<size_t> body;    // a batch: which of its bodies is described, with the sizes of its first part
  std::string function;          // "k0_p0_fast"; empty on a CPU
  int64_t iterations = 0;        // of the Grid loop
  // GPU
  size_t variant = 0;  // of the phase
  int64_t workgroups = 0;
  int threads = 1, cluster = 1;
  int64_t shared_bytes = 0;  // dynamic
  // CPU
  int64_t grain = 1;       // iterations that one thread takes at a time, at least
  SizeBinding sizes = {};  // with those that are computed for the launch
};

// Kernels that were found in the cache on disk, and kernels that were compiled.
struct CacheUse {
  int hits = 0, misses = 0;
};

// An alternative schedule of a kernel.
struct Considered {
  schedule::Candidate candidate;
  bool chosen = false;
  double measured_ms = -1;  // on a GPU by its clock, the L2 cache flushed before; -1: not measured
};

// An output of the program whose memory may be that of an input at no cost, as a row-major array in
// its place: nothing else is read of that input by then.
struct InPlaceArrays {
  size_t input, output;
};

// What the cost model that chose the plan says of it.
struct Outlook {
  plan::Prediction own;
  bool fuses = true;
  double unfused_us = 0;                   // of one kernel per operation
  double fused_us = 0;                     // of the plan that fuses
  std::vector<plan::Boundary> boundaries;  // none when fusion is off
  std::vector<plan::FasterSchedule> faster;
};

// Machine code as text; for each of its lines the line of the source, from 1, that it was made
// from; 0: of none.
struct CodeLines {
  std::string text;
  std::vector<int> lines;
};

class CpuCall;
class GpuCall;

// A call whose arrays are fixed: everything is prepared, so that running it costs little more than
// its kernels. Keeps its temporaries and its code alive, but not its arrays: they must live until
// the run is done. One thread at a time may run it. On a GPU running it is one launch, of a kernel
// or of a graph of several; runs follow one another in the order of their stream; scalars are those
// of the time when it was bound.
class BoundCall {
 public:
  void run() const;  // on a GPU it returns when it is queued; on the CPU it throws for an index out of range
  void synchronize()
      const;             // until the stream is done. Throws what went wrong, an index out of range of this call too.
  int launches() const;  // that one run hands to the driver of a GPU, or kernels on the CPU
  runtime::StreamHandle stream() const;

 private:
  friend class Executable;
  std::shared_ptr<GpuCall> call_;
  std::shared_ptr<CpuCall> cpu_call_;
};

// A runnable plan. Cheap to copy, safe to run from several threads concurrently, supports every
// size of its symbols.
class Executable {
 public:
  const Graph& graph() const;  // simplified
  const plan::Plan& plan() const;
  const std::vector<kernel::Kernel>& kernels() const;  // one per group of the plan; empty without a compiler
  bool interpreted() const;                            // no compiler: the reference interpreter runs the program
  // Whether compile() would make the same kernels with these sizes at hand, which must be all;
  // other sizes are supported too, by kernels that were not chosen for them.
  bool suits(const SizeBinding& sizes) const;
  const Machine& device() const;
  const std::vector<StageTime>& stage_times() const;
  double compile_ms() const;
  CacheUse cache_use() const;
  Settled settled() const;
  std::vector<BuiltFunction> built(const SizeBinding& sizes) const;    // for a GPU
  std::vector<KernelLaunch> launches(const SizeBinding& sizes) const;  // none of the user's own code
  plan::Prediction predicted(const SizeBinding& sizes) const;          // the sizes must be all
  // The same program with one kernel per operation; and how the plan came about, in at most `most`
  // states.
  plan::Plan unfused_plan(const SizeBinding& sizes) const;
  std::vector<plan::ReplayState> replay(const SizeBinding& sizes, size_t most) const;
  Outlook outlook(const SizeBinding& sizes) const;
  // Per kernel, the family's own choice first; none for batches, the user's code, and kernels like
  // an earlier one. On a device that is here they can be measured, with arrays of these sizes.
  std::vector<std::vector<Considered>> considered(const SizeBinding& sizes, bool measure) const;

  // Arrays in the memory of the host, whatever the device.

  // Fresh outputs, row-major; the memory of outputs of earlier calls that have been freed serves
  // again, as much as one call takes. Throws UserError when the inputs do not fit (dtype, rank,
  // sizes, constraints).
  std::vector<Tensor> run(const std::vector<TensorView>& inputs) const;
  std::vector<InPlaceArrays> in_place() const;
  // Into memory of the caller: dims, dtype as output_types() says, any strides but 0 (copied when
  // not row-major or when it overlaps another array, unless it stands in_place() of an input).
  void run_into(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) const;
  // Runs the kernels in order, each by each(number, run), which calls `run` once or more: to time
  // them one by one. The arrays are those of run_into, row-major and apart from each other; on a
  // GPU they are the GPU's, and `run` returns when it is queued on smelt's stream.
  using EachKernel = std::function<void(size_t kernel, const std::function<void()>& run)>;
  void run_each(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                const EachKernel& each) const;
  std::vector<Dims> output_dims(const std::vector<TensorView>& inputs) const;
  // On a CPU, the kernels that run slice by slice; `bytes`: of temporaries of one slice.
  struct Slices {
    size_t first, end;
    int64_t slices, bytes;
  };
  std::vector<Slices> slices(const SizeBinding& sizes) const;
  int64_t temporary_bytes(
      const SizeBinding& sizes) const;  // of one call: values between kernels, and scratch of all threads

  // Fixes a call; the second form is for a GPU, whose arrays are as for run_device.
  BoundCall bind(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) const;
  BoundCall bind(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                 runtime::StreamHandle stream) const;

  // Arrays in the memory of the GPU, anybody's: `data` holds addresses of the device, whole
  // multiples of the size of an element, with any strides (0 for inputs only). Inputs of rank 0 may
  // be in host memory. Without a stream, smelt's own.

  // Binds and runs once; temporaries are those of calls before. Returns when it is queued. An index
  // out of range stays unknown.
  void run_device(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                  runtime::StreamHandle stream) const;

  // "graph", "plan", "passes" (what each changes in a kernel), "after:NAME" (the kernels after that
  // pass, or after:lowering), "kernel", "source" (LLVM IR or CUDA C++), "asm"; for a GPU "ptx",
  // "sass". Throws UserError for another name.
  std::string dump(const std::string& stage) const;
  // dump("kernel") and dump("source") with comments that say which operation of the program a line
  // computes: "# +, line 1".
  std::string annotated(const std::string& stage) const;
  // dump("asm"), of a GPU dump("ptx"), with the lines of dump("source") that its lines come from.
  CodeLines code_lines() const;

  struct State;

 private:
  friend Executable compile(const Graph&, const Machine&, const CompileOptions&);
  std::shared_ptr<const State> state_;
};

Executable compile(const Graph& graph, const Machine& device, const CompileOptions& options = {});
// All that the code of this device depends on besides its source.
std::string code_identity(const Machine& device, const runtime::NvrtcOptions& options = {});

// Arrays in the memory of a GPU. The tensor's memory is freed with its last owner, after the GPU is
// done with it.
Tensor device_empty(const Machine& device, DType dtype, Dims dims);
// For memory of device_empty(), which is reused when it is freed: it is used in a stream, which
// waits for the one that it was allocated in; its next user waits for both.
void note_use(const Tensor& tensor, runtime::StreamHandle stream);
// Its users are unknown: it is freed after all work of the device.
void note_escape(const Tensor& tensor);
Tensor to_device(const Machine& device, const TensorView& host);
Tensor to_host(const Machine& device, const TensorView& on_device);     // row-major; waits for smelt's own stream
Tensor copy_on_device(const Machine& device, const Tensor& on_device);  // row-major

// Whether a stage to dump is "passes" or an "after:NAME" of a pass that exists.
bool is_stage_of_kernels(std::string_view stage);

}  // namespace smelt
