// Builds a Graph: infers dtypes and shapes, inserts casts and broadcasts, and explains what does
// not fit.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "graph/graph.hpp"
#include "smelt/error.hpp"

namespace smelt {

// A shape or dtype that does not fit, before the frontend adds the line and the caret.
struct BuildError {
  std::string message;  // what, with the shapes or dtypes
  std::string help;     // what to do
};

// A number written in the program: weak, that is, it takes the dtype of what it meets.
using Literal = std::variant<bool, int64_t, double>;

// What an operation takes: a node, or a literal.
struct Operand {
  NodeId node = -1;
  Literal literal = int64_t{0};
  Operand(NodeId id) : node(id) {}            // NOLINT: meant to convert
  Operand(double value) : literal(value) {}   // NOLINT
  Operand(Literal value) : literal(value) {}  // NOLINT
  bool is_literal() const { return node < 0; }
};

// Every function throws UserBuildError, never anything else, for what the user can get wrong.
class UserBuildError : public UserError {
 public:
  explicit UserBuildError(BuildError e)
      : UserError(e.message + (e.help.empty() ? "" : "\n" + e.help)), error(std::move(e)) {}
  BuildError error;
};

class GraphBuilder {
 public:
  // What the nodes built from now on are said to come from.
  void set_origin(Origin origin, std::string label);
  // The function of the user's that they are part of: what they are labelled with as long as it is
  // not empty.
  void set_function(std::string name) { function_ = std::move(name); }
  const std::string& function() const { return function_; }
  Graph finish(std::vector<NodeId> outputs, std::string source = "");

  const Node& at(NodeId id) const { return graph_.at(id); }
  const Shape& shape(NodeId id) const { return at(id).shape; }
  DType dtype(NodeId id) const { return at(id).dtype; }
  int rank(NodeId id) const { return static_cast<int>(shape(id).size()); }

  NodeId input(std::string name, DType dtype, Shape shape);
  NodeId constant(const Scalar& value);
  NodeId size_value(const IntExpr& size);  // i64, rank 0
  NodeId iota(Shape shape, int axis);      // i64
  // u32. Seed, offset and stream are integers of rank 0, of which the low 64 bits count.
  NodeId random(Shape shape, NodeId seed, NodeId offset, NodeId stream, philox::Draw draw = philox::Draw::Words);

  // Promotes (literals are weak), broadcasts, and applies the op. All-literal arguments: the
  // default dtypes i64, f32, bool.
  NodeId elementwise(Op op, std::span<const Operand> args);
  NodeId elementwise(Op op, std::initializer_list<Operand> args) {
    return elementwise(op, std::span(args.begin(), args.size()));
  }
  // x * y, of which a device may make less where both are f32.
  NodeId multiply(NodeId x, NodeId y, Precision precision);
  NodeId materialize(const Operand& operand);               // a literal becomes a constant of its default dtype
  NodeId materialize(const Operand& operand, DType dtype);  // of this dtype (error when it does not fit: 300 as i8)
  NodeId cast(NodeId x, DType to, bool wrap = false);       // x itself when it is of that dtype
  NodeId alias(NodeId x);          // x as a node of its own: gradients by it are those of its own users alone
  NodeId stop_gradient(NodeId x);  // the same, which gradients take for a constant
  NodeId reduce(ReduceKind kind, NodeId x, std::vector<int> axes, bool keepdims);  // axes may be negative; empty: all
  // The running sum, product, maximum or minimum along an axis. It restarts wherever `restart`, a
  // bool array that is broadcast to x, is true.
  NodeId scan(ReduceKind kind, NodeId x, int axis, bool reverse = false, bool exclusive = false,
              std::optional<NodeId> restart = std::nullopt);
  // y[i] = factor[i] * y[i-1] + x[i] along an axis, from y[-1] = 0, of floats of one dtype and
  // shape.
  NodeId recurrence(NodeId x, NodeId factor, int axis, bool reverse = false);
  NodeId reshape(NodeId x, Shape to);  // one size may be -1
  NodeId permute(NodeId x, std::vector<int> order);
  NodeId broadcast_to(NodeId x, Shape to);
  NodeId slice(NodeId x, std::vector<IntExpr> starts, std::vector<int64_t> steps,
               Shape result);  // proved or constrained in range
  NodeId pad(NodeId x, std::vector<IntExpr> low, std::vector<IntExpr> high, const Operand& value);
  // result[.., i, .., j] = x[.., steps * i + dilation * j, ..]: one more axis at the end, of its
  // size, for each of `axes`.
  NodeId window(NodeId x, std::vector<int> axes, const Shape& sizes, std::vector<int64_t> steps,
                std::vector<int64_t> dilation);
  NodeId extend(NodeId x, std::vector<IntExpr> low, std::vector<IntExpr> high, ExtendMode mode);
  NodeId concat(std::vector<NodeId> xs, int axis);
  // A call of the user's own code: its first result. The others are asked for by their numbers.
  NodeId custom(std::shared_ptr<const CustomCode> code, std::vector<NodeId> inputs,
                std::vector<CustomUse::Result> results);
  NodeId custom_result(NodeId first, int result);
  NodeId gather(NodeId x, NodeId indices, int axis, GatherMode mode);
  // result[.., i, ..] = x[.., indices[.., i, ..], ..]: ranks are equal, and sizes but along the
  // axis are broadcast.
  NodeId gather_along(NodeId x, NodeId indices, int axis, GatherMode mode);

  // x with updates[j..] put or added to x[indices[j..]], in the order of j; updates have the shape
  // of indices, then that of a row of x.
  NodeId scatter(ScatterKind kind, NodeId x, NodeId indices, NodeId updates, GatherMode mode, bool atomic);

  Shape broadcast_shapes(std::span<const Shape> shapes) const;  // NumPy's rule; a symbol meets itself and 1
  int normalize_axis(int axis, int rank) const;
  void require(Constraint constraint);  // throws at once when it is known to fail

 private:
  NodeId add(Node node);
  Graph graph_;
  Origin origin_;
  std::string label_, function_;
};

}  // namespace smelt
