// The user's code on arrays of the interpreter: in the dtypes that it expects, and back.
#include <fmt/format.h>

#include "graph/custom_code.hpp"
#include "graph/interpret_array.hpp"
#include "smelt/error.hpp"

namespace smelt::reference {

namespace {

Tensor in_dtype(const Tensor& value, DType dtype) {
  const Tensor from = packed(value);
  if (from.dtype == dtype) return from;
  Tensor to = Tensor::empty(dtype, from.dims);
  for (int64_t i = 0, n = from.count(); i < n; ++i)
    store_scalar(convert(load_scalar(from.dtype, static_cast<const char*>(from.data) + i * size_of(from.dtype)), dtype),
                 static_cast<char*>(to.data) + i * size_of(dtype));
  return to;
}

}  // namespace

std::vector<Tensor> custom(const CustomUse& use, const std::vector<DType>& dtypes, const std::vector<Tensor>& args,
                           const std::vector<Dims>& dims) {
  if (!use.code->cpu)
    throw UserError(fmt::format(
        "the operation {} has no code for the CPU, where the reference runs\nhelp: give its CustomOperation "
        "a cpu function",
        use.code->name));
  std::vector<Tensor> inputs, outputs, results;
  CustomCall call;
  bool all_empty = true;
  for (size_t i = 0; i < args.size(); ++i) {
    inputs.push_back(in_dtype(args[i], dtypes[i]));
    call.inputs.push_back({inputs[i].dtype, inputs[i].dims, inputs[i].data});
  }
  for (size_t o = 0; o < dims.size(); ++o) {
    outputs.push_back(Tensor::empty(use.results[o].dtype, dims[o]));
    call.outputs.push_back({outputs[o].dtype, dims[o], outputs[o].data});
    all_empty = all_empty && outputs[o].count() == 0;
  }
  if (!all_empty) use.code->cpu(call);
  for (const Tensor& output : outputs) results.push_back(load_input(output));
  return results;
}

}  // namespace smelt::reference
