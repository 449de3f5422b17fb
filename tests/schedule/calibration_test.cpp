// Numbers that were measured: their text, what is believed, and what the model makes of them.
#include "schedule/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "frontends/language.hpp"
#include "graph/build.hpp"
#include "plan/plan.hpp"
#include "plan/predict.hpp"
#include "schedule/operations.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

using ::testing::HasSubstr;

Target a_cpu() {
  Target target;
  target.threads = 1;
  target.vector_bits = 512;
  target.l1_bytes = 32 << 10, target.l2_bytes = 1 << 20, target.l3_bytes = 32 << 20;
  return target;
}

Calibration some() {
  Calibration c;
  const std::pair<Fact, double> numbers[] = {{Fact::FirstCache, 250e3},
                                             {Fact::SecondCache, 100e3},
                                             {Fact::SharedCache, 90e3},
                                             {Fact::FullCache, 45e3},
                                             {Fact::Memory, 36e3},
                                             {Fact::Threads, 4},
                                             {Fact::SharedByAll, 270e3},
                                             {Fact::MemoryByAll, 72e3},
                                             {Fact::Launch, 0.21},
                                             {Fact::LaunchByAll, 0.75},
                                             {Fact::Operations, 70123.25},
                                             {Fact::Wide, 2},
                                             {Fact::Bf16, 1.5},
                                             {Fact::F16, 0.5},
                                             {Fact::Scan, 20},
                                             {Fact::ScanExtreme, 40},
                                             {Fact::Multiplications, 48e3}};
  for (const auto& [fact, number] : numbers) c.numbers[place_of(fact)] = number;
  c.numbers[place_of(Op::Exp, false)] = 14.5;
  c.numbers[place_of(Op::Div, true)] = 1.0 / 3;
  return c;
}

Target with(Target target, const Calibration& calibration) {
  target.measured = std::make_shared<const Calibration>(calibration);
  return target;
}

TEST(Calibrations, AreTextAndBack) {
  EXPECT_EQ(text_of(Calibration{}), "");
  EXPECT_EQ(calibration_of(""), Calibration{});
  EXPECT_EQ(calibration_of(text_of(some())), some());
  Calibration all;
  for (size_t place = 0; place < kNumbers; ++place) all.numbers[place] = rounded(std::exp(0.37 * double(place) - 20));
  EXPECT_EQ(calibration_of(text_of(all)), all);
  EXPECT_THAT(text_of(some()), HasSubstr("\nexp.f32 14.5\n"));
}

TEST(Calibrations, OtherTextsAreNone) {
  const std::string good = "memory 36000\n";
  ASSERT_TRUE(calibration_of(good));
  for (const std::string text : {"memory 36000",
                                 "memory\n",
                                 "memory \n",
                                 " 36000\n",
                                 "\n",
                                 "memory 36000 1\n",
                                 "memory 36e\n",
                                 "memory nan\n",
                                 "memory inf\n",
                                 "memory 1e999\n",
                                 "memory 0\n",
                                 "memory -5\n",
                                 "memory 0x10\n",
                                 "memory 3,6\n",
                                 "memories 36000\n",
                                 "exp.f16 3\n",
                                 "memory  36000\n",
                                 "memory 36000\nmemory 36000\n",
                                 "memory 36000\r\n",
                                 "Memory 36000\n"})
    EXPECT_FALSE(calibration_of(text)) << text;
  EXPECT_FALSE(calibration_of(std::string("memory 3\0\n", 10)));
}

TEST(Calibrations, OfCutTextsAreNoneOrShorter) {
  const std::string text = text_of(some());
  for (size_t cut = 0; cut < text.size(); ++cut)
    EXPECT_EQ(calibration_of(text.substr(0, cut)).has_value(), cut == 0 || text[cut - 1] == '\n') << cut;
}

TEST(Calibrations, RefuseWhatNoMachineDoes) {
  const Target target = a_cpu();
  const size_t memory = place_of(Fact::Memory);
  EXPECT_EQ(fault_of(target, memory, 36e3), "");
  EXPECT_THAT(fault_of(target, memory, 8e3 * 21), HasSubstr("20 times larger than the built-in 8000"));
  EXPECT_THAT(fault_of(target, memory, 8e3 / 21), HasSubstr("20 times smaller"));
  for (const double number : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_EQ(fault_of(target, memory, number), "it is no positive number") << number;
  EXPECT_EQ(fault_of(target, place_of(Fact::Threads), 4096), "");
  // Functions, and f64, differ by more.
  const double sine = built_in(target, place_of(Op::Sin, true));
  EXPECT_EQ(fault_of(target, place_of(Op::Sin, true), sine * 50), "");
  EXPECT_THAT(fault_of(target, place_of(Op::Sin, true), sine * 101), HasSubstr("100 times larger"));
  for (size_t place = 0; place < kNumbers; ++place) {
    const bool simple = built_in(target, place) <= 0;
    EXPECT_FALSE(simple) << name_of_number(place);
    EXPECT_EQ(fault_of(target, place, built_in(target, place)), "") << name_of_number(place);
  }
}

TEST(Calibrations, TakeThePlaceOfBuiltInFacts) {
  const TargetFacts plain = facts_of(a_cpu()), facts = facts_of(with(a_cpu(), some()));
  EXPECT_EQ(plain.memory_bytes, 8e3);
  EXPECT_EQ(facts.memory_bytes, 36e3);
  EXPECT_EQ(facts.cache_bytes, 90e3);
  EXPECT_EQ(facts.launch_us, 0.21);
  EXPECT_EQ(facts.multiplications, 48e3);
  EXPECT_EQ(facts_of(with(a_cpu(), Calibration{})).memory_bytes, plain.memory_bytes);
  Target gpu = a_cpu();
  gpu.gpu = true, gpu.threads = 132, gpu.memory_gbs = 3350;
  const TargetFacts of_gpu = facts_of(with(gpu, some()));
  EXPECT_EQ(of_gpu.memory_bytes, 36e3);
  EXPECT_EQ(of_gpu.operations, 70123.25);
  EXPECT_EQ(of_gpu.launch_us, 0.21);
}

// Threads share what all of them reach together; machines with more of them are taken to have as
// much more.
TEST(Calibrations, KnowWhatThreadsShare) {
  Target target = with(a_cpu(), some());
  const auto memory = [&](int threads) {
    target.threads = threads;
    return facts_of(target).memory_bytes;
  };
  EXPECT_EQ(memory(1), 36e3);
  EXPECT_EQ(memory(2), 72e3);
  EXPECT_EQ(memory(4), 72e3);
  EXPECT_EQ(memory(8), 144e3);
  target.threads = 16;
  EXPECT_EQ(facts_of(target).launch_us, 0.75);
}

TEST(Calibrations, GoThroughTheSizesThatWereMeasured) {
  const TargetFacts facts = facts_of(with(a_cpu(), some()));
  EXPECT_NEAR(facts.moving_us(16 << 10, 0.5, 1), (16 << 10) / 250e3, 1e-9);
  EXPECT_NEAR(facts.moving_us(512 << 10, 0.5, 1), (512 << 10) / 100e3, 1e-9);
  EXPECT_NEAR(facts.moving_us(8 << 20, 0.5, 1), (8 << 20) / 90e3, 1e-9);
  EXPECT_NEAR(facts.moving_us(32 << 20, 0.5, 1), (32 << 20) / 45e3, 1e-6);
  EXPECT_NEAR(facts.moving_us(1 << 30, 0.5, 1), (1 << 30) / 36e3, 1e-6);
  double before = 0;
  for (double bytes = 64; bytes < 4e9; bytes *= 1.1)
    for (const double threads : {1.0, 3.0, 64.0}) {
      const double us = facts.moving_us(bytes, 0.5, threads);
      EXPECT_TRUE(std::isfinite(us) && us > 0) << bytes;
      EXPECT_LE(us, facts.moving_us(bytes, 0.5, 1) * 1.000001) << bytes << " " << threads;
      if (threads == 1) {
        EXPECT_GT(us, before);
        before = us;
      }
    }
}

TEST(Calibrations, KnowReadsFromWrites) {
  Calibration c = some();
  c.numbers[place_of(Fact::MemoryRead)] = 30e3;
  c.numbers[place_of(Fact::MemoryWrite)] = 20e3;
  const TargetFacts facts = facts_of(with(a_cpu(), c));
  const double bytes = 1 << 30;
  EXPECT_NEAR(facts.moving_us(bytes, 0, 1), bytes / 30e3, 1e-6);
  EXPECT_NEAR(facts.moving_us(bytes, 0.5, 1), bytes / 36e3, 1e-6);
  EXPECT_NEAR(facts.moving_us(bytes, 1, 1), bytes / 20e3, 1e-6);
  EXPECT_NEAR(facts.moving_us(bytes, 0.75, 1), bytes / 2 * (1 / 36e3 + 1 / 20e3), 1e-6);
}

double predicted(const std::string& program, const Target& target) {
  plan::Options options;
  options.target = target;
  const Graph graph = simplify(lang::parse_program(program, "<test>"));
  const plan::Prediction prediction = plan::predict(graph, plan::make_plan(graph, options), options);
  return prediction.us;
}

TEST(Calibrations, ChangePredictions) {
  const std::string copy = "input x: f32[100000000]\nreturn x + 1";
  EXPECT_NEAR(predicted(copy, a_cpu()), 8e8 / 8e3 + 0.1, 1);
  EXPECT_NEAR(predicted(copy, with(a_cpu(), some())), 8e8 / 36e3 + 0.21, 1);
  // Operations on both widths, and their roundings.
  const auto issue = [&](const std::string& type, double exp) {
    Calibration c = some();
    c.numbers[place_of(Op::Exp, false)] = exp;
    c.numbers[place_of(Op::Exp, true)] = 3 * exp;
    return predicted("input x: " + type + "[4096]\nreturn exp(x)", with(a_cpu(), c)) - 0.21;
  };
  EXPECT_NEAR(issue("f32", 200) - issue("f32", 100), 4096 * 100 / 70123.25, 1e-2);
  EXPECT_NEAR(issue("f64", 200) - issue("f64", 100), 4096 * 300 / 70123.25, 1e-2);
  EXPECT_GT(issue("bf16", 100), 4096 * 101.5 / 70123.25);
}

// Divisions go on beside other operations, of which each is one more.
TEST(Calibrations, HideOperationsBehindDivisions) {
  Calibration c = some();
  c.numbers[place_of(Op::Div, false)] = 50;
  const auto us = [&](const std::string& value) {
    return predicted("input x: f32[4096]\ninput y: f32[4096]\nreturn " + value, with(a_cpu(), c));
  };
  EXPECT_NEAR(us("x / y"), us("(x + y) * x / (y - x)"), 1e-6);
  EXPECT_GT(us("x / y / x"), 1.9 * us("x / y"));
}

// Without a calibration a CPU's operations have the costs of one that was measured, by their width.
TEST(Calibrations, OfOperationsAreBuiltIn) {
  const auto us = [](const std::string& type, const std::string& value) {
    return predicted("input x: " + type + "[4096]\ninput y: " + type + "[4096]\nreturn " + value, a_cpu());
  };
  EXPECT_GT(us("f64", "sin(x)"), 3 * us("f32", "sin(x)"));
  EXPECT_GT(us("f64", "pow(x, y)"), 3 * us("f64", "exp(x)"));
  EXPECT_GT(us("f32", "cummax(x) + cummin(x) + cummax(y)"), us("f32", "cumsum(x) + cumsum(2 * x) + cumsum(y)"));
  // Integers: by numbers of the program, by those of arrays, and twice as wide.
  EXPECT_GT(us("i32", "x // y"), 3 * us("i32", "x // 7"));
  EXPECT_GT(us("i64", "x % 7"), 1.5 * us("i32", "x % 7"));
  EXPECT_EQ(us("i32", "x // y"), us("i32", "x % y"));
  // Those of a GPU are not these.
  Target gpu = a_cpu();
  gpu.gpu = true;
  EXPECT_NE(built_in(gpu, place_of(Op::Sin, true)), built_in(a_cpu(), place_of(Op::Sin, true)));
  EXPECT_NE(facts_of(gpu).costs.numbers, facts_of(a_cpu()).costs.numbers);
}

TEST(Calibrations, LeaveSchedulesAsTheyAreWhereNothingIsMeasured) {
  const TargetFacts plain = facts_of(a_cpu());
  EXPECT_EQ(plain.measured, nullptr);
  EXPECT_EQ(plain.moving_us(1 << 20, 0.9, 1), (1 << 20) / 20e3);
  EXPECT_EQ(plain.moving_us(64 << 20, 0.1, 1), (64 << 20) / 8e3);
}

}  // namespace
}  // namespace smelt::schedule
