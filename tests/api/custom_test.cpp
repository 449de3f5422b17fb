// Operations with the user's own code: a C++ function on the CPU, a CUDA kernel on a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "api/specialize.hpp"
#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

constexpr const char* kFlip = R"(extern "C" __global__ void flip(const float* x, float* y, int n, long long count) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i / n * n + n - 1 - i % n] * (float)(i / n);
})";

// Each row reversed, times its number.
CustomOperation flip_rows() {
  CustomOperation o;
  o.name = "flip_rows";
  o.cpu = [](const CustomCall& call) {
    const auto x = call.inputs[0].span<float>();
    const auto y = call.outputs[0].span<float>();
    const auto n = static_cast<size_t>(call.outputs[0].dims[1]);
    for (size_t i = 0; i < y.size(); ++i) y[i] = x[i / n * n + n - 1 - i % n] * static_cast<float>(i / n);
  };
  o.cuda = CudaKernel{kFlip, "flip", [](const CustomCall& call) {
                        const CustomOutput& y = call.outputs[0];
                        CudaLaunch launch;
                        launch.block = {256, 1, 1};
                        launch.grid = {(y.count() + 255) / 256, 1, 1};
                        launch.arguments = {call.inputs[0], y, static_cast<int>(y.dims[1]), y.count()};
                        return launch;
                      }};
  return o;
}

// The sum of every row, and the position of its largest element.
CustomOperation row_facts() {
  CustomOperation o;
  o.name = "row_facts";
  o.outputs = [](const std::vector<Array>& in) {
    return std::vector<CustomType>{{DType::F32, {in[0].extent(0)}}, {DType::I32, {in[0].extent(0), 1}}};
  };
  o.cpu = [](const CustomCall& call) {
    const auto n = call.inputs[0].dims[1];
    for (int64_t r = 0; r < call.inputs[0].dims[0]; ++r) {
      const auto row = call.inputs[0].span<float>().subspan(static_cast<size_t>(r * n), static_cast<size_t>(n));
      call.outputs[0].span<float>()[static_cast<size_t>(r)] = std::accumulate(row.begin(), row.end(), 0.f);
      call.outputs[1].span<int32_t>()[static_cast<size_t>(r)] =
          static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
    }
  };
  o.cuda = CudaKernel{
      R"(extern "C" __global__ void facts(const float* x, float* sums, int* places, int n) {
  __shared__ float sum;
  extern __shared__ float row[];
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    row[i] = x[blockIdx.x * n + i];
    atomicAdd(&sum, row[i]);
  }
  __syncthreads();
  if (threadIdx.x) return;
  int place = 0;
  for (int i = 1; i < n; ++i)
    if (row[i] > row[place]) place = i;
  sums[blockIdx.x] = sum;
  places[blockIdx.x] = place;
})",
      "facts", [](const CustomCall& call) {
        const int64_t rows = call.inputs[0].dims[0], n = call.inputs[0].dims[1];
        return CudaLaunch{
            {rows, 1, 1}, {64, 1, 1}, n * 4, {call.inputs[0], call.outputs[0], call.outputs[1], static_cast<int>(n)}};
      }};
  return o;
}

std::vector<float> range(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.f);
  return values;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class F>
void expect_between(const F& f, const Array& x) {
  const std::vector<float> y = f(x).to(Device::cpu()).template to_vector<float>();
  const int64_t rows = x.shape(0), n = x.shape(1);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i) {
      const auto from = static_cast<float>(r * n + n - 1 - i);
      ASSERT_EQ(y[static_cast<size_t>(r * n + i)], (from * 2 + 1) * static_cast<float>(r) - 3) << r << ", " << i;
    }
}

TEST(Custom, StandsBetweenTwoFusedKernels) {
  const Custom flip(flip_rows());
  const auto f = compile([&](Array x) { return flip({x * 2 + 1}) - 3; });
  const Array x = Array::from(range(7 * 33), {7, 33});
  expect_between(f, x);
  expect_between(f, Array::from(range(2 * 33), {2, 33}));
  EXPECT_EQ(f.compile_count(), 1);
  const Explanation e = f.explain(x);
  EXPECT_EQ(e.kernels.size(), 3u);
  EXPECT_TRUE(has(e.text(), "fusion stops here: custom flip_rows is code of your own")) << e.text();
  EXPECT_TRUE(has(e.text(), "your C++ function")) << e.text();
}

TEST(Custom, ReadersFuseAmongThemselves) {
  const Custom flip(flip_rows());
  const auto f = compile([&](Array x) {
    const Array y = flip({exp(x) * 2 + 1});
    return std::tuple{tanh(y) + x, sum(y * y, 1), relu(y - mean(y, 1, keepdims))};
  });
  EXPECT_EQ(f.explain(Array::from(range(64 * 100), {64, 100})).kernels.size(), 3u);
}

TEST(Custom, ViewsAreStoredForIt) {
  const Custom flip(flip_rows());
  const Array x = Array::from(range(12), {4, 3});
  Array y = flip({x.T()}), z = flip({full({2, 2}, 5.f)}), w = flip({x[slice(2, none)]});
  eval(y, z, w);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 0, 0, 0, 10, 7, 4, 1, 22, 16, 10, 4}));
  EXPECT_EQ(z.to_vector<float>(), (std::vector<float>{0, 0, 5, 5}));
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{0, 0, 0, 11, 10, 9}));
}

TEST(Custom, TheSameViewForTwoAndItsOwnReaders) {
  const Custom flip(flip_rows());
  const auto f = compile([&](Array x) {
    const Array t = x.T();
    return flip({t}) + flip({t}) + t;
  });
  EXPECT_EQ(f(Array::from(range(4), {2, 2})).to_vector<float>(), (std::vector<float>{0, 2, 7, 5}));
}

TEST(Custom, ShapesAreItsOwn) {
  CustomOperation o;
  o.name = "halves";
  o.output = [](const std::vector<Array>& in) { return CustomType{DType::I32, {in[0].extent(0) * 2, 2}}; };
  o.cpu = [](const CustomCall& call) {
    for (int32_t& v : call.outputs[0].span<int32_t>()) v = static_cast<int32_t>(call.inputs[0].dims[0]);
  };
  const Custom halves(o);
  const auto f = compile([&](Array x) { return halves({x}) + 1; });
  const Array y = f(Array::from(range(6), {3, 2}));
  EXPECT_EQ(y.shape(), (Dims{6, 2}));
  EXPECT_EQ(y.to_vector<int32_t>(), (std::vector<int32_t>(12, 4)));
  EXPECT_EQ(f(Array::from(range(10), {5, 2})).shape(), (Dims{10, 2}));
  EXPECT_EQ(f.compile_count(), 1);
  EXPECT_EQ(f(Array::from(range(2), {1, 2})).shape(), (Dims{2, 2}));
}

TEST(Custom, SeveralResultsOfOneCall) {
  std::atomic<int> calls{0};
  CustomOperation o = row_facts();
  o.cpu = [&calls, cpu = o.cpu](const CustomCall& call) {
    ++calls;
    cpu(call);
  };
  const Custom facts(o);
  const Array x = Array::from({1.f, 5.f, 2.f, 9.f, 0.f, -1.f}, {2, 3});
  const auto both = compile([&](Array a) {
    const std::vector<Array> r = facts.all({a + 1});
    return std::pair{r[0] * 2, r[1] + 1};
  });
  const auto [sums, places] = both(x);
  EXPECT_EQ(sums.to_vector<float>(), (std::vector<float>{22, 22}));
  EXPECT_EQ(places.to_vector<int32_t>(), (std::vector<int32_t>{2, 1}));
  EXPECT_EQ(calls, 1);
  // A result that nobody reads has memory all the same.
  const auto last = compile([&](Array a) { return facts.all({a})[1] * 10; });
  EXPECT_EQ(last(x).to_vector<int32_t>(), (std::vector<int32_t>{10, 0}));
  EXPECT_EQ(calls, 2);
  std::vector<Array> apart = facts.all({x});
  eval(apart);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(apart[0].to_vector<float>(), (std::vector<float>{8, 8}));
  EXPECT_TRUE(has(message_of([&] { facts({x}); }), "row_facts has 2 results"));
}

TEST(Custom, OneCallFeedsTheNext) {
  const Custom flip(flip_rows()), facts(row_facts());
  const auto f = compile([&](Array x) {
    const std::vector<Array> r = facts.all({flip({x}) + 1});
    return sqrt(r[0]) + astype(reshape(r[1], {-1}), DType::F32);
  });
  const std::vector<float> y = f(Array::from({5.f, 2.f, 3.f, 4.f}, {2, 2})).to_vector<float>();
  EXPECT_FLOAT_EQ(y[0], std::sqrt(2.f));
  EXPECT_FLOAT_EQ(y[1], 3.f);
}

TEST(Custom, EqualCallsAreMadeOnceOnlyWhenPure) {
  int calls = 0;
  CustomOperation o;
  o.name = "count";
  o.cpu = [&](const CustomCall& call) {
    ++calls;
    std::copy_n(call.inputs[0].span<float>().data(), call.outputs[0].count(), call.outputs[0].span<float>().data());
  };
  for (const bool pure : {false, true}) {
    o.pure = pure;
    calls = 0;
    const Custom count(o);
    const Array x = Array::from({1.f, 2.f});
    const auto f = compile([&](Array a) {
      count({a * 7});  // not used
      return count({a}) + count({a});
    });
    EXPECT_EQ(f(x).to_vector<float>(), (std::vector<float>{2, 4}));
    EXPECT_EQ(calls, pure ? 1 : 2);
    EXPECT_EQ(f(x).to_vector<float>(), (std::vector<float>{2, 4}));
    EXPECT_EQ(calls, pure ? 2 : 4);
  }
}

TEST(Custom, IsEvaluatedAgainWithoutCompilingAgain) {
  const Custom flip(flip_rows());
  int before = 0;
  for (int i = 0; i < 3; ++i) {
    Array y = flip({Array::from(range(6), {2, 3}) + Array::from({static_cast<float>(i)})});
    eval(y);
    EXPECT_EQ(y.to_vector<float>()[3], static_cast<float>(5 + i));
    if (i == 0) before = detail::eval_compile_count();
  }
  EXPECT_EQ(detail::eval_compile_count(), before);
}

struct NoLuck {
  int code;
};

TEST(Custom, ExceptionsReachTheCallerAsTheyAre) {
  CustomOperation o;
  o.name = "fails";
  bool fails = true;
  o.cpu = [&](const CustomCall& call) {
    if (fails) throw NoLuck{42};
    for (float& v : call.outputs[0].span<float>()) v = 7;
  };
  const Custom failing(o);
  const auto f = compile([&](Array x) { return failing({x + 1}) * 2; });
  const Array x = Array::from({1.f});
  try {
    f(x);
    FAIL();
  } catch (const NoLuck& e) {
    EXPECT_EQ(e.code, 42);
  }
  const Bound bound = f.bind(x);
  EXPECT_THROW(bound(), NoLuck);
  fails = false;
  EXPECT_EQ(f(x).to_vector<float>(), (std::vector<float>{14}));
  bound();
  EXPECT_EQ(bound.outputs()[0].to_vector<float>(), (std::vector<float>{14}));
}

TEST(Custom, ThreadsMayCallItAtTheSameTime) {
  const Custom flip(flip_rows());
  const auto f = compile([&](Array x) { return flip({x * 2 + 1}) - 3; });
  std::vector<std::thread> threads;
  for (int64_t t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) expect_between(f, Array::from(range(static_cast<size_t>(t * 50)), {t, 50}));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Custom, EmptyArraysTakeNoCall) {
  CustomOperation o = flip_rows();
  o.cpu = [](const CustomCall&) { throw NoLuck{1}; };
  const Custom flip(o);
  const auto f = compile([&](Array x) { return flip({x}) + 1; });
  EXPECT_EQ(f(Array::empty({0, 4}, DType::F32)).shape(), (Dims{0, 4}));
  EXPECT_EQ(f(Array::empty({4, 0}, DType::F32)).shape(), (Dims{4, 0}));
  std::vector<Array> sums = Custom(row_facts()).all({Array::empty({0, 4}, DType::F32)});
  eval(sums);
  EXPECT_EQ(sums[1].shape(), (Dims{0, 1}));
}

TEST(Custom, StridedAndMisalignedArraysAreMadeDense) {
  CustomOperation o = flip_rows();
  o.cpu = [cpu = o.cpu](const CustomCall& call) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(call.inputs[0].data) % 4, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(call.outputs[0].data) % 4, 0u);
    cpu(call);
  };
  const Custom flip(o);
  const auto f = compile([&](Array x) { return flip({x}); });
  const std::vector<float> expected{0, 0, 0, 6, 5, 4}, memory{1, 4, 2, 5, 3, 6};
  const Array strided = Array::borrow(memory, {2, 3}, {1, 2});
  EXPECT_EQ(f(strided).to_vector<float>(), expected);
  std::vector<char> bytes(2 * 24 + 8, 'x');
  const auto off = [&](size_t at) {
    return bytes.data() + (4 - reinterpret_cast<uintptr_t>(bytes.data()) % 4) + 1 + at;
  };
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  std::memcpy(off(0), values.data(), 24);
  const Array misaligned = Array::adopt(static_cast<const void*>(off(0)), DType::F32, {2, 3}, {}, nullptr);
  EXPECT_EQ(f(misaligned).to_vector<float>(), expected);
  const Array out = Array::adopt(static_cast<void*>(off(24)), DType::F32, {2, 3}, {}, nullptr);
  const Bound bound = f.into(out).bind(misaligned);
  bound();
  std::vector<float> written(6);
  std::memcpy(written.data(), off(24), 24);
  EXPECT_EQ(written, expected);
}

TEST(Custom, HalvesAndBools) {
  CustomOperation o;
  o.name = "large";
  o.output = [](const std::vector<Array>& in) { return CustomType{DType::Bool, {in[0].extent(0)}}; };
  o.cpu = [](const CustomCall& call) {
    const auto x = call.inputs[0].span<f16>();
    for (size_t i = 0; i < x.size(); ++i) call.outputs[0].span<bool>()[i] = static_cast<float>(x[i]) > 2;
  };
  Array y = where(custom(o, {astype(Array::from({1.f, 2.f, 3.f, NAN}), DType::F16) * 2}), 1, 0);
  eval(y);
  EXPECT_EQ(y.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 1, 0}));
}

TEST(Custom, SaysWhatIsWrong) {
  CustomOperation o;
  o.name = "wrong";
  EXPECT_TRUE(has(message_of([&] { Custom{o}; }), "the operation wrong has no code"));
  o.cuda = CudaKernel{kFlip, "flip", {}};
  EXPECT_TRUE(has(message_of([&] { Custom{o}; }), "a cuda kernel without a launch function"));
  o.cuda = CudaKernel{"", "flip", [](const CustomCall&) { return CudaLaunch{}; }};
  EXPECT_TRUE(has(message_of([&] { Custom{o}; }), "a cuda kernel without a source"));
  o = flip_rows();
  o.cpu = {};
  o.on_host = true;
  EXPECT_TRUE(has(message_of([&] { Custom{o}; }), "is to run on the host, and has no cpu function"));
  const Array x = Array::from({1.f, 2.f}, {1, 2});
  o = flip_rows();
  o.name = "no name";
  EXPECT_THAT(message_of([&] { (void)Custom{o}; }), HasSubstr("custom: 'no name' is no name"));
  o = flip_rows();
  o.cpu = {};
  const std::string no_cpu = message_of([&] {
    Array y = custom(o, {x});
    eval(y);
  });
  EXPECT_TRUE(has(no_cpu, "the operation flip_rows is a CUDA kernel, and this runs on the CPU")) << no_cpu;
  EXPECT_TRUE(has(no_cpu, "to(Device::cuda())")) << no_cpu;
  const Custom flip(flip_rows());
  EXPECT_TRUE(has(message_of([&] { flip({Array::scalar(1.f)}); }), "at least one axis"));
  EXPECT_TRUE(has(message_of([&] { flip({}); }), "at least one array"));
  EXPECT_TRUE(has(message_of([&] { flip({Array()}); }), "empty"));
  const auto of_type = [&](CustomType type) {
    CustomOperation made = flip_rows();
    made.output = [type](const std::vector<Array>&) { return type; };
    return message_of([&] { custom(made, {x}); });
  };
  EXPECT_TRUE(has(of_type({DType::F32, {-4}}), "negative size"));
  EXPECT_TRUE(has(of_type({DType::F32, {}}), "at least one axis"));
  o = flip_rows();
  o.outputs = row_facts().outputs;
  o.output = [](const std::vector<Array>&) { return CustomType{DType::F32, {1}}; };
  EXPECT_TRUE(has(message_of([&] { Custom{o}; }), "both output and outputs"));
  o = flip_rows();
  o.cpu = [](const CustomCall& call) { call.outputs[0].span<double>()[0] = 1; };
  EXPECT_TRUE(has(message_of([&] {
                    Array y = custom(o, {x});
                    eval(y);
                  }),
                  "an array of f32 were asked for as f64"));
  EXPECT_EQ(message_of([&] {
              elementwise(
                  "inside", [&](const Array& a) { return flip({a}); }, x);
            }),
            "flip_rows takes arrays with at least one axis, not f32\nhelp: give the number as an array of one element: "
            "reshape(x, {1})");
}

class CustomOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Device::cuda().usable()) GTEST_SKIP() << Device::cuda().missing();
  }
  Device gpu_ = Device::cuda();
};

TEST_F(CustomOnGpu, StandsBetweenTwoFusedKernels) {
  const Custom flip(flip_rows());
  const auto f = compile([&](Array x) { return flip({x * 2 + 1}) - 3; });
  const Array x = Array::from(range(70 * 333), {70, 333}).to(gpu_);
  expect_between(f, x);
  expect_between(f, Array::from(range(3 * 333), {3, 333}).to(gpu_));
  EXPECT_EQ(f.compile_count(), 1);
  EXPECT_TRUE(has(f.explain(x).text(), "your CUDA kernel"));
  EXPECT_TRUE(has(f.explain(x).text(), "fusion stops here: custom flip_rows"));
  const Bound bound = f.bind(x);
  for (int i = 0; i < 3; ++i) bound();
  bound.synchronize();
  const std::vector<float> y = bound.outputs()[0].to(Device::cpu()).to_vector<float>();
  EXPECT_EQ(y[333], static_cast<float>((2 * 333 - 1) * 2 + 1 - 3));
  EXPECT_EQ(f(Array::empty({0, 4}, DType::F32).to(gpu_)).shape(), (Dims{0, 4}));
}

TEST_F(CustomOnGpu, RunsOnCopiesInHostMemory) {
  CustomOperation o = flip_rows();
  o.cuda.reset();
  o.on_host = true;
  const Custom flip(std::move(o));
  const auto f = compile([&](Array x) { return flip({x * 2 + 1}) - 3; });
  const Array x = Array::from(range(70 * 333), {70, 333}).to(gpu_);
  expect_between(f, x);
  EXPECT_TRUE(has(f.explain(x).text(), "your C++ function, on copies of its arrays in host memory"));
  const Bound bound = f.bind(x);
  for (int i = 0; i < 3; ++i) bound();
  bound.synchronize();
  const std::vector<float> y = bound.outputs()[0].to(Device::cpu()).to_vector<float>();
  EXPECT_EQ(y[333], static_cast<float>((2 * 333 - 1) * 2 + 1 - 3));
  Array late = flip({x + 1});
  EXPECT_EQ(late.device(), gpu_) << "where it will be";
  eval(late);
  EXPECT_EQ(late.copy().device(), gpu_);
  EXPECT_EQ(late.copy().to(Device::cpu()).to_vector<float>(), late.to(Device::cpu()).to_vector<float>());
}

TEST_F(CustomOnGpu, ViewsAndStridesAreStoredForIt) {
  const Custom flip(flip_rows());
  Array y = flip({Array::from(range(12), {4, 3}).to(gpu_).T()});
  eval(y);
  EXPECT_EQ(y.to(Device::cpu()).to_vector<float>(), (std::vector<float>{0, 0, 0, 0, 10, 7, 4, 1, 22, 16, 10, 4}));
}

TEST_F(CustomOnGpu, SeveralResultsAndSharedMemory) {
  const Custom facts(row_facts());
  const auto f = compile([&](Array x) {
    const std::vector<Array> r = facts.all({x + 1});
    return std::pair{r[0] * 2, r[1] + 1};
  });
  for (const int64_t n : {5, 20000}) {  // 80 KB of shared memory is more than a kernel has without asking
    std::vector<float> values(static_cast<size_t>(3 * n), 0.f);
    for (int64_t r = 0; r < 3; ++r) values[static_cast<size_t>(r * n + r + 1)] = 8;
    const auto [sums, places] = f(Array::from(values, {3, n}).to(gpu_));
    EXPECT_EQ(sums.to(Device::cpu()).to_vector<float>(), std::vector<float>(3, static_cast<float>(2 * (n + 8))));
    EXPECT_EQ(places.to(Device::cpu()).to_vector<int32_t>(), (std::vector<int32_t>{2, 3, 4}));
  }
  const std::string message = message_of([&] { f(Array::empty({1, 1000000}, DType::F32).to(gpu_)); });
  EXPECT_TRUE(has(message, "requests 4000000 bytes of shared memory")) << message;
}

TEST_F(CustomOnGpu, SaysWhatIsWrong) {
  const Array x = Array::from(range(12), {4, 3}).to(gpu_);
  const auto fails = [&](const CustomOperation& o) {
    return message_of([&] {
      Array y = custom(o, {x});
      eval(y);
    });
  };
  CustomOperation o = flip_rows();
  o.cuda->source = "extern \"C\" __global__ void flip(float* x) { x[0] = nonsense; }";
  std::string message = fails(o);
  EXPECT_TRUE(has(message, "the operation flip_rows: its CUDA source does not compile")) << message;
  EXPECT_TRUE(has(message, "nonsense")) << message;
  EXPECT_FALSE(has(message, "bug in smelt")) << message;
  o = flip_rows();
  o.cuda->function = "flop";
  message = fails(o);
  EXPECT_TRUE(has(message, "no function 'flop'")) << message;
  o = flip_rows();
  o.cuda.reset();
  message = fails(o);
  EXPECT_TRUE(has(message, "flip_rows is a C++ function, which cannot run on a GPU")) << message;
  o = flip_rows();
  o.cuda->launch = [](const CustomCall&) { return CudaLaunch{{1, 1, 1}, {2048, 1, 1}, 0, {}}; };
  message = fails(o);
  EXPECT_TRUE(has(message, "blocks of 2048 x 1 x 1 threads")) << message;
  o.cuda->launch = [](const CustomCall&) -> CudaLaunch { throw NoLuck{3}; };
  Array y = custom(o, {x});
  EXPECT_THROW(eval(y), NoLuck);
}

TEST(Custom, APageSaysThatItsAccessesAreUnknown) {
  const Custom flip(flip_rows());
  const auto f = compile([&](Array x) { return flip({x + 1}) * 2; });
  const Array x = Array::from(range(4 * 8), {4, 8});
  f(x);
  const std::string page = f.explain(x).html();
  EXPECT_NE(page.find("\"strategy\":\"custom\""), std::string::npos);
}

}  // namespace
}  // namespace smelt
