/// \file
/// What the headers of smelt/static need of a compiler: g++ and clang (C++17), nvcc, and NVRTC,
/// which has no standard library.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <cstddef>
#include <cstdint>
#endif

/// \def SMELT_HD
/// Before every function: callable from the host and, where a CUDA compiler reads this, from
/// kernels; always inlined, since a loop is vectorised only when nothing is called in it.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define SMELT_HD __host__ __device__ __forceinline__
#else
#define SMELT_HD inline __attribute__((always_inline))
#endif
/// \def SMELT_INLINE_LAMBDA
/// The same of a lambda, between its parameters and its body.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define SMELT_INLINE_LAMBDA
#else
#define SMELT_INLINE_LAMBDA __attribute__((always_inline))
#endif

namespace smelt {

#if defined(__CUDACC_RTC__)
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using size_t = unsigned long;
#else
using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;
#endif

/// The few type traits that are used, since NVRTC has no <type_traits>.
namespace meta {

template <class A, class B>
inline constexpr bool same = false;
template <class A>
inline constexpr bool same<A, A> = true;

template <bool c, class A, class B>
struct Either {
  using type = A;
};
template <class A, class B>
struct Either<false, A, B> {
  using type = B;
};
template <bool c, class A, class B>
using either = typename Either<c, A, B>::type;

template <class T>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<const T> : Plain<T> {};
template <class T>
struct Plain<T&> : Plain<T> {};
template <class T>
struct Plain<T&&> : Plain<T> {};
/// T without reference and const.
template <class T>
using plain = typename Plain<T>::type;

/// The integer of a width and signedness.
template <int bytes, bool is_signed>
struct Integer;
template <>
struct Integer<1, true> {
  using type = int8_t;
};
template <>
struct Integer<2, true> {
  using type = int16_t;
};
template <>
struct Integer<4, true> {
  using type = int32_t;
};
template <>
struct Integer<8, true> {
  using type = int64_t;
};
template <>
struct Integer<1, false> {
  using type = uint8_t;
};
template <>
struct Integer<2, false> {
  using type = uint16_t;
};
template <>
struct Integer<4, false> {
  using type = uint32_t;
};
template <>
struct Integer<8, false> {
  using type = uint64_t;
};
template <class T>
inline constexpr bool signed_integer = T(-1) < T(0);
template <class T>
using signed_of = typename Integer<sizeof(T), true>::type;
template <class T>
using unsigned_of = typename Integer<sizeof(T), false>::type;

/// A T that does not exist, for decltype.
template <class T>
SMELT_HD const T& some();

/// false, but only once T is known: for static_assert.
template <class T>
inline constexpr bool never = false;

}  // namespace meta
}  // namespace smelt
