// verify() of pipelines: parts are made and multiplied each in its stage, so that iterations may
// overlap; and of their memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/barriers.hpp"
#include "kernel/kernel.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using ::testing::HasSubstr;

const Symbol kPart = "kb"_loop, kLane = "i"_loop;

// out = a @ b.T of bf16[64, 256] and bf16[32, 256], 32 of the inner axis at a time, in four stages.
struct Pipeline : Sample {
  int a, b, out, rows, columns, sums;
  Loop loop = serial(kPart, 8, {});

  Pipeline() {
    kernel.dialect = Dialect::Gpu;
    a = input(DType::BF16, {64, 256}), b = input(DType::BF16, {32, 256}), out = output(DType::F32, {64, 32});
    rows = staged({4, 1, 64, 32}), columns = staged({4, 1, 32, 32});
    sums = scratch(DType::F32, {64, 32 + Fragment::kApart});
    kernel.buffers.back().lifetime = Lifetime::Behind;
    kernel.fragments.push_back({DType::BF16, DType::F32, 64, 32, 32, 1, true, true});
    loop.stages = 4;
    loop.body = {part(a, rows, 64, stage()), part(b, columns, 32, stage()),
                 Matrix{Matrix::Step::Multiply, 0, rows, columns}};
  }

  int staged(std::vector<IntExpr> dims) {
    const int made = scratch(DType::BF16, std::move(dims));
    kernel.buffers.back().lifetime = Lifetime::Pipeline, kernel.buffers.back().swizzled = true;
    return made;
  }
  static IntExpr stage(const IntExpr& of = sym(kPart)) {
    const Ranges inside = {{kPart, {0, 7}}};
    return mod(of, 4, inside);
  }
  Loop part(int from, int to, int64_t own, const IntExpr& at) {
    const Ranges inside = {{kLane, {0, own * 32 - 1}}};
    const IntExpr row = floordiv(sym(kLane), 32, inside), k = mod(sym(kLane), 32, inside);
    Store element = build.store({true, to, {at, 0, row, k}}, load(from, {row, 32 * sym(kPart) + k}));
    element.later = true;
    return vector(kLane, own * 32, {element});
  }
  std::string result() {
    const Ranges inside = {{kLane, {0, 2047}}};
    const IntExpr row = floordiv(sym(kLane), 32, inside), column = mod(sym(kLane), 32, inside);
    phase(grid("g"_loop, 1,
               {alloc(rows), alloc(columns), alloc(sums), Matrix{Matrix::Step::Clear, 0}, loop,
                Matrix{Matrix::Step::Put, 0, -1, -1, sums},
                vector(kLane, 2048, {store({false, out, {row, column}}, load_scratch(sums, {row, column}))})}));
    kernel.phases[0].team = {32, 32};
    insert_barriers(kernel);
    return fault(kernel);
  }
};

TEST(VerifyPipelines, PartsInTheirStagesPass) {
  Pipeline p;
  EXPECT_EQ(p.result(), "");
  // Before the sums take the memory of the stages, and before they are read.
  int barriers = 0;
  for (const Stmt& s : grid_body(p.kernel)) barriers += s.is<Barrier>();
  EXPECT_EQ(barriers, 2);
}

TEST(VerifyPipelines, AnotherStage) {
  Pipeline p;
  p.loop.body[1] = p.part(p.b, p.columns, 32, mod(sym(kPart) + 1, 4));
  EXPECT_THAT(p.result(), HasSubstr("not to stage"));
}

TEST(VerifyPipelines, MoreStagesThanTheBuffersHave) {
  Pipeline p;
  p.loop.stages = 3;
  EXPECT_THAT(p.result(), HasSubstr("which has no 3 stages"));
}

TEST(VerifyPipelines, ScratchThatIsNotStaged) {
  Pipeline p;
  p.kernel.buffers[static_cast<size_t>(p.rows)].lifetime = Lifetime::Always;
  EXPECT_THAT(p.result(), HasSubstr("makes parts of scratch0, which has no 4 stages"));
}

TEST(VerifyPipelines, PartsAreMadeFirst) {
  Pipeline p;
  std::swap(p.loop.body[1], p.loop.body[2]);
  EXPECT_THAT(p.result(), HasSubstr("multiplies scratch1, whose stages it does not make"));
}

TEST(VerifyPipelines, PartsOfParts) {
  Pipeline p;
  Loop& made = p.loop.body[0].get<Loop>();
  Store& element = made.body[0].get<Store>();
  element.value = p.build.store(element.access, p.load_scratch(p.rows, element.access.index)).value;
  EXPECT_THAT(p.result(), HasSubstr("makes parts from scratch0"));
}

TEST(VerifyPipelines, AnArrayIsStoredTo) {
  Pipeline p;
  Loop& made = p.loop.body[0].get<Loop>();
  const Ranges inside = {{kLane, {0, 2047}}};
  made.body.push_back(store({false, p.out, {floordiv(sym(kLane), 32, inside), mod(sym(kLane), 32, inside)}}, p.f32(1)));
  EXPECT_THAT(p.result(), HasSubstr("stores to an array"));
}

TEST(VerifyPipelines, UnitsWhereAConditionHolds) {
  Pipeline p;
  p.loop.body.push_back(If{p.at_least(sym(kPart), 3), {Matrix{Matrix::Step::Multiply, 0, p.rows, p.columns}}});
  EXPECT_THAT(p.result(), HasSubstr("multiplies where a condition holds"));
}

// What is multiplied for one part alone may be added to a fragment of the same shape alone.
TEST(VerifyPipelines, SumsOfParts) {
  const auto with = [](int columns, Matrix::Step step) {
    Pipeline p;
    p.kernel.fragments.push_back({DType::BF16, DType::F32, 64, columns, 32, 1, true, true});
    p.loop.body.back() = Matrix{Matrix::Step::Clear, 1};
    p.loop.body.push_back(Matrix{Matrix::Step::Multiply, 1, p.rows, p.columns});
    p.loop.body.push_back(Matrix{.step = step, .fragment = 0, .by = 1});
    return p.result();
  };
  EXPECT_EQ(with(32, Matrix::Step::Add), "");
  EXPECT_EQ(with(32, Matrix::Step::AddFinite), "");
  EXPECT_NE(with(64, Matrix::Step::Add), "");
}

TEST(VerifyPipelines, RowsOfTheFragment) {
  Pipeline p;
  p.kernel.buffers[static_cast<size_t>(p.rows)].swizzled = false;
  EXPECT_THAT(p.result(), HasSubstr("do not lie as fragment 0 has its factors"));
}

}  // namespace
}  // namespace smelt::kernel
