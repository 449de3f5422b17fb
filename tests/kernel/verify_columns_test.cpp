// verify() of Vector loops over columns, and of what combines them.
#include <gtest/gtest.h>

#include "kernel/kernel.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

// A maximum down each of 8 columns, and the values less that.
std::string columns_fault(int first, int combined, int second, int threads, int lanes) {
  Sample s;
  const int in = s.input(DType::F32, {64, 8}), out = s.output(DType::F32, {64, 8});
  const LocalId m = s.build.new_local(DType::F32, true);
  const IntExpr n = sym("i"_loop);
  const Ranges inside = {{"i"_loop, {0, 511}}};
  const std::vector<IntExpr> at = {floordiv(n, 8, inside), mod(n, 8, inside)};
  const ExprId x = s.load(in, at), best = s.build.local(m);
  std::vector<Stmt> body;
  body.push_back(assign(m, s.f32(-1)));
  Loop reads = loop(LoopKind::Vector, "i"_loop, 512, {assign(m, s.build.apply(Op::Max, {best, x}))}, lanes);
  reads.columns = first;
  body.push_back(reads);
  body.push_back(combine(m, Op::Max, -1, combined));
  Loop writes =
      loop(LoopKind::Vector, "i"_loop, 512, {store({false, out, at}, s.build.apply(Op::Sub, {x, best}))}, lanes);
  writes.columns = second;
  body.push_back(writes);
  s.phase(grid("g"_loop, 1, std::move(body)));
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {threads, threads, 0};
  return fault(s.kernel);
}

TEST(Verify, Columns) {
  EXPECT_EQ(columns_fault(8, 8, 8, 64, 4), "");
  EXPECT_EQ(columns_fault(0, 0, 0, 64, 4), "") << "one maximum of all";
  const auto says = [](const std::string& fault, const char* part) { return fault.find(part) != std::string::npos; };
  EXPECT_TRUE(says(columns_fault(8, 8, 0, 64, 4), "has 8 columns, but the vector loop here has 0"));
  EXPECT_TRUE(says(columns_fault(8, 8, 16, 64, 4), "has 8 columns, but the vector loop here has 16"));
  EXPECT_TRUE(says(columns_fault(8, 16, 8, 64, 4), "over 16 columns, of which its loop has 8"));
  EXPECT_TRUE(says(columns_fault(8, 0, 8, 64, 4), "over 0 columns, of which its loop has 8"));
  EXPECT_TRUE(says(columns_fault(64, 64, 64, 32, 4), "do not take whole rows of 64 columns"));
  EXPECT_TRUE(says(columns_fault(2, 2, 2, 64, 4), "do not take whole rows of 2 columns"));
  EXPECT_TRUE(says(columns_fault(8, 8, 8, 320, 4), "320 threads join what they have, which takes a power of two"));
  EXPECT_TRUE(says(columns_fault(8, 8, 8, 0, 4), "do not take whole rows")) << "a CPU";
}

}  // namespace
}  // namespace smelt::kernel
