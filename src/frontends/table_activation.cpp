#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

// Logic on truth values: numbers are true unless they are zero.
static Value logical(Call& c, Op op) {
  std::vector<Value> args = {Value::array(c.b.cast(c.array("x"), DType::Bool))};
  if (info(op).arity == 2) args.push_back(Value::array(c.b.cast(c.array("y"), DType::Bool)));
  return apply(c.b, op, args, c.written());
}

// The functions of one array alone.
template <NodeId (*function)(GraphBuilder&, NodeId)>
static Value of_array(Call& c) {
  return Value::array(function(c.b, c.array("x")));
}

static constexpr Row kActivationRows[] = {
    {"logical_and", "", "x, y", "true where both are; numbers are true unless 0",
     [](Call& c) { return logical(c, Op::And); }},
    {"logical_or", "", "x, y", "true where either is", [](Call& c) { return logical(c, Op::Or); }},
    {"logical_xor", "", "x, y", "true where exactly one is", [](Call& c) { return logical(c, Op::Xor); }},
    {"logical_not", "", "x", "true where x is false or 0", [](Call& c) { return logical(c, Op::Not); }},
    {"clamp", "clip", "x, lo=None, hi=None", "minimum(maximum(x, lo), hi); nan stays nan; None is no bound",
     [](Call& c) {
       return Value::array(f::clamp(c.b, c.array("x"), c.optional_operand("lo"), c.optional_operand("hi")));
     }},
    {"relu", "", "x", "maximum(x, 0)", of_array<f::relu>},
    {"leaky_relu", "", "x, slope=0.01", "x where x >= 0, else slope * x",
     [](Call& c) { return Value::array(f::leaky_relu(c.b, c.array("x"), c.operand("slope"))); }},
    {"elu", "", "x, alpha=1.0", "x where x > 0, else alpha * (exp(x) - 1)",
     [](Call& c) { return Value::array(f::elu(c.b, c.array("x"), c.operand("alpha"))); }},
    {"gelu", "", "x, approximate='none'", "x * (1 + erf(x / sqrt(2))) / 2; approximate='tanh' is gelu_tanh",
     [](Call& c) {
       const bool exact = c.choice("approximate", {"none", "tanh"}) == 0;
       return Value::array(exact ? f::gelu(c.b, c.array("x")) : f::gelu_tanh(c.b, c.array("x")));
     }},
    {"gelu_tanh", "", "x", "x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))) / 2", of_array<f::gelu_tanh>},
    {"sigmoid", "expit", "x", "1 / (1 + exp(-x))", of_array<f::sigmoid>},
    {"silu", "swish", "x", "x * sigmoid(x)", of_array<f::silu>},
    {"softplus", "", "x", "log(1 + exp(x)), without overflow", of_array<f::softplus>},
    {"mish", "", "x", "x * tanh(softplus(x))", of_array<f::mish>},
    {"hardswish", "hard_swish", "x", "x * clamp(x + 3, 0, 6) / 6", of_array<f::hardswish>},
    {"quantize_int8", "", "x, scale, zero_point=0", "i8(clamp(round(x / scale + zero_point), -128, 127)); nan gives 0",
     [](Call& c) {
       return Value::array(f::quantize_int8(c.b, c.array("x"), c.operand("scale"), c.operand("zero_point")));
     }},
    {"dequantize", "", "x, scale, zero_point=0, dtype=f32", "(x - zero_point) * scale, as dtype",
     [](Call& c) {
       return Value::array(
           f::dequantize(c.b, c.array("x"), c.operand("scale"), c.operand("zero_point"), c.dtype("dtype")));
     }},
    {"lerp", "", "x, y, weight", "x + weight * (y - x)",
     [](Call& c) { return Value::array(f::lerp(c.b, c.array("x"), c.operand("y"), c.operand("weight"))); }},
};

std::span<const Row> activation_rows() { return kActivationRows; }

}  // namespace smelt::lang
