// Machine code with the lines of the source that it comes from.
#include "compile/located.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "frontends/language.hpp"
#include "support/fake_cuda/open.hpp"

namespace smelt::testing {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Each one kernel.
constexpr const char* kPrograms[] = {
    "input x: f32[64, 256]\nreturn layernorm(relu(x))\n", "input x: f32[10000]\nreturn exp(x) + 1, i8(x)\n",
    "input x: f32[64, 256]\nreturn cumsum(x, axis=1)\n", "input x: f32[128, 200]\nreturn exp(x).T * 2\n"};

// For each line the source's; those that compute are nearly all from somewhere, and an instruction
// is from one that is like it.
void check_lines(const Machine& machine, const std::string& program, const std::string& instruction,
                 const std::string& from) {
  SCOPED_TRACE(program);
  const Executable executable = compile(lang::parse_program(program, "lines.smelt"), machine);
  const CodeLines code = executable.code_lines();
  const std::vector<std::string> source = lines_of(executable.dump("source")), lines = lines_of(code.text);
  ASSERT_EQ(code.lines.size(), lines.size());
  size_t instructions = 0, located = 0;
  for (size_t n = 0; n < lines.size(); ++n) {
    ASSERT_LE(code.lines[n], static_cast<int>(source.size()));
    if (lines[n].empty() || lines[n][0] != '\t' || lines[n][1] == '.') continue;
    ++instructions;
    if (code.lines[n] == 0) continue;
    ++located;
    if (lines[n].find(instruction) != std::string::npos)
      EXPECT_NE(source[static_cast<size_t>(code.lines[n]) - 1].find(from), std::string::npos)
          << lines[n] << " from " << source[static_cast<size_t>(code.lines[n]) - 1];
  }
  EXPECT_GT(instructions, 10u);
  EXPECT_GT(located, instructions / 2);
}

// Lines count through the sources of several kernels.
void check_several(const Machine& machine) {
  const Executable executable = compile(
      lang::parse_program("input x: f32[640, 256]\nreturn cumsum(softmax(x).T, axis=1)\n", "lines.smelt"), machine);
  ASSERT_GT(executable.kernels().size(), 1u);
  const CodeLines code = executable.code_lines();
  const std::vector<std::string> source = lines_of(executable.dump("source"));
  size_t second = 0;
  while (source[second].find("k1_p0") == std::string::npos) ++second;
  EXPECT_GT(*std::max_element(code.lines.begin(), code.lines.end()), static_cast<int>(second));
}

// The same lines, some with a comment that names the operation of the program.
TEST(Located, CommentsSayWhichOperationALineIsOf) {
  const Machine machine = Machine::cpu();
  if (!machine.compiles()) GTEST_SKIP() << machine.missing;
  const Executable executable = compile(lang::parse_program(kPrograms[0], "lines.smelt"), machine);
  for (const auto& [stage, sign] : {std::pair("source", "  ; "), std::pair("kernel", "  # ")}) {
    const std::vector<std::string> plain = lines_of(executable.dump(stage)),
                                   noted = lines_of(executable.annotated(stage));
    ASSERT_EQ(plain.size(), noted.size()) << stage;
    std::string notes;
    for (size_t n = 0; n < plain.size(); ++n) {
      ASSERT_EQ(noted[n].substr(0, plain[n].size()), plain[n]) << stage;
      notes += noted[n].substr(plain[n].size());
    }
    EXPECT_NE(notes.find(std::string(sign) + "relu, line 2"), std::string::npos) << stage << ": " << notes;
    EXPECT_NE(notes.find("layernorm, line 2"), std::string::npos) << stage;
  }
}

TEST(Located, AssemblyIsThatWhichRuns) {
  const Machine machine = Machine::cpu();
  if (!machine.compiles()) GTEST_SKIP() << machine.missing;
  for (const char* program : kPrograms) {
    const Executable executable = compile(lang::parse_program(program, "lines.smelt"), machine);
    const std::string source = executable.dump("source");
    EXPECT_EQ(without_locations(machine.llvm->assembly(with_locations(source))).text,
              without_locations(machine.llvm->assembly(source)).text);
    check_lines(machine, program, "vsqrt", "sqrt");
  }
  check_several(machine);
}

TEST(Located, PtxIsThatWhichRuns) {
  std::string why;
  Machine machine = Machine::cuda_architecture(90);
  machine.nvrtc = open_nvrtc(why);
  if (!machine.nvrtc) GTEST_SKIP() << "no NVRTC here: " << why;
  for (const char* program : kPrograms) {
    const Executable executable = compile(lang::parse_program(program, "lines.smelt"), machine);
    const std::string source = executable.dump("source");
    runtime::NvrtcOptions with_lines;
    with_lines.lines = true;
    EXPECT_EQ(without_locations(machine.nvrtc->ptx(source, 90, with_lines)).text,
              without_locations(machine.nvrtc->ptx(source, 90)).text);
    check_lines(machine, program, "ex2.approx", "power_of_two");
  }
  check_several(machine);
}

}  // namespace
}  // namespace smelt::testing
