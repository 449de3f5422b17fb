// The user's own CUDA kernels on the driver of tests/support/fake_cuda, whose kernels are what the
// tests say.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdlib.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "compile/compile.hpp"
#include "graph/build.hpp"
#include "graph/custom_code.hpp"
#include "smelt/error.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

using ::testing::HasSubstr;

struct Failed {
  int code;
};

// y = x * 3, by a grid and blocks of three dimensions.
CustomCode triple() {
  CustomCode code;
  code.name = "triple";
  code.cuda =
      CudaKernel{"__global__ void triple(const float* x, float* y, int n)", "triple", [](const CustomCall& call) {
                   CudaLaunch launch;
                   launch.grid = {2, 3, 4};
                   launch.block = {8, 4, 2};
                   launch.shared_bytes = 64 << 10;
                   launch.arguments = {call.inputs[0], call.outputs[0], static_cast<int>(call.inputs[0].count())};
                   return launch;
                 }};
  return code;
}

class CustomOnFakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_ = &fresh_fake();
    std::string name = (std::filesystem::temp_directory_path() / "smelt-custom-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fake_->kernels["triple"] = {{8, 8, 4}, [](const fake_cuda::Launch& launch) {
                                  for (int i = 0; i < launch.argument<int>(2); ++i)
                                    launch.pointer<float>(1)[i] = 3 * launch.pointer<float>(0)[i];
                                }};
    const Variable driver("SMELT_CUDA", SMELT_FAKE_CUDA), nvrtc("SMELT_NVRTC", SMELT_FAKE_CUDA);
    const Variable cache("SMELT_CACHE_DIR", folder_ + "/cache");
    device_ = Machine::cuda();
    ASSERT_TRUE(device_.compiles()) << device_.missing;
  }
  void TearDown() override {
    if (!fake_) return;  // its library is not there
    device_ = {};
    EXPECT_EQ(fake_->fault, "");
    EXPECT_TRUE(fake_->blocks.empty()) << "memory of the GPU was not given back";
    std::filesystem::remove_all(folder_);
  }

  // Calls it on the input x: f32[N], twice in a row.
  Executable twice(CustomCode made) const {
    GraphBuilder b;
    const auto code = std::make_shared<const CustomCode>(std::move(made));
    const Shape n{sym("N"_size)};
    NodeId value = b.input("x", DType::F32, n);
    for (int i = 0; i < 2; ++i) value = b.custom(code, {value}, {{DType::F32, n}});
    return compile(b.finish({value}), device_, {});
  }
  std::string message_of(CustomCode made) const {
    try {
      twice(std::move(made)).run({floats(3)});
    } catch (const Error& e) {
      return e.what();
    }
    return "nothing was thrown";
  }
  static Tensor floats(int n) {
    Tensor t = Tensor::empty(DType::F32, {n});
    for (int i = 0; i < n; ++i) static_cast<float*>(t.data)[i] = static_cast<float>(i);
    return t;
  }

  std::string folder_;
  fake_cuda::State* fake_ = nullptr;
  Machine device_;
};

TEST_F(CustomOnFakeGpu, IsLaunchedAsAsked) {
  const Executable e = twice(triple());
  EXPECT_EQ(e.plan().groups.size(), 2U);
  for (const int n : {3, 1000, 3}) {
    const Tensor y = e.run({floats(n)})[0];
    for (int i = 0; i < n; ++i) ASSERT_EQ(static_cast<float*>(y.data)[i], static_cast<float>(9 * i));
  }
  ASSERT_EQ(fake_->launches.size(), 6U);
  const fake_cuda::Launch& launch = fake_->launches[0];
  EXPECT_EQ(launch.function, "triple");
  EXPECT_EQ(launch.grid, 2U);
  EXPECT_EQ(launch.grid_y, 3U);
  EXPECT_EQ(launch.grid_z, 4U);
  EXPECT_EQ(launch.block, 8U);
  EXPECT_EQ(launch.block_y, 4U);
  EXPECT_EQ(launch.block_z, 2U);
  EXPECT_EQ(launch.shared_bytes, 64U << 10);
  EXPECT_GE(fake_->allowed_shared["triple"], 64 << 10);
  EXPECT_EQ(fake_->compiled, 1) << "one source is compiled once";
  EXPECT_EQ(e.run({floats(0)})[0].dims, Dims{0});
  EXPECT_EQ(fake_->launches.size(), 6U);
}

TEST_F(CustomOnFakeGpu, ABoundCallRepeatsItAsAGraph) {
  const Executable e = twice(triple());
  int asked = 0;
  CustomCode counting = triple();
  counting.cuda->launch = [&asked, launch = counting.cuda->launch](const CustomCall& call) {
    ++asked;
    return launch(call);
  };
  const Executable counted = twice(counting);
  const Tensor x = to_device(device_, floats(5)), y = device_empty(device_, DType::F32, {5});
  const BoundCall call = counted.bind({x}, {y});
  EXPECT_EQ(call.launches(), 1);
  for (int i = 0; i < 4; ++i) call.run();
  call.synchronize();
  EXPECT_EQ(asked, 2);
  ASSERT_EQ(fake_->launches.size(), 8U);
  EXPECT_TRUE(fake_->launches[0].from_graph);
}

TEST_F(CustomOnFakeGpu, RunsOnCopiesInHostMemory) {
  CustomCode code = triple();
  code.on_host = true;
  const Executable launched = twice(code);
  EXPECT_EQ(static_cast<float*>(launched.run({floats(3)})[0].data)[2], 18);
  EXPECT_EQ(fake_->launches.size(), 2U) << "its kernel comes first";
  code.cuda.reset();
  code.cpu = [](const CustomCall& call) {
    for (size_t i = 0; i < call.inputs[0].span<float>().size(); ++i)
      call.outputs[0].span<float>()[i] = 3 * call.inputs[0].span<float>()[i];
  };
  const Executable e = twice(code);
  for (const int n : {3, 1000, 0}) {
    const Tensor y = e.run({floats(n)})[0];
    ASSERT_EQ(y.dims, Dims{n});
    for (int i = 0; i < n; ++i) ASSERT_EQ(static_cast<float*>(y.data)[i], static_cast<float>(9 * i));
  }
  EXPECT_EQ(fake_->launches.size(), 2U);
  const Tensor x = to_device(device_, floats(5)), y = device_empty(device_, DType::F32, {5});
  const BoundCall call = e.bind({x}, {y});
  EXPECT_EQ(call.launches(), 2) << "not a graph";
  for (int i = 0; i < 3; ++i) call.run();
  call.synchronize();
  EXPECT_EQ(static_cast<float*>(to_host(device_, y).data)[4], 36);
  code.cpu = [](const CustomCall&) { throw Failed{1}; };
  EXPECT_THROW(twice(code).run({floats(3)}), Failed);
}

TEST_F(CustomOnFakeGpu, SaysWhatIsWrong) {
  CustomCode wrong = triple();
  wrong.cuda.reset();
  wrong.cpu = [](const CustomCall&) {};
  EXPECT_THAT(message_of(wrong), HasSubstr("triple is a C++ function, which cannot run on a GPU"));
  const auto launched = [&](const CudaLaunch& launch) {
    CustomCode made = triple();
    made.cuda->launch = [launch](const CustomCall&) { return launch; };
    return message_of(made);
  };
  EXPECT_THAT(launched({{1, 1, 1}, {0, 1, 1}, 0, {}}), HasSubstr("blocks of 0 x 1 x 1 threads"));
  EXPECT_THAT(launched({{1, 1, 1}, {1024, 2, 1}, 0, {}}), HasSubstr("blocks of 1024 x 2 x 1 threads"));
  EXPECT_THAT(launched({{1, 70000, 1}, {1, 1, 1}, 0, {}}), HasSubstr("a grid of 1 x 70000 x 1 blocks"));
  EXPECT_THAT(launched({{-1, 1, 1}, {1, 1, 1}, 0, {}}), HasSubstr("a grid of -1 x 1 x 1 blocks"));
  EXPECT_THAT(launched({{1, 1, 1}, {1, 1, 1}, -5, {}}), HasSubstr("-5 bytes of shared memory"));
  EXPECT_THAT(launched({{1, 1, 1}, {1, 1, 1}, 1 << 20, {}}), HasSubstr("requests 1048576 bytes of shared memory"));
  wrong = triple();
  wrong.cuda->launch = [](const CustomCall&) -> CudaLaunch { throw Failed{1}; };
  EXPECT_THROW(twice(wrong).run({floats(3)}), Failed);
}

// The text between R"( and )" of the example that docs/cpp-api.md quotes.
std::string source_of_example() {
  std::ifstream file(std::string(SMELT_SOURCE_DIR) + "/examples/cpp/custom.cpp");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t begin = text.find("R\"(") + 3;
  return text.substr(begin, text.find(")\"", begin) - begin);
}

TEST(CustomByNvrtc, SourcesCompileForEveryArchitecture) {
  std::string why;
  const auto nvrtc = open_nvrtc(why);
  if (!nvrtc) GTEST_SKIP() << "no NVRTC here: " << why;
  const Variable chosen("SMELT_NVRTC", nvrtc->path());
  const Variable cache("SMELT_CACHE_DIR", std::string(SMELT_BINARY_DIR) + "/test-kernels");
  for (const int compute : {75, 80, 90, 100}) {
    const Machine device = Machine::cuda_architecture(compute);
    const auto program = [&](const std::string& source) {
      CustomCode code = triple();
      code.cuda->source = source;
      GraphBuilder b;
      const NodeId x = b.input("x", DType::F32, {sym("N"_size)});
      const NodeId y = b.custom(std::make_shared<const CustomCode>(code), {x}, {{DType::F32, {sym("N"_size)}}});
      compile(b.finish({y}), device, {});
    };
    EXPECT_NO_THROW(program(source_of_example()));
    try {
      program("extern \"C\" __global__ void triple(const float* x, float* y, int n) {\n  y[0] = nonsense;\n}");
      FAIL();
    } catch (const UserError& e) {
      EXPECT_THAT(e.what(), HasSubstr("the operation triple: its CUDA source does not compile"));
      EXPECT_THAT(e.what(), HasSubstr("y[0] = nonsense;"));
      EXPECT_THAT(e.what(), ::testing::Not(HasSubstr("bug in smelt")));
    }
  }
}

// Chains of the user's code, views, reductions and elementwise operations, as the interpreter has
// them. Numbers stay small integers, so that results are equal.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    code_ = std::make_shared<CustomCode>();
    code_->name = "mixed";
    code_->cpu = [](const CustomCall& call) {
      const auto x = call.inputs[0].span<float>(), y = call.inputs[1].span<float>();
      for (size_t i = 0; i < x.size(); ++i) {
        call.outputs[0].span<float>()[i] = static_cast<float>(static_cast<int>(x[i] + y[x.size() - 1 - i]) % 7);
        call.outputs[1].span<float>()[i] = x[i] > y[i] ? 1.f : 0.f;
      }
    };
  }

  Graph make(int steps) {
    for (const char* name : {"x", "y"}) values_.push_back(builder_.input(name, DType::F32, shape_));
    for (int s = 0; s < steps; ++s) add();
    std::vector<NodeId> outputs{values_.back()};
    for (int o = 0; o < 2; ++o) outputs.push_back(any());
    return builder_.finish(outputs);
  }

 private:
  unsigned draw(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random_); }
  NodeId any() { return values_[draw(static_cast<unsigned>(values_.size()))]; }

  void add() {
    const NodeId a = any(), b = any();
    switch (draw(6)) {
      case 0: {
        const NodeId first = builder_.custom(code_, {a, b}, {{DType::F32, shape_}, {DType::F32, shape_}});
        if (draw(2)) values_.push_back(first);
        return values_.push_back(builder_.custom_result(first, 1));
      }
      case 1: return values_.push_back(builder_.permute(a, {1, 0}));  // sizes are equal
      case 2: {
        const NodeId row = builder_.reduce(ReduceKind::Max, a, {1}, true);
        return values_.push_back(builder_.broadcast_to(row, shape_));
      }
      case 3: return values_.push_back(builder_.elementwise(Op::Max, {a, b}));
      case 4: return values_.push_back(builder_.elementwise(Op::Min, {a, Literal(3.0)}));
      default: return values_.push_back(builder_.elementwise(Op::Sub, {Literal(5.0), a}));
    }
  }

  std::mt19937 random_;
  GraphBuilder builder_;
  const Shape shape_{sym("N"_size), sym("N"_size)};
  std::shared_ptr<CustomCode> code_;
  std::vector<NodeId> values_;
};

TEST(CustomOnCpu, RandomGraphsAreAsTheInterpreterHasThem) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Graph graph = RandomGraph(seed).make(4 + static_cast<int>(seed % 12));
    for (const bool fuse : {true, false}) {
      CompileOptions options;
      options.fuse = fuse;
      const Executable e = compile(graph, Machine::cpu(), options);
      for (const int64_t n : {1, 5, 40}) {
        std::vector<Tensor> inputs;
        for (int i = 0; i < 2; ++i) {
          inputs.push_back(Tensor::empty(DType::F32, {n, n}));
          for (int64_t k = 0; k < n * n; ++k)
            static_cast<float*>(inputs.back().data)[k] = static_cast<float>((k * 5 + i * 3 + seed) % 11);
        }
        const std::vector<Tensor> made = e.run({inputs[0], inputs[1]});
        const std::vector<Tensor> expected = interpret(graph, {inputs[0], inputs[1]});
        for (size_t o = 0; o < made.size(); ++o)
          for (int64_t k = 0; k < n * n; ++k)
            ASSERT_EQ(static_cast<float*>(made[o].data)[k], static_cast<double*>(expected[o].data)[k])
                << "seed " << seed << ", output " << o << ", element " << k << "\n"
                << print(graph);
      }
    }
  }
}

}  // namespace
}  // namespace smelt::testing
