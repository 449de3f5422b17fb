// Checks a graph against the grammar at the top of graph.hpp.
#include <algorithm>

#include "base/check.hpp"
#include "base/tensor.hpp"
#include "graph/graph.hpp"

namespace smelt {

namespace {

constexpr int64_t kMostApart = int64_t{1} << 44;  // elements between neighbours along an axis

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  void run() {
    check_inputs();
    symbols_ = graph_.size_symbols();
    std::sort(symbols_.begin(), symbols_.end());
    for (id_ = 0; id_ < graph_.nodes.size(); ++id_) check_node(graph_.nodes[id_]);
    for (NodeId id : graph_.outputs)
      SMELT_CHECK(id >= 0 && static_cast<size_t>(id) < graph_.nodes.size(), "graph: output %{} is no node", id);
    for (const Constraint& c : graph_.constraints) {
      check_symbols(c.left, "a constraint");
      check_symbols(c.right, "a constraint");
    }
  }

 private:
  template <class... T>
  void expect(bool condition, fmt::format_string<T...> text, T&&... args) const {
    if (condition) return;
    throw InternalError(fmt::format("graph: %{} ({}): {}", id_, name_of(graph_.nodes[id_].kind),
                                    fmt::format(text, std::forward<T>(args)...)));
  }

  void check_symbols(const IntExpr& e, std::string_view where) const {
    if (e.constant()) return;
    for (const Symbol s : e.symbols())
      SMELT_CHECK(std::binary_search(symbols_.begin(), symbols_.end(), s),
                  "graph: {} uses the size {}, which no input has", where, s);
  }

  void check_inputs() {
    std::vector<bool> listed(graph_.nodes.size());
    for (NodeId id : graph_.inputs) {
      SMELT_CHECK(id >= 0 && static_cast<size_t>(id) < graph_.nodes.size(), "graph: input %{} is no node", id);
      SMELT_CHECK(graph_.at(id).kind == NodeKind::Input, "graph: input %{} is not an input node", id);
      SMELT_CHECK(!listed[static_cast<size_t>(id)], "graph: input %{} is listed twice", id);
      listed[static_cast<size_t>(id)] = true;
    }
    for (size_t id = 0; id < listed.size(); ++id)
      SMELT_CHECK(listed[id] || graph_.nodes[id].kind != NodeKind::Input, "graph: input %{} is not listed", id);
  }

  const Node& arg(const Node& node, size_t i) const { return graph_.at(node.args[i]); }

  void check_node(const Node& node) const {
    for (NodeId a : node.args)
      expect(a >= 0 && static_cast<size_t>(a) < id_, "argument %{} does not come before it", a);
    for (const IntExpr& size : node.shape) {
      if (auto c = size.constant()) expect(*c >= 0, "negative size {}", *c);
      check_symbols(size, "a shape");
    }
    expect(!node.local || node.kind == NodeKind::Reduce, "local, but no reduction");
    check_kind(node);
  }

  void expect_args(const Node& node, size_t n) const {
    expect(node.args.size() == n, "{} arguments, not {}", node.args.size(), n);
  }

  void expect_dtype_of(const Node& node, size_t i) const {
    expect(node.dtype == arg(node, i).dtype, "dtype {} of an argument of {}", name_of(node.dtype),
           name_of(arg(node, i).dtype));
  }

  void expect_rank_of(const Node& node, size_t i) const {
    expect(node.shape.size() == arg(node, i).shape.size(), "shape {} of an argument {}", str(node.shape),
           str(arg(node, i).shape));
  }

  // No element has the place of another one.
  void check_gaps(const Node& node) const {
    if (node.steps.empty()) return;
    expect(node.steps.size() == node.shape.size() && node.steps.back() == 1, "strides {}", str(node.steps));
    for (size_t d = 1; d < node.steps.size(); ++d)
      expect(node.steps[d] >= 1 && node.steps[d] <= node.steps[d - 1] && node.steps[d - 1] < kMostApart &&
                 node.steps[d - 1] >= node.steps[d] * node.shape[d].constant().value_or(1),
             "strides {} of {}", str(node.steps), str(node.shape));
  }

  void check_kind(const Node& node) const {
    switch (node.kind) {
      case NodeKind::Input: expect_args(node, 0); return check_gaps(node);
      case NodeKind::Constant:
        expect_args(node, 0);
        expect(node.shape.empty(), "rank {}", node.shape.size());
        return expect(node.constant.dtype == node.dtype, "a {} as {}", name_of(node.constant.dtype),
                      name_of(node.dtype));
      case NodeKind::SizeValue:
        expect_args(node, 0);
        check_symbols(node.size, "a size value");
        return expect(node.shape.empty() && node.dtype == DType::I64, "not a scalar i64");
      case NodeKind::Iota:
        expect_args(node, 0);
        expect(node.dtype == DType::I64, "dtype {}", name_of(node.dtype));
        return check_axis(node, node.shape.size());
      case NodeKind::Random:
        expect_args(node, 3);
        expect(node.dtype == DType::U32, "dtype {}", name_of(node.dtype));
        for (size_t i = 0; i < 3; ++i)
          expect(is_int(arg(node, i).dtype) && arg(node, i).shape.empty(), "argument {} is {}{}", i,
                 name_of(arg(node, i).dtype), str(arg(node, i).shape));
        return;
      case NodeKind::Elementwise: return check_elementwise(node);
      case NodeKind::Cast:
        expect_args(node, 1);
        expect(!node.wrap || (is_int(node.dtype) && is_int(arg(node, 0).dtype)), "wraps {} to {}",
               name_of(arg(node, 0).dtype), name_of(node.dtype));
        return expect(node.shape == arg(node, 0).shape, "shape {} of {}", str(node.shape), str(arg(node, 0).shape));
      case NodeKind::Reduce: return check_reduce(node);
      case NodeKind::Scan: return check_scan(node);
      case NodeKind::Reshape: return check_reshape(node);
      case NodeKind::Permute: return check_permute(node);
      case NodeKind::Broadcast: return check_broadcast(node);
      case NodeKind::Slice: return check_slice(node);
      case NodeKind::Window: return check_window(node);
      case NodeKind::Extend: return check_extend(node);
      case NodeKind::Pad: return check_pad(node);
      case NodeKind::Concat: return check_concat(node);
      case NodeKind::Gather: return check_gather(node);
      case NodeKind::Custom:
        expect(node.custom && node.custom->code && !node.args.empty(), "no code, or no arguments");
        expect(node.result >= 0 && static_cast<size_t>(node.result) < node.custom->results.size(), "result {} of {}",
               node.result, node.custom->results.size());
        expect(node.dtype == node.custom->results[static_cast<size_t>(node.result)].dtype &&
                   node.shape == node.custom->results[static_cast<size_t>(node.result)].shape,
               "another type than that of result {}", node.result);
        for (size_t i = 0; i < node.args.size(); ++i) expect(!arg(node, i).shape.empty(), "argument {} is a scalar", i);
        return;
      case NodeKind::Scatter: return check_scatter(node);
    }
  }

  void check_axis(const Node& node, size_t rank) const {
    expect(node.axes.size() == 1, "{} axes, not one", node.axes.size());
    expect(node.axes[0] >= 0 && static_cast<size_t>(node.axes[0]) < rank, "axis {} of rank {}", node.axes[0], rank);
  }

  void check_elementwise(const Node& node) const {
    expect_args(node, static_cast<size_t>(info(node.op).arity));
    const DType dtype = arg(node, node.args.size() - 1).dtype;
    for (size_t i = 0; i < node.args.size(); ++i) {
      const bool condition = info(node.op).rule == TypeRule::Select && i == 0;
      const DType wanted = condition ? DType::Bool : dtype;
      expect(arg(node, i).dtype == wanted, "{}: argument {} is {}, not {}", name_of(node.op), i,
             name_of(arg(node, i).dtype), name_of(wanted));
      expect(arg(node, i).shape == node.shape, "{}: argument {} has shape {}, not {}", name_of(node.op), i,
             str(arg(node, i).shape), str(node.shape));
    }
    expect(accepts(node.op, dtype), "{} does not take {}", name_of(node.op), name_of(dtype));
    expect(node.precision == Precision::Full || (node.op == Op::Mul && dtype == DType::F32), "{} of {} in {}",
           name_of(node.op), name_of(dtype), name_of(node.precision));
    expect(node.dtype == result_type(node.op, dtype), "{} of {} is not {}", name_of(node.op), name_of(dtype),
           name_of(node.dtype));
  }

  void check_reduce_dtype(const Node& node) const {
    const DType t = arg(node, 0).dtype;
    switch (node.reduce) {
      case ReduceKind::Sum:
      case ReduceKind::Prod:
        expect(is_float(t) || t == DType::I64 || t == DType::U64, "{} of {}", name_of(node.reduce), name_of(t));
        return expect_dtype_of(node, 0);
      case ReduceKind::Max:
      case ReduceKind::Min: expect(!is_bool(t), "{} of bool", name_of(node.reduce)); return expect_dtype_of(node, 0);
      case ReduceKind::Any:
      case ReduceKind::All:
        expect(is_bool(t), "{} of {}", name_of(node.reduce), name_of(t));
        return expect_dtype_of(node, 0);
      case ReduceKind::ArgMax:
      case ReduceKind::ArgMin:
        expect(node.axes.size() == 1, "{} over {} axes", name_of(node.reduce), node.axes.size());
        return expect(!is_bool(t) && node.dtype == DType::I64, "{} of {} gives {}", name_of(node.reduce), name_of(t),
                      name_of(node.dtype));
    }
  }

  void check_reduce(const Node& node) const {
    expect_args(node, 1);
    const Shape& from = arg(node, 0).shape;
    expect(!node.axes.empty(), "no axes");
    Shape rest;
    for (size_t d = 0, a = 0; d < from.size(); ++d) {
      if (a < node.axes.size() && node.axes[a] == static_cast<int>(d))
        ++a;
      else
        rest.push_back(from[d]);
    }
    expect(rest.size() + node.axes.size() == from.size() && std::is_sorted(node.axes.begin(), node.axes.end()),
           "axes are not ascending axes of rank {}", from.size());
    expect(node.shape == rest, "shape {}, not {}", str(node.shape), str(rest));
    check_reduce_dtype(node);
  }

  void check_scan(const Node& node) const {
    expect(node.args.size() == 1 || node.args.size() == 2, "{} arguments", node.args.size());
    check_axis(node, node.shape.size());
    const DType t = arg(node, 0).dtype;
    const bool sums = node.reduce == ReduceKind::Sum || node.reduce == ReduceKind::Prod;
    expect(sums || node.reduce == ReduceKind::Max || node.reduce == ReduceKind::Min, "a running {}",
           name_of(node.reduce));
    expect(sums ? is_float(t) || t == DType::I64 || t == DType::U64 : !is_bool(t), "{} of {}",
           name_of_scan(node.reduce), name_of(t));
    expect_dtype_of(node, 0);
    for (size_t i = 0; i < node.args.size(); ++i)
      expect(arg(node, i).shape == node.shape, "shape {} of an argument {}", str(node.shape), str(arg(node, i).shape));
    if (node.args.size() == 1 || is_bool(arg(node, 1).dtype)) return;
    expect(is_float(t) && node.reduce == ReduceKind::Sum && !node.exclusive, "factors of a {} of {}{}",
           name_of_scan(node.reduce), name_of(t), node.exclusive ? ", exclusive" : "");
    expect(arg(node, 1).dtype == t, "factors of {}", name_of(arg(node, 1).dtype));
  }

  void check_reshape(const Node& node) const {
    expect_args(node, 1);
    expect_dtype_of(node, 0);
    const IntExpr n = count(node.shape), m = count(arg(node, 0).shape);
    // Where symbols are involved, a constraint of the graph may ensure it; bind_sizes checks
    // that one.
    if (n.constant() && m.constant()) expect(n == m, "{} elements of {}", n.str(), m.str());
  }

  void check_permute(const Node& node) const {
    expect_args(node, 1);
    expect_dtype_of(node, 0);
    expect_rank_of(node, 0);
    expect(node.axes.size() == node.shape.size(), "{} axes for rank {}", node.axes.size(), node.shape.size());
    std::vector<bool> seen(node.axes.size());
    for (size_t d = 0; d < node.axes.size(); ++d) {
      const size_t axis = static_cast<size_t>(node.axes[d]);
      expect(axis < seen.size() && !seen[axis], "the order is no permutation");
      seen[axis] = true;
      expect(node.shape[d] == arg(node, 0).shape[axis], "size {} of axis {}", node.shape[d].str(), d);
    }
  }

  void check_broadcast(const Node& node) const {
    expect_args(node, 1);
    expect_dtype_of(node, 0);
    expect_rank_of(node, 0);
    const Shape& from = arg(node, 0).shape;
    for (size_t d = 0; d < from.size(); ++d)
      expect(from[d] == node.shape[d] || from[d].is(1), "{} to {}", str(from), str(node.shape));
  }

  void check_slice(const Node& node) const {
    expect_args(node, 1);
    expect_dtype_of(node, 0);
    expect_rank_of(node, 0);
    expect(node.starts.size() == node.shape.size() && node.steps.size() == node.shape.size(),
           "{} starts and {} steps for rank {}", node.starts.size(), node.steps.size(), node.shape.size());
    const Shape& from = arg(node, 0).shape;
    for (size_t d = 0; d < from.size(); ++d) {
      check_symbols(node.starts[d], "a slice");
      expect(node.steps[d] != 0, "step 0 of axis {}", d);
      const auto size = node.shape[d].constant(), start = node.starts[d].constant(), extent = from[d].constant();
      if (!size || !start || !extent || *size == 0) continue;
      const __int128 last = *start + static_cast<__int128>(node.steps[d]) * (*size - 1);
      expect(*start >= 0 && *start < *extent && last >= 0 && last < *extent, "axis {} from {} by {} of {}, {} times", d,
             *start, node.steps[d], *extent, *size);
    }
  }

  void check_window(const Node& node) const {
    expect_args(node, 1);
    expect_dtype_of(node, 0);
    const Shape& from = arg(node, 0).shape;
    const size_t n = node.axes.size();
    expect(n > 0 && node.steps.size() == n && node.dilation.size() == n, "{} axes, {} steps, {} dilations", n,
           node.steps.size(), node.dilation.size());
    expect(node.shape.size() == from.size() + n, "rank {} of {} windows of rank {}", node.shape.size(), n, from.size());
    std::vector<bool> slides(from.size());
    for (size_t a = 0; a < n; ++a) {
      const auto d = static_cast<size_t>(node.axes[a]);
      expect(d < from.size() && !slides[d], "axis {} of rank {}", node.axes[a], from.size());
      slides[d] = true;
      expect(node.steps[a] > 0 && node.dilation[a] > 0, "step {} and dilation {}", node.steps[a], node.dilation[a]);
      const auto size = from[d].constant(), places = node.shape[d].constant(),
                 wide = node.shape[from.size() + a].constant();
      if (size && places && wide && *places > 0)
        expect(*wide > 0 && (*places - 1) * node.steps[a] + (*wide - 1) * node.dilation[a] < *size,
               "{} windows of {} along axis {} of {}", *places, *wide, d, *size);
    }
    for (size_t d = 0; d < from.size(); ++d)
      expect(slides[d] || node.shape[d] == from[d], "size {} of axis {}", node.shape[d].str(), d);
  }

  void check_extend(const Node& node) const {
    expect_args(node, 1);
    expect_dtype_of(node, 0);
    expect_rank_of(node, 0);
    check_widths(node, "an extension");
  }

  void check_widths(const Node& node, const char* what) const {
    expect(node.starts.size() == node.shape.size(), "{} widths for rank {}", node.starts.size(), node.shape.size());
    for (size_t d = 0; d < node.shape.size(); ++d) {
      check_symbols(node.starts[d], what);
      const IntExpr high = node.shape[d] - node.starts[d] - arg(node, 0).shape[d];
      for (const IntExpr& width : {node.starts[d], high})
        if (auto c = width.constant()) expect(*c >= 0, "axis {} is padded by {}", d, *c);
    }
  }

  void check_pad(const Node& node) const {
    expect_args(node, 2);
    expect_dtype_of(node, 0);
    expect_dtype_of(node, 1);
    expect_rank_of(node, 0);
    expect(arg(node, 1).shape.empty(), "the value has shape {}", str(arg(node, 1).shape));
    check_widths(node, "a pad");
  }

  void check_concat(const Node& node) const {
    expect(!node.args.empty(), "no arguments");
    check_axis(node, node.shape.size());
    Shape total = node.shape;
    IntExpr& size = total[static_cast<size_t>(node.axes[0])];
    size = 0;
    for (size_t i = 0; i < node.args.size(); ++i) {
      expect_dtype_of(node, i);
      expect_rank_of(node, i);
      Shape shape = arg(node, i).shape;
      size = size + shape[static_cast<size_t>(node.axes[0])];
      shape[static_cast<size_t>(node.axes[0])] = node.shape[static_cast<size_t>(node.axes[0])];
      expect(shape == node.shape, "argument {} has shape {}", i, str(arg(node, i).shape));
    }
    expect(total == node.shape, "shape {}, not {}", str(node.shape), str(total));
  }

  void check_gather(const Node& node) const {
    expect_args(node, 2);
    expect_dtype_of(node, 0);
    const Node &x = arg(node, 0), &indices = arg(node, 1);
    expect(is_int(indices.dtype), "indices are {}", name_of(indices.dtype));
    check_axis(node, x.shape.size());
    if (node.along) {
      expect(node.shape == indices.shape, "shape {}, not {}", str(node.shape), str(indices.shape));
      Shape row = indices.shape;
      if (row.size() == x.shape.size())
        row[static_cast<size_t>(node.axes[0])] = x.shape[static_cast<size_t>(node.axes[0])];
      expect(row == x.shape, "indices of shape {} along axis {} of {}", str(indices.shape), node.axes[0], str(x.shape));
      return;
    }
    Shape shape(x.shape.begin(), x.shape.begin() + node.axes[0]);
    shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
    shape.insert(shape.end(), x.shape.begin() + node.axes[0] + 1, x.shape.end());
    expect(shape == node.shape, "shape {}, not {}", str(node.shape), str(shape));
  }

  void check_scatter(const Node& node) const {
    expect_args(node, 3);
    expect_dtype_of(node, 0);
    expect_dtype_of(node, 2);
    const Node &x = arg(node, 0), &indices = arg(node, 1);
    expect(node.shape == x.shape && !x.shape.empty(), "shape {} of {}", str(node.shape), str(x.shape));
    expect(is_int(indices.dtype), "indices are {}", name_of(indices.dtype));
    expect(node.scatter != ScatterKind::Add || !is_bool(node.dtype), "adds to bool");
    Shape shape = indices.shape;
    shape.insert(shape.end(), x.shape.begin() + 1, x.shape.end());
    expect(arg(node, 2).shape == shape, "updates of shape {}, not {}", str(arg(node, 2).shape), str(shape));
  }

  const Graph& graph_;
  std::vector<Symbol> symbols_;
  size_t id_ = 0;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace smelt
