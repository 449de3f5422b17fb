// Quotients by a divisor that a row shares: which become products.
#include "kernel/share_divisors.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "changes.hpp"
#include "kernel/hoist.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr g = sym("g"_loop), i = sym("i"_loop);

// out2[g, i] = in0[g, i] / in1[g], by teams of 32 threads.
void fill_quotients(Sample& s, DType t, int64_t rows, int64_t length) {
  const int in = s.input(t, {rows, length}), by = s.input(t, {rows}), out = s.output(t, {rows, length});
  const ExprId quotient = s.build.apply(Op::Div, {s.load(in, {g, i}), s.load(by, {g})});
  s.phase(grid("g"_loop, rows, {vector("i"_loop, length, {store({false, out, {g, i}}, quotient)}, 1)}));
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {32, 32};
}

TEST(ShareDivisors, OfRowsOfFourElementsOfAThread) {
  const auto divides = [](int64_t length) {
    Sample s;
    fill_quotients(s, DType::F32, 5, length);
    hoist_invariants(s.kernel);
    verify(s.kernel);
    const std::string text = print(s.kernel);
    return text.find("in0[%g, %i] / ") != std::string::npos;
  };
  EXPECT_TRUE(divides(96));
  EXPECT_FALSE(divides(97));
}

TEST(ShareDivisors, NotWhereTheDivisorIsOfTheElement) {
  Sample s;
  const int in = s.input(DType::F32, {4, 512}), out = s.output(DType::F32, {4, 512});
  const ExprId x = s.load(in, {g, i});
  s.phase(grid("g"_loop, 4,
               {vector("i"_loop, 512, {store({false, out, {g, i}}, s.build.apply(Op::Div, {s.f32(3), x}))}, 4)}));
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {32, 32};
  EXPECT_EQ(changes(s.kernel, hoist_invariants), Lines{});
}

// Not one that the phase stores to, nor one that a loop without elements would read beyond its end.
TEST(HoistInvariants, AnElementThatAllRead) {
  const auto hoists = [](bool stores, const IntExpr& length, const Shape& dims) {
    Sample s;
    const int in = s.input(DType::F32, {4, length}), out = s.output(DType::F32, {4, length});
    const int more = stores ? s.output(DType::F32, dims) : s.input(DType::F32, dims);
    const std::vector<IntExpr> at = dims.empty() ? Shape{} : Shape{g};
    const ExprId factor = s.build.apply(Op::Mul, {s.load(more, at), s.f32(3)});
    std::vector<Stmt> body;
    body.push_back(vector("i"_loop, length,
                          {store({false, out, {g, i}}, s.build.apply(Op::Mul, {s.load(in, {g, i}), factor}))}, 1));
    if (stores) body.push_back(store({false, more, at}, s.f32(1)));
    s.phase(grid("g"_loop, 4, std::move(body)));
    s.kernel.params.push_back(size_param("N"_size));
    s.kernel.dialect = Dialect::Gpu;
    s.kernel.phases[0].team = {32, 32};
    const bool changed = hoist_invariants(s.kernel);
    verify(s.kernel);
    return changed;
  };
  const IntExpr any = sym("N"_size) - 1;
  EXPECT_TRUE(hoists(false, 512, {4}));
  EXPECT_FALSE(hoists(true, 512, {4}));
  EXPECT_FALSE(hoists(false, any, {4}));
  EXPECT_TRUE(hoists(false, any, {}));
}

}  // namespace
}  // namespace smelt::kernel
