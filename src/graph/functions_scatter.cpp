// Updates of places that the data names, and what is counted or summed by them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/term.hpp"

namespace smelt::functions {

// In halves each addition and product would round, so they are computed in f32.
static DType scatter_type(ScatterKind kind, DType dtype) {
  return kind == ScatterKind::Add || kind == ScatterKind::Mul ? compute_type(dtype) : dtype;
}

// Before axes move, so that messages show x as the user has it. `wide` is the shape that updates
// broadcast to.
static void check_scatter(const GraphBuilder& b, ScatterKind kind, NodeId x, NodeId indices, NodeId updates,
                          const Shape& wide) {
  const DType type = scatter_type(kind, b.dtype(x));
  if (is_bool(b.dtype(x)) && kind != ScatterKind::Set)
    throw UserBuildError({fmt::format("scatter_{} takes numbers, not {}", name_of(kind), describe(b.at(x))),
                          kind == ScatterKind::Max ? "true is above false: cast it, as in bool(scatter_max(u8(x), ...))"
                          : kind == ScatterKind::Min
                              ? "false is below true: cast it, as in bool(scatter_min(u8(x), ...))"
                              : "cast it, for example: i32(x)"});
  if (promote(type, b.dtype(updates)) != type)
    throw UserBuildError({fmt::format("updates of {} do not fit {}", describe(b.at(updates)), describe(b.at(x))),
                          fmt::format("write {}", cast_text(b, updates, b.dtype(x)))});
  const Shape& from = b.shape(updates);
  bool fits = from.size() <= wide.size();
  for (size_t d = 0; fits && d < from.size(); ++d) {
    const IntExpr& to = wide[wide.size() - from.size() + d];
    fits = from[d] == to || from[d].is(1);
  }
  if (!fits)
    throw UserBuildError({fmt::format("updates of shape {} do not fit indices {} into {}", str(from),
                                      str(b.shape(indices)), describe(b.at(x))),
                          fmt::format("they have the shape {}, or one that broadcasts to it", str(wide))});
}

// The axis comes to the front, in x and in the updates; the axes of the indices go where it
// was.
NodeId scatter(GraphBuilder& b, ScatterKind kind, NodeId x, NodeId indices, const Operand& with, int axis,
               GatherMode mode, bool atomic) {
  const DType dtype = b.dtype(x), type = scatter_type(kind, dtype);
  if (b.rank(x) == 0) throw UserBuildError({"cannot scatter into a scalar", "give an array of at least one dimension"});
  axis = b.normalize_axis(axis, b.rank(x));
  const int places = b.rank(indices), rank = b.rank(x) - 1 + places;
  Shape wide = b.shape(x);
  wide.erase(wide.begin() + axis);
  wide.insert(wide.begin() + axis, b.shape(indices).begin(), b.shape(indices).end());
  NodeId updates = with.is_literal() ? b.materialize(with, dtype) : with.node;
  check_scatter(b, kind, x, indices, updates, wide);
  if (type != dtype) {
    if (promote(dtype, b.dtype(updates)) == dtype) updates = b.cast(updates, type);
    x = b.cast(x, type);
  }
  if (axis == 0) return b.cast(b.scatter(kind, x, indices, updates, mode, atomic), dtype);
  updates = b.broadcast_to(updates, wide);
  std::vector<int> order;
  for (int d = 0; d < places; ++d) order.push_back(axis + d);
  for (int d = 0; d < rank; ++d)
    if (d < axis || d >= axis + places) order.push_back(d);
  const NodeId made = b.scatter(kind, moveaxis(b, x, {axis}, {0}), indices, b.permute(updates, order), mode, atomic);
  return b.cast(moveaxis(b, made, {0}, {axis}), dtype);
}

NodeId segment_sum(GraphBuilder& b, NodeId x, NodeId segments, const IntExpr& count, bool atomic) {
  const int rank = b.rank(segments);
  if (rank > b.rank(x) || !std::equal(b.shape(segments).begin(), b.shape(segments).end(), b.shape(x).begin()))
    throw UserBuildError({fmt::format("segment_sum: segments {} do not name a segment for each row of {}",
                                      describe(b.at(segments)), describe(b.at(x))),
                          "the sizes of the segments are the first sizes of x"});
  Shape shape(b.shape(x).begin() + rank, b.shape(x).end());
  shape.insert(shape.begin(), count);
  const NodeId zeros = b.broadcast_to(b.materialize(Literal(int64_t{0}), b.dtype(x)), shape);
  return scatter(b, ScatterKind::Add, zeros, segments, x, 0, GatherMode::Drop, atomic);
}

NodeId bincount(GraphBuilder& b, NodeId x, const IntExpr& count, std::optional<NodeId> weights, bool atomic) {
  const DType dtype = weights ? b.dtype(*weights) : DType::I64;
  const NodeId zeros = b.broadcast_to(b.materialize(Literal(int64_t{0}), dtype), {count});
  if (!weights) return scatter(b, ScatterKind::Add, zeros, x, Literal(int64_t{1}), 0, GatherMode::Drop, atomic);
  if (!(b.shape(*weights) == b.shape(x)))
    throw UserBuildError({fmt::format("bincount: weights {} for {}", describe(b.at(*weights)), describe(b.at(x))),
                          "give each element a weight"});
  return scatter(b, ScatterKind::Add, zeros, x, *weights, 0, GatherMode::Drop, atomic);
}

// The bin of x is floor((x - low) / (high - low) * bins); high itself belongs to the last.
NodeId histogram(GraphBuilder& b, NodeId x, int64_t bins, double low, double high) {
  if (bins < 1) throw UserBuildError({fmt::format("histogram: {} bins", bins), "give at least 1"});
  if (!(low < high) || std::isinf(high - low))
    throw UserBuildError(
        {fmt::format("histogram: bins from {} to {}", low, high), "low is less than high, and both are finite"});
  const DType compute =
      b.dtype(x) == DType::F64 || (is_int(b.dtype(x)) && size_of(b.dtype(x)) > 2) ? DType::F64 : DType::F32;
  const Term value(b, b.cast(x, compute));
  const Term place = apply(Op::Floor, {(value - low) * (static_cast<double>(bins) / (high - low))});
  // One after the other: compilers differ in the operand that they evaluate first, and so would
  // graphs.
  const Term below = value <= Term(high);
  const Term inside = (value >= Term(low)) & below;
  const Term last(static_cast<double>(bins - 1));
  const Term bin = where(inside, minimum(place, last), Term(-1.0));
  return bincount(b, b.cast(bin.id(), DType::I32), bins, std::nullopt, false);
}

}  // namespace smelt::functions
