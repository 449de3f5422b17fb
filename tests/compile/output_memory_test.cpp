// The memory of fresh outputs, which later calls take again.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "compile/compile.hpp"
#include "frontends/language.hpp"

namespace smelt {
namespace {

struct Doubled {
  Machine machine = Machine::cpu();
  Executable executable = compile(lang::parse_program("input x: f32[N]\nreturn x + x, x * 3\n", "test"), machine);

  std::vector<Tensor> of(int64_t n, float value) const {
    const Tensor x = Tensor::empty(DType::F32, {n});
    std::fill_n(static_cast<float*>(x.data), n, value);
    return executable.run({x});
  }
};

bool holds(const Tensor& t, float value) {
  const auto* data = static_cast<const float*>(t.data);
  return std::all_of(data, data + t.count(), [&](float x) { return x == value; });
}

TEST(OutputMemory, FreedOutputsServeTheNextCall) {
  const Doubled doubled;
  std::vector<Tensor> first = doubled.of(1 << 20, 1);
  const std::set<void*> places{first[0].data, first[1].data};
  const std::vector<Tensor> second = doubled.of(1 << 20, 2);  // the first are still there
  EXPECT_FALSE(places.count(second[0].data) || places.count(second[1].data));
  EXPECT_TRUE(holds(first[0], 2) && holds(first[1], 3) && holds(second[0], 4) && holds(second[1], 6));
  first.clear();
  const std::vector<Tensor> third = doubled.of(1 << 20, 3);
  EXPECT_EQ(places, (std::set<void*>{third[0].data, third[1].data}));
  EXPECT_TRUE(holds(third[0], 6) && holds(third[1], 9) && holds(second[0], 4));
}

TEST(OutputMemory, AViewOfAnOutputKeepsItsMemory) {
  const Doubled doubled;
  std::vector<Tensor> first = doubled.of(1 << 20, 1);
  const Tensor kept = first[1];
  first.clear();
  for (int i = 0; i < 3; ++i) EXPECT_NE(doubled.of(1 << 20, 5)[0].data, kept.data);
  EXPECT_TRUE(holds(kept, 3));
}

TEST(OutputMemory, OutlivesTheExecutable) {
  std::vector<Tensor> out;
  {
    const Doubled doubled;
    out = doubled.of(1 << 20, 1);
    out = doubled.of(1 << 20, 2);
  }
  EXPECT_TRUE(holds(out[0], 4) && holds(out[1], 6));
}

TEST(OutputMemory, SizesThatChange) {
  const Doubled doubled;
  for (const int64_t n : {1 << 20, 1 << 10, 3 << 20, 1 << 19, 0, 1 << 20, (1 << 20) - 100}) {
    const std::vector<Tensor> out = doubled.of(n, 7);
    EXPECT_EQ(out[0].dims, Dims{n});
    EXPECT_TRUE(holds(out[0], 14) && holds(out[1], 21));
  }
}

TEST(OutputMemory, ManyThreads) {
  const Doubled doubled;
  std::vector<std::thread> threads;
  for (int t = 1; t <= 6; ++t)
    threads.emplace_back([&, t] {
      const auto value = static_cast<float>(t);
      for (int i = 0; i < 20; ++i) {
        const std::vector<Tensor> out = doubled.of((1 << 17) + 1000 * (i % 3), value);
        EXPECT_TRUE(holds(out[0], 2 * value) && holds(out[1], 3 * value));
      }
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace smelt
