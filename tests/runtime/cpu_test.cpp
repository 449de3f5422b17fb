#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "runtime/cpu.hpp"
#include "support/message_of.hpp"

using namespace smelt::runtime;

TEST(CpuFacts, ArePlausible) {
  const CpuFacts facts = read_cpu_facts();
  EXPECT_FALSE(facts.name.empty());
  EXPECT_TRUE(facts.vector_bits == 128 || facts.vector_bits == 256 || facts.vector_bits == 512);
  EXPECT_GE(facts.threads, 1);
  EXPECT_LE(facts.threads, static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_GE(facts.l1_bytes, 8 << 10);
  EXPECT_LE(facts.l1_bytes, facts.l2_bytes);
  EXPECT_GT(facts.memory_bytes, 64 << 20);
}

TEST(ParallelFor, CoversEveryIndexOnceInGrains) {
  for (int threads : {1, 2, 3, 7})
    for (int64_t count : {0, 1, 15, 16, 17, 100, 1000})
      for (int64_t grain : {0, 1, 16, 64, 5000}) {
        std::vector<int> seen(static_cast<size_t>(count), 0);
        std::vector<std::atomic<int>> running(static_cast<size_t>(threads));
        parallel_for(threads, count, grain, [&](int thread, int64_t begin, int64_t end) {
          ASSERT_GE(thread, 0);
          ASSERT_LT(thread, threads);
          ASSERT_EQ(++running[static_cast<size_t>(thread)], 1);  // so that a thread's number may own scratch memory
          ASSERT_LT(begin, end);
          ASSERT_EQ(begin % std::max<int64_t>(grain, 1), 0);
          for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
          --running[static_cast<size_t>(thread)];
        });
        for (int s : seen) ASSERT_EQ(s, 1);
      }
}

TEST(ParallelFor, SmallWorkStaysOnTheCaller) {
  const auto caller = std::this_thread::get_id();
  parallel_for(8, 64, 64, [&](int thread, int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(thread, 0);
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 64);
  });
}

TEST(ParallelFor, CarriesExceptionsOver) {
  for (int threads : {1, 4})
    EXPECT_EQ(smelt::testing::message_of<std::runtime_error>([&] {
                parallel_for(threads, 100, 1, [](int, int64_t, int64_t end) {
                  if (end == 100) throw std::runtime_error("lost");
                });
              }),
              "lost");
}

TEST(ParallelFor, WorksAfterAnException) {
  for (int round = 0; round < 50; ++round) {
    EXPECT_EQ(smelt::testing::message_of<std::runtime_error>(
                  [&] { parallel_for(3, 30, 1, [](int, int64_t, int64_t) { throw std::runtime_error("each"); }); }),
              "each");
    std::atomic<int64_t> sum = 0;
    parallel_for(3, 30, 1, [&](int, int64_t begin, int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum, 30);
  }
}

TEST(ParallelFor, ManyShortLoops) {
  // Workers come late, leave early, and meet loops of other sizes.
  std::atomic<int64_t> sum = 0;
  int64_t expected = 0;
  for (int i = 0; i < 20000; ++i) {
    const int64_t count = 2 + i % 37;
    expected += count;
    parallel_for(2 + i % 5, count, 1, [&](int, int64_t begin, int64_t end) { sum += end - begin; });
    if (i % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sum, expected);
}

TEST(ParallelFor, ManyCallersAtOnce) {
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 12; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        parallel_for(3, 100, 7, [&](int, int64_t begin, int64_t end) { sum += end - begin; });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 12 * 500 * 100);
}

// However many callers there are, each has helpers while there are processors for them: none is
// sent off alone because it is the fifth.
TEST(ParallelFor, EveryCallerGetsItsShare) {
  constexpr int kCallers = 6;
  const int threads = kCallers * std::max(2, usable_threads());  // of which each caller's share is two and more
  std::atomic<int> inside{0}, helped{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c)
    callers.emplace_back([&] {
      std::mutex mutex;
      std::set<std::thread::id> seen;
      bool first = true;
      // All are in their loops at the same time, each until a second thread has come to it.
      parallel_for(threads, threads, 1, [&](int, int64_t, int64_t) {
        {
          const std::lock_guard lock(mutex);
          if (std::exchange(first, false)) ++inside;
          seen.insert(std::this_thread::get_id());
        }
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (std::chrono::steady_clock::now() < until) {
          const std::lock_guard lock(mutex);
          if (inside == kCallers && seen.size() > 1) break;
          std::this_thread::yield();
        }
      });
      helped += seen.size() > 1;
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(helped, kCallers);
}

TEST(ParallelFor, RunsFromManyThreadsAndInsideItself) {
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      parallel_for(2, 10, 1, [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) parallel_for(2, 10, 1, [&](int, int64_t b, int64_t e) { sum += e - b; });
      });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 100);
}

TEST(CopyBench, MeasuresSomethingPossible) {
  const double seconds = measure_copy_seconds(16 << 20, 2, 3);
  EXPECT_GT(seconds, 1e-5);
  EXPECT_LT(seconds, 10);
  EXPECT_EQ(measure_copy_seconds(0, 2, 3), 0);
  EXPECT_GT(measure_copy_seconds(1000, 2, 3), 0);  // not a multiple of anything
  flush_caches(read_cpu_facts(), 2);
}
