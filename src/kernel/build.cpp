#include "kernel/build.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "base/check.hpp"
#include "kernel/value.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {

static std::string key_of(const Access& a) {
  std::string key = fmt::format("{}{}", a.scratch ? "s" : "p", a.array);
  for (const IntExpr& i : a.index) key += "," + i.str();
  return key;
}

static std::string key_of(const Expr& e) {
  const std::string key = e.match(
      [](const Const& c) {
        return is_float(c.value.dtype) ? fmt::format("{:x}", std::bit_cast<uint64_t>(c.value.f))
                                       : fmt::format("{}:{}", c.value.i, c.value.u);
      },
      [](const ReadLocal& read) { return std::to_string(read.local); },
      [](const IndexValue& index) { return index.value.str(); },
      [](const Apply& apply) { return std::to_string(static_cast<int>(apply.op)); },
      [](const Raw& raw) { return std::to_string(static_cast<int>(raw.op)); },
      [](const Cast& cast) { return std::string(cast.wrap ? "w" : "c"); }, [](const Bitcast&) { return std::string(); },
      [](const Random& random) { return fmt::format("{}:{}", static_cast<int>(random.draw), random.element.str()); },
      [](const Load& load) { return key_of(load.access); });
  std::string whole = fmt::format("{}/{}:{}", e.as.index(), static_cast<int>(e.dtype), key);
  for_each_operand(e, [&](ExprId a) { whole += fmt::format(" {}", a); });
  return whole;
}

ExprId Builder::add(Expr e) {
  auto [it, fresh] = known_.try_emplace(key_of(e), static_cast<ExprId>(kernel_.exprs.size()));
  if (fresh) kernel_.exprs.push_back(std::move(e));
  return it->second;
}

ExprId Builder::constant(const Scalar& value) {
  // In registers small floats are f32; each of their values is an f32 value.
  Scalar s = value;
  s.dtype = compute_type(value.dtype);
  return add({s.dtype, Const{s}});
}

ExprId Builder::local(LocalId id) { return add({kernel_.locals[static_cast<size_t>(id)].dtype, ReadLocal{id}}); }

ExprId Builder::index(const IntExpr& value) {
  if (auto c = value.constant()) return constant(Scalar::of_int(DType::I64, *c));
  return add({DType::I64, IndexValue{value}});
}

ExprId Builder::load(Access access, ExprId mask, ExprId other) {
  if (const Scalar* known = mask == kNoExpr ? nullptr : constant_at(mask)) {
    if (!known->as_bool()) return other;
    mask = other = kNoExpr;
  }
  const DType t = kernel_.dtype_of(access);
  if (other != kNoExpr) other = to_small(other, t);
  return from_small(add({t, Load{std::move(access), mask, other}}));
}

Store Builder::store(Access access, ExprId value, ExprId mask, bool streaming) {
  const ExprId stored = to_small(value, kernel_.dtype_of(access));
  return {std::move(access), stored, mask, streaming, {}};
}

ExprId Builder::from_small(ExprId x) {
  const DType from = dtype(x);
  if (!is_small_float(from)) return x;
  if (const Scalar* known = constant_at(x)) return constant(*known);
  return add({DType::F32, Cast{x, false}});
}

ExprId Builder::to_small(ExprId x, DType to) {
  if (!is_small_float(to)) return x;
  if (const Scalar* known = constant_at(x)) return add({to, Const{convert(*known, to, false)}});
  // What was loaded is stored as it was.
  if (const auto* wide = at(x).get_if<Cast>(); wide && dtype(wide->x) == to) return wide->x;
  return add({to, Cast{x, false}});
}

const Load* Builder::loaded(ExprId id) const {
  const auto* wide = at(id).get_if<Cast>();
  return at(wide && is_small_float(dtype(wide->x)) ? wide->x : id).get_if<Load>();
}

// Whether the printers spell this operation as it is.
static bool has_spelling(Op op, DType argument, bool on_gpu) {
  if ((op == Op::Max || op == Op::Min) && argument == DType::F32) return on_gpu;
  return !(is_float(argument) ? info(op).llvm_float : info(op).llvm_int).empty();
}

ExprId Builder::apply(Op op, std::vector<ExprId> args) {
  const DType argument = dtype(args.back());
  bool all_constant = true;
  for (ExprId a : args) all_constant = all_constant && constant_at(a);
  if (all_constant) {
    std::vector<Scalar> values;
    for (ExprId a : args) values.push_back(*constant_at(a));
    return constant(evaluate(op, values));
  }
  if (op == Op::And && is_bool(argument))
    for (size_t k = 0; k < 2; ++k)
      if (const Scalar* known = constant_at(args[k])) return known->as_bool() ? args[1 - k] : args[k];
  if (op == Op::Where) {
    if (args[1] == args[2]) return args[1];
    if (const Scalar* known = constant_at(args[0])) return known->as_bool() ? args[1] : args[2];
  }
  const bool spelled = has_spelling(op, argument, on_gpu());
  if ((op == Op::Max || op == Op::Min) && is_float(argument) && !spelled)
    if (const ExprId simple = extreme_of_constant(op, args); simple != kNoExpr) return simple;
  if (const ExprId special = expand_for_gpu(op, args); special != kNoExpr) return special;
  if (!spelled) return expand(op, args);
  return add({result_type(op, argument), Apply{op, std::move(args)}});
}

// An f64 as an f32 that rounds to every smaller format as the f64 itself would: what is dropped
// leaves the last bit set, so that it never looks like a tie.
static ExprId rounded_to_odd(Builder& builder, ExprId f64) {
  const Val x{&builder, f64}, near = narrow(x), back = widen(near), bits = kernel::bits(near);
  const Val toward_zero = select(abs(back) > abs(x), bits - like(bits, 1), bits);
  return from_bits(select(back != x, toward_zero | like(bits, 1), bits)).id;
}

ExprId Builder::before_small(ExprId x) {
  const DType from = dtype(x);
  if (from == DType::F32) return x;
  if (from == DType::F64) return rounded_to_odd(*this, x);
  if (is_int(from) && size_of(from) >= 4) return rounded_to_odd(*this, cast(x, DType::F64));
  return cast(x, DType::F32);
}

// What a cast to an integer may take as well: in u8(min(max(x, 0), 255)) it is x, since the cast
// itself saturates there, in one instruction of a GPU.
ExprId Builder::before_saturation(ExprId x, DType to) const {
  for (;;) {
    const auto* e = at(x).get_if<Apply>();
    if (!e || (e->op != Op::Max && e->op != Op::Min)) return x;
    const auto stays = [&](ExprId bound) {
      const Scalar* number = constant_at(bound);
      const double n = number ? number->as_double() : NAN;
      return e->op == Op::Min ? n >= static_cast<double>(max_int(to)) : n <= static_cast<double>(min_int(to));
    };
    if (stays(e->args[1]))
      x = e->args[0];
    else if (stays(e->args[0]))
      x = e->args[1];
    else
      return x;
  }
}

ExprId Builder::cast(ExprId x, DType to, bool wrap) {
  const DType from = dtype(x);
  if (is_small_float(to)) {
    if (const Scalar* known = constant_at(x))
      return constant(Scalar::of_float(DType::F32, convert(*known, to, wrap).as_double()));
    if (!is_f8(to) && (from == DType::Bool || (is_int(from) && size_of(from) == 1)))
      return cast(x, DType::F32);  // 8 bits fit
    const ExprId near = before_small(x);
    if (on_gpu() && is_f8(to)) return from_small(to_small(near, to));
    if (on_gpu()) return raw(to == DType::F16 ? RawOp::RoundF16 : RawOp::RoundBF16, DType::F32, {near});
    return round_to_small(near, to);
  }
  if (from == to) return x;
  if (const Scalar* known = constant_at(x)) return constant(convert(*known, to, wrap));
  if (on_gpu() && is_int(to) && !wrap) x = before_saturation(x, to);
  // One instruction of a GPU.
  if (is_float(from) && is_int(to) && to != DType::U64 && !on_gpu()) return saturate(x, to);
  return add({to, Cast{x, wrap}});
}

ExprId Builder::bitcast(ExprId x, DType to) {
  const DType from = dtype(x);
  if (from == to) return x;
  if (const Scalar* known = constant_at(x)) {
    uint64_t raw = 0;
    store_scalar(*known, &raw);
    return constant(load_scalar(to, &raw));
  }
  return add({to, Bitcast{x}});
}

ExprId Builder::raw(RawOp op, DType dtype, std::vector<ExprId> args) { return add({dtype, Raw{op, std::move(args)}}); }

ExprId Builder::random(philox::Draw draw, std::array<ExprId, 3> args, const IntExpr& element, const IntExpr& extent) {
  for (ExprId& arg : args) arg = cast(arg, DType::U64, true);
  return add({DType::U32, Random{draw, args, element, extent}});
}

LocalId Builder::new_local(DType dtype, bool is_mutable) {
  kernel_.locals.push_back({dtype, is_mutable});
  return static_cast<LocalId>(kernel_.locals.size() - 1);
}

Param size_param(Symbol symbol) {
  Param p;
  p.kind = ParamKind::Size;
  p.dtype = DType::I64;
  p.symbol = symbol;
  p.note = "size";
  return p;
}

}  // namespace smelt::kernel
