// verify() passes kernels that are right, and names the access or the local at fault in those that
// are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernel/kernel.hpp"
#include "samples.hpp"
#include "smelt/error.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using ::testing::HasSubstr;

#define EXPECT_FAULT(kernel, part)                                                      \
  do {                                                                                  \
    const std::string message = fault(kernel);                                          \
    EXPECT_NE(message.find(part), std::string::npos) << "message: '" << message << "'"; \
  } while (false)

const IntExpr i = sym("i0"_loop), j = sym("i1"_loop);

std::string pointwise_fault(std::vector<IntExpr> at, Shape in_dims, Shape out_dims) {
  Sample s;
  fill_pointwise(s, std::move(at), std::move(in_dims), out_dims);
  return fault(s.kernel);
}

TEST(Verify, RightKernelsPass) {
  const IntExpr B = sym("B"_size), C = sym("C"_size);
  EXPECT_EQ(pointwise_fault({i, j}, {4, 8}, {4, 8}), "");
  EXPECT_EQ(pointwise_fault({i, j}, {B, C}, {B, C}), "");
  EXPECT_EQ(pointwise_fault({j, i}, {C, B}, {B, C}), "") << "transposed";
  EXPECT_EQ(pointwise_fault({0, j}, {1, C}, {B, C}), "") << "broadcast";
  EXPECT_EQ(pointwise_fault({B - 1 - i, j}, {B, C}, {B, C}), "") << "flipped";
  EXPECT_EQ(pointwise_fault({i * 2 + 1, j}, {B * 2, C}, {B, C}), "") << "strided";
  EXPECT_EQ(pointwise_fault({i * C + j}, {B * C}, {B, C}), "") << "flattened";
  EXPECT_EQ(pointwise_fault({i + 3, C - j}, {B + 5, C + 1}, {B, C}), "") << "sliced";
  Sample row;
  fill_row(row);
  EXPECT_EQ(fault(row.kernel), "");
}

TEST(Verify, Reshapes) {
  const IntExpr B = sym("B"_size), C = sym("C"_size);
  const Ranges inside = {{"i0"_loop, {0, B - 1}}, {"i1"_loop, {0, C - 1}}};
  // [B, C] read as [C, B]: through the flat index.
  const IntExpr flat = i * C + j;
  EXPECT_EQ(pointwise_fault({floordiv(flat, B, inside), mod(flat, B, inside)}, {C, B}, {B, C}), "");
  // [B, 6] as [B, 2, 3], [12 * B, 1] as [B, 3, 4], a dimension split and another merged.
  const Ranges six = {{"i0"_loop, {0, B - 1}}, {"i1"_loop, {0, 5}}};
  EXPECT_EQ(pointwise_fault({i, floordiv(j, 3, six), mod(j, 3, six)}, {B, 2, 3}, {B, 6}), "");
  // [12 * B] as [B, 3, 4].
  Sample s;
  s.size("B"_size);
  const int in = s.input(DType::F32, {B, 3, 4});
  const int out = s.output(DType::F32, {B * 12});
  const Ranges many = {{"i0"_loop, {0, B * 12 - 1}}};
  const std::vector<IntExpr> at = {floordiv(i, 12, many), mod(floordiv(i, 4, many), 3, many), mod(i, 4, many)};
  s.phase(grid("i0"_loop, B * 12, {store({false, out, {i}}, s.load(in, at))}));
  EXPECT_EQ(fault(s.kernel), "");
}

TEST(Verify, IndexPastTheEnd) {
  const IntExpr B = sym("B"_size), C = sym("C"_size);
  EXPECT_EQ(pointwise_fault({i, j + 1}, {B, C}, {B, C}),
            "internal error in smelt: kernel k0: load in2[%i0, %i1 + 1]: index 1 is not proved inside its dimension: "
            "%i1 + 1 < C does not follow from grid %i0 < B, vector %i1 < C");
  EXPECT_NE(pointwise_fault({i - 1, j}, {B, C}, {B, C}).find("load in2[%i0 - 1, %i1]: index 0"), std::string::npos);
  EXPECT_THAT(pointwise_fault({j, i}, {B, C}, {B, C}), HasSubstr("%i1 < B does not follow"));
  EXPECT_THAT(pointwise_fault({i, j}, {4, 7}, {4, 8}), HasSubstr("%i1 < 7 does not follow"));
  EXPECT_THAT(pointwise_fault({i, j}, {B, 8}, {B, C}), HasSubstr("%i1 < 8 does not follow"))
      << "a size is not a number";
  EXPECT_THAT(pointwise_fault({B - i, j}, {B, C}, {B, C}), HasSubstr("-%i0 + B < B does not follow"));
  EXPECT_THAT(pointwise_fault({i * B + j}, {B * C}, {B, C}), HasSubstr("%i0*B + %i1 < B*C does not follow"))
      << "wrong stride";
}

// A loop that runs says that its own sizes are not 0, and nothing of others.
TEST(Verify, SizesMayBeZero) {
  auto first_of = [](bool loop_over_it) {
    Sample s;
    s.size("B"_size);
    s.size("C"_size);
    const int in = s.input(DType::F32, {sym("C"_size)});
    const int out = s.output(DType::F32, {sym("B"_size) * (loop_over_it ? sym("C"_size) : 1)});
    s.phase(grid("i0"_loop, sym("B"_size) * (loop_over_it ? sym("C"_size) : 1),
                 {store({false, out, {i}}, s.load(in, {0}))}));
    return fault(s.kernel);
  };
  EXPECT_EQ(first_of(true), "");
  EXPECT_NE(first_of(false).find("0 < C does not follow"), std::string::npos);
}

TEST(Verify, Assumptions) {
  auto sliced = [](bool assumed) {
    Sample s;
    s.size("N"_size);
    const int in = s.input(DType::F32, {sym("N"_size)});
    const int out = s.output(DType::F32, {3});
    s.phase(grid("i0"_loop, 3, {store({false, out, {i}}, s.load(in, {i + 2}))}));
    if (assumed) s.kernel.assumptions.push_back(sym("N"_size) - 5);
    return fault(s.kernel);
  };
  EXPECT_EQ(sliced(true), "");
  EXPECT_NE(sliced(false).find("%i0 + 2 < N"), std::string::npos);
}

// x padded by 2 in front and 3 after, with masks that may be wrong.
std::string padded_fault(const std::function<ExprId(Sample&)>& mask_of) {
  Sample s;
  s.size("N"_size);
  const int in = s.input(DType::F32, {sym("N"_size)});
  const int out = s.output(DType::F32, {sym("N"_size) + 5});
  const ExprId mask = mask_of(s);
  const ExprId x = s.load(in, {i - 2}, mask, mask == kNoExpr ? kNoExpr : s.f32(0));
  s.phase(grid("i0"_loop, sym("N"_size) + 5, {store({false, out, {i}}, x)}));
  return fault(s.kernel);
}

TEST(Verify, Masks) {
  const IntExpr N = sym("N"_size);
  EXPECT_EQ(padded_fault([&](Sample& s) { return s.both(s.at_least(i, 2), s.less(i, N + 2)); }), "");
  EXPECT_EQ(padded_fault([&](Sample& s) { return s.both(s.less(i, N + 2), s.at_least(i - 2, 0)); }), "");
  EXPECT_EQ(padded_fault([&](Sample& s) {
              return s.build.apply(Op::Not, {s.build.apply(Op::Or, {s.less(i, 2), s.at_least(i, N + 2)})});
            }),
            "");
  EXPECT_THAT(padded_fault([&](Sample&) { return kNoExpr; }),
              HasSubstr("%i0 - 2 >= 0 does not follow from grid %i0 < N + 5"));
  EXPECT_THAT(padded_fault([&](Sample& s) { return s.at_least(i, 2); }), HasSubstr("%i0 - 2 < N does not follow"))
      << "only the front";
  EXPECT_THAT(padded_fault([&](Sample& s) { return s.both(s.at_least(i, 1), s.less(i, N + 2)); }),
              HasSubstr("%i0 - 2 >= 0 does not follow"))
      << "one too far";
  EXPECT_THAT(padded_fault([&](Sample& s) { return s.both(s.at_least(i, 2), s.less(i, N + 3)); }),
              HasSubstr("%i0 - 2 < N does not follow"));
  EXPECT_NE(padded_fault([&](Sample& s) {
              return s.build.apply(Op::Or, {s.at_least(i, 2), s.less(i, N + 2)});
            }),
            "")
      << "either is not both";
  EXPECT_THAT(padded_fault([&](Sample& s) { return s.build.constant(Scalar::of_bool(true)); }),
              HasSubstr("%i0 - 2 >= 0 does not follow"));
}

TEST(Verify, MaskNamedByALocal) {
  Sample s;
  s.size("N"_size);
  const int in = s.input(DType::F32, {sym("N"_size)});
  const int out = s.output(DType::F32, {sym("N"_size) + 5});
  const LocalId inside = s.build.new_local(DType::Bool, false);
  const ExprId mask = s.both(s.at_least(i, 2), s.less(i, sym("N"_size) + 2));
  const ExprId x = s.load(in, {i - 2}, s.build.local(inside), s.f32(0));
  s.phase(grid("i0"_loop, sym("N"_size) + 5, {let(inside, mask), store({false, out, {i}}, x)}));
  EXPECT_EQ(fault(s.kernel), "");
}

TEST(Verify, ConditionsGuard) {
  for (const int64_t limit : {4, 5}) {
    Sample s;
    const int in = s.input(DType::F32, {4});
    const int out = s.output(DType::F32, {9});
    s.phase(grid("i0"_loop, 9, {when(s.less(i, limit), {store({false, out, {i}}, s.load(in, {i}))})}));
    EXPECT_EQ(fault(s.kernel).empty(), limit == 4);
  }
}

TEST(Verify, MaskOfAStore) {
  for (const int64_t limit : {6, 7}) {
    Sample s;
    const int out = s.output(DType::F32, {2, 3});
    s.phase(grid("i0"_loop, 8, {store({false, out, {floordiv(i, 3), mod(i, 3)}}, s.f32(1), s.less(i, limit))}));
    EXPECT_EQ(fault(s.kernel).empty(), limit == 6) << fault(s.kernel);
  }
}

// Appended to a temporary, by a cursor that is an integer of another one, on a GPU.
TEST(Verify, CursorsOfAppendedElements) {
  struct Case {
    ParamKind list, cursor;
    DType counts;
    int64_t cursors;
    Dialect dialect;
  };
  const auto found = [](const Case& c) {
    Sample s;
    s.kernel.dialect = c.dialect;
    const int list = s.array(c.list, DType::F32, {8}), cursor = s.array(c.cursor, c.counts, {c.cursors});
    s.phase(grid("i0"_loop, 8, {append_by({false, cursor, {i}}, {false, list, {0}}, s.f32(1))}));
    if (c.dialect != Dialect::Portable) s.kernel.phases[0].team = {32, 32};
    return fault(s.kernel);
  };
  const Case right{ParamKind::Temporary, ParamKind::Temporary, DType::I32, 8, Dialect::Gpu};
  EXPECT_EQ(found(right), "");
  const auto with = [&](const std::function<void(Case&)>& change) {
    Case wrong = right;
    change(wrong);
    return found(wrong);
  };
  EXPECT_THAT(with([](Case& c) { c.list = ParamKind::Output; }), HasSubstr("to a temporary, by another"));
  EXPECT_THAT(with([](Case& c) { c.cursor = ParamKind::Input; }), HasSubstr("to a temporary, by another"));
  EXPECT_THAT(with([](Case& c) { c.counts = DType::F32; }), HasSubstr("no f32 counts there"));
  EXPECT_THAT(with([](Case& c) { c.counts = DType::U8; }), HasSubstr("no u8 counts there"));
  EXPECT_THAT(with([](Case& c) { c.cursors = 7; }), HasSubstr("%i0 < 7 does not follow"));
  EXPECT_THAT(with([](Case& c) { c.dialect = Dialect::Portable; }), HasSubstr("no i32 counts there"));
}

// A reduction split into chunks whose number is known at launch only.
TEST(Verify, LaunchSizes) {
  for (const bool guarded : {true, false}) {
    Sample s;
    s.size("N"_size);
    s.size("splits"_launch);
    s.size("chunk"_launch);
    const IntExpr N = sym("N"_size), splits = sym("splits"_launch), chunk = sym("chunk"_launch);
    s.kernel.launch_sizes = {{"splits"_launch, min(sym("threads"_launch), N)}, {"chunk"_launch, ceildiv(N, splits)}};
    const int in = s.input(DType::F32, {N});
    const int out = s.array(ParamKind::Temporary, DType::F32, {splits});
    const LocalId sum = s.build.new_local(DType::F32, true);
    const IntExpr at = i * chunk + j;
    const IntExpr extent = guarded ? min(chunk, N - i * chunk) : chunk;
    s.phase(
        grid("i0"_loop, splits,
             {assign(sum, s.f32(0)),
              vector("i1"_loop, extent, {assign(sum, s.build.apply(Op::Add, {s.build.local(sum), s.load(in, {at})}))}),
              combine(sum, Op::Add), store({false, out, {i}}, s.build.local(sum))}));
    EXPECT_EQ(fault(s.kernel).empty(), guarded) << fault(s.kernel);
  }
}

TEST(Verify, IndexLocals) {
  for (const bool known : {true, false}) {
    Sample s;
    s.size("N"_size);
    s.size("M"_size);
    const int table = s.input(DType::F32, {sym("N"_size)});
    const int indices = s.input(DType::I64, {sym("M"_size)});
    const int out = s.output(DType::F32, {sym("M"_size)});
    const LocalId at = s.build.new_local(DType::I64, false);
    const ExprId clamped = s.build.apply(
        Op::Where, {s.less(i, 0), s.build.index(0), s.load(indices, {i})});  // what it is does not matter here
    const IntExpr symbol = sym(Symbol::local(at));
    if (known) s.kernel.index_locals.push_back({at, sym("N"_size)});
    s.phase(grid("i0"_loop, sym("M"_size), {let(at, clamped), store({false, out, {i}}, s.load(table, {symbol}))}));
    if (known) {
      EXPECT_EQ(fault(s.kernel), "");
    } else {
      EXPECT_FAULT(s.kernel, "names %v0, which is not known there");
    }
  }
}

// Iterations that run at the same time write rows of their own where a condition gives each of them
// its rows.
TEST(Verify, RowsChosenByEach) {
  for (const bool compared : {true, false}) {
    Sample s;
    s.size("N"_size);
    s.size("M"_size);
    const int rows = s.input(DType::I64, {sym("M"_size)});
    const int out = s.output(DType::F32, {sym("N"_size)});
    const ExprId row = s.load(rows, {j});
    const LocalId at = s.build.new_local(DType::I64, false);
    s.kernel.index_locals.push_back({at, sym("N"_size)});
    const ExprId first = s.build.index(compared ? i : IntExpr(3));
    const ExprId mine = s.both(s.build.apply(Op::Ge, {row, first}), s.build.apply(Op::Lt, {row, first}));
    s.phase(grid("i0"_loop, sym("N"_size),
                 {each("i1"_loop, sym("M"_size), mine,
                       {let(at, row), store({false, out, {sym(Symbol::local(at))}}, s.f32(1))}, 4)}));
    if (compared) {
      EXPECT_EQ(fault(s.kernel), "");
    } else {
      EXPECT_FAULT(s.kernel, "every iteration of the grid loop %i0 writes the same element");
    }
  }
}

// ---- structure

TEST(Verify, UnknownSymbols) {
  Sample s;
  const int out = s.output(DType::F32, {4});
  s.phase(grid("i0"_loop, 4, {store({false, out, {sym("i9"_loop)}}, s.f32(1))}));
  EXPECT_FAULT(s.kernel, "store out0[%i9] names %i9");
  Sample t;
  t.output(DType::F32, {sym("N"_size)});
  t.phase(grid("i0"_loop, sym("N"_size), {store({false, 0, {i}}, t.f32(1))}));
  EXPECT_FAULT(t.kernel, "out0 names N");
}

TEST(Verify, StridesAreNoSizes) {
  Sample s;
  s.size(Symbol::stride(1, 0));
  const int in = s.input(DType::F32, {4});
  const int out = s.output(DType::F32, {4});
  s.kernel.params[static_cast<size_t>(in)].strides = {sym(Symbol::stride(1, 0))};
  s.phase(grid("i0"_loop, 4, {store({false, out, {i}}, s.load(in, {i}))}));
  EXPECT_EQ(fault(s.kernel), "");
  s.kernel.phases[0].body[0].get<Loop>().extent = sym(Symbol::stride(1, 0));
  EXPECT_FAULT(s.kernel, "the extent of loop %i0 names %stride1_0");
}

TEST(Verify, Loops) {
  Sample s;
  const ExprId one = s.f32(1);
  const Stmt put = store({false, 0, {i, j}}, one);
  auto check = [&](Stmt stmt, const std::string& part) {
    Sample k;
    k.output(DType::F32, {4, 4});
    k.f32(1);
    k.phase(std::move(stmt));
    const std::string message = fault(k.kernel);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    if (part.empty()) {
      EXPECT_EQ(message, "");
    }
  };
  check(grid("i0"_loop, 4, {serial("i1"_loop, 4, {put})}), "");
  check(serial("i0"_loop, 4, {serial("i1"_loop, 4, {put})}), "phase 0 is not one grid loop");
  check(grid("i0"_loop, 4, {grid("i1"_loop, 4, {put})}), "loop %i1: the outermost loop");
  check(grid("i0"_loop, 4, {vector("i1"_loop, 4, {vector("i2"_loop, 4, {put})})}),
        "vector loop %i2 stands inside another");
  check(grid("i0"_loop, 4, {vector("i1"_loop, 4, {put}, 3)}), "3 lanes");
  check(grid("i0"_loop, 4, {serial("i0"_loop, 4, {put})}), "loop variable %i0 hides another");
  check(grid(Symbol::local(0), 4, {}), "a loop over %v0, which is no loop variable");
  check(grid("B"_size, 4, {}), "a loop over B, which is no loop variable");
  check(grid("i0"_loop, 4, {vector("i1"_loop, 4, {serial("i2"_loop, j + 1, {put})})}), "differs from lane to lane");
  check(grid("i0"_loop, 4, {store({false, 0, {0, 0}}, one)}),
        "every iteration of the grid loop %i0 writes the same element");
  check(grid("i0"_loop, 4, {vector("i1"_loop, 4, {store({false, 0, {i, 0}}, one)})}),
        "every iteration of the vector loop %i1");
}

TEST(Verify, WhatIsWritten) {
  Sample s;
  const int in = s.input(DType::F32, {4});
  s.phase(grid("i0"_loop, 4, {store({false, in, {i}}, s.f32(1))}));
  EXPECT_FAULT(s.kernel, "store in0[%i0]: only outputs, temporaries and scratch are written");
  Sample t;
  const int out = t.output(DType::F32, {4, 4});
  t.phase(grid("i0"_loop, 4, {store({false, out, {i}}, t.f32(1))}));
  EXPECT_FAULT(t.kernel, "store out0[%i0]: 1 indices for rank 2");
}

// ---- locals

// A kernel out[i] = ... with the statements given, made by `fill` from the sample and two locals
// (f32; the first mutable).
std::string flow_fault(const std::function<std::vector<Stmt>(Sample&, LocalId, LocalId)>& fill) {
  Sample s;
  const int in = s.input(DType::F32, {4, 16});
  s.output(DType::F32, {4});
  (void)in;
  const LocalId sum = s.build.new_local(DType::F32, true), x = s.build.new_local(DType::F32, false);
  s.phase(grid("i0"_loop, 4, fill(s, sum, x)));
  return fault(s.kernel);
}
Stmt put(Sample& s, LocalId local) { return store({false, 1, {i}}, s.build.local(local)); }
Stmt add_row(Sample& s, LocalId sum, int lanes = 8) {
  return vector("i1"_loop, 16, {assign(sum, s.build.apply(Op::Add, {s.build.local(sum), s.load(0, {i, j})}))}, lanes);
}

TEST(Verify, Flow) {
  EXPECT_EQ(flow_fault([](Sample& s, LocalId sum, LocalId) {
              return std::vector<Stmt>{assign(sum, s.f32(0)), add_row(s, sum), combine(sum, Op::Add), put(s, sum)};
            }),
            "");
  // Chunks of a row: one loop over lanes inside another in order.
  EXPECT_EQ(flow_fault([](Sample& s, LocalId sum, LocalId) {
              return std::vector<Stmt>{assign(sum, s.f32(0)), serial("i2"_loop, 3, {add_row(s, sum)}),
                                       combine(sum, Op::Add), put(s, sum)};
            }),
            "");
}

TEST(Verify, UsedBeforeAssigned) {
  EXPECT_NE(flow_fault([](Sample& s, LocalId sum, LocalId) {
              return std::vector<Stmt>{add_row(s, sum), combine(sum, Op::Add), put(s, sum)};
            }).find("%v0 is read before it has a value"),
            std::string::npos);
  // Named in a block that has ended; assigned in a loop that may not run.
  EXPECT_NE(flow_fault([](Sample& s, LocalId, LocalId x) {
              return std::vector<Stmt>{serial("i1"_loop, 16, {let(x, s.load(0, {i, j}))}), put(s, x)};
            }).find("%v1 is read before"),
            std::string::npos);
  EXPECT_NE(flow_fault([](Sample& s, LocalId sum, LocalId) {
              return std::vector<Stmt>{when(s.less(i, 2), {assign(sum, s.f32(1))}), put(s, sum)};
            }).find("%v0 is read before"),
            std::string::npos);
}

TEST(Verify, LanesBeforeCombine) {
  EXPECT_NE(flow_fault([](Sample& s, LocalId sum, LocalId) {
              return std::vector<Stmt>{assign(sum, s.f32(0)), add_row(s, sum), put(s, sum)};
            }).find("%v0 has one value per lane here; combine it first"),
            std::string::npos);
  // The second time around, the value of the first is one per lane.
  EXPECT_NE(flow_fault([](Sample& s, LocalId sum, LocalId x) {
              return std::vector<Stmt>{assign(sum, s.f32(0)),
                                       serial("i2"_loop, 3, {let(x, s.build.local(sum)), add_row(s, sum)})};
            }).find("%v0 has one value per lane here"),
            std::string::npos);
  EXPECT_NE(flow_fault([](Sample& s, LocalId sum, LocalId) {
              return std::vector<Stmt>{assign(sum, s.f32(0)), combine(sum, Op::Add), put(s, sum)};
            }).find("combine of %v0: it has one value already"),
            std::string::npos);
  EXPECT_NE(flow_fault([](Sample& s, LocalId sum, LocalId) {
              return std::vector<Stmt>{assign(sum, s.f32(0)),
                                       vector("i1"_loop, 16, {assign(sum, s.f32(1)), combine(sum, Op::Add)})};
            }).find("inside the loop that it combines"),
            std::string::npos);
  EXPECT_NE(flow_fault([](Sample& s, LocalId sum, LocalId) {
              Stmt second = add_row(s, sum, 4);
              return std::vector<Stmt>{assign(sum, s.f32(0)), add_row(s, sum, 8), second, combine(sum, Op::Add)};
            }).find("%v0 has 8 lanes, but the vector loop here has 4"),
            std::string::npos);
}

TEST(Verify, SecondValues) {
  EXPECT_NE(flow_fault([](Sample& s, LocalId, LocalId x) {
              return std::vector<Stmt>{let(x, s.f32(0)), assign(x, s.f32(1))};
            }).find("%v1 gets a second value"),
            std::string::npos);
  EXPECT_NE(flow_fault([](Sample& s, LocalId sum, LocalId) {
              return std::vector<Stmt>{let(sum, s.f32(0))};
            }).find("let of the mutable"),
            std::string::npos);
}

TEST(Verify, ConditionsAreUniform) {
  EXPECT_NE(flow_fault([](Sample& s, LocalId sum, LocalId) {
              return std::vector<Stmt>{assign(sum, s.f32(0)),
                                       vector("i1"_loop, 16, {when(s.less(j, 3), {assign(sum, s.f32(1))})})};
            }).find("differs from lane to lane"),
            std::string::npos);
}

TEST(Verify, Scratch) {
  Sample s;
  fill_row(s);
  std::vector<Stmt>& body = grid_body(s.kernel);
  Kernel twice = s.kernel;
  grid_body(twice).insert(grid_body(twice).begin(), alloc(0));
  EXPECT_FAULT(twice, "scratch0 is allocated twice");
  body.erase(body.begin());
  EXPECT_FAULT(s.kernel, "scratch0[%i1]: scratch0 is used before it is allocated");
}

TEST(Verify, ScratchBounds) {
  Sample s;
  fill_row(s);
  s.kernel.buffers[0].dims = {sym("B"_size)};
  EXPECT_FAULT(s.kernel, "store scratch0[%i1]: index 0 is not proved");
}

// ---- dtypes

// Breaks the kernel of fill_row, whose expressions are known.
template <class Break>
void expect_broken(const Break& change, const std::string& part) {
  Sample s;
  fill_row(s);
  change(s.kernel);
  EXPECT_FAULT(s.kernel, part);
}
template <class Kind>
Expr& first_expr(Kernel& k) {
  for (Expr& e : k.exprs)
    if (e.is<Kind>()) return e;
  throw std::logic_error("no such expression");
}
template <class Kind>
Kind& first(Kernel& k) {
  return first_expr<Kind>(k).template get<Kind>();
}

TEST(Verify, Types) {
  expect_broken([](Kernel& k) { first_expr<Apply>(k).dtype = DType::F64; }, "is f64, but its value is f32");
  expect_broken([](Kernel& k) { first<Apply>(k).op = Op::And; }, "bitwise_and does not take f32");
  expect_broken([](Kernel& k) { first<Apply>(k).args.pop_back(); }, "has 1 operands, not 2");
  expect_broken([](Kernel& k) { first_expr<Load>(k).dtype = DType::F64; },
                "in2[%i0, %i1] is f64, but its value is f16");
  expect_broken([](Kernel& k) { first<Const>(k).value.dtype = DType::I32; }, "but its value is i32");
  expect_broken([](Kernel& k) { k.locals[0].dtype = DType::BF16; }, "%v0 is f32, but its value is bf16");
  expect_broken([](Kernel& k) { k.locals[1].dtype = DType::F64; }, "%v1");
  expect_broken([](Kernel& k) { k.params[3].dtype = DType::F64; }, "store out3[%i0, %i2]: the value");
  expect_broken([](Kernel& k) { grid_body(k)[3].get<Combine>().op = Op::Sub; }, "subtract does not combine f32");
  expect_broken([](Kernel& k) { grid_body(k)[3].get<Combine>().op = Op::Or; }, "bitwise_or does not combine f32");
  expect_broken([](Kernel& k) { grid_body(k)[3].get<Combine>().index_local = 1; }, "add has no index");
  expect_broken([](Kernel& k) { first<Load>(k).mask = 0; }, "a mask or a value beside it, but not both");
  expect_broken([](Kernel& k) { first<Load>(k).mask = first<Load>(k).other = 0; }, "but a mask is bool");
}

// They are loaded, kept and stored; what computes takes f32.
TEST(Verify, HalvesAreBits) {
  Sample s;
  const int in = s.input(DType::F16, {8}), kept = s.scratch(DType::F16, {8}), out = s.output(DType::F16, {8});
  const ExprId wide = s.load(in, {i});
  const ExprId half = s.kernel.at(wide).get<Cast>().x;
  const LocalId local = s.build.new_local(DType::F16, false);
  s.phase(grid("g"_loop, 1,
               {alloc(kept), vector("i0"_loop, 8, {let(local, half), store({true, kept, {i}}, s.build.local(local))}),
                vector("i0"_loop, 8, {s.build.store({false, out, {i}}, s.load_scratch(kept, {i}))})}));
  EXPECT_EQ(fault(s.kernel), "");
  EXPECT_EQ(s.build.to_small(wide, DType::F16), half) << "what was loaded is stored as it was";
  s.build.apply(Op::Neg, {half});
  EXPECT_FAULT(s.kernel, "negative does not take f16");
  s.kernel.exprs.back() = {DType::F64, Cast{half, false}};
  EXPECT_FAULT(s.kernel, "f16 becomes f64, which takes f32 in between");
  s.kernel.exprs.back() = {DType::BF16, Cast{half, false}};
  EXPECT_FAULT(s.kernel, "f16 becomes bf16, which takes f32 in between");
}

TEST(Verify, OrderOfExpressions) {
  Sample s;
  fill_row(s);
  first<Apply>(s.kernel).args[0] = static_cast<ExprId>(s.kernel.exprs.size() - 1);
  EXPECT_FAULT(s.kernel, "which is not before it");
}

TEST(Verify, NumbersOutOfRange) {
  expect_broken([](Kernel& k) { first<ReadLocal>(k).local = 7; }, "reads no local");
  expect_broken([](Kernel& k) { first<Load>(k).access.array = 9; }, "load of param 9, which does not exist");
  expect_broken([](Kernel& k) { first<Load>(k).access = {false, 0, {}}; }, "a size is no memory");
  expect_broken([](Kernel& k) { grid_body(k)[0].get<Alloc>().buffer = 1; }, "scratch1 is allocated but does not exist");
  expect_broken([](Kernel& k) { grid_body(k)[1].get<Assign>().local = -1; }, "local %v-1 does not exist");
  expect_broken([](Kernel& k) { grid_body(k)[1].get<Assign>().value = 99; }, "value of expression 99");
}

TEST(Verify, Bitcasts) {
  Sample s;
  const int in = s.input(DType::F32, {4});
  const int out = s.output(DType::I32, {4});
  s.phase(grid("i0"_loop, 4, {store({false, out, {i}}, s.build.bitcast(s.load(in, {i}), DType::I32))}));
  EXPECT_EQ(fault(s.kernel), "");
  s.kernel.exprs.back().dtype = DType::I64;
  EXPECT_FAULT(s.kernel, "f32 and i64 have not the same number of bits");
}

}  // namespace
}  // namespace smelt::kernel
