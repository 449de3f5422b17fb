// The way of programs through a GPU: arguments, memory, streams, graphs, errors. The driver is the
// one of tests/support/fake_cuda, and what its kernels do is written here; that real kernels
// compute what they should is tested where there is a GPU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "compile/compile.hpp"
#include "emit/cuda.hpp"
#include "frontends/language.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/gpu_pool.hpp"
#include "smelt/error.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

using kernel::ParamKind;
using ::testing::HasSubstr;

// The arguments of a kernel by the names of inputs, outputs ("out0") and sizes.
struct Arguments {
  const fake_cuda::Launch& launch;
  const Executable& executable;
  const kernel::Kernel& kernel;

  size_t find(const std::function<bool(const kernel::Param&)>& wanted) const {
    for (size_t i = 0; i < kernel.params.size(); ++i)
      if (wanted(kernel.params[i])) return i;
    throw std::runtime_error("no such parameter");
  }
  size_t input(const std::string& name) const {
    return find([&](const kernel::Param& p) {
      return p.kind != ParamKind::Size && p.value >= 0 && executable.graph().at(p.value).name == name && !name.empty();
    });
  }
  template <class T>
  const T* array(const std::string& name) const {
    return launch.pointer<T>(input(name));
  }
  template <class T>
  T scalar(const std::string& name) const {
    return launch.argument<T>(input(name));
  }
  template <class T>
  T* output() const {
    return launch.pointer<T>(find([](const kernel::Param& p) { return p.kind == ParamKind::Output; }));
  }
  int64_t size(Symbol symbol) const {
    return launch.argument<int64_t>(find([&](const kernel::Param& p) { return p.symbol == symbol; }));
  }
};
using Code = std::function<void(const Arguments&)>;

class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_ = &fresh_fake();
    std::string name = (std::filesystem::temp_directory_path() / "smelt-gpu-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    open();
  }
  void TearDown() override {
    if (!fake_) return;  // its library is not there
    executables_.clear();
    device_ = {};
    EXPECT_EQ(fake_->fault, "");
    EXPECT_TRUE(fake_->blocks.empty()) << "memory of the GPU was not given back";
    EXPECT_TRUE(fake_->mapped.empty());
    EXPECT_EQ(fake_->contexts, 0);
    EXPECT_EQ(fake_->events, 0);
    EXPECT_EQ(fake_->streams, 0);
    EXPECT_EQ(fake_->graphs, 0);
    std::filesystem::remove_all(folder_);
  }
  void open() {
    const Variable driver("SMELT_CUDA", SMELT_FAKE_CUDA), nvrtc("SMELT_NVRTC", SMELT_FAKE_CUDA);
    const Variable cache("SMELT_CACHE_DIR", folder_ + "/cache");
    device_ = Machine::cuda();
    ASSERT_TRUE(device_.compiles()) << device_.missing;
  }
  // Compiles a program; the last phase of its kernel `k` does what codes[k] says.
  const Executable& compiled(const std::string& text, const std::vector<Code>& codes, bool fuse = true) {
    CompileOptions options;
    options.fuse = fuse;
    executables_.push_back(
        std::make_unique<Executable>(compile(lang::parse_program(text, "<test>"), device_, options)));
    const Executable* executable = executables_.back().get();
    fake_->kernel_for = [executable, codes](const std::string& name) -> fake_cuda::Kernel {
      fake_cuda::Kernel made;
      if (name[0] != 'k') return made;
      const auto k = static_cast<size_t>(std::atoi(name.c_str() + 1));
      const kernel::Kernel& kernel = executable->kernels()[k];
      for (const kernel::Param& p : kernel.params)
        made.sizes.push_back(p.kind == ParamKind::Scalar ? static_cast<size_t>(size_of(p.dtype)) : 8);
      const bool last = name.find(fmt::format("_p{}", kernel.phases.size() - 1)) != std::string::npos;
      if (last && k < codes.size())
        made.run = [=](const fake_cuda::Launch& launch) { codes[k]({launch, *executable, kernel}); };
      return made;
    };
    return *executable;
  }
  static Tensor floats(const std::vector<float>& values) {
    Tensor t = Tensor::empty(DType::F32, {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), static_cast<float*>(t.data));
    return t;
  }
  static std::vector<float> values(const TensorView& t) {
    const auto* data = static_cast<const float*>(t.data);
    return {data, data + t.count()};
  }
  static std::vector<float> range(int n) {
    std::vector<float> v;
    for (int i = 0; i < n; ++i) v.push_back(static_cast<float>(i));
    return v;
  }

  std::string folder_;
  fake_cuda::State* fake_ = nullptr;
  Machine device_;
  std::vector<std::unique_ptr<Executable>> executables_;
};

constexpr const char* kScale = "input x: f32[N]\ninput s: f32\nreturn x * s";
void scale(const Arguments& a) {
  for (int64_t i = 0; i < a.size("N"_size); ++i) a.output<float>()[i] = a.array<float>("x")[i] * a.scalar<float>("s");
}

Tensor scalar(float value) {
  Tensor t = Tensor::empty(DType::F32, {});
  *static_cast<float*>(t.data) = value;
  return t;
}

TEST_F(OnGpu, HostArraysGoThereAndBack) {
  const Executable& e = compiled(kScale, {scale});
  EXPECT_FALSE(e.interpreted());
  for (const int n : {1, 7, 1000, 5}) {
    const Tensor x = floats(range(n)), s = scalar(2);
    const std::vector<Tensor> out = e.run({x, s});
    ASSERT_EQ(out.size(), 1U);
    for (int i = 0; i < n; ++i) ASSERT_EQ(values(out[0])[static_cast<size_t>(i)], 2.0F * static_cast<float>(i));
  }
}

TEST_F(OnGpu, NothingIsLaunchedForNothing) {
  const Executable& e = compiled(kScale, {scale});
  const Tensor x = floats({}), s = scalar(2);
  EXPECT_EQ(e.run({x, s})[0].dims, Dims{0});
  EXPECT_TRUE(fake_->launches.empty());
}

TEST_F(OnGpu, StridedHostArrays) {
  const Executable& e = compiled(kScale, {scale});
  Tensor x = floats(range(10)), s = scalar(3), y = floats(std::vector<float>(10, -1));
  TensorView reversed{DType::F32, {5}, {-2}, static_cast<float*>(x.data) + 9};
  TensorView spread{DType::F32, {5}, {2}, y.data};
  e.run_into({reversed, s}, {spread});
  EXPECT_EQ(values(y), (std::vector<float>{27, -1, 21, -1, 15, -1, 9, -1, 3, -1}));
}

TEST_F(OnGpu, ABoundCallIsOneLaunch) {
  const Executable& e = compiled(kScale, {scale});
  const Tensor x = to_device(device_, floats(range(100))), y = device_empty(device_, DType::F32, {100});
  const Tensor s = scalar(2);
  {
    const BoundCall call = e.bind({x, s}, {y});
    EXPECT_EQ(call.launches(), 1);
    fake_->calls.clear();
    for (int i = 0; i < 3; ++i) call.run();
    EXPECT_EQ(fake_->calls["cuLaunchKernel"], 3);
    fake_->calls.erase("cuLaunchKernel");
    for (const auto& [name, count] : fake_->calls) EXPECT_TRUE(name.find("Ctx") != std::string::npos) << name;
    EXPECT_TRUE(fake_->launches.empty()) << "a call waited";
    call.synchronize();
    EXPECT_EQ(fake_->launches.size(), 3U);
  }
  EXPECT_EQ(values(to_host(device_, y))[50], 100.0F);
}

TEST_F(OnGpu, ManyTimesTheSameCallKeepsMemoryFlat) {
  const Executable& e = compiled(kScale, {scale});
  const Tensor x = floats(range(1000)), s = scalar(2);
  e.run({x, s});
  const size_t allocated = fake_->allocated;
  for (int i = 0; i < 50; ++i) e.run({x, s});
  EXPECT_EQ(fake_->allocated, allocated);
}

constexpr const char* kTwoKernels = "input x: f32[N]\ninput y: f32[N]\nreturn (x + y) * x";
const std::vector<Code> kTwoCodes = {[](const Arguments& a) {
                                       for (int64_t i = 0; i < a.size("N"_size); ++i)
                                         a.output<float>()[i] = a.array<float>("x")[i] + a.array<float>("y")[i];
                                     },
                                     [](const Arguments& a) {
                                       const float* sum = a.launch.pointer<float>(a.find([&](const kernel::Param& p) {
                                         return p.kind == ParamKind::Input && p.value >= 0 &&
                                                a.executable.graph().at(p.value).kind != NodeKind::Input;
                                       }));
                                       for (int64_t i = 0; i < a.size("N"_size); ++i)
                                         a.output<float>()[i] = sum[i] * a.array<float>("x")[i];
                                     }};

TEST_F(OnGpu, SeveralKernelsAreOneGraph) {
  const Executable& e = compiled(kTwoKernels, kTwoCodes, false);
  ASSERT_EQ(e.kernels().size(), 2U);
  const Tensor x = to_device(device_, floats(range(100))), y = to_device(device_, floats(std::vector<float>(100, 1)));
  const Tensor z = device_empty(device_, DType::F32, {100});
  {
    const BoundCall call = e.bind({x, y}, {z});
    EXPECT_EQ(call.launches(), 1);
    fake_->calls.clear();
    call.run();
    call.run();
    EXPECT_EQ(fake_->calls["cuGraphLaunch"], 2);
    EXPECT_EQ(fake_->calls["cuLaunchKernel"], 0);
    call.synchronize();
    EXPECT_EQ(fake_->launches.size(), 4U);
    EXPECT_TRUE(fake_->launches[0].from_graph);
  }
  EXPECT_EQ(values(to_host(device_, z))[9], 90.0F);
  // The same without binding, and from the host.
  e.run_device({x, y}, {z}, device_.gpu->stream());
  EXPECT_EQ(values(to_host(device_, z))[9], 90.0F);
  EXPECT_EQ(values(e.run({floats(range(10)), floats(std::vector<float>(10, 1))})[0])[9], 90.0F);
}

// What another thread does can end a recording.
TEST_F(OnGpu, StepsThatCannotBeRecordedAreLaunchedOneByOne) {
  const Executable& e = compiled(kTwoKernels, kTwoCodes, false);
  const Tensor x = to_device(device_, floats(range(100))), y = to_device(device_, floats(std::vector<float>(100, 1)));
  const Tensor z = device_empty(device_, DType::F32, {100});
  fake_->failures["cuStreamBeginCapture"] = 901;
  const BoundCall call = e.bind({x, y}, {z});
  EXPECT_EQ(call.launches(), 2);
  EXPECT_EQ(fake_->calls["cuStreamBeginCapture"], 2);
  call.run();
  call.synchronize();
  EXPECT_EQ(values(to_host(device_, z))[9], 90.0F);
  fake_->failures.clear();
}

TEST_F(OnGpu, StreamsThatShareTemporariesWait) {
  const Executable& e = compiled(kTwoKernels, kTwoCodes, false);
  const runtime::StreamHandle streams[2] = {device_.gpu->create_stream(), device_.gpu->create_stream()};
  std::vector<Tensor> xs, ys, zs;
  for (int i = 0; i < 8; ++i) {
    xs.push_back(to_device(device_, floats(std::vector<float>(500, static_cast<float>(i)))));
    ys.push_back(to_device(device_, floats(std::vector<float>(500, 1))));
    zs.push_back(device_empty(device_, DType::F32, {500}));
  }
  for (size_t i = 0; i < 8; ++i) e.run_device({xs[i], ys[i]}, {zs[i]}, streams[i % 2]);
  // The later stream first: what it shares with the other must be in order all the same.
  device_.gpu->synchronize(streams[1]);
  device_.gpu->synchronize(streams[0]);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(values(to_host(device_, zs[i]))[499], static_cast<float>(i * (i + 1))) << i;
  device_.pool.reset();
  executables_.clear();
  for (const runtime::StreamHandle stream : streams) device_.gpu->destroy_stream(stream);
}

TEST_F(OnGpu, C48_ThreadsRunOneExecutable) {
  const Executable& e = compiled(kTwoKernels, kTwoCodes, false);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const int n = 10 + 50 * t;
        const Tensor x = floats(std::vector<float>(static_cast<size_t>(n), static_cast<float>(t)));
        const Tensor y = floats(std::vector<float>(static_cast<size_t>(n), 1));
        EXPECT_EQ(values(e.run({x, y})[0]).back(), static_cast<float>(t * (t + 1)));
      }
    });
  for (std::thread& t : threads) t.join();
}

// The functions of a launch end in what the printer calls the one for aligned arrays, or do not.
TEST_F(OnGpu, MisalignedArraysTakeTheGeneralFunction) {
  const Executable& e = compiled(kScale, {scale});
  const Tensor x = to_device(device_, floats(range(101))), y = device_empty(device_, DType::F32, {104}), s = scalar(2);
  const auto names = [&](const TensorView& in, const TensorView& out) {
    fake_->launches.clear();
    const BoundCall call = e.bind({in, s}, {out});
    call.run();
    call.synchronize();
    return fake_->launches.at(0).function;
  };
  const TensorView in{DType::F32, {100}, {1}, x.data}, out{DType::F32, {100}, {1}, y.data};
  TensorView in_off = in, out_off = out;
  in_off.data = static_cast<float*>(x.data) + 1;
  out_off.data = static_cast<float*>(y.data) + 1;
  const std::string aligned = names(in, out);
  const emit::DeviceSource source = emit::emit_cuda(e.kernels()[0], {90});
  const std::vector<int>& needed = source.phases[0].variants[0].alignment;
  const bool asks = std::any_of(needed.begin(), needed.end(), [](int bytes) { return bytes > 4; });
  for (const auto& [a, b] : {std::pair{in_off, out}, {in, out_off}, {in_off, out_off}})
    EXPECT_EQ(names(a, b) != aligned, asks);
  EXPECT_EQ(values(to_host(device_, y))[3], 2.0F * 3);
  TensorView odd = in;
  odd.data = static_cast<char*>(x.data) + 2;
  EXPECT_THAT(message_of([&] {
                e.bind({odd, s}, {out});
              }),
              HasSubstr("which is no multiple of 4, the size of its elements\nhelp: copy it into memory of its own"));
}

TEST_F(OnGpu, ArraysThatAreNotRowMajorAreCopied) {
  const Executable& e = compiled(kScale, {scale});
  // The copies' own kernel, on the host.
  fake_->kernels["copy_4"] = {{8, 8, 8 * 98}, [](const fake_cuda::Launch& l) {
                                const auto* layout = reinterpret_cast<const int64_t*>(l.arguments[2].data());
                                for (int64_t i = 0; i < layout[0]; ++i) {
                                  int64_t rest = i, to = 0, from = 0;
                                  for (int64_t d = layout[1] - 1; d >= 0; --d) {
                                    const int64_t index = rest % layout[2 + d];
                                    rest /= layout[2 + d];
                                    to += index * layout[34 + d];
                                    from += index * layout[66 + d];
                                  }
                                  l.pointer<float>(0)[to] = l.pointer<float>(1)[from];
                                }
                              }};
  const Tensor x = to_device(device_, floats(range(10))), y = to_device(device_, floats(std::vector<float>(10, -1)));
  const Tensor s = scalar(3);
  const TensorView reversed{DType::F32, {5}, {-2}, static_cast<float*>(x.data) + 9};
  const TensorView spread{DType::F32, {5}, {2}, y.data};
  {
    const BoundCall call = e.bind({reversed, s}, {spread});
    EXPECT_EQ(call.launches(), 1) << "three launches, as one graph";
    call.run();
    call.synchronize();
  }
  EXPECT_EQ(values(to_host(device_, y)), (std::vector<float>{27, -1, 21, -1, 15, -1, 9, -1, 3, -1}));
  EXPECT_EQ(values(to_host(device_, spread)), (std::vector<float>{27, 21, 15, 9, 3}));
  const TensorView repeated{DType::F32, {4}, {0}, static_cast<float*>(x.data) + 2};
  const TensorView four{DType::F32, {4}, {1}, y.data};
  e.run_device({repeated, s}, {four}, device_.gpu->stream());
  EXPECT_EQ(values(to_host(device_, four)), (std::vector<float>{6, 6, 6, 6}));
  // The output lies over the input.
  const TensorView low{DType::F32, {9}, {1}, x.data}, high{DType::F32, {9}, {1}, static_cast<float*>(x.data) + 1};
  e.run_device({low, s}, {high}, device_.gpu->stream());
  EXPECT_EQ(values(to_host(device_, x)), (std::vector<float>{0, 0, 3, 6, 9, 12, 15, 18, 21, 24}));
  EXPECT_EQ(message_of([&] {
              e.run_device({low, s}, {TensorView{DType::F32, {9}, {0}, y.data}}, device_.gpu->stream());
            }),
            "output 0 has stride 0 along axis 0: its elements would share memory\nhelp: give memory for each element");
}

TEST_F(OnGpu, AnOutputInPlaceOfItsInputIsNoCopy) {
  const Executable& e = compiled(kScale, {scale});
  const std::string text = emit::emit_cuda(e.kernels()[0], {90}).text;
  EXPECT_EQ(text.find("__restrict__ in0"), std::string::npos) << "the two may be the same memory: " << text;
  EXPECT_EQ(text.find("__restrict__ out"), std::string::npos) << text;
  const Tensor x = to_device(device_, floats(range(10))), s = scalar(3);
  const BoundCall call = e.bind({x, s}, {x});
  fake_->calls.clear();
  call.run();
  call.synchronize();
  EXPECT_EQ(fake_->calls["cuLaunchKernel"], 1) << "and no graph, in which copies would be";
  EXPECT_EQ(fake_->calls["cuMemcpyDtoDAsync"] + fake_->calls["cuGraphLaunch"], 0);
  EXPECT_EQ(values(to_host(device_, x))[9], 27.0F);
}

TEST_F(OnGpu, ScalarsMayStandOnTheGpu) {
  const Executable& e = compiled(kScale, {scale});
  const Tensor x = to_device(device_, floats(range(10))), y = device_empty(device_, DType::F32, {10});
  const Tensor s = to_device(device_, scalar(5));
  e.run_device({x, s}, {y}, device_.gpu->stream());
  EXPECT_EQ(values(to_host(device_, y))[9], 45.0F);
}

TEST_F(OnGpu, AnOutputThatIsGivenTwice) {
  const Executable& e = compiled("input x: f32[N]\ninput s: f32\ny = x * s\nreturn y, y", {scale});
  const Tensor x = floats(range(10)), s = scalar(2);
  const std::vector<Tensor> out = e.run({x, s});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(values(out[0]), values(out[1]));
  EXPECT_EQ(values(out[1])[9], 18.0F);
}

TEST_F(OnGpu, IndicesOutOfRangeAreSaid) {
  bool outside = true;
  const Executable& e =
      compiled("input x: f32[V, 8]\ninput i: i64[N]\nreturn take(x, i, axis=0)", {[&](const Arguments& a) {
                 const int param = a.kernel.error_param;
                 ASSERT_GE(param, 0);
                 ASSERT_EQ(a.kernel.checks.size(), 1U);
                 EXPECT_EQ(a.executable.graph().at(a.kernel.checks[0]).kind, NodeKind::Gather);
                 if (outside) *a.launch.pointer<int32_t>(static_cast<size_t>(param)) = 1;
               }});
  const Tensor x = Tensor::zeros(DType::F32, {4, 8}), i = Tensor::zeros(DType::I64, {3});
  EXPECT_EQ(message_of([&] {
              e.run({x, i});
            }),
            "take met an index out of range: axis 0 of f32[V, 8] has no such element (line 3)\nhelp: check the "
            "indices, or clamp them by the mode 'clip'");
  try {
    e.run({x, i});
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("take met an index out of range"));
  }
  const Tensor dx = to_device(device_, x), di = to_device(device_, i), dy = device_empty(device_, DType::F32, {3, 8});
  const BoundCall call = e.bind({dx, di}, {dy});
  call.run();
  EXPECT_EQ(message_of([&] { call.synchronize(); }),
            "take met an index out of range: axis 0 of f32[V, 8] has no such element (line 3)\nhelp: check the "
            "indices, or clamp them by the mode 'clip'");
  outside = false;
  call.run();
  EXPECT_NO_THROW(call.synchronize()) << "the error of the run before";
}

TEST_F(OnGpu, RefusalsNameTheKernelAndItsOperations) {
  const Executable& e = compiled(kScale, {scale});
  const Tensor x = floats(range(10)), s = scalar(2);
  const auto message = [&]() -> std::string {
    try {
      e.run({x, s});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  fake_->failures["cuLaunchKernel"] = 701;
  EXPECT_THAT(message(), HasSubstr("kernel 1 (*): the GPU cannot launch a kernel"));
  fake_->failures.clear();
  e.run({x, s});
  fake_->failures["cuStreamSynchronize"] = 700;
  EXPECT_THAT(message(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_EQ(message().find("This is a bug in smelt"), message().rfind("This is a bug in smelt"));
  fake_->failures.clear();
}

TEST_F(OnGpu, MemoryThatIsNotThereIsSaid) {
  const Executable& e = compiled(kScale, {scale});
  const Tensor s = scalar(2);
  const Tensor x = Tensor::zeros(DType::F32, {20 << 20});  // 80 MB and as much again, of 64
  try {
    e.run({x, s});
    FAIL() << "ran";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("bytes of memory for arrays"));
    EXPECT_THAT(error.what(), HasSubstr("bytes are free"));
  }
  EXPECT_EQ(values(e.run({floats(range(10)), s})[0])[9], 18.0F) << "afterwards all is well";
}

TEST_F(OnGpu, UnusedBlocksMakeRoom) {
  const Executable& e = compiled(kScale, {scale});
  const Tensor s = scalar(2);
  e.run({Tensor::zeros(DType::F32, {5 << 20}), s});  // 40 of 64 MB
  EXPECT_GT(device_.pool->unused_bytes(), 30 << 20);
  e.run({Tensor::zeros(DType::F32, {7 << 20}), s});  // 56
}

TEST_F(OnGpu, GridsPastTheLimitAreSaid) {
  const Executable& e = compiled("input x: i8[N]\ninput y: i8[1]\nreturn x + y", {});
  // Nothing is touched: the sizes alone are too much.
  char byte = 0;
  TensorView x{DType::I8, {int64_t{1} << 50}, {0}, &byte}, y{DType::I8, {1}, {1}, &byte};
  try {
    e.output_dims({x, y});
    FAIL() << "prepared";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("workgroups"));
    EXPECT_THAT(error.what(), HasSubstr("2147483647"));
  }
}

TEST_F(OnGpu, C42_TheCacheKnowsWhatACubinDependsOn) {
  const auto is_a_miss = [&](const std::string& program, const CompileOptions& options = {}) {
    const int before = fake_->compiled;
    const CacheUse use = compile(lang::parse_program(program, "<test>"), device_, options).cache_use();
    EXPECT_EQ(use.hits + use.misses, 1);
    EXPECT_EQ(fake_->compiled > before, use.misses == 1);
    return use.misses == 1;
  };
  EXPECT_TRUE(is_a_miss(kScale));
  EXPECT_FALSE(is_a_miss(kScale));
  EXPECT_TRUE(is_a_miss("input x: f32[N]\ninput s: f32\nreturn x + s")) << "another program";
  CompileOptions contract;
  contract.nvrtc.contract = true;
  EXPECT_TRUE(is_a_miss(kScale, contract)) << "another flag";
  fake_->driver = 13010;
  open();
  EXPECT_TRUE(is_a_miss(kScale)) << "another driver";
  fake_->driver = 13000;
  open();
  EXPECT_FALSE(is_a_miss(kScale)) << "the first one again";
  fake_->major = 8;
  open();
  EXPECT_TRUE(is_a_miss(kScale)) << "another architecture";
}

TEST_F(OnGpu, TellsHowItsKernelsWereBuilt) {
  fake_->attributes = {{"registers", 40}, {"local", 8}, {"threads", 1024}};
  const Executable& e = compiled(kScale, {scale});
  const std::vector<BuiltFunction> built = e.built({{"N"_size, 1000}});
  ASSERT_GE(built.size(), 1U);
  EXPECT_EQ(built[0].facts.registers, 40);
  EXPECT_EQ(built[0].facts.local_bytes, 8);
  EXPECT_GT(built[0].workgroups_per_processor, 0);
  EXPECT_GT(built[0].occupancy, 0.5);
}

TEST_F(OnGpu, ProgramsForAnArchitectureThatIsNotHereAreOnlyLookedAt) {
  const Variable nvrtc("SMELT_NVRTC", SMELT_FAKE_CUDA), cache("SMELT_CACHE_DIR", "off");
  const Machine absent = Machine::cuda_architecture(80);
  const Executable e = compile(lang::parse_program(kScale, "<test>"), absent);
  EXPECT_THAT(e.dump("source"), HasSubstr("__global__"));
  EXPECT_THAT(e.dump("ptx"), HasSubstr("__global__"));
  EXPECT_TRUE(e.built({}).empty());
  const Tensor x = floats(range(10)), s = scalar(2);
  EXPECT_EQ(message_of([&] {
              e.run({x, s});
            }),
            "the program was compiled for a GPU that is not here\nhelp: `smelt devices` lists those that are");
  EXPECT_FALSE(Machine::cuda_architecture(123).compiles());
}

}  // namespace
}  // namespace smelt::testing
