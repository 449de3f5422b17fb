#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/median.hpp"
#include "runtime/cpu.hpp"
#include "smelt/error.hpp"

namespace smelt::runtime {

using Memory = std::unique_ptr<char, void (*)(void*)>;

static Memory allocate(int64_t bytes) {
  char* memory = static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>((bytes + 63) / 64 * 64)));
  if (!memory) throw UserError("cannot allocate the buffers of the copy benchmark: measure fewer bytes");
  return Memory(memory, std::free);
}

using Copy = void (*)(char* to, const char* from, int64_t bytes);

static void copy_plain(char* to, const char* from, int64_t bytes) { std::memcpy(to, from, static_cast<size_t>(bytes)); }

#if defined(__x86_64__)
// Copies whose stores bypass the caches, by whole lines; both ends 64-byte aligned.
static void copy_streaming_128(char* to, const char* from, int64_t bytes) {
  const int64_t whole = bytes / 64 * 64;
  for (int64_t i = 0; i < whole; i += 16) {
    const __m128i lane = _mm_load_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), lane);
  }
  _mm_sfence();
  copy_plain(to + whole, from + whole, bytes - whole);
}

__attribute__((target("avx"))) static void copy_streaming_256(char* to, const char* from, int64_t bytes) {
  const int64_t whole = bytes / 64 * 64;
  for (int64_t i = 0; i < whole; i += 32) {
    const __m256i lane = _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), lane);
  }
  _mm_sfence();
  copy_plain(to + whole, from + whole, bytes - whole);
}

__attribute__((target("avx512f"))) static void copy_streaming_512(char* to, const char* from, int64_t bytes) {
  const int64_t whole = bytes / 64 * 64;
  for (int64_t i = 0; i < whole; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_load_si512(from + i));
  _mm_sfence();
  copy_plain(to + whole, from + whole, bytes - whole);
}

static Copy streaming_copy() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return copy_streaming_512;
  return __builtin_cpu_supports("avx") ? copy_streaming_256 : copy_streaming_128;
}
#else
static Copy streaming_copy() { return copy_plain; }
#endif

void parallel_copy(char* to, const char* from, int64_t bytes, int threads, bool streaming) {
  const Copy copy = streaming ? streaming_copy() : copy_plain;
  parallel_for(threads, bytes, 64,
               [&](int, int64_t begin, int64_t end) { copy(to + begin, from + begin, end - begin); });
}

static double median_seconds(int64_t bytes, int threads, int runs, char* to, const char* from, bool streaming) {
  std::vector<double> seconds;
  for (int run = -1; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    parallel_copy(to, from, bytes, threads, streaming);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (run >= 0) seconds.push_back(elapsed.count());  // the first one warms up
  }
  return median(std::move(seconds));
}

// The faster of the C library's copy and one with streaming stores: which one wins depends on the
// size, and a yardstick should be the best that the machine does.
double measure_copy_seconds(int64_t bytes, int threads, int runs) {
  if (bytes <= 0) return 0;
  runs = std::max(runs, 1);
  const Memory from = allocate(bytes), to = allocate(bytes);
  parallel_for(threads, bytes, 64, [&](int, int64_t begin, int64_t end) {
    std::memset(from.get() + begin, 1, static_cast<size_t>(end - begin));
    std::memset(to.get() + begin, 2, static_cast<size_t>(end - begin));
  });
  const double plain = median_seconds(bytes, threads, runs, to.get(), from.get(), false);
  const double streaming = median_seconds(bytes, threads, runs, to.get(), from.get(), true);
  return std::min(plain, streaming);
}

void flush_caches(const CpuFacts& facts, int threads) {
  const int64_t bytes = 4 * std::max(facts.l3_bytes, facts.l2_bytes * facts.threads);
  const Memory memory = allocate(bytes);
  parallel_for(threads, bytes, 64, [&](int thread, int64_t begin, int64_t end) {
    std::memset(memory.get() + begin, thread + 1, static_cast<size_t>(end - begin));
    // Reads as well, so that write-back alone does not do.
    volatile char sink = 0;
    for (int64_t i = begin; i < end; i += 64) sink = static_cast<char>(sink + memory.get()[i]);
  });
}

}  // namespace smelt::runtime
