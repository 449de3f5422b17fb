#include "emit/llvm_types.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/check.hpp"

namespace smelt::emit {

std::string lane_type(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "i1";
    case DType::F32: return "float";
    case DType::F64: return "double";
    default: return fmt::format("i{}", 8 * size_of(dtype));  // small floats are their bits
  }
}

std::string memory_type(DType dtype) { return is_bool(dtype) ? "i8" : lane_type(dtype); }

std::string vector_of(std::string_view element, int lanes) {
  return lanes ? fmt::format("<{} x {}>", lanes, element) : std::string(element);
}

std::string suffix(std::string_view element, int lanes) {
  std::string name = element == "float"    ? "f32"
                     : element == "double" ? "f64"
                     : element == "half"   ? "f16"
                     : element == "ptr"    ? "p0"
                                           : std::string(element);
  return lanes ? fmt::format("v{}{}", lanes, name) : name;
}

std::string type_of(const Value& value) { return vector_of(lane_type(value.dtype), value.lanes); }

std::string literal(const Scalar& constant) {
  const DType t = constant.dtype;
  if (is_bool(t)) return constant.i ? "true" : "false";
  if (is_small_float(t)) return fmt::format("{}", small_float_bits(t, constant.f));
  // LLVM's integers have no sign; the signed reading of the bits is the one that always fits.
  if (!is_float(t)) {
    const int unused = 64 - 8 * size_of(t);
    return fmt::format("{}", static_cast<int64_t>(static_cast<uint64_t>(constant.as_int()) << unused) >> unused);
  }
  // Small whole numbers are exact in decimal; everything else is written by its bits (a float by
  // those of the double of equal value).
  if (std::fabs(constant.f) < 65536 && constant.f == std::trunc(constant.f)) return fmt::format("{:.1f}", constant.f);
  return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(constant.f));
}

std::string spell(const OpText& op) {
  const bool is_signed = is_signed_int(op.dtype);
  const std::string element = lane_type(op.dtype);
  std::string text;
  std::string_view rest = op.spelling;
  auto take = [&](std::string_view placeholder) {
    if (rest.substr(0, placeholder.size()) != placeholder) return false;
    rest.remove_prefix(placeholder.size());
    return true;
  };
  while (!rest.empty()) {
    if (rest[0] != '$') {
      text += rest[0];
      rest.remove_prefix(1);
    } else if (take("$T"))
      text += vector_of(element, op.lanes);
    else if (take("$V"))
      text += suffix(element, op.lanes);
    else if (take("$C"))
      text += op.condition;
    else if (take("$shr"))
      text += is_signed ? "ashr" : "lshr";
    else if (take("$s"))
      text += is_signed ? "s" : "u";
    else if (take("$ones"))
      text += op.ones;
    else if (take("$a"))
      text += op.a;
    else if (take("$b"))
      text += op.b;
    else if (take("$c"))
      text += op.c;
    else
      throw InternalError(fmt::format("unknown placeholder in \"{}\"", op.spelling));
  }
  return text;
}

// Splits "T a, T b" at the commas outside <>, () and [].
static std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (i > start) parts.push_back(text.substr(start, i - start));
      start = i + 2;
    } else if (text[i] == '<' || text[i] == '(' || text[i] == '[')
      ++depth;
    else if (text[i] == '>' || text[i] == ')' || text[i] == ']')
      --depth;
  }
  return parts;
}

// The type in front of an operand: "<4 x float>" of "<4 x float> %v1", "ptr" of "ptr align 4 %p".
static std::string_view leading_type(std::string_view operand) {
  if (operand[0] == '<') return operand.substr(0, operand.find('>') + 1);
  return operand.substr(0, operand.find(' '));
}

std::string declaration_for(const std::string& instruction) {
  const size_t call = instruction.find("call "), at = instruction.find(" @llvm.");
  if (call == std::string::npos || at == std::string::npos) return "";
  const size_t open = instruction.find('(', at), close = instruction.rfind(')');
  std::string text = fmt::format("declare {}(", std::string_view(instruction).substr(call + 5, open - call - 5));
  bool first = true;
  for (std::string_view operand : split_arguments(std::string_view(instruction).substr(open + 1, close - open - 1))) {
    text += first ? "" : ", ";
    text += leading_type(operand);
    // Arguments that LLVM wants as constants say so in the declaration of the intrinsic itself, not
    // here.
    first = false;
  }
  return text + ")";
}

std::string comment_text(std::string_view text) {
  constexpr size_t longest = 80;
  std::string safe;
  for (char c : text.substr(0, longest)) safe += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > longest ? safe + "..." : safe;
}

}  // namespace smelt::emit
