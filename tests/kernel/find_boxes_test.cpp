// Parts of pipelines that are boxes of arrays, and what verify() makes of wrong ones.
#include "kernel/find_boxes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "changes.hpp"
#include "kernel/barriers.hpp"
#include "kernel/choose_variants.hpp"
#include "kernel/load_early.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/widen_accesses.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using ::testing::HasSubstr;

const Symbol kPart = "kb"_loop, kLane = "i"_loop;
const IntExpr g = sym("g"_loop), kb = sym(kPart), i = sym(kLane);
const Ranges kInside = {{kLane, {0, 4095}}};
const IntExpr kOuter = floordiv(i, 64, kInside), kAlong = mod(i, 64, kInside);

// Tiles of 64 x 64 of what multiplies an array's rows with those of another one, 64 of the inner
// axis at a time, in four stages.
struct Tiles {
  Sample s;
  int out = -1, staged[2], sums = -1;
  Stmt before = Matrix{Matrix::Step::Clear, 0};

  Tiles() { s.kernel.dialect = Dialect::Gpu; }
  Loop part(int number, ExprId value) {
    Store element = s.build.store({true, staged[number], {mod(kb, 4, {{kPart, {0, 7}}}), 0, kOuter, kAlong}}, value);
    element.later = true;
    return vector(kLane, 4096, {element});
  }
  // Lines about boxes, where the rows' part is this and the columns' one is whole; `parts` of the
  // inner axis.
  Lines found(const ExprId rows, const IntExpr& parts = 8) {
    const int columns = s.input(DType::BF16, {64, 512});
    out = s.output(DType::F32, {64, 64});
    for (int& buffer : staged) {
      buffer = s.scratch(DType::BF16, {4, 1, 64, 64});
      s.kernel.buffers.back().lifetime = Lifetime::Pipeline, s.kernel.buffers.back().swizzled = true;
    }
    sums = s.scratch(DType::F32, {64, 64 + Fragment::kApart});
    s.kernel.buffers.back().lifetime = Lifetime::Behind;
    s.kernel.fragments.push_back({DType::BF16, DType::F32, 64, 64, 64, 4, true, true});
    Loop pipeline = serial(kPart, parts,
                           {part(0, rows), part(1, s.load(columns, {kOuter, 64 * kb + kAlong})),
                            Matrix{Matrix::Step::Multiply, 0, staged[0], staged[1]}});
    pipeline.stages = 4, pipeline.boxed = true;
    s.phase(grid(
        "g"_loop, 1,
        {alloc(staged[0]), alloc(staged[1]), alloc(sums), before, pipeline, Matrix{Matrix::Step::Put, 0, -1, -1, sums},
         vector(kLane, 4096, {store({false, out, {kOuter, kAlong}}, s.load_scratch(sums, {kOuter, kAlong}))})}));
    s.kernel.phases[0].team = {128, 128};
    insert_barriers(s.kernel);
    shape_vector_loops(s.kernel);
    load_early(s.kernel);
    widen_accesses(s.kernel);
    choose_variants(s.kernel);
    Lines lines = without_variants(changes(s.kernel, find_boxes));
    const std::string other = "box of in" + std::to_string(columns);
    std::erase_if(lines, [&](const std::string& line) { return line.find(other) != std::string::npos; });
    return lines;
  }
  bool any_boxes() const {
    for (const Variant& v : s.kernel.phases[0].variants)
      if (v.boxes) return true;
    return false;
  }
  Loop& pipeline() {
    for (Stmt& stmt : grid_body(s.kernel))
      if (auto* loop = stmt.get_if<Loop>(); loop && loop->stages) return *loop;
    throw InternalError("no pipeline");
  }
  // What verify() says once the first box is changed.
  template <class Change>
  std::string fault_of(const Change& change) {
    Loop& loop = pipeline().body[0].get<Loop>();
    const auto before = loop.box;
    Box box = *before;
    change(box);
    loop.box = std::make_shared<const Box>(box);
    const std::string found = fault(s.kernel);
    loop.box = before;
    return found;
  }
};

TEST(FindBoxes, PartsOfRows) {
  Tiles t;
  const int a = t.s.input(DType::BF16, {192, 512});
  EXPECT_EQ(t.found(t.s.load(a, {64 * g + kOuter, 64 * kb + kAlong})),
            Lines{"+ box of in0: 64 from 64*%kb of 512, 64 from 64*%g of 192"});
  EXPECT_TRUE(t.any_boxes());
}

TEST(FindBoxes, PartsOfTurnedArrays) {
  Tiles t;
  const int a = t.s.input(DType::BF16, {512, 64});
  EXPECT_EQ(t.found(t.s.load(a, {64 * kb + kOuter, kAlong})),
            Lines{"+ box of in0: 64 from 0 of 64, 64 from 64*%kb of 512"});
}

TEST(FindBoxes, OneElementOfOtherDimensions) {
  Tiles t;
  const int a = t.s.input(DType::BF16, {3, 64, 2, 512});
  EXPECT_EQ(t.found(t.s.load(a, {g + 2, kOuter, 1, 64 * kb + kAlong})),
            Lines{"+ box of in0: 64 from 64*%kb of 512, 64 from 0 of 64, 1 from 1 of 2, 1 from %g + 2 of 3"});
}

// Rows that go over two dimensions are those of one.
TEST(FindBoxes, RowsOverSeveralDimensions) {
  Tiles t;
  t.s.size("B"_size), t.s.size("T"_size);
  const IntExpr B = sym("B"_size), T = sym("T"_size), row = kOuter;
  const int a = t.s.input(DType::BF16, {B, T, 512});
  const Ranges inside = {{kLane, {0, 4095}}};
  const ExprId mask = t.s.less(row, B * T);
  EXPECT_EQ(t.found(t.s.load(a, {floordiv(row, T, inside), mod(row, T, inside), 64 * kb + kAlong}, mask,
                             t.s.build.constant(Scalar::of_float(DType::BF16, 0)))),
            Lines{"+ box of in2: 64 from 64*%kb of 512, 64 from 0 of B*T"});
}

// Where a mask does not hold, there is 0: a box ends there.
TEST(FindBoxes, MasksAtTheEnds) {
  Tiles t;
  const int a = t.s.input(DType::BF16, {100, 512});
  const ExprId mask = t.s.both(t.s.less(kOuter, 50), t.s.less(64 * kb + kAlong, 496));
  EXPECT_EQ(
      t.found(t.s.load(a, {kOuter + 3, 64 * kb + kAlong}, mask, t.s.build.constant(Scalar::of_float(DType::BF16, 0)))),
      Lines{"+ box of in0: 64 from 64*%kb of 496, 64 from 3 of 53"});
  EXPECT_EQ(fault(t.s.kernel), "");
}

TEST(FindBoxes, WhatIsNone) {
  const auto refuses = [](const auto& make) {
    Tiles t;
    const int a = t.s.input(DType::BF16, {512, 512});
    EXPECT_EQ(t.found(make(t.s, a)), Lines{});
    EXPECT_FALSE(t.any_boxes());
  };
  const auto zero = [](Sample& s) { return s.build.constant(Scalar::of_float(DType::BF16, 0)); };
  refuses([](Sample& s, int a) { return s.load(a, {2 * kOuter, 64 * kb + kAlong}); });       // every other row
  refuses([](Sample& s, int a) { return s.load(a, {kOuter + kAlong, 64 * kb + kAlong}); });  // a diagonal
  refuses([](Sample& s, int a) { return s.load(a, {0, 64 * kb + kAlong}); });                // one row again and again
  refuses([&](Sample& s, int a) {                                                            // a mask that is no end
    return s.load(a, {kOuter, 64 * kb + kAlong}, s.less(kOuter, 64 * kb + 9), zero(s));
  });
  refuses([&](Sample& s, int a) {
    return s.load(a, {kOuter, 64 * kb + kAlong}, s.less(kOuter + kAlong, 70), zero(s));
  });
}

TEST(FindBoxes, WrongOnesAreRefused) {
  Tiles t;
  const int a = t.s.input(DType::BF16, {192, 512});
  t.found(t.s.load(a, {64 * g + kOuter, 64 * kb + kAlong}));
  EXPECT_EQ(t.fault_of([](Box&) {}), "");
  EXPECT_THAT(t.fault_of([](Box& b) { b.sides[0].first = b.sides[0].first + 1; }), HasSubstr("from another place"));
  EXPECT_THAT(t.fault_of([](Box& b) { b.sides[1].stride = 511; }), HasSubstr("from another place"));
  EXPECT_THAT(t.fault_of([](Box& b) { b.sides[0].stride = 2; }), HasSubstr("contiguous side"));
  EXPECT_THAT(t.fault_of([](Box& b) { b.sides[0].extent = 511; }), HasSubstr("ends within its array"));
  EXPECT_THAT(t.fault_of([](Box& b) { b.sides[1].extent = 193; }), HasSubstr("ends within its array"));
  EXPECT_THAT(t.fault_of([](Box& b) { b.line = 32; }), HasSubstr("other elements than its box"));
  EXPECT_THAT(t.fault_of([](Box& b) { std::swap(b.sides[0], b.sides[1]); }), HasSubstr("contiguous side"));
  EXPECT_THAT(t.fault_of([](Box& b) { b.param = 1; }), HasSubstr("does not copy the array"));
  t.pipeline().body[1].get<Loop>().box = nullptr;
  EXPECT_THAT(fault(t.s.kernel), HasSubstr("has no box"));
  t.pipeline().boxed = false;
  EXPECT_THAT(fault(t.s.kernel), HasSubstr("without a pipeline"));
}

// A mask that a box forgets, and one that it makes up.
TEST(FindBoxes, EndsThatAreNotThoseOfTheMask) {
  Tiles t;
  const int a = t.s.input(DType::BF16, {64, 512});
  t.found(t.s.load(a, {kOuter, 64 * kb + kAlong}, t.s.less(64 * kb + kAlong, 200),
                   t.s.build.constant(Scalar::of_float(DType::BF16, 0))));
  EXPECT_EQ(t.fault_of([](Box&) {}), "");
  EXPECT_THAT(t.fault_of([](Box& b) { b.sides[0].extent = 512; }), HasSubstr("where a box does not end"));
  EXPECT_THAT(t.fault_of([](Box& b) { b.sides[0].extent = 199; }), HasSubstr("where a box does not end"));
}

}  // namespace
}  // namespace smelt::kernel
