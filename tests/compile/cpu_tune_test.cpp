// Other schedules on a CPU: that they are measured, taken and remembered, and that the first one
// stays where nothing is faster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "compile/cpu_build.hpp"
#include "frontends/language.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// An LLVM that counts what it compiles, and throws what the test wants for some texts.
class WatchedLlvm final : public runtime::Llvm {
 public:
  explicit WatchedLlvm(std::shared_ptr<runtime::Llvm> llvm) : llvm_(std::move(llvm)) {}
  int version() const override { return llvm_->version(); }
  std::string version_text() const override { return llvm_->version_text(); }
  std::string path() const override { return llvm_->path(); }
  std::string triple() const override { return llvm_->triple(); }
  std::string cpu_name() const override { return llvm_->cpu_name(); }
  const std::string& identity() const override { return llvm_->identity(); }
  std::string compile(const std::string& text) override {
    {
      const std::lock_guard lock(mutex_);
      compiled.push_back(text);
      if (before) before(text);
    }
    return llvm_->compile(text);
  }
  std::string assembly(const std::string& text) override { return llvm_->assembly(text); }

  std::function<void(const std::string& text)> before;  // one call at a time
  std::vector<std::string> compiled;

 private:
  std::shared_ptr<runtime::Llvm> llvm_;
  std::mutex mutex_;
};

class TunedOnCpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "smelt-tune-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    const Variable cache("SMELT_CACHE_DIR", folder_ + "/cache");
    device_ = Machine::cpu();
    if (!device_.compiles()) GTEST_SKIP() << device_.missing;
  }
  void TearDown() override {
    device_ = {};
    std::filesystem::remove_all(folder_);
  }
  Executable compiled(const std::string& program, bool tune, const plan::Tuning& tuning = {}) {
    CompileOptions options;
    options.sizes = {{"N"_size, 512}};
    options.threads = 2;
    options.tune = tune;
    options.tuning = tuning;
    return compile(lang::parse_program(program, "<test>"), device_, options);
  }
  WatchedLlvm& watched() {
    const auto llvm = std::make_shared<WatchedLlvm>(device_.llvm);
    device_.llvm = llvm;
    return *llvm;
  }
  std::string folder_;
  Machine device_;
};

// Nothing waits for memory, so that four lanes a step take several times as long as all that a step
// could have.
constexpr const char* kSlowWithFourLanes = "input x: f32[N, 128]\nreturn tanh(exp(sin(x)))";

TEST_F(TunedOnCpu, TheFastestIsTakenAndRemembered) {
  const plan::Tuning slow{.lanes = 4, .merged = true};
  const std::string before = schedule::form_of(*compiled(kSlowWithFourLanes, false, slow).plan().groups[0].schedule);
  const Executable tuned = compiled(kSlowWithFourLanes, true, slow);
  const plan::FusionGroup& group = tuned.plan().groups[0];
  EXPECT_THAT(group.rebuilt, HasSubstr("others were tried"));
  EXPECT_NE(schedule::form_of(*group.schedule), before);
  // The first schedule's kernel says which it was, so that one with the same first schedule finds
  // it.
  const Executable later = compiled(kSlowWithFourLanes, false, slow);
  EXPECT_THAT(later.plan().groups[0].rebuilt, StartsWith("as it was tuned: "));
  EXPECT_EQ(schedule::form_of(*later.plan().groups[0].schedule), schedule::form_of(*group.schedule));
  Tensor x = Tensor::empty(DType::F32, {512, 128});
  for (int64_t i = 0; i < x.count(); ++i) static_cast<float*>(x.data)[i] = static_cast<float>(i % 1000) / 500 - 1;
  const std::vector<Tensor> expected = interpret(later.graph(), {x});
  for (const Executable* e : {&tuned, &later}) {
    const std::vector<Tensor> got = e->run({x});
    for (int64_t i = 0; i < x.count(); ++i)
      ASSERT_FLOAT_EQ(static_cast<float*>(got[0].data)[i],
                      static_cast<float>(static_cast<double*>(expected[0].data)[i]))
          << i;
  }
}

TEST_F(TunedOnCpu, ProgramsOfSeveralKernelsAndOfEveryFamily) {
  for (const char* program :
       {"input x: f32[N, 1000]\nreturn softmax(x), sum(x, axis=0), transpose(x) * 2",
        "input x: f32[N, 300]\ninput i: i64[N]\nreturn scatter_add(x, clip(i, 0, N - 1), x), take(x, i, axis=0)",
        "input x: f32[N, 300]\ndef s(u): return u[1:-1] + u[2:] + u[:-2]\n"
        "return s(s(x)), cumsum(x, axis=1), concat([x, x * 2], axis=1)"}) {
    const Executable tuned = compiled(program, true);
    for (size_t k = 0; k < tuned.plan().groups.size(); ++k)
      if (tuned.plan().groups[k].parts.empty()) {
        EXPECT_THAT(tuned.plan().groups[k].rebuilt, HasSubstr("others were tried")) << program << k;
      }
  }
}

TEST_F(TunedOnCpu, EveryCandidateIsPredictedAndMeasured) {
  const SizeBinding sizes{{"N"_size, 512}};
  const Executable e = compiled("input x: f32[N, 1000]\nreturn softmax(x)", false);
  const std::vector<std::vector<Considered>> without = e.considered(sizes, false), with = e.considered(sizes, true);
  ASSERT_EQ(without.size(), 1U);
  ASSERT_GT(without[0].size(), 2U);
  EXPECT_TRUE(without[0][0].chosen) << "the family's own choice comes first";
  EXPECT_EQ(std::count_if(without[0].begin(), without[0].end(), [](const Considered& c) { return c.chosen; }), 1);
  for (const Considered& c : without[0]) {
    EXPECT_GT(c.candidate.cost.us, 0);
    EXPECT_EQ(c.measured_ms, -1);
  }
  ASSERT_EQ(with[0].size(), without[0].size());
  for (const Considered& c : with[0]) EXPECT_GT(c.measured_ms, 0) << schedule::form_of(*c.candidate.schedule);
}

// Kernels that are alike are measured once, and all of them get what is fastest.
TEST_F(TunedOnCpu, AlikeKernelsStayAlike) {
  const Executable e = compiled(
      "input x: f32[N, 400]\ninput y: f32[N, 400]\n"
      "a = x - mean(x, axis=0, keepdims=True)\nb = y - mean(y, axis=0, keepdims=True)\n"
      "return softmax(a), softmax(b)",
      true);
  for (const plan::FusionGroup& group : e.plan().groups) {
    if (!group.parts.empty()) continue;
    EXPECT_THAT(group.rebuilt, HasSubstr("tuned: "));
  }
  std::vector<Tensor> inputs;
  for (int n = 0; n < 2; ++n) {
    inputs.push_back(Tensor::empty(DType::F32, {100, 400}));
    for (int64_t i = 0; i < inputs[0].count(); ++i)
      static_cast<float*>(inputs.back().data)[i] = static_cast<float>((i + n) % 1000) / 500 - 1;
  }
  const std::vector<TensorView> views(inputs.begin(), inputs.end());
  const std::vector<Tensor> got = e.run(views), expected = interpret(e.graph(), views);
  for (size_t o = 0; o < 2; ++o)
    for (int64_t i = 0; i < inputs[0].count(); ++i)
      ASSERT_NEAR(static_cast<float*>(got[o].data)[i], static_cast<double*>(expected[o].data)[i], 1e-7) << o << i;
}

// Indices of a program's own making may be outside for the data that tuning makes up: then nothing
// is tuned, and nothing fails.
TEST_F(TunedOnCpu, IndicesOutsideOfMadeUpDataAreNoError) {
  const char* program = "input x: f32[N]\ninput i: i64[N]\nreturn x[i + 600] * 2 + x";
  const Executable e = compiled(program, true);
  EXPECT_THAT(e.plan().groups[0].untuned, HasSubstr("index out of range"));
  EXPECT_THAT(e.plan().groups[0].untuned, Not(HasSubstr("\n")));
  EXPECT_EQ(e.plan().groups[0].rebuilt, "");
  EXPECT_EQ(e.considered({{"N"_size, 512}}, true)[0][0].measured_ms, -1);
}

constexpr const char* kTwoKernels = "input x: f32[N, 1000]\nreturn softmax(x), sum(x, axis=0)";

TEST_F(TunedOnCpu, WhatLlvmRefusesIsLeftOutAlone) {
  ASSERT_EQ(compiled(kTwoKernels, false).plan().groups.size(), 2U);  // both are in the cache: LLVM sees candidates only
  std::string refused;
  watched().before = [&](const std::string& text) {
    if (refused.empty() && text.find("@k0_p0") != std::string::npos) refused = text;
    if (text == refused) throw InternalError("LLVM cannot compile a kernel: it is one of a test");
  };
  const Executable e = compiled(kTwoKernels, true);
  ASSERT_NE(refused, "");
  const std::vector<std::vector<Considered>> all = e.considered({{"N"_size, 512}}, true);
  ASSERT_THAT(all, SizeIs(2));
  const auto unmeasured = [&](size_t k) {
    return std::count_if(all[k].begin(), all[k].end(), [](const Considered& c) { return c.measured_ms < 0; });
  };
  EXPECT_EQ(unmeasured(0), 1);
  EXPECT_EQ(unmeasured(1), 0) << "of the other kernel, all are timed";
  EXPECT_THAT(e.plan().groups[0].rebuilt, HasSubstr(" others were tried, 1 could not be built"));
  EXPECT_THAT(e.plan().groups[1].rebuilt, HasSubstr(" others were tried"));
  EXPECT_THAT(e.plan().groups[1].rebuilt, Not(HasSubstr("could not be built")));
}

// What is wrong with the machine is no fault of a candidate: nothing is taken, and nothing is
// remembered.
TEST_F(TunedOnCpu, WhatTheMachineLacksEndsTuning) {
  compiled(kTwoKernels, false);
  const auto notes = [&] {
    const std::filesystem::directory_iterator files(folder_ + "/cache");
    return std::count_if(begin(files), end(files), [](const auto& f) { return f.path().extension() == ".note"; });
  };
  const auto before = notes();
  watched().before = [&](const std::string&) { throw UserError("no space left on device\nhelp: make some"); };
  const Executable e = compiled(kTwoKernels, true);
  for (const plan::FusionGroup& group : e.plan().groups) {
    EXPECT_EQ(group.untuned, "no space left on device");
    EXPECT_EQ(group.rebuilt, "");
  }
  EXPECT_EQ(notes(), before);
  const std::vector<std::vector<Considered>> all = e.considered({{"N"_size, 512}}, true);
  for (const Considered& c : all[0]) EXPECT_EQ(c.measured_ms, -1);
}

// Without a cache too: neither the first kernels nor the fastest are compiled twice.
TEST_F(TunedOnCpu, EveryTextIsCompiledOnce) {
  device_.cache = nullptr;
  WatchedLlvm& llvm = watched();
  const Executable e = compiled(kSlowWithFourLanes, true, {.lanes = 4, .merged = true});
  EXPECT_THAT(e.plan().groups[0].rebuilt, StartsWith("tuned: "));
  EXPECT_THAT(e.plan().groups[0].rebuilt, Not(HasSubstr("the schedule stays")));
  std::vector<std::string> texts = llvm.compiled;
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
  EXPECT_THAT(texts, SizeIs(Gt(2U)));
  // What is printed is what runs.
  EXPECT_EQ(std::count(texts.begin(), texts.end(), e.dump("source")), 1);
}

// What was settled elsewhere needs no cache on disk.
TEST_F(TunedOnCpu, SettledSchedulesAreTakenWithoutACache) {
  const Executable own = compiled(kSlowWithFourLanes, false);
  std::vector<std::vector<Considered>> considered = own.considered({{"N"_size, 512}}, false);
  std::erase_if(considered[0], [](const Considered& c) { return c.chosen; });
  ASSERT_FALSE(considered[0].empty());
  Settled settled = own.settled();
  settled.tunings[0] = considered[0][0].candidate.tuning;
  device_.cache = nullptr;
  CompileOptions options;
  options.sizes = {{"N"_size, 512}};
  options.threads = 2;
  options.settled = std::make_shared<const Settled>(settled);
  const Executable other = compile(lang::parse_program(kSlowWithFourLanes, "<test>"), device_, options);
  EXPECT_TRUE(schedule::same_form(*other.plan().groups[0].schedule, *considered[0][0].candidate.schedule));
}

// Two kernels; the first has a candidate that cannot be built and a slow one, the second has one
// candidate.
TEST(TimesInTurns, WhatTakesTwiceAsLongIsNotTimedAgain) {
  const std::vector<std::vector<double>> ms = {{-1, 9, 19}, {21}};
  const std::vector<double> own = {10, 10};
  std::vector<std::vector<int>> timed = {{0, 0, 0}, {0}};
  int turns = 0;
  const Times times = times_in_turns({true, true}, {{false, true, true}, {true}},
                                     [&](std::optional<size_t> round, const std::vector<bool>& asked) {
                                       std::vector<double> result(2, -1);
                                       turns += !round;
                                       for (size_t k = 0; k < 2; ++k) {
                                         if (!asked[k]) continue;
                                         result[k] = (round ? ms[k][*round] : own[k]) + turns;
                                         if (round) ++timed[k][*round];
                                       }
                                       return result;
                                     });
  EXPECT_EQ(turns, 3);
  EXPECT_THAT(timed[0], ElementsAre(0, 3, 3));
  EXPECT_THAT(timed[1], ElementsAre(1));
  EXPECT_THAT(times.first, Each(11)) << "the least of all turns";
  EXPECT_THAT(times.others[0], ElementsAre(-1, 10, 20));
  EXPECT_THAT(times.others[1], ElementsAre(22));
}

// A note in another form, from another version say, is none.
TEST(Tunings, AreTextAndBack) {
  const plan::Tuning all{
      .lanes = 8, .unroll = 2, .threads = 128, .cluster = 4, .turned = true, .tile = 2048, .merged = true};
  const auto back = schedule::tuning_of(schedule::text_of(all));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, all);
  for (const char* text : {"", "8 2 128 4 1 0", "8 2 128 4 1 0 2048 0 1 7", "8 2 128 4 x 0 2048 0 1"})
    EXPECT_FALSE(schedule::tuning_of(text)) << text;
}

}  // namespace
}  // namespace smelt::testing
