/// \file
/// Arrays through expressions on the host: one loop, several outputs.
#pragma once

#include "smelt/static/arrays.hpp"

#if !defined(__CUDACC_RTC__)
#include <cstring>
#include <stdexcept>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace smelt::fixed {

namespace detail {

inline constexpr int64_t kChunk = 1024;          // elements of an inner loop: a constant, so that -O2 vectorises it too
inline constexpr int64_t kParallelFrom = 32768;  // elements below which threads are not worth waking
inline constexpr int64_t kStreamFrom = 8 << 20;  // bytes of an output from which it is written past the caches

template <class T>
struct alignas(64) Block {
  T at[kChunk];
};

// A block past the caches, where the processor can.
template <class T>
void stream(T* to, const Block<T>& from) {
#if defined(__SSE2__)
  const auto* source = reinterpret_cast<const __m128i*>(from.at);
  auto* target = reinterpret_cast<__m128i*>(to);
  for (size_t i = 0; i < sizeof(from) / 16; ++i) _mm_stream_si128(target + i, _mm_load_si128(source + i));
#else
  std::memcpy(to, from.at, sizeof(from));
#endif
}
inline void after_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// ---- where the elements of a chunk go. cells(): to what address they are written; done(): what becomes of them then

template <class T, class F>
struct ElementSink {
  using Cell = T;
  T* data;
  F f;
  bool streams;
  ElementSink(const Assigned<T, F>& o, int64_t n)
      : data(o.data),
        f(o.f),
        streams(n * static_cast<int64_t>(sizeof(T)) >= kStreamFrom && reinterpret_cast<size_t>(o.data) % 16 == 0) {}

  Cell* cells(int64_t start, int64_t count, Block<Cell>& block) const {
    return streams && count == kChunk ? block.at : data + start;
  }
  void done(int64_t start, int64_t count, const Block<Cell>& block) {
    if (streams && count == kChunk) stream(data + start, block);
  }
  template <class L>
  static SMELT_HD Cell cell(const F& f, const L& values) {
    return store_value(as_typed(f.eval(values)));
  }
  void finish() {
    if (streams) after_streams();
  }
};

template <Fold fold, class V>
SMELT_HD V fold_two(V a, V b) {
  if constexpr (fold == Fold::Sum)
    return op::Add::on(a, b);
  else if constexpr (meta::same<V, Truth>)
    return fold == Fold::Max ? (a | b) : (a & b);
  else if constexpr (fold == Fold::Max)
    return op::Max::on(a, b);
  else
    return op::Min::on(a, b);
}

template <class T, Fold fold, class F, class I>
struct FoldSink {
  using Element = element_for<F, I>;
  using Value = meta::either<fold == Fold::Sum, accumulator<Element>, Element>;
  using Cell = computed<Value>;
  T* result;
  F f;
  std::vector<Cell> parts;  // one of each chunk
  FoldSink(const Assigned<T, Folded<fold, F>>& o, int64_t n)
      : result(o.data), f(o.f.f), parts(static_cast<size_t>((n + kChunk - 1) / kChunk)) {
    if (n == 0 && fold != Fold::Sum) throw std::invalid_argument("smelt: the maximum or minimum of nothing");
  }

  Cell* cells(int64_t, int64_t, Block<Cell>& block) const { return block.at; }
  template <class L>
  static SMELT_HD Cell cell(const F& f, const L& values) {
    const auto x = as_typed(f.eval(values));
    if constexpr (is_float(dtype_of<Element>) || fold != Fold::Sum)
      return x.v;
    else
      return {static_cast<Value>(x.v.value)};
  }
  // Lanes of a chunk are added by themselves, which is what vectorises; then they, and then the
  // chunks, in pairs.
  void done(int64_t start, int64_t count, Block<Cell>& block) {
    constexpr int64_t kLanes = 16;
    if (count < kLanes) {
      parts[static_cast<size_t>(start / kChunk)] = in_pairs(block.at, count);
      return;
    }
    Cell lane[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) lane[l] = block.at[l];
    int64_t i = kLanes;
    for (; i + kLanes <= count; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) lane[l] = fold_two<fold>(lane[l], block.at[i + l]);
    for (int64_t l = 0; i + l < count; ++l) lane[l] = fold_two<fold>(lane[l], block.at[i + l]);
    parts[static_cast<size_t>(start / kChunk)] = in_pairs(lane, kLanes);
  }
  static Cell in_pairs(Cell* cells, int64_t count) {
    for (int64_t step = 1; step < count; step *= 2)
      for (int64_t i = 0; i + step < count; i += 2 * step) cells[i] = fold_two<fold>(cells[i], cells[i + step]);
    return cells[0];
  }
  void finish() {
    const Cell whole = parts.empty() ? Cell{} : in_pairs(parts.data(), static_cast<int64_t>(parts.size()));
    *result = store_value(Typed<T>{whole});
  }
};

template <class I, class T, class F>
auto sink_of(const Assigned<T, F>& o, int64_t n) {
  return ElementSink<T, F>(o, n);
}
template <class I, class T, Fold fold, class F>
auto sink_of(const Assigned<T, Folded<fold, F>>& o, int64_t n) {
  return FoldSink<T, fold, F, I>(o, n);
}

// Every element is read before it is written, and none twice: an output may be an input.
#if defined(__clang__)
#define SMELT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SMELT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SMELT_INDEPENDENT
#endif

/// What the loop needs of a sink, in copies whose address nobody has: so the compiler sees that no
/// store changes them.
template <class S, class F>
struct Target {
  F f;
  typename S::Cell* to;
  template <class L>
  SMELT_HD void put(int64_t i, const L& values) const {
    to[i] = S::cell(f, values);
  }
};

// For a count that the compiler knows, or, if that is 0, for any.
template <int64_t known, class I, class... T>
SMELT_HD void fill(const I inputs, int64_t start, int64_t count, const T... targets) {
  const int64_t end = known > 0 ? known : count;
  SMELT_INDEPENDENT
  for (int64_t i = 0; i < end; ++i) {
    const auto values = inputs.load(start + i);
    (targets.put(i, values), ...);
  }
}
template <class S>
struct Place {
  S* sink;
  typename S::Cell* to;
  Block<typename S::Cell> block;
  Place(S* s, int64_t start, int64_t count) : sink(s) { to = s->cells(start, count, block); }
  auto target() const { return Target<S, decltype(sink->f)>{sink->f, to}; }
};

template <class I, class... P>
void run_places(const I& inputs, int64_t start, int64_t count, P&&... places) {
  if (count == kChunk)
    fill<kChunk>(inputs, start, count, places.target()...);
  else
    fill<0>(inputs, start, count, places.target()...);
  (places.sink->done(start, count, places.block), ...);
}

template <class I, class... S>
void run_sinks(int64_t n, const I& inputs, S... sinks) {
  const int64_t chunks = (n + kChunk - 1) / kChunk;
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (n >= kParallelFrom)
#endif
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t start = chunk * kChunk, left = n - start;
    const int64_t count = left < kChunk ? left : kChunk;
    run_places(inputs, start, count, Place<S>(&sinks, start, count)...);
  }
  (sinks.finish(), ...);
}

#undef SMELT_INDEPENDENT

}  // namespace detail

/// Calculates outputs for n elements, in one pass over the inputs; with OpenMP on all threads.
/// Outputs overlap neither inputs nor one another, but an output may be one of the inputs.
template <class... S, class... T, class... F>
void run(int64_t n, const detail::Inputs<S...>& inputs, const detail::Assigned<T, F>&... outs) {
  if (n < 0) throw std::invalid_argument("smelt: fewer than no elements");
  (detail::check_output(outs, inputs), ...);
  detail::run_sinks(n, inputs, detail::sink_of<detail::Inputs<S...>>(outs, n)...);
}

}  // namespace smelt::fixed
#endif
