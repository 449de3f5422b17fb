#include "bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/check.hpp"
#include "base/scalar.hpp"

namespace smelt::testing {
namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();
// Of a 0 that may as well be -0: the sign is not compared where an error is allowed at all.
constexpr double kSignOfZero = std::numeric_limits<double>::denorm_min();

// Half a unit in the last place of 1, the smallest step near 0, and the largest number, of a float dtype.
struct Format {
  double epsilon, tiny, largest;
};
Format format_of(DType t) {
  switch (t) {
    case DType::F16: return {0x1p-11, 0x1p-24, 65504};
    case DType::BF16: return {0x1p-8, 0x1p-133, 0x1.fep127};
    case DType::F32: return {0x1p-24, 0x1p-149, 0x1.fffffep127};
    default: return {0x1p-53, 0x1p-1074, std::numeric_limits<double>::max()};
  }
}

bool same_class(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return true;
}

// What rounding a result of `ulp` units of error to its dtype may change. An exact result that the dtype has is not rounded; from
// arguments that may be off, the result beside it may be what is rounded.
double rounding(double v, DType dtype, double ulp, bool exact_arguments) {
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

class Elements {
 public:
  explicit Elements(const Tensor& t) : tensor_(t) { SMELT_CHECK(t.contiguous(), "values are row-major"); }
  double f(int64_t i) const { return static_cast<const double*>(tensor_.data)[i]; }
  Scalar at(int64_t i) const {
    return load_scalar(tensor_.dtype, static_cast<const char*>(tensor_.data) + i * size_of(tensor_.dtype));
  }
  double number(int64_t i) const { return tensor_.dtype == DType::F64 ? f(i) : at(i).as_double(); }

 private:
  const Tensor& tensor_;
};

bool crosses_zero(double x, double e) { return e > 0 && std::fabs(x) <= e; }

// Where a small change of an argument can change the result by a jump that the corners of its interval do not show.
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
  BoundedInterpreter(const Graph& graph, const std::vector<TensorView>& inputs, bool on_gpu) : graph_(graph) {
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
    for (NodeId id : needed_) errors_[id] = error_of(id);
    std::vector<Bounded> result;
    for (NodeId id : graph_.outputs) result.push_back({values_.at(id), full(id)});
    return result;
  }

 private:
  using Errors = std::vector<double>;  // empty: all 0

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
      case NodeKind::Reduce: return exact_arguments && !is_float(node.dtype) ? Errors{} : reduce(id, node);
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
      case NodeKind::Custom: break;
      case NodeKind::Scatter: return exact_arguments && !is_float(node.dtype) ? Errors{} : scattered(id, node);
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
        if (is_float(node.dtype) && node.op != Op::Where) out[k] += rounding(v, node.dtype, ulp, largest == 0);
        if (is_float(node.dtype) && out[k] > 0 && std::fabs(v) + out[k] > format_of(node.dtype).largest)
          out[k] = kAnything;
      }
    }
    return out;
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
    return truth && widest > 0 ? kAnything : widest * 1.001;
  }

  Errors cast(NodeId id, const Node& node) const {
    const DType from = graph_.at(node.args[0]).dtype;
    const Tensor& source = values_.at(node.args[0]);
    const Elements x(source), result(values_.at(id));
    const Errors errors = full(node.args[0]);
    Errors out(errors.size(), 0.0);
    const bool half = node.dtype == DType::F16 || node.dtype == DType::BF16;
    for (size_t k = 0; k < out.size(); ++k) {
      const auto i = static_cast<int64_t>(k);
      double e = errors[k];
      if (e == 0) continue;
      if (half && is_float(from)) e = std::max(e, std::fabs(x.f(i)) * gelu_of_half_);
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
      out[k] = !is_float(node.dtype) && widest > 0 ? kAnything : widest;
    }
    return out;
  }

  // One result of a reduction, over elements and their errors.
  double reduced(const Node& node, const std::vector<double>& x, const std::vector<double>& e, double v) const {
    double worst = 0, error_sum = 0, magnitude = 0, logs = 0, relative = 0;
    bool whole = true, all_finite = true;
    for (size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, e[i]);
      error_sum += e[i];
      all_finite = all_finite && std::isfinite(x[i]);
      if (!std::isfinite(x[i])) continue;
      magnitude += std::fabs(x[i]);
      whole = whole && x[i] == std::nearbyint(x[i]);
      if (x[i] != 0) {
        logs += std::fabs(std::log2(std::fabs(x[i])));
        relative += e[i] / std::fabs(x[i]);
      }
    }
    if (std::isinf(worst)) return kAnything;
    if (!is_float(node.dtype)) {
      switch (node.reduce) {
        case ReduceKind::ArgMax:
        case ReduceKind::ArgMin: {
          if (worst == 0) return 0;
          const auto best = static_cast<size_t>(v);
          for (size_t i = 0; i < x.size(); ++i)
            if (i != best && !std::isnan(x[best]) && !std::isnan(x[i]) && !(std::fabs(x[i] - x[best]) > e[i] + e[best]))
              return kAnything;
          return 0;
        }
        default: {
          for (size_t i = 0; i < x.size(); ++i)
            if (crosses_zero(x[i], e[i])) return kAnything;
          return worst > 0 && !is_float(graph_.at(node.args[0]).dtype) ? kAnything : 0;
        }
      }
    }
    const Format f = format_of(node.dtype), computed = format_of(compute_type(node.dtype));
    const double n = static_cast<double>(x.size());
    switch (node.reduce) {
      case ReduceKind::Sum: {
        if (magnitude + error_sum > computed.largest) return kAnything;
        if (!all_finite) return 0;
        const bool exact = whole && magnitude <= 1 / computed.epsilon;
        // Blocks of some hundred additions, and then few.
        const double additions = 2 * std::min(n, 320 + std::log2(n + 1));
        const double own = exact ? 0 : additions * computed.epsilon * magnitude;
        const double total = error_sum + own;
        const double rounded = rounding(v, node.dtype, 0.5, total == 0);
        return (total + rounded > 0 && std::fabs(v) + total > f.largest) ? kAnything : total + rounded;
      }
      case ReduceKind::Prod: {
        const double range = compute_type(node.dtype) == DType::F64 ? 1000 : 120;
        if (logs > range) return kAnything;
        if (relative > 0.1) return kAnything;
        for (size_t i = 0; i < x.size(); ++i)
          if (crosses_zero(x[i], e[i]) || (x[i] == 0 && e[i] > 0)) return kAnything;
        if (!std::isfinite(v) || v == 0) return 0;
        const bool exact = whole && logs <= -std::log2(computed.epsilon) && worst == 0;
        const double own = std::fabs(v) * (2 * relative + (exact ? 0 : 2 * n * computed.epsilon));
        return std::fabs(v) + own > f.largest ? kAnything : own + rounding(v, node.dtype, 0.5, own == 0);
      }
      default: return std::isfinite(v) ? worst : 0;
    }
  }

  // Each element is a sum of what came to it, in any order, or the last of that.
  Errors scattered(NodeId id, const Node& node) const {
    const Elements x(values_.at(node.args[0])), indices(values_.at(node.args[1])), updates(values_.at(node.args[2]));
    const Elements result(values_.at(id));
    const Errors before = full(node.args[0]), more = full(node.args[2]);
    for (const double e : full(node.args[1]))
      if (e > 0) return Errors(before.size(), kAnything);
    const int64_t rows = values_.at(id).dims[0], inner = rows ? static_cast<int64_t>(before.size()) / rows : 0;
    std::vector<std::vector<double>> elements(before.size()), errors(before.size());
    const auto come = [&](int64_t to, double value, double error) {
      auto &e = elements[static_cast<size_t>(to)], &f = errors[static_cast<size_t>(to)];
      if (node.scatter == ScatterKind::Set) e.clear(), f.clear();
      e.push_back(value), f.push_back(error);
    };
    for (int64_t i = 0; i < rows * inner; ++i) come(i, x.number(i), before[static_cast<size_t>(i)]);
    for (int64_t k = 0; inner && k < static_cast<int64_t>(more.size()) / inner; ++k) {
      const double wish = indices.number(k), size = static_cast<double>(rows);
      int64_t row = static_cast<int64_t>(std::clamp(wish, -size - 1, size));
      if (node.gather == GatherMode::Wrap) row = static_cast<int64_t>(indices.at(k).as_int() % rows + rows) % rows;
      if (node.gather == GatherMode::Clamp) row = std::clamp<int64_t>(row, 0, rows - 1);
      if (node.gather == GatherMode::Check && row < 0) row += rows;
      if (row < 0 || row >= rows) continue;
      for (int64_t c = 0; c < inner; ++c)
        come(row * inner + c, updates.number(k * inner + c), more[static_cast<size_t>(k * inner + c)]);
    }
    Node joined = node;
    joined.reduce = node.scatter == ScatterKind::Mul   ? ReduceKind::Prod
                    : node.scatter == ScatterKind::Max ? ReduceKind::Max
                    : node.scatter == ScatterKind::Min ? ReduceKind::Min
                                                       : ReduceKind::Sum;
    Errors out(before.size(), 0.0);
    for (size_t i = 0; i < out.size(); ++i) {
      const double v = result.number(static_cast<int64_t>(i));
      out[i] = elements[i].size() == 1 ? errors[i][0] : reduced(joined, elements[i], errors[i], v);
      if (elements[i].size() > 1 && v == 0 && is_float(node.dtype)) out[i] = std::max(out[i], kSignOfZero);
    }
    return out;
  }

  Errors reduce(NodeId id, const Node& node) const {
    const Tensor& source = values_.at(node.args[0]);
    const Elements x(source), result(values_.at(id));
    const Errors errors = full(node.args[0]);
    const int64_t n = values_.at(id).count();
    // The result each element falls into.
    Dims strides(source.dims.size(), 0);
    int64_t stride = 1;
    for (size_t d = source.dims.size(); d-- > 0;)
      if (!std::count(node.axes.begin(), node.axes.end(), static_cast<int>(d))) {
        strides[d] = stride;
        stride *= source.dims[d];
      }
    std::vector<std::vector<double>> elements(static_cast<size_t>(n)), element_errors(static_cast<size_t>(n));
    Dims index(source.dims.size(), 0);
    for (size_t i = 0; i < errors.size(); ++i) {
      int64_t to = 0;
      for (size_t d = 0; d < index.size(); ++d) to += index[d] * strides[d];
      elements[static_cast<size_t>(to)].push_back(x.number(static_cast<int64_t>(i)));
      element_errors[static_cast<size_t>(to)].push_back(errors[i]);
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < source.dims[d]) break;
        index[d] = 0;
      }
    }
    Errors out(static_cast<size_t>(n), 0.0);
    for (size_t k = 0; k < out.size(); ++k)
      out[k] = reduced(node, elements[k], element_errors[k], result.number(static_cast<int64_t>(k)));
    return out;
  }

  // Running values of one line: what reduced() says of its elements so far, for any order of joining them.
  struct Line {
    double worst = 0, error_sum = 0, magnitude = 0, logs = 0, relative = 0, n = 0;
    bool whole = true, all_finite = true, uncertain_zero = false;
    void take(double x, double e) {
      worst = std::max(worst, e);
      error_sum += e;
      n += 1;
      all_finite = all_finite && std::isfinite(x);
      uncertain_zero = uncertain_zero || crosses_zero(x, e) || (x == 0 && e > 0);
      if (!std::isfinite(x)) return;
      magnitude += std::fabs(x);
      whole = whole && x == std::nearbyint(x);
      if (x == 0) return;
      logs += std::fabs(std::log2(std::fabs(x)));
      relative += e / std::fabs(x);
    }
    double error(const Node& node, double v) const {
      const Format f = format_of(node.dtype), computed = format_of(compute_type(node.dtype));
      if (std::isinf(worst) || (!is_float(node.dtype) && worst > 0)) return kAnything;
      if (!is_float(node.dtype)) return 0;
      switch (node.reduce) {
        case ReduceKind::Sum: {
          if (magnitude + error_sum > computed.largest) return kAnything;
          if (!all_finite) return 0;
          const bool exact = whole && magnitude <= 1 / computed.epsilon;
          const double total = error_sum + (exact ? 0 : 2 * n * computed.epsilon * magnitude);
          const double rounded = rounding(v, node.dtype, 0.5, total == 0);
          return total + rounded > 0 && std::fabs(v) + total > f.largest ? kAnything : total + rounded;
        }
        case ReduceKind::Prod: {
          if (logs > (compute_type(node.dtype) == DType::F64 ? 1000 : 120)) return kAnything;
          if (relative > 0.1 || uncertain_zero) return kAnything;
          if (!std::isfinite(v) || v == 0) return 0;
          const bool exact = whole && logs <= -std::log2(computed.epsilon) && worst == 0;
          const double own = std::fabs(v) * (2 * relative + (exact ? 0 : 2 * n * computed.epsilon));
          return std::fabs(v) + own > f.largest ? kAnything : own + rounding(v, node.dtype, 0.5, own == 0);
        }
        default: return std::isfinite(v) ? worst : 0;
      }
    }
  };

  Errors scan(NodeId id, const Node& node) const {
    const Tensor& source = values_.at(node.args[0]);
    const Elements x(source), result(values_.at(id));
    const Errors errors = full(node.args[0]);
    const bool restarts = node.args.size() > 1;
    const Errors anew_errors = restarts ? full(node.args[1]) : Errors{};
    int64_t outer = 1, length = 1, inner = 1;
    for (size_t d = 0; d < source.dims.size(); ++d) {
      const int here = static_cast<int>(d);
      (here < node.axes[0] ? outer : here > node.axes[0] ? inner : length) *= source.dims[d];
    }
    Errors out(errors.size(), 0.0);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        Line line;
        bool lost = false;  // nobody knows whether it began anew
        for (int64_t k = 0; k < length; ++k) {
          const int64_t at = (o * length + (node.reverse ? length - 1 - k : k)) * inner + i;
          const auto place = static_cast<size_t>(at);
          if (restarts && anew_errors[place] > 0) lost = true;
          if (restarts && !lost && Elements(values_.at(node.args[1])).at(at).as_bool()) line = {};
          if (!node.exclusive) line.take(x.number(at), errors[place]);
          out[place] = lost ? kAnything : line.error(node, result.number(at));
          if (node.exclusive) line.take(x.number(at), errors[place]);
        }
      }
    return out;
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
  double gelu_of_half_ = 0;  // its relative error before it is rounded
  SizeBinding sizes_;
  std::set<NodeId> needed_;
  std::map<NodeId, Tensor> values_;
  std::map<NodeId, Errors> errors_;
};

}  // namespace

std::vector<Bounded> interpret_bounded(const Graph& graph, const std::vector<TensorView>& inputs, bool on_gpu) {
  return BoundedInterpreter(graph, inputs, on_gpu).run();
}

}  // namespace smelt::testing
