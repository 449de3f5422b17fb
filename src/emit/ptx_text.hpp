// Functions in PTX, which the compilers of CUDA C++ and of NVIDIA's OpenCL C both take.
#pragma once

#include "emit/prelude.hpp"

namespace smelt::emit {

// For two extremes in sequence with a negated operand, the assembler of CUDA 13.0 and of driver 580
// emits one instruction for sm_90, and loses the negation. Signed integers are therefore compared
// as unsigned ones with the first bit flipped, and vice versa; in plain code the compiler would
// undo that. Small values without a sign are never negated operands: their wrapped negatives are
// masked first.
inline HelperList ptx_extremes() {
  return {
      {{"maximum_of_ints"}, R"(SMELT_INLINE int maximum_of_ints(int a, int b) {
  unsigned y;
  asm("max.u32 %0, %1, %2;" : "=r"(y) : "r"((unsigned)a ^ 0x80000000u), "r"((unsigned)b ^ 0x80000000u));
  return (int)(y ^ 0x80000000u);
})"},
      {{"minimum_of_ints"}, R"(SMELT_INLINE int minimum_of_ints(int a, int b) {
  unsigned y;
  asm("min.u32 %0, %1, %2;" : "=r"(y) : "r"((unsigned)a ^ 0x80000000u), "r"((unsigned)b ^ 0x80000000u));
  return (int)(y ^ 0x80000000u);
})"},
      {{"maximum_of_small"}, R"(SMELT_INLINE int maximum_of_small(int a, int b) { return a > b ? a : b; })"},
      {{"minimum_of_small"}, R"(SMELT_INLINE int minimum_of_small(int a, int b) { return a < b ? a : b; })"},
      {{"maximum_of_unsigned"}, R"(SMELT_INLINE unsigned maximum_of_unsigned(unsigned a, unsigned b) {
  int y;
  asm("max.s32 %0, %1, %2;" : "=r"(y) : "r"((int)(a ^ 0x80000000u)), "r"((int)(b ^ 0x80000000u)));
  return (unsigned)y ^ 0x80000000u;
})"},
      {{"minimum_of_unsigned"}, R"(SMELT_INLINE unsigned minimum_of_unsigned(unsigned a, unsigned b) {
  int y;
  asm("min.s32 %0, %1, %2;" : "=r"(y) : "r"((int)(a ^ 0x80000000u)), "r"((int)(b ^ 0x80000000u)));
  return (unsigned)y ^ 0x80000000u;
})"},
  };
}

}  // namespace smelt::emit
