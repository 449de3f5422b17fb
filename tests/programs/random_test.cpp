// Random programs, fused and unfused, against the reference with an error bound for every element.
//   SMELT_SEED=N      runs program N alone, and prints it
//   SMELT_PROGRAMS=N  how many programs (from SMELT_FIRST, default 0), 3000 by default
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "check.hpp"
#include "generator.hpp"
#include "generator_scatter.hpp"
#include "run.hpp"

namespace smelt::testing {
namespace {

uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// In parts that ctest runs side by side, together all of them.
constexpr uint64_t kParts = 12;
using Generate = Program (*)(uint64_t);
class RandomPrograms : public ::testing::TestWithParam<uint64_t> {};

void check_programs(Generate generate, uint64_t part, uint64_t usual) {
  const bool one = std::getenv("SMELT_SEED");
  if (one && part > 0) GTEST_SKIP() << "one program is one part";
  const uint64_t from = one ? number_from("SMELT_SEED", 0) : number_from("SMELT_FIRST", 0);
  const uint64_t all = number_from("SMELT_PROGRAMS", usual);
  const uint64_t first = one ? from : from + all * part / kParts;
  const uint64_t programs = one ? 1 : from + all * (part + 1) / kParts - first;
  int failures = 0;
  Coverage coverage;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = generate(seed);
    if (one) fmt::print("{}", describe(program));
    std::string complaint = check(program, device(), &coverage);
    if (complaint.empty()) continue;
    ADD_FAILURE() << "SMELT_SEED=" << seed << "\n" << describe(program) << complaint << shrunk(program, device());
    if (++failures == 10) break;
  }
  fmt::print(
      "{} programs, {} runs and {} in place, {} kernels ({} with clamped indices), {} elements compared, {} of them "
      "exact, {} "
      "undecidable, slowest to compile: seed {} with {:.0f} ms a kernel\n",
      programs, coverage.runs, coverage.in_place, coverage.kernels, coverage.clamped, coverage.elements, coverage.exact,
      coverage.undecidable, coverage.slowest, coverage.slowest_ms);
}

TEST_P(RandomPrograms, FusedAndUnfusedMatchTheReference) {
  NEEDS_LLVM();
  check_programs(random_program, GetParam(), device().is_gpu ? 250 : 3000);
}

TEST_P(RandomPrograms, WindowsMatchTheReference) {
  NEEDS_LLVM();
  check_programs(random_window_program, GetParam(), device().is_gpu ? 60 : 120);
}

TEST_P(RandomPrograms, FunctionsMatchTheReference) {
  NEEDS_LLVM();
  check_programs(random_function_program, GetParam(), device().is_gpu ? 60 : 120);
}

TEST_P(RandomPrograms, ProductsMatchTheReference) {
  NEEDS_LLVM();
  check_programs(random_product_program, GetParam(), device().is_gpu ? 60 : 240);
}

TEST_P(RandomPrograms, ScattersMatchTheReference) {
  NEEDS_LLVM();
  check_programs(random_scatter_program, GetParam(), 120);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomPrograms, ::testing::Range(uint64_t{0}, kParts));

TEST(RandomProgramsThemselves, TheSameSeedIsTheSameProgram) {
  EXPECT_EQ(random_program(7).text(), random_program(7).text());
  EXPECT_NE(random_program(7).text(), random_program(8).text());
}

}  // namespace
}  // namespace smelt::testing
