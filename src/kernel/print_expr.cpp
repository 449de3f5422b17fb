// Text of the expressions of a Kernel, and how its parts are called.
#include <fmt/format.h>

#include "kernel/text.hpp"

namespace smelt::kernel {

std::string_view name_of(LoopKind kind) {
  switch (kind) {
    case LoopKind::Grid: return "grid";
    case LoopKind::Thread: return "thread";
    case LoopKind::Vector: return "vector";
    case LoopKind::Unrolled: return "unrolled";
    case LoopKind::Serial: return "serial";
  }
  return "?";
}

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::Lane: return "lane";
    case Scope::Workgroup: return "workgroup";
  }
  return "?";
}

std::string_view name_of(RawOp op) {
  switch (op) {
    case RawOp::TruncDiv: return "trunc_div";
    case RawOp::TruncRem: return "trunc_rem";
    case RawOp::Shl: return "shl";
    case RawOp::Shr: return "shr";
    case RawOp::ToInt: return "to_int";
    case RawOp::DotBF16: return "dot_bf16";
    case RawOp::DotBytes: return "dot_bytes";
    case RawOp::PowerOfTwo: return "power_of_two";
    case RawOp::PowerOfTwoFull: return "power_of_two_full";
    case RawOp::Reciprocal: return "reciprocal_unit";
    case RawOp::Quotient: return "quotient";
    case RawOp::InverseRoot: return "inverse_root";
    case RawOp::Root: return "root";
    case RawOp::Tangent: return "tangent";
    case RawOp::TruncatedRemainder: return "truncated_remainder";
    case RawOp::FlooredRemainder: return "floored_remainder";
    case RawOp::FlooredQuotient: return "floored_quotient";
    case RawOp::SaturatedFma: return "saturated_fma";
    case RawOp::Sine: return "sine";
    case RawOp::Cosine: return "cosine";
    case RawOp::RoundF16: return "round_f16";
    case RawOp::RoundBF16: return "round_bf16";
    case RawOp::FromThread: return "from_thread";
    case RawOp::FromThreadAround: return "from_thread_around";
  }
  return "?";
}

std::string param_name(const Kernel& kernel, int param) {
  if (param < 0 || static_cast<size_t>(param) >= kernel.params.size()) return fmt::format("param{}?", param);
  switch (kernel.params[static_cast<size_t>(param)].kind) {
    case ParamKind::Input: return fmt::format("in{}", param);
    case ParamKind::Output: return fmt::format("out{}", param);
    case ParamKind::Temporary: return fmt::format("tmp{}", param);
    case ParamKind::Scalar: return fmt::format("scalar{}", param);
    case ParamKind::Size: return fmt::format("size{}", param);
  }
  return "?";
}

std::string access_text(const Kernel& kernel, const Access& access) {
  const std::string name = access.scratch ? fmt::format("scratch{}", access.array) : param_name(kernel, access.array);
  const bool whole = access.index.empty() && !access.scratch;  // a rank-0 array or a scalar
  return whole ? name : name + str(Shape(access.index));
}

namespace {

std::string_view infix(Op op) {
  switch (op) {
    case Op::Add: return "+";
    case Op::Sub: return "-";
    case Op::Mul: return "*";
    case Op::Div: return "/";
    case Op::FloorDiv: return "//";
    case Op::Mod: return "%";
    case Op::Eq: return "==";
    case Op::Ne: return "!=";
    case Op::Lt: return "<";
    case Op::Le: return "<=";
    case Op::Gt: return ">";
    case Op::Ge: return ">=";
    case Op::And: return "&";
    case Op::Or: return "|";
    case Op::Xor: return "^";
    case Op::ShiftLeft: return "<<";
    case Op::ShiftRight: return ">>";
    default: return "";
  }
}

bool is_masked(const Expr& e) {
  const auto* load = e.get_if<Load>();
  return load && load->mask != kNoExpr;
}

bool is_infix(const Apply& apply) { return apply.args.size() == 2 && !infix(apply.op).empty(); }
bool is_infix(const Expr& e) { return e.is<Apply>() && is_infix(e.get<Apply>()); }

}  // namespace

bool is_leaf(const Expr& e) {
  return e.is<Const>() || e.is<ReadLocal>() || e.is<IndexValue>() || (e.is<Load>() && !is_masked(e));
}

bool is_open(const Expr& e, const Expr& user) {
  const bool user_is_bare = is_infix(user) || user.is<Load>();
  return is_masked(e) || (is_infix(e) && user_is_bare);
}

std::string text_of(const Kernel& kernel, const Expr& e, const OperandText& operand) {
  const auto call = [&](std::string_view name, const std::vector<ExprId>& args) {
    std::string list;
    for (const ExprId arg : args) list += (list.empty() ? "" : ", ") + operand(arg);
    return fmt::format("{}({})", name, list);
  };
  return e.match(
      [&](const Const& c) {
        return is_bool(e.dtype) ? c.value.str() : fmt::format("{}:{}", c.value.str(), name_of(e.dtype));
      },
      [&](const ReadLocal& read) { return fmt::format("%v{}", read.local); },
      [&](const IndexValue& index) { return fmt::format("index({})", index.value.str()); },
      [&](const Random& random) {
        constexpr std::string_view names[] = {"words", "radii", "turns"};
        std::string text = fmt::format("random_{}(", names[static_cast<size_t>(random.draw)]);
        for (const ExprId arg : random.args) text += operand(arg) + ", ";
        return text + random.element.str() + ")";
      },
      [&](const Load& load) {
        const std::string text = access_text(kernel, load.access);
        if (load.mask == kNoExpr) return text;
        const std::string mask = operand(load.mask);
        return fmt::format("{} if {} else {}", text, mask, operand(load.other));
      },
      [&](const Cast& cast) {
        return fmt::format("{}<{}>({})", cast.wrap ? "wrap" : "cast", name_of(e.dtype), operand(cast.x));
      },
      [&](const Bitcast& cast) { return fmt::format("bitcast<{}>({})", name_of(e.dtype), operand(cast.x)); },
      [&](const Raw& raw) { return call(name_of(raw.op), raw.args); },
      [&](const Apply& apply) {
        if (!is_infix(apply)) return call(smelt::name_of(apply.op), apply.args);
        const std::string left = operand(apply.args[0]);
        return fmt::format("{} {} {}", left, infix(apply.op), operand(apply.args[1]));
      });
}

static std::string short_text(const Kernel& kernel, ExprId id, int depth) {
  if (id < 0 || static_cast<size_t>(id) >= kernel.exprs.size()) return "?";
  if (depth > 4) return "...";
  const Expr& e = kernel.at(id);
  return text_of(kernel, e, [&](ExprId arg) {
    const bool known = arg >= 0 && static_cast<size_t>(arg) < kernel.exprs.size();
    const std::string text = short_text(kernel, arg, depth + 1);
    return known && is_open(kernel.at(arg), e) ? "(" + text + ")" : text;
  });
}

std::string expr_text(const Kernel& kernel, ExprId expr) { return short_text(kernel, expr, 0); }

}  // namespace smelt::kernel
