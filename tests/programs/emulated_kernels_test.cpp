// Kernels built by hand, printed as CUDA C++ and run on the emulated GPU: threads of teams of every
// size that meet again and again in a loop.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "emit/cuda.hpp"
#include "kernel/facts.hpp"
#include "kernel/passes.hpp"
#include "kernel/samples.hpp"
#include "support/fake_cuda/emulate.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using smelt::testing::HostLibrary;

constexpr int64_t kRows = 6, kSteps = 5, kWidth = 700;
const IntExpr row = sym("i0"_loop), step = sym("i1"_loop), lane = sym("i2"_loop);

struct TeamSize {
  int threads, workgroup;
};
constexpr TeamSize kTeams[] = {{16, 64}, {32, 128}, {64, 64}, {256, 256}};

class EmulatedKernels : public ::testing::TestWithParam<TeamSize> {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "threads of the emulated GPU have stacks that the sanitizer does not know";
#endif
    if (!smelt::testing::can_emulate()) GTEST_SKIP() << "no " << SMELT_TEST_CXX << " here";
  }
  // Runs the kernel, whose params are in: i32[rows, width + steps] and an output, twice: workgroups
  // wake their threads the other way round then.
  std::vector<int32_t> run(Sample& s, size_t outputs) {
    s.kernel.dialect = Dialect::Gpu;
    s.kernel.phases[0].team = {GetParam().threads, GetParam().workgroup};
    Proved proved;
    run_passes(s.kernel, proved);
    const emit::DeviceSource source = emit::emit_cuda(s.kernel, {80});
    const HostLibrary library(source.text);
    const emit::DeviceFunction& function = source.phases[0].variants.back().function;
    std::vector<int32_t> out(outputs), first;
    for (int again = 0; again < 2; ++again) {
      std::fill(out.begin(), out.end(), -1);
      const int32_t* from = in_.data();
      int32_t* to = out.data();
      const auto groups = static_cast<unsigned>((kRows + function.iterations - 1) / function.iterations);
      EXPECT_EQ(
          library.launch(function.name, {&from, &to}, {groups, 1, 1}, {static_cast<unsigned>(function.threads), 1, 1},
                         static_cast<unsigned>(*function.shared_bytes.constant())),
          "")
          << source.text;
      if (again && out != first) ADD_FAILURE() << "another order of threads gives other numbers";
      first = out;
    }
    return out;
  }
  int32_t in(int64_t r, int64_t c) const { return in_[static_cast<size_t>(r * (kWidth + kSteps) + c)]; }

  const std::vector<int32_t> in_ = [] {
    std::vector<int32_t> v(static_cast<size_t>(kRows * (kWidth + kSteps)));
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<int32_t>(i * i % 10007);
    return v;
  }();
};

// Sums of a row, each begun one further: the threads combine in every iteration.
TEST_P(EmulatedKernels, CombineInALoop) {
  Sample s;
  const int in_array = s.input(DType::I32, {kRows, kWidth + kSteps}), out_array = s.output(DType::I32, {kRows, kSteps});
  const LocalId sum = s.build.new_local(DType::I32, true);
  const ExprId x = s.load(in_array, {row, lane + step});
  s.phase(grid("i0"_loop, kRows,
               {serial("i1"_loop, kSteps,
                       {assign(sum, s.build.constant(Scalar::of_int(DType::I32, 0))),
                        vector("i2"_loop, kWidth, {assign(sum, s.build.apply(Op::Add, {s.build.local(sum), x}))}, 1),
                        combine(sum, Op::Add), store({false, out_array, {row, step}}, s.build.local(sum))})}));
  const std::vector<int32_t> got = run(s, kRows * kSteps);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t k = 0; k < kSteps; ++k) {
      int32_t expected = 0;
      for (int64_t c = 0; c < kWidth; ++c) expected += in(r, c + k);
      ASSERT_EQ(got[static_cast<size_t>(r * kSteps + k)], expected) << "row " << r << ", step " << k;
    }
}

// The largest of a row and where it first is, in every iteration.
TEST_P(EmulatedKernels, CombineWithAnIndexInALoop) {
  Sample s;
  const int in_array = s.input(DType::I32, {kRows, kWidth + kSteps}), out_array = s.output(DType::I32, {kRows, kSteps});
  const LocalId most = s.build.new_local(DType::I32, true), at = s.build.new_local(DType::I64, true);
  const ExprId x =
      s.build.apply(Op::And, {s.load(in_array, {row, lane + step}), s.build.constant(Scalar::of_int(DType::I32, 63))});
  const ExprId better = s.build.apply(Op::Gt, {x, s.build.local(most)});
  const Stmt meet = combine(most, Op::Max, at);
  s.phase(
      grid("i0"_loop, kRows,
           {serial("i1"_loop, kSteps,
                   {assign(most, s.build.constant(Scalar::of_int(DType::I32, -1))), assign(at, s.build.index(kWidth)),
                    vector("i2"_loop, kWidth,
                           {assign(at, s.build.apply(Op::Where, {better, s.build.index(lane), s.build.local(at)})),
                            assign(most, s.build.apply(Op::Max, {s.build.local(most), x}))},
                           1),
                    meet, store({false, out_array, {row, step}}, s.build.cast(s.build.local(at), DType::I32))})}));
  const std::vector<int32_t> got = run(s, kRows * kSteps);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t k = 0; k < kSteps; ++k) {
      int64_t expected = 0;
      for (int64_t c = 1; c < kWidth; ++c)
        if ((in(r, c + k) & 63) > (in(r, expected + k) & 63)) expected = c;
      ASSERT_EQ(got[static_cast<size_t>(r * kSteps + k)], expected) << "row " << r << ", step " << k;
    }
}

// A row through scratch, read backwards, in every iteration: neither may the threads read before
// all have written, nor write the next one before all have read.
TEST_P(EmulatedKernels, ScratchThatIsWrittenAgainInALoop) {
  Sample s;
  const int in_array = s.input(DType::I32, {kRows, kWidth + kSteps});
  const int out_array = s.output(DType::I32, {kRows, kSteps, kWidth});
  const int kept = s.scratch(DType::I32, {kWidth});
  const IntExpr other = sym("i3"_loop);
  s.phase(grid(
      "i0"_loop, kRows,
      {alloc(kept),
       serial(
           "i1"_loop, kSteps,
           {vector("i2"_loop, kWidth, {store({true, kept, {lane}}, s.load(in_array, {row, lane + step}))}, 1),
            vector("i3"_loop, kWidth,
                   {store({false, out_array, {row, step, other}}, s.load_scratch(kept, {kWidth - 1 - other}))}, 1)})}));
  const std::vector<int32_t> got = run(s, kRows * kSteps * kWidth);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t k = 0; k < kSteps; ++k)
      for (int64_t c = 0; c < kWidth; ++c)
        ASSERT_EQ(got[static_cast<size_t>((r * kSteps + k) * kWidth + c)], in(r, kWidth - 1 - c + k))
            << "row " << r << ", step " << k << ", element " << c;
}

INSTANTIATE_TEST_SUITE_P(Teams, EmulatedKernels, ::testing::ValuesIn(kTeams),
                         [](const ::testing::TestParamInfo<TeamSize>& info) {
                           return std::to_string(info.param.threads) + "_of_" + std::to_string(info.param.workgroup);
                         });

}  // namespace
}  // namespace smelt::kernel
