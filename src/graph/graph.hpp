// Graph: a program as primitive tensor operations in single-assignment form. Immutable once built.
//
//   Graph  := nodes, inputs, outputs, constraints
//   Node   := Input                              an array of the caller (rank 0: a scalar, a runtime argument)
//           | Constant(scalar)                   rank 0
//           | SizeValue(IntExpr)                 rank 0, i64: a size of the program as a value
//           | Iota(axis)                         i64: the index along `axis` of a given shape
//           | Random(seed, offset, stream)     u32: word e of Philox, e counting the elements in row-major order
//           | Elementwise(op, args...)           args have the node's shape; dtypes as the op's rule says
//           | Cast(x)                            to the node's dtype; saturating, or wrapping. To the dtype of x: x as a
//                                                node of its own, which matters to gradients alone
//           | Reduce(kind, x, axes)              drops the axes
//           | Scan(kind, x, restart?, axis)      the running sum, product, maximum or minimum along the axis;
//                                                restarts where `restart`, bools, is true. A sum of floats may have
//                                                floats there, factors: y[i] = factor[i] * y[i-1] + x[i]
//           | Reshape(x) | Permute(x, order) | Broadcast(x) | Slice(x, starts, steps)
//           | Window(x, axes, steps, dilation)   numpy's sliding_window_view: appends an axis for each of `axes`
//           | Extend(x, mode, low)               x continued past its ends: repeated edges, mirrored, or around
//           | Pad(x, value, low)                 value is rank 0
//           | Concat(axis, args...)
//           | Gather(x, indices, axis, mode)     numpy.take; `along`: numpy.take_along_axis
//           | Custom(use, result, args...)       the user's own code, on stored arrays
//           | Scatter(kind, x, indices, updates) x, with updates[j] put, added, .. to row indices[j], for all j in order
//
// Views, from Reshape to Extend, use no memory. Broadcasting is explicit: args of Elementwise all
// have the node's shape. All other functions that a user calls are built from these nodes
// (functions.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/scalar.hpp"
#include "base/shape.hpp"
#include "ops/op.hpp"
#include "ops/philox.hpp"
#include "smelt/precision.hpp"

namespace smelt {

using NodeId = int32_t;

struct CustomCode;  // graph/custom_code.hpp

// One call of the user's own code. Each of its results is a node; nodes of one call share this.
struct CustomUse {
  struct Result {
    DType dtype;
    Shape shape;
  };
  std::shared_ptr<const CustomCode> code;
  std::vector<Result> results;
};

enum class NodeKind : uint8_t {
  Input,
  Constant,
  SizeValue,
  Iota,
  Random,
  Elementwise,
  Cast,
  Reduce,
  Scan,
  Reshape,
  Permute,
  Broadcast,
  Slice,
  Window,
  Extend,
  Pad,
  Concat,
  Gather,
  Custom,
  Scatter
};
// A view of the same elements.
constexpr bool is_view(NodeKind kind) { return kind >= NodeKind::Reshape && kind <= NodeKind::Extend; }
enum class ReduceKind : uint8_t { Sum, Prod, Max, Min, Any, All, ArgMax, ArgMin };
// The meaning of an index i outside of 0 .. size-1. Check: from the end for -size .. -1, as in
// numpy.take, else an error. Clamp: the nearest. Wrap: modulo. Drop: nothing is written (scatters
// only).
enum class GatherMode : uint8_t { Check, Clamp, Wrap, Drop };
// How an update changes an element.
enum class ScatterKind : uint8_t { Set, Add, Mul, Max, Min };

// The values outside of x, named as in numpy.pad. Of 1 2 3: Edge 1 1 | 1 2 3 | 3 3; Reflect 3 2 |
// 1 2 3 | 2 1; Symmetric 2 1 | 1 2 3 | 3 2; Wrap 2 3 | 1 2 3 | 1 2.
enum class ExtendMode : uint8_t { Edge, Reflect, Symmetric, Wrap };

std::string_view name_of(NodeKind kind);
std::string_view name_of(ReduceKind kind);
std::string_view name_of(ScatterKind kind);
std::string_view name_of(ExtendMode mode);
std::string_view name_of(Precision precision);
std::string_view name_of_scan(ReduceKind kind);  // "cumsum"

// Where in the user's text a node comes from. `file`: the C++ source whose calls built the program,
// of which only the line is known; it lives as long as the process. Null: the text of the program.
struct Origin {
  int line = 0, column = 0, length = 0;  // line and column from 1
  const char* file = nullptr;
};
// The end of a message: ` (line 3)`, `\n  at main.cpp:3`, or nothing.
std::string place_text(const Origin& origin);

struct Node {
  NodeKind kind;
  Op op{};  // Elementwise
  Precision
      precision{};  // Elementwise: of a multiplication of f32 whose products are added up, and of those of its gradients
  ReduceKind reduce{};     // Reduce; Scan: Sum, Prod, Max or Min
  bool wrap = false;       // Cast: keep the low bits instead of saturating
  bool stops = false;      // Cast: gradients take it for a constant
  GatherMode gather{};     // Gather, Scatter
  ScatterKind scatter{};   // Scatter
  bool atomic = false;     // Scatter: floats are added in any order, where that is faster
  bool local = false;      // Reduce: over few elements, as of a window, so that it is evaluated wherever it is needed
  philox::Draw draw{};     // Random
  bool along = false;      // Gather: indices have the shape of x but along the axis, and each picks in its own row
  ExtendMode extend{};     // Extend
  bool reverse = false;    // Scan: from the end of the axis to its start
  bool exclusive = false;  // Scan: of what comes before an element, without itself
  int result = 0;          // Custom: which result of its use
  DType dtype{};
  Shape shape;
  std::vector<NodeId> args;
  std::vector<int> axes;  // Reduce: the axes, ascending; Permute: result dimension d is argument dimension axes[d];
                          // Iota, Concat, Gather, Scan: one axis; Window: those that it slides
                          // along, in the order of the axes that it appends
  std::vector<IntExpr> starts;  // Slice: first index per dimension; Pad, Extend: elements in front, per dimension
  std::vector<int64_t> steps;   // Slice: per dimension, not 0; result[i] = x[start + step * i]
                                // Input: elements between neighbours in memory, see strides_of().
                                // Window: per windowed axis, as dilation, both positive:
                                // result[.., i, .., j] = x[.., step * i + dilation * j, ..]
  std::vector<int64_t> dilation;
  Scalar constant;                          // Constant
  IntExpr size;                             // SizeValue
  std::string name;                         // Input: the user's name (for messages only)
  std::shared_ptr<const CustomUse> custom;  // Custom
  Origin origin;
  std::string label;  // what the user wrote for it: "relu", "layernorm", "+"
};

// A condition on the sizes of a call: left = right, left >= right, or left divisible by right.
struct Constraint {
  enum Kind : uint8_t { Equal, AtLeast, Divisible } kind;
  IntExpr left, right;
  std::string message;  // complete, for the user, without the numbers
  Origin origin;
};

struct Graph {
  // Arguments come before their users. What appends nodes may hold references to others.
  std::deque<Node> nodes;
  std::vector<NodeId> inputs;   // in the order of declaration
  std::vector<NodeId> outputs;  // a node may occur here twice
  std::vector<Constraint> constraints;
  std::string source;  // the user's text, for messages

  const Node& at(NodeId id) const { return nodes[static_cast<size_t>(id)]; }
  std::vector<Symbol> size_symbols() const;  // of the inputs' shapes, in order of appearance
};

// The node that a chain of views shows, which may be `id` itself, of a Graph or of one that is
// being built.
template <class Nodes>
NodeId behind_views(const Nodes& nodes, NodeId id) {
  while (is_view(nodes.at(id).kind)) id = nodes.at(id).args[0];
  return id;
}
inline bool is_elementwise(const Node& node, Op op) { return node.kind == NodeKind::Elementwise && node.op == op; }
// Elements between neighbours along each dimension, where the value lies in memory: the steps of an
// input that has them, else row-major.
Shape strides_of(const Node& node);
// Whether a Scan multiplies its running sum by the factors of its second argument.
bool has_factors(const Graph& graph, const Node& scan);
// Elements of which each row of the value begins at a multiple: of row-major ones the last
// dimension.
IntExpr row_apart(const Node& node);
// The same text for the same graph: one line a node, "%3 = add f32[B, 1024] %1 %2".
std::string print(const Graph& graph);
// Throws InternalError when an argument, a shape, a dtype or an attribute breaks the grammar above.
void verify(const Graph& graph);
// The number of elements that each result of a local reduction reduces.
int64_t local_elements(const Graph& graph, const Node& reduce);
// How many users each node has (uses by outputs counted).
std::vector<int> use_counts(const Graph& graph);

// Finds the value of every size symbol from the inputs' real dims. Throws UserError (naming the
// input) when ranks or sizes disagree, or when a constraint of the graph does not hold.
SizeBinding bind_sizes(const Graph& graph, const std::vector<Dims>& input_dims);

bool holds(const Constraint& constraint, const SizeBinding& sizes);

// Folds constants, drops unused nodes, merges equal nodes, and removes operations that do nothing.
// Never changes a result, except that a sum of sums adds in another order: no rule that is false
// for NaN, -0 or infinity.
Graph simplify(const Graph& graph);
// As the program has them, before some were written again for each of their users.
Graph merge_equal_nodes(const Graph& graph);
// Keeps inputs, outputs, and what outputs need: the new numbers of nodes, -1 of those that are
// gone.
std::vector<NodeId> drop_unused(Graph& graph);
// The same with reductions of reductions merged; the inner ones become unused.
Graph join_reductions(Graph graph);
// Inserts, before every Custom that reads a view or a generated value, a Cast to the same dtype,
// which is computed and stored.
Graph store_for_custom(const Graph& graph);

// The same with reductions of at most `most` elements made local if they reduce a value of two
// arrays, each broadcast along an axis of the other; matrix products of more than 8 terms are not.
// `in_tiles`: nor are convolutions of many channels, with `units` those of halves, with `parts`
// those of f32. Without `in_tiles` sums of short rows are local too, where one result of each is
// all that is needed.
Graph with_local_reductions(Graph graph, int64_t most, bool in_tiles, bool units, bool parts = false);
// Whether a reduction is a product of matrices, as a convolution of many channels is: tiles of
// those use what is read more often than windows.
bool is_dense_product(const Graph& graph, const Node& reduce);
// The same with reductions over a short last axis and others as a local one of that axis inside of
// one of the others, where the axes are not one piece of all arrays that are read.
Graph with_short_axes_apart(const Graph& graph);
// The same with reductions of arrays of one element each that are joined along the axis written
// out; nothing where there are none.
std::optional<Graph> with_joined_reduced(const Graph& graph);
// The same with scatters into each other's results, all of as many updates, as one; nothing where
// there are none.
std::optional<Graph> with_joined_scatters(const Graph& graph);
// The same with sums and extrema over long windows written as sums and extrema of shorter ones.
Graph with_windows_in_steps(const Graph& graph);
// The same with rolls by a few elements as slices of arrays that go on around their ends; nothing
// where there are none.
std::optional<Graph> with_rolls_continued(const Graph& graph);
// The same with single elements of the rows of scans as reductions of those, where the scans have
// other readers; nothing where there are none.
std::optional<Graph> with_scan_ends_reduced(const Graph& graph);

// The reference: op by op, floats in float64 with no rounding in between (an explicit cast to a
// float type rounds), integers exact. One result per output: floats as F64 tensors, others in their
// own dtype. Throws UserError on a gather out of range.
std::vector<Tensor> interpret(const Graph& graph, const std::vector<TensorView>& inputs);

}  // namespace smelt
