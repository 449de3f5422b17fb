#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

static f::Reduction reduction(const Call& c) {
  return static_cast<f::Reduction>(c.choice("reduction", {"mean", "sum", "none"}));
}

// axis=() names none: every element is a row of its own.
template <NodeId (*function)(GraphBuilder&, NodeId, f::Axes)>
static Value row_by(Call& c) {
  const NodeId x = c.array("x");
  if (!c.no_axes("axis")) return Value::array(function(c.b, x, c.axes("axis")));
  return Value::array(f::squeeze(c.b, function(c.b, f::expand_dims(c.b, x, {-1}), {-1}), {-1}));
}

static constexpr Row kNormalizationRows[] = {
    {"softmax", "", "x, axis=-1", "exp(x - max) / sum(exp(x - max)); a row of -inf alone gives nan",
     row_by<f::softmax>},
    {"log_softmax", "", "x, axis=-1", "log(softmax(x)), accurate", row_by<f::log_softmax>},
    {"layernorm", "layer_norm", "x, weight=None, bias=None, axis=-1, eps=1e-5",
     "(x - mean) / sqrt(var + eps) over the axes, then * weight + bias, which broadcast",
     [](Call& c) {
       return Value::array(f::layernorm(c.b, c.array("x"), c.axes("axis"), c.operand("eps"), c.optional_array("weight"),
                                        c.optional_array("bias")));
     }},
    {"rmsnorm", "rms_norm", "x, weight=None, axis=-1, eps=1e-6",
     "x / sqrt(mean(x*x) + eps) over the axes, then * weight",
     [](Call& c) {
       return Value::array(f::rmsnorm(c.b, c.array("x"), c.axes("axis"), c.operand("eps"), c.optional_array("weight")));
     }},
    {"groupnorm", "group_norm", "x, groups, weight=None, bias=None, eps=1e-5",
     "x: [N, C, ...]; each of the groups of channels is normalised with its axes; weight and bias: [C]",
     [](Call& c) {
       return Value::array(f::groupnorm(c.b, c.array("x"), c.size("groups"), c.operand("eps"),
                                        c.optional_array("weight"), c.optional_array("bias")));
     }},
    {"batchnorm", "batch_norm", "x, mean, var, weight=None, bias=None, eps=1e-5, axis=1",
     "inference: (x - mean) / sqrt(var + eps) * weight + bias, all of them [C] along the axis",
     [](Call& c) {
       return Value::array(f::batchnorm(c.b, c.array("x"), c.array("mean"), c.array("var"), c.operand("eps"),
                                        c.optional_array("weight"), c.optional_array("bias"), c.axis("axis")));
     }},
    {"cross_entropy", "", "x, targets, axis=-1, reduction='mean'",
     "-log_softmax(x) at the target class; targets: integers, the shape of x without the axis; out of range: nan. "
     "reduction 'mean', 'sum' or 'none'",
     [](Call& c) {
       return Value::array(f::cross_entropy(c.b, c.array("x"), c.array("targets"), c.axis("axis"), reduction(c)));
     }},
    {"mse", "mse_loss", "x, targets, reduction='mean'", "mean of (x - targets)**2",
     [](Call& c) { return Value::array(f::mse(c.b, c.array("x"), c.array("targets"), reduction(c))); }},
    {"huber", "huber_loss", "x, targets, delta=1.0, reduction='mean'",
     "with d = abs(x - targets): mean of d*d/2 where d <= delta, else delta * (d - delta/2)",
     [](Call& c) {
       return Value::array(f::huber(c.b, c.array("x"), c.array("targets"), c.operand("delta"), reduction(c)));
     }},
};

std::span<const Row> normalization_rows() { return kNormalizationRows; }

}  // namespace smelt::lang
