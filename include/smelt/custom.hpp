/// \file
/// Operations whose code you write yourself: a C++ function for the CPU, a CUDA kernel for GPUs.
/// Fusion stops at them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/callable.hpp"
#include "smelt/custom_call.hpp"

namespace smelt {

namespace detail {
struct CustomState;
}

/// The type of a result of a custom operation.
struct CustomType {
  DType dtype;  ///< of its elements
  Sizes shape;  ///< sizes may be those of inputs, x.extent(0), and expressions of these
};

/// The arguments of the gradient of a custom operation.
struct CustomGradient {
  std::vector<Array> inputs;   ///< of the call
  std::vector<Array> outputs;  ///< its results
  /// For each result, of its dtype and shape: the derivative of the value by its elements.
  std::vector<Array> cotangents;
};

/// An operation whose code you write: `cpu`, `cuda`, or both, for the devices on which it runs;
/// `cpu` with `on_host` runs wherever its arrays are.
struct CustomOperation {
  std::string name;  ///< letters, digits and _
  /// The type of its result for these inputs; without it, that of the first input.
  Callable<CustomType(const std::vector<Array>& inputs)> output = {};
  /// The types of its results, when there are several: in place of `output`.
  Callable<std::vector<CustomType>(const std::vector<Array>& inputs)> outputs = {};
  /// Writes the outputs. Runs in the thread that evaluates, and an exception reaches its caller
  /// unchanged. Evaluations in several threads may call it concurrently.
  Callable<void(const CustomCall&)> cpu = {};
  std::optional<CudaKernel> cuda = {};  ///< for NVIDIA GPUs
  /// true: on a GPU for which it has no kernel, inputs are copied to the host, `cpu` runs there,
  /// and its outputs are copied back. Such a call waits for the GPU.
  bool on_host = false;
  bool pure = false;  ///< true: equal calls on equal inputs run once
  /// Its gradient: for each input the product of the cotangents with the derivative by it, of the
  /// shape of the input, or Array() where there is none. A formula over its argument; it may call
  /// other custom operations, and is called when a gradient is built. Without it a gradient through
  /// the operation is a UserError.
  Callable<std::vector<Array>(const CustomGradient&)> gradient = {};
};

/// The operation, to be called like a function. One object is one operation: programs that call it
/// are compiled once.
class SMELT_API Custom {
 public:
  /// Throws UserError for an invalid name, and when there is no code.
  explicit Custom(CustomOperation operation);

  /// An unevaluated array, of an operation with one result. Inputs are stored before it, row-major,
  /// and its readers are other kernels. Inputs have at least one axis; a number is passed as an
  /// array of one element.
  Array operator()(const std::vector<Array>& inputs) const;
  /// All results of one call. If they are evaluated together, the code is called once.
  std::vector<Array> all(const std::vector<Array>& inputs) const;

 private:
  detail::Handle<const detail::CustomState> state_;
};

/// Custom(operation)(inputs), for an operation that is called in one place. If it is evaluated
/// repeatedly, keep a Custom.
SMELT_API Array custom(CustomOperation operation, const std::vector<Array>& inputs);

}  // namespace smelt
