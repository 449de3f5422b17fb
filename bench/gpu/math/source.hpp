// The CUDA C++ that checks and rivals smelt's kernels.
#pragma once

#include <string>

namespace smelt::bench {

// fill(to, first): the numbers with the bits first, first + 1, ...
// check(from, first, count, worst, histogram): the error of each against `exact`, in units in the
// last place of the format. `worst`: the bits of the largest (f32) above those of its argument. A
// nan on one side only, or the wrong sign of a zero, is infinite.
inline std::string checking_source(const std::string& exact, int bits, int mantissa, int least, int most) {
  const std::string element = bits == 32 ? "unsigned" : "unsigned short";
  std::string text = "typedef " + element + " Bits;\n";
  text += "#define MANTISSA " + std::to_string(mantissa) + "\n#define LEAST " + std::to_string(least) +
          "\n#define MOST " + std::to_string(most) + "\n";
  text += bits == 32 ? "__device__ double wide(Bits b) { return __uint_as_float(b); }\n"
          : mantissa == 7
              ? "__device__ double wide(Bits b) { return __uint_as_float((unsigned)b << 16); }\n"
              : "__device__ double wide(Bits b) {\n  float y;\n  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(b));\n"
                "  return y;\n}\n";
  return text + R"(
__device__ double exact(double x) { return )" +
         exact + R"(; }

__device__ float error_of(double computed, double wanted) {
  const float infinite = __uint_as_float(0x7f800000u);
  if (wanted != wanted || computed != computed) return wanted != wanted && computed != computed ? 0.0f : infinite;
  if (wanted == 0) return computed == 0 && signbit(computed) == signbit(wanted) ? 0.0f : infinite;
  const double top = ldexp(1.0, MOST + 1);
  if (fabs(wanted) > top) wanted = copysign(top, wanted);
  if (isinf(computed)) computed = copysign(top, computed);
  int exponent = ilogb(wanted);
  if (exponent < LEAST) exponent = LEAST;
  if (exponent > MOST) exponent = MOST;
  return (float)(fabs(computed - wanted) * ldexp(1.0, MANTISSA - exponent));
}

extern "C" __global__ void fill(Bits* to, unsigned first, unsigned count) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] = (Bits)(first + i);
}

extern "C" __global__ void check(const Bits* from, unsigned first, unsigned count, unsigned long long* worst,
                                 unsigned long long* histogram) {
  unsigned long long mine = 0;
  unsigned counts[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const Bits argument = (Bits)(first + i);
    const float error = error_of(wide(from[i]), exact(wide(argument)));
    const unsigned long long key = (unsigned long long)__float_as_uint(error) << 32 | (unsigned)argument;
    if (key > mine) mine = key;
    const float limits[7] = {0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 1e30f};
    int bin = 0;
#pragma unroll
    for (int k = 0; k < 7; ++k) bin += error > limits[k];
#pragma unroll
    for (int k = 0; k < 8; ++k) counts[k] += bin == k;
  }
  atomicMax(worst, mine);
#pragma unroll
  for (int k = 0; k < 8; ++k) atomicAdd(&histogram[k], (unsigned long long)counts[k]);
}
)";
}

// sums(in, out, count): the function at `terms` places around each argument, as smelt's program of
// timing.hpp has it.
inline std::string rival_source(const std::string& library, int terms) {
  std::string text = "static __device__ __forceinline__ float f(float x) { return " + library + "; }\n";
  text += R"(
struct __align__(16) Four { float at[4]; };
extern "C" __global__ void __launch_bounds__(256) sums(const Four* __restrict__ in, Four* __restrict__ out) {
  const unsigned i = (blockIdx.x * 256 + threadIdx.x) * 2;
  Four x[2] = {in[i], in[i + 1]};
#pragma unroll
  for (int u = 0; u < 2; ++u)
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float a = x[u].at[l];
      float sum = f(a);
)";
  for (int k = 1; k < terms; ++k) text += "      sum += f(a + " + std::to_string(k) + ".0f / 1024.0f);\n";
  return text + "      x[u].at[l] = sum;\n    }\n  out[i] = x[0];\n  out[i + 1] = x[1];\n}\n";
}

}  // namespace smelt::bench
