// Running sums, products, maxima and minima.
#include <fmt/format.h>

#include <cmath>

#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt {

static Scalar extreme(DType t, bool high) {
  if (is_bool(t)) return Scalar::of_bool(high);
  if (is_int(t)) return high ? Scalar::of_uint(t, max_int(t)) : Scalar::of_int(t, min_int(t));
  const FloatFormat f = float_format(t);
  const double end = f.has_infinity ? HUGE_VAL : f.largest();
  return Scalar::of_float(t, high ? end : -end);
}
Scalar lowest(DType dtype) { return extreme(dtype, false); }
Scalar highest(DType dtype) { return extreme(dtype, true); }

// Before the first element: of max the smallest value, so that it never wins.
static Scalar start_of(ReduceKind kind, DType t) {
  switch (kind) {
    case ReduceKind::Sum: return Scalar::of_int(t, 0);
    case ReduceKind::Prod: return Scalar::of_int(t, 1);
    case ReduceKind::Max: return lowest(t);
    case ReduceKind::Min: return highest(t);
    default: throw InternalError("a scan of no kind");
  }
}

NodeId GraphBuilder::scan(ReduceKind kind, NodeId x, int axis, bool reverse, bool exclusive,
                          std::optional<NodeId> restart) {
  if (rank(x) == 0)
    fail(fmt::format("{} of {} has no axis to run along", name_of_scan(kind), describe(at(x))),
         "give an array with at least one axis");
  axis = normalize_axis(axis, rank(x));
  const DType given = dtype(x);
  const bool sums = kind == ReduceKind::Sum || kind == ReduceKind::Prod;
  // Sums of small integers would overflow in their own dtype.
  if (sums && !is_float(given)) x = cast(x, is_unsigned_int(given) ? DType::U64 : DType::I64);
  if (!sums && is_bool(given)) return cast(scan(kind, cast(x, DType::U8), axis, reverse, exclusive, restart), given);
  if (restart && !is_bool(dtype(*restart)))
    fail(fmt::format("restart is {}, not bool", describe(at(*restart))),
         "give bools that are true where the running value restarts: restart != 0");
  if (restart) {
    const Shape shapes[] = {shape(x), shape(*restart)};
    if (broadcast_shapes(shapes) != shape(x))
      fail(fmt::format("restart is {}, which is larger than x, {}", describe(at(*restart)), describe(at(x))),
           "give one bool for each element of x");
    restart = broadcast_to(*restart, shape(x));
  }
  if (shape(x)[static_cast<size_t>(axis)].is(1))
    return exclusive ? broadcast_to(constant(start_of(kind, dtype(x))), shape(x)) : x;
  Node node{.kind = NodeKind::Scan};
  node.reduce = kind;
  node.reverse = reverse;
  node.exclusive = exclusive;
  node.dtype = dtype(x);
  node.shape = shape(x);
  node.args = {x};
  if (restart) node.args.push_back(*restart);
  node.axes = {axis};
  return add(std::move(node));
}

NodeId GraphBuilder::recurrence(NodeId x, NodeId factor, int axis, bool reverse) {
  SMELT_CHECK(is_float(dtype(x)) && dtype(factor) == dtype(x) && shape(factor) == shape(x), "a recurrence of {} by {}",
              describe(at(x)), describe(at(factor)));
  axis = normalize_axis(axis, rank(x));
  if (shape(x)[static_cast<size_t>(axis)].is(1)) {
    // Nothing is multiplied; a factor that is not finite makes nothing NaN too.
    const NodeId nothing = elementwise(Op::Sub, {factor, factor});
    const NodeId zero = constant(Scalar::of_float(dtype(x), 0));
    return elementwise(Op::Where, {elementwise(Op::Eq, {nothing, zero}), x, nothing});
  }
  Node node{.kind = NodeKind::Scan};
  node.reduce = ReduceKind::Sum;
  node.reverse = reverse;
  node.dtype = dtype(x);
  node.shape = shape(x);
  node.args = {x, factor};
  node.axes = {axis};
  return add(std::move(node));
}

bool has_factors(const Graph& graph, const Node& scan) {
  return scan.args.size() > 1 && is_float(graph.at(scan.args[1]).dtype);
}

}  // namespace smelt
