// Calls as source files.
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include "support/message_of.hpp"
#include "support/programs.hpp"

namespace smelt {
namespace {

using testing::message_of;

TEST(Source, IsWrittenInTheLanguageAskedFor) {
  if (!Device::cpu().usable()) GTEST_SKIP() << Device::cpu().missing();
  const auto f = compile([](Array x, Array g) { return softmax(x) * g; });
  const Array x = Array::from(std::vector<float>(40, 1.f), {2, 20}), g = Array::from(std::vector<float>(20, 2.f));
  SourceOptions options;
  options.name = "my_softmax";
  const std::string cpp = f.source("cpp", x, g, options);
  EXPECT_NE(cpp.find("my_softmax("), std::string::npos) << cpp;
  EXPECT_NE(cpp.find("#include <cmath>"), std::string::npos) << cpp;
  EXPECT_EQ(cpp.find("__global__"), std::string::npos);
  EXPECT_NE(f.source("cpp", x, g).find("smelt_program("), std::string::npos);
  const Program program = compile_text(shared_program("softmax_f32", {"f32[B, C]"}));
  EXPECT_NE(program.source("cpp", {{"x", x}}, options).find("my_softmax("), std::string::npos);
}

TEST(Source, OfAnotherArchitectureNeedsNoGpu) {
  const auto f = compile([](Array x) { return softmax(x); });
  const Array x = Array::from(std::vector<float>(40, 1.f), {2, 20});
  std::string text;
  try {
    text = f.source("sm_90", x);
  } catch (const UserError& e) {
    GTEST_SKIP() << e.what();  // no LLVM or no NVRTC here
  }
  EXPECT_NE(text.find("__global__"), std::string::npos);
  EXPECT_NE(text.find("smelt_program("), std::string::npos);
}

TEST(Source, MistakesAreNamed) {
  if (!Device::cpu().usable()) GTEST_SKIP() << Device::cpu().missing();
  const auto f = compile([](Array x) { return x * 2; });
  const Array x = Array::from({1.f});
  EXPECT_EQ(
      message_of([&] { f.source("fortran", x); }),
      "source(): there is no target \"fortran\"\nhelp: cpp, cuda (for the GPU at hand), sm_90 and the like, or opencl");
  SourceOptions options;
  options.name = "2fast";
  EXPECT_EQ(message_of([&] { f.source("cpp", x, options); }),
            "\"2fast\" cannot be the name of a C function\nhelp: letters, digits and _, no digit first");
}

}  // namespace
}  // namespace smelt
