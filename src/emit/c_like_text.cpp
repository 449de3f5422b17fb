// Dtypes, constants and operations, as C has them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <optional>

#include "base/check.hpp"
#include "emit/c_like.hpp"

namespace smelt::emit::c_like {

std::string type_of(const CLike& as, DType dtype) {
  switch (dtype) {
    case DType::Bool: return "bool";
    case DType::I8: return "signed char";
    case DType::U8: return "unsigned char";
    case DType::I16: return "short";
    case DType::U16: return "unsigned short";
    case DType::I32: return "int";
    case DType::U32: return "unsigned";
    case DType::I64: return std::string(as.wide);
    case DType::U64: return std::string(as.wide_unsigned);
    case DType::F32: return "float";
    case DType::F64: return "double";
    case DType::F8E4M3:
    case DType::F8E5M2: return "unsigned char";
    case DType::F16:
    case DType::BF16: return "unsigned short";
  }
  throw InternalError("unknown dtype");
}

std::string memory_type(const CLike& as, DType dtype) { return is_bool(dtype) ? "unsigned char" : type_of(as, dtype); }

static std::string braced(const std::string& number) { return number[0] == '-' ? "(" + number + ")" : number; }

std::string literal(const CLike& as, const Scalar& constant) {
  const DType t = constant.dtype;
  switch (t) {
    case DType::Bool: return constant.as_bool() ? "true" : "false";
    case DType::I64:
      return constant.i == INT64_MIN ? fmt::format("(-9223372036854775807{} - 1)", as.wide_suffix)
                                     : fmt::format("({}{})", constant.i, as.wide_suffix);
    case DType::I32: return constant.i == INT32_MIN ? "(-2147483647 - 1)" : braced(std::to_string(constant.i));
    case DType::U64: return fmt::format("{}{}", constant.as_int(), as.wide_unsigned_suffix);
    case DType::U32: return fmt::format("{}u", static_cast<uint32_t>(constant.as_int()));
    case DType::F8E4M3:
    case DType::F8E5M2:
    case DType::F16:
    case DType::BF16: return fmt::format("({}){:#x}", type_of(as, t), small_float_bits(t, constant.f));
    case DType::F32: {
      const float f = static_cast<float>(constant.f);
      if (!std::isfinite(f)) return fmt::format("{}({:#x}u)", as.float_of_unsigned, std::bit_cast<uint32_t>(f));
      const bool whole = std::fabs(f) < 65536 && f == std::trunc(f) && !(f == 0 && std::signbit(f));
      return braced(whole ? fmt::format("{:.1f}f", f) : fmt::format("{:a}f", f));
    }
    case DType::F64: {
      const double f = constant.f;
      if (!std::isfinite(f))
        return fmt::format("{}({:#x}{})", as.double_of_long, std::bit_cast<uint64_t>(f), as.wide_suffix);
      return braced(fmt::format("{:a}", f));
    }
    default: return fmt::format("(({}){})", type_of(as, t), static_cast<int64_t>(constant.as_int()));
  }
}

namespace {

std::string unsigned_type(const CLike& as, DType t) {
  return size_of(t) == 8 ? std::string(as.wide_unsigned) : size_of(t) == 4 ? "unsigned" : type_of(as, t);
}

std::string_view kind_of_extreme(DType t) {
  if (size_of(t) == 8) return "wides";
  if (t == DType::U32) return "unsigned";
  return size_of(t) < 4 && is_unsigned_int(t) ? "small" : "ints";
}

// The low bits of an integer, as one of 8 or 16 bits.
std::string low_bits(const CLike& as, UsedHelpers& used, DType t, const std::string& x) {
  return fmt::format("({}){}((unsigned)({}))", type_of(as, t), used(fmt::format("low_bits_{}", name_of(t))), x);
}

// The columns "C" of ops.def with operands for $a, $b and $c, each after `cast`. After "@", up to
// the parenthesis, is the name of a helper.
std::string filled(const CLike& as, UsedHelpers& used, std::string_view form, DType t,
                   const std::vector<std::string>& args, const std::string& cast = "") {
  std::string text;
  std::optional<size_t> helper;  // where its name begins
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '@') {
      helper = text.size();
      continue;
    }
    if (form[i] != '$') {
      if (form[i] == '(' && helper) used(text.substr(*helper)), helper.reset();
      text += form[i];
      continue;
    }
    switch (const char what = form[++i]) {
      case 'T': text += type_of(as, t); break;
      case 'f': text += t == DType::F32 && as.suffixed ? "f" : ""; break;
      case 'K': text += kind_of_extreme(t); break;
      default: text += cast + args.at(static_cast<size_t>(what - 'a'));
    }
  }
  return text;
}

// Integer arithmetic that wraps around: in the unsigned type, or in unsigned ints where the type is
// narrower, since two u16 may overflow the int that they are promoted to.
std::string wrapped(const CLike& as, UsedHelpers& used, std::string_view form, DType t,
                    const std::vector<std::string>& args) {
  if (size_of(t) < 4) return low_bits(as, used, t, filled(as, used, form, t, args, "(unsigned)"));
  if (!is_signed_int(t)) return fmt::format("({})", filled(as, used, form, t, args));
  return fmt::format("({})({})", type_of(as, t),
                     filled(as, used, form, t, args, fmt::format("({})", unsigned_type(as, t))));
}

}  // namespace

std::string apply(const CLike& as, UsedHelpers& used, Op op, DType t, const std::vector<std::string>& args) {
  constexpr std::string_view kWrapped = "$bits(";
  if (op == Op::Not && is_bool(t)) return fmt::format("(!{})", args[0]);
  std::string_view form = is_float(t) ? info(op).c_float : info(op).c_int;
  SMELT_CHECK(!form.empty(), "{} of {} reached the printer unexpanded", name_of(op), name_of(t));
  if (!form.starts_with(kWrapped)) return filled(as, used, form, t, args);
  form.remove_prefix(kWrapped.size());
  form.remove_suffix(1);
  return wrapped(as, used, form, t, args);
}

std::string raw(const CLike& as, UsedHelpers& used, kernel::RawOp op, DType from, DType to,
                const std::vector<std::string>& args) {
  const std::string& a = args[0];
  const std::string& b = args[args.size() > 1 ? 1 : 0];
  const auto call = [&](std::string_view name) { return fmt::format("{}({})", used(name), fmt::join(args, ", ")); };
  switch (op) {
    case kernel::RawOp::TruncDiv: return fmt::format("({})({} / {})", type_of(as, to), a, b);
    case kernel::RawOp::TruncRem: return fmt::format("({})({} % {})", type_of(as, to), a, b);
    case kernel::RawOp::Shl:
      if (size_of(to) < 4) return low_bits(as, used, to, fmt::format("(unsigned){} << (int){}", a, b));
      return fmt::format("({})(({}){} << (int){})", type_of(as, to), unsigned_type(as, to), a, b);
    case kernel::RawOp::Shr: return fmt::format("({})({} >> (int){})", type_of(as, to), a, b);
    case kernel::RawOp::ToInt: (void)from; return fmt::format("({}){}", type_of(as, to), a);
    case kernel::RawOp::DotBF16: return fmt::format("dot_bf16({})", fmt::join(args, ", "));
    case kernel::RawOp::DotBytes: return fmt::format("dot_bytes({})", fmt::join(args, ", "));
    case kernel::RawOp::PowerOfTwo: return call("power_of_two");
    case kernel::RawOp::PowerOfTwoFull: return call("power_of_two_full");
    case kernel::RawOp::Reciprocal: return call("reciprocal");
    case kernel::RawOp::Quotient: return call("quotient");
    case kernel::RawOp::InverseRoot: return call("inverse_root");
    case kernel::RawOp::Root: return call("root");
    case kernel::RawOp::Tangent: return call("tangent");
    case kernel::RawOp::TruncatedRemainder: return call("truncated_remainder");
    case kernel::RawOp::FlooredRemainder: return call("floored_remainder");
    case kernel::RawOp::FlooredQuotient: return call("floored_quotient");
    case kernel::RawOp::SaturatedFma: return call("saturated_fma");
    case kernel::RawOp::Sine: return call("sine");
    case kernel::RawOp::Cosine: return call("cosine");
    case kernel::RawOp::RoundF16: return call("round_f16");
    case kernel::RawOp::RoundBF16: return call("round_bf16");
    case kernel::RawOp::FromThread:
    case kernel::RawOp::FromThreadAround: {
      const std::string x = size_of(from) < 4 ? fmt::format("(int){}", a) : a;
      if (op == kernel::RawOp::FromThreadAround)
        return fmt::format("({})__shfl_sync(0xffffffffu, {}, tw + {})", type_of(as, to), x, b);
      const int n = std::stoi(b.substr(b[0] == '('));
      return fmt::format("({})__shfl_{}_sync(0xffffffffu, {}, {})", type_of(as, to), n < 0 ? "up" : "down", x,
                         std::abs(n));
    }
  }
  throw InternalError("unknown raw operation");
}

std::string cast(const CLike& as, UsedHelpers& used, const std::string& x, DType from, DType to, bool wrap) {
  if (from == to) return x;
  const std::string type = type_of(as, to);
  if (is_small_float(from)) return fmt::format("{}({})", used(fmt::format("from_{}", name_of(from))), x);
  if (is_small_float(to)) return fmt::format("{}({})", used(fmt::format("to_{}", name_of(to))), x);
  if (is_bool(to)) return fmt::format("({} != 0)", x);
  if (from == DType::U32 && (is_float(to) || size_of(to) == 8))
    return fmt::format("({}){}({})", type, used("opaque"), x);
  if (is_float(to) || is_bool(from)) return fmt::format("({}){}", type, x);
  if (is_float(from)) return as.float_to_int(used, x, from, to);
  std::string v = x;
  if (wrap && size_of(to) < 4) return low_bits(as, used, to, x);
  if (!wrap) {
    const bool is_signed = is_signed_int(from);
    if (is_signed && (!is_signed_int(to) || size_of(to) < size_of(from)))
      v = helper(as, used, "larger", "", v, literal(as, Scalar::of_int(from, min_int(to))));
    if (max_int(to) < max_int(from))
      v = helper(as, used, "smaller", "", v, literal(as, Scalar::of_uint(from, max_int(to))));
  }
  return fmt::format("({}){}", type, v);
}

std::string bitcast(const CLike& as, const std::string& x, DType from, DType to) {
  if (!is_float(from) && !is_float(to)) return fmt::format("({}){}", type_of(as, to), x);
  const bool wide = size_of(to) == 8;
  if (is_float(to)) return fmt::format("{}({})", wide ? as.double_of_long : as.float_of_int, x);
  return fmt::format("({}){}({})", type_of(as, to), wide ? as.long_of_double : as.int_of_float, x);
}

std::string from_memory(DType dtype, const std::string& x) {
  if (is_bool(dtype)) return fmt::format("({} != 0)", x);
  return x;
}

std::string to_memory(DType dtype, const std::string& x) {
  if (is_bool(dtype)) return fmt::format("(unsigned char)({} ? 1 : 0)", x);
  return x;
}

std::string helper(const CLike& as, UsedHelpers& used, std::string_view name, std::string_view type,
                   const std::string& a, const std::string& b) {
  used(name);
  if (type.empty()) return fmt::format("{}({}, {})", name, a, b);
  if (as.templates) return fmt::format("{}<{}>({}, {})", name, type, a, b);
  return fmt::format("{0}(({1}){2}, ({1}){3})", name, type, a, b);
}

}  // namespace smelt::emit::c_like
