// Windows, where an element lies in several places of the result, and arrays that go on past their
// ends.
#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "graph/gradient_detail.hpp"
#include "graph/term.hpp"

namespace smelt::gradients {

namespace {

NodeId sum_of(GraphBuilder& b, NodeId x, NodeId y) { return b.elementwise(Op::Add, {x, y}); }

// One axis `d` of windows, and the axis `inner` of the elements within them; length: of the axis
// before it had windows.
struct Slide {
  size_t d, inner;
  IntExpr length, size;
  int64_t step, dilation;
};

// Windows that do not overlap: the elements of one, and zeros up to the step, follow those of
// another.
NodeId joined(GraphBuilder& b, NodeId g, const Slide& slide) {
  std::vector<int> order(b.shape(g).size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + static_cast<long>(slide.inner));
  order.insert(order.begin() + static_cast<long>(slide.d) + 1, static_cast<int>(slide.inner));
  g = b.permute(g, order);
  const IntExpr step = slide.step, gap = step - slide.size;
  // The zeros of the last window may lie after the axis: more windows than there are keep an index
  // within it while it is taken apart.
  if (!gap.is(0)) g = pad_axis(b, pad_axis(b, g, slide.d + 1, 0, gap), slide.d, 0, slide.length - b.shape(g)[slide.d]);
  Shape shape = b.shape(g);
  shape[slide.d] = shape[slide.d] * step;
  shape.erase(shape.begin() + static_cast<long>(slide.d) + 1);
  g = b.reshape(g, shape);
  if (!gap.is(0)) return slice_axis(b, g, slide.d, 0, slide.length);
  return pad_axis(b, g, slide.d, 0, slide.length - shape[slide.d]);
}

// Windows whose size is not known: every element is added to its place.
NodeId scattered(GraphBuilder& b, NodeId g, const Slide& slide) {
  const Shape windows{b.shape(g)[slide.d], slide.size};
  const functions::Term first(b, b.iota(windows, 0)), within(b, b.iota(windows, 1));
  const functions::Term place = first * functions::integer(slide.step) + within * functions::integer(slide.dilation);
  std::vector<int> order{static_cast<int>(slide.d), static_cast<int>(slide.inner)};
  for (int d = 0; d < b.rank(g); ++d)
    if (d != order[0] && d != order[1]) order.push_back(d);
  const NodeId updates = b.permute(g, order);
  Shape shape(b.shape(updates).begin() + 2, b.shape(updates).end());
  shape.insert(shape.begin(), slide.length);
  const NodeId zeros = b.broadcast_to(b.constant(Scalar::of_float(b.dtype(g), 0)), shape);
  const NodeId made = functions::scatter(b, ScatterKind::Add, zeros, place.id(), updates, 0, GatherMode::Clamp, false);
  return functions::moveaxis(b, made, {0}, {static_cast<int>(slide.d)});
}

// Element p is the one at j of window (p - dilation * j) / step. So the cotangents are spread by
// the step, with zeros in between and around, and windows of the same size over them show at p, in
// reverse order, those that p has a part in: of window element j' at j = size - 1 - j'. That
// diagonal is every (size - 1)-th element of both axes as one.
NodeId gathered(GraphBuilder& b, NodeId g, const std::vector<Slide>& slides) {
  std::vector<int> axes, order, summed;
  Shape sizes;
  std::vector<int64_t> steps, dilations;
  for (const Slide& slide : slides) {
    const IntExpr reach = (slide.size - 1) * slide.dilation;
    g = spread_axis(b, g, slide.d, reach, slide.step, slide.length + reach);
    axes.push_back(static_cast<int>(slide.d));
    sizes.push_back(slide.size);
    steps.push_back(1);
    dilations.push_back(slide.dilation);
  }
  const int rank = b.rank(g), outer = rank - static_cast<int>(slides.size());
  const NodeId seen = b.window(g, axes, sizes, steps, dilations);
  order.resize(static_cast<size_t>(outer));
  std::iota(order.begin(), order.end(), 0);
  Shape merged(b.shape(seen).begin(), b.shape(seen).begin() + outer), shape = merged;
  std::vector<IntExpr> starts(merged.size(), IntExpr(0));
  std::vector<int64_t> diagonal(merged.size(), 1);
  for (size_t a = 0; a < slides.size(); ++a) {
    const IntExpr& size = slides[a].size;
    order.push_back(static_cast<int>(slides[a].inner));
    order.push_back(rank + static_cast<int>(a));
    summed.push_back(outer + static_cast<int>(a));
    merged.push_back(size * size);
    shape.push_back(size);
    starts.push_back(size - 1);
    diagonal.push_back(std::max<int64_t>(*size.constant() - 1, 1));
  }
  const NodeId pairs = b.reshape(b.permute(seen, order), merged);
  return b.reduce(ReduceKind::Sum, b.slice(pairs, starts, diagonal, shape), summed, false);
}

// One axis of an array that was continued: `low` elements in front of the n of x, `high` after
// them.
struct Continued {
  size_t d;
  IntExpr low, n, high;
};

NodeId of_edges(GraphBuilder& b, NodeId g, const Continued& c) {
  NodeId total = slice_axis(b, g, c.d, c.low, c.n);
  const auto end = [&](const IntExpr& start, const IntExpr& size, const IntExpr& before, const IntExpr& behind) {
    if (size.is(0)) return;
    const NodeId sum = b.reduce(ReduceKind::Sum, slice_axis(b, g, c.d, start, size), {static_cast<int>(c.d)}, true);
    total = sum_of(b, total, pad_axis(b, sum, c.d, before, behind));
  };
  end(0, c.low, 0, c.n - 1);
  end(c.low + c.n, c.high, c.n - 1, 0);
  return total;
}

// Mirrors stand `gap` elements from the ends: 1 leaves the outermost out.
NodeId of_mirrors(GraphBuilder& b, NodeId g, const Continued& c, const IntExpr& gap) {
  NodeId total = slice_axis(b, g, c.d, c.low, c.n);
  const auto turned = [&](const IntExpr& last, const IntExpr& size, const IntExpr& before, const IntExpr& behind) {
    if (size.is(0)) return;
    total = sum_of(b, total, pad_axis(b, slice_axis(b, g, c.d, last, size, -1), c.d, before, behind));
  };
  turned(c.low - 1, c.low, gap, c.n - c.low - gap);
  turned(c.low + c.n + c.high - 1, c.high, c.n - c.high - gap, gap);
  return total;
}

// Filled up to whole turns, which are added up.
NodeId of_turns(GraphBuilder& b, NodeId g, const Continued& c) {
  const IntExpr before = ceildiv(c.low, c.n), behind = ceildiv(c.high, c.n);
  g = pad_axis(b, g, c.d, before * c.n - c.low, behind * c.n - c.high);
  Shape turns = b.shape(g);
  turns[c.d] = before + 1 + behind;
  turns.insert(turns.begin() + static_cast<long>(c.d) + 1, c.n);
  return b.reduce(ReduceKind::Sum, b.reshape(g, turns), {static_cast<int>(c.d)}, false);
}

}  // namespace

void window(Sweep& s, NodeId id, NodeId g) {
  const Node node = s.b.at(id);
  const Shape from = s.b.shape(node.args[0]);
  std::vector<Slide> together;
  // From the last of the window's axes, so that those before it stay where they are.
  for (size_t a = node.axes.size(); a-- > 0;) {
    const auto d = static_cast<size_t>(node.axes[a]);
    Slide slide{d, from.size() + a, from[d], node.shape[from.size() + a], node.steps[a], node.dilation[a]};
    const auto size = slide.size.constant();
    const bool apart = size && (*size - 1) * slide.dilation < slide.step && (slide.dilation == 1 || *size == 1);
    if (size && !apart) {
      together.insert(together.begin(), slide);
      continue;
    }
    g = apart ? joined(s.b, g, slide) : scattered(s.b, g, slide);
    for (Slide& other : together) --other.inner;
  }
  s.add(node.args[0], together.empty() ? g : gathered(s.b, g, together));
}

void extend(Sweep& s, NodeId id, NodeId g) {
  const Node node = s.b.at(id);
  const Shape from = s.b.shape(node.args[0]);
  for (size_t d = 0; d < from.size(); ++d) {
    const Continued c{d, node.starts[d], from[d], node.shape[d] - from[d] - node.starts[d]};
    if (c.low.is(0) && c.high.is(0)) continue;
    switch (node.extend) {
      case ExtendMode::Edge: g = of_edges(s.b, g, c); break;
      case ExtendMode::Reflect: g = of_mirrors(s.b, g, c, 1); break;
      case ExtendMode::Symmetric: g = of_mirrors(s.b, g, c, 0); break;
      case ExtendMode::Wrap: g = of_turns(s.b, g, c); break;
    }
  }
  s.add(node.args[0], g);
}

}  // namespace smelt::gradients
