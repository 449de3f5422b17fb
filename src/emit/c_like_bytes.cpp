// Bits of bytes that a thread has loaded four to a word, as floats: a part of the word in the low
// bits of 2^23.
#include <algorithm>
#include <bit>

#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

// Which bits of a loaded byte a value is; none for anything else.
std::optional<PhasePrinter::BitsOfByte> PhasePrinter::bits_of_byte(ExprId id) const {
  const Expr& e = kernel_.at(id);
  if (const auto* load = e.get_if<Load>()) {
    const bool byte = !load->access.scratch && is_int(e.dtype) && size_of(e.dtype) == 1;
    return byte ? std::optional(BitsOfByte{.load = id, .at = 0, .count = 8}) : std::nullopt;
  }
  const auto of_unsigned = [&](ExprId operand) {
    const auto bits = bits_of_byte(operand);
    return bits && kernel_.at(bits->load).dtype == DType::U8 ? bits : std::nullopt;
  };
  const auto constant = [&](ExprId operand) -> std::optional<uint64_t> {
    const auto* c = kernel_.at(operand).get_if<Const>();
    return c && is_int(c->value.dtype) ? std::optional(c->value.as_int()) : std::nullopt;
  };
  if (const auto* made = e.get_if<Cast>())
    return is_int(e.dtype) && size_of(e.dtype) > 1 ? of_unsigned(made->x) : std::nullopt;
  if (const auto* made = e.get_if<Apply>(); made && made->op == Op::And) {
    const auto mask = constant(made->args[1]);
    auto bits = mask && std::has_single_bit(*mask + 1) ? of_unsigned(made->args[0]) : std::nullopt;
    if (bits) bits->count = std::min(bits->count, std::countr_one(*mask));
    return bits;
  }
  if (const auto* made = e.get_if<Raw>(); made && made->op == kernel::RawOp::Shr) {
    const auto by = constant(made->args[1]);
    auto bits = by ? of_unsigned(made->args[0]) : std::nullopt;
    if (!bits || *by >= static_cast<uint64_t>(bits->count)) return std::nullopt;
    bits->at += static_cast<int>(*by), bits->count -= static_cast<int>(*by);
    return bits;
  }
  return std::nullopt;
}

// Those that an expression converts.
std::optional<PhasePrinter::BitsOfByte> PhasePrinter::converted_bits(const Expr& e) const {
  const auto* made = e.get_if<Cast>();
  if (!made || e.dtype != DType::F32 || !as_.bits_to_float) return std::nullopt;
  const auto bits = bits_of_byte(made->x);
  return bits && bits->count > 0 ? bits : std::nullopt;
}

// Those whose byte lies in a word that a thread has.
std::optional<PhasePrinter::BitsOfByte> PhasePrinter::bits_at_hand(const Expr& e) const {
  const auto bits = converted_bits(e);
  return bits && early_bytes_.count(bits->load) && !vector_.edge ? bits : std::nullopt;
}

// The bytes of which an expression of the phase converts some.
std::set<ExprId> PhasePrinter::converted_bytes() const {
  std::set<ExprId> found;
  for (size_t id = 0; id < kernel_.exprs.size(); ++id)
    if (const auto bits = uses_.uses[id] > 0 ? converted_bits(kernel_.exprs[id]) : std::nullopt)
      found.insert(bits->load);
  return found;
}

std::string PhasePrinter::convert(const BitsOfByte& bits) {
  return as_.bits_to_float(used_, fmt::format("ld{}", bits.load), kernel_.at(bits.load).dtype, bits.at, bits.count);
}

}  // namespace smelt::emit::c_like
