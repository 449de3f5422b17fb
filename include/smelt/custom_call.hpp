/// \file
/// The arguments of a custom operation's code.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "smelt/callable.hpp"
#include "smelt/dtype.hpp"

namespace smelt {

namespace detail {
struct CustomRule;  // how the gradient of an operation of the user's is built

// Throws UserError unless both are the same.
SMELT_API void check_span(DType dtype, DType asked);

// Product of the sizes.
inline int64_t count_of(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t size : dims) n *= size;
  return n;
}
}  // namespace detail

/// An array that the code reads: row-major, in the memory of the host for `cpu`, of the GPU for
/// `cuda`.
struct CustomInput {
  DType dtype{};               ///< of its elements
  std::vector<int64_t> dims;   ///< its sizes, outermost first
  const void* data = nullptr;  ///< of its first element

  /// Number of elements.
  int64_t count() const { return detail::count_of(dims); }
  /// Its elements, in host memory. Throws UserError when `T` is not the type of its dtype.
  template <Element T>
  std::span<const T> span() const {
    detail::check_span(dtype, dtype_of<T>);
    return {static_cast<const T*>(data), static_cast<size_t>(count())};
  }
};

/// An array that the code must write completely; it is not initialised. Its memory is like that of
/// a CustomInput.
struct CustomOutput {
  DType dtype{};              ///< of its elements
  std::vector<int64_t> dims;  ///< its sizes, outermost first
  void* data = nullptr;       ///< of its first element

  /// Number of elements.
  int64_t count() const { return detail::count_of(dims); }
  /// Its elements, in host memory. Throws UserError when `T` is not the type of its dtype.
  template <Element T>
  std::span<T> span() const {
    detail::check_span(dtype, dtype_of<T>);
    return {static_cast<T*>(data), static_cast<size_t>(count())};
  }
};

/// One call.
struct CustomCall {
  std::vector<CustomInput> inputs;    ///< in the order in which they were given
  std::vector<CustomOutput> outputs;  ///< as many as the operation has results
  int threads = 1;                    ///< of the CPU that the caller allows
};

/// An argument of a CUDA kernel: an array's address, or a number, exactly of the parameter's type.
class CudaArgument {
 public:
  /// Its address.
  CudaArgument(const CustomInput& array) : CudaArgument(array.data) {}  // NOLINT: meant to convert
  /// Its address.
  CudaArgument(const CustomOutput& array) : CudaArgument(array.data) {}  // NOLINT: meant to convert
  /// A number or an address.
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_pointer_v<T>) CudaArgument(T value) {  // NOLINT: meant to convert
    static_assert(sizeof value <= sizeof bits_);
    std::memcpy(&bits_, &value, sizeof value);
  }
  uint64_t bits() const { return bits_; }  ///< as the driver takes it

 private:
  uint64_t bits_ = 0;
};

/// How a kernel is launched, as between `<<<` and `>>>`, and its arguments.
struct CudaLaunch {
  std::array<int64_t, 3> grid{1, 1, 1};  ///< blocks, x first; one of 0 blocks is not launched
  std::array<int, 3> block{1, 1, 1};     ///< threads of a block, x first
  int64_t shared_bytes = 0;              ///< dynamic shared memory of a block
  std::vector<CudaArgument> arguments;   ///< of the kernel, in order
};

/// A kernel in CUDA C++, compiled by NVRTC.
struct CudaKernel {
  std::string source;    ///< all of it; no headers but those that NVRTC brings along
  std::string function;  ///< the name of its `extern "C" __global__` function
  /// The launch for these arrays, whose addresses are those of the GPU. Called when a call is
  /// prepared, not when it runs again.
  Callable<CudaLaunch(const CustomCall&)> launch;
};

}  // namespace smelt
