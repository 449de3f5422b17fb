#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "runtime/cpu.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/llvm_compile.hpp"
#include "smelt/error.hpp"
#include "smelt/runtime.hpp"
#include "support/message_of.hpp"

using namespace smelt;
using namespace smelt::runtime;
using ::testing::HasSubstr;

namespace {

// Sets an environment variable for one test.
class Setting {
 public:
  Setting(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Setting() {
    if (old_)
      setenv(name_.c_str(), old_->c_str(), 1);
    else
      unsetenv(name_.c_str());
  }

 private:
  std::string name_;
  std::optional<std::string> old_;
};

std::shared_ptr<Llvm> open_or_skip() {
  std::string why;
  return Llvm::open(why);
}

// Adds `value` to the first i64 of the first array.
std::string adder(int value) {
  return "define void @k0_p0(i64 %begin, i64 %end, ptr %arrays, ptr %sizes, ptr %scratch) {\n"
         "  %p = load ptr, ptr %arrays\n"
         "  %x = load i64, ptr %p\n"
         "  %y = add i64 %x, " +
         std::to_string(value) +
         "\n"
         "  store i64 %y, ptr %p\n"
         "  ret void\n"
         "}\n";
}

int64_t call(const Module& module, int64_t x) {
  void* arrays[] = {&x};
  module.function("k0_p0")(0, 1, arrays, nullptr, nullptr);
  return x;
}

int64_t resident_bytes() {
  FILE* file = std::fopen("/proc/self/statm", "r");
  long total = 0, resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * 4096L : 0;
}

}  // namespace

TEST(Llvm, SaysWhatItIs) {
  auto llvm = open_or_skip();
  if (!llvm) GTEST_SKIP() << "no libLLVM here";
  EXPECT_GE(llvm->version(), 16);
  EXPECT_THAT(llvm->version_text(), HasSubstr(std::to_string(llvm->version()) + "."));
  EXPECT_THAT(llvm->path(), HasSubstr("LLVM"));
  EXPECT_THAT(llvm->triple(), HasSubstr("linux"));
  EXPECT_FALSE(llvm->cpu_name().empty());
}

// What keys of the cache are made of. The processor's part is asked for with another one, too.
TEST(Llvm, ItsIdentityNamesAllThatCodeDependsOn) {
  auto llvm = open_or_skip();
  if (!llvm) GTEST_SKIP() << "no libLLVM here";
  const std::string identity = llvm->identity();
  EXPECT_THAT(identity, HasSubstr("LLVM " + llvm->version_text() + " "));
  EXPECT_THAT(identity, HasSubstr(llvm->path()));
  EXPECT_THAT(identity, HasSubstr(std::to_string(std::filesystem::file_size(llvm->path()))));
  EXPECT_THAT(identity, HasSubstr(llvm->triple()));
  EXPECT_THAT(identity, HasSubstr(llvm::passes(static_cast<unsigned>(llvm->version()))));
  EXPECT_THAT(identity, HasSubstr(cpu_identity()));
  EXPECT_GT(cpu_identity().size(), 40U) << "what the processor can do";
  const Setting chosen("SMELT_CPU", "x86-64");
  EXPECT_THAT(cpu_identity(), HasSubstr("x86-64"));
  std::string why;
  const auto lesser = Llvm::open(why);
  ASSERT_TRUE(lesser) << why;
  EXPECT_NE(lesser->identity(), identity);
}

TEST(Llvm, ModulesWithTheSameNamesLiveTogetherAndOutliveTheLoader) {
  auto llvm = open_or_skip();
  if (!llvm) GTEST_SKIP() << "no libLLVM here";
  auto one = llvm->load(adder(1)), ten = llvm->load(adder(10));
  llvm.reset();
  EXPECT_EQ(call(*one, 5), 6);
  EXPECT_EQ(call(*ten, 5), 15);
  one.reset();
  EXPECT_EQ(call(*ten, 6), 16);
  EXPECT_EQ(smelt::testing::message_of<InternalError>([&] { ten->function("k1_p0"); }),
            "internal error in smelt: the module has no function k1_p0");
}

TEST(Llvm, KernelsReachTheMathsLibrary) {
  auto llvm = open_or_skip();
  if (!llvm) GTEST_SKIP() << "no libLLVM here";
  auto module = llvm->load(
      "declare double @fmod(double, double)\n"
      "define void @f(i64 %begin, i64 %end, ptr %arrays, ptr %sizes, ptr %scratch) {\n"
      "  %p = load ptr, ptr %arrays\n  %x = load double, ptr %p\n  %y = call double @fmod(double %x, double 4.0)\n"
      "  store double %y, ptr %p\n  ret void\n}\n");
  double x = 7;
  void* arrays[] = {&x};
  module->function("f")(0, 1, arrays, nullptr, nullptr);
  EXPECT_EQ(x, 3);
}

TEST(Llvm, ErrorsShowTheLine) {
  auto llvm = open_or_skip();
  if (!llvm) GTEST_SKIP() << "no libLLVM here";
  auto message = [&](const std::string& text) {
    try {
      llvm->load(text);
    } catch (const InternalError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string parse = message("define void @f() {\n  %a = add i32 1, 2\n  %b = bogus i32 %a\n  ret void\n}\n");
  EXPECT_THAT(parse, HasSubstr(":3:"));
  EXPECT_THAT(parse, HasSubstr("bogus i32 %a"));
  const std::string verify = message(
      "define i32 @f(i1 %c) {\nentry:\n  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 2\n  br label %b\n"
      "b:\n  %y = mul i32 %x, 3\n  ret i32 %y\n}\n");
  EXPECT_THAT(verify, HasSubstr("dominate"));
  EXPECT_THAT(verify, HasSubstr("line 5: %x = add i32 1, 2"));
  const std::string link = message(
      "declare void @no_such_function()\ndefine void @f() {\n"
      "  call void @no_such_function()\n  ret void\n}\n");
  EXPECT_THAT(link, HasSubstr("no_such_function"));
  EXPECT_EQ(call(*llvm->load(adder(2)), 1), 3);  // and it goes on working
}

TEST(Llvm, AssemblyIsText) {
  auto llvm = open_or_skip();
  if (!llvm) GTEST_SKIP() << "no libLLVM here";
  EXPECT_THAT(llvm->assembly(adder(77)), HasSubstr("77"));
  EXPECT_THAT(llvm->assembly(adder(77)), HasSubstr("k0_p0:"));
}

TEST(Llvm, ManyThreadsLoadAtOnce) {
  auto llvm = open_or_skip();
  if (!llvm) GTEST_SKIP() << "no libLLVM here";
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4; ++i)
        if (call(*llvm->load(adder(100 * t + i)), 1) != 100 * t + i + 1) ++wrong;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Llvm, ManyModulesComeAndGoInFlatMemory) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer holds freed memory back; it looks for leaks itself";
#endif
  auto llvm = open_or_skip();
  if (!llvm) GTEST_SKIP() << "no libLLVM here";
  // 10,000 by SMELT_MANY=10000; fewer by default to keep the run short.
  const char* many = std::getenv("SMELT_MANY");
  const int count = many ? std::atoi(many) : 1000;
  for (int i = 0; i < 200; ++i) llvm->load(adder(i));
  const int64_t before = resident_bytes();
  for (int i = 0; i < count; ++i) ASSERT_EQ(call(*llvm->load(adder(i)), 1), i + 1);
  const int64_t grown = resident_bytes() - before;
  RecordProperty("grown_bytes", std::to_string(grown));
  EXPECT_LT(grown, (4 << 20) + int64_t{400} * count);
}

TEST(Llvm, AMissingLibraryIsExplained) {
  const Setting setting("SMELT_LLVM", "/nonexistent/libLLVM.so");
  std::string why;
  EXPECT_EQ(Llvm::open(why), nullptr);
  EXPECT_THAT(why, HasSubstr("/nonexistent/libLLVM.so"));
  EXPECT_THAT(why, HasSubstr("apt-get install libllvm19"));
}

TEST(Llvm, ALibraryThatIsNotLlvmIsExplained) {
  const Setting setting("SMELT_LLVM", "libm.so.6");
  std::string why;
  EXPECT_EQ(Llvm::open(why), nullptr);
  EXPECT_THAT(why, HasSubstr("LLVMGetVersion"));
}

namespace {

// A compiler that is libLLVM after all, and counts how often it is opened and asked.
struct Counted {
  int opened = 0, compiled = 0;
  std::string cpu;
};

LlvmCompiler counting(const std::shared_ptr<Llvm>& llvm, const std::shared_ptr<Counted>& counted,
                      const std::string& passes) {
  LlvmCompiler compiler;
  compiler.name = "counting";
  compiler.install = "pip install counting";
  compiler.path = [llvm] { return llvm->path(); };
  compiler.target = [llvm, counted, passes] {
    ++counted->opened;
    return LlvmCompiler::Target{llvm->version(), 1, 2, llvm->triple(), "a processor", passes};
  };
  compiler.compile = [llvm, counted](const std::string& text, const std::string& cpu, bool assembly) {
    ++counted->compiled;
    counted->cpu = cpu;
    return assembly ? llvm->assembly(text) : llvm->compile(text);
  };
  return compiler;
}

class GivenCompiler : public ::testing::Test {
 protected:
  void TearDown() override { set_llvm_compiler({}); }
  std::shared_ptr<Llvm> llvm_ = open_or_skip();
  std::shared_ptr<Counted> counted_ = std::make_shared<Counted>();
  std::string why_;
};

}  // namespace

TEST_F(GivenCompiler, CompilesWhereItIsNamed) {
  if (!llvm_) GTEST_SKIP() << "no libLLVM";
  set_llvm_compiler(counting(llvm_, counted_, "sroa"));
  EXPECT_EQ(call(*Llvm::open(why_)->load(adder(4)), 3), 7);
  EXPECT_EQ(counted_->compiled, 0);  // libLLVM goes first
  const Setting setting("SMELT_LLVM", "counting");
  why_ = "libLLVM was not found";
  const auto given = Llvm::open_for("x86-64-v2", why_, nullptr);
  ASSERT_NE(given, nullptr);
  EXPECT_EQ(why_, "");
  EXPECT_EQ(given->version_text(), std::to_string(llvm_->version()) + ".1.2");
  EXPECT_FALSE(given->on_any_thread());
  EXPECT_EQ(call(*given->load(adder(4)), 3), 7);
  EXPECT_THAT(given->assembly(adder(4)), HasSubstr("k0_p0"));
  EXPECT_EQ(counted_->compiled, 2);
  EXPECT_EQ(counted_->cpu, "x86-64-v2");
}

TEST_F(GivenCompiler, IsOpenedOnceForAllProcesses) {
  if (!llvm_) GTEST_SKIP() << "no libLLVM";
  const Setting setting("SMELT_LLVM", "counting");
  const std::string folder = ::testing::TempDir() + "/given_compiler";
  std::filesystem::remove_all(folder);
  DiskCache cache(folder);
  set_llvm_compiler(counting(llvm_, counted_, "sroa"));
  const std::string identity = Llvm::open(why_, &cache)->identity();
  EXPECT_EQ(counted_->opened, 1);
  EXPECT_EQ(Llvm::open(why_, &cache)->identity(), identity);
  EXPECT_EQ(counted_->opened, 1);
  set_llvm_compiler(counting(llvm_, counted_, "gvn"));
  EXPECT_NE(Llvm::open(why_, nullptr)->identity(), identity);
}

TEST_F(GivenCompiler, IsNamedWhenItIsMissing) {
  LlvmCompiler compiler = counting(llvm_, counted_, "");
  compiler.path = [] { return ""; };
  set_llvm_compiler(compiler);
  const Setting setting("SMELT_LLVM", "counting");
  EXPECT_EQ(Llvm::open(why_), nullptr);
  EXPECT_THAT(why_, HasSubstr("pip install counting"));
  compiler.target = nullptr;
  EXPECT_EQ(smelt::testing::message_of([&] { set_llvm_compiler(compiler); }),
            "set_llvm_compiler(): counting lacks a function\nhelp: path, target and compile are needed");
}
