#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/nvrtc_search.hpp"
#include "smelt/error.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

using namespace smelt::runtime;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kScale = R"(
extern "C" __global__ void scale(const float* x, float* y, float a, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + 1.0f;
}
)";

std::shared_ptr<Nvrtc> nvrtc(std::string& why) {
  static const std::shared_ptr<Nvrtc> opened = open_nvrtc(why);
  return opened;
}
#define NEEDS_NVRTC(name)                         \
  std::string why;                                \
  const std::shared_ptr<Nvrtc> name = nvrtc(why); \
  if (!name) GTEST_SKIP() << "no NVRTC here: " << why

TEST(Nvrtc, CompilesForEveryArchitectureThatWeServe) {
  NEEDS_NVRTC(compiler);
  int built = 0;
  for (const int compute : {75, 80, 86, 89, 90, 100, 120}) {
    std::string reason;
    if (!compiler->supports(compute, reason)) {
      EXPECT_THAT(reason, HasSubstr("does not compile for sm_"));
      continue;
    }
    const std::string cubin = compiler->compile(kScale, compute);
    EXPECT_EQ(cubin.substr(0, 4),
              "\x7f"
              "ELF")
        << compute;
    EXPECT_THAT(cubin, HasSubstr("scale"));
    ++built;
  }
  EXPECT_GE(built, 3);
}

TEST(Nvrtc, ContractsOnlyWhenAsked) {
  NEEDS_NVRTC(compiler);
  const std::string apart = compiler->ptx(kScale, 80), together = compiler->ptx(kScale, 80, {true});
  EXPECT_THAT(apart, Not(HasSubstr("fma.rn.f32")));
  EXPECT_THAT(apart, HasSubstr("mul.rn.f32"));
  EXPECT_THAT(together, HasSubstr("fma.rn.f32"));
  EXPECT_THAT(apart, HasSubstr(".target sm_80"));
  EXPECT_NE(compiler->arguments(80, {}), compiler->arguments(80, {true}));
  EXPECT_NE(compiler->arguments(80, {}), compiler->arguments(90, {}));
}

TEST(Nvrtc, WrongSourceSaysWhichLine) {
  NEEDS_NVRTC(compiler);
  try {
    compiler->compile("extern \"C\" __global__ void f(float* x) {\n  x[0] = nothing_of_that_name;\n}\n", 80);
    FAIL() << "compiled";
  } catch (const InternalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("nothing_of_that_name\" is undefined"));
    EXPECT_THAT(e.what(), HasSubstr("   2 |   x[0] = nothing_of_that_name;"));
  }
  EXPECT_EQ(message_of<InternalError>([&] { compiler->compile("#include <cuda_fp16.h>\n", 80); }),
            "internal error in smelt: NVRTC 13.0 refuses a kernel (NVRTC_ERROR_COMPILATION)\nkernel.cu(1): "
            "catastrophic error: could not open source file \"cuda_fp16.h\" (no directories in search list)\n  "
            "#include <cuda_fp16.h>\n                        ^\n\n1 catastrophic error detected in the compilation of "
            "\"kernel.cu\".\nCompilation terminated.\nthe lines that it names:\n     1 | #include <cuda_fp16.h>");
}

TEST(Nvrtc, RefusesAnArchitectureThatItDoesNotKnow) {
  NEEDS_NVRTC(compiler);
  EXPECT_EQ(message_of<InternalError>([&] { compiler->compile(kScale, 999); }),
            "internal error in smelt: NVRTC 13.0 refuses a kernel (NVRTC_ERROR_INVALID_OPTION)\nnvrtc: error: invalid "
            "value for --gpu-architecture (-arch)");
  EXPECT_FALSE(compiler->supports(999, why));
  EXPECT_THAT(why, HasSubstr("newer"));
  EXPECT_FALSE(compiler->supports(10, why));
  EXPECT_THAT(why, HasSubstr("older"));
}

TEST(Nvrtc, ManyThreadsCompileAtATime) {
  NEEDS_NVRTC(compiler);
  std::vector<std::thread> threads;
  std::vector<std::string> cubins(4);
  for (size_t t = 0; t < cubins.size(); ++t)
    threads.emplace_back([&, t] { cubins[t] = compiler->compile(kScale, 80); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& cubin : cubins) EXPECT_EQ(cubin, cubins[0]);
}

TEST(Nvrtc, SettingThatNamesNoLibraryIsSaid) {
  const Variable chosen("SMELT_NVRTC", "/nowhere/libnvrtc.so");
  std::string why;
  EXPECT_EQ(Nvrtc::open(why), nullptr);
  EXPECT_THAT(why, HasSubstr("SMELT_NVRTC=/nowhere/libnvrtc.so"));
  EXPECT_THAT(why, HasSubstr("pip install"));
}

TEST(Nvrtc, LibraryThatIsNoNvrtcIsSaid) {
  const Variable chosen("SMELT_NVRTC", "libm.so.6");
  std::string why;
  EXPECT_EQ(Nvrtc::open(why), nullptr);
  EXPECT_THAT(why, HasSubstr("nvrtcCreateProgram"));
}

TEST(Nvrtc, PassesOverWhatIsTooNewForTheDriver) {
  NEEDS_NVRTC(compiler);
  const Variable chosen("SMELT_NVRTC", compiler->path());
  const int major = compiler->version() / 1000;
  EXPECT_NE(Nvrtc::open(why, major), nullptr);
  EXPECT_EQ(Nvrtc::open(why, major - 1), nullptr);
  EXPECT_THAT(why, HasSubstr("too new for the driver"));
}

// A machine that is made up of empty files.
class NvrtcSearch : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("smelt-search-" + std::to_string(getpid()));
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "x";
  }
  std::vector<std::string> found(const std::map<std::string, std::string>& environment) {
    std::vector<std::string> files;
    const auto variable = [&](const char* name) {
      const auto it = environment.find(name);
      return it == environment.end() ? std::string() : it->second;
    };
    for (const std::string& file : nvrtc_files({variable, root_.string()}))
      files.push_back(file.substr(root_.string().size()));
    return files;
  }
  std::filesystem::path root_;
};

TEST_F(NvrtcSearch, NothingThere) { EXPECT_TRUE(found({{"HOME", "/h"}, {"PATH", "/bin:/usr/bin"}}).empty()); }

TEST_F(NvrtcSearch, PythonBeforeToolkitNewBeforeOld) {
  put("usr/local/cuda-12.4/lib64/libnvrtc.so.12");
  put("usr/local/cuda-13.0/lib64/libnvrtc.so.13");
  put("usr/local/lib/python3.11/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  put("h/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  put("h/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.0");
  EXPECT_THAT(found({{"HOME", "/h"}}),
              ElementsAre("/h/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
                          "/usr/local/lib/python3.11/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                          "/usr/local/cuda-13.0/lib64/libnvrtc.so.13", "/usr/local/cuda-12.4/lib64/libnvrtc.so.12"));
}

TEST_F(NvrtcSearch, ActiveEnvironmentsComeFirst) {
  put("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  put("conda/lib/libnvrtc.so.12");
  put("opt/python/bin/python3");
  put("opt/python/lib/python3.10/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  put("my/toolkit/lib64/libnvrtc.so.12");
  EXPECT_THAT(found({{"VIRTUAL_ENV", "/venv"},
                     {"CONDA_PREFIX", "/conda"},
                     {"PATH", "/bin::/opt/python/bin"},
                     {"CUDA_HOME", "/my/toolkit"}}),
              ElementsAre("/venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                          "/conda/lib/libnvrtc.so.12",
                          "/opt/python/lib/python3.10/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                          "/my/toolkit/lib64/libnvrtc.so.12"));
}

TEST_F(NvrtcSearch, OneLibraryUnderTwoNamesIsOne) {
  put("usr/local/cuda-13.0/lib64/libnvrtc.so.13.0.48");
  std::filesystem::create_symlink("libnvrtc.so.13.0.48", root_ / "usr/local/cuda-13.0/lib64/libnvrtc.so.13");
  std::filesystem::create_directory_symlink("cuda-13.0", root_ / "usr/local/cuda");
  EXPECT_EQ(found({}).size(), 1U);
}

}  // namespace
}  // namespace smelt::testing
