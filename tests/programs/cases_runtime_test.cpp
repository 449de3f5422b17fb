// Cases 44 to 51: memory, threads, large graphs, and text from anyone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "frontends/language.hpp"
#include "run.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

int64_t resident_bytes() {
  int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// 10,000 would take minutes; memory that grows shows after fewer (SMELT_LOOPS=10000 runs them all).
TEST(Cases, C44_CompileAndDestroyKeepsMemoryFlat) {
  NEEDS_LLVM();
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer holds freed memory back; it looks for leaks itself";
#endif
  if (device().opencl) GTEST_SKIP() << "PoCL keeps some of every program: 55 KB of the smallest, without smelt";
  const Tensor x = noise(DType::F32, {8, 40});
  const auto once = [&](int i) {
    const std::string program = fmt::format("input x: f32[M, N]\nreturn layernorm(x * {}), sum(x, axis=0)\n", i + 1);
    EXPECT_EQ(compiled(program).run({x}).size(), 2u);
  };
  const char* text = std::getenv("SMELT_LOOPS");
  const int loops = text ? std::atoi(text) : 60;
  for (int i = 0; i < 20; ++i) once(i);
  const int64_t before = resident_bytes();
  for (int i = 0; i < loops; ++i) once(i);
  const int64_t grown = resident_bytes() - before;
  RecordProperty("bytes_per_executable", static_cast<int>(grown / loops));
  EXPECT_LT(grown, loops * 20'000) << grown / loops << " bytes an executable";
}

TEST(Cases, C45_OutputsLiveOnWithoutTheirInputs) {
  NEEDS_LLVM();
  std::vector<Tensor> outputs;
  {
    const Executable e = compiled("input x: f32[N]\nreturn x, x[1:], x + 1\n");
    const Tensor x = vector(DType::F32, {1, 2, 3});
    outputs = e.run({x});
    for (const Tensor& o : outputs) EXPECT_NE(o.data, x.data);
    static_cast<float*>(x.data)[1] = 99;
  }
  EXPECT_TRUE(same_numbers(numbers(outputs[0]), {1, 2, 3}));
  EXPECT_TRUE(same_numbers(numbers(outputs[1]), {2, 3}));
  EXPECT_TRUE(same_numbers(numbers(outputs[2]), {2, 3, 4}));
}

TEST(Cases, C46_AnErrorInAWorkerThreadReachesTheCaller) {
  NEEDS_LLVM();
  const int64_t n = 500000;
  const Tensor x = noise(DType::F32, {100}), indices = filled(DType::I64, {n}, 7);
  const Executable e = compiled("input x: f32[M]\ninput i: i64[N]\nreturn take(x, i, axis=0) * 2\n", true, 4);
  EXPECT_EQ(e.run({x, indices}).size(), 1u);
  for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
    for (const int64_t bad : {int64_t{100}, int64_t{-101}, INT64_MAX, INT64_MIN}) {
      static_cast<int64_t*>(indices.data)[at] = bad;
      EXPECT_THAT(message_of([&] {
                    e.run({x, indices});
                  }),
                  HasSubstr("take met an index out of range"))
          << at << " " << bad;
    }
    static_cast<int64_t*>(indices.data)[at] = -100;
    EXPECT_EQ(e.run({x, indices}).size(), 1u);
  }
}

// 500 operations, 64 values that all live to the end.
TEST(Cases, C47_ALargeGraphIsAtMostTwoKernels) {
  NEEDS_LLVM();
  std::string program = "input x: f32[N]\n";
  for (int i = 0; i < 64; ++i) program += fmt::format("v{} = x * {} + {}\n", i, 1 + 0.01 * i, i);
  for (int i = 64; i < 400; ++i) program += fmt::format("v{} = v{} * 0.5 + v{}\n", i, i - 64, i - 63);
  program += "return v399";
  for (int i = 336; i < 399; ++i) program += fmt::format(" + v{}", i);
  program += "\n";
  const auto start = std::chrono::steady_clock::now();
  const Executable e = compiled(program);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, 20);
  EXPECT_LE(e.kernels().size(), 2u);
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_TRUE(right(program, {noise(DType::F32, {1000})}));
}

TEST(Cases, C48_ManyThreadsRunOneExecutable) {
  NEEDS_LLVM();
  const Executable e = compiled("input x: f32[M, N]\nreturn softmax(x), sum(x, axis=0)\n", true, 2);
  const Executable other = compiled("input x: f32[M, N]\nreturn x.T * 2\n", true, 2);
  std::vector<Tensor> inputs;
  std::vector<std::vector<Tensor>> expected;
  for (int64_t t = 0; t < 32; ++t) {
    inputs.push_back(noise(DType::F32, {50 + t, 300}, static_cast<uint64_t>(t)));
    expected.push_back(e.run({inputs.back()}));
    expected.back().push_back(other.run({inputs.back()})[0]);
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (size_t t = 0; t < 32; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        auto got = e.run({inputs[t]});
        got.push_back(other.run({inputs[t]})[0]);
        for (size_t o = 0; o < got.size(); ++o)
          if (!same_numbers(numbers(got[o]), numbers(expected[t][o]))) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Cases, C48_ManyThreadsCompileAtOnce) {
  NEEDS_LLVM();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  const Tensor x = noise(DType::F32, {7, 33});
  const auto expected = numbers(run("input x: f32[M, N]\nreturn layernorm(x)\n", {x}));
  for (int t = 0; t < 32; ++t)
    threads.emplace_back([&] {
      if (!same_numbers(numbers(run("input x: f32[M, N]\nreturn layernorm(x)\n", {x})), expected)) ++wrong;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// In the code, that is, outside of comments.
bool occurs(const std::string& source, const std::string& name) {
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);)
    if (line.find(name) < std::min(line.find(";"), line.find("//"))) return true;
  return false;
}

TEST(Cases, C49_NamesReachNoSource) {
  NEEDS_LLVM();
  // What is no name is an error; what is one reaches neither kernels nor the source.
  EXPECT_THAT(message_of([&] { lang::parse_program("input x;}asm(\"nop\"): f32[N]\nreturn x\n", "case.smelt"); }),
              HasSubstr("'}' has no meaning here"));
  EXPECT_THAT(message_of([&] { lang::parse_program("input return: f32[N]\nreturn 1\n", "case.smelt"); }),
              HasSubstr("expected the input's name, but found 'return'"));
  const std::string long_name(1'000'000, 'q');
  for (const std::string& name : {std::string("\xC3\xA9t\xC3\xA9_zz"), std::string("ret_zz"), long_name}) {
    const Executable e = compiled("input " + name + ": f32[" + name.substr(0, 20) + "_N]\nreturn " + name + " * 2\n");
    EXPECT_LT(e.dump("source").size(), 100'000u);
    EXPECT_FALSE(occurs(e.dump("source"), name)) << name.substr(0, 20);
    EXPECT_TRUE(same_numbers(numbers(e.run({vector(DType::F32, {1, 2})})[0]), {2, 4}));
  }
}

TEST(Cases, C50_TextNestedTooDeeplyIsRefused) {
  const std::string deep(100'000, '('), minus(1'000'000, '-'), nots = [] {
    std::string all;
    for (int i = 0; i < 100'000; ++i) all += "not ";
    return all;
  }();
  for (const std::string& text : {deep + "x" + std::string(100'000, ')'), minus + "x", nots + "x", deep,
                                  "x" + std::string(100'000, '['), "x" + [] {
                                    std::string all;
                                    for (int i = 0; i < 100'000; ++i) all += "**x";
                                    return all;
                                  }()})
    EXPECT_THAT(message_of([&] { lang::parse_program("input x: f32[N]\nreturn " + text + "\n", "case.smelt"); }),
                AnyOf(HasSubstr("is nested more than 200 deep"), HasSubstr("is never closed")));
}

TEST(Cases, C51_ImpossibleSizesAreRefused) {
  for (const auto& [type, says] :
       {std::pair{"f32[1000000000000000000, 1000000000000000000]", "an array of 1e+36 elements is too large"},
        {"f32[-1]", "a size is 0 or more"},
        {"f32[99999999999999999999]", "99999999999999999999 does not fit 64 bits"},
        {"f32[1.5]", "a size is an integer, not 1.5"}})
    EXPECT_THAT(message_of([text = type] {
                  const Graph graph =
                      lang::parse_program(fmt::format("input x: {}\nreturn x + 1\n", text), "case.smelt");
                }),
                HasSubstr(says));
  std::string dims = "1";
  for (int i = 0; i < 1'000'000; ++i) dims += ",1";
  EXPECT_THAT(message_of([&] { lang::parse_program("input x: f32[" + dims + "]\nreturn x\n", "case.smelt"); }),
              HasSubstr("an array cannot have 1000001 dimensions"));
  EXPECT_THAT(
      message_of([&] { lang::parse_program("input x: f32[4]\nreturn x.reshape(" + dims + ")\n", "case.smelt"); }),
      HasSubstr("the program has more than 500000 expressions"));
}

}  // namespace
}  // namespace smelt::testing
