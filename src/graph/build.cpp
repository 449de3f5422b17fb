// Leaves, constraints, and the end of building.
#include "graph/build.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt {

// NumPy stops at 64, and nobody has missed the rest.
constexpr size_t kMaxRank = 64;

std::string describe(DType dtype, const Shape& shape) {
  return std::string(name_of(dtype)) + (shape.empty() ? "" : str(shape));
}

std::string expression_text(const GraphBuilder& builder, const Operand& operand) {
  if (operand.is_literal()) return describe(operand.literal);
  const Node& node = builder.at(operand.node);
  return node.kind == NodeKind::Input && !node.name.empty() ? node.name : "...";
}

std::string cast_text(const GraphBuilder& builder, const Operand& operand, DType to) {
  return fmt::format("{}({})", name_of(to), expression_text(builder, operand));
}

// Sizes grow with every slice, pad and concat of symbolic sizes, and programs may come from anyone.
// The text of a size bounds the work of every later proof about it; the number of terms bounds that
// of the element count.
constexpr size_t kMaxSizeText = 1000;
constexpr size_t kMaxCountTerms = 1024;

static void check_complexity(const Shape& shape) {
  size_t count_terms = 1;
  for (const IntExpr& size : shape) {
    size_t text = 0;
    for (const IntExpr::Term& term : size.terms())
      for (const auto& atom : term.atoms) text += atom->key.size() + 1;
    count_terms *= std::max<size_t>(size.terms().size(), 1);
    if (text > kMaxSizeText || count_terms > kMaxCountTerms)
      fail(
          fmt::format("the symbolic sizes of this array are too long to reason about: {}...", size.str().substr(0, 60)),
          "give an input whose size is a symbol of its own, or use constant sizes");
  }
}

void check_shape(const Shape& shape) {
  if (shape.size() > kMaxRank)
    fail(fmt::format("an array cannot have {} dimensions", shape.size()),
         fmt::format("use at most {} dimensions", kMaxRank));
  check_complexity(shape);
  Dims known;
  for (const IntExpr& size : shape)
    if (auto c = size.constant()) {
      if (*c < 0) fail(fmt::format("shape {} has the negative size {}", str(shape), *c), "sizes are 0 or more");
      known.push_back(*c);
    }
  // Whatever the symbols are, the constant sizes alone must fit.
  try {
    element_count(known);
  } catch (const UserError&) {
    fail(fmt::format("shape {} has more elements than 64 bits can address", str(shape)), "use smaller sizes");
  }
}

void GraphBuilder::set_origin(Origin origin, std::string label) {
  origin_ = origin;
  label_ = std::move(label);
}

NodeId GraphBuilder::add(Node node) {
  check_shape(node.shape);
  SMELT_CHECK(graph_.nodes.size() < INT32_MAX, "too many nodes");
  node.origin = origin_;
  node.label = function_.empty() ? label_ : function_;
  graph_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(graph_.nodes.size() - 1);
}

Graph GraphBuilder::finish(std::vector<NodeId> outputs, std::string source) {
  Graph graph = std::move(graph_);
  graph_ = {};
  graph.outputs = std::move(outputs);
  graph.source = std::move(source);
  return graph;
}

NodeId GraphBuilder::input(std::string name, DType dtype, Shape shape) {
  Node node{.kind = NodeKind::Input};
  node.dtype = dtype;
  node.shape = std::move(shape);
  node.name = std::move(name);
  const NodeId id = add(std::move(node));
  graph_.inputs.push_back(id);
  return id;
}

NodeId GraphBuilder::constant(const Scalar& value) {
  Node node{.kind = NodeKind::Constant};
  node.dtype = value.dtype;
  node.constant = value;
  return add(std::move(node));
}

NodeId GraphBuilder::size_value(const IntExpr& size) {
  if (auto c = size.constant()) return constant(Scalar::of_int(DType::I64, *c));
  Node node{.kind = NodeKind::SizeValue};
  node.dtype = DType::I64;
  node.size = size;
  return add(std::move(node));
}

NodeId GraphBuilder::iota(Shape shape, int axis) {
  Node node{.kind = NodeKind::Iota};
  node.dtype = DType::I64;
  node.axes = {normalize_axis(axis, static_cast<int>(shape.size()))};
  node.shape = std::move(shape);
  return add(std::move(node));
}

NodeId GraphBuilder::random(Shape shape, NodeId seed, NodeId offset, NodeId stream, philox::Draw draw) {
  check_shape(shape);
  Node node{.kind = NodeKind::Random};
  node.dtype = DType::U32;
  node.draw = draw;
  node.shape = std::move(shape);
  node.args = {seed, offset, stream};
  for (const NodeId arg : node.args)
    if (!is_int(dtype(arg)) || rank(arg) != 0)
      fail(fmt::format("a seed, an offset and a stream are integers, not {}", describe(at(arg))),
           "give a number, or an input of type u64 without axes");
  return add(std::move(node));
}

int GraphBuilder::normalize_axis(int axis, int rank) const {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  fail(fmt::format("axis {} is out of range for an array of rank {}", axis, rank),
       rank == 0 ? "a scalar has no axes" : fmt::format("use an axis from {} to {}", -rank, rank - 1));
}

// Whether a constraint holds for all sizes, for none, or for some (nothing).
static std::optional<bool> decided(const Constraint& c) {
  const IntExpr gap = c.left - c.right;
  switch (c.kind) {
    case Constraint::Equal:
      if (gap.is(0)) return true;
      if (proves_nonnegative(gap - 1, {}) || proves_nonnegative(-gap - 1, {})) return false;
      return std::nullopt;
    case Constraint::AtLeast:
      if (proves_nonnegative(gap, {})) return true;
      if (proves_nonnegative(-gap - 1, {})) return false;
      return std::nullopt;
    case Constraint::Divisible:
      if (c.right.is(0)) return false;
      if (divide_terms(c.left, c.right).remainder.is(0)) return true;
      if (c.left.constant() && c.right.constant()) return false;
      return std::nullopt;
  }
  return std::nullopt;
}

void GraphBuilder::require(Constraint constraint) {
  const auto holds = with_sizes_checked([&] { return decided(constraint); });
  if (holds == false) fail(constraint.message);
  if (holds == true) return;
  const bool known = std::any_of(graph_.constraints.begin(), graph_.constraints.end(), [&](const Constraint& c) {
    return c.kind == constraint.kind && c.left == constraint.left && c.right == constraint.right;
  });
  if (known) return;
  if (constraint.origin.line == 0) constraint.origin = origin_;
  graph_.constraints.push_back(std::move(constraint));
}

}  // namespace smelt
