#include "schedule/views.hpp"

#include "base/check.hpp"

namespace smelt::schedule {

bool is_view(NodeKind kind) {
  return kind == NodeKind::Reshape || kind == NodeKind::Permute || kind == NodeKind::Broadcast ||
         kind == NodeKind::Slice;
}

// Pairs runs of dimensions of `from` and `to` with equal counts, so that a reshape that only splits or merges some dimensions leaves
// the others alone.
Index reshaped_index(const Shape& from, const Shape& to, const Index& index, const Ranges& ranges) {
  Index result(to.size(), IntExpr(0));
  size_t f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    const size_t f0 = f, t0 = t;
    IntExpr from_count = 1, to_count = 1, flat = 0;
    auto take_from = [&] {
      flat = flat * from[f] + index[f];
      from_count = from_count * from[f];
      ++f;
    };
    auto take_to = [&] { to_count = to_count * to[t++]; };
    if (f < from.size()) take_from();
    if (t < to.size()) take_to();
    while (!(from_count == to_count) && (f < from.size() || t < to.size())) {
      // Grow the side that is provably smaller; when neither is, take everything that is left.
      if (f < from.size() && (t == to.size() || proves_le(from_count, to_count, ranges))) take_from();
      else if (t < to.size() && (f == from.size() || proves_le(to_count, from_count, ranges))) take_to();
      else {
        while (f < from.size()) take_from();
        while (t < to.size()) take_to();
      }
    }
    SMELT_CHECK(from_count == to_count, "reshape from {} to {}", str(from), str(to));
    if (f - f0 == 1 && t - t0 == 1) {
      result[t0] = index[f0];
      continue;
    }
    flat = recombine(flat);
    for (size_t d = t; d-- > t0;) {
      if (d == t0) {
        result[d] = flat;
      } else {
        result[d] = mod(flat, to[d], ranges);
        flat = floordiv(flat, to[d], ranges);
      }
    }
  }
  return result;
}

Index through_view(const Graph& graph, const Node& view, const Index& index, const Ranges& ranges) {
  const Shape& source = graph.at(view.args[0]).shape;
  Index result(source.size());
  switch (view.kind) {
    case NodeKind::Reshape: return reshaped_index(view.shape, source, index, ranges);
    case NodeKind::Permute:
      for (size_t d = 0; d < index.size(); ++d) result[static_cast<size_t>(view.axes[d])] = index[d];
      return result;
    case NodeKind::Broadcast: {
      const size_t front = view.shape.size() - source.size();
      for (size_t d = 0; d < source.size(); ++d) result[d] = source[d].is(1) ? IntExpr(0) : index[d + front];
      return result;
    }
    case NodeKind::Slice:
      for (size_t d = 0; d < index.size(); ++d) result[d] = recombine(view.starts[d] + index[d] * view.steps[d]);
      return result;
    default: throw InternalError("through_view of a node that is no view");
  }
}

std::optional<Index> into_view(const Graph& graph, const Node& view, const Index& index, const Ranges& ranges) {
  const Shape& source = graph.at(view.args[0]).shape;
  Index result(view.shape.size());
  switch (view.kind) {
    case NodeKind::Reshape: return reshaped_index(source, view.shape, index, ranges);
    case NodeKind::Permute:
      for (size_t d = 0; d < result.size(); ++d) result[d] = index[static_cast<size_t>(view.axes[d])];
      return result;
    case NodeKind::Slice:
      for (size_t d = 0; d < result.size(); ++d) {
        if (!(view.shape[d] == source[d])) return std::nullopt;
        if (view.steps[d] == 1 && view.starts[d].is(0)) result[d] = index[d];
        else if (view.steps[d] == -1) result[d] = view.starts[d] - index[d];
        else return std::nullopt;
      }
      return result;
    default: return std::nullopt;
  }
}

}  // namespace smelt::schedule
