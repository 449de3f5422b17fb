// The CPU as a device: what it is, and the loader that turns LLVM IR text into callable code.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::runtime {

// What is known of the host, read once when asked for.
struct CpuFacts {
  std::string name;  // "AMD EPYC ..."
  std::string isa;   // "avx512", "avx2", "neon", "sse2"
  int vector_bits = 128;
  bool slow_division = false;                // of vectors: 16 cycles where AVX-512 multiplies in half of one
  bool dot_bf16 = false, dot_bytes = false;  // has vdpbf16ps, and vpdpbusd, of 512 bits
  bool tiles = false;                        // has AMX, which multiplies tiles of bf16 and of bytes
  int threads = 1;                           // usable by this process (affinity and cgroup limits respected)
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 8 << 20;  // data cache per core, per core, shared
  int64_t memory_bytes = 0;
};
CpuFacts read_cpu_facts();
int usable_threads();  // CpuFacts::threads
// The same with the instructions of a lesser processor, "x86-64-v3" say. Throws UserError for
// another name.
CpuFacts cpu_facts_for(const std::string& level);
// The extensions that code may use which is compiled for this processor (empty: the one at hand):
// "avx2 bmi bmi2 ...".
std::string cpu_features(const std::string& level = {});
// Those of them that the processor at hand does not have.
std::string missing_cpu_features(const std::string& features);
// Which processor this is and all that it can do, with $SMELT_CPU: the same text, the same
// instructions.
std::string cpu_identity();
// The same of the processor at hand, whose instructions are limited to those of `level`.
std::string cpu_identity(const std::string& level);

class DiskCache;

// libLLVM, opened at run time. Looked for: $SMELT_LLVM (a path to the library; nothing else is
// tried when it is set), then libLLVM 22 down to 16 by the system's names, then what
// set_llvm_compiler() gave.
class Llvm {
 public:
  // Nothing when it is not there; then `why` says what was tried and the command that installs it.
  // A cache remembers where it was found; then the library is opened only when something has to be
  // compiled.
  static std::shared_ptr<Llvm> open(std::string& why, DiskCache* cache = nullptr);
  // The same that compiles for a lesser processor.
  static std::shared_ptr<Llvm> open_for(const std::string& level, std::string& why, DiskCache* cache);
  // The LLVM of code that was compiled elsewhere: it compiles nothing.
  static std::shared_ptr<Llvm> absent(int version, std::string triple);
  virtual ~Llvm() = default;
  virtual int version() const = 0;               // major
  virtual std::string version_text() const = 0;  // "19.1.7"
  virtual std::string path() const = 0;
  virtual std::string triple() const = 0;
  virtual std::string cpu_name() const = 0;  // as LLVM calls it; opens the library
  // Whether threads of a loop may compile too, besides the one that asked.
  virtual bool on_any_thread() const { return true; }
  // What code depends on besides its text: the library's file, the target, the processor, the
  // passes.
  virtual const std::string& identity() const = 0;

  // Parsed, optimised and compiled in process, to the bytes of an object file. Throws InternalError
  // with the message of LLVM and the line of the text when the IR is wrong. Safe from many threads.
  virtual std::string compile(const std::string& ir_text) = 0;
  virtual std::string assembly(const std::string& ir_text) = 0;  // the same as text
  std::shared_ptr<class Module> load(const std::string& ir_text);
};

// Loaded code; unloaded when the last owner lets go.
class Module {
 public:
  virtual ~Module() = default;
  using PhaseFunction = void (*)(int64_t begin, int64_t end, void** arrays, const int64_t* sizes, char* scratch);
  virtual PhaseFunction function(const std::string& name) const = 0;  // throws InternalError when absent
};
// Loads the result of Llvm::compile, of this process or another. Throws InternalError for other
// bytes. `name`: for profilers and debuggers.
std::shared_ptr<Module> load_object(std::string_view object, const std::string& name = {});

// Runs body(thread, begin, end) over [0, count) split into contiguous pieces of about equal size,
// multiples of `grain` (but the last), several for each thread; 0 <= thread < threads, and no two
// pieces with the same number run at a time. On the calling thread alone when one grain is all
// there is, and inside another loop. The first exception reaches the caller. Fewer threads run it
// where set_threads() or ThreadLimit say so, and while other callers have theirs.
void parallel_for(int threads, int64_t count, int64_t grain,
                  const std::function<void(int thread, int64_t begin, int64_t end)>& body);

// A copy by several threads; `streaming`: by stores that bypass the caches, where both ends lie at
// whole lines of 64 bytes; else by the C library.
void parallel_copy(char* to, const char* from, int64_t bytes, int threads, bool streaming);
// Seconds that a parallel copy of `bytes` from one buffer to another takes: median over runs;
// memory already touched.
double measure_copy_seconds(int64_t bytes, int threads, int runs);
// Evicts the caches by streaming through a buffer several times their size.
void flush_caches(const CpuFacts& facts, int threads);

}  // namespace smelt::runtime
