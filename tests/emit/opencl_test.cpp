// Kernels as OpenCL C: what CUDA C++ has and it lacks does not occur.
#include "emit/opencl.hpp"

#include "fixture.hpp"
#include "kernel/facts.hpp"
#include "kernel/passes.hpp"
#include "smelt/error.hpp"
#include "support/symbols.hpp"

namespace smelt::test {

static std::string text_of(Kernel kernel, const emit::OpenClTarget& target = {}) {
  kernel::Proved proved;
  kernel::run_passes(kernel, proved);
  return emit::emit_opencl(kernel, target).text;
}

// The sum of every row of 1000, by a team of this many threads.
static Kernel row_sums(DType dtype, int threads) {
  Maker m;
  const IntExpr rows = m.size("R"_size), i = sym("i0"_loop), j = sym("i1"_loop);
  const int x = m.input(dtype, {rows, 1000}), out = m.output(dtype, {rows});
  const LocalId sum = m.build.new_local(dtype, true);
  const ExprId zero = m.build.constant(Scalar::of_float(dtype, 0));
  Stmt loop = vector("i1"_loop, 1000, {kernel::assign(sum, m.op(Op::Add, {m.build.local(sum), m.load(x, {i, j})}))}, 4);
  m.phase({grid(rows, {kernel::assign(sum, zero), std::move(loop), kernel::combine(sum, Op::Add),
                       m.build.store(m.at(out, {i}), m.build.local(sum))})});
  m.kernel.dialect = kernel::Dialect::PlainTeam;
  m.kernel.phases[0].team = {threads, threads, 0};
  return m.kernel;
}

static size_t occurrences(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(OpenCl, NothingOfCudaStays) {
  const std::string text = text_of(row_sums(DType::F32, 64));
  for (const char* other :
       {"long long", "__shfl", "__sync", "threadIdx", "blockIdx", "template", "Vec<", "__shared__", "<int>"})
    EXPECT_EQ(text.find(other), std::string::npos) << other << "\n" << text;
  EXPECT_NE(text.find("reqd_work_group_size(64, 1, 1)"), std::string::npos);
  EXPECT_EQ(text_of(row_sums(DType::F32, 64)), text);
}

// Every thread comes by every barrier: one after what is handed over, one in each step.
TEST(OpenCl, ThreadsMeetInTheMemoryOfTheWorkgroup) {
  const std::string text = text_of(row_sums(DType::F32, 64));
  EXPECT_EQ(occurrences(text, "barrier(CLK"), 2 * occurrences(text, "__kernel ")) << text;
  const std::string alone = text_of(row_sums(DType::F32, 1));
  EXPECT_EQ(occurrences(alone, "barrier("), 0u) << alone;
}

// For a driver that vectorizes loops: no step is written out, and every element of one has an
// accumulator, which loops join.
TEST(OpenCl, AThreadOfACpuRunsLoops) {
  Kernel kernel = row_sums(DType::F32, 1);
  kernel.dialect = kernel::Dialect::PlainThread;
  kernel.phases[0].team = {1, 8, 0};
  const std::string text = text_of(kernel);
  const std::string function = text.substr(text.find("__kernel"));
  EXPECT_NE(function.find("reqd_work_group_size(8, 1, 1)"), std::string::npos) << text;
  EXPECT_NE(function.find("float a0[4];"), std::string::npos) << text;
  EXPECT_NE(function.find("for (int u = 0; u < 4; ++u)"), std::string::npos) << text;
  EXPECT_NE(function.find("for (int n = 0; n < 2; ++n)"), std::string::npos) << text;
  for (const char* other : {"barrier(", "#pragma unroll", "__local float"})
    EXPECT_EQ(function.find(other), std::string::npos) << other << "\n" << text;
}

// Four neighbours share a block of random words; what is left of a row draws word by word.
TEST(OpenCl, LoopsOfACpuDrawWholeBlocks) {
  const auto text_for = [](kernel::Dialect dialect, int64_t elements) {
    Maker m;
    const int out = m.output(DType::F32, {elements});
    const ExprId seed = m.build.constant(Scalar::of_int(DType::U64, 1));
    const ExprId zero = m.build.constant(Scalar::of_int(DType::U64, 0));
    const IntExpr i = sym("i1"_loop);
    const ExprId word = m.build.random(philox::Draw::Words, {seed, zero, zero}, i, elements);
    Stmt loop = vector("i1"_loop, elements, {m.build.store(m.at(out, {i}), m.build.cast(word, DType::F32))}, 4);
    m.phase({grid(1, {std::move(loop)})});
    m.kernel.dialect = dialect;
    m.kernel.phases[0].team = {1, 1, 0};
    return text_of(m.kernel);
  };
  const std::string text = text_for(kernel::Dialect::PlainThread, 1000);
  EXPECT_NE(text.find("random_words(0, true, "), std::string::npos) << text;
  EXPECT_EQ(text_for(kernel::Dialect::PlainTeam, 1000).find("random_words(0, true, "), std::string::npos);
}

TEST(OpenCl, F64OnlyWhereTheDeviceHasIt) {
  EXPECT_NO_THROW(text_of(row_sums(DType::F64, 32), {.f64 = true}));
  try {
    text_of(row_sums(DType::F64, 32), {.f64 = false});
    FAIL() << "it was printed";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("cl_khr_fp64"), std::string::npos);
  }
  EXPECT_EQ(text_of(row_sums(DType::F32, 32), {.f64 = false}).find("double"), std::string::npos);
}

TEST(OpenCl, ExtremesOfIntegersArePtxWhereTheCompilerLosesANegation) {
  Maker m;
  const int x = m.input(DType::I32, {100}), out = m.output(DType::I32, {100});
  const ExprId a = m.load(x, {sym("i0"_loop)});
  m.phase({grid(100, {m.build.store(m.at(out, {sym("i0"_loop)}), m.op(Op::Max, {a, m.op(Op::Neg, {a})}))})});
  m.kernel.dialect = kernel::Dialect::PlainTeam;
  m.kernel.phases[0].team = {1, 1, 0};
  EXPECT_EQ(text_of(m.kernel).find("max.u32"), std::string::npos);
  EXPECT_NE(text_of(m.kernel, {.ptx = true}).find("max.u32"), std::string::npos);
}

}  // namespace smelt::test
