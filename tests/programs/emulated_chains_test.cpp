// Chains of products on an emulated GPU (emulated_products_test.cpp).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <tuple>

#include "compile/state.hpp"
#include "emulated_gpu.hpp"
#include "graph/input_layouts.hpp"

namespace smelt::testing {
namespace {

// Inputs q, k, v and m, and the one kernel of what is made of them.
class EmulatedChains : public EmulatedGpu {
 protected:
  // The kernels that a program is: "chain row".
  std::string kernels_of(const std::string& program) const {
    const Executable made = compile(lang::parse_program(program, "chains.smelt"), gpu_.machine, {});
    std::string words;
    for (const plan::FusionGroup& group : made.plan().groups)
      words += fmt::format("{}{}", words.empty() ? "" : " ", name_of(group.strategy()));
    return words;
  }
  static std::string inputs_of(const std::vector<Tensor>& keep) {
    std::string program;
    for (size_t i = 0; i < keep.size(); ++i)
      program += fmt::format("input {}: {}[{}]\n", "qkvm"[i], name_of(keep[i].dtype), fmt::join(keep[i].dims, ", "));
    return program;
  }
  void check_chain(const std::string& returned, const std::vector<Tensor>& keep) {
    const std::string program = inputs_of(keep) + returned + "\n";
    const Graph graph = lang::parse_program(program, "emulated.smelt");
    EXPECT_EQ(compile(graph, gpu_.machine, {}).plan().groups.size(), 1u) << program;
    check(program, {keep.begin(), keep.end()});
  }
  static std::vector<Tensor> of_heads(DType t, int64_t heads, int64_t of_keys, int64_t rows, int64_t keys,
                                      int64_t depth) {
    return {noise(t, {2, heads, rows, depth}, 1), noise(t, {2, of_keys, keys, depth}, 2),
            noise(t, {2, of_keys, keys, depth}, 3)};
  }
  const std::string plain = "return scaled_dot_product_attention(q, k, v)",
                    causal = "return scaled_dot_product_attention(q, k, v, causal=True)";
};

// Products whose rows are weights of the results of another one: one kernel, whatever is between.
TEST_F(EmulatedChains, OfWeights) {
  check_chain(plain, of_heads(DType::F16, 1, 1, 128, 192, 128));
  check_chain(causal, of_heads(DType::BF16, 1, 1, 192, 192, 64));
  check_chain(causal, of_heads(DType::F16, 4, 2, 70, 101, 80));
  check_chain(plain, of_heads(DType::BF16, 1, 1, 33, 17, 40));
  // Scores and results with operations of the program around them, a window of keys, and division
  // by the sum.
  check_chain(
      "r = arange(200)[:, None]\ni = arange(200)\ns = (f32(q) @ f32(k).mT) * 0.1\n"
      "e = where((i <= r) & (i > r - 70), 5 * tanh(s / 5) - 0.1 * f32(r - i), -inf)\ne = exp(e - max(e, axis=-1, "
      "keepdims=True))\n"
      "return silu(f32(bf16(e / sum(e, axis=-1, keepdims=True)) @ v) + f32(q))",
      of_heads(DType::BF16, 1, 1, 200, 200, 64));
  // One kernel for every length.
  std::vector<std::vector<Tensor>> lengths;
  std::vector<std::vector<TensorView>> calls;
  for (const auto& [rows, keys] : {std::pair<int64_t, int64_t>{128, 128}, {65, 130}, {1, 7}})
    lengths.push_back(of_heads(DType::BF16, 2, 1, rows, keys, 64));
  for (const auto& k : lengths) calls.push_back({k[0], k[1], k[2]});
  check_calls("input q: bf16[2, H, L, 64]\ninput k: bf16[2, 1, S, 64]\ninput v: bf16[2, 1, S, 64]\n" + causal + "\n",
              calls, {{"H"_size, 2}, {"L"_size, 128}, {"S"_size, 128}});
  // Rows that see nothing, a mask of numbers with -inf, and scores that are no numbers.
  std::vector<Tensor> masked = of_heads(DType::BF16, 2, 2, 100, 90, 64);
  masked.push_back(noise(DType::F32, {100, 90}, 4));
  float* mask = static_cast<float*>(masked[3].data);
  for (int64_t i = 0; i < 90; ++i) mask[17 * 90 + i] = -HUGE_VALF, mask[40 * 90 + i] = i == 3 ? 1.0f : -HUGE_VALF;
  check_chain("return scaled_dot_product_attention(q, k, v, m > 0)", masked);
  check_chain("return scaled_dot_product_attention(q, k, v, m)", masked);
  static_cast<uint16_t*>(masked[0].data)[64 * 5] = 0x7fc0;
  static_cast<uint16_t*>(masked[0].data)[64 * 7] = 0x7f80;
  check_chain("return scaled_dot_product_attention(q, k, v, m)", masked);
}

class HopperChains : public EmulatedChains {
 protected:
  int major() const override { return 9; }
};

// Units go on with the weights of one part while the next one is weighed: no part, one, and several
// turns of the stages.
TEST_F(HopperChains, OfWeights) {
  check_chain(causal, of_heads(DType::BF16, 1, 1, 300, 300, 64));
  check_chain(plain, of_heads(DType::F16, 1, 1, 70, 700, 128));
  check_chain(
      "r = arange(70)[:, None]\ni = arange(700)\ns = f32(q) @ f32(k).mT\n"
      "return f32(bf16(softmax(where((i >= 10 * r - 64) & (i < 10 * r), s, -inf)))) @ f32(v)",
      of_heads(DType::BF16, 1, 1, 70, 700, 64));
  // Scores of which one rounding is more than a power of two.
  std::vector<Tensor> large = of_heads(DType::BF16, 1, 1, 65, 500, 64);
  check_chain("return scaled_dot_product_attention(q * 32768, k * 4096, v)", large);
}

// Products whose rows are any operations of the results of other ones.
TEST_F(HopperChains, OfAnyOperations) {
  const std::string relu = "return bf16(relu(f32(q) @ f32(k).mT - 0.5)) @ v";
  check_chain(relu, of_heads(DType::BF16, 1, 1, 128, 192, 64));
  check_chain(relu, of_heads(DType::BF16, 3, 3, 70, 101, 80));
  check_chain(relu, of_heads(DType::BF16, 1, 1, 33, 17, 40));
  // One array is the keys' factor and the columns' one, whole and in part.
  const std::vector<Tensor> two{noise(DType::BF16, {2, 1, 70, 96}, 1), noise(DType::BF16, {2, 1, 101, 96}, 2)};
  check_chain("return scaled_dot_product_attention(q, k, k)", two);
  check_chain("return bf16(relu(f32(q) @ f32(k).mT)) @ k", two);
  check_chain("return bf16(relu(f32(q)[:, :, :, :64] @ f32(k)[:, :, :, :64].mT)) @ k", two);
  // Keys that are not there have products of 0, and no part in the sums.
  check_chain("s = f32(q) @ f32(k).mT\nreturn bf16(where(s == 0, inf, s)) @ v",
              of_heads(DType::BF16, 1, 1, 70, 101, 64));
  // Two products, a window of keys, a row of each side, and results that follow.
  std::vector<Tensor> both = of_heads(DType::BF16, 1, 1, 200, 200, 64);
  check_chain(
      "r = arange(200)[:, None]\ni = arange(200)\ns = f32(q) @ f32(k).mT\nt = f32(k) @ f32(v).mT\n"
      "x = where((i <= r) & (i > r - 70), s * exp(-abs(t)) + f32(q)[:, :, :, :1] * f32(r - i), 0)\n"
      "return silu(f32(bf16(x) @ v) + f32(q))",
      both);
  // Every key counts that some row may see, and no row is there for the others.
  check_chain(
      "r = arange(200)[:, None]\ni = arange(200)\ns = f32(q) @ f32(k).mT\n"
      "return f32(bf16(exp(where(i <= r, s, -inf) - 3)) @ v) / 7",
      both);
  // Not a number, and infinite: of rows and of keys.
  static_cast<uint16_t*>(both[0].data)[64 * 5] = 0x7fc0;
  static_cast<uint16_t*>(both[1].data)[64 * 199 + 3] = 0x7f80;
  check_chain(relu, both);
  // One kernel for every length.
  std::vector<std::vector<Tensor>> lengths;
  std::vector<std::vector<TensorView>> calls;
  for (const auto& [rows, keys] : {std::pair<int64_t, int64_t>{128, 128}, {65, 130}, {1, 7}})
    lengths.push_back(of_heads(DType::BF16, 2, 1, rows, keys, 64));
  for (const auto& k : lengths) calls.push_back({k[0], k[1], k[2]});
  check_calls("input q: bf16[2, H, L, 64]\ninput k: bf16[2, 1, S, 64]\ninput v: bf16[2, 1, S, 64]\n" + relu + "\n",
              calls, {{"H"_size, 2}, {"L"_size, 128}, {"S"_size, 128}});
}

// Few rows of many keys: the grid goes over parts of the keys, which are joined.
class EmulatedParts : public HopperChains {
 protected:
  int processors() const override { return 12; }
  // That the one kernel of a program is in parts, and right.
  void check_parts(const std::string& returned, const std::vector<Tensor>& keep) {
    const std::string program = inputs_of(keep) + returned + "\n";
    const Executable made = compile(lang::parse_program(program, "parts.smelt"), gpu_.machine, {});
    ASSERT_EQ(made.plan().groups.size(), 1u) << program;
    const auto& chain = made.plan().groups[0].schedule->chain;
    ASSERT_TRUE(chain) << program;
    EXPECT_GT(chain->product.split, 1) << program;
    check(program, {keep.begin(), keep.end()});
  }
};

TEST_F(EmulatedParts, OfKeysAreJoined) {
  check_parts(plain, of_heads(DType::F16, 4, 1, 1, 1000, 64));
  check_parts(causal, of_heads(DType::BF16, 1, 1, 130, 700, 64));
  check_parts("return bf16(relu(f32(q) @ f32(k).mT - 0.5)) @ v", of_heads(DType::BF16, 1, 1, 20, 600, 64));
  // Parts of which a row sees nothing, rows that see nothing at all, and results that follow.
  std::vector<Tensor> masked = of_heads(DType::BF16, 1, 1, 5, 600, 64);
  masked.push_back(noise(DType::F32, {5, 600}, 4));
  float* mask = static_cast<float*>(masked[3].data);
  for (int64_t i = 0; i < 600; ++i) mask[i] = -HUGE_VALF, mask[2 * 600 + i] = i < 500 ? -HUGE_VALF : 1.0f;
  static_cast<uint16_t*>(masked[0].data)[64 * 3] = 0x7fc0;
  static_cast<uint16_t*>(masked[0].data)[64 * 7] = 0x7f80;
  check_parts("s = softmax(30 * tanh(q @ k.mT / 30) + m)\nreturn silu(f32(bf16(s) @ v) + f32(q)), f32(q).T", masked);
  check_parts("return scaled_dot_product_attention(q, k, v, m)", masked);
}

// Pages of a cache, in any order, and a cache of bytes.
TEST_F(EmulatedParts, OfCaches) {
  std::vector<double> pages;
  for (int i = 0; i < 20; ++i) pages.push_back(i * 37 % 50);
  const Tensor q = noise(DType::BF16, {1, 4, 64}, 1);
  check(
      "input q: bf16[1, 4, 64]\ninput k: bf16[50, 16, 4, 64]\ninput v: bf16[50, 16, 4, 64]\ninput t: i32[1, 20]\n"
      "x, y = take(k, t, axis=0).reshape(1, -1, 4, 64), take(v, t, axis=0).reshape(1, -1, 4, 64)\n"
      "p = bf16(softmax(f32(einsum('bhd,bthd->bht', q, x)) / 8))\nreturn einsum('bht,bthd->bhd', p, y)\n",
      {q, noise(DType::BF16, {50, 16, 4, 64}, 2), noise(DType::BF16, {50, 16, 4, 64}, 3),
       array(DType::I32, {1, 20}, pages)});
  check(
      "input q: bf16[1, 4, 64]\ninput k: i8[1, 4, 300, 64]\ninput v: i8[1, 4, 300, 64]\ninput s: f32[1, 4, 300]\n"
      "x, y = bf16(f32(k) * s[..., None]), bf16(f32(v) * s[..., None])\n"
      "p = bf16(softmax(f32(einsum('bhd,bhtd->bht', q, x)) / 8))\nreturn einsum('bht,bhtd->bhd', p, y)\n",
      {q, noise(DType::I8, {1, 4, 300, 64}, 2), noise(DType::I8, {1, 4, 300, 64}, 3),
       noise(DType::F32, {1, 4, 300}, 4)});
}

// The scores are computed again for each gradient, and never stored.
TEST_F(HopperChains, GradientsOfAttention) {
  const auto program = [](const std::vector<Tensor>& keep, const std::string& attention) {
    return inputs_of(keep) + "o = " + attention + "\nl = sum(f32(o) * f32(o) + f32(o))\n" +
           "dq, dk, dv = gradient(l, (q, k, v))\nreturn o, dq, dk, dv\n";
  };
  const std::string plain = "scaled_dot_product_attention(q, k, v)",
                    causal = "scaled_dot_product_attention(q, k, v, causal=True)";
  for (const auto& [rows, keys, depth] :
       {std::tuple<int64_t, int64_t, int64_t>{200, 200, 64}, {70, 101, 80}, {65, 130, 128}})
    for (const std::string& attention : {plain, causal}) {
      if (depth == 128 && attention == plain) continue;
      const std::vector<Tensor> keep = of_heads(DType::BF16, 1, 1, rows, keys, depth);
      const std::string text = program(keep, attention);
      EXPECT_EQ(kernels_of(text), "chain row chain chain") << text;
      check(text, {keep.begin(), keep.end()});
    }
  std::vector<Tensor> masked = of_heads(DType::BF16, 2, 2, 100, 90, 64);
  masked.push_back(noise(DType::F32, {100, 90}, 4));
  check(program(masked, "scaled_dot_product_attention(q, k, v, m)"), {masked.begin(), masked.end()});
  check(program(masked, "softmax(5 * tanh(q @ k.mT / 40) + m) @ v"), {masked.begin(), masked.end()});
  const std::vector<Tensor> grouped = of_heads(DType::BF16, 4, 2, 70, 101, 64);
  check(program(grouped, causal), {grouped.begin(), grouped.end()});
}

// Queries, keys and values beside each other in one array.
TEST_F(HopperChains, OfPackedRows) {
  const Dims dims{2, 4, 130, 64}, strides{130 * 3 * 4 * 64, 64, 3 * 4 * 64, 1};
  const std::string program =
      "input q: bf16[2, 4, 130, 64]\ninput k: bf16[2, 4, 130, 64]\ninput v: bf16[2, 4, 130, 64]\n"
      "return scaled_dot_product_attention(q, k, v)\n";
  const MemoryLayout packed{{0, 2, 1, 3}, {strides[0], strides[2], strides[1], 1}};
  const Graph graph = with_input_layouts(lang::parse_program(program, "packed.smelt"), {packed, packed, packed});
  std::vector<Tensor> keep;
  std::vector<TensorView> call;
  for (const uint64_t seed : {1, 2, 3}) {
    keep.push_back(with_gaps(noise(DType::BF16, dims, seed), strides));
    call.push_back(keep.back());
    std::swap(call.back().dims[1], call.back().dims[2]);
    std::swap(call.back().strides[1], call.back().strides[2]);
  }
  check_calls(graph, {call});
  EXPECT_TRUE(took_boxes());
}

}  // namespace
}  // namespace smelt::testing
