// smelt for a benchmark in Python: programs compiled once and called over memory of the caller, in
// the process of the peers, so that all take turns in one run. A plain C interface;
// smelt_library.py is the other side. Not for other use.
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "report/traffic.hpp"

using namespace smelt;

namespace {

thread_local std::string last_error;

// Null, and the message kept, when `work` throws.
template <class Work>
auto guarded(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& e) {
    last_error = e.what();
    return {};
  }
}

const Machine& cpu() {
  static const Machine machine = Machine::cpu();
  return machine;
}

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
uint64_t
sum_of_lines(const char* from, int64_t lines) {
  using Line __attribute__((vector_size(64))) = uint64_t;
  const auto* line = reinterpret_cast<const Line*>(from);
  Line a{}, b{}, c{}, d{};
  for (int64_t i = 0; i + 4 <= lines; i += 4) a += line[i], b += line[i + 1], c += line[i + 2], d += line[i + 3];
  a += b + c + d;
  uint64_t sum = 0;
  for (int k = 0; k < 8; ++k) sum += a[k];
  return sum;
}

struct Program {
  Executable executable;
  std::vector<TensorView> inputs, outputs;
  int64_t bytes = 0;  // that its kernels read and write
};

}  // namespace

extern "C" {

// An array in row-major memory of the caller.
struct SmeltBenchArray {
  const char* dtype;
  int32_t rank;
  const int64_t* dims;
  void* data;
};

const char* smelt_bench_error() { return last_error.c_str(); }

// "name; isa; threads; L2 bytes; L3 bytes; libLLVM", or null where there is no libLLVM.
const char* smelt_bench_machine() {
  static std::string text;
  return guarded([]() -> const char* {
    const Machine& machine = cpu();
    if (!machine.llvm) throw UserError(machine.missing);
    const runtime::CpuFacts& f = machine.facts;
    text = f.name + ";" + f.isa + ";" + std::to_string(f.threads) + ";" + std::to_string(f.l2_bytes) + ";" +
           std::to_string(f.l3_bytes) + ";" + machine.llvm->version_text();
    return text.c_str();
  });
}

// Compiles a program for these arrays; every one must live until the program is closed.
Program* smelt_bench_open(const char* text, int32_t fuse, int32_t threads, const SmeltBenchArray* arrays,
                          int32_t inputs, int32_t outputs) {
  return guarded([&]() -> Program* {
    if (!cpu().llvm) throw UserError(cpu().missing);
    auto program = std::make_unique<Program>();
    for (int32_t i = 0; i < inputs + outputs; ++i) {
      const SmeltBenchArray& a = arrays[i];
      const std::optional<DType> dtype = dtype_from_name(a.dtype);
      if (!dtype) throw UserError(std::string("there is no dtype ") + a.dtype);
      TensorView view{*dtype, Dims(a.dims, a.dims + a.rank), {}, a.data};
      view.strides = contiguous_strides(view.dims);
      (i < inputs ? program->inputs : program->outputs).push_back(view);
    }
    const Graph graph = lang::parse_program(text, "program");
    CompileOptions options;
    options.fuse = fuse != 0;
    options.threads = threads;
    std::vector<Dims> dims;
    for (const TensorView& in : program->inputs) dims.push_back(in.dims);
    options.sizes = bind_sizes(graph, dims);
    program->executable = compile(graph, cpu(), options);
    program->bytes = report::kernel_bytes(program->executable.graph(), program->executable.plan(), options.sizes);
    return program.release();
  });
}

void smelt_bench_close(Program* program) { delete program; }
int32_t smelt_bench_kernels(const Program* program) {
  return static_cast<int32_t>(program->executable.plan().groups.size());
}
double smelt_bench_compile_ms(const Program* program) { return program->executable.compile_ms(); }
int64_t smelt_bench_bytes(const Program* program) { return program->bytes; }

// Into the outputs that the program was opened with.
int32_t smelt_bench_run(const Program* program) {
  return guarded([&] {
    program->executable.run_into(program->inputs, program->outputs);
    return 1;
  });
}

// Into memory that is allocated for the call and freed behind it.
int32_t smelt_bench_run_fresh(const Program* program) {
  return guarded([&] {
    program->executable.run(program->inputs);
    return 1;
  });
}

// A parallel copy between two buffers; `streaming`: by stores that pass the caches, else by the C
// library.
void smelt_bench_copy(void* to, const void* from, int64_t bytes, int32_t threads, int32_t streaming) {
  runtime::parallel_copy(static_cast<char*>(to), static_cast<const char*>(from), bytes, threads, streaming != 0);
}

// A parallel read of a buffer of whole lines: what reductions can reach at most where a machine
// reads slower than it copies.
uint64_t smelt_bench_read(const void* from, int64_t bytes, int32_t threads) {
  std::atomic<uint64_t> sum{0};
  runtime::parallel_for(threads, bytes, 256, [&](int, int64_t begin, int64_t end) {
    sum += sum_of_lines(static_cast<const char*>(from) + begin, (end - begin) / 64);
  });
  return sum;
}

}  // extern "C"
