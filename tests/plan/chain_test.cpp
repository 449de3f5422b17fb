// Chains in which every level reads the one before at several places: what a kernel would compute
// again at each of them is counted before anything is built, so that planning and kernels grow with
// the program, not with a power of its levels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

#include "frontends/language.hpp"
#include "graph/build.hpp"
#include "kernel/lower.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

// docs/internals/compile-time.md gives reasons.
constexpr size_t kMostInstructions = 6000;         // of one kernel
constexpr double kInstructionsPerOperation = 150;  // of all kernels
constexpr double kSecondsPerOperation = 0.03;      // on a machine that is busy, without optimization

struct Work {
  size_t operations = 0, instructions = 0, longest = 0, kernels = 0, stored = 0;
  double seconds = 0;
};

Work work_of(const std::string& program, const SizeBinding& sizes, bool gpu = false) {
  const Graph graph = simplify(lang::parse_program(program, "<chain>"));
  Work work;
  work.operations = graph.nodes.size();
  plan::Options options;
  options.target.threads = 2;
  if (gpu) {
    options.target.gpu = true;
    options.target.device = "cuda";
    options.target.threads = 132;
  }
  options.sizes = sizes;
  const std::clock_t start = std::clock();  // of this process: others may keep the machine busy
  const plan::Plan plan = plan::make_plan(graph, options);
  plan::verify(graph, plan);
  for (const plan::FusionGroup& group : plan.groups) {
    const plan::FusionGroup& one = group.parts.empty() ? group : group.parts[0];
    const kernel::Kernel kernel = kernel::lower(graph, one, *one.schedule, "k");
    work.instructions += kernel.exprs.size();
    work.longest = std::max(work.longest, kernel.exprs.size());
    ++work.kernels;
    work.stored += group.outputs.size();
  }
  work.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return work;
}

void check(const Work& work, const std::string& program) {
  const auto operations = static_cast<double>(work.operations);
  EXPECT_LE(work.longest, kMostInstructions) << program;
  EXPECT_LE(static_cast<double>(work.instructions), kInstructionsPerOperation * operations) << program;
  EXPECT_LE(work.seconds, kSecondsPerOperation * operations + 1) << program;
  if (std::getenv("SMELT_PRINT"))
    fmt::print("{} operations: {} instructions, at most {}, {} kernels, {:.2f} s\n", work.operations, work.instructions,
               work.longest, work.kernels, work.seconds);
}

constexpr const char* kFunctions = R"(
def heat(u):
    p = pad(u, 1, mode='edge')
    return u + 0.1*(p[:-2,1:-1] + p[2:,1:-1] + p[1:-1,:-2] + p[1:-1,2:] - 4*u)
def blur(u):
    p = pad(u, 1)
    return 0.25*(p[:-2,1:-1] + p[2:,1:-1] + p[1:-1,:-2] + p[1:-1,2:])
def turn(z):
    r = roll(z, 1, axis=0) + z + roll(z, -1, axis=0)
    return roll(r, 1, axis=1) + r*0.5 + roll(r, -1, axis=1)
def pick(x, i):
    return x[(i*7 + 3) % 24, :]*0.5 + x
def life(z):
    r = roll(z, 1, axis=0) + z + roll(z, -1, axis=0)
    n = roll(r, 1, axis=1) + r + roll(r, -1, axis=1)
    return u8((n == 3) | ((n == 4) & (z == 1)))
)";

std::string levels_of(const std::string& inputs, const std::string& level, int levels) {
  std::string program = kFunctions + inputs;
  for (int i = 0; i < levels; ++i) program += level + "\n";
  return program + "return x\n";
}

struct Level {
  const char* name;
  const char* inputs;
  const char* text;
};
class Chain : public ::testing::TestWithParam<Level> {};

TEST_P(Chain, GrowsWithItsLevels) {
  const auto& [name, inputs, level] = GetParam();
  for (const int levels : {3, 12}) {
    const std::string program = levels_of(inputs, level, levels);
    check(work_of(program, {{"H"_size, 1024}, {"W"_size, 1024}}), program);
  }
}

TEST_P(Chain, GrowsWithItsLevelsOnAGpu) {
  const auto& [name, inputs, level] = GetParam();
  const std::string program = levels_of(inputs, level, 8);
  check(work_of(program, {{"H"_size, 1024}, {"W"_size, 1024}}, true), program);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Chain,
    ::testing::Values(Level{"life", "input x: u8[H, W]\n", "x = life(x)"},
                      Level{"heat", "input x: f32[H, W]\n", "x = heat(x)"},
                      Level{"heat_of_a_fixed_size", "input x: f32[1000, 1000]\n", "x = heat(x)"},
                      Level{"blur", "input x: f32[H, W]\n", "x = blur(x)"},
                      Level{"gather", "input x: f32[1000]\ninput i: i32[1000]\n", "x = x[(i*7 + 3) % 1000]*0.5 + x"},
                      Level{"layernorm", "input x: f32[H, W]\n", "x = layernorm(relu(x*1.01 + 0.1))"},
                      Level{"cumsum", "input x: f32[H, W]\n", "x = cumsum(x*0.5, axis=1) + 0.1"},
                      Level{"row_maxima", "input x: f32[H, W]\n", "x = x - max(turn(x), axis=1, keepdims=True)"}),
    [](const auto& info) { return std::string(info.param.name); });

// Functions become many instructions each.
TEST(Chains, OfFunctions) {
  for (const char* level : {"x = sin(x*1.01)", "x = x ** 1.7", "x = erfc(x) % 3.0"}) {
    const std::string program = levels_of("input x: f32[H, W]\n", level, 300);
    check(work_of(program, {{"H"_size, 1024}, {"W"_size, 1024}}), program);
  }
}

// Twice the levels, twice the time: 2.3 times, and some for what disturbs a clock.
TEST(Chains, TimeGrowsWithTheLevels) {
  constexpr double kMostGrowth = 3;
  const std::pair<const char*, const char*> chains[] = {
      {"input x: u8[H, W]\n", "x = life(x)"},
      {"input x: f32[H, W]\n", "x = heat(x)"},
      {"input x: f32[1000]\ninput i: i32[1000]\n", "x = x[(i*7 + 3) % 1000]*0.5 + x"},
      {"input x: f32[H, W]\n", "x = layernorm(relu(x*1.01 + 0.1))"}};
  for (const auto& [inputs, level] : chains) {
    const auto seconds = [&, in = inputs, one = level](int levels) {
      const std::string program = levels_of(in, one, levels);
      const auto once = [&] { return work_of(program, {{"H"_size, 1024}, {"W"_size, 1024}}).seconds; };
      return std::min(once(), once());
    };
    EXPECT_LE(seconds(32), kMostGrowth * seconds(16)) << level;
  }
}

// A bitonic sort. On a GPU a thread repeats no more than what takes about as long as a launch.
// Indices and masks follow from nothing that is read: no kernel stores them for the next.
TEST(Chains, SortByExchanges) {
  for (const bool gpu : {false, true})
    for (const int elements : {64, 256}) {
      SCOPED_TRACE(fmt::format("{} elements on a {}", elements, gpu ? "GPU" : "CPU"));
      std::string program = fmt::format("input x: f32[{}]\nid = arange({})\n", elements, elements);
      for (int k = 2; k <= elements; k *= 2)
        for (int j = k / 2; j >= 1; j /= 2)
          program += fmt::format(
              "y = x[id ^ {0}]\nx = where(((id & {0}) == 0) == ((id & {1}) == 0), minimum(x, y), maximum(x, y))\n", j,
              k);
      program += "return x\n";
      const Work work = work_of(program, {}, gpu);
      check(work, program);
      if (!gpu) continue;
      EXPECT_EQ(work.kernels, elements == 64 ? 4u : 6u);
      EXPECT_EQ(work.stored, work.kernels) << program;
    }
}

TEST(Chains, AtRandom) {
  const char* const kLevels[] = {"x = heat(x)",
                                 "x = blur(x)",
                                 "x = turn(x)",
                                 "x = pick(x, i)",
                                 "x = cumsum(x*0.5, axis=1)",
                                 "x = cumsum(x*0.1, axis=0)",
                                 "x = layernorm(x)",
                                 "x = relu(x*1.5 + 0.5)"};
  const char* text = std::getenv("SMELT_RANDOM");
  const int programs = text ? std::max(1, std::atoi(text) / 25) : 4;
  for (int seed = 0; seed < programs; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const bool long_one = seed % 4 == 1, symbolic = !long_one && random() % 2;
    const int levels = long_one ? 100 : 5 + static_cast<int>(random() % 15);
    std::string program = kFunctions;
    program += fmt::format("input x: f32[24, {}]\ninput i: i32[24]\n", symbolic ? "W" : random() % 2 ? "32" : "800");
    for (int k = 0; k < levels; ++k) program += fmt::format("{}\n", kLevels[random() % std::size(kLevels)]);
    program += "return x\n";
    SCOPED_TRACE(fmt::format("seed {}", seed));
    check(work_of(program, {{"W"_size, 1024}}), program);
  }
}

// A cut that the length of a kernel requires says so, and what would change it.
TEST(Chains, SayWhereTheyWereCut) {
  const Graph graph = simplify(lang::parse_program(levels_of("input x: f32[H, W]\n", "x = layernorm(x)", 40), "<cut>"));
  plan::Options options;
  options.sizes = {{"H"_size, 1024}, {"W"_size, 1024}};
  const plan::Plan plan = plan::make_plan(graph, options);
  EXPECT_GT(plan.groups.size(), 1u);
  for (const plan::Decision& d : plan.decisions) {
    if (d.fused) continue;
    EXPECT_NE(d.reason.find("passes over a row, and take long to compile"), std::string::npos) << d.reason;
    EXPECT_EQ(d.remedy, "nothing: a round trip through memory is short compared with so many passes");
  }
}

}  // namespace
}  // namespace smelt
