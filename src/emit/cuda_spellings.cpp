// What CUDA C++ writes otherwise than the other C-like languages.
#include <fmt/format.h>

#include "emit/c_like_phase.hpp"
#include "emit/cuda_text.hpp"

namespace smelt::emit {

namespace cuda {
namespace {

std::string float_to_int(UsedHelpers& used, const std::string& x, DType from, DType to) {
  if (from == DType::F32) return fmt::format("{}({})", used(fmt::format("to_{}", name_of(to))), x);
  if (size_of(to) >= 4) return fmt::format("{}({})", used(fmt::format("f64_to_{}", name_of(to))), x);
  // The machine has no such conversion to narrower integers.
  return fmt::format("({}){}({}, {}({}, {}({})))", c_like::type_of(cuda_spellings(), to), used("larger"), min_int(to),
                     used("smaller"), max_int(to), used("f64_to_i32"), x);
}

std::string bits_to_float(UsedHelpers& used, const std::string& array, DType from, int at, int count) {
  if (count == 8) return fmt::format("{}({}, n)", used(fmt::format("from_{}_at", name_of(from))), array);
  return fmt::format("{}<{}, {}>({}, n)", used("from_bits_at"), at, count, array);
}

std::string nearest_int(UsedHelpers& used, const std::string& x, DType to) {
  return fmt::format("{}({})", used(fmt::format("near_{}", name_of(to))), x);
}

std::string random_word(UsedHelpers& used, int draw, const std::vector<std::string>& args, const std::string& element) {
  return fmt::format("{}<{}>({}, {}, {}, (Counter){})", used("random_word"), draw, args[0], args[1], args[2], element);
}

// Signed words of 64 bits are added as unsigned ones, which is the same.
std::string join(UsedHelpers& used, Op op, DType t, bool on_chip, const std::string& element,
                 const std::string& value) {
  const char* function = op == Op::Add ? "atomicAdd" : op == Op::Max ? "atomicMax" : "atomicMin";
  if (on_chip && op == Op::Add && is_int(t) && size_of(t) == 8)
    return fmt::format("{}(&{}, {});", used("add_wide_on_chip"), element, value);
  const bool unsigned_sum = op == Op::Add && t == DType::I64;
  const std::string type = unsigned_sum ? "unsigned long long" : c_like::type_of(cuda_spellings(), t);
  return fmt::format("{0}(({1}*)&{2}, ({1}){3});", function, type, element, value);
}

std::string next(UsedHelpers&, DType t, const std::string& element) {
  const char* type = size_of(t) == 8 ? "unsigned long long" : "unsigned";
  return fmt::format("atomicAdd(({0}*)&{1}, ({0})1)", type, element);
}

std::string signature(const CLike::Frame& frame) {
  std::string params;
  size_t array = 0;
  for (const std::string& value : frame.parameters) {
    params += params.empty() ? "" : ", ";
    if (!value.empty()) {
      params += value;
      continue;
    }
    const CLike::Array& a = frame.arrays[array++];
    params += fmt::format("{}{}*{} {}", a.stored ? "" : "const ", a.type, a.shared ? "" : " __restrict__", a.name);
  }
  for (int b = 0; b < frame.boxes; ++b)
    params += fmt::format("{}const __grid_constant__ BoxMap box{}", params.empty() ? "" : ", ", b);
  const kernel::Team& team = frame.team;
  if (frame.part)
    return fmt::format("static __device__ __forceinline__ void {}({}, const unsigned workgroup)", frame.name, params);
  const std::string cluster = team.cluster() > 1 ? fmt::format("__cluster_dims__({}, 1, 1) ", team.cluster()) : "";
  const std::string resident = team.resident > 0 ? fmt::format(", {}", team.resident) : "";
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}) {}{}({})", team.workgroup + frame.beside,
                     resident, cluster, frame.name, params);
}

std::string opening(const CLike::Frame& frame) {
  return frame.scratch ? fmt::format("  extern __shared__ __align__({}) unsigned char scratch[];\n", frame.scratch)
                       : "";
}

}  // namespace

}  // namespace cuda

const CLike& cuda_spellings() {
  static const CLike table = {
      .wide = "long long",
      .wide_unsigned = "unsigned long long",
      .wide_suffix = "LL",
      .wide_unsigned_suffix = "ULL",
      .float_of_unsigned = "__uint_as_float",
      .float_of_int = "__int_as_float",
      .double_of_long = "__longlong_as_double",
      .int_of_float = "__float_as_int",
      .long_of_double = "__double_as_longlong",
      .thread = "threadIdx.x",
      .workgroup = "blockIdx.x",
      .barrier = "__syncthreads();",
      .global = "",
      .on_chip = "",
      .shared = "__shared__ ",
      .aligned = "__align__(16) ",
      .float_to_int = cuda::float_to_int,
      .bits_to_float = cuda::bits_to_float,
      .nearest_int = cuda::nearest_int,
      .random_word = cuda::random_word,
      .join = cuda::join,
      .next = cuda::next,
      .begin = "extern \"C\" __global__",
      .signature = cuda::signature,
      .opening = cuda::opening,
  };
  return table;
}

}  // namespace smelt::emit
