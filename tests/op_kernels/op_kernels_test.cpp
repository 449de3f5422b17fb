// Every operation on every dtype, compiled: integers and what machines have give the host meaning,
// and expansions give what the same source gives on host values, bit for bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "graph/build.hpp"
#include "ops/expand/on_host.hpp"
#include "support/device.hpp"

namespace smelt {
namespace {

constexpr int64_t kCount = 2003;  // no multiple of any vector

const Machine& device() {
  static const Machine chosen = named_device();
  return chosen;
}

std::vector<Scalar> special_values(DType dtype) {
  std::vector<Scalar> values;
  if (is_bool(dtype)) return {Scalar::of_bool(false), Scalar::of_bool(true)};
  if (is_float(dtype)) {
    for (double x : {0.0,       0.5,     1.0,    1.5,       2.0,       2.5,      3.0,   7.0,        0.1,
                     1e-30,     1e30,    89.0,   104.0,     128.0,     150.0,    710.0, 746.0,      1024.0,
                     1.5707964, 65504.0, 5e-324, 1e-45,     2.3e-308,  1.2e-38,  6e-8,  16777217.0, 1.7e308,
                     3.4e38,    0x1p120, 0x1p60, 0.9999999, 1.0000001, HUGE_VAL, 1e300, 0x1p53 + 2})
      for (double sign : {1.0, -1.0}) values.push_back(Scalar::of_float(dtype, sign * x));
    values.push_back(Scalar::of_float(dtype, NAN));
    return values;
  }
  for (int64_t k = -5; k <= 5; ++k) values.push_back(Scalar::of_int(dtype, k));
  for (int bit = 3; bit < 8 * size_of(dtype); ++bit)
    for (int64_t k = -1; k <= 1; ++k)
      values.push_back(Scalar::of_uint(dtype, (uint64_t{1} << bit) + static_cast<uint64_t>(k)));
  for (int64_t k : {7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100}) values.push_back(Scalar::of_int(dtype, k));
  return values;
}

Scalar random_value(DType dtype, std::mt19937_64& random) {
  if (is_bool(dtype)) return Scalar::of_bool(random() & 1);
  if (!is_float(dtype)) return Scalar::of_uint(dtype, random());
  const double size = std::ldexp(1.0, static_cast<int>(random() % 24) - 12);
  const double x = std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
  return Scalar::of_float(dtype, x * size);
}

// Arguments: pairs of special values first, as far as there is room, then random ones.
Tensor arguments(DType dtype, int position, bool pairs) {
  const std::vector<Scalar> special = special_values(dtype);
  std::mt19937_64 random(static_cast<uint64_t>(position + 1));
  Tensor t = Tensor::empty(dtype, {kCount});
  for (int64_t i = 0; i < kCount; ++i) {
    const int64_t count = static_cast<int64_t>(special.size());
    // The first two walk through all pairs in another order than rows would, so that a part of the
    // pairs meets all values.
    const int64_t which = position == 0 ? i % count : (i / count * 7 + i) % count;
    const bool use_special = pairs ? i < 1700 : i < count;
    const Scalar value = use_special ? special[static_cast<size_t>(which)] : random_value(dtype, random);
    store_scalar(value, static_cast<char*>(t.data) + i * size_of(dtype));
  }
  return t;
}

template <class V, class R>
Scalar scalar_of(DType dtype, R result) {
  if constexpr (std::is_same_v<R, bool>)
    return Scalar::of_bool(result);
  else
    return Scalar::of_float(dtype, result);
}

// The expansion on host values, of compute type V, or the host meaning where the row has no
// expansion.
template <class V>
Scalar on_host_floats(Op op, std::span<const Scalar> args, DType result) {
  std::array<V, 3> v{};
  for (size_t i = 0; i < args.size(); ++i) v[i] = static_cast<V>(args[i].as_double());
  switch (op) {
#define SMELT_OP(id, ...)                                                                     \
  case Op::id:                                                                                \
    if constexpr (!std::is_same_v<decltype(expand::on_float::id<V>(v[0], v[1], v[2])), None>) \
      return scalar_of<V>(result, expand::on_float::id<V>(v[0], v[1], v[2]));                 \
    break;
#include "ops/ops.def"
#undef SMELT_OP
  }
  if (op == Op::Fma && sizeof(V) == 4) return Scalar::of_float(result, std::fma(v[0], v[1], v[2]));
  return evaluate(op, args);
}

Scalar wanted(Op op, std::span<const Scalar> args) {
  const DType dtype = args.back().dtype, result = result_type(op, dtype);
  if (!is_float(dtype)) return evaluate(op, args);
  return dtype == DType::F64 ? on_host_floats<double>(op, args, result) : on_host_floats<float>(op, args, result);
}

// GPUs have expansions of their own for some functions, as good as what ops.def documents; as are
// those of the host, on the other side of the exact result at worst. Halves round what came out.
bool close_enough(Op op, const Scalar& got, const Scalar& want) {
  if (got == want) return true;
  const DType t = want.dtype;
  if (!device().gpu || !is_float(t) || size_of(t) == 8 || info(op).max_ulp_f32 <= 0.5) return false;
  const int digits = t == DType::F32 ? 23 : t == DType::F16 ? 10 : 7;
  const double a = got.as_double(), b = want.as_double();
  const double ulp = std::max(std::ldexp(1.0, std::ilogb(b) - digits), std::ldexp(1.0, -126 - digits));
  return std::fabs(a - b) <= ulp * (t == DType::F32 ? 2 * info(op).max_ulp_f32 : 1);
}

void check_op(Op op, DType dtype) {
  const int arity = info(op).arity;
  GraphBuilder build;
  std::vector<Operand> nodes;
  std::vector<Tensor> tensors;
  for (int i = 0; i < arity; ++i) {
    const DType of_argument = info(op).rule == TypeRule::Select && i == 0 ? DType::Bool : dtype;
    nodes.emplace_back(build.input(std::string(1, static_cast<char>('a' + i)), of_argument, {kCount}));
    tensors.push_back(arguments(of_argument, i, arity > 1));
  }
  const NodeId node = build.elementwise(op, nodes);
  const Executable program = compile(build.finish({node}), device());
  const std::vector<TensorView> views(tensors.begin(), tensors.end());
  const Tensor out = program.run(views).at(0);
  ASSERT_EQ(out.dtype, result_type(op, dtype));
  int failures = 0;
  for (int64_t i = 0; i < kCount && failures < 3; ++i) {
    std::vector<Scalar> args;
    std::string text;
    for (const Tensor& t : tensors) {
      args.push_back(load_scalar(t.dtype, static_cast<char*>(t.data) + i * size_of(t.dtype)));
      text += " " + args.back().str();
    }
    const Scalar got = load_scalar(out.dtype, static_cast<char*>(out.data) + i * size_of(out.dtype));
    const Scalar want = wanted(op, args);
    if (!close_enough(op, got, want)) {
      ++failures;
      ADD_FAILURE() << name_of(op) << " of " << name_of(dtype) << text << " gives " << got.str() << ", not "
                    << want.str();
    }
  }
}

class OpKernels : public testing::TestWithParam<int> {};

TEST_P(OpKernels, GiveWhatTheHostGives) {
  if (!device().compiles()) GTEST_SKIP() << device().missing;
  const Op op = static_cast<Op>(GetParam());
  for (DType dtype : kAllDTypes)
    if (accepts(op, dtype)) check_op(op, dtype);
}

INSTANTIATE_TEST_SUITE_P(All, OpKernels, testing::Range(0, kOpCount), [](const testing::TestParamInfo<int>& instance) {
  return std::string(smelt::info(static_cast<Op>(instance.param)).id);
});

}  // namespace
}  // namespace smelt
