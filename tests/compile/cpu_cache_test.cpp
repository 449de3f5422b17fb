// Case 37: kernels of the CPU in the cache, asked for by many threads of one process.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "runtime/disk_cache.hpp"

namespace smelt::testing {
namespace {

// Counts what is really compiled.
class CountingLlvm final : public runtime::Llvm {
 public:
  explicit CountingLlvm(std::shared_ptr<Llvm> inner) : inner_(std::move(inner)) {}
  int version() const override { return inner_->version(); }
  std::string version_text() const override { return inner_->version_text(); }
  std::string path() const override { return inner_->path(); }
  std::string triple() const override { return inner_->triple(); }
  std::string cpu_name() const override { return inner_->cpu_name(); }
  const std::string& identity() const override { return inner_->identity(); }
  std::string compile(const std::string& text) override {
    ++compiled;
    return inner_->compile(text);
  }
  std::string assembly(const std::string& text) override { return inner_->assembly(text); }
  std::atomic<int> compiled{0};

 private:
  std::shared_ptr<Llvm> inner_;
};

}  // namespace

TEST(CpuCache, C37_ThreadsThatRequestTheSameColdKernelCompileItOnce) {
  Machine device = Machine::cpu();
  if (!device.llvm) GTEST_SKIP() << device.missing;
  std::string folder = (std::filesystem::temp_directory_path() / "smelt-c37-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  device.cache = std::make_shared<runtime::DiskCache>(folder);
  const auto counting = std::make_shared<CountingLlvm>(device.llvm);
  device.llvm = counting;
  const Graph graph = lang::parse_program("input x: f32[M, N]\nreturn softmax(x, axis=0), x.T * 2\n", "test");
  std::atomic<size_t> kernels{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t)
    threads.emplace_back([&] {
      const Executable e = compile(graph, device);
      kernels = e.kernels().size();
      Tensor x = Tensor::empty(DType::F32, {1, 5});
      for (int i = 0; i < 5; ++i) static_cast<float*>(x.data)[i] = static_cast<float>(i);
      const std::vector<Tensor> out = e.run({x});
      for (int i = 0; i < 5; ++i)
        if (static_cast<float*>(out[0].data)[i] != 1 || static_cast<float*>(out[1].data)[i] != 2.0f * i) ++wrong;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(static_cast<size_t>(counting->compiled), kernels);
  const CacheUse again = compile(graph, device).cache_use();
  EXPECT_EQ(again.misses, 0);
  EXPECT_EQ(static_cast<size_t>(again.hits), kernels);
  std::filesystem::remove_all(folder);
}

}  // namespace smelt::testing
