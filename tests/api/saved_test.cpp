// Functions in files: what they hold, where they run, and what is said of files that are not whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>

#include "api/node.hpp"
#include "base/bytes.hpp"
#include "compile/saved.hpp"
#include "runtime/child_program.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/message_of.hpp"
#include "support/programs.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

std::vector<float> values(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i % 17) - 7.5f;
  if (n > 6) v[3] = std::numeric_limits<float>::quiet_NaN(), v[5] = -0.f, v[6] = INFINITY;
  return v;
}
Array rows(int64_t r, int64_t c) { return Array::from(values(static_cast<size_t>(r * c)), {r, c}); }

// Bits, since NaN is no equal of itself.
std::vector<uint32_t> bits(const Array& a) {
  const std::vector<float> v = a.to_vector<float>();
  std::vector<uint32_t> words(v.size());
  std::memcpy(words.data(), v.data(), v.size() * 4);
  return words;
}

void expect_near(const Array& a, const Array& b) {
  const std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>();
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i]) || std::isinf(y[i]))
      ASSERT_EQ(std::isnan(y[i]), std::isnan(x[i])) << i;
    else
      ASSERT_NEAR(x[i], y[i], 1e-4f * std::abs(y[i]) + 1e-4f) << i;
  }
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

auto norm() {
  Options options;
  options.name = "norm";
  return compile(
      [](Array x, Array g) {
        const Array centred = x - mean(x, -1, keepdims);
        return std::pair(centred * rsqrt(var(x, -1, keepdims) + 1e-5f) * g, max(x, 0));
      },
      options);
}
using Norm = std::pair<Array, Array>(Array, Array);

class Saved : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Device::cpu().usable()) GTEST_SKIP() << Device::cpu().missing();
  }
  std::string path(const std::string& name = "f.saved") const { return folder_.path() + "/" + name; }
  runtime::ChildResult in_child(const std::string& test, const std::string& file) const {
    return runtime::run_child("/proc/self/exe", {"--gtest_filter=SavedInChild." + test},
                              {{"SMELT_LLVM", "/nonexistent/libLLVM.so"},
                               {"SMELT_NVRTC", "/nonexistent/libnvrtc.so"},
                               {"SMELT_CACHE_DIR", "off"},
                               {"SMELT_SAVED", file}});
  }
  runtime::TemporaryFolder folder_;
};

TEST_F(Saved, RunsAsBefore) {
  const auto f = norm();
  const Array x = rows(9, 33), g = Array::from(values(33));
  const auto [y, m] = f(x, g);
  f.save(path());
  const auto loaded = load_function<Norm>(path());
  const auto [y2, m2] = loaded(x, g);
  EXPECT_EQ(bits(y2), bits(y));
  EXPECT_EQ(bits(m2), bits(m));
  EXPECT_EQ(loaded.compile_count(), 0);
  ASSERT_EQ(loaded.specializations().size(), 1u);
  EXPECT_EQ(loaded.specializations()[0].types, "f32[B, 33], f32[33]");
  EXPECT_EQ(loaded.specializations()[0].reason, path() + " has it, for cpu");
  EXPECT_NE(loaded.explain(x, g).text().find("kernel 1"), std::string::npos);
  loaded.expect_kernels(f.specializations()[0].kernels);
}

TEST_F(Saved, OpenSizesStayOpen) {
  const auto f = norm();
  const Array g = Array::from(values(33));
  f(rows(9, 33), g);
  f.save(path());
  const auto loaded = load_function<Norm>(path());
  for (const int64_t r : {2, 31, 32, 33, 5000}) {
    const Array x = rows(r, 33);
    const auto [y, m] = loaded(x, g);
    const auto [e, n] = f(x, g);
    expect_near(y, e);
    EXPECT_EQ(bits(m), bits(n)) << r;
  }
}

TEST_F(Saved, KeepsAllSpecializations) {
  Options options;
  options.name = "twice";
  const auto f = compile([](Array x) { return x * 2 + x; }, options);
  const Array a = rows(4, 8), b = rows(4, 40), c = Array::from({1, 2, 3});
  f(a), f(b), f(c);
  const size_t count = f.specializations().size();
  ASSERT_GE(count, 2u);
  f.save(path());
  const auto loaded = load_function<Array(Array)>(path());
  EXPECT_EQ(bits(loaded(a)), bits(f(a)));
  EXPECT_EQ(bits(loaded(b)), bits(f(b)));
  EXPECT_EQ(loaded(c).to_vector<int>(), (std::vector<int>{3, 6, 9}));
  EXPECT_EQ(loaded.specializations().size(), count);
  const std::string message = message_of([&] { loaded(Array::from({1., 2.})); });
  EXPECT_NE(message.find("the saved function twice has no code for f64[2] on cpu\n  it has code for f32["),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("call the function with such arrays before save()"), std::string::npos) << message;
}

TEST_F(Saved, HoldsCapturedArraysListsAndNumbers) {
  std::vector<float> memory = {1, 2, 3};
  const Array table = Array::borrow(memory, {3});
  const auto f = compile([table](std::vector<Array> xs, Array s) {
    Array sum = xs[0] * table;
    for (size_t i = 1; i < xs.size(); ++i) sum = sum + xs[i];
    return std::vector<Array>{sum * s, sum};
  });
  const Array a = Array::from({1.f, 1.f, 1.f});
  const auto expected = f({a, a}, 2.5);
  f.save(path());
  memory = {9, 9, 9};  // the file has those of when it was saved
  const auto loaded = load_function<std::vector<Array>(std::vector<Array>, Array)>(path());
  const auto got = loaded({a, a}, 2.5);
  EXPECT_EQ(got[0].to_vector<float>(), (std::vector<float>{5, 7.5f, 10}));
  EXPECT_EQ(got[1].to_vector<float>(), expected[1].to_vector<float>());
  EXPECT_EQ(loaded({a, a}, -4.)[0].to_vector<float>(), (std::vector<float>{-8, -12, -16}));
  const std::string message = message_of([&] { loaded({a, a}, 4); });
  EXPECT_NE(message.find("no code for f32[3], f32[3], a number of i64 on cpu"), std::string::npos) << message;
  EXPECT_NE(message.find("it has code for f32[3], f32[3], a number of f64"), std::string::npos) << message;
}

TEST_F(Saved, ProgramsKeepTheirNames) {
  const Program f =
      compile_text("input x: f32[B, C]\ninput w: f32[C]\nreturn sum(x * w, axis=1), x[::-1, 1:], cumsum(x, axis=1)\n");
  const Array x = rows(5, 20), w = Array::from(values(20));
  const auto expected = f(x, w);
  f(rows(5, 3), Array::from(values(3)));  // a length of its own
  f.save(path());
  const Program loaded = load_program(path());
  EXPECT_EQ(loaded.parameters(), (std::vector<std::string>{"x", "w"}));
  const auto got = loaded({{"w", w}, {"x", x}});
  ASSERT_EQ(got.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(bits(got[i]), bits(expected[i])) << i;
  EXPECT_EQ(bits(loaded(rows(7, 3), Array::from(values(3)))[0]), bits(f(rows(7, 3), Array::from(values(3)))[0]));
}

TEST_F(Saved, KeepsSizesThatAreExpressions) {
  const Program f = compile_text(shared_program("gates"));
  const Array w = rows(3, 4 * 33), h = Array::from(std::vector<float>(33, 0.5f));
  const Array y = f(w, h)[0];
  f.save(path());
  const Program loaded = load_program(path());
  EXPECT_EQ(bits(loaded(w, h)[0]), bits(y));
  expect_near(loaded(rows(2, 4 * 40), Array::from(values(40)))[0], f(rows(2, 4 * 40), Array::from(values(40)))[0]);
  EXPECT_EQ(loaded.compile_count(), 0);
  EXPECT_NE(message_of([&] { loaded(rows(3, 4 * 33), Array::from(values(32))); }), "nothing thrown");
}

TEST_F(Saved, KeepsTheNamesOfParameters) {
  const auto f = compile({"image", "gain"}, [](Array x, Array g) { return x * g; });
  const Array x = rows(3, 8);
  f(x, x);
  f.save(path());
  EXPECT_EQ(load_program(path()).parameters(), (std::vector<std::string>{"image", "gain"}));
}

TEST_F(Saved, RunsWhereNoCompilerIs) {
  const auto f = norm();
  const Array x = rows(9, 33), g = Array::from(values(33));
  const auto [y, m] = f(x, g);
  f.save(path());
  std::string words;
  for (const uint32_t w : bits(y)) words += std::to_string(w) + " ";
  write(path("expected"), words);
  const runtime::ChildResult r = in_child("RunsTheFile", path());
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_NE(r.output.find("[  PASSED  ] 1 test"), std::string::npos) << r.output;
}

// On a driver over host memory, whose NVRTC passes texts on: the one process saves, the other has
// no NVRTC.
TEST_F(Saved, RunsOnAGpuWithoutNvrtc) {
  const std::vector<std::pair<std::string, std::string>> fake = {{"SMELT_CUDA", SMELT_FAKE_CUDA},
                                                                 {"SMELT_NVRTC", SMELT_FAKE_CUDA},
                                                                 {"SMELT_CACHE_DIR", "off"},
                                                                 {"SMELT_SAVED", path()}};
  const runtime::ChildResult saved =
      runtime::run_child("/proc/self/exe", {"--gtest_filter=SavedInChild.SavesOnAGpu"}, fake);
  ASSERT_EQ(saved.status, 0) << saved.output;
  std::vector<std::pair<std::string, std::string>> without = fake;
  without[1].second = "/nonexistent/libnvrtc.so";
  const runtime::ChildResult loaded =
      runtime::run_child("/proc/self/exe", {"--gtest_filter=SavedInChild.LoadsOnAGpu"}, without);
  EXPECT_EQ(loaded.status, 0) << loaded.output;
  EXPECT_NE(loaded.output.find("[  PASSED  ] 1 test"), std::string::npos) << loaded.output;
  // Here is no GPU of that architecture.
  if (Device::cuda().usable()) return;
  const std::string message = message_of([&] { load_function<Norm>(path()); });
  EXPECT_NE(message.find("has no code for this machine\n  cuda: there is no GPU to run it"), std::string::npos)
      << message;
}

// The same on a GPU.
TEST_F(Saved, RunsOnARealGpuWithoutNvrtc) {
  const Device gpu = Device::cuda();
  if (!gpu.usable()) GTEST_SKIP() << gpu.missing();
  const auto f = norm();
  const Array x = rows(9, 33).to(gpu), g = Array::from(values(33)).to(gpu);
  const Array y = f(x, g).first.to(Device::cpu());
  f(rows(4096, 33).to(gpu), g);
  f.save(path());
  std::string words;
  for (const uint32_t w : bits(y)) words += std::to_string(w) + " ";
  write(path("expected"), words);
  const runtime::ChildResult r = in_child("RunsTheFileOnARealGpu", path());
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_NE(r.output.find("[  PASSED  ] 1 test"), std::string::npos) << r.output;
}

TEST_F(Saved, HasSeveralTargets) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "levels are those of x86-64";
#endif
  const auto f = norm();
  const Array x = rows(9, 33), g = Array::from(values(33));
  f(x, g);
  f.save(path(), {"x86-64", "cpu", "x86-64-v2"});
  const auto all = load_function<Norm>(path());
  all(x, g);
  EXPECT_EQ(all.specializations()[0].reason, path() + " has it, for cpu") << "the best that runs";
  f.save(path(), {"x86-64"});
  const auto lesser = load_function<Norm>(path());
  expect_near(lesser(x, g).first, f(x, g).first);
  EXPECT_EQ(lesser.specializations()[0].reason, path() + " has it, for x86-64");
  EXPECT_NE(message_of([&] { f.save(path(), {"vax"}); }).find("there is no target \"vax\""), std::string::npos);
}

TEST_F(Saved, AnotherMachineIsTold) {
  const auto f = norm();
  const Array x = rows(9, 33), g = Array::from(values(33));
  f(x, g);
  f.save(path());
  // As if the processor had had what none has: the list of its features is in the file as text.
  std::string bytes = read(path());
#if defined(__x86_64__)
  const size_t at = bytes.find("sse3 ");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 4, "xyz9");
  const uint64_t sum = checksum(std::string_view(bytes).substr(0, bytes.size() - 8));
  for (size_t i = 0; i < 8; ++i) bytes[bytes.size() - 8 + i] = static_cast<char>(sum >> (8 * i));
  write(path(), bytes);
  const std::string message = message_of([&] { load_function<Norm>(path()); });
  EXPECT_NE(message.find("has no code for this machine\n  cpu: this processor ("), std::string::npos) << message;
  EXPECT_NE(message.find(") has no xyz9"), std::string::npos) << message;
#endif
}

TEST(SavedTargets, SayWhyTheyDoNotRun) {
  Machine gpu;
  gpu.name = "cuda";
  gpu.is_gpu = true;
  testing::fresh_fake();
  gpu.gpu = testing::open_fake();
  gpu.gpu_facts.name = "a GPU";
  gpu.gpu_facts.compute = 90;
  gpu.gpu_facts.driver = 12040;
  SavedTarget target;
  target.is_gpu = true;
  target.gpu_facts.compute = 90;
  target.nvrtc_version = 12010;
  EXPECT_EQ(why_not_here(target, gpu), "");
  target.gpu_facts.compute = 80;
  EXPECT_EQ(why_not_here(target, gpu), "this GPU (a GPU) is sm_90");
  gpu.gpu_facts.compute = 86;
  EXPECT_EQ(why_not_here(target, gpu), "") << "the same generation";
  target.gpu_facts.compute = 89;
  EXPECT_EQ(why_not_here(target, gpu), "this GPU (a GPU) is sm_86");
  target.gpu_facts.compute = 86;
  target.nvrtc_version = 13000;
  EXPECT_EQ(why_not_here(target, gpu), "it was compiled by CUDA 13.0, and the driver supports 12.4");
  EXPECT_EQ(why_not_here(target, Machine()), "it is no code for cpu");
  target.nvrtc_version = 12010;
  gpu.gpu = nullptr;
  gpu.missing = "no driver";
  EXPECT_EQ(why_not_here(target, gpu), "there is no GPU to run it: no driver");
}

TEST_F(Saved, DamageIsFound) {
  const auto f = compile([](Array x) { return x * 2; });
  f(Array::from({1.f, 2.f}));
  f.save(path());
  const std::string bytes = read(path());
  const auto load = [&](const std::string& altered) {
    write(path("bad"), altered);
    return message_of([&] { load_function<Array(Array)>(path("bad")); });
  };
  EXPECT_EQ(load(bytes), "nothing thrown");
  EXPECT_EQ(load(""), path("bad") + " is cut short\nhelp: save the function again");
  EXPECT_EQ(load("\177ELF and so on, for longer than a header"),
            path("bad") + " is no saved function of smelt\nhelp: save the function again");
  for (size_t cut = 0; cut < bytes.size(); cut += std::max<size_t>(1, bytes.size() / 97))
    EXPECT_EQ(load(bytes.substr(0, cut)), path("bad") + " is cut short\nhelp: save the function again") << cut;
  EXPECT_NE(load(bytes + "x").find("is damaged"), std::string::npos);
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string one = bytes;
    one[random() % one.size()] ^= static_cast<char>(1 << random() % 8);
    EXPECT_NE(load(one), "nothing thrown");
  }
  EXPECT_NE(message_of([&] { load_function<Array(Array)>(path("absent")); }).find("cannot read"), std::string::npos);
}

// Whoever makes a right checksum for wrong contents gets an error too: no number in the file is
// trusted.
TEST_F(Saved, ContentsAreNotTrusted) {
  const auto f = norm();
  f(rows(9, 33), Array::from(values(33)));
  f.save(path());
  const std::string bytes = read(path());
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    std::string one = bytes;
    // Not the code itself, which runs as it is.
    const size_t end = one.find("\177ELF"), at = 22 + random() % (end - 22 - 64);
    for (size_t b = 0; b < 1 + random() % 8; ++b) one[at + b] = static_cast<char>(random());
    const uint64_t sum = checksum(std::string_view(one).substr(0, one.size() - 8));
    for (size_t b = 0; b < 8; ++b) one[one.size() - 8 + b] = static_cast<char>(sum >> (8 * b));
    write(path("bad"), one);
    try {
      const auto loaded = load_function<Norm>(path("bad"));
      loaded.explain(rows(9, 33), Array::from(values(33)));
    } catch (const Error&) {
    }
  }
}

TEST_F(Saved, AFileStaysAsItWasWhenSavingFails) {
  const auto f = compile([](Array x) { return x * 2; });
  EXPECT_NE(message_of([&] { f.save(path()); }).find("nothing is compiled yet"), std::string::npos);
  f(Array::from({1.f}));
  f.save(path());
  const std::string before = read(path());
  EXPECT_THAT(message_of([&] { f.save(path(), {"sm_1"}); }), HasSubstr("save(): nothing compiles for sm_1: "));
  EXPECT_EQ(read(path()), before);
  EXPECT_THAT(message_of([&] { f.save(folder_.path() + "/none/f.saved"); }),
              HasSubstr("/none/f.saved: No such file or directory"));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) files += entry.is_regular_file();
  EXPECT_EQ(files, 1u);
  const auto loaded = load_function<Array(Array)>(path());
  loaded(Array::from({1.f}));
  EXPECT_NE(message_of([&] { loaded.save(path()); }).find("copy the file"), std::string::npos);
}

TEST_F(Saved, SignaturesAreChecked) {
  const auto f = norm();
  f(rows(9, 33), Array::from(values(33)));
  f.save(path());
  EXPECT_EQ(message_of([&] { load_function<Array(Array)>(path()); }),
            "load_function(): the function of " + path() + " takes (Array, Array), not (Array)");
  EXPECT_EQ(message_of([&] { load_function<Array(Array, Array)>(path()); }),
            "load_function(): the function of " + path() + " returns 2 arrays, not 1");
  load_function<std::vector<Array>(Array, Array)>(path());
  const auto loaded = load_function<Norm>(path());
  Array later = rows(9, 33) * 2;
  EXPECT_NE(message_of([&] { loaded(later, Array::from(values(33))); }).find("loaded from a file"), std::string::npos);
}

TEST_F(Saved, CodeOfTheUsersOwnIsNot) {
  CustomOperation operation;
  operation.name = "mine";
  operation.cpu = [](const CustomCall& call) {
    const auto x = call.inputs[0].span<float>();
    std::copy(x.begin(), x.end(), call.outputs[0].span<float>().begin());
  };
  const Custom own(operation);
  const auto f = compile([own](Array x) { return own({x * 2}) + 1; });
  f(Array::from({1.f, 2.f}));
  const std::string message = message_of([&] { f.save(path()); });
  EXPECT_NE(message.find("code of the program's own"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// What the tests above run in a process without compilers.
class SavedInChild : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* file = std::getenv("SMELT_SAVED");
    if (!file) GTEST_SKIP() << "runs in a child of other tests";
    file_ = file;
  }
  std::string file_;
};

TEST_F(SavedInChild, RunsTheFile) {
  EXPECT_FALSE(Device::cpu().usable());
  int compiled = 0, fell_back = 0;
  on_event([&](const Event& event) {
    compiled += event.kind == Event::Kind::Compiled;
    fell_back += event.kind == Event::Kind::FellBack;
  });
  const auto loaded = load_function<Norm>(file_);
  const auto [y, m] = loaded(rows(9, 33), Array::from(values(33)));
  std::istringstream expected(read(std::filesystem::path(file_).parent_path() / "expected"));
  for (const uint32_t word : bits(y)) {
    uint32_t e = 0;
    ASSERT_TRUE(expected >> e);
    ASSERT_EQ(word, e);
  }
  loaded(rows(1000, 33), Array::from(values(33)));
  EXPECT_EQ(compiled, 0);
  EXPECT_EQ(fell_back, 0);
  EXPECT_THAT(message_of([&] { loaded(rows(9, 34), Array::from(values(34))); }),
              HasSubstr("the saved function norm has no code for f32[9, 34], f32[34] on cpu"));
  EXPECT_THAT(message_of([&] { compile([](Array x) { return x * 2; })(rows(2, 2)); }),
              HasSubstr("function cannot be compiled: SMELT_LLVM=/nonexistent/libLLVM.so cannot be used"))
      << "nothing else compiles here";
}

TEST_F(SavedInChild, SavesOnAGpu) {
  const Device gpu = Device::cuda();
  ASSERT_TRUE(gpu.usable()) << gpu.missing();
  const auto f = norm();
  f(rows(9, 33).to(gpu), Array::from(values(33)).to(gpu));
  f.save(file_);
}

TEST_F(SavedInChild, LoadsOnAGpu) {
  const Device gpu = Device::cuda();
  EXPECT_FALSE(gpu.usable());
  fake_cuda::State& fake = testing::fresh_fake();
  const auto loaded = load_function<Norm>(file_);
  const Array x = rows(9, 33).to(gpu), g = Array::from(values(33)).to(gpu);
  const auto results = loaded(x, g);
  gpu.synchronize();
  EXPECT_GE(fake.launches.size(), 1u);
  EXPECT_EQ(fake.compiled, 0);
  EXPECT_EQ(fake.fault, "");
  EXPECT_EQ(results.first.shape(), (Dims{9, 33}));
  EXPECT_EQ(loaded.specializations().at(0).reason, file_ + " has it, for cuda");
  EXPECT_THAT(message_of([&] { loaded(rows(9, 34).to(gpu), Array::from(values(34)).to(gpu)); }),
              HasSubstr("the saved function norm has no code for f32[9, 34], f32[34] on cuda"));
}

TEST_F(SavedInChild, RunsTheFileOnARealGpu) {
  const Device gpu = Device::cuda();
  ASSERT_FALSE(gpu.usable()) << "there is no NVRTC";
  const auto loaded = load_function<Norm>(file_);
  const Array y = loaded(rows(9, 33).to(gpu), Array::from(values(33)).to(gpu)).first.to(Device::cpu());
  std::istringstream expected(read(std::filesystem::path(file_).parent_path() / "expected"));
  for (const uint32_t word : bits(y)) {
    uint32_t e = 0;
    ASSERT_TRUE(expected >> e);
    ASSERT_EQ(word, e);
  }
  for (const int64_t r : {2, 3, 1000, 4096, 70000}) loaded(rows(r, 33).to(gpu), Array::from(values(33)).to(gpu));
  gpu.synchronize();
}

}  // namespace
}  // namespace smelt
