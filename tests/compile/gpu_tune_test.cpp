// Kernels that are made again with other schedules: because they spill, or because others were
// measured to be faster. The driver is the stand-in, which says what spills and how long launches
// take.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "compile/gpu_kernel.hpp"
#include "frontends/language.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/programs.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kOutOfMemory = 2;  // as the driver says it

class Retuned : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_ = &fresh_fake();
    std::string name = (std::filesystem::temp_directory_path() / "smelt-tune-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    const Variable driver("SMELT_CUDA", SMELT_FAKE_CUDA), nvrtc("SMELT_NVRTC", SMELT_FAKE_CUDA);
    const Variable cache("SMELT_CACHE_DIR", folder_ + "/cache");
    device_ = Machine::cuda();
    ASSERT_TRUE(device_.compiles()) << device_.missing;
  }
  void TearDown() override {
    if (!fake_) return;  // its library is not there
    device_ = {};
    EXPECT_EQ(fake_->fault, "");
    EXPECT_TRUE(fake_->blocks.empty()) << "memory of the GPU was not given back";
    EXPECT_EQ(fake_->events, 0);
    EXPECT_EQ(fake_->modules, 0);
    std::filesystem::remove_all(folder_);
  }
  Executable compiled(const std::string& program, const SizeBinding& sizes, bool tune = false) {
    CompileOptions options;
    options.sizes = sizes;
    options.tune = tune;
    return compile(lang::parse_program(program, "<test>"), device_, options);
  }
  int most_threads(const Executable& e, const SizeBinding& sizes) {
    int most = 0;
    for (const BuiltFunction& f : e.built(sizes)) most = std::max(most, f.threads);
    return most;
  }
  std::string folder_;
  fake_cuda::State* fake_ = nullptr;
  Machine device_;
};

// Sums of a row of x, each of another function of it, from number `first` on.
std::string many_sums(int count) {
  std::string text = "input x: f32[B, 65536]\nreturn ";
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}sum(x * {}.5 if x > {}.25 else -x, axis=1)", i ? ", " : "", i + 2, i);
  return text;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST_F(Retuned, WhatSpillsTakesALighterSchedule) {
  const SizeBinding sizes = {{"B"_size, 64}};
  EXPECT_GT(most_threads(compiled(many_sums(4), sizes), sizes), 256);
  // As NVRTC does: a workgroup of many threads leaves few registers to each.
  fake_->attribute_of = [](const std::string& attribute, const std::string& image) {
    return attribute == "local" ? (has(image, "__launch_bounds__(256)") ? 0 : 944) : -1;
  };
  const Executable e = compiled(many_sums(4), sizes);
  ASSERT_EQ(e.plan().groups.size(), 1u);
  EXPECT_THAT(e.plan().groups[0].rebuilt, HasSubstr("it spills 944 bytes per thread; with 256 threads"));
  EXPECT_THAT(e.plan().groups[0].rebuilt, HasSubstr("it does not"));
  EXPECT_EQ(e.plan().groups[0].tuning.threads, 256);
  EXPECT_EQ(most_threads(e, sizes), 256);
  for (const BuiltFunction& f : e.built(sizes)) EXPECT_EQ(f.facts.local_bytes, 0);
}

TEST_F(Retuned, ASpillThatNoScheduleEndsStays) {
  fake_->attributes = {{"local", 16}};
  const Executable e = compiled("input x: f32[N]\nreturn exp(x) * 2", {{"N"_size, 1 << 20}});
  ASSERT_EQ(e.plan().groups.size(), 1u);
  EXPECT_EQ(e.plan().groups[0].rebuilt, "");
}

TEST_F(Retuned, ASpillStaysWhereThereIsNoMemoryForOthers) {
  // The first kernel is loaded when its attributes are asked for; nothing else can be.
  fake_->attribute_of = [this](const std::string& attribute, const std::string&) {
    fake_->failures = {{"cuModuleLoadDataEx", kOutOfMemory}};
    return attribute == "local" ? 40000 : -1;
  };
  const Executable e = compiled("input x: f32[N]\nreturn exp(x) * 2", {{"N"_size, 1 << 20}});
  EXPECT_GT(fake_->calls["cuModuleLoadDataEx"], 1) << "no other was tried";
  EXPECT_EQ(fake_->modules, 1);
  EXPECT_EQ(e.plan().groups[0].rebuilt, "");
}

// Fewer results to a thread would end the spill, and take twice as long.
TEST_F(Retuned, ASpillThatCostsLessThanItsRemedyStays) {
  const std::string program =
      "input x: f32[N, 32]\ninput y: f32[N, 32]\nreturn sum(abs(x[:, None, :] - y[None, :, :]), axis=-1)";
  const auto block = [](const Executable& e) { return e.plan().groups[0].schedule->blocking->block; };
  const std::vector<int64_t> chosen = block(compiled(program, {{"N"_size, 2048}}));
  int bytes = 8;
  fake_->attribute_of = [&](const std::string& attribute, const std::string& image) {
    return attribute == "local" && has(image, "v16") ? bytes : attribute == "local" ? 0 : -1;
  };
  const Executable e = compiled(program, {{"N"_size, 2048}});
  EXPECT_EQ(e.plan().groups[0].rebuilt, "");
  EXPECT_EQ(block(e), chosen);
  bytes = 4000000;
  EXPECT_THAT(compiled(program, {{"N"_size, 2048}}).plan().groups[0].rebuilt, HasSubstr("spills 4000000 bytes"));
}

TEST_F(Retuned, WhatSpillsAllTheSameIsSplit) {
  // Longer kernels have more values alive.
  fake_->attribute_of = [](const std::string& attribute, const std::string& image) {
    int stores = 0;  // of the longest function
    for (size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
      to = image.find("\n}\n", from);
      const auto end = to == std::string::npos ? image.end() : image.begin() + static_cast<std::ptrdiff_t>(to);
      stores =
          std::max(stores, static_cast<int>(std::count(image.begin() + static_cast<std::ptrdiff_t>(from), end, '=')));
    }
    return attribute == "local" ? std::max(0, stores - 400) : -1;
  };
  const SizeBinding sizes = {{"B"_size, 4096}};
  const int few = static_cast<int>(compiled(many_sums(4), sizes).plan().groups.size());
  EXPECT_EQ(few, 1);
  const Executable e = compiled(many_sums(60), sizes);
  // Two kernels, or one launch of both.
  EXPECT_GT(e.plan().groups.size() + e.plan().groups[0].parts.size(), 1u);
  fake_->attribute_of = nullptr;
  fake_->attributes = {{"local", 500}};
  EXPECT_EQ(compiled(many_sums(60), sizes).plan().groups.size(), 1u) << "two kernels that spill as much are no better";
}

TEST_F(Retuned, TheDecisionOfASplitSaysSo) {
  fake_->attribute_of = [](const std::string& attribute, const std::string& image) {
    return attribute == "local" ? (has(image, "sinh") || image.size() > 20000 ? 4000 : 0) : -1;
  };
  std::string text = "input x: f32[N]\n";
  std::string last = "x";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("v{} = {} * {}.5 + {}\n", i, last, i + 1, i ? fmt::format("v{}", i - 1) : "x");
    last = fmt::format("exp(v{})", i);
  }
  const Executable e = compiled(text + "return " + last, {{"N"_size, 1 << 20}});
  ASSERT_GT(e.plan().groups.size(), 1u);
  bool said = false;
  for (const plan::Decision& d : e.plan().decisions)
    said = said || (!d.fused && has(d.reason, "built as one kernel they spill 4000 bytes per thread"));
  EXPECT_TRUE(said);
}

constexpr const char* kScaled = "input x: f32[N]\nreturn x * 2 + 1";

TEST_F(Retuned, TuningTakesTheFastestAndRemembersIt) {
  fake_->ms_of = [](const fake_cuda::Launch& l) { return l.block == 128 ? 1.0 : 2.0; };
  const SizeBinding sizes = {{"N"_size, 1 << 20}};
  EXPECT_EQ(most_threads(compiled(kScaled, sizes), sizes), 256);
  const Executable tuned = compiled(kScaled, sizes, true);
  EXPECT_EQ(most_threads(tuned, sizes), 128);
  EXPECT_THAT(tuned.plan().groups[0].rebuilt, HasSubstr("tuned: 1000.0 us with 128 threads"));
  EXPECT_FALSE(fake_->launches.empty());
  const Executable later = compiled(kScaled, sizes);
  EXPECT_EQ(most_threads(later, sizes), 128) << "remembered";
  EXPECT_THAT(later.plan().groups[0].rebuilt, HasSubstr("as it was tuned: 128 threads"));
  EXPECT_EQ(most_threads(compiled(kScaled, {{"N"_size, (1 << 20) + 5}}), sizes), 128) << "about as large";
  EXPECT_EQ(most_threads(compiled(kScaled, {{"N"_size, 1 << 23}}), sizes), 256) << "another size";
  // Measured again, with the first schedule ahead.
  fake_->ms_of = [](const fake_cuda::Launch& l) { return l.block == 256 ? 1.0 : 2.0; };
  EXPECT_THAT(compiled(kScaled, sizes, true).plan().groups[0].rebuilt, HasSubstr("the schedule stays"));
  EXPECT_EQ(most_threads(compiled(kScaled, sizes), sizes), 256);
}

TEST_F(Retuned, TuningRunsProgramsOfSeveralKernelsAndOfEveryStrategy) {
  fake_->ms_of = [](const fake_cuda::Launch&) { return 1.0; };
  const SizeBinding sizes = {{"B"_size, 512}};
  for (const char* program : {"input x: f32[B, 1000]\nreturn softmax(x), sum(x, axis=0), x * 2",
                              "input x: f32[B, 512]\ninput y: f32[512, B]\nreturn x.T + y",
                              "input x: bf16[B, 5000]\ninput i: i64[B]\nreturn sum(x, axis=1), take(x, i, axis=0)",
                              "input x: f32[B, 1000]\ninput s: f32\nreturn sum(x * s)"}) {
    const Executable e = compiled(program, sizes, true);
    for (const plan::FusionGroup& group : e.plan().groups)
      EXPECT_THAT(group.rebuilt, HasSubstr("the schedule stays")) << program;
  }
}

// The GPU lacks memory for what timing needs: the reason has a line of its own, and that of the
// spill stays.
TEST_F(Retuned, WhatTheMachineLacksEndsTuning) {
  const SizeBinding sizes = {{"B"_size, 64}};
  fake_->attribute_of = [](const std::string& attribute, const std::string& image) {
    return attribute == "local" ? (has(image, "__launch_bounds__(256)") ? 0 : 944) : -1;
  };
  for (const char* function : {"cuEventCreate", "cuEventRecord"}) {
    fake_->failures = {{function, kOutOfMemory}};
    const Executable e = compiled(many_sums(4), sizes, true);
    EXPECT_GT(fake_->calls[function], 0);
    ASSERT_EQ(e.plan().groups.size(), 1u);
    EXPECT_THAT(e.plan().groups[0].untuned, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY")) << function;
    EXPECT_THAT(e.plan().groups[0].untuned, Not(HasSubstr("\n"))) << function;
    EXPECT_THAT(e.plan().groups[0].rebuilt, HasSubstr("it spills 944 bytes per thread")) << function;
    fake_->failures.clear();
  }
  const Executable tuned = compiled(many_sums(4), sizes, true);
  EXPECT_EQ(tuned.plan().groups[0].untuned, "");
  EXPECT_THAT(tuned.plan().groups[0].rebuilt, HasSubstr("it spills 944 bytes per thread"));
  EXPECT_THAT(tuned.plan().groups[0].rebuilt, HasSubstr("; tuned: "));
}

// Some candidates cannot be launched with the threads that they need: the others are timed.
TEST_F(Retuned, CandidatesThatCannotBeBuiltAreCounted) {
  const SizeBinding sizes = {{"N"_size, 1 << 20}};
  fake_->ms_of = [](const fake_cuda::Launch&) { return 1.0; };
  compiled(kScaled, sizes);
  fake_->attribute_of = [](const std::string& attribute, const std::string& image) {
    return attribute == "threads" && has(image, "__launch_bounds__(128)") ? 64 : -1;
  };
  const Executable e = compiled(kScaled, sizes, true);
  EXPECT_THAT(e.plan().groups[0].rebuilt, HasSubstr(" could not be built"));
  EXPECT_EQ(most_threads(e, sizes), 256);
}

// All of them, of two products whose factors are computed from bytes on the way to shared memory.
TEST(Schedules, OthersFitTheMemoryOfAWorkgroup) {
  constexpr int64_t kMostShared = 227 << 10;
  Executable::State state;
  state.graph = simplify(lang::parse_program(
      "input x: bf16[4, 4096]\ninput v: i8[11008, 4096]\ninput w: i8[11008, 4096]\ninput s: bf16[11008]\n"
      "return silu(linear(x, bf16(v)) * s) * linear(x, bf16(w))\n",
      "<test>"));
  state.device = Machine::cuda_architecture(90);
  plan::Options target;
  target.target = {"cuda", true, 132, 256, 0, 50 << 20, 0, 90, kMostShared, true};
  state.plan = plan::make_plan(state.graph, target);
  state.threads = 132;
  state.target = target;
  ASSERT_EQ(state.plan.groups.size(), 1U);
  const std::vector<schedule::Candidate> others = candidates_of(state, 0);
  EXPECT_GT(others.size(), 60U);
  for (const schedule::Candidate& c : others)
    for (const GpuPhase& phase : make_kernel(state, 0, *c.schedule).phases)
      for (const auto& variant : phase.variants)
        EXPECT_LE(variant->emitted().shared_bytes.constant().value_or(0), kMostShared) << c.schedule->note;
}

// What may be tried must compile: by the real NVRTC, where there is one.
TEST(Schedules, OthersCompileToo) {
  const Variable cache("SMELT_CACHE_DIR", "off");
  std::string why;
  Machine device = Machine::cuda_architecture(90);
  device.nvrtc = open_nvrtc(why);
  if (!device.nvrtc) GTEST_SKIP() << why;
  for (const std::string& program :
       {shared_program("softmax_bf16", {"bf16[1024, 4096]"}), shared_program("relu_layernorm", {"f32[256, 131072]"}),
        shared_program("softmax_f32", {"f32[4096, 50257]"}), shared_program("l2norm", {"f32[N]"}),
        shared_program("transpose_add", {"f32[4096, B]", "f32[B, 4096]"}),
        std::string("input x: f32[B, 1000]\nreturn sum(x, axis=0)"),
        std::string("input x: f32[B, 1001]\np = pad(exp(x), 1)\nb = p[:-2, 1:-1] + p[2:, 1:-1] + x\nq = pad(b, 1)\n"
                    "return q[1:-1, 2:] - q[1:-1, :-2]")}) {
    CompileOptions options;
    options.sizes = {{"N"_size, int64_t{1} << 26}, {"B"_size, 4096}};
    Executable::State state;
    state.graph = simplify(lang::parse_program(program, "<test>"));
    state.device = device;
    plan::Options target;
    target.target = {"cuda", true, 132, 256, 0, 50 << 20, 0, 90, 227 << 10, true};
    target.sizes = options.sizes;
    state.plan = plan::make_plan(state.graph, target);
    state.threads = 132;
    state.target = target;
    for (size_t k = 0; k < state.plan.groups.size(); ++k)
      for (const std::vector<schedule::Candidate>& others :
           {lighter_schedules(state, k, true), other_schedules(state, k)}) {
        const std::vector<std::optional<GpuKernel>> made = try_kernels(state, k, others);
        for (size_t a = 0; a < made.size(); ++a)
          EXPECT_TRUE(made[a]) << program << ": " << schedule::form_of(*others[a].schedule);
      }
  }
}

// What could have been, as `smelt explain --candidates --measure` shows it.
TEST_F(Retuned, EveryCandidateIsPredictedAndMeasured) {
  const SizeBinding sizes{{"N"_size, int64_t{1} << 20}};
  const Executable e = compiled("input x: f32[N]\nreturn exp(x)", sizes);
  const std::vector<std::vector<Considered>> without = e.considered(sizes, false), with = e.considered(sizes, true);
  ASSERT_EQ(without.size(), 1U);
  ASSERT_GT(without[0].size(), 3U);
  EXPECT_TRUE(without[0][0].chosen) << "the family's own choice comes first";
  EXPECT_EQ(std::count_if(without[0].begin(), without[0].end(), [](const Considered& c) { return c.chosen; }), 1);
  for (const Considered& c : without[0]) {
    EXPECT_GT(c.candidate.cost.us, 0);
    EXPECT_EQ(c.measured_ms, -1);
  }
  ASSERT_EQ(with[0].size(), without[0].size());
  for (const Considered& c : with[0]) EXPECT_GE(c.measured_ms, 0) << schedule::form_of(*c.candidate.schedule);
}

}  // namespace
}  // namespace smelt::testing
