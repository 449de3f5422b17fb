// Normalisation and losses.
#include <fmt/format.h>

#include <cmath>

#include "graph/term.hpp"

namespace smelt::functions {

// exp(v - shift) and friends need the row maximum first, so that nothing overflows. What it is does
// not matter to the result.
static Term below_maximum(const Term& v, const Axes& axes) { return v - held(kept(ReduceKind::Max, v, axes)); }

NodeId softmax(GraphBuilder& b, NodeId x, Axes axes) {
  const Term e = exp(below_maximum(widened(b, x, "softmax"), axes));
  // The sum is at least 1, of the maximum itself, so that one division for all of them is as good.
  const Term scale = apply(Op::Reciprocal, {kept(ReduceKind::Sum, e, axes)});
  return narrowed(e * scale, b.dtype(x));
}

NodeId log_softmax(GraphBuilder& b, NodeId x, Axes axes) {
  const Term v = below_maximum(widened(b, x, "log_softmax"), axes);
  return narrowed(v - log(kept(ReduceKind::Sum, exp(v), axes)), b.dtype(x));
}

static Term scaled(const Term& v, std::optional<NodeId> weight, std::optional<NodeId> bias) {
  Term result = v;
  if (weight) result = result * widened_to(*v.b, *weight, dtype_of(v));
  if (bias) result = result + widened_to(*v.b, *bias, dtype_of(v));
  return result;
}

// (v - mean) / sqrt(variance + eps) over the axes.
static Term normalized(GraphBuilder& b, const Term& v, const Axes& axes, const Operand& eps) {
  const Term centered = v - Term(b, mean(b, v.id(), axes, true));
  const Term variance(b, mean(b, square(centered).id(), axes, true));
  return centered * rsqrt(variance + widened_to(b, eps, dtype_of(v)));
}

NodeId layernorm(GraphBuilder& b, NodeId x, Axes axes, const Operand& eps, std::optional<NodeId> weight,
                 std::optional<NodeId> bias) {
  const Term v = widened(b, x, "layernorm");
  return narrowed(scaled(normalized(b, v, axes, eps), weight, bias), b.dtype(x));
}

NodeId rmsnorm(GraphBuilder& b, NodeId x, Axes axes, const Operand& eps, std::optional<NodeId> weight) {
  const Term v = widened(b, x, "rmsnorm");
  const Term power(b, mean(b, square(v).id(), std::move(axes), true));
  return narrowed(scaled(v * rsqrt(power + widened_to(b, eps, dtype_of(v))), weight, std::nullopt), b.dtype(x));
}

// A value per channel, [C], in a shape that broadcasts against x along `axis`.
static NodeId per_channel(GraphBuilder& b, NodeId value, NodeId x, int axis, const char* function, const char* name) {
  const IntExpr& channels = b.shape(x)[static_cast<size_t>(axis)];
  if (b.rank(value) != 1 || !(b.shape(value)[0] == channels))
    throw UserBuildError({fmt::format("{}: {} is {}, but x is {} with {} channels on axis {}", function, name,
                                      describe(b.at(value)), describe(b.at(x)), channels.str(), axis),
                          fmt::format("{} needs one value per channel: shape [{}]", name, channels.str())});
  Shape shape(b.shape(x).size(), IntExpr(1));
  shape[static_cast<size_t>(axis)] = channels;
  return b.reshape(value, shape);
}

static std::optional<NodeId> per_channel(GraphBuilder& b, std::optional<NodeId> value, NodeId x, int axis,
                                         const char* function, const char* name) {
  if (!value) return std::nullopt;
  return per_channel(b, *value, x, axis, function, name);
}

static void require_groups(GraphBuilder& b, NodeId x, const IntExpr& groups) {
  const IntExpr& channels = b.shape(x)[1];
  const auto g = groups.constant(), c = channels.constant();
  if (g && (*g < 1 || (c && *c % *g != 0)))
    throw UserBuildError(
        {fmt::format("groupnorm: {} channels cannot be divided into {} equal groups", channels.str(), groups.str()),
         fmt::format("x is {}; its axis 1 holds the channels", describe(b.at(x)))});
  if (!g || !c)
    b.require({Constraint::Divisible,
               channels,
               groups,
               fmt::format("groupnorm: the channels ({}) must be a multiple of the groups ({})", channels.str(),
                           groups.str()),
               {}});
}

NodeId groupnorm(GraphBuilder& b, NodeId x, const IntExpr& groups, const Operand& eps, std::optional<NodeId> weight,
                 std::optional<NodeId> bias) {
  const Term v = widened(b, x, "groupnorm");
  const Shape shape = b.shape(x);
  if (shape.size() < 2)
    throw UserBuildError(
        {fmt::format("groupnorm takes [N, C, ...], not {}", describe(b.at(x))), "axis 1 holds the channels"});
  require_groups(b, x, groups);
  Shape split = {shape[0], groups, floordiv(shape[1], groups)};
  split.insert(split.end(), shape.begin() + 2, shape.end());
  Axes axes;
  for (size_t d = 2; d < split.size(); ++d) axes.push_back(static_cast<int>(d));
  const Term grouped(b, b.reshape(v.id(), split));
  const Term whole(b, b.reshape(normalized(b, grouped, axes, eps).id(), shape));
  return narrowed(scaled(whole, per_channel(b, weight, x, 1, "groupnorm", "weight"),
                         per_channel(b, bias, x, 1, "groupnorm", "bias")),
                  b.dtype(x));
}

NodeId batchnorm(GraphBuilder& b, NodeId x, NodeId mean, NodeId var, const Operand& eps, std::optional<NodeId> weight,
                 std::optional<NodeId> bias, int axis) {
  const Term v = widened(b, x, "batchnorm");
  const DType wide = dtype_of(v);
  axis = b.normalize_axis(axis, b.rank(x));
  const Term middle = widened_to(b, per_channel(b, mean, x, axis, "batchnorm", "mean"), wide);
  const Term spread = widened_to(b, per_channel(b, var, x, axis, "batchnorm", "var"), wide);
  const Term unit = (v - middle) * rsqrt(spread + widened_to(b, eps, wide));
  return narrowed(scaled(unit, per_channel(b, weight, x, axis, "batchnorm", "weight"),
                         per_channel(b, bias, x, axis, "batchnorm", "bias")),
                  b.dtype(x));
}

static NodeId reduced(GraphBuilder& b, const Term& loss, Reduction reduction, DType to) {
  switch (reduction) {
    case Reduction::Mean: return narrowed(Term(b, mean(b, loss.id(), {}, false)), to);
    case Reduction::Sum: return narrowed(Term(b, b.reduce(ReduceKind::Sum, loss.id(), {}, false)), to);
    case Reduction::None: break;
  }
  return narrowed(loss, to);
}

static void check_targets(GraphBuilder& b, NodeId logits, NodeId targets, int axis) {
  Shape wanted = b.shape(logits);
  wanted.erase(wanted.begin() + axis);
  if (is_int(b.dtype(targets)) && b.shape(targets) == wanted) return;
  throw UserBuildError(
      {fmt::format("cross_entropy: targets are {}, for logits {}", describe(b.at(targets)), describe(b.at(logits))),
       fmt::format("targets are class numbers: integers of shape {}", str(wanted))});
}

NodeId cross_entropy(GraphBuilder& b, NodeId logits, NodeId targets, int axis, Reduction reduction) {
  axis = b.normalize_axis(axis, b.rank(logits));
  check_targets(b, logits, targets, axis);
  const Term v = below_maximum(widened(b, logits, "cross_entropy"), {axis});
  const Term target(b, expand_dims(b, b.cast(targets, DType::I64), {axis}));
  const Term at_target(b, b.gather_along(v.id(), target.id(), axis, GatherMode::Clamp));
  const Term loss = log(kept(ReduceKind::Sum, exp(v), {axis})) - at_target;
  const Term size(b, b.size_value(b.shape(logits)[static_cast<size_t>(axis)]));
  const Term checked = where((target >= integer(0)) & (target < size), loss, std::nan(""));
  return reduced(b, Term(b, squeeze(b, checked.id(), {axis})), reduction, b.dtype(logits));
}

NodeId mse(GraphBuilder& b, NodeId x, NodeId target, Reduction reduction) {
  const Term d = widened(b, x, "mse") - widened(b, target, "mse");
  return reduced(b, square(d), reduction, b.dtype(x));
}

NodeId huber(GraphBuilder& b, NodeId x, NodeId target, const Operand& delta, Reduction reduction) {
  const Term d = abs(widened(b, x, "huber") - widened(b, target, "huber"));
  const Term limit = widened_to(b, delta, dtype_of(d));
  return reduced(b, where(d <= limit, 0.5 * square(d), limit * (d - 0.5 * limit)), reduction, b.dtype(x));
}

}  // namespace smelt::functions
