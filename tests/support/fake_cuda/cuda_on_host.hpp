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
#include <limits>
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

template <class T, class F>
T saturated_wide(F x) {
  constexpr auto kLeast = static_cast<F>(std::numeric_limits<T>::min()),
                 kMost = static_cast<F>(std::numeric_limits<T>::max());
  return x != x        ? T(0)
         : x <= kLeast ? std::numeric_limits<T>::min()
         : x >= kMost  ? std::numeric_limits<T>::max()
                       : static_cast<T>(x);
}

}  // namespace on_host
