// The printed forms of whole programs, stage by stage, for one made-up machine: tests/golden/programs/NAME/STAGE.txt.
// SMELT_UPDATE_GOLDENS=1 writes them anew; then read the difference before you commit it.
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
#include "support/symbols.hpp"

namespace smelt {
namespace {

struct Program {
  const char* name;
  const char* text;
  SizeBinding sizes;
  bool gpu = false;
};

const char* kBlurSobel = R"(input x: f32[2000, 3000]
p = pad(x, 1)
rows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]
blur = (rows[:-2] + rows[1:-1] + rows[2:]) / 9
b = pad(blur, 1)
across = b[:, 2:] - b[:, :-2]
gx = across[:-2] + 2 * across[1:-1] + across[2:]
along = b[:, :-2] + 2 * b[:, 1:-1] + b[:, 2:]
gy = along[2:] - along[:-2]
return relu(sqrt(gx * gx + gy * gy) - 0.05)
)";

std::vector<Program> programs() {
  return {
      {"relu_layernorm", "input x: f32[B, C]\nreturn layernorm(relu(x))", {{"B"_size, 4096}, {"C"_size, 1024}}},
      {"quantize_int8", "input x: f32[N]\nreturn int8(clamp(round(x / 4.2 + 1.2), -128, 127))", {{"N"_size, 1000000}}},
      {"add_mul_exp", "input x: f32[N]\ninput y: f32[N]\nreturn exp((x + y) * 2)", {{"N"_size, 1000000}}},
      {"softmax", "input x: f32[B, C]\nreturn softmax(x)", {{"B"_size, 512}, {"C"_size, 300}}},
      {"column_sum", "input x: f32[65536, 2048]\nreturn sum(relu(x), axis=0)", {}},
      {"colour_means", "input x: u8[480, 640, 3]\nreturn mean(f32(x), axis=(0, 1))", {}},
      {"total", "input x: f32[N]\nreturn sqrt(sum(x * x))", {{"N"_size, 10000000}}},
      {"variance", "input x: f32[100, 3]\nreturn var(x, axis=1)", {}},
      {"argmax", "input x: f32[B, 1000]\nreturn argmax(x, axis=-1)", {{"B"_size, 64}}},
      {"transpose_add", "input x: f32[M, N]\ninput y: f32[N, M]\nreturn x.T + y", {{"M"_size, 512}, {"N"_size, 768}}},
      {"concat",
       "input x: f32[A, 8]\ninput y: f32[B, 8]\nreturn concat([x, y], axis=0) * 2",
       {{"A"_size, 10}, {"B"_size, 20}}},
      {"take", "input x: f32[V, 64]\ninput i: i64[N]\nreturn take(x, i, axis=0)", {{"V"_size, 1000}, {"N"_size, 50}}},
      {"segment_sum", "input g: f32[N, 512]\ninput s: i32[N]\nreturn segment_sum(g * 2, s, 1000)", {{"N"_size, 10000}}},
      {"histogram", "input x: f32[N]\nreturn histogram(x, 16, 0, 1)", {{"N"_size, 1000000}}},
      {"two_outputs", "input b: f32[N]\ninput c: f32[N]\na = b + c\nreturn a, a * b", {{"N"_size, 100000}}},
      {"bf16_rmsnorm", "input x: bf16[B, 4096]\ninput w: bf16[4096]\nreturn rmsnorm(x, w)", {{"B"_size, 16}}},
      {"cumsum",
       "input x: f32[B, C]\nreturn cumsum(relu(x) * 2), cumprod(x, axis=-1, exclusive=True, restart=x > 1)",
       {{"B"_size, 512}, {"C"_size, 300}}},
      {"blur_sobel", kBlurSobel, {}},
      {"conv_blocks",
       "input x: f32[B, 2, H, 64]\ninput w: f32[2, 2, 2, 1]\nreturn relu(conv(x, w))",
       {{"B"_size, 64}, {"H"_size, 100}},
       true},
      {"transpose_tiles", "input x: f32[M, N]\nreturn x.T", {{"M"_size, 1000}, {"N"_size, 768}}, true},
      {"standardise", "input x: f32[65536, 64]\nreturn (x - mean(x, axis=0)) / std(x, axis=0)", {}},
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
    EXPECT_EQ(text, read(path)) << path << " differs; SMELT_UPDATE_GOLDENS=1 writes it anew";
  }
}

// Of the helpers in front of a module, each is called, and those that are called are there.
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
