// Kernel: the loop-level form of one launch. The same grammar describes SIMT (GPU) and SIMD (CPU)
// code; schedules choose different loops for each.
//
//   Kernel := params, locals, buffers, exprs, phases
//   Param  := Input | Output | Temporary (an array in memory, with dims)  | Scalar (a rank-0 value)  | Size (a symbol)
//   Phase  := a list of statements, whose outermost loop is a Grid loop; a grid-wide barrier is between phases
//   Stmt   := Loop(kind, var, extent, body, interior?)   var = 0 .. extent-1; the interior is another body for some of these
//           | Let(local, expr)                    a value named once, visible in the rest of its block and in inner blocks
//           | Assign(local, expr)                 gives a mutable local its (next) value: accumulators
//           | Combine(local, op, index_local?, columns?)   reduces a local's lanes of the Vector loop just ended to one uniform value, or to
//                                           one for each column of its elements
//           | Scan(local, op, carry, expr, start, exclusive, restarts? or factor?, over_grid?)   the running value of expr over the lanes of
//                                           the Vector loop around, in order, after the mutable local carry, which ends as that of all
//                                           lanes; restarts where `restarts` is true; a sum of floats is multiplied by `factor` before
//                                           expr is added
//           | Turn(into, from, rows, columns)     what is at [r, c] of a block of scratch goes to [c, r] of another (CPU only)
//           | TileProduct(into, rows, rows_axis, columns, words, first)   matrix units of a CPU: what words of staged rows, or of those
//                                           of an array, and staged columns make is added to a block of scratch, or becomes it
//           | Matrix(step, fragment, buffers)      matrix units of a GPU: sums of a tile, in the registers of the whole team, become
//                                           0; take the products of two staged factors, or of the sums of another tile and a staged
//                                           one; go to scratch; or are weighed by exponentials below the maximum of each row so far
//           | Alloc(buffer)                       scratch memory of this workgroup (CPU: of this thread)
//           | Store(param or buffer, index, mask?, expr, atomic?, cursor?, later?)   atomic (GPU only): joined by that operation
//                                           with what is there, in any order; with a cursor, an integer in memory: appended, to the
//                                           element that the cursor counts from the index on, which then is one more; later (in a
//                                           pipeline): need not be there before it is used
//           | Barrier                                   the threads of the team wait for each other (GPU only, outside of
//                                           Vector loops)
//           | Prefetch(param, offset, elements, level)   asks the caches for elements of an array, from its flat offset
//                                           on; they may lie outside of it (CPU only, in whole steps of a Vector loop)
//           | Each(var, extent, expr, body)       body for those of 0 .. extent-1, in order, of which the condition expr holds; many are
//                                           asked at once, so that expr is nothing but an expression of var
//           | If(expr, body)                      uniform condition
//   Expr   := Const(scalar) | ReadLocal(local) | IndexValue(IntExpr) | Apply(op, args) | Cast(x, wrap) | Bitcast(x)
//           | Raw(op, args)                      what only expansions use: undefined outside of its stated operands
//           | Load(param or buffer, index, mask?, other)
//           | Random(draw, seed, offset, stream, IntExpr)   u32: that element of an array of random words (ops/philox.hpp)
//
// Scan. `local` is a new value of each lane: expr of lane 0 to that of the lane at hand, joined by
// `op` in a fixed order that neither times nor addresses change; `exclusive`: without the lane's
// own, `start` where it restarts. Sums of floats take -0 for the value of nothing, so that -0
// stays. It is a direct child of the Vector loop. With `over_grid` (GPU only) iterations of the
// Grid loop continue each other: this one is number `part` of `parts`, whose loops each take one
// step; a counter of the phase starts iterations in order; they communicate through `meet`, a
// temporary whose last dimensions are [3, parts, scan_words()], initially 0. Factors are joined
// too: what runs is a pair, the sum and the product of the factors, and (s, p) then (t, q) is
// (q * s + t, p * q). A factor that is not finite makes the sum NaN.
//
// Pipeline (GPU only). A Serial loop with `stages` fills parts of scratch buffers, whose first
// dimension is the stages, in Vector loops, and multiplies them afterwards. Both use only stage var
// % stages, so that a part may be filled while the ones before it are multiplied: parts_ahead()
// iterations ahead (pipeline.hpp). The printer adds the waits; the body has no Barrier.
//
// Loop kinds. Grid: independent iterations (CPU: spread over threads; GPU: each run by a team of
// threads). Thread: over the threads of a workgroup. Vector: over lanes (CPU: of a SIMD vector;
// GPU: spread over the threads of the team, `lanes` neighbours to a thread); its body is written
// for one lane, and runs only where var < extent (the printer masks the tail); it may contain
// Serial and Unrolled loops with uniform extents, but no other Vector loop. Unrolled and Serial: in
// order. A local assigned inside a Vector loop but declared outside is one value per lane, until
// Combine makes it uniform; on a GPU another Vector loop may go over these lanes,
// accumulator_lanes() of them to a thread. Elsewhere all threads of a team compute the same.
//
// Columns (GPU only). The elements of a Vector loop may be rows of `columns` columns, element n in
// column n % columns. A step of the team takes whole rows, so that a lane gets elements of one
// column only, in this loop and in every other one with as many columns. A Combine over columns
// combines the lanes of each column; then a lane has the value of its column.
//
// Types in registers: bool is a condition (i1), every other dtype is itself. f16 and bf16 are bits
// to load, keep and store; arithmetic on them takes a Cast to f32 and one back, with one rounding.
// Index expressions stay one per dimension until verify() has proved them inside the array's dims;
// only the printers flatten them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/int_expr.hpp"
#include "base/one_of.hpp"
#include "base/shape.hpp"
#include "graph/graph.hpp"
#include "ops/op.hpp"

namespace smelt::kernel {

using ExprId = int32_t;
using LocalId = int32_t;
inline constexpr ExprId kNoExpr = -1;

enum class ParamKind : uint8_t { Input, Output, Temporary, Scalar, Size };

struct Param {
  ParamKind kind;
  DType dtype{};
  Shape dims;                    // of an array
  std::vector<IntExpr> strides;  // of an array, in elements; symbols of kind Stride are launch arguments
  std::optional<Symbol> symbol;  // of a Size
  NodeId value = -1;             // the node of the graph that it holds; -1: memory between the phases of this kernel
  bool lasts = false;            // GPU: an input of which the L2 cache had better evict even single elements last
  bool passes = false;           // GPU: an input that is read once, so that the L1 cache need not keep it
  std::string note;              // what it is, for print and for comments
};

// Scratch memory.
enum class Scope : uint8_t { Lane, Workgroup };
// When it is used: always, for the parts of a loop alone, or once that has ended, in the same
// memory.
enum class Lifetime : uint8_t { Always, Pipeline, Behind };
struct ScratchBuffer {
  DType dtype;
  std::vector<IntExpr> dims;  // row-major
  Scope scope = Scope::Workgroup;
  Lifetime lifetime = Lifetime::Always;
  // The pieces of 16 bytes within a row of 128 or 64 are permuted by the number of the row, against
  // bank conflicts along rows and across them ("swizzling modes" in the PTX ISA). For elements of 2
  // bytes.
  bool swizzled = false;
};

// An element of an array or of a scratch buffer, one index per dimension.
struct Access {
  bool scratch = false;  // `array` counts buffers instead of params
  int array = 0;
  std::vector<IntExpr> index;
};

// Operations of expansions. Operands other than those stated are undefined; divisions may trap.
enum class RawOp : uint8_t {
  // On every target.
  TruncDiv,  // integers, rounded toward zero; divisor not 0, not MIN / -1
  TruncRem,  // its remainder
  Shl,
  Shr,    // integers by 0 <= count < width; Shr keeps the sign of signed ones
  ToInt,  // a float to the signed integer of its width, truncated; any value without a trap when it does not fit
  // On a CPU with such instructions: accumulator, two words of u32, multiplied part by part.
  DotBF16,   // an f32, and two bf16 in each word; subnormal numbers count as 0
  DotBytes,  // an i32, which wraps; four u8, and four i8
  // For f32 on a GPU; their errors are in smelt/static/unit.hpp.
  PowerOfTwo,
  PowerOfTwoFull,
  Reciprocal,
  Quotient,
  InverseRoot,
  Root,
  SaturatedFma,
  Sine,  // f32 or f64: at most 2 ULP, of any x (CUDA C++ Programming Guide, mathematical functions)
  Cosine,
  Tangent,             // the same, at most 4 ULP of f32
  TruncatedRemainder,  // what Op::Fmod, Op::Mod and Op::FloorDiv say, in a branch of their own for large quotients
  FlooredRemainder,
  FlooredQuotient,
  RoundF16,  // to the nearest value of that format, which stays f32
  RoundBF16,
  // On a GPU: the x of the thread n to the right; n is a constant i32, negative to the left.
  // It is in a Vector loop of 32 lanes that a team of 32 threads runs, one lane each; the value is
  // undefined where that thread is outside of the team.
  FromThread,
  FromThreadAround,  // the same, where the first thread follows the last one
};

inline bool is_from_thread(RawOp op) { return op == RawOp::FromThread || op == RawOp::FromThreadAround; }

// What functions are expanded into.
enum class Dialect : uint8_t {
  Portable,     // operations that every target has
  PlainTeam,    // the same, run by teams of threads
  PlainThread,  // the same, a workgroup's threads each run iterations as a CPU does
  Gpu,          // those that GPUs have besides
  GpuHalf,      // the same, less exact, for results that are rounded to f16 or bf16 (docs/numerics.md)
};

// The kinds of expressions.
struct Const {
  Scalar value;
};
struct ReadLocal {
  LocalId local;
};
struct IndexValue {  // as i64
  IntExpr value;
};
struct Apply {
  Op op;
  std::vector<ExprId> args;
};
struct Cast {
  ExprId x;
  bool wrap = false;
};
struct Bitcast {
  ExprId x;
};
struct Raw {
  RawOp op;
  std::vector<ExprId> args;
};
struct Load {
  Access access;
  ExprId mask = kNoExpr;  // a bool; where it is false nothing is read and `other` is the value
  ExprId other = kNoExpr;
};
struct Random {
  philox::Draw draw;
  std::array<ExprId, 3> args;  // seed, offset, stream
  IntExpr element, extent;     // the number of the element, from 0, and how many there are
};

struct Expr : OneOf<Const, ReadLocal, IndexValue, Apply, Cast, Bitcast, Raw, Load, Random> {
  template <class Kind>
  Expr(DType type, Kind kind) : OneOf(std::move(kind)), dtype(type) {}
  // The operation and its operands, if it is this one.
  const Apply* as_apply(Op op) const {
    const Apply* apply = get_if<Apply>();
    return apply && apply->op == op ? apply : nullptr;
  }

  DType dtype;  // in registers: never f16, bf16
};

struct Local {
  DType dtype;
  bool is_mutable = false;  // assigned more than once
};

enum class LoopKind : uint8_t { Grid, Thread, Vector, Unrolled, Serial };

struct LaneForms;  // lane_forms.hpp
struct TeamForms;  // team_forms.hpp

// What a Vector loop brings on chip of an array, where that is a box: element n of the loop is the
// array's at `first`, moved by n % line along the first side and by n / line along the second one,
// and 0 where a position is not below its extent.
struct Box {
  struct Side {
    IntExpr extent, stride, first;  // of the array, in elements; the first side's stride is 1
  };
  int param;
  std::vector<Side> sides;
  int64_t line, lines;
};

// The kinds of statements.
struct Stmt;
// The elements of a Vector loop on a CPU for which conditions hold: for first .. last-1, if each of
// `holds` is at least 0, this body is equivalent to that of the loop.
struct Interior {
  IntExpr first, last;  // 0 <= first, last <= extent
  std::vector<IntExpr> holds;
  std::vector<Stmt> body;
};
struct Loop {
  LoopKind kind;
  Symbol var;
  IntExpr extent;
  std::vector<Stmt> body;
  int lanes = 1;       // Vector: lanes per step, a power of two, of 4, or all; GPU: neighbours of one thread
  int unroll = 1;      // Vector on a GPU: steps taken together; Serial inside: written out (0: one, 1: some)
  int columns = 0;     // Vector on a GPU: of its elements; 0: all elements are alike
  bool whole = false;  // Vector on a GPU: these steps are expected to be all
  int ahead = 0;       // Serial on a CPU: its Vector loops prefetch what they read this many iterations ahead
  bool rare = false;   // on a CPU: runs seldom, so small code is better than fast code
  int stages = 0;      // Serial on a GPU: of a pipeline; 0: none
  bool boxed = false;  // of a pipeline: the device has an engine that copies boxes of arrays
  int begins = 0;      // Vector on a CPU: whole steps may begin at multiples of so many elements; 0: of the lanes
  std::optional<Interior> interior;        // Vector on a CPU
  std::shared_ptr<const LaneForms> forms;  // Vector on a CPU, once they are known
  std::shared_ptr<const TeamForms> team;   // Vector on a GPU, and inside of one, once they are known
  std::shared_ptr<const Box> box;          // Vector in a boxed pipeline, where it is one and that is known
};
struct Let {
  LocalId local;
  ExprId value;
};
struct Assign {
  LocalId local;
  ExprId value;
};
// Argument reductions combine `local` and `index_local` together: the extreme of `local` (nan
// wins), and of equals the smallest index.
struct Combine {
  LocalId local;
  Op op;  // Add, Mul, Max, Min, And, Or
  LocalId index_local = -1;
  int columns = 0;  // of the loop before it
};
struct Scan {
  // How the parts of a scan over the grid communicate, and which of them this one is.
  struct OverGrid {
    Access meet;
    IntExpr part, parts;
  };
  LocalId local;
  Op op;
  LocalId carry;
  ExprId value;
  ExprId start;  // a constant
  bool exclusive = false;
  ExprId restarts = kNoExpr;  // a bool
  ExprId factor = kNoExpr;    // of the dtype of local
  std::optional<OverGrid> over_grid;
};
// What is at [r, c] after `from`, of so many rows and columns, goes to [c, r] after `into`: scratch
// of one dtype, of 4 or 8 bytes. The indices that are moved are the last two; the last one and its
// dimension are multiples of 16.
struct Turn {
  Access into, from;
  IntExpr rows, columns;  // multiples of 16, above 0
};
// To the element at [r, c] after `into`, of the 16 * down rows and 16 * across columns from there
// on, is added the sum, over the words w and the terms of a word, of the products of the terms at
// [r, w] after `rows` and at [w, c] after `columns`: bf16 to an f32, bytes to an i32, which wraps.
// Words of bf16 are added up 16 at a time from 0, the first terms and the second ones each by fmas
// in order, then both, then to what is there; subnormal numbers count as 0. All three are scratch,
// of which the last two indices are moved, but for rows that lie in an array of the terms: those go
// along an axis of it, and words along the last one.
struct TileProduct {
  Access into, rows, columns;
  int rows_axis = -1;             // of an array; -1: rows are scratch
  IntExpr words;                  // a multiple of 16, above 0
  DType rows_type, columns_type;  // of the terms: BF16, or each of I8 and U8
  int down = 2, across = 2;       // down * across <= 4, in tiles of 16 x 16
  bool first = false;             // what is there counts as 0
  int terms() const { return rows_type == DType::BF16 ? 2 : 4; }
  // The last term that is read of an array.
  Access last_of_rows() const {
    Access last = rows;
    IntExpr &row = last.index[static_cast<size_t>(rows_axis)], &term = last.index.back();
    row = row + (16 * down - 1), term = term + words * terms() - 1;
    return last;
  }
};
// Steps on the sums of a tile (Kernel::fragments). Weigh, of each row of a fragment that has
// weights: its maximum m becomes that of m and the scores `by`; these become exp(score - m); the
// total and the sums so far are rescaled, and the new weights are added to the total. A row of
// which every score was -inf has a maximum of -inf, weights of 0 and a total of 0.
struct Matrix {
  enum class Step : uint8_t { Clear, Multiply, Add, AddFinite, Put, Weigh, PutRows } step;
  int fragment = 0;
  int rows = -1, columns = -1;  // Multiply: buffers of the factors, each with all stages of the pipeline around
  int into = -1;                // Put: a buffer [rows, more than columns], or one a warp; PutRows: [2, rows]
  // Multiply: the fragment that is the rows' factor, rounded, in place of a buffer; Weigh; Add:
  // what is added, AddFinite: where it is finite
  int by = -1;
  float scale = 1;  // Weigh, PutRows: what sums are multiplied by to be scores, above 0
};
struct Alloc {
  int buffer;
};
struct Store {
  Access access;
  ExprId value;
  ExprId mask = kNoExpr;              // a bool; nothing is written where it is false
  bool streaming = false;             // not read again soon; may bypass the caches
  std::optional<Op> atomic;           // GPU only: Add, Max or Min; joined with what is there, in any order
  std::optional<Access> cursor = {};  // atomic ones: appended; whoever made the cursor sees to it that there is room
  std::optional<int64_t> step;        // in a Vector loop on a CPU: elements from a lane to the next; nothing: any
  // Of `step` stores that together fill what lies between the lanes: which element of each group it
  // has, and whether it is the last of them, which makes all. -1: it is on its own.
  int64_t part = -1;
  bool closes = false;
  bool later = false;  // in a pipeline, of an element as it is in an array: may still be on its way after the statement
};
struct If {
  ExprId condition;
  std::vector<Stmt> body;
};
struct Each {
  Symbol var;
  IntExpr extent;
  ExprId condition;
  std::vector<Stmt> body;
  int lanes = 1;                           // that are asked at once on a CPU
  std::shared_ptr<const LaneForms> forms;  // of the condition, as of a Vector loop
};
struct Prefetch {
  int param;
  IntExpr offset, elements;
  int level;  // of the caches, 1 or 2
};
struct Barrier {};

struct Stmt
    : OneOf<Loop, Let, Assign, Combine, Scan, Turn, TileProduct, Matrix, Alloc, Store, If, Each, Prefetch, Barrier> {
  using OneOf::OneOf;
};

// GPU: the threads that run one iteration of the Grid loop together. A power of two; above those of
// one workgroup, they are a cluster.
struct Team {
  int threads = 0;    // 0: CPU
  int workgroup = 0;  // threads of a workgroup; it runs workgroup / threads iterations when that is more than one
  int resident = 0;   // workgroups that a multiprocessor holds at a time, for which registers must do; 0: any number
  int iterations() const { return workgroup > threads ? workgroup / threads : 1; }
  int cluster() const { return threads > workgroup ? threads / workgroup : 1; }
};

// Values that a thread of a GPU keeps of an accumulator: element n of a step goes to n modulo this.
constexpr int accumulator_lanes(int lanes, int unroll) {
  int slots = 1;
  while (2 * slots <= lanes * unroll && slots < 4) slots *= 2;
  return slots;
}

// Words of 64 bits by which a part of a scan over the grid publishes its totals.
inline int scan_words(DType t, bool has_factors) {
  const int bytes = size_of(t) * (has_factors ? 2 : 1);
  return bytes > 4 ? bytes / 8 + 1 : 1;
}

// GPU: a function of a phase. A launch takes the first that may run.
struct Variant {
  // Fast: where extents are multiples of the lanes. Odd: where they need not be. Any: every size
  // and address. Ending: inside of the phase before, run by the workgroup that is done last.
  enum class Form : uint8_t { Fast, Odd, Any, Ending };
  Form form = Form::Any;
  bool vectors = false;       // accesses of several neighbours at once, where addresses and sizes allow
  bool held = false;          // one step covers the loops of which that is expected
  bool wide = false;          // 64-bit indices
  bool boxes = false;         // what is copied in the pipeline comes as boxes, which threads outside the team request
  std::vector<IntExpr> when;  // each is at least 0 where it may run
  std::vector<int> alignment = {};  // per param, in bytes, of its address where it may run; 0 for what is no array
};

// Two params of which the output may reuse the memory of the input (in_place.hpp).
struct InPlace {
  int input, output;
};

struct Phase {
  std::vector<Stmt> body;  // one Grid loop
  IntExpr work = 1;        // elements touched by one iteration of the Grid loop, which bounds how finely it is split
  Team team;
  bool last =
      false;  // GPU: its one iteration is run by the workgroup that is done last with the phase before, in that launch
  int counter =
      -1;  // GPU: a temporary of u64, whose last word, 0 before, deals out the iterations in order; -1: any order
  std::vector<Variant> variants = {};  // GPU: the best first, once they are known
  // All that it does is to copy the input to the output: nothing where both are the same memory.
  std::optional<InPlace> copies = {};
  // Numerators of quotients and remainders that are never below 0 in the phase, once they are
  // known.
  std::set<IntExpr> naturals = {};
};

// The threads of the device that runs a kernel, and whether what it writes bypasses the caches.
inline const Symbol kLaunchThreads = Symbol::launch("threads"), kLaunchStream = Symbol::launch("stream");

// A size that is computed at launch from the sizes of the call and kLaunchThreads, such as the
// number of parts of a split reduction.
struct LaunchSize {
  Symbol symbol;  // of kind Launch or Multiplier; a Size param has it too
  IntExpr value;
};

// The multiplier for a division by a divisor other than 0 (multipliers.hpp).
IntExpr multiplier_of(const IntExpr& divisor);

// A local of type i64 that index expressions may use, as Symbol::local(local): a gathered index
// after its clamp, or one that the condition of an Each has found inside.
struct IndexLocal {
  LocalId local;
  IntExpr extent;  // 0 <= value < extent, by construction
};

// Outputs larger than this in total do not stay in the caches until they are read again, unless the
// last-level cache is large, so they are written by streaming stores.
inline constexpr int64_t kStreamBytes = 8 << 20;

// The error of a clamped kernel when an index was outside: a bug of the compiler.
inline constexpr int32_t kOutsideOfArray = -1;

// A piece of work of a batch: arrays and sizes of its own for one of the batch's bodies.
struct Part {
  int body = 0;
  std::vector<NodeId> values;                     // per param of the body: the node that it holds; -1 for none
  std::vector<std::pair<Symbol, IntExpr>> sizes;  // what symbols of the body's own stand for
};

// The sums of a tile that matrix units of a GPU add up: each warp of the team has a part of the
// tile in its registers. A factor is staged in rows of width(n) neighbours, n of them along the
// inner axis or along its own (rows or columns), whichever has neighbours in memory: [stages, n /
// width(n), rounded up, the other axis, width(n)], swizzled.
struct Fragment {
  DType factors, sums;
  int rows, columns, inner;  // of the tile, and of the part that is staged at a time
  // Elements between the rows of the buffer that sums are put into.
  static constexpr int kApart = 8, kApartOfWarps = 2;
  int apart() const { return of_warps ? kApartOfWarps : kApart; }
  int down;  // warps next to each other along the rows; the others are along the columns
  bool rows_along_inner, columns_along_inner;
  static constexpr int64_t width(int64_t n) { return n > 32 ? 64 : 32; }
  static constexpr int64_t pieces(int64_t n) { return (n + width(n) - 1) / width(n); }
  // Each warp has all of it, of terms of its own: both factors are scratch of lanes, of which a
  // thread has `inner / 4` neighbours of each eighth row, and of each eighth column.
  bool of_warps = false;
  bool holds_rows = false;   // the rows' factor is another fragment, rounded in registers
  bool has_weights = false;  // and each row has a maximum and a total (Matrix::Step::Weigh)
  // Scratch of Scope::Lane by which Vector loops access the sums, as [pair, 2] (pair_at). -1: none.
  int registers = -1;
  int pairs() const { return rows * columns / 2; }
  // Whether four warps have 64 rows and all columns, as for instructions of compute capability 9.0.
  bool in_groups() const {
    return down * 16 == rows && down % 4 == 0 && columns % 16 == 0 && columns >= 48 && columns <= 256;
  }
};

struct Kernel {
  std::string name;  // generated: "k0"
  Dialect dialect = Dialect::Portable;
  std::vector<Param> params;
  std::vector<Local> locals;
  std::vector<ScratchBuffer> buffers;
  std::vector<Fragment> fragments;
  std::vector<Expr> exprs;  // arguments come before their users; equal expressions are one
  std::vector<Phase> phases;
  std::vector<LaunchSize> launch_sizes;  // in order: a later one may use an earlier one
  std::vector<IndexLocal> index_locals;
  // Each is >= 0 in every call: the graph's constraints on sizes, checked when these are bound.
  std::vector<IntExpr> assumptions;
  std::map<ExprId, std::string>
      labels;                     // the operation of the program that an expression is the value of, for comments
  bool ordered = false;           // barriers are where threads meet in scratch (barriers.hpp)
  bool clamped = false;           // indices that could not be proved inside are clamped: slower, never wrong
  std::vector<InPlace> in_place;  // once it is known
  std::vector<std::string_view> undone;  // passes whose result could not be proved: slower, never wrong
  int counter_param =
      -1;  // i32[1]: how many workgroups are done, for a phase that is run by the last; 0 between launches
  // i32[1]: for an index out of range, its gather's place in `checks` + 1; or kOutsideOfArray.
  int error_param = -1;
  std::vector<NodeId> checks;  // gathers whose indices are checked
  // A batch: independent work in one launch, every form of it once. Only the name is set besides.
  std::vector<Kernel> bodies;
  std::vector<Part> parts;
  bool is_batch() const { return !bodies.empty(); }

  const Expr& at(ExprId id) const { return exprs[static_cast<size_t>(id)]; }
  // Whether another param may be the same memory.
  bool may_be_shared(int param) const {
    return std::any_of(in_place.begin(), in_place.end(),
                       [&](const InPlace& p) { return p.input == param || p.output == param; });
  }
  // The dtype of the elements of the array or the scratch buffer.
  DType dtype_of(const Access& access) const {
    return access.scratch ? buffers[static_cast<size_t>(access.array)].dtype
                          : params[static_cast<size_t>(access.array)].dtype;
  }
  // Its value, if it is a constant.
  const Scalar* constant_at(ExprId id) const {
    const Const* constant = at(id).get_if<Const>();
    return constant ? &constant->value : nullptr;
  }
  // Whether it is known to be 0, and not -0.
  bool is_zero(ExprId id) const {
    const Scalar* known = constant_at(id);
    if (!known) return false;
    return is_float(known->dtype) ? known->f == 0 && !std::signbit(known->f) : known->i == 0 && known->u == 0;
  }
};

// Indented text, the same for the same kernel.
std::string print(const Kernel& kernel);
// With comments that say which operations of the program a line computes.
std::string print_with_labels(const Kernel& kernel);

// Proves that every index of every access lies inside its array (from the ranges of the loops;
// sizes may be symbols), or is guarded by its mask, that locals are defined before use, and that
// dtypes agree. Throws InternalError with the access at fault.
void verify(const Kernel& kernel);
// The same, of a kernel that was verified in another form; `proved` has the proofs of that.
class Proved;
void verify(const Kernel& kernel, Proved& proved);

}  // namespace smelt::kernel
