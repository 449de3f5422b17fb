// Reductions.
#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt {

int same_dimension(const Shape& from, const Shape& to, size_t d) {
  const auto behind = [](const Shape& shape, size_t at) {
    return count(Shape(shape.begin() + static_cast<long>(at) + 1, shape.end()));
  };
  const IntExpr wanted = behind(to, d);
  for (size_t e = from.size(); e-- > 0;)
    if (from[e] == to[d] && behind(from, e) == wanted) return static_cast<int>(e);
  return -1;
}

namespace {

bool is_argument(ReduceKind kind) { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }

bool needs_an_element(ReduceKind kind) {
  return is_argument(kind) || kind == ReduceKind::Max || kind == ReduceKind::Min;
}

// The dtype that x is cast to first. Sums of small integers would overflow in their own dtype.
DType argument_dtype(ReduceKind kind, DType t) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Prod:
      if (is_float(t)) return t;
      return is_unsigned_int(t) ? DType::U64 : DType::I64;
    case ReduceKind::Any:
    case ReduceKind::All: return DType::Bool;
    case ReduceKind::ArgMax:
    case ReduceKind::ArgMin: return is_bool(t) ? DType::U8 : t;
    case ReduceKind::Max:
    case ReduceKind::Min: return t;
  }
  return t;
}

// max and min have no meaning on bool but these.
ReduceKind kind_for(ReduceKind kind, DType t) {
  if (!is_bool(t)) return kind;
  return kind == ReduceKind::Max ? ReduceKind::Any : kind == ReduceKind::Min ? ReduceKind::All : kind;
}

// More elements than this are a row like any other.
constexpr int64_t kMostLocal = 1 << 14;
// Operations between a window and what reduces it: past these it is not looked for.
constexpr int kMostSteps = 256;

// The inner one of two equal axes that dimension d of `to` has both of: gradients of windows take
// their diagonal.
int half_of_square(const Shape& from, const Shape& to, size_t d) {
  for (size_t e = from.size(); e-- > 1;) {
    if (!(from[e] == from[e - 1] && from[e] * from[e] == to[d])) continue;
    if (count(Shape(from.begin() + static_cast<long>(e) + 1, from.end())) ==
        count(Shape(to.begin() + static_cast<long>(d) + 1, to.end())))
      return static_cast<int>(e);
  }
  return -1;
}

// Whether this axis of an array was appended by a window, with nothing but views and elementwise
// operations in between.
bool made_by_window(const GraphBuilder& b, NodeId id, int axis, int& steps) {
  for (;;) {
    if (axis < 0 || --steps < 0) return false;
    const Node& node = b.at(id);
    const auto d = static_cast<size_t>(axis);
    switch (node.kind) {
      case NodeKind::Window:
        if (d >= b.shape(node.args[0]).size()) return true;
        break;
      case NodeKind::Elementwise:
        for (size_t a = 1; a < node.args.size(); ++a)
          if (made_by_window(b, node.args[a], axis, steps)) return true;
        break;
      case NodeKind::Permute: axis = node.axes[d]; break;
      case NodeKind::Reshape: {
        const Shape& from = b.shape(node.args[0]);
        axis = same_dimension(from, node.shape, d);
        if (axis < 0) axis = half_of_square(from, node.shape, d);
        break;
      }
      case NodeKind::Broadcast:
        axis -= static_cast<int>(node.shape.size() - b.shape(node.args[0]).size());
        if (axis >= 0 && !(b.shape(node.args[0])[static_cast<size_t>(axis)] == node.shape[d])) return false;
        break;
      case NodeKind::Cast:
      case NodeKind::Slice:
      case NodeKind::Extend: break;
      default: return false;
    }
    id = node.args[0];
  }
}

bool reduces_windows(const GraphBuilder& b, NodeId x, const std::vector<int>& axes) {
  int64_t elements = 1;
  for (int axis : axes) {
    const auto size = b.shape(x)[static_cast<size_t>(axis)].constant();
    if (!size || *size < 1 || *size > kMostLocal || (elements *= *size) > kMostLocal) return false;
  }
  int steps = kMostSteps;
  return std::any_of(axes.begin(), axes.end(), [&](int axis) { return made_by_window(b, x, axis, steps); });
}

}  // namespace

static std::vector<int> normalize_axes(const GraphBuilder& builder, std::vector<int> axes, int rank,
                                       std::string_view what) {
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }
  for (int& axis : axes) axis = builder.normalize_axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end()) fail(fmt::format("{} names axis {} twice", what, *twice), "name each axis once");
  return axes;
}

// An empty maximum has no value, so there must be an element to reduce.
static void require_elements(GraphBuilder& builder, ReduceKind kind, NodeId x, const std::vector<int>& axes) {
  for (int axis : axes) {
    const IntExpr& size = builder.shape(x)[static_cast<size_t>(axis)];
    builder.require(
        {Constraint::AtLeast,
         size,
         1,
         fmt::format("{} over axis {} of {} needs at least one element", name_of(kind), axis, describe(builder.at(x))),
         {}});
  }
}

NodeId GraphBuilder::reduce(ReduceKind kind, NodeId x, std::vector<int> axes, bool keepdims) {
  axes = normalize_axes(*this, std::move(axes), rank(x), name_of(kind));
  if (needs_an_element(kind)) require_elements(*this, kind, x, axes);
  Shape kept;
  Shape result;
  for (int d = 0; d < rank(x); ++d) {
    const bool dropped = std::binary_search(axes.begin(), axes.end(), d);
    kept.push_back(dropped ? IntExpr(1) : shape(x)[static_cast<size_t>(d)]);
    if (!dropped) result.push_back(shape(x)[static_cast<size_t>(d)]);
  }
  const ReduceKind meant = kind_for(kind, dtype(x));
  NodeId argument = cast(x, argument_dtype(meant, dtype(x)));
  if (is_argument(kind) && axes.size() > 1) {
    if (!result.empty())
      fail(fmt::format("{} takes one axis, or none for the whole array", name_of(kind)),
           "reshape the axes into one, or name one axis");
    argument = reshape(argument, {IntExpr(-1)});
    axes = {0};
  }
  if (axes.empty())  // of a scalar: the scalar itself, and its index 0
    return is_argument(kind) ? constant(Scalar::of_int(DType::I64, 0)) : argument;
  Node node{.kind = NodeKind::Reduce};
  node.local = reduces_windows(*this, argument, axes);
  node.reduce = meant;
  node.dtype = is_argument(kind) ? DType::I64 : dtype(argument);
  node.shape = std::move(result);
  node.args = {argument};
  node.axes = std::move(axes);
  const NodeId reduced = add(std::move(node));
  return keepdims ? reshape(reduced, std::move(kept)) : reduced;
}

}  // namespace smelt
