#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "fixture.hpp"
#include "support/symbols.hpp"

namespace smelt::test {

class Reduction : public OnEveryLlvm {};
INSTANTIATE_TEST_SUITE_P(Llvm, Reduction, testing::ValuesIn(libraries()), library_name);

static const float kInf = std::numeric_limits<float>::infinity();

// sum[i] = x[i, 0] + x[i, 1] + ..., and y[i, j] = x[i, j] - sum[i] from the same rows.
TEST_P(Reduction, RowSumThenAnotherPass) {
  Maker m;
  const IntExpr rows = m.size("R"_size), n = m.size("N"_size), i = sym("i0"_loop), j = sym("i1"_loop);
  const int x = m.input(DType::F32, {rows, n}), sum = m.output(DType::F32, {rows}), y = m.output(DType::F32, {rows, n});
  const LocalId acc = m.build.new_local(DType::F32, true), total = m.build.new_local(DType::F32, false);
  m.phase({grid(
      rows, {kernel::assign(acc, m.f32(0)),
             vector("i1"_loop, n, {kernel::assign(acc, m.op(Op::Add, {m.build.local(acc), m.load(x, {i, j})}))}, 32),
             kernel::combine(acc, Op::Add), kernel::let(total, m.build.local(acc)),
             m.build.store(m.at(sum, {i}), m.build.local(total)),
             vector("i1"_loop, n,
                    {m.build.store(m.at(y, {i, j}), m.op(Op::Sub, {m.load(x, {i, j}), m.build.local(total)}))})})});
  auto module = load(m.kernel);
  for (size_t count : kOddSizes) {
    const size_t r = 3;
    Guarded<float> gx(r * count, 1), gs(r), gy(r * count, 3);
    for (size_t k = 0; k < r * count; ++k) gx[k] = static_cast<float>(static_cast<int>(k * 37 % 101) - 50);
    run(*module, 0, r, {gx.data(), gs.data(), gy.data()}, {r, static_cast<int64_t>(count)});
    for (size_t row = 0; row < r; ++row) {
      const float expected = std::accumulate(gx.data() + row * count, gx.data() + (row + 1) * count, 0.0f);
      ASSERT_EQ(gs[row], expected) << count;  // small whole numbers add exactly in any order
      for (size_t k = 0; k < count; ++k) ASSERT_EQ(gy[row * count + k], gx[row * count + k] - expected);
    }
    ASSERT_TRUE(gs.guards_intact() && gy.guards_intact());
  }
}

// Lanes beyond the extent never win; NaN does; +0 is above -0.
TEST_P(Reduction, MaximumMinimum) {
  Maker m;
  const IntExpr n = m.size("N"_size), j = sym("i1"_loop);
  const int x = m.input(DType::F32, {n}), out = m.output(DType::F32, {2});
  const LocalId high = m.build.new_local(DType::F32, true), low = m.build.new_local(DType::F32, true);
  m.phase({grid(
      1, {kernel::assign(high, m.f32(-kInf)), kernel::assign(low, m.f32(kInf)),
          vector("i1"_loop, n,
                 {kernel::assign(high, m.op(Op::Max, {m.build.local(high), m.load(x, {j})})),
                  kernel::assign(low, m.op(Op::Min, {m.build.local(low), m.load(x, {j})}))}),
          kernel::combine(high, Op::Max), kernel::combine(low, Op::Min),
          m.build.store(m.at(out, {0}), m.build.local(high)), m.build.store(m.at(out, {1}), m.build.local(low))})});
  auto module = load(m.kernel);
  auto extremes = [&](std::vector<float> values) {
    std::array<float, 2> result{};
    run(*module, 0, 1, {values.data(), result.data()}, {static_cast<int64_t>(values.size())});
    return result;
  };
  for (size_t count : kOddSizes) {
    if (!count) continue;
    std::vector<float> negative(count), positive(count);
    for (size_t k = 0; k < count; ++k) {
      negative[k] = -5.0f - static_cast<float>((k * 31) % count);
      positive[k] = 5.0f + static_cast<float>((k * 31) % count);
    }
    ASSERT_EQ(extremes(negative)[0], *std::max_element(negative.begin(), negative.end())) << count;
    ASSERT_EQ(extremes(positive)[1], *std::min_element(positive.begin(), positive.end())) << count;
    for (size_t place : {size_t{0}, count / 2, count - 1}) {
      std::vector<float> spoiled = positive;
      spoiled[place] = NAN;
      ASSERT_TRUE(std::isnan(extremes(spoiled)[0])) << place << " of " << count;
      ASSERT_TRUE(std::isnan(extremes(spoiled)[1])) << place << " of " << count;
      std::vector<float> zeros(count, -0.0f);
      zeros[place] = 0.0f;
      ASSERT_FALSE(std::signbit(extremes(zeros)[0]));
      for (float& z : zeros) z = -z;
      ASSERT_TRUE(std::signbit(extremes(zeros)[1]));
    }
  }
}

TEST_P(Reduction, ArgumentOfTheMaximum) {
  Maker m;
  const IntExpr n = m.size("N"_size), j = sym("i1"_loop);
  const int x = m.input(DType::F32, {n}), out = m.output(DType::I64, {1});
  const LocalId best = m.build.new_local(DType::F32, true), index = m.build.new_local(DType::I64, true);
  const ExprId b = m.build.local(best), k = m.build.local(index), v = m.load(x, {j});
  // Takes v when it is greater, or the first NaN.
  const ExprId wins = m.op(Op::And, {m.op(Op::Not, {m.op(Op::Le, {v, b})}), m.op(Op::Eq, {b, b})});
  m.phase({grid(1, {kernel::assign(best, m.f32(-kInf)), kernel::assign(index, m.i64(0)),
                    vector("i1"_loop, n,
                           {kernel::let(m.build.new_local(DType::Bool, false), wins),
                            kernel::assign(index, m.op(Op::Where, {m.build.local(2), m.build.index(j), k})),
                            kernel::assign(best, m.op(Op::Where, {m.build.local(2), v, b}))}),
                    kernel::combine(best, Op::Max, index), m.build.store(m.at(out, {0}), m.build.local(index))})});
  auto module = load(m.kernel);
  auto argument = [&](std::vector<float> values) {
    int64_t result = -1;
    run(*module, 0, 1, {values.data(), &result}, {static_cast<int64_t>(values.size())});
    return result;
  };
  std::mt19937 random(7);
  for (size_t count : kOddSizes) {
    if (!count) continue;
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<float> values(count);
      for (float& value : values) value = static_cast<float>(random() % 7) - 20;  // many ties
      ASSERT_EQ(argument(values), std::max_element(values.begin(), values.end()) - values.begin());
      std::vector<float> spoiled = values;
      const size_t first = random() % count, second = first + random() % (count - first);
      spoiled[first] = spoiled[second] = NAN;
      ASSERT_EQ(argument(spoiled), static_cast<int64_t>(first)) << count;
    }
    ASSERT_EQ(argument(std::vector<float>(count, -kInf)), 0);
  }
}

TEST_P(Reduction, IntegersAndBools) {
  Maker m;
  const IntExpr n = m.size("N"_size), j = sym("i1"_loop);
  const int x = m.input(DType::I8, {n}), out = m.output(DType::I8, {4}), flags = m.output(DType::Bool, {2});
  const LocalId sum = m.build.new_local(DType::I8, true), product = m.build.new_local(DType::I8, true),
                high = m.build.new_local(DType::I8, true), low = m.build.new_local(DType::I8, true),
                any = m.build.new_local(DType::Bool, true), all = m.build.new_local(DType::Bool, true);
  auto i8 = [&](int v) { return m.build.constant(Scalar::of_int(DType::I8, v)); };
  auto local = [&](LocalId id) { return m.build.local(id); };
  const ExprId v = m.load(x, {j}), nonzero = m.op(Op::Ne, {v, i8(0)});
  m.phase({grid(1, {kernel::assign(sum, i8(0)), kernel::assign(product, i8(1)), kernel::assign(high, i8(-128)),
                    kernel::assign(low, i8(127)), kernel::assign(any, m.build.constant(Scalar::of_bool(false))),
                    kernel::assign(all, m.build.constant(Scalar::of_bool(true))),
                    vector("i1"_loop, n,
                           {kernel::assign(sum, m.op(Op::Add, {local(sum), v})),
                            kernel::assign(product, m.op(Op::Mul, {local(product), v})),
                            kernel::assign(high, m.op(Op::Max, {local(high), v})),
                            kernel::assign(low, m.op(Op::Min, {local(low), v})),
                            kernel::assign(any, m.op(Op::Or, {local(any), nonzero})),
                            kernel::assign(all, m.op(Op::And, {local(all), nonzero}))},
                           64),
                    kernel::combine(sum, Op::Add), kernel::combine(product, Op::Mul), kernel::combine(high, Op::Max),
                    kernel::combine(low, Op::Min), kernel::combine(any, Op::Or), kernel::combine(all, Op::And),
                    m.build.store(m.at(out, {0}), local(sum)), m.build.store(m.at(out, {1}), local(product)),
                    m.build.store(m.at(out, {2}), local(high)), m.build.store(m.at(out, {3}), local(low)),
                    m.build.store(m.at(flags, {0}), local(any)), m.build.store(m.at(flags, {1}), local(all))})});
  auto module = load(m.kernel);
  std::mt19937 random(3);
  for (size_t count : kOddSizes)
    for (int range : {1, 2, 200}) {
      std::vector<int8_t> values(count);
      for (int8_t& value : values) value = static_cast<int8_t>(random() % static_cast<unsigned>(range));
      int8_t s = 0, p = 1, h = -128, l = 127;
      bool a = false, e = true;
      for (int8_t value : values) {
        s = static_cast<int8_t>(s + value), p = static_cast<int8_t>(p * value), h = std::max(h, value),
        l = std::min(l, value);
        a |= value != 0, e &= value != 0;
      }
      std::array<int8_t, 4> result{};
      std::array<uint8_t, 2> bools{7, 7};
      run(*module, 0, 1, {values.data(), result.data(), bools.data()}, {static_cast<int64_t>(count)});
      ASSERT_EQ(result, (std::array<int8_t, 4>{s, p, h, l})) << count;
      ASSERT_EQ(bools, (std::array<uint8_t, 2>{a, e})) << count;
    }
}

// Column sums: lanes across the columns, a serial loop over rows inside; a unrolled pair of rows at
// a time.
TEST_P(Reduction, Columns) {
  Maker m;
  const IntExpr rows = m.size("R"_size), n = m.size("N"_size), j = sym("i1"_loop), r = sym("i2"_loop),
                u = sym("i3"_loop);
  const int x = m.input(DType::F32, {rows * 2, n}), out = m.output(DType::F32, {n});
  const LocalId acc = m.build.new_local(DType::F32, true);
  const ExprId next = m.op(Op::Add, {m.build.local(acc), m.load(x, {r * 2 + u, j})});
  m.phase({grid(1, {vector("i1"_loop, n,
                           {kernel::assign(acc, m.f32(0)),
                            serial("i2"_loop, rows, {unrolled("i3"_loop, 2, {kernel::assign(acc, next)})}),
                            m.build.store(m.at(out, {j}), m.build.local(acc))},
                           32)})});
  auto module = load(m.kernel);
  for (size_t count : kOddSizes)
    for (size_t r2 : {0, 1, 5}) {
      Guarded<float> gx(2 * r2 * count), go(count, 1);
      for (size_t k = 0; k < gx.size(); ++k) gx[k] = static_cast<float>(k % 23);
      run(*module, 0, 1, {gx.data(), go.data()}, {static_cast<int64_t>(r2), static_cast<int64_t>(count)});
      for (size_t k = 0; k < count; ++k) {
        float sum = 0;
        for (size_t row = 0; row < 2 * r2; ++row) sum += gx[row * count + k];
        ASSERT_EQ(go[k], sum) << count;
      }
      ASSERT_TRUE(go.guards_intact());
    }
}

// Rows kept in scratch between passes; a small buffer of constant size on the stack, a large one in
// the thread's scratch.
TEST_P(Reduction, Scratch) {
  for (const bool constant : {true, false}) {
    Maker m;
    const IntExpr rows = m.size("R"_size), n = m.size("N"_size), i = sym("i0"_loop), j = sym("i1"_loop);
    const int x = m.input(DType::F32, {rows, n}), y = m.output(DType::F32, {rows, n});
    const int first = m.scratch(DType::BF16, {n}), row = m.scratch(DType::F32, {2, constant ? IntExpr(160) : n});
    const LocalId acc = m.build.new_local(DType::F32, true);
    const ExprId doubled = m.op(Op::Add, {m.load(x, {i, j}), m.load(x, {i, j})});
    const ExprId kept = m.build.load(m.in_scratch(row, {1, j}));
    const ExprId rounded = m.build.load(m.in_scratch(first, {j}));
    m.phase({grid(
        rows,
        {kernel::alloc(first), kernel::alloc(row), kernel::assign(acc, m.f32(0)),
         vector("i1"_loop, n,
                {m.build.store(m.in_scratch(row, {1, j}), doubled), m.build.store(m.in_scratch(first, {j}), m.f32(1.0)),
                 kernel::assign(acc, m.op(Op::Add, {m.build.local(acc), kept}))}),
         kernel::combine(acc, Op::Add),
         vector(
             "i1"_loop, n,
             {m.build.store(m.at(y, {i, j}), m.op(Op::Add, {m.op(Op::Sub, {kept, m.build.local(acc)}), rounded}))})})});
    const IntExpr bytes = emit::scratch_bytes(m.kernel);
    auto module = load(m.kernel);
    for (size_t count : {1, 16, 33, 160}) {
      const int64_t needed = bytes.evaluate({{"N"_size, static_cast<int64_t>(count)}, {"R"_size, 2}});
      EXPECT_EQ(needed, static_cast<int64_t>((count * 2 + 63) / 64 * 64 + (constant ? 0 : (count * 8 + 63) / 64 * 64)));
      Guarded<char> scratch(static_cast<size_t>(needed));
      Guarded<float> gx(2 * count), gy(2 * count);
      for (size_t k = 0; k < gx.size(); ++k) gx[k] = static_cast<float>(k % 9);
      run(*module, 0, 2, {gx.data(), gy.data()}, {2, static_cast<int64_t>(count)}, scratch.data());
      for (size_t k = 0; k < gx.size(); ++k) {
        float sum = 0;
        for (size_t c = 0; c < count; ++c) sum += 2 * gx[k / count * count + c];
        ASSERT_EQ(gy[k], 2 * gx[k] - sum + 1) << k << " of " << count;
      }
      ASSERT_TRUE(gy.guards_intact() && scratch.guards_intact());
    }
  }
}

// A step may compute after the end of a row, with what the stack has there: denormals would take
// hundreds of cycles each.
TEST(ScratchOnTheStack, IsSetWhereStepsReadBehindARow) {
  for (const auto& [dtype, elements, is_set] : {std::tuple{DType::F32, 24, true}, std::tuple{DType::F32, 32, false},
                                                std::tuple{DType::F64, 9, true}, std::tuple{DType::I32, 24, false}}) {
    Maker m;
    const IntExpr i = sym("i0"_loop), j = sym("i1"_loop), n = elements;
    const int x = m.input(dtype, {8, n}), y = m.output(dtype, {8, n}), row = m.scratch(dtype, {n});
    m.phase(
        {grid(8, {kernel::alloc(row), vector("i1"_loop, n, {m.build.store(m.in_scratch(row, {j}), m.load(x, {i, j}))}),
                  vector("i1"_loop, n, {m.build.store(m.at(y, {i, j}), m.build.load(m.in_scratch(row, {j})))})})});
    kernel::classify_accesses(m.kernel);
    const std::string text = emit::emit_llvm(m.kernel, {"x86_64-unknown-linux-gnu", 17, 512, false});
    EXPECT_EQ(text.find("call void @llvm.memset") != std::string::npos, is_set) << elements;
  }
}

// Partial sums by one phase, their sum by the next; the number of parts is a launch size.
TEST_P(Reduction, TwoPhases) {
  Maker m;
  const IntExpr n = m.size("N"_size), parts = m.size("splits"_launch), i = sym("i0"_loop), j = sym("i1"_loop);
  const int x = m.input(DType::F64, {n}), partial = m.array(ParamKind::Temporary, DType::F64, {parts}),
            out = m.output(DType::F64, {});
  m.kernel.launch_sizes = {{"splits"_launch, 4}};
  const LocalId acc = m.build.new_local(DType::F64, true);
  const ExprId zero = m.build.constant(Scalar::of_float(DType::F64, 0));
  const IntExpr chunk = ceildiv(n, parts), left = max(0, min(chunk, n - i * chunk));
  m.phase(
      {grid(parts, {kernel::assign(acc, zero),
                    vector("i1"_loop, left,
                           {kernel::assign(acc, m.op(Op::Add, {m.build.local(acc), m.load(x, {i * chunk + j})}))}, 8),
                    kernel::combine(acc, Op::Add), m.build.store(m.at(partial, {i}), m.build.local(acc))})});
  m.phase({grid(
      1, {kernel::assign(acc, zero),
          vector("i1"_loop, parts, {kernel::assign(acc, m.op(Op::Add, {m.build.local(acc), m.load(partial, {j})}))}, 8),
          kernel::combine(acc, Op::Add), m.build.store(m.at(out, {}), m.build.local(acc))})});
  auto module = load(m.kernel);
  for (size_t count : kOddSizes) {
    std::vector<double> values(count), partials(4, NAN);
    std::iota(values.begin(), values.end(), 1.0);
    double result = NAN;
    const std::vector<int64_t> sizes = {static_cast<int64_t>(count), 4};
    module->function("k0_p0")(0, 2, std::vector<void*>{values.data(), partials.data(), &result}.data(), sizes.data(),
                              nullptr);
    module->function("k0_p0")(2, 4, std::vector<void*>{values.data(), partials.data(), &result}.data(), sizes.data(),
                              nullptr);
    run(*module, 1, 1, {values.data(), partials.data(), &result}, sizes);
    ASSERT_EQ(result, static_cast<double>(count * (count + 1) / 2));
  }
}

// Accumulators that live on through an outer serial loop, are made uniform in it and assigned
// again.
TEST_P(Reduction, CombineInsideALoop) {
  Maker m;
  const IntExpr n = m.size("N"_size), i = sym("i2"_loop), j = sym("i1"_loop);
  const int x = m.input(DType::F32, {3, n}), out = m.output(DType::F32, {2});
  const LocalId acc = m.build.new_local(DType::F32, true), through = m.build.new_local(DType::F32, true);
  const ExprId a = m.build.local(acc), t = m.build.local(through);
  m.phase(
      {grid(1, {kernel::assign(acc, m.f32(1)), kernel::assign(through, m.f32(0)),
                serial("i2"_loop, 3,
                       {vector("i1"_loop, n,
                               {kernel::assign(through, m.op(Op::Add, {t, m.op(Op::Mul, {a, m.load(x, {i, j})})}))}),
                        vector("i1"_loop, n, {kernel::assign(acc, m.op(Op::Add, {a, m.load(x, {i, j})}))}),
                        kernel::combine(acc, Op::Max), m.build.store(m.at(out, {0}), a)}),
                kernel::combine(through, Op::Add), m.build.store(m.at(out, {1}), t)})});
  auto module = load(m.kernel);
  for (size_t count : {1, 16, 17, 50}) {
    std::vector<float> values(3 * count);
    for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k % 3 + 1);
    std::array<float, 2> result{};
    run(*module, 0, 1, {values.data(), result.data()}, {static_cast<int64_t>(count)});
    float uniform = 1, sum = 0;
    for (size_t r = 0; r < 3; ++r) {
      std::array<float, 16> lanes;
      lanes.fill(uniform);
      for (size_t k = 0; k < count; ++k) {
        sum += uniform * values[r * count + k];
        lanes[k % 16] += values[r * count + k];
      }
      uniform = *std::max_element(lanes.begin(), lanes.end());
    }
    ASSERT_EQ(result[0], uniform) << count;
    ASSERT_EQ(result[1], sum) << count;
  }
}

// A uniform condition around a loop and an accumulator, and a loop with one lane.
TEST_P(Reduction, IfAndScalarLoops) {
  Maker m;
  const IntExpr n = m.size("N"_size), i = sym("i0"_loop), j = sym("i1"_loop);
  const int x = m.input(DType::I32, {n}), out = m.output(DType::I32, {2, 4});
  const LocalId acc = m.build.new_local(DType::I32, true), one = m.build.new_local(DType::I32, true);
  const ExprId zero = m.build.constant(Scalar::of_int(DType::I32, 0));
  const kernel::If branch{
      m.op(Op::Gt, {m.build.index(i), m.i64(1)}),
      {vector("i1"_loop, n, {kernel::assign(acc, m.op(Op::Add, {m.build.local(acc), m.load(x, {j})}))}),
       kernel::combine(acc, Op::Add)}};
  m.phase({grid(4, {kernel::assign(acc, zero), kernel::assign(one, zero), branch,
                    vector("i1"_loop, n, {kernel::assign(one, m.op(Op::Add, {m.build.local(one), m.load(x, {j})}))}, 1),
                    kernel::combine(one, Op::Add), m.build.store(m.at(out, {0, i}), m.build.local(acc)),
                    m.build.store(m.at(out, {1, i}), m.build.local(one))})});
  auto module = load(m.kernel);
  std::vector<int32_t> values(21, 2), result(8, -1);
  run(*module, 0, 4, {values.data(), result.data()}, {21});
  EXPECT_EQ(result, (std::vector<int32_t>{0, 0, 42, 42, 42, 42, 42, 42}));
  run(*module, 0, 4, {nullptr, result.data()}, {0});
  EXPECT_EQ(result, std::vector<int32_t>(8, 0));
}

}  // namespace smelt::test
