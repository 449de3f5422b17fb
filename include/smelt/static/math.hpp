/// \file
/// Transcendental functions. Where multiply-adds are instructions they are the compiler's own
/// expansions, which loops vectorise; on a GPU some of f32 go through its special unit, as in
/// kernels that smelt makes. A host without multiply-adds (x86-64 built without -mfma or
/// -march=...) takes those of its C library.
#pragma once

#include "smelt/static/expand/all.hpp"
#include "smelt/static/expand/gpu.hpp"
#include "smelt/static/types.hpp"
#include "smelt/static/unit.hpp"

namespace smelt::fixed::math {

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__FMA__) || defined(__ARM_FEATURE_FMA) || \
    defined(__aarch64__)
using expand::acos;
using expand::acosh;
using expand::asin;
using expand::asinh;
using expand::atan;
using expand::atan2;
using expand::atanh;
using expand::cbrt;
using expand::cos;
using expand::cosh;
using expand::erfc;
using expand::expm1;
using expand::hypot;
using expand::log;
using expand::log10;
using expand::log1p;
using expand::log2;
using expand::pow;
using expand::sin;
using expand::sinh;
using expand::tan;
#if defined(__CUDA_ARCH__)
SMELT_HD Real32 exp(Real32 a) { return expand::gpu::exp(a); }
SMELT_HD Real32 exp2(Real32 a) { return power_of_two_full(a); }
SMELT_HD Real32 tanh(Real32 a) { return expand::gpu::tanh(a); }
SMELT_HD Real32 erf(Real32 a) { return expand::gpu::erf(a); }
SMELT_HD Real64 exp(Real64 a) { return expand::exp(a); }
SMELT_HD Real64 exp2(Real64 a) { return expand::exp2(a); }
SMELT_HD Real64 tanh(Real64 a) { return expand::tanh(a); }
SMELT_HD Real64 erf(Real64 a) { return expand::erf(a); }
#else
using expand::erf;
using expand::exp;
using expand::exp2;
using expand::tanh;
#endif
#else
/// \cond
#define SMELT_OF_LIBRARY(name)                                              \
  SMELT_HD Real32 name(Real32 a) { return {__builtin_##name##f(a.value)}; } \
  SMELT_HD Real64 name(Real64 a) { return {__builtin_##name(a.value)}; }
#define SMELT_OF_LIBRARY_2(name)                                                               \
  SMELT_HD Real32 name(Real32 a, Real32 b) { return {__builtin_##name##f(a.value, b.value)}; } \
  SMELT_HD Real64 name(Real64 a, Real64 b) { return {__builtin_##name(a.value, b.value)}; }
/// \endcond
SMELT_OF_LIBRARY(acos)
SMELT_OF_LIBRARY(acosh)
SMELT_OF_LIBRARY(asin)
SMELT_OF_LIBRARY(asinh)
SMELT_OF_LIBRARY(atan)
SMELT_OF_LIBRARY(atanh)
SMELT_OF_LIBRARY(cbrt)
SMELT_OF_LIBRARY(cos)
SMELT_OF_LIBRARY(cosh)
SMELT_OF_LIBRARY(erf)
SMELT_OF_LIBRARY(erfc)
SMELT_OF_LIBRARY(exp)
SMELT_OF_LIBRARY(exp2)
SMELT_OF_LIBRARY(expm1)
SMELT_OF_LIBRARY(log)
SMELT_OF_LIBRARY(log10)
SMELT_OF_LIBRARY(log1p)
SMELT_OF_LIBRARY(log2)
SMELT_OF_LIBRARY(sin)
SMELT_OF_LIBRARY(sinh)
SMELT_OF_LIBRARY(tan)
SMELT_OF_LIBRARY(tanh)
SMELT_OF_LIBRARY_2(atan2)
SMELT_OF_LIBRARY_2(hypot)
SMELT_OF_LIBRARY_2(pow)
#undef SMELT_OF_LIBRARY
#undef SMELT_OF_LIBRARY_2
#endif

}  // namespace smelt::fixed::math
