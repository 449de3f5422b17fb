// Chains of stencils: what is needed at several neighbouring places is kept in rings of rows.
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

namespace smelt::testing {
namespace {

uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Stencils, RandomChainsMatchTheReference) {
  NEEDS_LLVM();
  const bool one = std::getenv("SMELT_SEED");
  const uint64_t first = number_from(one ? "SMELT_SEED" : "SMELT_FIRST", 0);
  const uint64_t programs = one ? 1 : number_from("SMELT_PROGRAMS", device().is_gpu ? 40 : 60);
  int failures = 0;
  Coverage coverage;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = random_stencil_program(seed);
    if (one) fmt::print("{}", describe(program));
    const std::string complaint = check(program, device(), &coverage);
    if (complaint.empty()) continue;
    fmt::print("SMELT_SEED={} is wrong: {}", seed, complaint);  // before it is made shorter, which may take long
    std::fflush(stdout);
    ADD_FAILURE() << "SMELT_SEED=" << seed << "\n" << describe(program) << complaint << shrunk(program, device());
    if (++failures == 5) break;
  }
  fmt::print("{} chains, {} runs, {} kernels ({} with clamped indices), {} elements compared\n", programs,
             coverage.runs, coverage.kernels, coverage.clamped, coverage.elements);
}

const char* kBlurSobel = R"(
p = pad(x, 1)
rows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]
blur = (rows[:-2] + rows[1:-1] + rows[2:]) / 9
b = pad(blur, 1)
across = b[:, 2:] - b[:, :-2]
gx = across[:-2] + 2 * across[1:-1] + across[2:]
along = b[:, :-2] + 2 * b[:, 1:-1] + b[:, 2:]
gy = along[2:] - along[:-2]
edges = relu(sqrt(gx * gx + gy * gy) - 0.05)
)";

TEST(Stencils, BlurAndSobelAreOneKernelThatComputesEveryValueOnce) {
  NEEDS_LLVM();
  const Executable executable = compiled(std::string("input x: f32[600, 700]") + kBlurSobel + "return edges");
  ASSERT_EQ(executable.plan().groups.size(), 1U);
  EXPECT_EQ(executable.plan().groups[0].strategy(), plan::Strategy::Stencil) << executable.plan().groups[0].note();
}

plan::Options of_a_gpu() {
  plan::Options options;
  options.target.gpu = true;
  options.target.device = "cuda";
  options.target.threads = 132;
  options.target.compute = 90;
  return options;
}

// The function of each form in which the only kernel of a program is printed for a GPU. No GPU is
// needed.
std::vector<std::string> printed_for_gpu(const std::string& program, plan::Options options) {
  const Graph graph = simplify(lang::parse_program(program, "<test>"));
  for (const Symbol symbol : graph.size_symbols()) options.sizes[symbol] = 1024;
  const plan::Plan plan = plan::make_plan(graph, options);
  if (plan.groups.size() != 1) return {};
  EXPECT_EQ(plan.groups[0].strategy(), plan::Strategy::Stencil);
  auto made = schedule::make_schedule(graph, plan.groups[0], options);
  const std::string text =
      emit::emit_cuda(kernel::lower(graph, plan.groups[0], std::get<schedule::Schedule>(made), "k0"), {}).text;
  std::vector<std::string> functions;
  for (size_t at = text.find("__global__"); at != std::string::npos;) {
    const size_t next = text.find("__global__", at + 1);
    functions.push_back(text.substr(at, next - at));
    at = next;
  }
  return functions;
}

size_t occurrences(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Stencils, ThreadsOfAWarpHaveWhatTheirNeighboursComputed) {
  for (const char* input : {"input x: f32[600, 700]", "input x: f32[H, W]"}) {
    const auto functions = printed_for_gpu(std::string(input) + kBlurSobel + "return edges", of_a_gpu());
    ASSERT_FALSE(functions.empty()) << input;
    // One word of 16 bytes in and one out; the input's and the blurred image's neighbours, to the
    // left and to the right.
    EXPECT_EQ(occurrences(functions[0], "= *(const Vec<float, 4>*)"), 1U) << functions[0];
    EXPECT_EQ(occurrences(functions[0], ") *(Vec<float, 4>*)"), 1U) << functions[0];
    EXPECT_EQ(occurrences(functions[0], "__shfl_up_sync"), 2U);
    EXPECT_EQ(occurrences(functions[0], "__shfl_down_sync"), 2U);
    EXPECT_EQ(occurrences(functions[0], "square_root("), 4U);
  }
}

// Rows of odd lengths are stored one by one: neighbouring threads have neighbours then.
TEST(Stencils, ColumnsOfAThreadAreApartWhereRowsHaveOddLengths) {
  const auto functions =
      printed_for_gpu(std::string("input x: f32[600, 701]") + kBlurSobel + "return edges", of_a_gpu());
  ASSERT_FALSE(functions.empty());
  EXPECT_EQ(occurrences(functions[0], "Vec<float, 4>*"), 0U) << functions[0];
  // Each of four columns, of the input and of the blurred image, to the left and to the right.
  const size_t results = occurrences(functions[0], "square_root(");
  EXPECT_GE(results, 4U);
  EXPECT_EQ(occurrences(functions[0], ", tw + (-1))"), 2 * results);
  EXPECT_EQ(occurrences(functions[0], ", tw + 1)"), 2 * results);
  // Bytes are not words, of which each is a store of its own.
  const auto of_bytes =
      printed_for_gpu(std::string("input b: u8[600, 701]\nx = f32(b)\n") + kBlurSobel + "return u8(edges)", of_a_gpu());
  for (const std::string& function : of_bytes) EXPECT_EQ(occurrences(function, ", tw + (-1))"), 0U);
}

TEST(Stencils, ADenseWindowIsShuffledOnceARow) {
  const auto functions = printed_for_gpu(
      "input x: f32[512, 512]\np = pad(x, 1)\nm = p[:-2, :-2] + p[:-2, 2:] + p[1:-1, :-2] + p[1:-1, 2:] + p[2:, :-2] + "
      "p[2:, 2:]\n"
      "q = pad(m, 1)\nreturn q[:-2, 1:-1] * q[2:, 1:-1]",
      of_a_gpu());
  ASSERT_FALSE(functions.empty());
  EXPECT_EQ(occurrences(functions[0], "__shfl_up_sync"), 1U) << functions[0];
}

// Planned only: no GPU is needed.
TEST(Stencils, AChainThatRegistersOfAGpuDoNotHoldIsCut) {
  std::string program = "input x: f32[2048, 2048]\nt0 = x\n";
  for (int step = 1; step <= 16; ++step)
    program +=
        fmt::format("p{0} = pad(t{1}, 1)\nt{0} = p{0}[:-2, 1:-1] + p{0}[2:, 1:-1] + p{0}[1:-1, :-2] + p{0}[1:-1, 2:]\n",
                    step, step - 1);
  const Graph graph = simplify(lang::parse_program(program + "return t16", "<test>"));
  plan::Options options = of_a_gpu();
  const plan::Plan plan = plan::make_plan(graph, options);
  EXPECT_GE(plan.groups.size(), 2U);
  EXPECT_LT(plan.groups.size(), 16U);
  options.target.gpu = false;
  options.target.threads = 2;
  EXPECT_EQ(plan::make_plan(graph, options).groups.size(), 1U);
}

// Planned only: no GPU is needed. Tunings whose rings registers do not hold would leave every
// element on its own, with all of its neighbourhood.
TEST(Stencils, CandidatesOfAChainHaveRingsToo) {
  const Program program = random_stencil_program(110000103);  // four windows of up to 4 x 3, of doubles
  plan::Options options = of_a_gpu();
  options.sizes = program.sizes[0];
  const plan::Plan plan = plan::make_plan(simplify(lang::parse_program(program.text(), "<test>")), options);
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].strategy(), plan::Strategy::Stencil) << plan.groups[0].note();
}

TEST(Stencils, AnIntermediateImageMayBeAnOutputToo) {
  NEEDS_LLVM();
  const std::string program = std::string("input x: f32[H, W]") + kBlurSobel + "return blur, edges";
  std::vector<std::vector<TensorView>> calls;
  std::vector<Tensor> images;
  for (const Dims& dims : {Dims{50, 70}, Dims{1, 1}, Dims{1, 40}, Dims{40, 1}, Dims{2, 3}, Dims{0, 5}, Dims{33, 129}})
    images.push_back(noise(DType::F32, dims, 3));
  for (const Tensor& image : images) calls.push_back({image});
  EXPECT_TRUE(right(program, calls));
}

TEST(Stencils, NanSpreadsToItsNeighboursOnly) {
  NEEDS_LLVM();
  const std::string program =
      "input x: f32[64, 64]\np = pad(x, 1)\nm = p[:-2] + p[1:-1] + p[2:]\n"
      "return m[:, :-2] + m[:, 1:-1] + m[:, 2:]";
  Tensor image = filled(DType::F32, {64, 64}, 1);
  static_cast<float*>(image.data)[30 * 64 + 31] = static_cast<float>(kNan);
  static_cast<float*>(image.data)[0] = static_cast<float>(kInf);
  EXPECT_TRUE(right(program, {image}));
}

}  // namespace
}  // namespace smelt::testing
