// Makes CUDA C++, as smelt prints it, a program of the host: emulate.cpp puts it before a kernel.
//
// Threads of a workgroup are contexts that take turns: each runs until it waits for others, at a
// barrier or in an exchange within its warp, and a warp goes as far as it can alone. Threads take
// their turns in order or in reverse, by the number of the workgroup and of the launch. A barrier
// that is missing therefore shows: what one thread should have written before is not there, or what
// another should still read is gone. Threads that wait for ever, masks that name other threads than
// those that come, and writes past the dynamic shared memory are errors, returned as a text.
#pragma once

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

// Kernels are compiled without optimisation, which takes longer than they run; what every thread
// calls is worth it.
#pragma GCC push_options
#pragma GCC optimize("O1")

#define __device__
#define __noinline__
#define __global__
#define __shared__ static __attribute__((section("shared_memory")))
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __CUDA_ARCH__ 700  // the text without instructions of newer ones

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};
static Index3 threadIdx, blockIdx, blockDim, gridDim;
extern "C" {
alignas(1024) unsigned char scratch[232 << 10];  // dynamic shared memory
extern unsigned char __start_shared_memory[] __attribute__((weak, visibility("hidden")));
extern unsigned char __stop_shared_memory[] __attribute__((weak, visibility("hidden")));
}

namespace on_host {

constexpr unsigned kMostThreads = 1024;
constexpr size_t kStack = 128 << 10;

// Those who wait for each other: each takes down the generation that it waits in.
struct Meeting {
  unsigned generation = 0, arrived = 0;  // a count, or a mask of lanes
  unsigned mask = 0, present = 0;        // present: those that were there
  const char* what = nullptr;
  unsigned long long given[32], seen[32];
};
struct Thread {
  ucontext_t start;
  jmp_buf at;
  bool begun = false, done = false;
  const Meeting* waits = nullptr;
  unsigned generation = 0;
  Index3 index;
};

static Thread threads[kMostThreads];
static unsigned count, alive, current;
// A stage, by the number that its barrier holds: threads that come to it, and bytes that are
// still to come.
struct Turns {
  Meeting meeting;
  unsigned expected;
  long bytes;
};
static Turns turns[64];
static unsigned turns_used;
static Meeting team, groups[2];
static Meeting everyone, warps[kMostThreads / 32][32];  // per warp, by the first lane of a mask
static unsigned ended[kMostThreads / 32];               // lanes that are done
static char* const stacks = static_cast<char*>(
    mmap(nullptr, kMostThreads* kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
static unsigned launches;
static jmp_buf scheduler;
static char fault[200];
static void (*run_thread)(void* kernel, void** arguments);
static void* kernel_of_launch;
static void** arguments_of_launch;

[[noreturn]] inline void fail(const char* what) {
  std::snprintf(fault, sizeof fault, "%s (workgroup %u, thread %u)", what, blockIdx.x, current);
  _longjmp(scheduler, 2);
}
inline void wait(const Meeting& m) {
  Thread& me = threads[current];
  me.waits = &m, me.generation = m.generation;
  if (_setjmp(me.at) == 0) _longjmp(scheduler, 1);
  threadIdx = me.index;
}
inline void open_if_all(Meeting& m, bool all) {
  if (all) ++m.generation, m.arrived = 0;
}

inline void barrier() {
  ++everyone.arrived;
  if (everyone.arrived == alive) return open_if_all(everyone, true);
  wait(everyone);
}

static unsigned present;  // in the exchange that the thread at hand comes from

// All threads of a mask that have not returned are there. What the others would give is nothing to
// read.
inline void open_if_there(Meeting& m, unsigned warp) {
  if (!m.arrived || (m.arrived | ended[warp]) != (m.mask | ended[warp])) return;
  std::memcpy(m.seen, m.given, sizeof m.seen);
  m.present = m.arrived;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (!(m.arrived >> lane & 1)) m.seen[lane] = 0;
  open_if_all(m, true);
}

// What each lane of the mask gives, once all of them have.
inline const unsigned long long* exchange(unsigned mask, unsigned long long mine, const char* what) {
  const unsigned warp = current / 32, lane = current % 32;
  if (!(mask >> lane & 1)) fail("a thread is not in the mask that it names");
  const unsigned here = count - warp * 32 < 32 ? (1u << (count - warp * 32)) - 1 : 0xffffffffu;
  if (mask & ~here) fail("a mask names a thread that is not there");
  Meeting& m = warps[warp][__builtin_ctz(mask)];
  if (m.arrived && (m.mask != mask || m.what != what)) fail("threads of a warp meet with different masks or calls");
  m.mask = mask, m.what = what;
  m.given[lane] = mine;
  m.arrived |= 1u << lane;
  const unsigned generation = m.generation;
  open_if_there(m, warp);
  if (m.generation == generation) wait(m);
  present = m.present;
  return m.seen;
}

inline void begin() {
  threadIdx = threads[current].index;
  run_thread(kernel_of_launch, arguments_of_launch);
  threads[current].done = true;
  ended[current / 32] |= 1u << (current % 32);
  --alive;
  open_if_all(everyone, everyone.arrived && everyone.arrived == alive);
  for (Meeting& m : warps[current / 32]) open_if_there(m, current / 32);
  _longjmp(scheduler, 1);
}

// Lets a thread run until it waits. False when it still waits, or is done.
inline bool resume(unsigned number) {
  current = number;
  Thread& thread = threads[number];
  if (thread.done || (thread.waits && thread.waits->generation == thread.generation)) return false;
  if (_setjmp(scheduler) != 0) return true;
  if (thread.begun) _longjmp(thread.at, 1);
  thread.begun = true;
  setcontext(&thread.start);
  return true;
}

// Each warp goes as far as it can alone, before the next one.
inline bool run_warps(bool from_behind) {
  bool moved = false;
  const unsigned all = (count + 31) / 32;
  for (unsigned w = 0; w < all && !fault[0]; ++w) {
    const unsigned first = (from_behind ? all - 1 - w : w) * 32, lanes = count - first < 32 ? count - first : 32;
    for (bool more = true; more && !fault[0];) {
      more = false;
      for (unsigned k = 0; k < lanes && !fault[0]; ++k) more |= resume(first + (from_behind ? lanes - 1 - k : k));
      moved |= more;
    }
  }
  return moved;
}

inline void run_workgroup(bool from_behind) {
  for (unsigned t = 0; t < count; ++t) {
    threads[t].begun = threads[t].done = false, threads[t].waits = nullptr;
    threads[t].index = {t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
  }
  alive = count;
  everyone.arrived = team.arrived = groups[0].arrived = groups[1].arrived = 0;
  turns_used = 0;
  std::memset(ended, 0, sizeof ended);
  for (auto& warp : warps)
    for (Meeting& m : warp) m.arrived = 0;
  while (alive > 0 && !fault[0])
    if (!run_warps(from_behind) && !fault[0])
      std::snprintf(fault, sizeof fault, "threads of workgroup %u wait for ever", blockIdx.x);
}

template <class... P, size_t... I>
void call(void (*kernel)(P...), void** arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::decay_t<P>*>(arguments[I])...);
}

// Empty when all went well.
template <class... P>
const char* launch(void (*kernel)(P...), void** arguments, const unsigned* grid, const unsigned* block,
                   unsigned shared_bytes) {
  fault[0] = 0;
  kernel_of_launch = reinterpret_cast<void*>(kernel), arguments_of_launch = arguments;
  run_thread = [](void* k, void** a) {
    call(reinterpret_cast<void (*)(P...)>(k), a, std::make_index_sequence<sizeof...(P)>());
  };
  gridDim = {grid[0], grid[1], grid[2]}, blockDim = {block[0], block[1], block[2]};
  count = block[0] * block[1] * block[2];
  ++launches;
  // What shared memory holds before it is written: zeros, or NaN, -1 and true.
  const unsigned char before = launches % 2 ? 0xFF : 0;
  std::memset(scratch, before, sizeof scratch);
  static ucontext_t here;  // asked for once, as it is a call of the system
  if (launches == 1) getcontext(&here);
  for (blockIdx.z = 0; blockIdx.z < grid[2]; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid[1]; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < grid[0]; ++blockIdx.x) {
        for (unsigned t = 0; t < count; ++t) {
          threads[t].start = here;
          threads[t].start.uc_stack.ss_sp = stacks + t * kStack;
          threads[t].start.uc_stack.ss_size = kStack;
          makecontext(&threads[t].start, begin, 0);
        }
        std::memset(scratch, before, shared_bytes);
        if (__start_shared_memory)
          std::memset(__start_shared_memory, before, static_cast<size_t>(__stop_shared_memory - __start_shared_memory));
        run_workgroup((blockIdx.x + blockIdx.y + blockIdx.z + launches) % 2 == 1);
        if (fault[0]) return fault;
        const unsigned char* behind = scratch + shared_bytes;
        const size_t left = sizeof scratch - shared_bytes;
        if (left > 0 && (*behind != before || std::memcmp(behind, behind + 1, left - 1) != 0))
          return "something was written behind the dynamic shared memory";
      }
  return fault;
}

template <class... P>
unsigned sizes(void (*)(P...), unsigned* bytes) {
  const unsigned all[] = {sizeof(std::decay_t<P>)..., 0};
  for (unsigned i = 0; i < sizeof...(P); ++i) bytes[i] = all[i];
  return sizeof...(P);
}

template <class T>
unsigned long long to_word(T x) {
  unsigned long long word = 0;
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "what shuffles take");
  std::memcpy(&word, &x, sizeof x);
  return word;
}
template <class To, class From>
To bits(From x) {
  To y;
  static_assert(sizeof x == sizeof y, "the same bits");
  std::memcpy(&y, &x, sizeof x);
  return y;
}
template <class T>
T lane_of(const unsigned long long* seen, unsigned mask, unsigned lane) {
  if (!(mask & present & 1u << lane)) fail("a thread takes what a thread outside of the mask has");
  T x;
  std::memcpy(&x, seen + lane, sizeof x);
  return x;
}

inline unsigned short half_of(float x) {  // to the nearest, ties to even
  const unsigned b = bits<unsigned>(x), sign = b >> 16 & 0x8000u, e = b >> 23 & 255;
  if (x != x) return 0x7fff;
  if (e >= 143) return static_cast<unsigned short>(sign | 0x7c00u);
  if (e < 102) return static_cast<unsigned short>(sign);
  const unsigned m = (b & 0x7fffffu) | 0x800000u;
  const int shift = e < 113 ? 126 - static_cast<int>(e) : 13;
  unsigned h = m >> shift;
  const unsigned rest = m & ((1u << shift) - 1), middle = 1u << (shift - 1);
  h += rest > middle || (rest == middle && (h & 1));
  if (e >= 113) h += (e - 113) << 10;  // the first bit of m is one of the exponent's
  return static_cast<unsigned short>(sign | h);
}
inline float float_of(unsigned short h) {
  const int e = h >> 10 & 31, m = h & 0x3ff;
  const float x = e == 31 ? (m ? NAN : INFINITY)
                  : e     ? bits<float>(static_cast<unsigned>(e + 112) << 23 | static_cast<unsigned>(m) << 13)
                          : static_cast<float>(m) * 0x1p-24f;
  return h & 0x8000 ? -x : x;
}
inline unsigned short brain_of(float x) {
  const unsigned b = bits<unsigned>(x);
  return static_cast<unsigned short>(x != x ? 0x7fffu : (b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
template <class T>
T saturated(float x, double low, double high) {
  return x != x                           ? T(0)
         : static_cast<double>(x) <= low  ? static_cast<T>(low)
         : static_cast<double>(x) >= high ? static_cast<T>(high)
                                          : static_cast<T>(x);
}

}  // namespace on_host

// ---- functions of the language

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
