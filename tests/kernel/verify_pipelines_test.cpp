// verify() of pipelines: parts are made and multiplied each in its stage, so that iterations may
// overlap; and of their memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernel/barriers.hpp"
#include "kernel/kernel.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/team_forms.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using ::testing::HasSubstr;

const Symbol kPart = "kb"_loop, kLane = "i"_loop;

// A tile of a product.
struct TileSample : Sample {
  void add_tile(std::vector<Stmt> statements, int threads) {
    phase(grid("g"_loop, 1, std::move(statements)));
    kernel.phases[0].team = {threads, threads};
    insert_barriers(kernel);
  }
  int barriers() {
    const std::vector<Stmt>& body = grid_body(kernel);
    return static_cast<int>(std::count_if(body.begin(), body.end(), [](const Stmt& s) { return s.is<Barrier>(); }));
  }
};

// out = a @ b.T of bf16[64, 256] and bf16[32, 256], 32 of the inner axis at a time, in four stages.
struct Pipeline : TileSample {
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
    add_tile({alloc(rows), alloc(columns), alloc(sums), Matrix{Matrix::Step::Clear, 0}, loop,
              Matrix{Matrix::Step::Put, 0, -1, -1, sums},
              vector(kLane, 2048, {store({false, out, {row, column}}, load_scratch(sums, {row, column}))})},
             32);
    return fault(kernel);
  }
};

TEST(VerifyPipelines, PartsInTheirStagesPass) {
  Pipeline p;
  EXPECT_EQ(p.result(), "");
  // Before the sums take the memory of the stages, and before they are read.
  EXPECT_EQ(p.barriers(), 2);
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

// out = a @ b.T of bf16[16, 64] and bf16[8, 64] by two warps, each of which has 64 of the 128
// terms.
struct OfWarps : TileSample {
  int a, b, out, rows, columns, sums;
  int lanes = 16;

  OfWarps() {
    kernel.dialect = Dialect::Gpu;
    a = input(DType::BF16, {16, 128}), b = input(DType::I8, {8, 128}), out = output(DType::F32, {16, 8});
    rows = scratch(DType::BF16, {2 * 16 * 64}), columns = scratch(DType::F32, {2 * 8 * 64});
    for (const int held : {rows, columns}) kernel.buffers[static_cast<size_t>(held)].scope = Scope::Lane;
    sums = scratch(DType::F32, {2, 16, 8 + Fragment::kApartOfWarps});
    kernel.fragments.push_back({DType::BF16, DType::F32, 16, 8, 64, 1, true, true});
    kernel.fragments.back().of_warps = true;
  }
  Loop part(int from, int to, int64_t own) {
    const Ranges inside = {{kLane, {0, 2 * own * 64 - 1}}};
    const IntExpr row = 8 * floordiv(sym(kLane), 1024, inside) + mod(floordiv(sym(kLane), 64, inside), 8, inside),
                  k = 64 * mod(floordiv(sym(kLane), 512, inside), 2, inside) + mod(sym(kLane), 64, inside);
    const ExprId value = load(from, {row, k});
    const bool as_it_is = kernel.buffers[static_cast<size_t>(to)].dtype == kernel.at(value).dtype;
    Loop all = vector(kLane, 2 * own * 64,
                      {build.store({true, to, {sym(kLane)}}, as_it_is ? value : build.cast(value, DType::F32))}, lanes);
    all.unroll = static_cast<int>(own / 8);
    return all;
  }
  void add_phase() {
    const Ranges inside = {{kLane, {0, 127}}};
    const IntExpr row = floordiv(sym(kLane), 8, inside), column = mod(sym(kLane), 8, inside);
    const ExprId sum =
        build.apply(Op::Add, {load_scratch(sums, {0, row, column}), load_scratch(sums, {1, row, column})});
    add_tile(
        {alloc(rows), alloc(columns), alloc(sums), Matrix{Matrix::Step::Clear, 0}, part(a, rows, 16),
         part(b, columns, 8), Matrix{Matrix::Step::Multiply, 0, rows, columns},
         Matrix{Matrix::Step::Put, 0, -1, -1, sums}, vector(kLane, 128, {store({false, out, {row, column}}, sum)})},
        64);
  }
  std::string result() {
    add_phase();
    return fault(kernel);
  }
};

TEST(VerifyWarps, FactorsInRegistersPass) {
  OfWarps w;
  EXPECT_EQ(w.result(), "");
  EXPECT_EQ(w.barriers(), 1) << "before the sums of other warps are read";
}

TEST(VerifyWarps, FactorsAreOfLanes) {
  OfWarps w;
  w.kernel.buffers[static_cast<size_t>(w.rows)].scope = Scope::Workgroup;
  EXPECT_THAT(w.result(), HasSubstr("are not what lanes have of the factors"));
}

TEST(VerifyWarps, OtherSizes) {
  OfWarps w;
  w.kernel.fragments[0].inner = 128;
  EXPECT_THAT(w.result(), HasSubstr("are not what lanes have of the factors"));
  OfWarps less;
  less.kernel.buffers[static_cast<size_t>(less.sums)].dims[2] = 8;
  EXPECT_THAT(less.result(), HasSubstr("is no place for fragment 0 of each warp"));
}

TEST(VerifyWarps, NothingElseIsDoneWithTheirSums) {
  OfWarps w;
  w.kernel.fragments.push_back(w.kernel.fragments[0]);
  w.add_phase();
  w.kernel.phases[0].body.back().get<Loop>().body.push_back(Matrix{.step = Matrix::Step::Add, .fragment = 0, .by = 1});
  EXPECT_THAT(fault(w.kernel), HasSubstr("is of single warps"));
}

// Which lane has what is the same in all forms of a loop, so that units multiply what belongs
// together.
TEST(VerifyWarps, LanesOfAllFormsAreTheSame) {
  OfWarps w;
  w.add_phase();
  shape_vector_loops(w.kernel);
  EXPECT_EQ(fault(w.kernel), "");
  for (Stmt& s : grid_body(w.kernel)) {
    auto* loop = s.get_if<Loop>();
    if (!loop || loop->lanes != w.lanes) continue;
    TeamForms forms = *loop->team;
    for (const LoopShape& shape : forms.shapes) EXPECT_EQ(shape.lanes, w.lanes);
    forms.shapes.back().lanes = 1, forms.shapes.back().unroll = 16;
    loop->team = std::make_shared<const TeamForms>(forms);
    break;
  }
  EXPECT_THAT(fault(w.kernel), HasSubstr("which units multiply"));
}

}  // namespace
}  // namespace smelt::kernel
