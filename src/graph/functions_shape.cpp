// Movement: where elements are, never what they are.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "graph/build_detail.hpp"
#include "graph/term.hpp"

namespace smelt::functions {

static size_t at_axis(const GraphBuilder& b, NodeId x, int axis) {
  return static_cast<size_t>(b.normalize_axis(axis, b.rank(x)));
}

// The axes counted from the front, each once; empty stays empty.
static Axes resolved(const GraphBuilder& b, const Axes& axes, int rank) {
  Axes result;
  for (int axis : axes) {
    const int d = b.normalize_axis(axis, rank);
    if (std::find(result.begin(), result.end(), d) != result.end())
      throw UserBuildError({fmt::format("axis {} is named twice", axis), "name each axis once"});
    result.push_back(d);
  }
  return result;
}

NodeId expand_dims(GraphBuilder& b, NodeId x, Axes axes) {
  const int rank = b.rank(x) + static_cast<int>(axes.size());
  axes = resolved(b, axes, rank);
  std::sort(axes.begin(), axes.end());
  Shape shape = b.shape(x);
  for (int axis : axes) shape.insert(shape.begin() + axis, IntExpr(1));
  return b.reshape(x, shape);
}

NodeId squeeze(GraphBuilder& b, NodeId x, Axes axes) {
  axes = resolved(b, axes, b.rank(x));
  Shape shape;
  for (int d = 0; d < b.rank(x); ++d) {
    const IntExpr& size = b.shape(x)[static_cast<size_t>(d)];
    const bool named = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (named && !size.is(1))
      throw UserBuildError(
          {fmt::format("cannot squeeze axis {} of {}: its size is {}", d, describe(b.at(x)), size.str()),
           "only an axis of size 1 can be dropped"});
    if (named || (axes.empty() && size.is(1))) continue;
    shape.push_back(size);
  }
  return b.reshape(x, shape);
}

NodeId transpose(GraphBuilder& b, NodeId x, Axes order) {
  if (order.empty()) {
    order.resize(static_cast<size_t>(b.rank(x)));
    std::iota(order.rbegin(), order.rend(), 0);
  }
  order = resolved(b, order, b.rank(x));
  if (order.size() != b.shape(x).size())
    throw UserBuildError(
        {fmt::format("cannot transpose {}: {} axes are named", describe(b.at(x)), order.size()),
         fmt::format("name all {} axes, each once{}", b.rank(x), order.size() == 2 ? "; swapaxes exchanges two" : "")});
  return b.permute(x, order);
}

NodeId swapaxes(GraphBuilder& b, NodeId x, int first, int second) {
  Axes order(b.shape(x).size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[at_axis(b, x, first)], order[at_axis(b, x, second)]);
  return b.permute(x, order);
}

// The axes that stay keep their order around those that move.
NodeId moveaxis(GraphBuilder& b, NodeId x, const Axes& from, const Axes& to) {
  if (from.size() != to.size())
    throw UserBuildError({fmt::format("moveaxis: {} {} to {} {}", from.size(), from.size() == 1 ? "axis" : "axes",
                                      to.size(), to.size() == 1 ? "place" : "places"),
                          "give each axis a place"});
  const Axes sources = resolved(b, from, b.rank(x)), targets = resolved(b, to, b.rank(x));
  Axes order(b.shape(x).size(), -1);
  for (size_t i = 0; i < sources.size(); ++i) order[static_cast<size_t>(targets[i])] = sources[i];
  int next = 0;
  for (int& axis : order) {
    if (axis >= 0) continue;
    while (std::find(sources.begin(), sources.end(), next) != sources.end()) ++next;
    axis = next++;
  }
  return b.permute(x, order);
}

NodeId flatten(GraphBuilder& b, NodeId x) { return b.reshape(x, {count(b.shape(x))}); }

NodeId flip(GraphBuilder& b, NodeId x, Axes axes) {
  axes = resolved(b, axes, b.rank(x));
  std::vector<IntExpr> starts;
  std::vector<int64_t> steps;
  for (int d = 0; d < b.rank(x); ++d) {
    const bool turned = axes.empty() || std::find(axes.begin(), axes.end(), d) != axes.end();
    starts.push_back(turned ? b.shape(x)[static_cast<size_t>(d)] - IntExpr(1) : IntExpr(0));
    steps.push_back(turned ? -1 : 1);
  }
  return b.slice(x, starts, steps, b.shape(x));
}

// The last `shift` elements, then the others.
NodeId roll(GraphBuilder& b, NodeId x, const IntExpr& shift, std::optional<int> axis) {
  if (!axis) return b.reshape(roll(b, flatten(b, x), shift, 0), b.shape(x));
  const size_t d = at_axis(b, x, *axis);
  const IntExpr n = b.shape(x)[d];
  if (n.is(0)) return x;
  const IntExpr moved = mod(shift, n);
  if (moved.is(0)) return x;
  return b.concat({slice_axis(b, x, d, n - moved, moved), slice_axis(b, x, d, 0, n - moved)}, static_cast<int>(d));
}

// Each size n becomes the pair (repeats, n) or (n, repeats), of which the first is broadcast from
// 1; then pairs merge.
static NodeId repeated(GraphBuilder& b, NodeId x, const Shape& repeats, bool inside) {
  Shape split, wide, merged;
  for (size_t d = 0; d < repeats.size(); ++d) {
    const IntExpr n = b.shape(x)[d];
    const IntExpr& r = repeats[d];
    merged.push_back(n * r);
    if (!r.is(1) && !inside) split.push_back(1), wide.push_back(r);
    split.push_back(n), wide.push_back(n);
    if (!r.is(1) && inside) split.push_back(1), wide.push_back(r);
  }
  return b.reshape(b.broadcast_to(b.reshape(x, split), wide), merged);
}

static void check_repeats(const Shape& repeats) {
  for (const IntExpr& r : repeats)
    if (r.constant() && *r.constant() < 0)
      throw UserBuildError({fmt::format("cannot repeat {} times", r.str()), "a number of repeats is 0 or more"});
}

NodeId tile(GraphBuilder& b, NodeId x, const Shape& repeats) {
  check_repeats(repeats);
  Shape shape = b.shape(x), counts = repeats;
  const size_t rank = std::max(shape.size(), counts.size());
  shape.insert(shape.begin(), rank - shape.size(), IntExpr(1));
  counts.insert(counts.begin(), rank - counts.size(), IntExpr(1));
  return repeated(b, b.reshape(x, shape), counts, false);
}

NodeId repeat(GraphBuilder& b, NodeId x, const IntExpr& count, std::optional<int> axis) {
  check_repeats({count});
  if (!axis) return repeated(b, flatten(b, x), {count}, true);
  Shape counts(b.shape(x).size(), IntExpr(1));
  counts[at_axis(b, x, *axis)] = count;
  return repeated(b, x, counts, true);
}

NodeId stack(GraphBuilder& b, const std::vector<NodeId>& xs, int axis) {
  if (xs.empty()) throw UserBuildError({"stack needs at least one array", "name the arrays that it joins"});
  std::vector<NodeId> expanded;
  for (NodeId x : xs) {
    if (!(b.shape(x) == b.shape(xs[0])))
      throw UserBuildError({fmt::format("cannot stack {} with {}", describe(b.at(xs[0])), describe(b.at(x))),
                            "arrays in a stack have one shape"});
    expanded.push_back(expand_dims(b, x, {axis}));
  }
  return b.concat(expanded, axis);
}

NodeId take(GraphBuilder& b, NodeId x, NodeId indices, std::optional<int> axis, GatherMode mode) {
  if (!is_int(b.dtype(indices)))
    throw UserBuildError(
        {fmt::format("take: indices are integers, not {}", describe(b.at(indices))), "cast them: i64(...)"});
  if (!axis) return take(b, flatten(b, x), indices, 0, mode);
  return b.gather(x, indices, b.normalize_axis(*axis, b.rank(x)), mode);
}

NodeId take_along_axis(GraphBuilder& b, NodeId x, NodeId indices, std::optional<int> axis, GatherMode mode) {
  if (!axis) return take_along_axis(b, flatten(b, x), indices, 0, mode);
  return b.gather_along(x, indices, *axis, mode);
}

// Whether column + shift is at most / at least the row, for the last two axes of x.
static NodeId triangle(GraphBuilder& b, NodeId x, int64_t diagonal, bool lower) {
  const Shape& shape = b.shape(x);
  if (shape.size() < 2)
    throw UserBuildError(
        {fmt::format("{} takes a matrix or a stack of them, not {}", lower ? "tril" : "triu", describe(b.at(x))),
         "x needs at least 2 axes"});
  const IntExpr rows = shape[shape.size() - 2], columns = shape.back();
  const Term row(b, b.iota({rows, 1}, 0)), column(b, b.iota({1, columns}, 1));
  const Term shifted = row + integer(diagonal);
  return where(lower ? column <= shifted : column >= shifted, Term(b, x), zero_of(b, b.dtype(x))).id();
}

NodeId tril(GraphBuilder& b, NodeId x, int64_t diagonal) { return triangle(b, x, diagonal, true); }
NodeId triu(GraphBuilder& b, NodeId x, int64_t diagonal) { return triangle(b, x, diagonal, false); }

}  // namespace smelt::functions
