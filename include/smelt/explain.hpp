/// \file
/// What the compiler made of a program, and why, as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "smelt/dtype.hpp"
#include "smelt/export.hpp"
#include "smelt/handle.hpp"

namespace smelt {

namespace detail {
struct ExplanationState;
}

/// One executable of a function: the calls that it supports, and why it was compiled.
struct Specialization {
  std::string types;      ///< "f32[B, 1024], f32[1024]": sizes that are names may be any (but 1), numbers are built in
  std::string reason;     ///< "the first call", or what no existing executable supported
  std::string exact;      ///< when it supports these sizes alone: why
  int kernels = 0;        ///< launches of one call
  double compile_ms = 0;  ///< from the traced program to code
};

/// Which operations are fused, which are not, and why; how many bytes move. text() and json() are
/// the same as text, as `smelt explain` prints it.
struct SMELT_API Explanation {
  /// An array that a kernel reads or writes.
  struct Value {
    std::string name;           ///< an input's name, "output 1", or the operation that makes it
    DType dtype = DType::F32;   ///< of its elements
    std::vector<int64_t> dims;  ///< for the sizes at hand
    int64_t bytes = 0;          ///< of all elements
  };
  /// A step of a kernel.
  struct Operation {
    std::string name;   ///< the primitive: "add", "sum"
    std::string label;  ///< what was written for it: "+", "layernorm"
  };
  /// One launch.
  struct Kernel {
    std::string strategy;               ///< "pointwise", "row", "column", "tiled", "split"
    std::string note;                   ///< one line about how it runs
    std::string rebuilt;                ///< why the schedule is not the first, and what tuning found
    std::string untuned;                ///< why tuning was requested but measured nothing
    std::vector<Operation> operations;  ///< in the order of the program
    std::vector<Value> reads;           ///< from memory
    std::vector<Value> writes;          ///< to memory
    int64_t bytes_read = 0;             ///< of all reads
    int64_t bytes_written = 0;          ///< of all writes
    std::vector<std::string> undone;  ///< passes of the compiler that were left out, since their result was not proved
  };
  /// What was decided for an operation and one that reads its result.
  struct Decision {
    std::string from;          ///< the producer
    std::string to;            ///< the consumer
    bool fused = false;        ///< whether both are in one kernel
    std::string reason;        ///< why
    int64_t bytes = 0;         ///< fused: bytes of memory traffic saved; else bytes paid for the round trip
    std::string help;          ///< when not fused: what would change it
    std::string value_policy;  ///< of a value with several consumers: "kept", "recomputed", "stored"
  };
  /// An input that another kernel reads too.
  struct ReadAgain {
    std::string input;   ///< its name
    std::string first;   ///< the operation that the first kernel reads it for
    std::string again;   ///< the operation that this kernel reads it for
    std::string reason;  ///< why the two are not one kernel
    int64_t bytes = 0;   ///< that are read once more
    std::string help;    ///< what would change it
  };
  /// An output whose memory may be that of an input: computing it there takes no copy.
  struct InPlace {
    std::string input;  ///< its name
    int output = 0;     ///< its number, from 1
  };
  /// A stage of the compiler.
  struct Stage {
    std::string name;  ///< "simplify", "plan", "lower", "emit", "load"
    double ms = 0;     ///< milliseconds that it took
  };

  std::string program;                ///< what was explained
  std::string device;                 ///< "cpu", "cuda"
  std::vector<Kernel> kernels;        ///< in the order of execution
  std::vector<Decision> decisions;    ///< of every pair of operations
  std::vector<ReadAgain> read_again;  ///< inputs that several kernels read
  std::vector<InPlace> in_place;      ///< outputs that may reuse the memory of inputs
  std::vector<Stage> stages;          ///< in their order
  Specialization specialization;      ///< of the executable
  bool compiled_now = false;          ///< whether this call had to compile
  bool interpreted = false;           ///< nothing was compiled (Options::fallback): kernels say what they would be
  int cache_hits = 0;                 ///< kernels that came from the cache on disk
  int cache_misses = 0;               ///< kernels that were compiled although there is a cache
  int64_t unfused_bytes = 0;          ///< memory traffic when every operation reads its inputs and writes its output
  int64_t fused_bytes = 0;            ///< when every kernel does: what this plan moves
  int64_t ideal_bytes = 0;            ///< every input once, every output once

  /// As `smelt explain` prints it, without colours.
  std::string text() const;
  /// As `smelt explain --json` writes it, with the specialisation.
  std::string json() const;
  /// As `smelt report` writes it, as one HTML file: what was planned and built. An explanation of
  /// arguments keeps these; the page then runs the program with them, fused and one operation at a
  /// time, and shows the way of values. It has no times.
  std::string html() const;
  /// One stage of the compiler in full: "graph", "plan", "kernel", "source", "asm"; for a GPU
  /// "ptx", "sass" in place of "asm". Throws UserError for another name.
  std::string dump(const std::string& stage) const;

  /// \cond internal
  detail::Handle<const detail::ExplanationState> state;
  /// \endcond
};

}  // namespace smelt
