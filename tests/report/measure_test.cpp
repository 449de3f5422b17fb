// How often the benchmark calls what it measures, and what it makes of the times.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "report/bench.hpp"

namespace smelt::report {
namespace {

void spend(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(Measure, StopsAtTheTimeLimitWithAFewRunsAtLeast) {
  BenchOptions options;
  options.time_limit_s = 0.01;
  int calls = 0;
  const Summary s = measure(options, [&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  EXPECT_GE(s.runs, 3);
  EXPECT_LE(calls, 10);
  EXPECT_GE(s.median, 20);
  EXPECT_LE(s.min, s.median);
  EXPECT_GE(s.max, s.median);
}

TEST(Measure, PreparesBeforeEveryCallOutsideTheClock) {
  BenchOptions options;
  options.time_limit_s = 0.1;
  int prepared = 0, calls = 0;
  const Summary s = measure(
      options,
      [&] {
        ++calls;
        EXPECT_EQ(prepared, calls);
      },
      [&] {
        ++prepared;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      });
  EXPECT_EQ(prepared, calls);
  EXPECT_LT(s.median, 1) << "the preparation is not measured";
}

TEST(Measure, ShortCallsAreTimedTogether) {
  BenchOptions options;
  options.time_limit_s = 0.05;
  int64_t calls = 0;
  const Summary s = measure(options, [&] {
    ++calls;
    spend(std::chrono::microseconds(1));
  });
  EXPECT_GT(calls, 5 * s.runs);
  EXPECT_GE(s.median, 0.001);
}

TEST(Measure, SteadyTimesEndEarly) {
  BenchOptions options;
  options.time_limit_s = 20;
  const auto start = std::chrono::steady_clock::now();
  const Summary s = measure(options, [] { spend(std::chrono::microseconds(200)); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_LT(s.noise, 0.02);
}

}  // namespace
}  // namespace smelt::report
