/// \file
/// Arrays through expressions on a GPU, by nvcc: one kernel.
#pragma once

#include "smelt/static/arrays.hpp"

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#if !defined(__CUDACC_RTC__)
#include <stdexcept>
#endif

namespace smelt::fixed {

namespace detail {

inline constexpr int kThreads = 256;  // of a workgroup
inline constexpr int kGroups = 4;     // accesses that a thread has under way of each array

/// Neighbouring elements, one access.
template <class T, int n>
struct alignas(sizeof(T) * n) Packet {
  T at[n];
};

/// Elements of a packet: the widest array has 16 bytes.
template <class... T>
SMELT_HD constexpr int packet_elements() {
  constexpr int sizes[] = {1, static_cast<int>(sizeof(T))...};
  int widest = 1;
  for (const int size : sizes) widest = size > widest ? size : widest;
  return 16 / widest;
}

template <int n, class T>
__device__ __forceinline__ Packet<T, n> fetched(const Array<T>& from, int64_t i) {
  return *reinterpret_cast<const Packet<T, n>*>(from.data + i);
}
template <int n, class T>
__device__ __forceinline__ Nothing fetched(const Same<T>&, int64_t) {
  return {};
}
template <class T, int n>
__device__ __forceinline__ Typed<T> value_in(const Array<T>&, const Packet<T, n>& packet, int k) {
  return load_value(packet.at[k]);
}
template <class T>
__device__ __forceinline__ Typed<T> value_in(const Same<T>& from, Nothing, int) {
  return load_value(from.scalar);
}

template <class First, class... Rest>
__device__ __forceinline__ List<First, Rest...> join(First first, List<Rest...> rest) {
  return {first, rest};
}
template <int n>
__device__ __forceinline__ List<> all_fetched(const List<>&, int64_t) {
  return {};
}
template <int n, class First, class... Rest>
__device__ __forceinline__ auto all_fetched(const List<First, Rest...>& from, int64_t i) {
  return join(fetched<n>(from.first, i), all_fetched<n>(from.rest, i));
}
__device__ __forceinline__ List<> values_in(const List<>&, const List<>&, int) { return {}; }
template <class First, class... Rest, class Packets>
__device__ __forceinline__ auto values_in(const List<First, Rest...>& from, const Packets& packets, int k) {
  return join(value_in(from.first, packets.first, k), values_in(from.rest, packets.rest, k));
}

template <int n, class T, class F, class S, class P>
__device__ __forceinline__ void put(const Assigned<T, F>& out, const S& sources, const P& packets, int64_t i) {
  Packet<T, n> result;
#pragma unroll
  for (int k = 0; k < n; ++k) result.at[k] = store_value(as_typed(out.f.eval(values_in(sources, packets, k))));
  *reinterpret_cast<Packet<T, n>*>(out.data + i) = result;
}

/// What one thread does: its packets, and for the first threads of the last workgroup the elements
/// that fill none.
template <int n, class I, class... O>
__device__ __forceinline__ void elements_of_thread(int64_t count, const I& inputs, const O&... outs) {
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * kGroups * kThreads + threadIdx.x) * n;
  decltype(all_fetched<n>(inputs.sources, 0)) packets[kGroups];
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int64_t i = first + g * kThreads * n;
    if (i + n <= count) packets[g] = all_fetched<n>(inputs.sources, i);
  }
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int64_t i = first + g * kThreads * n;
    if (i + n <= count) (put<n>(outs, inputs.sources, packets[g], i), ...);
  }
  if (n > 1 && blockIdx.x == gridDim.x - 1 && threadIdx.x < count % n) {
    const int64_t i = count - count % n + threadIdx.x;
    const auto values = inputs.load(i);
    ((outs.data[i] = store_value(as_typed(outs.f.eval(values)))), ...);
  }
}

template <int n, class I, class... O>
__global__ void __launch_bounds__(kThreads) elements(int64_t count, I inputs, O... outs) {
  elements_of_thread<n>(count, inputs, outs...);
}

}  // namespace detail

#if !defined(__CUDACC_RTC__)

namespace detail {

template <int n, class T>
bool is_aligned(const Array<T>& array) {
  return reinterpret_cast<size_t>(array.data) % (sizeof(T) * n) == 0;
}
template <int n, class T>
bool is_aligned(const Same<T>&) {
  return true;
}
template <int n, class T, class F>
bool is_aligned(const Assigned<T, F>& out) {
  return reinterpret_cast<size_t>(out.data) % (sizeof(T) * n) == 0;
}

template <int n>
bool all_aligned(const List<>&) {
  return true;
}
template <int n, class First, class... Rest>
bool all_aligned(const List<First, Rest...>& list) {
  return is_aligned<n>(list.first) && all_aligned<n>(list.rest);
}

template <int n, class I, class... O>
cudaError_t launch(cudaStream_t stream, int64_t count, const I& inputs, const O&... outs) {
  constexpr int64_t of_group = static_cast<int64_t>(n) * kThreads * kGroups;
  const int64_t groups = (count + of_group - 1) / of_group;
  if (groups > 0x7fffffff) return cudaErrorInvalidValue;
  elements<n><<<static_cast<unsigned>(groups), kThreads, 0, stream>>>(count, inputs, outs...);
  return cudaGetLastError();
}

}  // namespace detail

/// Where run() queues its kernel.
struct On {
  cudaStream_t stream;
};
inline On on(cudaStream_t stream) { return {stream}; }

/// Calculates outputs for n elements in one kernel, on arrays in device memory. Accesses are of 16
/// bytes where every address allows them. Outputs overlap neither inputs nor one another, but an
/// output may be one of the inputs. What the launch returns is returned.
template <class... S, class... T, class... F>
cudaError_t run(On where, int64_t n, const detail::Inputs<S...>& inputs, const detail::Assigned<T, F>&... outs) {
  static_assert(!(detail::is_folded<F> || ...),
                "smelt: sum(), max() and min() are on the host only: on a GPU use smelt's compiler, or cub");
  if (n < 0) throw std::invalid_argument("smelt: fewer than no elements");
  (detail::check_output(outs, inputs), ...);
  if (n == 0) return cudaSuccess;
  constexpr int packet = detail::packet_elements<typename S::element..., T...>();
  const bool aligned = detail::all_aligned<packet>(inputs.sources) && (detail::is_aligned<packet>(outs) && ...);
  return aligned ? detail::launch<packet>(where.stream, n, inputs, outs...)
                 : detail::launch<1>(where.stream, n, inputs, outs...);
}

#endif

}  // namespace smelt::fixed
#endif
