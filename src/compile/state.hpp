// What an Executable holds. Internal to this folder.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_shared_ptr.hpp"
#include "base/memory.hpp"
#include "compile/compile.hpp"
#include "emit/cuda.hpp"

namespace smelt {

// An array that a plan needs beyond its inputs and outputs, at an offset in the arena.
struct Slot {
  DType dtype;
  Shape dims;
  int first_use, last_use;  // kernels, in order of execution
};

// Where a launch finds what a param names.
struct Binding {
  enum Kind : uint8_t { Input, Output, Slot, Error, Counter } kind;
  int index = 0;  // input of the graph, output of the graph, or slot
};

// A function as it is on a GPU.
struct GpuCode {
  std::shared_ptr<runtime::GpuModule> module;  // empty without a GPU
  runtime::FunctionHandle handle = nullptr;
  runtime::FunctionFacts facts;
};

// One function of a kernel: what it is is known at once, its code is made when it is first needed.
class GpuFunction {
 public:
  GpuFunction(emit::DeviceVariant emitted, std::string source)
      : emitted_(std::move(emitted)), source_(std::move(source)) {}

  const emit::DeviceFunction& emitted() const { return emitted_.function; }
  // Every expression is >= 0 for the sizes of a call.
  const std::vector<IntExpr>& when() const { return emitted_.when; }
  const std::vector<int>& alignment() const { return emitted_.alignment; }
  const std::vector<emit::DeviceVariant>& bodies() const { return emitted_.bodies; }  // of a batch

  // Whether it was in the cache on disk; once, before anything else. `kernel`: for events.
  bool compile(const Executable::State& state, size_t kernel);
  const GpuCode& code(const Executable::State& state, size_t kernel);  // compiled if need be, and loaded
  const GpuCode* loaded() const { return is_loaded_ ? &code_ : nullptr; }
  const std::string& cubin() const { return cubin_; }  // until it is loaded

 private:
  const emit::DeviceVariant emitted_;
  const std::string source_;
  std::once_flag once_;
  std::string cubin_;
  GpuCode code_;
  std::atomic<bool> is_loaded_ = false;
};

// The best first; the last takes every size and address.
struct GpuPhase {
  std::vector<std::shared_ptr<GpuFunction>> variants;
};

struct CustomLaunch;

struct Launch {
  std::vector<Binding> arrays;  // per param that is not a Size
  // Per phase, of these, what it copies to where: nothing where both are the same memory.
  std::vector<std::optional<std::pair<size_t, size_t>>> copies = {};
  std::vector<Symbol> sizes;  // per Size param
  IntExpr scratch_bytes;
  std::vector<runtime::Module::PhaseFunction> phases;
  std::shared_ptr<runtime::Module> module;
  // GPU
  std::vector<GpuPhase> gpu_phases;
  // A batch: what each part is, by itself; on a GPU gpu_phases are of all parts together.
  std::vector<Launch> parts;
  emit::BatchTable table;
  std::shared_ptr<const CustomLaunch> custom;  // the user's own code in place of all of it
};

// Offsets of the slots in one block of memory; slots that are not alive together may share bytes.
struct Arena {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};
// Bytes of a workgroup's shared memory that a kernel declares at most, for what threads hand to
// each other.
inline constexpr int64_t kStaticShared = 4096;
inline constexpr int64_t kCpuAlignment = 64, kGpuAlignment = 256;
inline int64_t aligned(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }
Arena lay_out(const std::vector<Slot>& slots, const std::vector<int64_t>& bytes, int64_t alignment);

// Kernels of a CPU that follow each other and can run slice by slice (kernel/slices.hpp).
struct SlicedKernels {
  size_t first, end;
  IntExpr slices;             // there may be as many, or any divisor of that
  std::vector<size_t> slots;  // which no other kernel uses
};

// Everything about a call that follows from the sizes of its inputs: calls with the same sizes
// again do not compute it again.
struct Prepared {
  struct Phase {
    int64_t extent, grain;
  };
  struct GpuPhase {
    bool runs = false;                                          // there is an iteration
    std::vector<std::optional<runtime::LaunchShape>> variants;  // none of those that do not take these sizes
    std::vector<std::vector<runtime::BoxShape>> boxes;          // of each variant
  };
  struct Launch {
    std::vector<int64_t> arguments;  // per Size param
    std::vector<Phase> phases;
    std::vector<GpuPhase> gpu_phases;
    int64_t scratch_bytes = 0;  // per thread
    std::vector<Launch> parts;  // of a batch
    std::vector<Dims> dims;     // of the user's own code: per array
  };
  // Kernels that run one after the other in each slice, or one kernel as a whole.
  struct Run {
    size_t first, end;
    int64_t slices = 1;
    std::vector<std::pair<size_t, int64_t>> parts;  // slots that have a part for each thread, of so many bytes
  };
  std::vector<Dims> input_dims, output_dims;
  Arena arena;
  std::vector<Run> runs;      // on a CPU
  int64_t scratch_bytes = 0;  // of the launch that needs most, all threads; comes after the arena
  std::vector<Launch> launches;
};

// Memory between calls: a call takes a block that is large enough and gives it back, so that only
// the first pays for fresh pages.
class MemoryPool final : public KeepsMemory {
 public:
  using Block = std::pair<std::shared_ptr<char>, int64_t>;  // 64-byte aligned, bytes
  ~MemoryPool() { forget(); }
  Block take(int64_t bytes);
  void give_back(Block block);
  void give_up() override;

 private:
  static constexpr size_t kMaxBlocks = 4;  // calls at the same time that find their block again
  std::mutex mutex_;
  std::vector<Block> blocks_;
};

// Memory of outputs that have been freed, for those of the next call: pages fresh from the system
// have to be found and cleared, which takes longer than many a kernel. Keeps no more than the
// outputs of one call take.
class OutputPool final : public KeepsMemory, public std::enable_shared_from_this<OutputPool> {
 public:
  ~OutputPool() { forget(); }
  void give_up() override;
  Tensor take(DType dtype, const Dims& dims, int64_t call_bytes);  // `call_bytes`: of all outputs of this call

 private:
  void give_back(std::shared_ptr<void> memory, int64_t bytes);

  std::mutex mutex_;
  std::vector<std::pair<std::shared_ptr<void>, int64_t>> free_;
  int64_t free_bytes_ = 0, call_bytes_ = 0;
};

struct Executable::State {
  std::string program;  // for events
  std::shared_ptr<const Settled> settled;
  Graph graph;
  plan::Plan plan;
  std::vector<kernel::Kernel> kernels;  // of every group
  std::vector<std::string> sources;     // each text once
  std::vector<size_t> alike;            // per group: the first one with the same code, which may be itself
  std::vector<std::vector<NodeId>>
      original;                     // per group that is no batch: its nodes in an order that like groups share
  std::vector<plan::Split> splits;  // of groups that spill as one kernel: asked for by what was built
  runtime::NvrtcOptions nvrtc;
  CacheUse cache_use;
  std::vector<Launch> launches;
  std::vector<Slot> slots;
  std::vector<InPlaceArrays> in_place;
  std::vector<SlicedKernels> sliced;
  std::vector<StageTime> times;
  Machine device;
  plan::Options target;  // what was planned for
  int threads = 1;
  mutable AtomicSharedPtr<const Prepared> last;  // of the latest call
  mutable MemoryPool pool;
  std::shared_ptr<OutputPool> output_pool = std::make_shared<OutputPool>();
  std::shared_ptr<OutputPool> copy_pool = std::make_shared<OutputPool>();  // of inputs that are not row-major
};

// For these inputs: the latest call's, when its sizes were the same. Throws UserError when the
// inputs do not fit.
std::shared_ptr<const Prepared> prepare(const Executable::State& state, const std::vector<TensorView>& inputs);
// Adds the sizes that are computed for a launch.
void add_launch_sizes(const kernel::Kernel& kernel, SizeBinding& sizes);
// How the threads of a CPU divide a phase.
Prepared::Phase cpu_phase(const kernel::Phase& phase, const SizeBinding& sizes);

// The same where every kernel runs by itself, none in slices with others.
std::shared_ptr<const Prepared> prepared_apart(const Executable::State& state, const Prepared& prepared);

// The same for these arrays of a CPU: lines of an array that is overwritten are in the caches
// already, and writing past these takes longer.
std::shared_ptr<const Prepared> prepared_for(const Executable::State& state, std::shared_ptr<const Prepared> prepared,
                                             const std::vector<TensorView>& inputs,
                                             const std::vector<TensorView>& outputs);

// Bytes that all threads of the launch that needs most need besides arrays; `sizes` has
// kLaunchThreads too.
int64_t scratch_bytes(const Executable::State& state, const SizeBinding& sizes);

// Whether an input lies as the program has it: row by row, or with the gaps that are part of it.
bool lies_as_expected(const Executable::State& state, size_t input, const TensorView& view);
// Such an array at this address, and the bytes from its first element to its last.
TensorView expected_view(const Executable::State& state, size_t input, const TensorView& like, void* data);
int64_t bytes_across(const TensorView& view);
void copy_as_expected(const TensorView& from, const TensorView& to);
// The inputs, those that lie otherwise as copies in the host's memory, which `copies` keeps.
std::vector<TensorView> expected_inputs(const Executable::State& state, const std::vector<TensorView>& inputs,
                                        std::vector<Tensor>& copies);

// Runs all launches in order. `inputs` lie as expected, `outputs` are row-major, with the dims of
// this call.
void execute(const Executable::State& state, const Prepared& prepared, const std::vector<TensorView>& inputs,
             const std::vector<TensorView>& outputs, const Executable::EachKernel& each = {});

// One kernel of it, on arrays in the order of the launch's bindings, of a batch for each part.
using Addresses = std::vector<std::vector<void*>>;
Addresses find_addresses(const Launch& launch, const Arena& arena, char* memory, int32_t* error,
                         const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs);
void launch_on_cpu(const Executable::State& state, const Launch& launch, const Prepared::Launch& prepared,
                   Addresses& addresses, char* scratch);

// The reference interpreter in place of kernels.
void interpret_into(const Graph& graph, const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs);
// Where kernels write: row-major memory that no other output and no input shares, but where it may
// reuse one. Else `outputs[o]` is written aside, into one of `copies`, and `aside` has its number.
std::vector<TensorView> direct_outputs(const Executable::State& state, const std::vector<TensorView>& inputs,
                                       const std::vector<TensorView>& outputs, std::vector<Tensor>& copies,
                                       std::vector<size_t>& aside);
// Per output: the first that is the same node, into which it was computed.
std::vector<size_t> first_outputs(const Graph& graph);
// Per output: whether it shares memory with an input in whose place it may not be, or with an
// output before it.
std::vector<bool> shared_outputs(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                                 const std::vector<InPlaceArrays>& in_place);

// Throws UserError when memory for outputs does not fit what the program makes.
void check_outputs(const Executable::State& state, const Prepared& prepared, const std::vector<TensorView>& outputs);
// Copies a row-major array in the memory of the host.
void copy_into(const TensorView& from, const TensorView& to);
// Throws the error of the check `code` of kernel k. Arrays of the call that are in the memory of
// the host let it name the index.
[[noreturn]] void throw_out_of_range(const Executable::State& state, size_t k, int32_t code,
                                     const std::vector<TensorView>& inputs = {},
                                     const std::vector<TensorView>& outputs = {});

// CPU

// Emits, compiles and loads every kernel of the state; `times` gets the stages. Schedules that were
// found fastest before replace the plan's, unless it is `tuned` now: then others are timed first.
void build_for_cpu(Executable::State& state, bool tuned);

// GPU

// Emits every kernel of the state, compiles and loads what calls with these sizes need; `times`
// gets the stages. Without a GPU everything is compiled, to see that it can be. Kernels may be made
// again with other schedules than the plan's: the groups say.
void build_for_gpu(Executable::State& state, bool tuned);
// Everything that a cubin depends on.
std::string gpu_cache_key(const Machine& device, const runtime::NvrtcOptions& options, const std::string& source);
// The shapes of a kernel's launches. Throws UserError when there are more workgroups than a grid
// may have.
std::vector<Prepared::GpuPhase> gpu_shapes(const Executable::State& state, size_t kernel, const SizeBinding& sizes);
// The number of workgroups of a batch's launches that belong to a part.
std::vector<Prepared::GpuPhase> gpu_part_shapes(const Executable::State& state, size_t kernel, size_t body,
                                                const SizeBinding& sizes);
// "kernel 2 (relu, layernorm)"
std::string describe_kernel(const Executable::State& state, size_t kernel);
void run_on_gpu(const std::shared_ptr<const Executable::State>& state, const std::shared_ptr<const Prepared>& prepared,
                const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs);
void run_each_on_gpu(const std::shared_ptr<const Executable::State>& state,
                     const std::shared_ptr<const Prepared>& prepared, const std::vector<TensorView>& inputs,
                     const std::vector<TensorView>& outputs, const Executable::EachKernel& each);
std::string dump_ptx(const Executable::State& state);
// LLVM IR as it is built, with comments that say which operation of the program an instruction is
// of.
std::string sources_with_labels(const Executable::State& state);
std::string dump_sass(const Executable::State& state);

}  // namespace smelt
