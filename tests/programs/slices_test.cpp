// Kernels of a CPU that run slice by slice: the same numbers as one after the other, in less
// memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "frontends/language.hpp"
#include "run.hpp"

namespace smelt::testing {
namespace {

// A CPU whose caches keep nothing, so that whatever can be sliced is.
Machine without_caches() {
  Machine machine = Machine::cpu();
  machine.facts.l2_bytes = 0;
  return machine;
}

class Slices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!machine_.llvm) GTEST_SKIP() << machine_.missing;
  }

  Executable compiled(const std::string& program, int threads = 2, bool fuse = true) const {
    CompileOptions options;
    options.threads = threads;
    options.fuse = fuse;
    return compile(lang::parse_program(program, "test"), machine_, options);
  }

  const Machine machine_ = without_caches();
};

// Per kernel by itself, and in slices.
::testing::AssertionResult same_in_slices(const Executable& e, const std::vector<TensorView>& inputs) {
  const std::vector<Tensor> sliced = e.run(inputs);
  std::vector<Tensor> apart;
  for (const Tensor& t : sliced) apart.push_back(Tensor::empty(t.dtype, t.dims));
  e.run_each(inputs, {apart.begin(), apart.end()}, [](size_t, const std::function<void()>& run) { run(); });
  for (size_t o = 0; o < sliced.size(); ++o)
    if (std::memcmp(sliced[o].data, apart[o].data, static_cast<size_t>(sliced[o].bytes())) != 0)
      return ::testing::AssertionFailure() << "output " << o << " differs";
  return ::testing::AssertionSuccess();
}

const char* const kAttention =
    "input q: f32[B, 3, 96, 32]\ninput k: f32[B, 3, 80, 32]\ninput v: f32[B, 3, 80, 24]\n"
    "s = softmax(q @ transpose(k, (0, 1, 3, 2)), axis=-1)\nreturn s @ v";

TEST_F(Slices, AHeadOfAttentionIsTheLeast) {
  const Executable e = compiled(kAttention);
  const auto slices = e.slices({{Symbol::size("B"), 4}});
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_EQ(slices[0].first, 0U);
  EXPECT_EQ(slices[0].end, e.plan().groups.size());
  EXPECT_EQ(slices[0].slices % 12, 0);
  EXPECT_LE(slices[0].bytes, 96 * 80 * 2 * 4);
  // Twice a slice, for two threads, in place of all twelve heads.
  EXPECT_LT(e.temporary_bytes({{Symbol::size("B"), 40}}) - e.temporary_bytes({{Symbol::size("B"), 4}}), 1 << 10);
}

TEST_F(Slices, OfAnyNumberOfThreads) {
  const Tensor q = noise(DType::F32, {4, 3, 96, 32}, 1), k = noise(DType::F32, {4, 3, 80, 32}, 2),
               v = noise(DType::F32, {4, 3, 80, 24}, 3);
  for (const int threads : {1, 2, 3, 5})
    EXPECT_TRUE(same_in_slices(compiled(kAttention, threads), {q, k, v})) << threads;
}

// What reads other slices waits for all of them.
TEST_F(Slices, NotAcrossThem) {
  const std::string program =
      "input x: f32[16, 8, 32]\ny = exp(x)\nz = softmax(y, axis=-1)\nreturn cumsum(z, axis=0) + sum(z, axis=0)";
  const Tensor x = noise(DType::F32, {16, 8, 32});
  for (const bool fuse : {true, false}) {
    const Executable e = compiled(program, 2, fuse);
    for (const auto& s : e.slices({})) EXPECT_LT(s.end, e.plan().groups.size());
    EXPECT_TRUE(same_in_slices(e, {x})) << fuse;
  }
}

// An output may share the memory of an input that an earlier kernel reads.
TEST_F(Slices, NotInPlaceOfWhatOthersRead) {
  const std::string program =
      "input x: f32[16, 64, 32]\ninput w: f32[32, 32]\ny = softmax(x @ w, axis=-1)\nreturn y @ w + flip(x, 0)";
  const Tensor x = noise(DType::F32, {16, 64, 32}), w = noise(DType::F32, {32, 32}, 2);
  EXPECT_TRUE(same_in_slices(compiled(program), {x, w}));
  EXPECT_TRUE(same_in_slices(compiled(program, 2, false), {x, w}));
}

// Unfused chains are long, so that some of their kernels are sliced; odd sizes, all kinds of
// kernels, several dtypes.
TEST_F(Slices, ManyPrograms) {
  const char* const programs[] = {
      "input x: f32[12, 5, 131]\ninput y: f32[12, 131, 67]\nreturn softmax(x @ y, axis=-1) @ transpose(y, (0, 2, 1))",
      "input x: bf16[8, 32, 64]\ninput y: bf16[8, 64, 96]\nreturn rmsnorm(relu(x @ y)) @ transpose(y, (0, 2, 1))",
      "input x: f64[6, 40, 40]\ninput y: f64[6, 40, 40]\nz = x @ y\nreturn (z - mean(z, axis=(1, 2), keepdims=True)) @ "
      "x",
      "input x: f32[8, 300]\ninput y: f32[8, 300]\nreturn cumsum(softmax(x * y, axis=-1), axis=-1) * sum(y, "
      "axis=-1)[:, None]",
      "input x: u8[8, 24, 36]\ninput y: f32[8, 24, 36]\nz = f32(x) / 255 + y\nw = cummax(z, axis=-1)\nreturn w - "
      "softmax(z, axis=1)",
      "input x: f32[6, 3, 20, 22]\ninput y: f32[4, 3, 3, 3]\nz = relu(conv2d(x, y, padding=1))\n"
      "return max_pool(z, (2, 2)), mean(z, axis=(2, 3))",
      "input x: f16[4, 4, 48, 32]\ninput y: f16[4, 4, 48, 32]\nreturn attention(x, y, x, causal=True)",
      "input x: f32[16, 70]\ninput y: i32[16, 70]\nz = layernorm(x)\nreturn concat([z, flip(z, 1)], axis=1), argmax(z, "
      "axis=1)",
      "input x: f32[9, 64, 33]\ninput y: f32[33]\nz = transpose(layernorm(x * y), (0, 2, 1))\nreturn softmax(z, "
      "axis=-1), z"};
  int sliced = 0;
  for (const char* program : programs) {
    const Graph graph = lang::parse_program(program, "test");
    std::vector<Tensor> inputs;
    for (const NodeId id : graph.inputs)
      inputs.push_back(noise(graph.at(id).dtype, evaluate(graph.at(id).shape, {}), inputs.size() + 1));
    for (const bool fuse : {true, false})
      for (const int threads : {2, 3}) {
        const Executable e = compiled(program, threads, fuse);
        sliced += !e.slices({}).empty();
        EXPECT_TRUE(same_in_slices(e, {inputs.begin(), inputs.end()})) << program << " fused: " << fuse;
      }
  }
  EXPECT_GT(sliced, 12);
}

}  // namespace
}  // namespace smelt::testing
