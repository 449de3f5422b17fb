// How LLVM spells dtypes, constants and operations. Text that LLVM 16 to 22 all read.
//
// Placeholders of the op table: $T the type of the operands ("<16 x float>"), $V its suffix in
// intrinsic names ("v16f32"), $C the type of the first operand when that is a condition ("<16 x
// i1>"), $s "s" or "u", $shr "ashr" or "lshr" by signedness, $ones a constant with all bits set, $a
// $b $c the operands.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/scalar.hpp"

namespace smelt::emit {

// A value of the text: one for all lanes (lanes == 0), or one per lane.
struct Value {
  std::string text;  // "%v12", or a literal
  DType dtype{};     // as in registers: bool is i1
  int lanes = 0;
  int scope = 0;  // the scope that it was computed in; a literal is valid everywhere
};

// Where steps of so many bytes begin when the first does: at multiples of this, at most a line of
// the caches.
inline constexpr int kCacheLine = 64;
inline int line_of(int bytes) { return std::min(kCacheLine, bytes & -bytes); }

std::string lane_type(DType dtype);                          // in registers: "float", "i1"
std::string memory_type(DType dtype);                        // in memory: "i8" for bool, "i16" for f16 and bf16
std::string vector_of(std::string_view element, int lanes);  // "<16 x float>"; the element itself for 0 lanes
std::string suffix(std::string_view element, int lanes);     // "v16f32" of "float"
std::string type_of(const Value& value);                     // "<16 x float>"
std::string literal(const Scalar& constant);                 // "0x3FF0000000000000", "-3", "true"

struct OpText {
  std::string_view spelling;
  DType dtype;  // of the operands ($T)
  int lanes = 0;
  std::string condition;  // $C
  std::string ones;
  std::string a, b, c;
};
std::string spell(const OpText& op);

// The declaration that a call of an intrinsic needs: "declare float @llvm.fabs.f32(float)". Empty
// when `instruction` calls none.
std::string declaration_for(const std::string& instruction);

// Text of a user as a comment may carry it: printable ASCII on one line, cut to a length that
// people read.
std::string comment_text(std::string_view text);

}  // namespace smelt::emit
