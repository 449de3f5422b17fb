// What the number of threads may not change: a bit of any result.
#include <fmt/format.h>

#include <cstring>

#include "run.hpp"

namespace smelt::testing {
namespace {

struct Case {
  std::string program;
  std::vector<Dims> shapes;  // of the inputs, f32
};

// Few long rows, tall columns, few columns, several passes, and a small expensive array that many
// elements read: what schedules and plans weigh by the work of a thread.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int64_t rows : {1, 4, 12, 30, 100})
    all.push_back({fmt::format("input x: f32[{}, 70000]\nreturn sum(x * 1.1, axis=-1), max(x, axis=-1)\n", rows),
                   {{rows, 70000}}});
  for (const int64_t rows : {2, 5, 17})
    all.push_back({fmt::format("input x: f32[{}, 300000]\nreturn softmax(x)\n", rows), {{rows, 300000}}});
  all.push_back({"input x: f32[3, 40000]\nreturn layernorm(x, eps=1e-5)\n", {{3, 40000}}});
  all.push_back({"input x: f32[5000, 300]\nreturn sum(x, axis=0), logsumexp(x, axis=0)\n", {{5000, 300}}});
  all.push_back({"input x: f32[3000, 200]\nreturn cumsum(x, axis=0), cumsum(x, axis=1)\n", {{3000, 200}}});
  all.push_back({"input x: f32[50000, 6]\nreturn mean(x, axis=0)\n", {{50000, 6}}});
  all.push_back({"input x: f32[1000000]\nreturn sum(x), norm(x)\n", {{1000000}}});
  for (const int64_t rows : {40, 200, 1000})
    all.push_back({fmt::format("input x: f32[{}, 200]\ninput t: f32[200]\n"
                               "h = sin(t) * cos(t * 2) + erf(t) * tanh(t / 2) + exp(sin(t * 3)) * log1p(t * t)\n"
                               "h = h + erf(cos(t)) * exp(t / 9) + sin(t * 5) * cos(t * 7) + erf(sin(h)) * cos(h)\n"
                               "return sum(x * h, axis=-1)\n",
                               rows),
                   {{rows, 200}, {200}}});
  return all;
}

TEST(Threads, SameBitsOnAnyNumber) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "a device has the processors that it has";
  for (const Case& c : cases()) {
    std::vector<Tensor> held;
    for (size_t i = 0; i < c.shapes.size(); ++i) held.push_back(noise(DType::F32, c.shapes[i], i + 1));
    const std::vector<TensorView> inputs(held.begin(), held.end());
    const std::vector<Tensor> expected = compiled(c.program, true, 1).run(inputs);
    for (const int threads : {2, 3, 8, 16, 64}) {
      const std::vector<Tensor> got = compiled(c.program, true, threads).run(inputs);
      for (size_t o = 0; o < got.size(); ++o)
        EXPECT_TRUE(std::memcmp(got[o].data, expected[o].data, static_cast<size_t>(got[o].bytes())) == 0)
            << threads << " threads, output " << o << " of\n"
            << c.program;
    }
  }
}

}  // namespace
}  // namespace smelt::testing
