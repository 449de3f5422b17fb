// The functions of CUDA C++, and what smelt prints in PTX, by the threads of cuda_on_host.hpp,
// which this text follows.
#pragma once

// ---- functions of the language

#define __builtin_assume(condition) ((void)0)

inline void __syncthreads() { on_host::barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { on_host::exchange(mask, 0, "syncwarp"); }
inline void __threadfence() {}
template <class T>
T __shfl_xor_sync(unsigned mask, T x, int d, int = 32) {
  const unsigned lane = on_host::current % 32 ^ static_cast<unsigned>(d);
  return on_host::lane_of<T>(on_host::exchange(mask, on_host::to_word(x), "xor"), mask, lane);
}
template <class T>
T __shfl_up_sync(unsigned mask, T x, int d, int width = 32) {
  const int lane = static_cast<int>(on_host::current % 32), from = lane - d;
  const unsigned long long* seen = on_host::exchange(mask, on_host::to_word(x), "up");
  return from < (lane & -width) ? x : on_host::lane_of<T>(seen, mask, static_cast<unsigned>(from));
}
template <class T>
T __shfl_down_sync(unsigned mask, T x, int d, int width = 32) {
  const int lane = static_cast<int>(on_host::current % 32), from = lane + d;
  const unsigned long long* seen = on_host::exchange(mask, on_host::to_word(x), "down");
  return from > (lane | (width - 1)) ? x : on_host::lane_of<T>(seen, mask, static_cast<unsigned>(from));
}
template <class T>
T __shfl_sync(unsigned mask, T x, int from, int width = 32) {
  const int lane = static_cast<int>(on_host::current % 32);
  const unsigned long long* seen = on_host::exchange(mask, on_host::to_word(x), "shuffle");
  return on_host::lane_of<T>(seen, mask, static_cast<unsigned>((lane & -width) | (from & (width - 1))));
}
inline unsigned __ballot_sync(unsigned mask, bool holds) {
  const unsigned long long* seen = on_host::exchange(mask, holds, "ballot");
  unsigned votes = 0;
  for (int lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) votes |= static_cast<unsigned>(seen[lane]) << lane;
  return votes;
}
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
// Each digit of `selector` says which of the eight bytes of y and x a byte of the result is.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) result |= static_cast<unsigned>(both >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
  return result;
}
inline float __uint_as_float(unsigned x) { return on_host::bits<float>(x); }
inline float __int_as_float(int x) { return on_host::bits<float>(x); }
inline int __float_as_int(float x) { return on_host::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return on_host::bits<unsigned>(x); }
inline double __longlong_as_double(long long x) { return on_host::bits<double>(x); }
inline long long __double_as_longlong(double x) { return on_host::bits<long long>(x); }
template <class T>
T atomicAdd(T* to, T x) {
  const T before = *to;
  *to = before + x;
  return before;
}
template <class T>
T atomicMax(T* to, T x) {
  const T before = *to;
  if (x > before) *to = x;
  return before;
}
template <class T>
T atomicMin(T* to, T x) {
  const T before = *to;
  if (x < before) *to = x;
  return before;
}
inline unsigned atomicInc(unsigned* to, unsigned limit) {
  const unsigned before = *to;
  *to = before >= limit ? 0 : before + 1;
  return before;
}

// ---- what smelt prints in PTX, which is taken out of the text

template <class T, int N>
struct Vec;
template <class T, int N>
Vec<T, N> lasting(const T* p) {
  return *reinterpret_cast<const Vec<T, N>*>(p);
}
template <class T, int N>
Vec<T, N> passing(const T* p) {
  return lasting<T, N>(p);
}
template <class T, int N>
Vec<T, N> repeated(const T* p) {
  return lasting<T, N>(p);
}
inline unsigned and_or(unsigned x, unsigned mask, unsigned more) { return (x & mask) | more; }
template <class T>
T fetched(const T* p) {
  return *p;
}
inline float from_f16(unsigned short x) { return on_host::float_of(x); }
inline unsigned short to_f16(float x) { return on_host::half_of(x); }
inline signed char to_i8(float x) { return on_host::saturated<signed char>(x, -128, 127); }
inline unsigned char to_u8(float x) { return on_host::saturated<unsigned char>(x, 0, 255); }
inline short to_i16(float x) { return on_host::saturated<short>(x, -32768, 32767); }
inline unsigned short to_u16(float x) { return on_host::saturated<unsigned short>(x, 0, 65535); }
inline int to_i32(float x) { return on_host::saturated<int>(x, -2147483648.0, 2147483647.0); }
inline unsigned to_u32(float x) { return on_host::saturated<unsigned>(x, 0, 4294967295.0); }
inline long long to_i64(float x) { return on_host::saturated_wide<long long>(x); }
inline unsigned long long to_u64(float x) { return on_host::saturated_wide<unsigned long long>(x); }
inline int f64_to_i32(double x) { return on_host::saturated_wide<int>(x); }
inline unsigned f64_to_u32(double x) { return on_host::saturated_wide<unsigned>(x); }
inline long long f64_to_i64(double x) { return on_host::saturated_wide<long long>(x); }
inline unsigned long long f64_to_u64(double x) { return on_host::saturated_wide<unsigned long long>(x); }
inline signed char near_i8(float x) { return to_i8(std::rint(x)); }
inline unsigned char near_u8(float x) { return to_u8(std::rint(x)); }
inline short near_i16(float x) { return to_i16(std::rint(x)); }
inline unsigned short near_u16(float x) { return to_u16(std::rint(x)); }
inline int near_i32(float x) { return to_i32(std::rint(x)); }
inline unsigned near_u32(float x) { return to_u32(std::rint(x)); }
template <class T>
T choose(bool c, T a, T b) {
  return c ? a : b;
}
inline int low_bits_i8(unsigned x) { return static_cast<signed char>(x); }
inline int low_bits_i16(unsigned x) { return static_cast<short>(x); }
inline unsigned low_bits_u8(unsigned x) { return x & 255; }
inline unsigned low_bits_u16(unsigned x) { return x & 65535; }
inline unsigned opaque(unsigned x) { return x; }
inline int maximum_of_ints(int a, int b) { return a > b ? a : b; }
inline int minimum_of_ints(int a, int b) { return a < b ? a : b; }
inline unsigned maximum_of_unsigned(unsigned a, unsigned b) { return a > b ? a : b; }
inline unsigned minimum_of_unsigned(unsigned a, unsigned b) { return a < b ? a : b; }
inline float power_of_two(float x) { return std::exp2(x); }
inline float power_of_two_full(float x) { return std::exp2(x); }
inline float reciprocal(float x) { return 1 / x; }
inline float inverse_root(float x) { return 1 / std::sqrt(x); }
inline float square_root(float x) { return std::sqrt(x); }
inline float root(float x) { return std::sqrt(x); }
inline float quotient(float a, float b) { return a / b; }
inline float saturated_fma(float a, float b, float c) {
  const float y = std::fma(a, b, c);
  return y > 0 ? (y < 1 ? y : 1) : 0;
}
#ifndef SMELT_BEFORE_SM_80  // where these are C++
inline unsigned short to_bf16(float x) { return on_host::brain_of(x); }
inline float round_bf16(float x) { return __uint_as_float(static_cast<unsigned>(to_bf16(x)) << 16); }
inline float maximum(float a, float b) {
  const float equal = __int_as_float(__float_as_int(a) & __float_as_int(b));
  return a != a ? a : a == b ? equal : a > b ? a : b;
}
inline float minimum(float a, float b) {
  const float equal = __int_as_float(__float_as_int(a) | __float_as_int(b));
  return a != a ? a : a == b ? equal : a < b ? a : b;
}
#endif
template <class T>
struct Total;
template <class V>
union Bits;
inline unsigned long long peek(const unsigned long long* at) { return *at; }
inline void poke(unsigned long long* at, unsigned long long x) { *at = x; }
template <class T>
void publish(unsigned long long* at, const T& x) {
  typedef typename Total<T>::Value V;
  Bits<V> bits;
  bits.value = Total<T>::value(x);
  const unsigned long long flags = 1u | Total<T>::restarts(x);
  if (sizeof(V) <= 4) {
    at[0] = flags << 32 | bits.low;
  } else {
    for (int i = 0; i < Bits<V>::kWords; ++i) at[i] = bits.all[i];
    at[Bits<V>::kWords] = flags << 32;
  }
}
// Workgroups run one after the other, so what is awaited is there, or never comes.
template <class T>
T await(const unsigned long long* at, unsigned long long) {
  typedef typename Total<T>::Value V;
  Bits<V> bits;
  const unsigned long long word = at[sizeof(V) <= 4 ? 0 : Bits<V>::kWords];
  if (!(word >> 32)) on_host::fail("a total is awaited that no earlier workgroup has left");
  if (sizeof(V) <= 4)
    bits.low = static_cast<unsigned>(word);
  else
    for (int i = 0; i < Bits<V>::kWords; ++i) bits.all[i] = at[i];
  return Total<T>::make(bits.value, static_cast<unsigned>(word >> 32));
}

// ---- matrix units (src/emit/cuda_matrix.cpp)

// Copies are made when they are waited for, not before: who reads too early finds what was there.
// Counts go on from part to part.
namespace on_host {
struct Copy {
  void* to;
  const void* from;
  int bytes;
  bool inside;
  unsigned part;
};
struct Copies {
  Copy waiting[512];
  unsigned count = 0, parts = 0;
};
static Copies copies[kMostThreads];
}  // namespace on_host

template <int kBytes>
inline void copy_later(void* to, const void* from, bool inside) {
  on_host::Copies& mine = on_host::copies[on_host::current];
  if (mine.count == 512) on_host::fail("too many copies are on their way");
  if (reinterpret_cast<size_t>(to) % kBytes || (inside && reinterpret_cast<size_t>(from) % kBytes))
    on_host::fail("a copy that is not aligned");
  mine.waiting[mine.count++] = {to, from, kBytes, inside, mine.parts};
}
inline void end_part() { ++on_host::copies[on_host::current].parts; }
template <int kBehind>
inline void await_parts() {
  on_host::Copies& mine = on_host::copies[on_host::current];
  unsigned left = 0;
  for (unsigned k = 0; k < mine.count; ++k) {
    const on_host::Copy c = mine.waiting[k];
    if (mine.parts - c.part <= kBehind)
      mine.waiting[left++] = c;
    else if (c.inside)
      std::memcpy(c.to, c.from, c.bytes);
    else
      std::memset(c.to, 0, c.bytes);
  }
  mine.count = left;
}
// Boxes (src/emit/cuda_boxes.cpp): copied when they are asked for in one launch, and when they are
// waited for in the next, so that neither who reads too early nor who overwrites too early goes
// unnoticed.
struct BoxMap;
namespace on_host {
struct Map {  // what cuTensorMapEncodeTiled makes
  unsigned long long address;
  unsigned sides, swizzle, extents[5], strides[5], box[5];
};
struct BoxCopy {
  unsigned char* to;
  Map map;
  int at[5];
  const unsigned long long* filled;
};
static BoxCopy box_copies[256];
static unsigned boxes_asked;

inline void make(const BoxCopy& copy) {
  const Map& m = copy.map;
  unsigned total = 1;
  for (unsigned s = 0; s < m.sides; ++s) total *= m.box[s];
  const unsigned across = m.swizzle / 16 - 1;
  for (unsigned n = 0; n < total; ++n) {
    long long offset = 0;
    bool inside = true;
    for (unsigned s = 0, left = n; s < m.sides; left /= m.box[s], ++s) {
      const long long at = static_cast<long long>(copy.at[s]) + left % m.box[s];
      inside = inside && at >= 0 && at < m.extents[s];
      offset += at * m.strides[s];
    }
    unsigned long long to = reinterpret_cast<unsigned long long>(copy.to) + 2ull * n;
    to ^= (to >> 7 & across) << 4;
    std::memcpy(reinterpret_cast<void*>(to), inside ? reinterpret_cast<const void*>(m.address + offset) : "\0", 2);
  }
}
inline void come_to(const unsigned long long* stage, long bytes) {
  Turns& t = turns[*stage];
  t.meeting.arrived += bytes >= 0, t.bytes += bytes;
  open_if_all(t.meeting, t.meeting.arrived == t.expected && t.bytes == 0);
}
}  // namespace on_host
inline void begin_stages(unsigned long long* filled, unsigned long long* freed, int stages, int warps) {
  for (int s = 0; s < stages; ++s)
    for (const bool fills : {true, false}) {
      if (on_host::turns_used == 64) on_host::fail("too many stages");
      on_host::Turns& made = on_host::turns[on_host::turns_used];
      made.meeting.generation = made.meeting.arrived = 0, made.bytes = 0;
      made.expected = static_cast<unsigned>(fills ? 1 : warps);
      (fills ? filled : freed)[s] = on_host::turns_used++;
    }
  on_host::boxes_asked = 0;
}
inline void await_turn(unsigned long long* stage, int turn) {
  const on_host::Meeting& m = on_host::turns[*stage].meeting;
  while (static_cast<int>(m.generation & 1) == turn) on_host::wait(m);
  unsigned left = 0;
  for (unsigned k = 0; k < on_host::boxes_asked; ++k) {
    const on_host::BoxCopy copy = on_host::box_copies[k];
    if (copy.filled == stage)
      on_host::make(copy);
    else
      on_host::box_copies[left++] = copy;
  }
  on_host::boxes_asked = left;
}
inline void expect_boxes(unsigned long long* filled, int bytes) { on_host::come_to(filled, bytes); }
template <class... At>
inline void copy_box(void* to, const BoxMap* map, unsigned long long* filled, At... at) {
  on_host::BoxCopy copy{static_cast<unsigned char*>(to), {}, {at...}, filled};
  std::memcpy(&copy.map, map, sizeof copy.map);
  if (copy.map.sides != sizeof...(At)) on_host::fail("a box with other sides than its map");
  if (reinterpret_cast<unsigned long long>(to) % 128) on_host::fail("a box that is not aligned on chip");
  long bytes = 2;
  for (unsigned s = 0; s < copy.map.sides; ++s) bytes *= copy.map.box[s];
  if (on_host::launches % 2)
    on_host::make(copy);
  else if (on_host::boxes_asked == 256)
    on_host::fail("too many boxes are on their way");
  else
    on_host::box_copies[on_host::boxes_asked++] = copy;
  on_host::come_to(filled, -bytes);
}
inline void leave_stage(unsigned long long* freed) {
  __syncwarp();
  if ((threadIdx.x & 31) == 0) on_host::come_to(freed, 0);
}
inline void begin_group(int t) {
  on_host::Meeting& m = on_host::groups[1 - t / 128];
  on_host::open_if_all(m, ++m.arrived == 256);
}
inline void await_group(int t) {
  on_host::Meeting& m = on_host::groups[t / 128];
  if (++m.arrived == 256) return on_host::open_if_all(m, true);
  on_host::wait(m);
}
inline void see_stores() {}
template <int kLeft>
inline void give_registers() {}
template <int kAll>
inline void take_registers() {}
template <int kThreads>
inline void team_barrier() {
  ++on_host::team.arrived;
  if (on_host::team.arrived == kThreads) return on_host::open_if_all(on_host::team, true);
  on_host::wait(on_host::team);
}

inline void begin_multiplication() {}
inline void end_multiplication() {}
template <int kBehind>
inline void await_multiplications() {}
template <int kSums>
inline void settle_sums(float (&)[kSums]) {}

template <bool kTurned>
inline void load_matrices(unsigned* to, const unsigned short* row) {
  const int lane = static_cast<int>(threadIdx.x & 31), a = lane / 4, b = 2 * (lane % 4);
  const unsigned long long* rows =
      on_host::exchange(0xffffffffu, reinterpret_cast<unsigned long long>(row), "load_matrices");
  for (int j = 0; j < 4; ++j) {
    const auto row_of = [&](int r) { return reinterpret_cast<const unsigned short*>(rows[8 * j + r]); };
    const unsigned short *first = row_of(kTurned ? b : a), *next = row_of(kTurned ? b + 1 : a);
    to[j] = first[kTurned ? a : b] | static_cast<unsigned>(next[kTurned ? a : b + 1]) << 16;
  }
}

template <bool kBf16>
inline void multiply_matrices(float* sums, const unsigned* a, const unsigned* b) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  const auto half = [](unsigned word, int k) {
    const auto bits = static_cast<unsigned short>(word >> (k % 2 * 16));
    return kBf16 ? __uint_as_float(static_cast<unsigned>(bits) << 16) : from_f16(bits);
  };
  unsigned as[4][32], bs[2][32];  // of all lanes
  const auto all_of = [](unsigned word, unsigned* lanes) {
    const unsigned long long* seen = on_host::exchange(0xffffffffu, word, "multiply_matrices");
    for (int l = 0; l < 32; ++l) lanes[l] = static_cast<unsigned>(seen[l]);
  };
  for (int i = 0; i < 4; ++i) all_of(a[i], as[i]);
  for (int i = 0; i < 2; ++i) all_of(b[i], bs[i]);
  for (int k = 0; k < 16; ++k)
    for (int s = 0; s < 4; ++s) {
      const unsigned x = as[k / 8 * 2 + s / 2][lane / 4 * 4 + k % 8 / 2];
      const unsigned y = bs[k / 8][(2 * (lane % 4) + s % 2) * 4 + k % 8 / 2];
      sums[s] += half(x, k) * half(y, k);
    }
}

template <bool kBf16>
inline unsigned packed_halves(float low, float high) {
  const auto half = [](float x) -> unsigned { return kBf16 ? on_host::brain_of(x) : on_host::half_of(x); };
  return half(low) | half(high) << 16;
}

#pragma GCC pop_options
