// Targets whose text is much like C: what one spells in its own way is a table; c_like_phase.hpp
// prints the rest.
//
// A phase of a kernel becomes one function or several of which each call chooses. Parameters are
// the kernel's params in their order: an array, the value itself for a Scalar, a 64-bit integer for
// a Size.
#pragma once

#include <string>
#include <vector>

#include "emit/prelude.hpp"
#include "kernel/kernel.hpp"

namespace smelt::emit {

// How a function has boxes of an array copied: an argument after those of the params.
struct BoxMap {
  int param;
  std::vector<IntExpr> extents, strides;  // in elements, over the Size params; the first stride is 1
  std::vector<int> box;                   // elements along each side
};

struct DeviceFunction {
  std::string name;
  int threads = 1;                  // of a workgroup
  int iterations = 1;               // of the phase's Grid loop that one workgroup runs
  int cluster = 1;                  // workgroups that run one iteration together
  IntExpr shared_bytes = 0;         // dynamic shared memory of a workgroup, over the Size params
  std::vector<int> arguments = {};  // bytes of each; 0: an array
  std::vector<BoxMap> boxes = {};   // further arguments
};

// The one argument of a batch's function: a table with a row for each part, in this order and
// without gaps.
//
//   u64 common[commons]             what all parts have in common
//   u64 words[capacity * words]     per part: addresses, numbers and sizes
//   u32 first[capacity]             per part: workgroups before it; ascending, every part has one or more
//   u32 count, shift                parts; `near` has an entry for each 2^shift workgroups
//   u16 near[kNear + 1]             the part with workgroup n << shift; after the last workgroup, the last part
//   u8 body[capacity]               per part
struct BatchTable {
  static constexpr int kNear = 64;
  int capacity = 0, words = 0, commons = 0;
  int64_t words_at() const { return int64_t{8} * commons; }
  int64_t first_at() const { return words_at() + int64_t{8} * capacity * words; }
  int64_t count_at() const { return first_at() + int64_t{4} * capacity; }
  int64_t near_at() const { return count_at() + 8; }
  int64_t body_at() const { return near_at() + 2 * (kNear + 1); }
  int64_t bytes() const { return (body_at() + capacity + 7) / 8 * 8; }
  // Per body and param: its word, or -1 - its common word; kNowhere for what the function does not
  // need.
  static constexpr int kNowhere = 1 << 30;
  std::vector<std::vector<int>> place;
};

// May be launched when every expression of `when` is >= 0 for the sizes of the call, and the
// address of every array is a multiple of its entry in `alignment` (per param; 0 for what is no
// array).
struct DeviceVariant {
  DeviceFunction function;
  std::vector<IntExpr> when;
  std::vector<int> alignment;
  // A batch: none of the above but the function, and for every body what this variant asks of a
  // part.
  std::vector<DeviceVariant> bodies = {};
};

// The best first; the last takes every size and address.
struct DevicePhase {
  std::vector<DeviceVariant> variants;
};

struct DeviceSource {
  std::string text;
  std::string begin;  // what every function in the text begins with; what comes before the first is for all of them
  std::vector<DevicePhase> phases;
  BatchTable table;  // of a batch
};

// A target's own spellings.
struct CLike {
  // Integers of 64 bits, and what marks their constants.
  std::string_view wide, wide_unsigned, wide_suffix, wide_unsigned_suffix;
  // The bits of one type as another.
  std::string_view float_of_unsigned, float_of_int, double_of_long, int_of_float, long_of_double;
  bool suffixed = true;   // functions of f32 have names of their own: fabsf
  bool templates = true;  // helpers for any type are called with it: smaller<int>(a, b)

  // What a thread is asked and told.
  std::string_view thread, workgroup;  // its number in the workgroup; that of the workgroup
  std::string_view barrier;            // for all threads of a workgroup
  std::string_view global, on_chip;    // in front of the type that a pointer to such memory points to
  std::string_view shared;             // in front of an array of a workgroup
  std::string_view aligned;            // in front of an array of a thread: to 16 bytes
  bool warps = true;  // 32 threads exchange values by themselves; else all of a workgroup do, in its memory

  // An operation on floats whose result is an integer: truncated, saturated, 0 for NaN.
  std::string (*float_to_int)(UsedHelpers& used, const std::string& x, DType from, DType to) = nullptr;
  // `count` bits from bit `at` on of element n of an array of integers of 8 bits, which begins at a
  // multiple of 4 bytes, as f32; 8 bits if they are signed. Null where a conversion is as fast.
  std::string (*bits_to_float)(UsedHelpers& used, const std::string& array, DType from, int at, int count) = nullptr;
  // From f32, rounded to the nearest and saturated; null where that is no single instruction.
  std::string (*nearest_int)(UsedHelpers& used, const std::string& x, DType to) = nullptr;
  // One random word: `draw` of philox, the arguments.
  std::string (*random_word)(UsedHelpers& used, int draw, const std::vector<std::string>& args,
                             const std::string& element) = nullptr;
  // Those of four neighbours into an array; `whole`: the number of the first is a multiple of 4.
  std::string (*random_words)(UsedHelpers& used, int draw, bool whole, const std::vector<std::string>& args,
                              const std::string& first, const std::string& words) = nullptr;
  // Joins `value` to what is at `element`, atomically.
  std::string (*join)(UsedHelpers& used, Op op, DType dtype, bool scratch, const std::string& element,
                      const std::string& value) = nullptr;
  // The integer at `element`, which becomes one more, atomically.
  std::string (*next)(UsedHelpers& used, DType dtype, const std::string& element) = nullptr;
  // The declaration of a phase's function up to its opening brace, and its first lines.
  struct Array {
    std::string type, name;
    bool stored = false;
    bool shared = false;  // another may be the same memory
  };
  struct Frame {
    std::string name;
    kernel::Team team;
    std::vector<std::string> parameters;  // in their order; of an array: empty
    std::vector<Array> arrays;            // in their order
    bool part = false;                    // a body of a batch
    int boxes = 0;                        // further parameters that say how boxes of arrays are copied
    int beside = 0;                       // threads of a workgroup outside the team
    int scratch = 0;  // what shared memory whose size is known at the call begins at multiples of; 0: there is none
  };
  std::string_view begin;  // what every signature begins with
  std::string (*signature)(const Frame& frame) = nullptr;
  std::string (*opening)(const Frame& frame) = nullptr;
};

namespace c_like {

std::string type_of(const CLike& as, DType dtype);  // in registers: "float", "bool"
// In memory: "unsigned char" for bool, "unsigned short" for f16 and bf16.
std::string memory_type(const CLike& as, DType dtype);
std::string literal(const CLike& as, const Scalar& constant);
// An operation on operands in registers. Integers wrap; floats are never contracted.
std::string apply(const CLike& as, UsedHelpers& used, Op op, DType operand, const std::vector<std::string>& args);
std::string raw(const CLike& as, UsedHelpers& used, kernel::RawOp op, DType from, DType to,
                const std::vector<std::string>& args);
std::string cast(const CLike& as, UsedHelpers& used, const std::string& x, DType from, DType to, bool wrap);
std::string bitcast(const CLike& as, const std::string& x, DType from, DType to);
std::string from_memory(DType dtype, const std::string& x);  // memory_type -> register
std::string to_memory(DType dtype, const std::string& x);
// A helper that is written for any type, called for this one.
std::string helper(const CLike& as, UsedHelpers& used, std::string_view name, std::string_view type,
                   const std::string& a, const std::string& b);

std::string comment_on_params(const kernel::Kernel& kernel);

}  // namespace c_like
}  // namespace smelt::emit
