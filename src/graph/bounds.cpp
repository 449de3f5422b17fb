#include "graph/bounds.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.hpp"
#include "graph/bounds_detail.hpp"

namespace smelt {
namespace bounds {

Format format_of(DType t) {
  const FloatFormat f = float_format(is_float(t) ? t : DType::F64);
  return {f.epsilon(), f.tiny(), f.largest()};
}

double rounding(double v, DType dtype, double ulp, bool exact_arguments) {
  // An infinity becomes NaN where it is stored in a format that has none.
  if (std::isinf(v) && is_float(dtype) && !float_format(dtype).has_infinity) return kAnything;
  if (!std::isfinite(v)) return 0;
  const Format f = format_of(dtype), computed = format_of(compute_type(dtype));
  if (std::fabs(v) > f.largest) return kAnything;
  const bool stays = exact_arguments || (ulp == 0 && dtype == compute_type(dtype));
  if (stays && ulp <= 0.5 && round_to(dtype, v) == v) return 0;
  if (v == 0) return 0;
  // The reference itself computes in float64.
  const double own = dtype == DType::F64 ? 2 * (ulp + 1) : 2 * ulp;
  return std::fabs(v) * (own * computed.epsilon + f.epsilon) * 1.001 + 2 * f.tiny;
}

Elements::Elements(const Tensor& t) : tensor_(t) { SMELT_CHECK(t.contiguous(), "values are row-major"); }

}  // namespace bounds

namespace {

using namespace bounds;

bool same_class(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return true;
}

bool makes_whole_numbers(Op op) { return op == Op::Floor || op == Op::Ceil || op == Op::Round || op == Op::Trunc; }

// Where a small change of an argument can change the result by a jump that the corners of its
// interval do not show.
bool jumps(Op op, const double* x, const double* e) {
  switch (op) {
    case Op::Div: return crosses_zero(x[1], e[1]);
    case Op::FloorDiv:
    case Op::Fmod:
    case Op::Mod: {
      if (crosses_zero(x[1], e[1])) return true;
      if (e[0] + e[1] == 0) return false;
      const double q = x[0] / x[1];
      const double near = 2 * (e[0] / std::fabs(x[1]) + std::fabs(q) * (e[1] / std::fabs(x[1]) + 0x1p-52));
      return std::isfinite(q) && std::fabs(q - std::nearbyint(q)) <= near;
    }
    case Op::Eq:
    case Op::Ne: return std::isfinite(x[0]) && std::isfinite(x[1]) && std::fabs(x[0] - x[1]) <= e[0] + e[1];
    case Op::Pow: return crosses_zero(x[0], e[0]) || (x[0] < 0 && e[1] > 0);
    case Op::Copysign: return crosses_zero(x[1], e[1]);
    case Op::Atan2: return crosses_zero(x[0], e[0]) && x[1] <= e[1];
    case Op::Reciprocal:
    case Op::Rsqrt:
    case Op::Log:
    case Op::Log2:
    case Op::Log10: return crosses_zero(x[0], e[0]);
    case Op::Tan: return e[0] > 0 && e[0] * (1 + std::tan(x[0]) * std::tan(x[0])) > 0.1;
    case Op::Sin:
    case Op::Cos: return e[0] > 0.5;
    case Op::Sign: return crosses_zero(x[0], e[0]);
    default: return false;
  }
}

class BoundedInterpreter {
 public:
  BoundedInterpreter(const Graph& graph, const std::vector<TensorView>& inputs, bool on_gpu)
      : graph_(graph), on_gpu_(on_gpu) {
    const auto has_erf = [](const Node& n) { return n.kind == NodeKind::Elementwise && n.op == Op::Erf; };
    if (on_gpu && std::any_of(graph.nodes.begin(), graph.nodes.end(), has_erf)) gelu_of_half_ = 0x1p-16;
    std::vector<Dims> dims;
    for (const TensorView& view : inputs) dims.push_back(view.dims);
    sizes_ = bind_sizes(graph, dims);
    find_needed();
    Graph all = graph;
    all.outputs.clear();
    for (NodeId id : needed_) all.outputs.push_back(id);
    const std::vector<Tensor> results = interpret(all, inputs);
    size_t r = 0;
    for (NodeId id : needed_) values_[id] = contiguous_copy(results[r++]);
  }

  std::vector<Bounded> run() {
    for (NodeId id : needed_) {
      const Errors& errors = errors_[id] = error_of(id);
      SMELT_CHECK(std::none_of(errors.begin(), errors.end(), [](double e) { return std::isnan(e); }),
                  "errors are numbers");
    }
    std::vector<Bounded> result;
    for (NodeId id : graph_.outputs) result.push_back({values_.at(id), full(id)});
    return result;
  }

 private:
  void find_needed() {
    std::vector<NodeId> todo = graph_.outputs;
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (needed_.insert(id).second)
        for (NodeId arg : graph_.at(id).args) todo.push_back(arg);
    }
  }

  Errors full(NodeId id) const {
    const Errors& e = errors_.at(id);
    return e.empty() ? Errors(static_cast<size_t>(values_.at(id).count()), 0.0) : e;
  }

  Errors error_of(NodeId id) {
    const Node& node = graph_.at(id);
    const bool exact_arguments =
        std::all_of(node.args.begin(), node.args.end(), [&](NodeId a) { return errors_.at(a).empty(); });
    switch (node.kind) {
      case NodeKind::Input:
      case NodeKind::Constant:
      case NodeKind::SizeValue:
      case NodeKind::Iota: return {};
      case NodeKind::Random:
        return exact_arguments ? Errors{} : Errors(static_cast<size_t>(values_.at(id).count()), kAnything);
      case NodeKind::Elementwise: return exact_arguments && !is_float(node.dtype) ? Errors{} : elementwise(id, node);
      case NodeKind::Cast: return cast(id, node);
      case NodeKind::Reduce:
        return exact_arguments && !is_float(node.dtype)
                   ? Errors{}
                   : of_reduction(node, values_.at(node.args[0]), full(node.args[0]), values_.at(id));
      case NodeKind::Scan: return exact_arguments && !is_float(node.dtype) ? Errors{} : scan(id, node);
      case NodeKind::Reshape: return errors_.at(node.args[0]);
      case NodeKind::Permute:
      case NodeKind::Broadcast:
      case NodeKind::Slice:
      case NodeKind::Window:
      case NodeKind::Extend:
      case NodeKind::Pad:
      case NodeKind::Concat:
      case NodeKind::Gather: return exact_arguments ? Errors{} : moved(id, node);
      case NodeKind::Scatter: return exact_arguments && !is_float(node.dtype) ? Errors{} : scattered(id, node);
      case NodeKind::Custom: return Errors(static_cast<size_t>(values_.at(id).count()), kAnything);
    }
    throw InternalError("unknown kind of node");
  }

  Errors elementwise(NodeId id, const Node& node) const {
    const int64_t n = values_.at(id).count();
    const Elements result(values_.at(id));
    std::vector<Elements> args;
    std::vector<Errors> errors;
    for (NodeId a : node.args) {
      args.emplace_back(values_.at(a));
      errors.push_back(full(a));
    }
    const bool on_floats = is_float(graph_.at(node.args.back()).dtype);
    const double imprecise = on_gpu_ ? imprecision(node.precision) : 0;
    const bool dots = !on_gpu_ && node.op == Op::Mul && was_bf16(node.args[0]) && was_bf16(node.args[1]);
    const bool in_bf16 = on_gpu_ && node.op == Op::Mul && node.dtype == DType::F32 && is_summed(id);
    const double rounded = on_gpu_ && node.op == Op::Mul ? rounding_of(node.args[0]) + rounding_of(node.args[1]) : 0;
    const double ulp = compute_type(node.dtype) == DType::F64 ? info(node.op).max_ulp_f64 : info(node.op).max_ulp_f32;
    Errors out(static_cast<size_t>(n), 0.0);
    for (int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      double x[3] = {}, e[3] = {};
      double largest = 0;
      for (size_t a = 0; a < args.size(); ++a) {
        e[a] = errors[a][k];
        largest = std::max(largest, e[a]);
        if (on_floats || (node.op == Op::Where && a == 0)) x[a] = args[a].number(i);
      }
      if (node.op == Op::Where && !std::isinf(e[0])) {
        out[k] = e[x[0] != 0 ? 1 : 2];
      } else if (std::isinf(largest) || (!on_floats && largest > 0)) {
        out[k] = kAnything;
      } else if (node.op == Op::Copysign && std::isnan(x[1])) {
        out[k] = kAnything;  // nothing promises the sign of a NaN
      } else if (on_floats) {
        const double v = result.number(i);
        out[k] = largest > 0 ? spread(node.op, args.size(), x, e, v) : 0;
        const bool whole = makes_whole_numbers(node.op) && std::fabs(v) + out[k] <= 1 / format_of(node.dtype).epsilon;
        if (is_float(node.dtype) && node.op != Op::Where && !whole)
          out[k] += rounding(v, node.dtype, ulp, largest == 0);
        if (dots) out[k] += flushed(x[0], x[1]);
        if (imprecise > 0) out[k] += in_parts(x[0], x[1], v, imprecise);
        if (in_bf16) out[k] += lost_of_tiny(x[0], x[1]) + lost_of_tiny(x[1], x[0]);
        if (std::isfinite(v)) out[k] += std::fabs(v) * rounded;
        if (is_float(node.dtype) && out[k] > 0 && std::fabs(v) + out[k] > format_of(node.dtype).largest)
          out[k] = kAnything;
      }
    }
    return out;
  }

  // Whether an f32 is a bf16, or a float of 8 bits, that was widened.
  bool was_bf16(NodeId id) const {
    id = behind_views(graph_, id);
    const Node& cast = graph_.at(id);
    return cast.kind == NodeKind::Cast && cast.dtype == DType::F32 &&
           (graph_.at(cast.args[0]).dtype == DType::BF16 || is_f8(graph_.at(cast.args[0]).dtype));
  }
  // How far matrix units round a factor that operations of f16 or bf16 make, which is f32 elsewhere
  // (docs/numerics.md).
  double rounding_of(NodeId id) const {
    id = behind_views(graph_, id);
    const Node& cast = graph_.at(id);
    if (cast.kind != NodeKind::Cast || cast.dtype != DType::F32) return 0;
    NodeId from = cast.args[0];
    from = behind_views(graph_, from);
    const DType half = graph_.at(from).dtype;
    if (graph_.at(from).kind != NodeKind::Elementwise || !is_half(half)) return 0;
    return float_format(half).epsilon();
  }
  // What the dot products of a CPU lose of a product of bf16, to which subnormal numbers are 0
  // (docs/numerics.md).
  static double flushed(double a, double b) {
    constexpr double kLeast = 0x1p-126, kSmall = 0x1p-100;
    const auto is_subnormal = [](double x) { return x != 0 && std::fabs(x) < kLeast; };
    const double product = std::fabs(a * b);
    if (is_subnormal(a) || is_subnormal(b)) return std::isfinite(product) ? product : kAnything;
    return product > 0 && product < kSmall ? kLeast : 0;
  }

  // Whether a sum adds up the values.
  bool is_summed(NodeId id) const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) {
      return node.kind == NodeKind::Reduce && node.reduce == ReduceKind::Sum && node.args[0] == id;
    });
  }
  // What several bf16 leave of a factor next to 0 (docs/numerics.md).
  static double lost_of_tiny(double factor, double other) {
    constexpr double kSmall = 0x1p-109, kLeastPart = 0x1p-133;
    const bool loses = factor != 0 && std::fabs(factor) < kSmall && std::isfinite(other);
    return loses ? std::fabs(other) * kLeastPart : 0;
  }
  // How far a product may be off where it is made of parts (docs/numerics.md).
  static double imprecision(Precision precision) {
    switch (precision) {
      case Precision::Full: return 0;
      case Precision::Tf32: return 0x1p-10;
      case Precision::Bf16x3: return 0x1p-14;
    }
    return 0;
  }
  static double in_parts(double a, double b, double product, double relative) {
    constexpr double kLargest = 0x1.fep127, kLeastPart = 0x1p-133;
    if (!(std::fabs(a) <= kLargest && std::fabs(b) <= kLargest)) return kAnything;
    const double lost = std::fabs(product) * relative + (std::fabs(a) + std::fabs(b)) * kLeastPart;
    return std::isfinite(lost) ? lost : kAnything;
  }

  // How far the result moves when each argument moves by its error.
  static double spread(Op op, size_t arity, const double* x, const double* e, double v) {
    if (jumps(op, x, e)) return kAnything;
    double widest = 0;
    for (int corner = 0; corner < 27; ++corner) {
      double at[3] = {x[0], x[1], x[2]};
      int digits = corner;
      bool needed = true;
      for (size_t a = 0; a < 3; ++a, digits /= 3) {
        const int step = digits % 3 - 1;
        if (step != 0 && (a >= arity || e[a] == 0)) needed = false;
        at[a] += step * e[a];
      }
      if (!needed) continue;
      const double moved = evaluate_float(op, std::span<const double>(at, arity));
      if (!same_class(moved, v)) return kAnything;
      if (std::isfinite(moved)) widest = std::max(widest, std::fabs(moved - v));
      if (moved == 0 && v == 0 && std::signbit(moved) != std::signbit(v)) widest = std::max(widest, kSignOfZero);
    }
    const bool truth = info(op).rule == TypeRule::Compare || info(op).rule == TypeRule::Test;
    if (makes_whole_numbers(op)) return widest;
    return truth && widest > 0 ? kAnything : widest * 1.001;
  }

  Errors cast(NodeId id, const Node& node) const {
    const DType from = graph_.at(node.args[0]).dtype;
    const Tensor& source = values_.at(node.args[0]);
    const Elements x(source), result(values_.at(id));
    const Errors errors = full(node.args[0]);
    Errors out(errors.size(), 0.0);
    const bool small = is_small_float(node.dtype);
    // Weights may be rounded before they are divided by their sum, which is another rounding.
    const bool weights = on_gpu_ && is_half(node.dtype) && is_weights(node);
    const double rounding = weights ? 2 * float_format(node.dtype).epsilon() : 0;
    for (size_t k = 0; k < out.size(); ++k) {
      const auto i = static_cast<int64_t>(k);
      double e = errors[k];
      if (weights && std::isfinite(x.f(i)))
        e += std::fabs(x.f(i)) * rounding + (node.dtype == DType::F16 ? 0x1p-24 : 0);
      if (e == 0) continue;
      if (small && is_float(from)) e = std::max(e, std::fabs(x.f(i)) * gelu_of_half_);
      if (std::isinf(e) || !is_float(from)) {
        out[k] = kAnything;
        continue;
      }
      const double v = result.number(i);
      double widest = 0;
      for (double step : {-e, e}) {
        const double moved = convert(Scalar::of_float(DType::F64, x.f(i) + step), node.dtype, node.wrap).as_double();
        widest = !same_class(moved, v) ? kAnything : std::isfinite(v) ? std::max(widest, std::fabs(moved - v)) : widest;
      }
      if (is_bool(node.dtype) && crosses_zero(x.f(i), e)) widest = kAnything;
      if (is_float(node.dtype) && v == 0) widest = std::max(widest, kSignOfZero);
      out[k] = widest;
    }
    return out;
  }

  // Exponentials below a maximum that are scaled for their row, as schedule::find_chain() has them.
  bool is_weights(const Node& cast) const {
    const Node& scaled = graph_.at(cast.args[0]);
    if (scaled.kind != NodeKind::Elementwise || (scaled.op != Op::Mul && scaled.op != Op::Div)) return false;
    return std::any_of(scaled.args.begin(), scaled.args.end(), [&](NodeId arg) {
      arg = behind_views(graph_, arg);
      return graph_.at(arg).kind == NodeKind::Elementwise && graph_.at(arg).op == Op::Exp;
    });
  }

  Errors scan(NodeId id, const Node& node) const {
    const bool restarts = node.args.size() > 1;
    if (has_factors(graph_, node))
      return of_recurrence(node, values_.at(node.args[0]), full(node.args[0]), values_.at(node.args[1]),
                           full(node.args[1]), values_.at(id));
    return of_scan(node, values_.at(node.args[0]), full(node.args[0]), restarts ? &values_.at(node.args[1]) : nullptr,
                   restarts ? full(node.args[1]) : Errors{}, values_.at(id));
  }

  Errors scattered(NodeId id, const Node& node) const {
    const Errors before = full(node.args[0]), indices = full(node.args[1]), updates = full(node.args[2]);
    return of_scatter(
        node, {values_.at(node.args[0]), values_.at(node.args[1]), values_.at(node.args[2]), before, indices, updates},
        values_.at(id));
  }

  // Errors move as the values do: the same node, over the errors.
  Errors moved(NodeId id, const Node& node) const {
    Graph small;
    Node copy = node;
    std::vector<Tensor> tensors;
    for (size_t a = 0; a < node.args.size(); ++a) {
      const Tensor& value = values_.at(node.args[a]);
      const bool indices = node.kind == NodeKind::Gather && a == 1;
      Node input;
      input.kind = NodeKind::Input;
      input.dtype = indices ? graph_.at(node.args[a]).dtype : DType::F64;
      for (int64_t d : value.dims) input.shape.emplace_back(d);
      if (indices) {
        for (double e : errors_.at(node.args[a]))
          if (e > 0) return Errors(static_cast<size_t>(values_.at(id).count()), kAnything);
        tensors.push_back(value);
      } else {
        tensors.push_back(Tensor::empty(DType::F64, value.dims));
        const Errors from = full(node.args[a]);
        std::copy(from.begin(), from.end(), static_cast<double*>(tensors.back().data));
      }
      copy.args[a] = static_cast<NodeId>(a);
      small.inputs.push_back(static_cast<NodeId>(a));
      small.nodes.push_back(std::move(input));
    }
    copy.dtype = DType::F64;
    for (IntExpr& d : copy.shape) d = d.evaluate(sizes_);
    for (IntExpr& s : copy.starts) s = s.evaluate(sizes_);
    small.outputs.push_back(static_cast<NodeId>(small.nodes.size()));
    small.nodes.push_back(std::move(copy));
    const Tensor result = contiguous_copy(interpret(small, {tensors.begin(), tensors.end()})[0]);
    const double* data = static_cast<const double*>(result.data);
    return Errors(data, data + result.count());
  }

  const Graph& graph_;
  const bool on_gpu_;
  double gelu_of_half_ = 0;  // its relative error before it is rounded
  SizeBinding sizes_;
  std::set<NodeId> needed_;
  std::map<NodeId, Tensor> values_;
  std::map<NodeId, Errors> errors_;  // empty: all 0
};

}  // namespace

Scalar Bounded::at(int64_t i) const {
  return load_scalar(value.dtype, static_cast<const char*>(value.data) + i * size_of(value.dtype));
}

bool Bounded::allows(int64_t i, const Scalar& got) const {
  if (!decided(i)) return true;
  const Scalar want = at(i);
  const double x = got.as_double(), y = want.as_double(), allowed = error[static_cast<size_t>(i)];
  if (!is_float(value.dtype)) return got == want || (allowed > 0 && std::fabs(x - y) <= allowed);
  if (std::isnan(y)) return std::isnan(x);
  if (std::isinf(y)) return x == y;
  if (allowed == 0) return x == y && std::signbit(x) == std::signbit(y);
  return std::fabs(x - y) <= allowed;
}

std::vector<Bounded> interpret_bounded(const Graph& graph, const std::vector<TensorView>& inputs, bool on_gpu) {
  return BoundedInterpreter(graph, inputs, on_gpu).run();
}

}  // namespace smelt
