// The printed forms of whole programs, stage by stage, for one made-up machine:
// tests/golden/programs/NAME/STAGE.txt. SMELT_UPDATE_GOLDENS=1 updates them; read the difference
// before you commit it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "emit/cuda_text.hpp"
#include "emit/llvm.hpp"
#include "emit/opencl.hpp"
#include "frontends/language.hpp"
#include "kernel/lower.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "support/prelude_calls.hpp"
#include "support/programs.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

struct Program {
  const char* name;
  std::string text;
  SizeBinding sizes;
  bool gpu = false;
};

std::vector<Program> programs() {
  return {
      {"relu_layernorm", shared_program("relu_layernorm", {"f32[B, C]"}), {{"B"_size, 4096}, {"C"_size, 1024}}},
      {"quantize_int8", shared_program("quantize_int8", {"f32[N]"}), {{"N"_size, 1000000}}},
      {"add_mul_exp", shared_program("add_mul_exp", {"f32[N]", "f32[N]"}), {{"N"_size, 1000000}}},
      {"softmax", shared_program("softmax_f32", {"f32[B, C]"}), {{"B"_size, 512}, {"C"_size, 300}}},
      {"column_sum", shared_program("colsum", {"f32[65536, 2048]"}), {}},
      {"colour_means", shared_program("colour_means"), {}},
      {"total", shared_program("l2norm", {"f32[N]"}), {{"N"_size, 10000000}}},
      {"variance", shared_program("variance"), {}},
      {"argmax", shared_program("argmax"), {{"B"_size, 64}}},
      {"transpose_add",
       shared_program("transpose_add", {"f32[M, N]", "f32[N, M]"}),
       {{"M"_size, 512}, {"N"_size, 768}}},
      {"concat", shared_program("concat"), {{"A"_size, 10}, {"B"_size, 20}}},
      {"take", shared_program("take"), {{"V"_size, 1000}, {"N"_size, 50}}},
      {"segment_sum", shared_program("segment_sum"), {{"N"_size, 10000}}},
      {"histogram", shared_program("histogram"), {{"N"_size, 1000000}}},
      {"two_outputs", shared_program("two_outputs"), {{"N"_size, 100000}}},
      {"bf16_rmsnorm", shared_program("rmsnorm", {"bf16[B, 4096]", "bf16[4096]"}), {{"B"_size, 16}}},
      {"cumsum", shared_program("scans_along_rows"), {{"B"_size, 512}, {"C"_size, 300}}},
      {"blur_sobel", shared_program("blur_sobel", {"f32[2000, 3000]"}), {}},
      {"conv_blocks", shared_program("conv_blocks"), {{"B"_size, 64}, {"H"_size, 100}}, true},
      {"transpose_tiles", shared_program("transpose_tiles"), {{"M"_size, 1000}, {"N"_size, 768}}, true},
      {"standardise", shared_program("standardise"), {}},
  };
}

using Stages = std::map<std::string, std::string>;

Stages print_stages(const Program& program) {
  Stages stages;
  const Graph graph = simplify(lang::parse_program(program.text, "<golden>"));
  stages["graph"] = print(graph);
  plan::Options options;
  options.target.threads = 2;
  options.target.vector_bits = 256;
  options.target.gpu = program.gpu;
  options.sizes = program.sizes;
  const plan::Plan plan = plan::make_plan(graph, options);
  stages["plan"] = plan::print(graph, plan);
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    auto made = schedule::make_schedule(graph, plan.groups[g], options);
    const kernel::Kernel kernel =
        kernel::lower(graph, plan.groups[g], std::get<schedule::Schedule>(made), fmt::format("k{}", g));
    kernel::verify(kernel);
    stages["kernel"] += kernel::print(kernel);
    if (!program.gpu) {
      stages["source"] += emit::emit_llvm(kernel, {"x86_64-pc-linux-gnu", 19, 256});
      continue;
    }
    const std::string source = emit::emit_cuda(kernel, {}).text;
    const size_t fast = source.find("extern \"C\" __global__");
    stages["source"] += source.substr(fast, source.find("extern \"C\" __global__", fast + 1) - fast);
  }
  return stages;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class Golden : public testing::TestWithParam<Program> {};

TEST_P(Golden, Stages) {
  const std::filesystem::path folder =
      std::filesystem::path(SMELT_SOURCE_DIR) / "tests" / "golden" / "programs" / GetParam().name;
  const bool update = std::getenv("SMELT_UPDATE_GOLDENS") != nullptr;
  if (update) std::filesystem::create_directories(folder);
  for (const auto& [stage, text] : print_stages(GetParam())) {
    const auto path = folder / (stage + ".txt");
    if (update) std::ofstream(path) << text;
    EXPECT_EQ(text, read(path)) << path << " differs; SMELT_UPDATE_GOLDENS=1 updates it";
  }
}

// Each helper in front of a module is called, and every helper that is called is there.
void expect_helpers(const std::string& text, const emit::HelperList& helpers) {
  for (const emit::Definition& helper : helpers) {
    if (helper.always) continue;
    std::string rest = text;
    bool printed = false;
    for (const emit::Definition& overload : helpers) {
      const size_t at = overload.names == helper.names ? rest.find(overload.text + "\n") : std::string::npos;
      if (at == std::string::npos) continue;
      rest.erase(at, overload.text.size());
      printed = printed || &overload == &helper;
    }
    EXPECT_EQ(printed, test::calls_helper(rest, helper.names[0])) << helper.names[0] << " in\n" << text;
  }
}

TEST_P(Golden, HelpersAreThoseThatAreCalled) {
  const Graph graph = simplify(lang::parse_program(GetParam().text, "<golden>"));
  for (const bool plain : {false, true}) {
    plan::Options options;
    options.target.gpu = true;
    options.target.plain = plain;
    options.sizes = GetParam().sizes;
    const plan::Plan plan = plan::make_plan(graph, options);
    for (size_t g = 0; g < plan.groups.size(); ++g) {
      auto made = schedule::make_schedule(graph, plan.groups[g], options);
      const kernel::Kernel kernel =
          kernel::lower(graph, plan.groups[g], std::get<schedule::Schedule>(made), fmt::format("k{}", g));
      if (plain) {
        expect_helpers(emit::emit_opencl(kernel, {}).text, emit::opencl_helpers(kernel, {}));
        continue;
      }
      for (const int compute : {75, 90})
        expect_helpers(emit::emit_cuda(kernel, {compute}).text, emit::cuda::helpers(kernel, {compute}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Golden, testing::ValuesIn(programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace smelt
