#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "smelt/error.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

using namespace smelt::runtime;
using ::testing::HasSubstr;

TEST(Gpu, WithoutADriverItSaysWhatWasTried) {
  const Variable chosen("SMELT_CUDA", "/nowhere/libcuda.so");
  std::string why;
  EXPECT_EQ(Gpu::open(0, why), nullptr);
  EXPECT_THAT(why, HasSubstr("SMELT_CUDA=/nowhere/libcuda.so"));
}

TEST(Gpu, NoGpuAndNoSuchGpu) {
  fake_cuda::State& fake = fresh_fake();
  const Variable chosen("SMELT_CUDA", SMELT_FAKE_CUDA);
  std::string why;
  EXPECT_EQ(Gpu::open(3, why), nullptr);
  EXPECT_THAT(why, HasSubstr("there is no GPU 3: this machine has 1"));
  EXPECT_EQ(Gpu::open(-1, why), nullptr);
  fake.devices = 0;
  EXPECT_EQ(Gpu::open(0, why), nullptr);
  EXPECT_THAT(why, HasSubstr("CUDA_VISIBLE_DEVICES"));
  fake.devices = 1;
  fake.failures["cuDevicePrimaryCtxRetain"] = 802;
  EXPECT_EQ(Gpu::open(0, why), nullptr);
  EXPECT_THAT(why, HasSubstr("GPU 0 cannot be used"));
}

TEST(Gpu, FactsAreTheDrivers) {
  fresh_fake();
  const auto gpu = open_fake();
  const GpuFacts& facts = gpu->facts();
  EXPECT_EQ(facts.name, "GPU of the tests");
  EXPECT_EQ(facts.compute, 90);
  EXPECT_EQ(facts.processors, 4);
  EXPECT_EQ(facts.shared_bytes_per_workgroup, 227 << 10);
  EXPECT_EQ(facts.memory_bytes, 64 << 20);
  EXPECT_TRUE(facts.clusters);
}

TEST(Gpu, EverythingIsGivenBack) {
  fake_cuda::State& fake = fresh_fake();
  {
    const auto gpu = open_fake();
    const auto module = gpu->load(
        "\x7f"
        "ELF");
    gpu->release(gpu->allocate(100));
    gpu->release_mapped(gpu->allocate_mapped(8).host);
    gpu->destroy_event(gpu->create_event(true));
    gpu->destroy_stream(gpu->create_stream());
  }
  EXPECT_EQ(fake.contexts, 0);
  EXPECT_EQ(fake.modules, 0);
  EXPECT_EQ(fake.streams, 0);
  EXPECT_EQ(fake.events, 0);
  EXPECT_TRUE(fake.blocks.empty());
  EXPECT_TRUE(fake.mapped.empty());
  EXPECT_EQ(fake.fault, "");
}

TEST(Gpu, AModuleOutlivesItsGpu) {
  fake_cuda::State& fake = fresh_fake();
  auto gpu = open_fake();
  auto module = gpu->load(
      "\x7f"
      "ELF");
  gpu.reset();
  EXPECT_EQ(fake.contexts, 1);
  EXPECT_NE(module->function("k0"), nullptr);
  module.reset();
  EXPECT_EQ(fake.contexts, 0);
}

TEST(Gpu, DataGoesThereAndBack) {
  fresh_fake();
  const auto gpu = open_fake();
  std::vector<int> numbers(1000), back(1000);
  std::iota(numbers.begin(), numbers.end(), 7);
  const uint64_t a = gpu->allocate(4000), b = gpu->allocate(4000);
  gpu->upload(a, numbers.data(), 4000, gpu->stream());
  gpu->copy(b, a, 4000, gpu->stream());
  gpu->fill(a, 0, 4000, gpu->stream());
  gpu->download(back.data(), b, 4000, gpu->stream());
  EXPECT_EQ(back, numbers);
  gpu->download(back.data(), a, 4000, gpu->stream());
  EXPECT_EQ(back, std::vector<int>(1000));
  EXPECT_TRUE(gpu->is_device_memory(reinterpret_cast<void*>(a + 100)));
  EXPECT_FALSE(gpu->is_device_memory(back.data()));
  gpu->release(a);
  gpu->release(b);
}

TEST(Gpu, LaunchesCarryShapeAndArguments) {
  fake_cuda::State& fake = fresh_fake();
  fake.kernels["add"] = {{8, 4, 8}, [](const fake_cuda::Launch& l) {
                           for (int64_t i = 0; i < l.argument<int64_t>(2); ++i)
                             l.pointer<float>(0)[i] += l.argument<float>(1);
                         }};
  const auto gpu = open_fake();
  const auto module = gpu->load(
      "\x7f"
      "ELF");
  const FunctionHandle add = module->function("add");
  uint64_t x = gpu->allocate(40);
  gpu->fill(x, 0, 40, gpu->stream());
  float amount = 2.5F;
  int64_t n = 10;
  void* arguments[] = {&x, &amount, &n};
  gpu->launch(add, {7, 64, 1, 1024}, arguments, gpu->stream());
  gpu->launch(add, {8, 32, 4, 0}, arguments, gpu->stream());
  amount = 100;  // was read by the launch
  std::vector<float> back(10);
  gpu->download(back.data(), x, 40, gpu->stream());
  EXPECT_EQ(back, std::vector<float>(10, 5.0F));
  ASSERT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(fake.launches[0].grid, 7U);
  EXPECT_EQ(fake.launches[0].block, 64U);
  EXPECT_EQ(fake.launches[0].shared_bytes, 1024U);
  EXPECT_EQ(fake.launches[1].cluster, 4U);
  EXPECT_EQ(message_of<InternalError>([&] {
              gpu->launch(add, {int64_t{1} << 31, 32, 1, 0}, arguments, gpu->stream());
            }),
            "internal error in smelt: a launch of 2147483648 workgroups");
  EXPECT_EQ(message_of<InternalError>([&] {
              gpu->launch(add, {0, 32, 1, 0}, arguments, gpu->stream());
            }),
            "internal error in smelt: a launch of 0 workgroups");
  gpu->release(x);
}

TEST(Gpu, GraphsRunWhatWasNoted) {
  fake_cuda::State& fake = fresh_fake();
  const auto gpu = open_fake();
  const auto module = gpu->load(
      "\x7f"
      "ELF");
  const FunctionHandle f = module->function("f"), g = module->function("g");
  const StreamHandle stream = gpu->create_stream();
  gpu->begin_capture(stream);
  gpu->launch(f, {}, nullptr, stream);
  gpu->launch(g, {}, nullptr, stream);
  const GraphHandle graph = gpu->end_capture(stream);
  gpu->synchronize(stream);
  EXPECT_TRUE(fake.launches.empty());
  gpu->launch_graph(graph, gpu->stream());
  gpu->launch_graph(graph, gpu->stream());
  gpu->synchronize(gpu->stream());
  EXPECT_EQ(fake.launches.size(), 4U);
  gpu->destroy_graph(graph);
  gpu->destroy_stream(stream);
}

TEST(Gpu, StreamsWaitForEvents) {
  fake_cuda::State& fake = fresh_fake();
  const auto gpu = open_fake();
  const auto module = gpu->load(
      "\x7f"
      "ELF");
  const StreamHandle other = gpu->create_stream();
  const EventHandle done = gpu->create_event(false);
  gpu->launch(module->function("first"), {}, nullptr, gpu->stream());
  gpu->record(done, gpu->stream());
  gpu->wait(other, done);
  gpu->launch(module->function("second"), {}, nullptr, other);
  gpu->synchronize(other);
  ASSERT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(fake.launches[0].function, "first");
  gpu->destroy_event(done);
  gpu->destroy_stream(other);
}

TEST(Gpu, MemoryThatIsNotThere) {
  fresh_fake();
  const auto gpu = open_fake();
  const std::string message = message_of([&] { gpu->allocate(int64_t{1} << 40); });
  EXPECT_THAT(message, HasSubstr("1099511627776 bytes"));
  EXPECT_THAT(message, HasSubstr("67108864 of 67108864 bytes are free"));
}

TEST(Gpu, RefusalsAreErrorsThatSayWhat) {
  fake_cuda::State& fake = fresh_fake();
  const auto gpu = open_fake();
  fake.failures["cuStreamSynchronize"] = 700;
  EXPECT_THAT(message_of<InternalError>([&] { gpu->synchronize(gpu->stream()); }),
              HasSubstr("an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"));
  fake.failures["cuStreamSynchronize"] = 214;
  EXPECT_EQ(message_of([&] { gpu->synchronize(gpu->stream()); }),
            "the GPU cannot finish queued work: as the test wants (CUDA_ERROR_ECC_UNCORRECTABLE)\nhelp: nvidia-smi "
            "says more about the machine");
  fake.failures.clear();
  const auto module = gpu->load(
      "\x7f"
      "ELF");
  EXPECT_THAT(message_of<InternalError>([&] { module->function("absent"); }), HasSubstr("has no function absent"));
}

TEST(Gpu, WorksFromEveryThread) {
  fresh_fake();
  const auto gpu = open_fake();
  std::thread([&] { gpu->release(gpu->allocate(64)); }).join();
}

TEST(Gpu, AForeignContextStaysCurrent) {
  fresh_fake();
  const auto gpu = open_fake();
  void* library = dlopen(SMELT_FAKE_CUDA, RTLD_NOW);
  const auto set = reinterpret_cast<int (*)(void*)>(dlsym(library, "cuCtxSetCurrent"));
  const auto get = reinterpret_cast<int (*)(void**)>(dlsym(library, "cuCtxGetCurrent"));
  int foreign = 0;
  void* now = nullptr;
  set(&foreign);
  gpu->release(gpu->allocate(64));
  get(&now);
  EXPECT_EQ(now, &foreign);
}

TEST(Gpu, FunctionsTellWhatTheyNeed) {
  fake_cuda::State& fake = fresh_fake();
  fake.attributes = {{"registers", 40}, {"local", 16}, {"shared", 128}, {"threads", 512}};
  const auto gpu = open_fake();
  const auto module = gpu->load(
      "\x7f"
      "ELF");
  const FunctionHandle f = module->function("f");
  const FunctionFacts facts = module->facts(f);
  EXPECT_EQ(facts.registers, 40);
  EXPECT_EQ(facts.local_bytes, 16);
  EXPECT_EQ(facts.shared_bytes, 128);
  EXPECT_EQ(facts.max_threads, 512);
  EXPECT_EQ(module->workgroups_per_processor(f, 256, 0), 8);
  module->allow_shared_bytes(f, 100000);
  EXPECT_EQ(fake.allowed_shared["f"], 100000);
}

TEST(Gpu, MeasuresACopy) {
  fake_cuda::State& fake = fresh_fake();
  const auto gpu = open_fake();
  EXPECT_DOUBLE_EQ(measure_copy_seconds(*gpu, 1 << 20, 5), 0.25e-3);
  EXPECT_EQ(measure_copy_seconds(*gpu, 0, 5), 0);
  EXPECT_EQ(fake.events, 0);
  EXPECT_TRUE(fake.blocks.empty());
}

}  // namespace
}  // namespace smelt::testing
