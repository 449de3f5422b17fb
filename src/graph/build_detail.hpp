// What the parts of GraphBuilder share: text for messages, and how they are thrown.
#pragma once

#include <string>
#include <utility>

#include "graph/build.hpp"

namespace smelt {

// "f32[B, 8]"; rank 0 is "f32".
std::string describe(DType dtype, const Shape& shape);
inline std::string describe(const Node& node) { return describe(node.dtype, node.shape); }

// "300", "0.5", "true".
std::string describe(const Literal& literal);

// How a message writes an operand: a literal as its number, an input by its name, anything else as
// "...".
std::string expression_text(const GraphBuilder& builder, const Operand& operand);
// "f32(x)".
std::string cast_text(const GraphBuilder& builder, const Operand& operand, DType to);

[[noreturn]] inline void fail(std::string message, std::string help = "") {
  throw UserBuildError({std::move(message), std::move(help)});
}

// Runs arithmetic on sizes, whose overflow is the user's mistake.
template <class F>
auto with_sizes_checked(F&& arithmetic) {
  try {
    return arithmetic();
  } catch (const UserBuildError&) {
    throw;
  } catch (const UserError& e) {
    fail(e.what(), "use smaller sizes");
  }
}

// Throws when no array can have this shape: a negative size, too many dimensions, more elements
// than 64 bits count.
void check_shape(const Shape& shape);

// What no value is below, and what none is above.
Scalar lowest(DType dtype);
Scalar highest(DType dtype);

// What a literal meets, for messages: how the program writes it, and its type.
struct Meets {
  std::string text = "...", type;
};
// The scalar of this dtype that a literal means; throws when it does not fit.
Scalar scalar_of(const Literal& literal, DType dtype, const Meets& meets);
DType default_dtype(const Literal& literal);

// The dtype that the arguments of an operation are computed in. `what` is the operation as the user
// wrote it.
DType common_dtype(const GraphBuilder& builder, Op op, std::span<const Operand> args, const std::string& what);

// The dimension of `from` that dimension d of `to` is, when a reshape between them leaves it alone;
// else -1.
int same_dimension(const Shape& from, const Shape& to, size_t d);

// Part of one axis, everything along the others: `size` elements from `start`, every `step`-th; a
// step below 0 goes back.
NodeId slice_axis(GraphBuilder& builder, NodeId x, size_t axis, const IntExpr& start, const IntExpr& size,
                  int64_t step = 1);

}  // namespace smelt
