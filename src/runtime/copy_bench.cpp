#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "runtime/cpu.hpp"
#include "smelt/error.hpp"

namespace smelt::runtime {

using Memory = std::unique_ptr<char, void (*)(void*)>;

static Memory allocate(int64_t bytes) {
  char* memory = static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>((bytes + 63) / 64 * 64)));
  if (!memory) throw UserError("cannot allocate the buffers of the copy benchmark: measure fewer bytes");
  return Memory(memory, std::free);
}

// A copy whose stores bypass the caches; both ends 16-byte aligned.
static void copy_streaming(char* to, const char* from, int64_t bytes) {
#if defined(__SSE2__)
  int64_t i = 0;
  for (; i + 64 <= bytes; i += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_load_si128(source), b = _mm_load_si128(source + 1);
    const __m128i c = _mm_load_si128(source + 2), d = _mm_load_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();
  std::memcpy(to + i, from + i, static_cast<size_t>(bytes - i));
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

template <class Copy>
static double median_seconds(int64_t bytes, int threads, int runs, char* to, const char* from, const Copy& copy) {
  std::vector<double> seconds;
  for (int run = -1; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    parallel_for(threads, bytes, 64,
                 [&](int, int64_t begin, int64_t end) { copy(to + begin, from + begin, end - begin); });
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (run >= 0) seconds.push_back(elapsed.count());  // the first one warms up
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

// The faster of the C library's copy and one with streaming stores: which one wins depends on the size, and a yardstick
// should be the best that the machine does.
double measure_copy_seconds(int64_t bytes, int threads, int runs) {
  if (bytes <= 0) return 0;
  runs = std::max(runs, 1);
  const Memory from = allocate(bytes), to = allocate(bytes);
  parallel_for(threads, bytes, 64, [&](int, int64_t begin, int64_t end) {
    std::memset(from.get() + begin, 1, static_cast<size_t>(end - begin));
    std::memset(to.get() + begin, 2, static_cast<size_t>(end - begin));
  });
  const double plain =
      median_seconds(bytes, threads, runs, to.get(), from.get(),
                     [](char* t, const char* f, int64_t n) { std::memcpy(t, f, static_cast<size_t>(n)); });
  const double streaming = median_seconds(bytes, threads, runs, to.get(), from.get(), copy_streaming);
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
