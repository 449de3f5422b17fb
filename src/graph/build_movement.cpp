// Operations that only move elements: what each result element is, is some element of the argument
// (or a padding).
#include <algorithm>

#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt {

namespace {

std::string elements_text(const Shape& shape) {
  const IntExpr n = count(shape);
  return n.is(1) ? "1 element" : n.str() + " elements";
}

[[noreturn]] void fail_reshape(const Node& x, const Shape& to) {
  fail(
      fmt::format("cannot reshape {} ({}) to {} ({})", describe(x), elements_text(x.shape), str(to), elements_text(to)),
      "the number of elements must stay the same; one size may be -1");
}

// Counts over the same symbols that differ are a mistake; over different symbols they may still
// agree in a call.
bool may_be_equal(const IntExpr& a, const IntExpr& b) {
  if (a.constant() || b.constant()) return false;
  std::vector<Symbol> left = a.symbols(), right = b.symbols();
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  const auto polynomial = [](const IntExpr& e) {
    return std::all_of(e.terms().begin(), e.terms().end(), [](const IntExpr::Term& t) {
      return std::all_of(t.atoms.begin(), t.atoms.end(), [](const auto& atom) { return atom->symbol.has_value(); });
    });
  };
  return left != right || !polynomial(a) || !polynomial(b);
}

// The size that -1 stands for.
IntExpr infer_size(GraphBuilder& builder, NodeId x, const Shape& to, size_t unknown) {
  Shape others = to;
  others.erase(others.begin() + static_cast<long>(unknown));
  check_shape(others);
  const IntExpr total = count(builder.shape(x)), known = count(others);
  if (known.is(0))
    fail(fmt::format("cannot reshape {} to {}: with a size 0, -1 could be anything", describe(builder.at(x)), str(to)),
         "write the size instead of -1");
  if (const Division exact = divide_terms(total, known); exact.remainder.is(0)) return exact.quotient;
  const std::string message =
      fmt::format("cannot reshape {} ({}) to {}: {} must divide the number of elements", describe(builder.at(x)),
                  elements_text(builder.shape(x)), str(to), known.str());
  builder.require({Constraint::AtLeast, known, 1, message, {}});
  builder.require({Constraint::Divisible, total, known, message, {}});
  return floordiv(total, known);
}

}  // namespace

NodeId GraphBuilder::reshape(NodeId x, Shape to) {
  return with_sizes_checked([&] {
    const auto unknown = std::find_if(to.begin(), to.end(), [](const IntExpr& size) { return size.is(-1); });
    if (unknown != to.end()) {
      if (std::any_of(unknown + 1, to.end(), [](const IntExpr& size) { return size.is(-1); }))
        fail(fmt::format("cannot reshape to {}: only one size may be -1", str(to)), "write the other sizes");
      *unknown = infer_size(*this, x, to, static_cast<size_t>(unknown - to.begin()));
    }
    check_shape(to);
    if (shape(x) == to) return x;
    const IntExpr from_count = count(shape(x)), to_count = count(to);
    if (unknown == to.end() && !(from_count == to_count)) {
      if (!may_be_equal(from_count, to_count)) fail_reshape(at(x), to);
      require(
          {Constraint::Equal,
           from_count,
           to_count,
           fmt::format("cannot reshape {} to {}: the number of elements must stay the same", describe(at(x)), str(to)),
           {}});
    }
    Node node{.kind = NodeKind::Reshape};
    node.dtype = dtype(x);
    node.shape = std::move(to);
    node.args = {x};
    return add(std::move(node));
  });
}

NodeId GraphBuilder::permute(NodeId x, std::vector<int> order) {
  if (static_cast<int>(order.size()) != rank(x))
    fail(fmt::format("cannot permute {} by {} axes", describe(at(x)), order.size()),
         fmt::format("name all {} axes", rank(x)));
  for (int& axis : order) axis = normalize_axis(axis, rank(x));
  std::vector<bool> seen(order.size());
  Node node{.kind = NodeKind::Permute};
  for (int axis : order) {
    if (seen[static_cast<size_t>(axis)])
      fail(fmt::format("the order of {} names axis {} twice", describe(at(x)), axis), "name each axis once");
    seen[static_cast<size_t>(axis)] = true;
    node.shape.push_back(shape(x)[static_cast<size_t>(axis)]);
  }
  if (std::is_sorted(order.begin(), order.end())) return x;
  node.dtype = dtype(x);
  node.args = {x};
  node.axes = std::move(order);
  return add(std::move(node));
}

// The first and last index of one dimension must lie in it, unless the result is empty.
static void require_slice(GraphBuilder& builder, NodeId x, size_t d, const IntExpr& start, int64_t step,
                          const IntExpr& size) {
  const IntExpr& extent = builder.shape(x)[d];
  const std::string array = describe(builder.at(x));
  builder.require({Constraint::AtLeast,
                   size,
                   0,
                   fmt::format("a slice of axis {} of {} cannot have the negative size {}", d, array, size.str()),
                   {}});
  if (size.is(0)) return;
  const IntExpr last = start + IntExpr(step) * (size - 1);
  const IntExpr &low = step > 0 ? start : last, &high = step > 0 ? last : start;
  builder.require({Constraint::AtLeast,
                   low,
                   0,
                   fmt::format("a slice of axis {} of {} begins at index {}, before the array", d, array, low.str()),
                   {}});
  builder.require({Constraint::AtLeast,
                   extent - 1,
                   high,
                   fmt::format("a slice of axis {} of {} reaches index {}, past the array", d, array, high.str()),
                   {}});
}

NodeId GraphBuilder::slice(NodeId x, std::vector<IntExpr> starts, std::vector<int64_t> steps, Shape result) {
  const size_t rank = shape(x).size();
  SMELT_CHECK(starts.size() == rank && steps.size() == rank && result.size() == rank,
              "a slice of rank {} with {} starts, {} steps and {} sizes", rank, starts.size(), steps.size(),
              result.size());
  return with_sizes_checked([&] {
    bool whole = result == shape(x);
    for (size_t d = 0; d < rank; ++d) {
      if (steps[d] == 0) fail(fmt::format("the step of axis {} of {} is 0", d, describe(at(x))), "use another step");
      require_slice(*this, x, d, starts[d], steps[d], result[d]);
      if (result[d].is(0)) starts[d] = 0, steps[d] = 1;
      whole = whole && starts[d].is(0) && steps[d] == 1;
    }
    if (whole) return x;
    Node node{.kind = NodeKind::Slice};
    node.dtype = dtype(x);
    node.shape = std::move(result);
    node.args = {x};
    node.starts = std::move(starts);
    node.steps = std::move(steps);
    return add(std::move(node));
  });
}

NodeId GraphBuilder::pad(NodeId x, std::vector<IntExpr> low, std::vector<IntExpr> high, const Operand& value) {
  const size_t rank = shape(x).size();
  SMELT_CHECK(low.size() == rank && high.size() == rank, "a pad of rank {} with {} and {} widths", rank, low.size(),
              high.size());
  if (!value.is_literal() && !shape(value.node).empty())
    fail(fmt::format("the padding value is {}, not a scalar", describe(at(value.node))), "pad with one number");
  if (!value.is_literal() && promote(dtype(x), dtype(value.node)) != dtype(x))
    fail(fmt::format("cannot pad {} with {}", describe(at(x)), describe(at(value.node))),
         fmt::format("write {}", cast_text(*this, value, dtype(x))));
  const NodeId filler = value.is_literal()
                            ? constant(scalar_of(value.literal, dtype(x), {expression_text(*this, x), describe(at(x))}))
                            : cast(value.node, dtype(x));
  return with_sizes_checked([&] {
    Node node{.kind = NodeKind::Pad};
    for (size_t d = 0; d < rank; ++d) {
      for (const IntExpr& width : {low[d], high[d]})
        require(
            {Constraint::AtLeast,
             width,
             0,
             fmt::format("axis {} of {} cannot be padded by {}: widths are 0 or more", d, describe(at(x)), width.str()),
             {}});
      node.shape.push_back(low[d] + shape(x)[d] + high[d]);
    }
    if (node.shape == shape(x)) return x;
    node.dtype = dtype(x);
    node.args = {x, filler};
    node.starts = std::move(low);
    return add(std::move(node));
  });
}

NodeId slice_axis(GraphBuilder& b, NodeId x, size_t axis, const IntExpr& start, const IntExpr& size, int64_t step) {
  Shape result = b.shape(x);
  std::vector<IntExpr> starts(result.size(), IntExpr(0));
  std::vector<int64_t> steps(result.size(), 1);
  starts[axis] = start;
  steps[axis] = step;
  result[axis] = size;
  return b.slice(x, starts, steps, result);
}

}  // namespace smelt
