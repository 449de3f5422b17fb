// Operations on values: the op table's spellings, casts, and the forms that dtypes have in memory.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

Value PhasePrinter::constant(DType dtype, int64_t value) const {
  return {literal(Scalar::of_int(dtype, value)), dtype, 0, 0};
}

Value PhasePrinter::splat(const Value& x, int lanes) {
  if (x.lanes == lanes) return x;
  SMELT_CHECK(x.lanes == 0, "a value of {} lanes meets one of {}", x.lanes, lanes);
  const std::string element = lane_type(x.dtype);
  const std::string key = fmt::format("splat {} {} {}", lanes, element, x.text);
  if (const Value* known = recall(key)) return *known;
  const std::string type = vector_of(element, lanes);
  const std::string first = name(x.scope, fmt::format("insertelement {} poison, {} {}, i64 0", type, element, x.text));
  const Value all =
      define(x.scope, x.dtype, lanes,
             fmt::format("shufflevector {} {}, {} poison, <{} x i32> zeroinitializer", type, first, type, lanes));
  remember(key, all);
  return all;
}

// The type of the operands is that of the last argument; only a condition in front ($C) may be one
// for all lanes. Lanes of a vector of bits that are not to be shuffled.
static constexpr int kEndlessBits = 64;

Value PhasePrinter::op(std::string_view spelling, DType result, const std::vector<Value>& args) {
  SMELT_CHECK(!spelling.empty(), "an operation without a spelling for LLVM reached the printer");
  int lanes = 0, scope = 0;
  for (const Value& a : args) {
    lanes = std::max(lanes, a.lanes);
    scope = std::max(scope, a.scope);
  }
  const bool has_condition = spelling.find("$C") != std::string_view::npos;
  if (has_condition && result == DType::Bool && lanes >= kEndlessBits) {
    // LLVM 19 for AVX-512 does not end on some shuffles of 64 bits, which is what a choice by a
    // known mask becomes.
    const DType byte = DType::U8;
    return convert("trunc",
                   op(spelling, byte, {args[0], convert("zext", args[1], byte), convert("zext", args[2], byte)}),
                   DType::Bool);
  }
  OpText text;
  text.spelling = spelling;
  text.dtype = args.back().dtype;
  text.lanes = lanes;
  std::string* operands[] = {&text.a, &text.b, &text.c};
  for (size_t i = 0; i < args.size(); ++i) {
    if (has_condition && i == 0) {
      text.condition = type_of(args[0]);
      text.a = args[0].text;
    } else {
      *operands[i] = splat(args[i], lanes).text;
    }
  }
  if (spelling.find("$ones") != std::string_view::npos) {
    Value ones = constant(text.dtype, is_bool(text.dtype) ? 1 : -1);
    text.ones = splat(ones, lanes).text;
  }
  return define(scope, result, lanes, spell(text));
}

Value PhasePrinter::convert(std::string_view instruction, const Value& x, DType to) {
  Value target{"", to, x.lanes, x.scope};
  return define(x.scope, to, x.lanes, fmt::format("{} {} {} to {}", instruction, type_of(x), x.text, type_of(target)));
}

Value PhasePrinter::bitcast(const Value& x, DType to) {
  if (lane_type(x.dtype) != lane_type(to)) return convert("bitcast", x, to);
  Value same = x;
  same.dtype = to;
  return same;
}

// Truncates and saturates; NaN becomes 0.
Value PhasePrinter::cast_float_to_int(const Value& x, DType to) {
  const std::string target = lane_type(to), source = lane_type(x.dtype);
  const std::string call =
      fmt::format("call {} @llvm.fpto{}i.sat.{}.{}({} {})", vector_of(target, x.lanes), is_signed_int(to) ? "s" : "u",
                  suffix(target, x.lanes), suffix(source, x.lanes), type_of(x), x.text);
  return define(x.scope, to, x.lanes, call);
}

Value PhasePrinter::cast_int_to_int(const Value& x, DType to, bool wrap) {
  const DType from = x.dtype;
  Value v = x;
  if (!wrap && !is_bool(from)) {
    const bool is_signed = is_signed_int(from);
    if (is_signed && (!is_signed_int(to) || size_of(to) < size_of(from)))
      v = op("call $T @llvm.smax.$V($T $a, $T $b)", from, {v, constant(from, min_int(to))});
    // After that, v >= min(to), so that the largest values compare alike as signed and as unsigned
    // numbers.
    if (max_int(to) < max_int(from))
      v = op("call $T @llvm.$smin.$V($T $a, $T $b)", from, {v, constant(from, static_cast<int64_t>(max_int(to)))});
  }
  if (size_of(to) == size_of(from) && !is_bool(from)) return bitcast(v, to);
  if (size_of(to) < size_of(from)) return convert("trunc", v, to);
  return convert(is_signed_int(from) ? "sext" : "zext", v, to);
}

// All numbers of 8 bits are ones of f16, whose upper half f8_e5m2 is. f8_e4m3 is, with as many
// exponent bits, 2^-8 of its value.
Value PhasePrinter::widen_f8(const Value& x) {
  const DType t = DType::U16;
  const Value bits = convert("zext", x, t);
  const auto shifted = [&](const Value& v, int by) { return op("shl $T $a, $b", t, {v, constant(t, by)}); };
  const auto as_f16 = [](Value v) { return v.dtype = DType::F16, v; };
  if (x.dtype == DType::F8E5M2) return widen_small(as_f16(shifted(bits, 8)));
  const Value rest = op("and $T $a, $b", t, {bits, constant(t, 0x7f)});
  const Value sign = shifted(op("and $T $a, $b", t, {bits, constant(t, 0x80)}), 8);
  const Value small = widen_small(as_f16(op("or $T $a, $b", t, {sign, shifted(rest, 7)})));
  const Value value = op("fmul $T $a, $b", DType::F32, {small, Value{"256.0", DType::F32, 0, 0}});
  const Value is_nan = op("icmp eq $T $a, $b", DType::Bool, {rest, constant(t, 0x7f)});
  const Value nan = op("or $T $a, $b", DType::U32, {bitcast(value, DType::U32), constant(DType::U32, 0x7fc00000)});
  return op("select $C $a, $T $b, $T $c", DType::F32, {is_nan, bitcast(nan, DType::F32), value});
}

Value PhasePrinter::widen_small(const Value& x) {
  if (is_f8(x.dtype)) return widen_f8(x);
  if (x.dtype == DType::BF16) {
    const Value wide = convert("zext", x, DType::I32);
    return bitcast(op("shl $T $a, $b", DType::I32, {wide, constant(DType::I32, 16)}), DType::F32);
  }
  const std::string half =
      name(x.scope, fmt::format("bitcast {} {} to {}", type_of(x), x.text, vector_of("half", x.lanes)));
  const Value wide =
      define(x.scope, DType::F32, x.lanes,
             fmt::format("fpext {} {} to {}", vector_of("half", x.lanes), half, vector_of("float", x.lanes)));
  // Without the fence LLVM compares halves as halves, one by one on processors that have no
  // arithmetic of them.
  return op("call $T @llvm.arithmetic.fence.$V($T $a)", DType::F32, {wide});
}

// As bits_of_small of smelt/static/expand/small_float.hpp, with the rounding.
Value PhasePrinter::narrow_to_f8(const Value& x, DType to) {
  const FloatFormat f = float_format(to);
  const DType t = DType::U32;
  const int dropped = 23 - f.mantissa;
  const auto number = [&](int64_t n) { return constant(t, n); };
  const Value bits = bitcast(x, t);
  const Value magnitude = op("and $T $a, $b", t, {bits, number(0x7fffffff)});
  const Value sign = op("and $T $a, $b", t, {op("lshr $T $a, $b", t, {bits, number(24)}), number(f.sign_bit())});
  // Adding a number whose last bit is the step of subnormal numbers leaves how many of them it is
  // in the lowest bits.
  const auto large = static_cast<float>(std::ldexp(f.tiny(), 23));
  const Value moved =
      op("fadd $T $a, $b", DType::F32,
         {bitcast(magnitude, DType::F32), Value{literal(Scalar::of_float(DType::F32, large)), DType::F32, 0, 0}});
  const Value small = op("sub $T $a, $b", t, {bitcast(moved, t), number(std::bit_cast<int32_t>(large))});
  const Value odd = op("and $T $a, $b", t, {op("lshr $T $a, $b", t, {magnitude, number(dropped)}), number(1)});
  const Value near =
      op("add $T $a, $b", t, {op("add $T $a, $b", t, {magnitude, number((1 << (dropped - 1)) - 1)}), odd});
  const Value normal =
      op("sub $T $a, $b", t, {op("lshr $T $a, $b", t, {near, number(dropped)}), number((126 + f.least) << f.mantissa)});
  const Value is_small =
      op("icmp ult $T $a, $b", DType::Bool, {magnitude, number(static_cast<int64_t>(127 + f.least) << 23)});
  const Value finite = op("select $C $a, $T $b, $T $c", t, {is_small, small, normal});
  const Value limited = op("call $T @llvm.umin.$V($T $a, $T $b)", t, {finite, number(f.too_large())});
  const Value is_nan = op("fcmp uno $T $a, $b", DType::Bool, {x, x});
  const Value result = op("select $C $a, $T $b, $T $c", t, {is_nan, number(f.nan()), limited});
  return convert("trunc", op("or $T $a, $b", t, {sign, result}), to);
}

Value PhasePrinter::narrow_to_small(const Value& x, DType to) {
  if (is_f8(to)) return narrow_to_f8(x, to);
  if (to == DType::F16) {
    const std::string half =
        name(x.scope, fmt::format("fptrunc {} {} to {}", type_of(x), x.text, vector_of("half", x.lanes)));
    const std::string bits = vector_of(lane_type(to), x.lanes);
    return define(x.scope, to, x.lanes, fmt::format("bitcast {} {} to {}", vector_of("half", x.lanes), half, bits));
  }
  // Half to even: add just under half, and one more when the last bit kept is odd. A NaN keeps its
  // top bits and stays one.
  const DType t = DType::U32;
  const Value bits = bitcast(x, t);
  const Value high = op("lshr $T $a, $b", t, {bits, constant(t, 16)});
  const Value odd = op("and $T $a, $b", t, {high, constant(t, 1)});
  const Value sum = op("add $T $a, $b", t, {op("add $T $a, $b", t, {bits, constant(t, 0x7fff)}), odd});
  const Value rounded = op("lshr $T $a, $b", t, {sum, constant(t, 16)});
  const Value quiet = op("or $T $a, $b", t, {high, constant(t, 0x40)});
  const Value nan = op("fcmp uno $T $a, $b", DType::Bool, {x, x});
  return convert("trunc", op("select $C $a, $T $b, $T $c", t, {nan, quiet, rounded}), to);
}

Value PhasePrinter::cast(const Value& x, DType to, bool wrap) {
  const DType from = x.dtype;
  if (from == to) return x;
  if (is_small_float(from)) return widen_small(x);
  if (is_small_float(to)) return narrow_to_small(x, to);
  if (is_bool(to)) {
    const Value zero = is_float(from) ? Value{"0.0", from, 0, 0} : constant(from, 0);
    return op(is_float(from) ? "fcmp une $T $a, $b" : "icmp ne $T $a, $b", to, {x, zero});
  }
  if (is_float(to)) {
    if (is_float(from)) return convert(size_of(to) > size_of(from) ? "fpext" : "fptrunc", x, to);
    return convert(is_signed_int(from) ? "sitofp" : "uitofp", x, to);
  }
  return is_float(from) ? cast_float_to_int(x, to) : cast_int_to_int(x, to, wrap);
}

// As ops.def defines maximum and minimum: NaN wins, and +0 is above -0 (equal numbers differ in the
// sign of zero at most, which and / or of their bits settles).
Value PhasePrinter::maximum(const Value& a, const Value& b, bool smaller) {
  if (!is_float(a.dtype)) return op(info(smaller ? Op::Min : Op::Max).llvm_int, a.dtype, {a, b});
  const DType bits = size_of(a.dtype) == 8 ? DType::I64 : DType::I32;
  const Value wins = op(smaller ? "fcmp olt $T $a, $b" : "fcmp ogt $T $a, $b", DType::Bool, {a, b});
  const Value equal = op("fcmp oeq $T $a, $b", DType::Bool, {a, b});
  const Value nan = op("fcmp uno $T $a, $b", DType::Bool, {a, a});
  const Value merged =
      bitcast(op(smaller ? "or $T $a, $b" : "and $T $a, $b", bits, {bitcast(a, bits), bitcast(b, bits)}), a.dtype);
  const std::string_view select = "select $C $a, $T $b, $T $c";
  const Value larger = op(select, a.dtype, {wins, a, b});
  return op(select, a.dtype, {nan, a, op(select, a.dtype, {equal, merged, larger})});
}

Value PhasePrinter::both(const std::optional<Value>& a, const std::optional<Value>& b, int lanes) {
  if (!a || !b) return splat(a ? *a : *b, lanes);
  return op("and $T $a, $b", DType::Bool, {splat(*a, lanes), splat(*b, lanes)});
}

// 0, 1, 2, ...: an instruction rather than a literal, so that it is written once.
Value PhasePrinter::iota(int lanes, DType dtype) {
  const std::string element = lane_type(dtype);
  const std::string key = fmt::format("iota {} {}", lanes, element);
  if (const Value* known = recall(key)) return *known;
  std::string numbers;
  for (int i = 0; i < lanes; ++i) numbers += fmt::format("{}{} {}", i ? ", " : "", element, i);
  const Value all =
      define(0, dtype, lanes, fmt::format("or {} <{}>, zeroinitializer", vector_of(element, lanes), numbers));
  remember(key, all);
  return all;
}

// `raw` holds memory_type(dtype).
Value PhasePrinter::from_memory(DType dtype, int lanes, int scope, const std::string& raw) {
  if (!is_bool(dtype)) return {raw, dtype, lanes, scope};
  const std::string memory = vector_of(memory_type(dtype), lanes);
  return define(scope, dtype, lanes, fmt::format("icmp ne {} {}, {}", memory, raw, lanes ? "zeroinitializer" : "0"));
}

// The same the other way; `scope` becomes the one that the result is in.
std::string PhasePrinter::to_memory(DType dtype, const Value& x, int& scope) {
  scope = x.scope;
  if (!is_bool(dtype)) return x.text;
  return name(scope, fmt::format("zext {} {} to {}", type_of(x), x.text, vector_of(memory_type(dtype), x.lanes)));
}

}  // namespace smelt::emit
