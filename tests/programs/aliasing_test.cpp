// Arrays that lie in one buffer, at any offset and with any strides: outputs over inputs, and over
// each other. A call reads what was there before it, and where outputs overlap, the later one
// stays.
#include "aliasing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "frontends/language.hpp"
#include "run.hpp"

namespace smelt::testing {
namespace {

constexpr int64_t kElements = 160;

struct Picker {
  std::mt19937 engine;
  int64_t number(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine); }
};

// An array somewhere in the buffer. Elements of an output do not share memory with each other;
// those of an input may.
TensorView placed(Picker& pick, const Dims& dims, char* buffer, bool output) {
  std::vector<size_t> order(dims.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::shuffle(order.begin(), order.end(), pick.engine);
  const bool row_major = pick.number(0, 2) == 0;
  if (row_major) std::sort(order.rbegin(), order.rend());
  TensorView view{DType::I32, dims, Dims(dims.size(), 0), nullptr};
  int64_t step = row_major ? 1 : pick.number(1, 2), low = 0, high = 0;
  for (const size_t d : order) {
    int64_t stride = step;
    step *= std::max<int64_t>(1, dims[d]);
    if (!row_major && !output && pick.number(0, 4) == 0) stride = 0;
    if (!row_major && pick.number(0, 2) == 0) stride = -stride;
    view.strides[d] = stride;
    if (dims[d] > 1) (stride < 0 ? low : high) += (dims[d] - 1) * stride;
  }
  view.data = buffer + 4 * pick.number(-low, kElements - 1 - high);
  return view;
}

// The arrays of one call: those of x: i32[A, B] and y: i32[A], and the outputs.
struct Call {
  std::vector<TensorView> inputs, outputs;
};
Call random_call(Picker& pick, const std::vector<Dims>& of, char* buffer) {
  Call call;
  const int64_t a = pick.number(1, 6), b = pick.number(1, 9);
  const auto dims = [&](const Dims& which) {
    Dims d;
    for (const int64_t axis : which) d.push_back(axis == 0 ? a : b);
    return d;
  };
  call.inputs = {placed(pick, dims({0, 1}), buffer, false), placed(pick, dims({0}), buffer, false)};
  for (const Dims& which : of) call.outputs.push_back(placed(pick, dims(which), buffer, true));
  // Often on the same spot, or one element next to it.
  if (pick.number(0, 3) == 0 && of[0] == Dims{0, 1}) {
    call.outputs[0] = call.inputs[0];
    call.outputs[0].strides = contiguous_strides(call.inputs[0].dims);
    const auto first = (static_cast<char*>(call.inputs[0].data) - buffer) / 4;
    const int64_t most = kElements - call.outputs[0].count();
    call.outputs[0].data = buffer + 4 * std::clamp<int64_t>(first + pick.number(-1, 1), 0, most);
  }
  return call;
}

std::string text_of(const Call& call, const char* buffer) {
  std::string text;
  for (const auto* views : {&call.inputs, &call.outputs})
    for (const TensorView& v : *views)
      text += fmt::format("{} {} at {} strides {}\n", views == &call.inputs ? "input" : "output", str(v.dims),
                          (static_cast<const char*>(v.data) - buffer) / 4, str(v.strides));
  return text;
}

void put(const Tensor& from, const TensorView& to) {
  Dims index(to.dims.size(), 0);
  for (int64_t i = 0, n = from.count(); i < n; ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * to.strides[d];
    static_cast<int32_t*>(to.data)[offset] = static_cast<int32_t>(number(from, i));
    for (size_t d = index.size(); d-- > 0 && ++index[d] == to.dims[d];) index[d] = 0;
  }
}

struct Aliased {
  const char* returned;
  std::vector<Dims> outputs;  // axes: 0 is A, 1 is B
};
const Aliased kPrograms[] = {{"x + y[:, None], y * 3", {{0, 1}, {0}}},
                             {"x.T - 1, i32(sum(x, axis=1)), x * 2", {{1, 0}, {0}, {0, 1}}},
                             {"y - x[:, 0], flip(x, 1)", {{0}, {0, 1}}},
                             {"max(x, axis=0), x, x", {{1}, {0, 1}, {0, 1}}}};

}  // namespace

void check_aliasing(const Machine& machine, int calls) {
  int overlapping = 0;
  for (const Aliased& program : kPrograms) {
    const std::string text = fmt::format("input x: i32[A, B]\ninput y: i32[A]\nreturn {}\n", program.returned);
    const Graph graph = lang::parse_program(text, "aliasing.smelt");
    const Executable executable = compile(graph, machine);
    for (int c = 0; c < calls; ++c) {
      Picker pick{std::mt19937(static_cast<unsigned>(c))};
      const Tensor before = noise(DType::I32, {kElements}, static_cast<uint64_t>(c));
      const Tensor memory = machine.is_gpu ? to_device(machine, before) : contiguous_copy(before);
      const Tensor expected = contiguous_copy(before);
      auto* const here = static_cast<char*>(memory.data);
      const Call call = random_call(pick, program.outputs, here);
      const auto moved = [&](TensorView view, const Tensor& to) {
        view.data = static_cast<char*>(to.data) + (static_cast<char*>(view.data) - here);
        return view;
      };
      std::vector<TensorView> inputs;
      for (const TensorView& view : call.inputs) inputs.push_back(moved(view, before));
      const std::vector<Tensor> results = interpret(graph, inputs);
      for (size_t o = 0; o < results.size(); ++o) put(results[o], moved(call.outputs[o], expected));
      if (machine.is_gpu) {
        executable.run_device(call.inputs, call.outputs, machine.gpu->stream());
        machine.gpu->synchronize(machine.gpu->stream());
      } else {
        executable.run_into(call.inputs, call.outputs);
      }
      const Tensor got = machine.is_gpu ? to_host(machine, memory) : memory;
      ASSERT_EQ(std::memcmp(got.data, expected.data, 4 * kElements), 0) << text << "call " << c << "\n"
                                                                        << text_of(call, here);
      for (const TensorView& output : call.outputs) overlapping += output.data != call.outputs[0].data;
    }
  }
  EXPECT_GT(overlapping, calls);
}

TEST(Aliasing, ArraysAnywhereInOneBuffer) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "the buffer is one of the host";
  check_aliasing(device(), 400);
}

// An input that reaches far beyond others that begin after it.
TEST(Aliasing, TwoOutputsInsideOneInput) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "the buffer is one of the host";
  const Executable e = compiled("input x: i32[N]\nreturn x[:2] + x[-2:], x[2:4] + x[-2:]\n");
  const Tensor memory = Tensor::empty(DType::I32, {10});
  auto* data = static_cast<int32_t*>(memory.data);
  for (int i = 0; i < 10; ++i) data[i] = i;
  const TensorView first{DType::I32, {2}, {1}, data + 2}, second{DType::I32, {2}, {1}, data + 8};
  e.run_into({memory}, {first, second});
  EXPECT_TRUE(same_numbers(numbers(memory), {0, 1, 8, 10, 4, 5, 6, 7, 10, 12}));
}

TEST(Aliasing, OfOutputsThatOverlapTheLaterOneStays) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "the buffer is one of the host";
  // The reductions are kernels of their own: which of them runs first is not for the caller to
  // know.
  for (const char* returned : {"x * 2, x * 3, x * 5",
                               "cumsum(x[::-1])[::-1] - cumsum(x[::-1])[::-1] + x * 2, x * 3, "
                               "x * 5 + 0 * max(x)"}) {
    const Executable e = compiled(fmt::format("input x: i64[N]\nreturn {}\n", returned));
    for (const auto& [second, third] : {std::pair{2, 4}, {4, 2}, {-2, 1}, {1, -1}}) {
      const Tensor x = filled(DType::I64, {5}, 1), memory = filled(DType::I64, {16}, 0);
      auto* data = static_cast<int64_t*>(memory.data) + 4;
      e.run_into(
          {x},
          {{DType::I64, {5}, {1}, data}, {DType::I64, {5}, {1}, data + second}, {DType::I64, {5}, {1}, data + third}});
      std::vector<double> expected(16, 0);
      for (const auto& [at, value] : {std::pair{0, 2}, {second, 3}, {third, 5}})
        std::fill_n(expected.begin() + 4 + at, 5, value);
      EXPECT_TRUE(same_numbers(numbers(memory), expected)) << returned << " " << second << " " << third;
    }
  }
}

}  // namespace smelt::testing
