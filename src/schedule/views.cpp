#include "schedule/views.hpp"

#include "base/check.hpp"
#include "schedule/proofs.hpp"

namespace smelt::schedule {

// Pairs runs of dimensions of `from` and `to` with equal counts, so that a reshape that only splits
// or merges some dimensions leaves the others alone.
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
      if (f < from.size() && (t == to.size() || proves_le(from_count, to_count, ranges)))
        take_from();
      else if (t < to.size() && (f == from.size() || proves_le(to_count, from_count, ranges)))
        take_to();
      else {
        while (f < from.size()) take_from();
        while (t < to.size()) take_to();
      }
    }
    // Dimensions of an empty array need not pair up; nothing is read there. Others do, also where
    // that is known of the sizes of a call alone: [B, C // 4, 4] of [B, C].
    if (!(from_count == to_count) && count(from).is(0)) continue;
    if (f - f0 == 1 && t - t0 == 1) {
      result[t0] = index[f0];
      continue;
    }
    flat = recombine(flat);
    for (size_t d = t; d-- > t0;) {
      if (d == t0) {
        result[d] = flat;
      } else if (!to[d].is(0)) {  // an axis without elements has no index, and divides nothing
        result[d] = mod(flat, to[d], ranges);
        flat = floordiv(flat, to[d], ranges);
      }
    }
  }
  return result;
}

// Where element i of an axis that goes on past its n elements lies among them.
static IntExpr continued(ExtendMode mode, const IntExpr& i, const IntExpr& n, const Ranges& ranges) {
  switch (mode) {
    case ExtendMode::Edge: return max(0, min(i, n - 1, ranges), ranges);
    case ExtendMode::Reflect: {
      const IntExpr right = max(i, -i, ranges);
      return min(right, (n - 1) * 2 - right, ranges);
    }
    case ExtendMode::Symmetric: {
      const IntExpr right = max(i, -i - 1, ranges);
      return min(right, n * 2 - 1 - right, ranges);
    }
    case ExtendMode::Wrap: return mod(i, n, ranges);
  }
  throw InternalError("an extension of no mode");
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
    case NodeKind::Window:
      for (size_t d = 0; d < source.size(); ++d) result[d] = index[d];
      for (size_t a = 0; a < view.axes.size(); ++a) {
        IntExpr& i = result[static_cast<size_t>(view.axes[a])];
        i = recombine(i * view.steps[a] + index[source.size() + a] * view.dilation[a]);
      }
      return result;
    case NodeKind::Extend:
      for (size_t d = 0; d < index.size(); ++d) {
        const bool wider = !(view.shape[d] == source[d]);
        result[d] = wider ? continued(view.extend, recombine(index[d] - view.starts[d]), source[d], ranges) : index[d];
      }
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
        if (view.steps[d] == 1 && view.starts[d].is(0))
          result[d] = index[d];
        else if (view.steps[d] == -1)
          result[d] = view.starts[d] - index[d];
        else
          return std::nullopt;
      }
      return result;
    default: return std::nullopt;
  }
}

bool holds_when_empty(const IntExpr& e, const Ranges& ranges) {
  constexpr int64_t kLargest = int64_t{1} << 56;  // no size is greater
  Ranges all = ranges;
  for (const Symbol s : e.symbols()) all.add(s, {0, kLargest});
  return proves_nonnegative(e, all);
}

static void guard_dimension(Piece& piece, size_t d, const IntExpr& extent, const Ranges& ranges, Proofs& proofs) {
  const IntExpr& i = piece.index[d];
  if (proofs.holds_when_empty(i, ranges) && proofs.holds_when_empty(extent - 1 - i, ranges)) return;
  piece.guards.push_back({i, extent});
}

std::vector<Piece> pieces(const Graph& graph, const Node& joined, const Index& index, const Ranges& ranges) {
  Proofs proofs;
  return pieces(graph, joined, index, ranges, proofs);
}

std::vector<Piece> pieces(const Graph& graph, const Node& joined, const Index& index, const Ranges& ranges,
                          Proofs& proofs) {
  std::vector<Piece> result;
  if (joined.kind == NodeKind::Pad) {
    const Shape& inner = graph.at(joined.args[0]).shape;
    Piece piece{joined.args[0], index, {}};
    for (size_t d = 0; d < index.size(); ++d) {
      piece.index[d] = index[d] - joined.starts[d];
      if (!joined.starts[d].is(0) || !(inner[d] == joined.shape[d]))
        guard_dimension(piece, d, inner[d], ranges, proofs);
    }
    result.push_back(std::move(piece));
    return result;
  }
  SMELT_CHECK(joined.kind == NodeKind::Concat, "pieces of a node that joins nothing");
  const size_t axis = static_cast<size_t>(joined.axes[0]);
  IntExpr front = 0;
  for (NodeId arg : joined.args) {
    const IntExpr size = graph.at(arg).shape[axis], place = index[axis] - front;
    front = front + size;
    // At a place that is a number, one of many has the value.
    if (place.constant().value_or(0) < 0 || (size - 1 - place).constant().value_or(0) < 0) continue;
    Piece piece{arg, index, {}};
    piece.index[axis] = place;
    guard_dimension(piece, axis, size, ranges, proofs);
    result.push_back(std::move(piece));
  }
  return result;
}

Index gather_indices_index(const Graph& graph, const Node& gather, const Index& index) {
  if (gather.along) return index;
  const auto first = index.begin() + gather.axes[0];
  return Index(first, first + static_cast<long>(graph.at(gather.args[1]).shape.size()));
}

Index gather_data_index(const Graph& graph, const Node& gather, const Index& index, const IntExpr& picked) {
  const auto first = index.begin() + gather.axes[0];
  Index result(index.begin(), first);
  result.push_back(picked);
  const long replaced = gather.along ? 1 : static_cast<long>(graph.at(gather.args[1]).shape.size());
  result.insert(result.end(), first + replaced, index.end());
  return result;
}

}  // namespace smelt::schedule
