// Elementwise operations of the reference: one tight loop per operation and type, made from the
// rows of ops.def.
#include <cmath>
#include <type_traits>

#include "base/check.hpp"
#include "graph/interpret_array.hpp"
#include "ops/host.hpp"

namespace smelt::reference {

namespace {

namespace on_double {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, c_float, c_int, ulp_f32, ulp_f64, doc, host_float, ...) \
  [[maybe_unused]] inline auto id([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double c) {  \
    return host_float;                                                                                                \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace on_double

namespace on_integer {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, c_float, c_int, ulp_f32, ulp_f64, doc, host_float, \
                 host_int, ...)                                                                                  \
  template <class T>                                                                                             \
  inline auto id([[maybe_unused]] T a, [[maybe_unused]] T b, [[maybe_unused]] T c) {                             \
    return host_int;                                                                                             \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace on_integer

// n results from n of each argument, all contiguous.
using Run = void (*)(const void* const* args, void* out, int64_t n);

template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <auto kMeaning, int kArity, TypeRule kRule, class T>
void run(const void* const* args, void* out, int64_t n) {
  using First = std::conditional_t<kRule == TypeRule::Select, uint8_t, Stored<T>>;
  constexpr bool kTests = kRule == TypeRule::Compare || kRule == TypeRule::Test;
  using Result = std::conditional_t<kTests, uint8_t, Stored<T>>;
  const First* a = static_cast<const First*>(args[0]);
  const Stored<T>* b = static_cast<const Stored<T>*>(args[kArity > 1 ? 1 : 0]);
  const Stored<T>* c = static_cast<const Stored<T>*>(args[kArity > 2 ? 2 : 0]);
  Result* to = static_cast<Result*>(out);
  for (int64_t i = 0; i < n; ++i)
    to[i] = static_cast<Result>(kMeaning(static_cast<T>(a[i]), kArity > 1 ? static_cast<T>(b[i]) : T(0),
                                         kArity > 2 ? static_cast<T>(c[i]) : T(0)));
}

constexpr bool takes(TypeRule rule, bool is_bool) {
  switch (rule) {
    case TypeRule::Float: return false;
    case TypeRule::Numeric:
    case TypeRule::Integer:
    case TypeRule::Test: return !is_bool;
    case TypeRule::Bits:
    case TypeRule::Any:
    case TypeRule::Compare:
    case TypeRule::Select: return true;
  }
  return false;
}

Run on_floats(Op op) {
  switch (op) {
#define SMELT_OP(id, name, arity, rule, ...)                               \
  case Op::id:                                                             \
    if constexpr (!std::is_same_v<decltype(on_double::id(0, 0, 0)), None>) \
      return run<on_double::id, arity, TypeRule::rule, double>;            \
    else                                                                   \
      return nullptr;
#include "ops/ops.def"
#undef SMELT_OP
  }
  return nullptr;
}

template <class T>
Run on_integers(Op op) {
  switch (op) {
#define SMELT_OP(id, name, arity, rule, ...)                      \
  case Op::id:                                                    \
    if constexpr (takes(TypeRule::rule, std::is_same_v<T, bool>)) \
      return run<on_integer::id<T>, arity, TypeRule::rule, T>;    \
    else                                                          \
      return nullptr;
#include "ops/ops.def"
#undef SMELT_OP
  }
  return nullptr;
}

Run find(Op op, DType dtype) {
  switch (dtype) {
    case DType::Bool: return on_integers<bool>(op);
    case DType::I8: return on_integers<int8_t>(op);
    case DType::I16: return on_integers<int16_t>(op);
    case DType::I32: return on_integers<int32_t>(op);
    case DType::I64: return on_integers<int64_t>(op);
    case DType::U8: return on_integers<uint8_t>(op);
    case DType::U16: return on_integers<uint16_t>(op);
    case DType::U32: return on_integers<uint32_t>(op);
    case DType::U64: return on_integers<uint64_t>(op);
    default: return on_floats(op);
  }
}

// Memory for the result: that of an argument which ends here, or new.
Tensor result_memory(DType dtype, const std::vector<Tensor>& args, const Dims& dims) {
  for (const Tensor& arg : args)
    if (arg.memory.use_count() == 1 && arg.data == arg.memory.get() && size_of(arg.dtype) == size_of(dtype) &&
        arg.contiguous()) {
      Tensor out = arg;
      out.dtype = dtype;
      return out;
    }
  return Tensor::empty(dtype, dims);
}

}  // namespace

Tensor elementwise(const Node& node, std::vector<Tensor> args, const Dims& dims) {
  // The dtype that decides is the last argument's; F64 stands for every float.
  const Run run = find(node.op, args.back().dtype);
  SMELT_CHECK(run, "{} does not take {}", name_of(node.op), name_of(args.back().dtype));
  Tensor out = result_memory(storage_type(node.dtype), args, dims);
  std::vector<Reader> readers(args.begin(), args.end());
  alignas(8) char scratch[3][kChunk * 8];
  const void* pointers[3] = {};
  char* to = static_cast<char*>(out.data);
  for (int64_t left = out.count(); left > 0; left -= kChunk) {
    const int64_t n = std::min(left, kChunk);
    for (size_t i = 0; i < args.size(); ++i) pointers[i] = readers[i].next(n, scratch[i]);
    run(pointers, to, n);
    to += n * size_of(out.dtype);
  }
  return out;
}

}  // namespace smelt::reference
