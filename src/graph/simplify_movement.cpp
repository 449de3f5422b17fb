// Rules for movement: two views in a row are one view, and a view of a constant is a constant.
#include <algorithm>

#include "graph/simplify_detail.hpp"
#include "smelt/error.hpp"

namespace smelt::simplifying {

namespace {

std::optional<NodeId> merge_slices(Rewriter& r, const Node& node, const Node& inner) {
  Node merged = node;
  merged.args = inner.args;
  try {
    for (size_t d = 0; d < node.steps.size(); ++d) {
      merged.starts[d] = inner.starts[d] + IntExpr(inner.steps[d]) * node.starts[d];
      if (__builtin_mul_overflow(inner.steps[d], node.steps[d], &merged.steps[d])) return std::nullopt;
    }
  } catch (const UserError&) {
    return std::nullopt;  // too large for 64 bits; two slices they stay
  }
  return r.emit(std::move(merged));
}

bool only_adds_unit_axes(const Shape& from, const Shape& to) {
  return from.size() < to.size() && with_unit_axes(from, to);
}

}  // namespace

std::optional<std::vector<int>> with_unit_axes(const Shape& from, const Shape& to) {
  std::vector<int> axes;
  size_t next = 0;
  for (const IntExpr& size : to) {
    const bool is_axis = next < from.size() && size == from[next];
    if (!is_axis && !size.is(1)) return std::nullopt;
    axes.push_back(is_axis ? static_cast<int>(next++) : -1);
  }
  return next == from.size() ? std::optional(std::move(axes)) : std::nullopt;
}

// reshape(broadcast(1)) -> broadcast(1)
std::optional<NodeId> move_uniforms(Rewriter& r, const Node& node) {
  if (!is_view(node.kind)) return std::nullopt;
  const Scalar* s = r.uniform(node.args[0]);
  return s ? std::optional(r.emit_uniform(*s, node.shape, node)) : std::nullopt;
}

// Views that show their argument as it is.
std::optional<NodeId> drop_still_movement(Rewriter& r, const Node& node) {
  const auto still = [&] {
    switch (node.kind) {
      case NodeKind::Reshape:
      case NodeKind::Broadcast: return node.shape == r.arg(node, 0).shape;
      case NodeKind::Permute: return std::is_sorted(node.axes.begin(), node.axes.end());
      case NodeKind::Cast: return node.dtype == r.arg(node, 0).dtype;
      case NodeKind::Slice:
        return node.shape == r.arg(node, 0).shape &&
               std::all_of(node.starts.begin(), node.starts.end(), [](const IntExpr& s) { return s.is(0); }) &&
               std::all_of(node.steps.begin(), node.steps.end(), [](int64_t s) { return s == 1; });
      case NodeKind::Extend:
      case NodeKind::Pad: return node.shape == r.arg(node, 0).shape;
      case NodeKind::Concat: return node.args.size() == 1;
      default: return false;
    }
  };
  return still() ? std::optional(node.args[0]) : std::nullopt;
}

// concat(concat(a, b), c) -> concat(a, b, c), where it does not become long.
static std::optional<NodeId> merge_concats(Rewriter& r, const Node& node) {
  constexpr size_t kMost = 64;
  std::vector<NodeId> parts;
  for (const NodeId arg : node.args) {
    const Node& inner = r.at(arg);
    if (inner.kind == NodeKind::Concat && inner.axes == node.axes)
      parts.insert(parts.end(), inner.args.begin(), inner.args.end());
    else
      parts.push_back(arg);
    if (parts.size() > kMost) return std::nullopt;
  }
  if (parts.size() == node.args.size()) return std::nullopt;
  Node merged = node;
  merged.args = std::move(parts);
  return r.emit(std::move(merged));
}

// reshape(reshape(x)), permute(permute(x)), broadcast(broadcast(x)), slice(slice(x)) -> one of them
std::optional<NodeId> merge_movement(Rewriter& r, const Node& node) {
  if (node.args.empty()) return std::nullopt;
  if (node.kind == NodeKind::Concat) return merge_concats(r, node);
  const Node& inner = r.arg(node, 0);
  if (inner.kind != node.kind) return std::nullopt;
  switch (node.kind) {
    case NodeKind::Reshape:
    case NodeKind::Broadcast: return r.emit_like(node.kind, inner.args[0], node);
    case NodeKind::Permute: {
      Node merged = node;
      merged.args = inner.args;
      for (int& axis : merged.axes) axis = inner.axes[static_cast<size_t>(axis)];
      return r.emit(std::move(merged));
    }
    case NodeKind::Slice: return merge_slices(r, node, inner);
    default: return std::nullopt;
  }
}

// f(reshape(x)) -> reshape(f(x)) where the reshape only puts in axes of size 1, as keepdims does:
// then a mean with keepdims and one without are one value.
std::optional<NodeId> sink_unit_axes(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Elementwise && node.kind != NodeKind::Cast) return std::nullopt;
  const Shape* inner = nullptr;
  for (NodeId arg : node.args) {
    if (r.uniform(arg)) continue;
    const Node& view = r.at(arg);
    if (view.kind != NodeKind::Reshape) return std::nullopt;
    const Shape& from = r.arg(view, 0).shape;
    if (!only_adds_unit_axes(from, view.shape) || (inner && *inner != from)) return std::nullopt;
    inner = &from;
  }
  if (!inner) return std::nullopt;
  Node moved = node;
  moved.shape = *inner;
  for (NodeId& arg : moved.args) {
    const Scalar* s = r.uniform(arg);
    arg = s ? r.emit_uniform(Scalar(*s), moved.shape, node) : r.at(arg).args[0];
  }
  const NodeId value = r.emit(std::move(moved));
  Node view{.kind = NodeKind::Reshape};
  view.dtype = node.dtype;
  view.shape = node.shape;
  view.args = {value};
  view.origin = node.origin;
  view.label = node.label;
  return r.emit(std::move(view));
}

// pad(f32(x), v) -> f32(pad(x, v)) where x is of halves or smaller floats that hold v: an array
// that is stored for windows is that of x.
std::optional<NodeId> sink_casts(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Pad) return std::nullopt;
  const Node& cast = r.arg(node, 0);
  if (cast.kind != NodeKind::Cast) return std::nullopt;
  const DType narrow = r.arg(cast, 0).dtype;
  const Scalar* value = r.uniform(node.args[1]);
  if (!is_small_float(narrow) || (cast.dtype != DType::F32 && cast.dtype != DType::F64) || !value) return std::nullopt;
  const Scalar held = convert(*value, narrow);
  if (!(convert(held, cast.dtype) == *value)) return std::nullopt;
  Node moved = node;
  moved.dtype = narrow;
  moved.args = {cast.args[0], r.emit_uniform(held, {}, node)};
  Node wide = cast;
  wide.shape = node.shape;
  wide.args = {r.emit(std::move(moved))};
  return r.emit(std::move(wide));
}

}  // namespace smelt::simplifying
