// Sums over windows of products: convolutions of all kinds, which a GPU computes in blocks of
// results.
//   SMELT_SEED=N, SMELT_PROGRAMS=N, SMELT_FIRST=N  as for random programs
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "emit/cuda.hpp"
#include "frontends/language.hpp"
#include "generator.hpp"
#include "kernel/lower.hpp"
#include "run.hpp"
#include "schedule/schedule.hpp"
#include "smelt/error.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// A GPU that small arrays keep busy: blocks are then as large as those of large arrays.
Machine small_device() {
  Machine machine = device();
  if (machine.is_gpu) machine.gpu_facts.processors = 1;
  return machine;
}

class Convolutions {
 public:
  explicit Convolutions(uint64_t seed) : random_(seed * 6151 + 3) { program_.seed = seed; }

  Program run() {
    do {
      program_ = Program{program_.seed};
      make();
    } while (!fits());
    return program_;
  }

 private:
  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }
  bool chance(size_t one_in) { return pick(one_in) == 0; }
  int64_t among(const std::vector<int64_t>& list) { return list[pick(list.size())]; }

  IntExpr size(const char* name, int64_t n) {
    if (!chance(3)) return n;
    for (SizeBinding& sizes : program_.sizes)
      sizes[Symbol::size(name)] = &sizes == &program_.sizes[0] ? n : n + among({1, 2, 3});
    return sym(Symbol::size(name));
  }
  std::string list(size_t n, const std::vector<int64_t>& from) {
    std::string text = "(";
    for (size_t i = 0; i < n; ++i) text += fmt::format("{}, ", among(from));
    return text + ")";
  }

  void make() {
    const size_t n = static_cast<size_t>(among({1, 2, 2, 2, 3}));
    const int64_t groups = chance(3) ? among({2, 3, 6}) : 1;
    const int64_t channels = chance(12) ? 70 : among({1, 1, 2, 3, 4, 5, 8}),
                  outputs = among({1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17});
    const DType dtype = std::vector{DType::F32, DType::F32, DType::F32, DType::F16, DType::BF16, DType::F64}[pick(6)];
    program_.data = static_cast<Data>(pick(3));
    program_.sizes.assign(chance(2) ? 1 : 2, {});
    Shape x{size("B", among({1, 2, 3})), channels * groups}, w{outputs * groups, channels};
    const char* names[] = {"D", "H", "W"};
    for (size_t d = 0; d < n; ++d) {
      const bool last = d + 1 == n;
      const int64_t length = n == 1   ? among({65, 128, 333, 1000})
                             : last   ? among({9, 16, 24, 31, 50, 100})
                             : n == 2 ? among({1, 7, 13, 20, 33})
                                      : among({1, 4, 7, 10});
      x.push_back(size(names[3 - n + d], length));
      w.emplace_back(among({1, 2, 3, 3, 3, 4, 5, 7}));
    }
    program_.inputs = {{"x", dtype, x, 0}, {"w", dtype, w, 0}, {"b", dtype, {outputs * groups}, 0}};
    std::string read = chance(4) ? "relu(x)" : chance(8) ? "tanh(x)" : "x";
    if (chance(5)) {
      static const char* modes[] = {"edge", "reflect", "symmetric", "wrap"};
      std::string widths = "((0, 0), (0, 0), ";
      for (size_t d = 0; d < n; ++d) widths += fmt::format("({}, {}), ", among({0, 1}), among({0, 1, 2}));
      read = fmt::format("pad({}, {}), mode='{}')", read, widths, modes[pick(4)]);
    }
    std::string how = chance(2) ? ", b" : "";
    if (!chance(3)) how += ", padding=" + list(n, {0, 1, 1, 2});
    if (chance(3)) how += ", stride=" + list(n, {1, 2, 3});
    if (chance(4)) how += ", dilation=" + list(n, {1, 2});
    if (groups > 1) how += fmt::format(", groups={}", groups);
    program_.statements.push_back({"y", fmt::format("conv({}, w{})", read, how)});
    program_.outputs = {"y"};
    const auto then = [&](const char* text) {
      program_.statements.push_back({fmt::format("z{}", program_.statements.size()), text});
      program_.outputs = {program_.statements.back().name};
    };
    switch (pick(8)) {
      case 0: then("relu(y)"); break;
      case 1: then("sigmoid(y) * y"); break;
      case 2: {
        program_.inputs.push_back({"v", dtype, w, 0});
        program_.statements.push_back({"g", fmt::format("conv({}, v{})", read, how)});
        then("y * tanh(g)");
        break;
      }
      case 3: then("permute(y, 0, 1, 2)"); break;  // of three dimensions only
      case 4: then("f16(relu(y))"), program_.outputs.push_back("y"); break;
      case 5: then("max_pool(relu(y), 2)"); break;
      case 6: then("y - mean(y, axis=-1, keepdims=True)"); break;
      default: break;
    }
  }

  // Legal, at all sizes, and small enough for the reference.
  bool fits() {
    try {
      const Graph graph = lang::parse_program(program_.text(), "random.smelt");
      for (const SizeBinding& sizes : program_.sizes) {
        for (const Constraint& c : graph.constraints)
          if (!holds(c, sizes)) return false;
        for (const Node& n : graph.nodes)
          if (element_count(evaluate(n.shape, sizes)) > 2500000) return false;
      }
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

  std::mt19937_64 random_;
  Program program_;
};

TEST(Blocked, RandomConvolutionsMatchTheReference) {
  NEEDS_LLVM();
  const bool one = std::getenv("SMELT_SEED");
  const uint64_t first = number_from(one ? "SMELT_SEED" : "SMELT_FIRST", 0);
  const uint64_t programs = one ? 1 : number_from("SMELT_PROGRAMS", device().is_gpu ? 40 : 6);
  const Machine few = small_device();
  int failures = 0;
  Coverage coverage;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = Convolutions(seed).run();
    if (one) fmt::print("{}", describe(program));
    const std::string complaint = check(program, few, &coverage);
    if (complaint.empty()) continue;
    fmt::print("SMELT_SEED={} is wrong: {}", seed, complaint);
    std::fflush(stdout);
    ADD_FAILURE() << "SMELT_SEED=" << seed << "\n" << describe(program) << complaint;
    if (++failures == 5) break;
  }
  fmt::print("{} convolutions, {} runs, {} kernels ({} with clamped indices), {} elements compared\n", programs,
             coverage.runs, coverage.kernels, coverage.clamped, coverage.elements);
}

// Planned and printed only, for a GPU that need not be there.
struct Planned {
  Graph graph;
  plan::Plan plan;
  plan::Options options;
  schedule::Schedule schedule;  // of the last kernel

  std::string printed() const {
    return emit::emit_cuda(kernel::lower(graph, plan.groups.back(), schedule, "k0"), {}).text;
  }
};

Planned planned(const std::string& program) {
  Planned p;
  p.graph = simplify(lang::parse_program(program, "<test>"));
  p.options.target.gpu = true;
  p.options.target.device = "cuda";
  p.options.target.threads = 132;
  for (const Symbol symbol : p.graph.size_symbols()) p.options.sizes[symbol] = symbol == "B"_size ? 16 : 512;
  p.plan = plan::make_plan(p.graph, p.options);
  auto made = schedule::make_schedule(p.graph, p.plan.groups.back(), p.options);
  p.schedule = std::get<schedule::Schedule>(made);
  return p;
}

size_t occurrences(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

using Block = std::vector<int64_t>;
Block block_of(const std::string& program) {
  const Planned p = planned(program);
  EXPECT_EQ(p.plan.groups.size(), 1U) << plan::print(p.graph, p.plan);
  return p.schedule.blocking ? p.schedule.blocking->block : Block{};
}

std::string conv_of(const std::string& x, const std::string& w, const std::string& how = "") {
  return fmt::format("input x: {}\ninput w: {}\nreturn relu(conv(x, w{}))\n", x, w, how);
}

TEST(Blocked, BlocksLieAlongWhatAFactorDoesNotDependOn) {
  EXPECT_EQ(block_of(conv_of("f32[16, 16, 512, 512]", "f32[16, 16, 3, 3]", ", padding=1")), (Block{1, 8, 2, 4}));
  EXPECT_EQ(block_of(conv_of("f32[B, 16, H, W]", "f32[16, 16, 3, 3]", ", padding=1")), (Block{1, 8, 2, 4}));
  EXPECT_EQ(block_of(conv_of("f16[16, 16, 512, 512]", "f16[16, 16, 3, 3]", ", padding=1")), (Block{1, 8, 2, 4}));
  EXPECT_EQ(block_of(conv_of("f64[16, 16, 512, 512]", "f64[16, 16, 3, 3]", ", padding=1")), (Block{1, 8, 1, 4}));
  // Blocks that do not divide an axis compute what nobody stores.
  EXPECT_EQ(block_of(conv_of("f32[16, 16, 512, 512]", "f32[6, 16, 3, 3]")), (Block{1, 6, 2, 4}));
  EXPECT_EQ(block_of(conv_of("f32[16, 16, 512, 512]", "f32[9, 16, 3, 3]")), (Block{1, 3, 3, 4}));
  // With one channel per group only rows and columns share elements.
  EXPECT_EQ(block_of(conv_of("f32[16, 64, 512, 512]", "f32[64, 1, 3, 3]", ", groups=64")), (Block{1, 1, 8, 4}));
  EXPECT_EQ(block_of(conv_of("f32[16, 64, 512, 512]", "f32[64, 16, 3, 3]", ", groups=4")), (Block{1, 1, 8, 2, 4}));
  // What a large stride reads for a block does not fit into registers along with it.
  EXPECT_EQ(block_of(conv_of("f32[16, 16, 512, 512]", "f32[16, 16, 3, 3]", ", stride=2")), (Block{1, 8, 1, 4}));
  // Few results are spread over all threads.
  EXPECT_EQ(block_of(conv_of("f32[1, 16, 64, 64]", "f32[16, 16, 3, 3]", ", padding=1")), (Block{1, 1, 2}));
  // No factor is alike for neighbours.
  EXPECT_EQ(block_of("input x: f32[4096, 4096]\nreturn sum(window(x, (3, 3)), axis=(-2, -1))\n"), Block{});
}

TEST(Blocked, EveryLoadServesABlock) {
  const std::string text = planned(conv_of("f32[16, 16, 512, 512]", "f32[16, 16, 3, 3]", ", padding=1")).printed();
  const std::string fast = text.substr(text.find("__global__"), text.find("_any(") - text.find("__global__"));
  EXPECT_EQ(occurrences(fast, "= fmaf("), 9U * 64);
  EXPECT_EQ(occurrences(fast, "= *(const Vec<float, 4>*)(b0"), 9U * 2);  // eight factors of each place in two words
  EXPECT_EQ(occurrences(fast, " = *(const Vec<float, 4>*)(in"), 4U);     // rows of two windows below each other
  EXPECT_EQ(occurrences(fast, "? in"), 4U * 2);                          // and what is next to them
  EXPECT_EQ(occurrences(fast, ") *(Vec<float, 4>*)(out") + occurrences(fast, "  *(Vec<float, 4>*)(out"), 16U);
}

std::string bilateral(const char* x, int64_t side) {
  return fmt::format(
      "input x: {}\ns = window(pad(x, {}), ({}, {}))\nw = exp(-(s - x[..., None, None]) ** 2)\n"
      "return sum(w * s, axis=(-2, -1)) / sum(w, axis=(-2, -1))\n",
      x, side / 2, side, side);
}

TEST(Blocked, SumsOverWindowsOfOneSizeComputeTheirElementsOnce) {
  const Planned p = planned(bilateral("f32[2000, 1001]", 5));
  ASSERT_TRUE(p.schedule.blocking);
  const std::string text = p.printed();
  const std::string fast = text.substr(text.find("__global__"), text.find("_any(") - text.find("__global__"));
  EXPECT_EQ(occurrences(fast, "power_of_two("), 25U * static_cast<size_t>(p.schedule.blocking->results()));
}

// Their elements are loops, not code: 11.6 GB of weights would be stored else.
TEST(Blocked, LargeWindowsOfTwoSumsAreOneKernel) {
  EXPECT_EQ(planned(bilateral("f32[2000, 1000]", 11)).plan.groups.size(), 1U);
  EXPECT_EQ(planned(bilateral("f32[2000, 1000]", 31)).plan.groups.size(), 1U);
}

TEST(Blocked, WhatCostsLittleBehindAWindowIsComputedInItsKernel) {
  const auto groups = [](const char* read) {
    return planned(fmt::format("input x: f32[16, 16, 512, 512]\ninput w: f32[16, 16, 3, 3]\n"
                               "return conv({}, w, padding=1)\n",
                               read))
        .plan.groups.size();
  };
  EXPECT_EQ(groups("relu(x * 2)"), 1U);
  EXPECT_EQ(groups("gelu(x)"), 2U);
}

TEST(Blocked, WhatAnotherKernelPaddedIsNotReadBeyondItsEnd) {
  const Planned p =
      planned("input x: f32[16, 70, 333]\ninput w: f32[6, 70, 4]\nreturn conv(tanh(x), w, padding=1, dilation=2)\n");
  ASSERT_EQ(p.plan.groups.size(), 2U) << plan::print(p.graph, p.plan);
  ASSERT_TRUE(p.schedule.blocking);
  EXPECT_FALSE(kernel::lower(p.graph, p.plan.groups.back(), p.schedule, "k0").clamped);
}

TEST(Blocked, WhatWouldLoseItsBlocksIsAKernelOfItsOwn) {
  const auto groups = [](const char* x, const char* result) {
    return planned(fmt::format("input x: {}\ninput w: f32[16, 16, 3, 3]\ny = relu(conv(x, w, padding=1))\nreturn {}\n",
                               x, result))
        .plan.groups.size();
  };
  EXPECT_EQ(groups("f32[16, 16, 512, 512]", "max_pool(y, 2)"), 2U);
  EXPECT_EQ(groups("f32[16, 16, 512, 512]", "mean(y, axis=(2, 3))"), 2U);
  EXPECT_EQ(groups("f32[16, 16, 512, 512]", "softmax(y, axis=-1)"), 2U);
  EXPECT_EQ(groups("f32[1, 16, 16, 16]", "max_pool(y, 2)"), 1U);
}

TEST(Blocked, FactorsOfManyChannelsAreStagedInParts) {
  const Planned p = planned(conv_of("f32[16, 300, 128, 128]", "f32[16, 300, 3, 3]"));
  ASSERT_TRUE(p.schedule.blocking);
  EXPECT_EQ(p.schedule.blocking->sums[0].chunk, 100);  // that divides 300, of 32 KB
  const kernel::Kernel made = kernel::lower(p.graph, p.plan.groups.back(), p.schedule, "k0");
  ASSERT_EQ(made.buffers.size(), 1U);
  EXPECT_EQ(count(made.buffers[0].dims).constant(), 100 * 9 * 8);
}

}  // namespace
}  // namespace smelt::testing
